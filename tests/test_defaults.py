"""Each default that was chosen by measurement (docs/defaults.md) beside the one before it, on real sets."""

import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_extraction.text import HashingVectorizer, TfidfTransformer
from sklearn.metrics import f1_score
from sklearn.preprocessing import StandardScaler, scale
from sklearn.svm import LinearSVC, LinearSVR

import onmargin as om
from onmargin.sources import real
from tests.test_real_data import indicator, svmlight

SMALL = ("ionosphere", "sonar", "diabetes", "breast_cancer_wisconsin", "german.numer", "heart", "spambase")


@pytest.fixture(scope="module", autouse=True)
def needs_the_sets():
    if not real.folder().exists():
        pytest.skip(f"{real.folder()} is not there; set ONMARGIN_DATA to the folder of real sets")


def halves(name):
    """A small set, standardised, in two halves."""
    X, y = real.small(name)
    order = np.random.default_rng(0).permutation(len(y))
    X, y = X[order], y[order]
    cut = len(y) // 2
    scaler = StandardScaler().fit(X[:cut])
    return scaler.transform(X[:cut]), y[:cut], scaler.transform(X[cut:]), y[cut:]


def mean_error(make):
    """Of a learner over the small sets, after fit."""
    errors = []
    for name in SMALL:
        X, y, X_test, y_test = halves(name)
        errors.append(1 - make().fit(X, y).score(X_test, y_test))
    return float(np.mean(errors))


@pytest.fixture(scope="module")
def news(needs_the_sets):
    """TF-IDF of 20 Newsgroups."""
    split, tfidf = real.news20(), TfidfTransformer(sublinear_tf=True)
    order = np.random.default_rng(0).permutation(len(split.y))
    X = tfidf.fit_transform(split.X)[order]
    return X, split.y[order], tfidf.transform(split.X_test), split.y_test


def test_a_pass_over_tfidf_needs_a_short_constant_coordinate(news):
    X, y, X_test, y_test = news
    groups = np.unique(y)
    left = om.PassiveAggressiveClassifier().partial_fit(X, y, classes=groups)
    before = om.PassiveAggressiveClassifier(intercept_scaling=1.0).partial_fit(X, y, classes=groups)
    assert left.intercept_scaling_ == pytest.approx(0.3)
    assert 1 - left.score(X_test, y_test) < 0.17 < 0.20 < 1 - before.score(X_test, y_test)


def test_a_first_row_that_is_long_does_no_harm():
    """Raw counts, the first post at the 90th percentile of length: 0.3 times that would cost ten points."""
    split = real.news20()
    lengths = np.sqrt(np.asarray(split.X.multiply(split.X).sum(axis=1)).ravel())
    order = np.random.default_rng(0).permutation(len(split.y))[:4000]
    long = np.argsort(lengths)[int(0.9 * len(lengths))]
    order = np.r_[long, order[order != long]]
    X, y = split.X[order], split.y[order]

    def error(**chosen):
        return om.progressive(om.PassiveAggressiveClassifier(**chosen), X, y, trace="sums").error_rate

    plain = error(intercept_scaling=1.0)
    assert error() < 1.05 * plain < error(intercept_scaling=0.3 * lengths[long])


def test_targets_far_from_zero_need_the_whole_coordinate():
    X, y = abalone()
    X = scale(X)

    def error(**chosen):
        progress = om.progressive(om.PassiveAggressiveRegressor(**chosen), X, y)
        return np.abs(np.asarray(progress.predictions) - y).mean()

    assert error() < 0.9 * error(intercept_scaling=0.3)


def abalone():
    with real.opened("abalone/abalone.data.gz") as stream:
        rows = [line.decode().strip().split(",") for line in stream]
    X = np.array([[c == r[0] for c in "MFI"] + [float(v) for v in r[1:-1]] for r in rows], float)
    return X, np.array([float(r[-1]) for r in rows])


def california():
    with real.opened("california/cal_housing.data.gz") as stream:
        table = np.loadtxt(stream, delimiter=",")
    order = np.random.default_rng(0).permutation(len(table))
    return table[order, :-1], table[order, -1] / 1e5


@pytest.mark.parametrize("kind", [om.Perceptron, om.PassiveAggressiveClassifier, om.SecondOrderPerceptron])
def test_a_fit_that_averages_errs_less(kind):
    left = mean_error(lambda: kind(random_state=0))
    assert left < mean_error(lambda: kind(random_state=0, average=False)) - 0.02


def test_a_stream_after_a_fit_goes_on_with_running_weights():
    """Elec2 drifts: answering with the mean of the past is harmful."""
    with real.opened("elec2/elec.csv.gz") as stream:
        table = np.loadtxt(stream, delimiter=",", skiprows=1)
    X, y = scale(table[:, :-1]), table[:, -1].astype(int)
    rows = np.arange(5000, 25_000)

    def error(**chosen):
        model = om.PassiveAggressiveClassifier(random_state=0, **chosen).fit(X[:5000], y[:5000])
        by = "model" if chosen else "running"
        return om.progressive(model, X[rows], y[rows], scored_by=by, trace="sums").error_rate

    assert error() < 0.17 < 0.2 < error(average=True)


def test_pegasos_takes_the_last_half_and_is_level_with_the_svm_of_scikit_learn():
    split = real.adult()
    X, y = split.X, split.y
    above = {}
    for average in (0.5, True):
        model = om.Pegasos(lam=1e-4, average=average, max_iter=10, tol=None, random_state=0).fit(X, y)
        best = om.svm_optimum(X, y, lam=model.lam_, intercept_scaling=model.intercept_scaling_, tol=1e-3)
        above[average] = model.objective_ - best.objective
    assert 0 <= above[0.5] < 0.02 < 5 * above[0.5] < above[True]
    assert om.Pegasos().average == 0.5
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # LinearSVC's
        ours, theirs = mean_error(lambda: om.Pegasos(random_state=0)), mean_error(lambda: LinearSVC())
    assert ours < theirs + 0.003


@pytest.mark.parametrize("chosen", [{"fit_intercept": "free"}, {"batch_size": 10}], ids=["free", "batch"])
def test_pegasos_is_not_wrecked_by_a_free_bias_or_by_batches(chosen, sms):
    X, y, X_test, y_test = sms
    model = om.Pegasos(random_state=0, **chosen).fit(X, y)
    assert 1 - model.score(X_test, y_test) < 0.03


@pytest.fixture(scope="module")
def sms(needs_the_sets):
    """Hashed words of the SMS, rows of length 1."""
    with real.opened("sms_spam/SMSSpamCollection.gz") as stream:
        lines = [line.decode().rstrip("\n").split("\t", 1) for line in stream]
    X = HashingVectorizer(n_features=2**18).transform([text for _, text in lines])
    y = np.array([label for label, _ in lines])
    order = np.random.default_rng(0).permutation(len(y))
    X, y = X[order], y[order]
    return X[:3900], y[:3900], X[3900:], y[3900:]


def test_ftrl_is_finite_and_good_on_california_as_it_comes_and_standardised():
    X, y = california()
    cut = 14_000
    for table, least in ((scale(X), 0.6), (X, 0.3)):
        for loss in ("epsilon_insensitive", "squared"):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ConvergenceWarning)  # columns as they come
                model = om.FTRLRegressor(loss=loss, random_state=0).fit(table[:cut], y[:cut])
            assert model.score(table[cut:], y[cut:]) > least
    peer = LinearSVR(random_state=0, max_iter=20_000).fit(scale(X)[:cut], y[:cut])
    model = om.FTRLRegressor(random_state=0).fit(scale(X)[:cut], y[:cut])
    assert model.score(scale(X)[cut:], y[cut:]) > peer.score(scale(X)[cut:], y[cut:]) - 0.01


def test_ftrl_of_classes_errs_less_than_with_plain_steps():
    left = mean_error(lambda: om.FTRLClassifier(random_state=0))
    assert left < mean_error(lambda: om.FTRLClassifier(regularizer="l2", random_state=0))


def test_arow_on_short_messages(sms):
    X, y, *_ = sms
    left = om.progressive(om.AROW(), X, y, trace="sums").error_rate
    assert left < 0.9 * om.progressive(om.AROW(r=1.0), X, y, trace="sums").error_rate


@pytest.mark.parametrize(("name", "columns", "labels"), [("scene", 294, 6), ("yeast", 103, 14)])
def test_label_sets_are_cut_by_a_dummy_label(name, columns, labels):
    parts = []
    for part in ("train", "test"):
        X, sets = svmlight(f"multilabel/{name}/{name}.{part}.gz", columns, multilabel=True)
        parts += [X.toarray(), indicator(sets, labels)]
    X, Y, X_test, Y_test = parts
    scaler = StandardScaler().fit(X)

    def f1(**chosen):
        model = om.PassiveAggressiveClassifier(random_state=0, max_iter=20, tol=None, **chosen)
        answers = model.fit(scaler.transform(X), Y).predict(scaler.transform(X_test))
        return f1_score(Y_test, answers, average="macro")

    assert f1() > f1(multilabel="ranking")


def test_a_ball_is_as_wide_as_the_rows_are_long():
    left = mean_error(lambda: om.ProjectedPerceptron(random_state=0))
    assert left < 0.25 < 0.3 < mean_error(lambda: om.ProjectedPerceptron(radius=1.0, random_state=0))


def test_a_fit_of_digits_ends_without_a_warning():
    split = real.usps()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", ConvergenceWarning)
        om.PassiveAggressiveClassifier(random_state=0).fit(split.X, split.y)
        assert not caught
        om.PassiveAggressiveClassifier(random_state=0, max_iter=20).fit(split.X, split.y)
        assert caught


@pytest.mark.soak
def test_arow_on_mail_is_level_with_vowpal_wabbit():
    """Enron-spam, shuffled, hashed words in 2^18 columns, rows of length 1: Wabbit errs on 1.36 %."""
    import json

    with real.opened("enron_spam/enron_spam.jsonl.xz") as stream:
        mails = [json.loads(line) for line in stream]
    y = np.array([mail["label"] for mail in mails])
    X = HashingVectorizer(n_features=2**18).transform([mail["text"] for mail in mails])
    order = np.random.default_rng(0).permutation(len(y))
    assert om.progressive(om.AROW(), X[order], y[order], trace="sums").error_rate < 0.0140
