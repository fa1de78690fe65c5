"""Transfer: Pegasos regularised towards a prior, given as numbers or as a fitted linear model."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC
from sklearn.tree import DecisionTreeClassifier

import onmargin as om
from onmargin.errors import BadInput

from ..oracles_pegasos import hypotheses, objective
from ..students import PLAIN

DRAW = np.random.default_rng(5)
X = DRAW.normal(size=(80, 4))
U = np.array([1.0, -1.0, 0.5, 0.0])
Y = (X @ U + 0.4 * DRAW.normal(size=80) > 0.2).astype(int)
THREE = (X @ DRAW.normal(size=(4, 3)) + 0.3 * DRAW.normal(size=(80, 3))).argmax(axis=1)
ONES = np.c_[X, np.ones(80)]
PRIOR = np.array([2.0, -1.0, 0.5, 3.0, -0.7])
HEAVY = 1e8  # the weight of the regulariser at which only the prior is left


def learner(prior, lam=0.1, **parameters):
    return om.Pegasos(
        **{"lam": lam, "prior": prior, "tol": None, "max_iter": 3, "random_state": 0} | PLAIN | parameters
    )


def weights(model):
    return np.c_[model.coef_, model.intercept_]


def close(found, expected, atol=1e-6):
    np.testing.assert_allclose(found, expected, atol=atol)


def logistic(X, y):
    return LogisticRegression().fit(X, y)


MODELS = {
    "logistic regression": logistic,
    "linear SVM": lambda X, y: LinearSVC(random_state=0).fit(X, y),
    "kernel SVM that is linear": lambda X, y: SVC(kernel="linear").fit(X, y),
    "averaged Perceptron": lambda X, y: om.Perceptron(average=True, tol=None, random_state=0).fit(X, y),
    "another Pegasos": lambda X, y: om.Pegasos(tol=None, random_state=0).fit(X, y),
}


@pytest.mark.parametrize("average", [False, True, 0.5])
@pytest.mark.parametrize("batch", [1, 4])
def test_steps_around_a_prior(average, batch):
    """w <- prior + (1 - 1/t) (w - prior) + c y x / (lam t), from w_1 = prior."""
    rounds = np.tile(np.arange(80), 3)
    model = learner((PRIOR[:4], PRIOR[4]), average=average, batch_size=batch, order="cyclic").fit(X, Y)
    w = hypotheses(ONES, 2 * Y - 1, 0.1, order=rounds, batch=batch, prior=PRIOR)[:, 0]
    total = 240 // batch
    kept = w[total - int(np.ceil(average * total)) : total].mean(axis=0) if average else w[-1]
    close(weights(model)[0], kept, atol=1e-9)
    assert model.objective_ == pytest.approx(objective(kept, ONES, 2 * Y - 1, 0.1, prior=PRIOR))


@pytest.mark.parametrize("make", MODELS.values(), ids=MODELS)
def test_a_heavy_regulariser_gives_the_prior_and_a_light_one_forgets_it(make):
    """C -> 0 is lam -> infinity."""
    source = make(X[:40], Y[:40])
    heavy = learner(source, HEAVY).fit(X, Y)
    close(weights(heavy), weights(source))
    np.testing.assert_array_equal(heavy.predict(X), source.predict(X))
    wrong = (-50 * source.coef_, 0.0)
    light, without = learner(wrong, 1e-5, max_iter=50).fit(X, Y), learner(None, 1e-5, max_iter=50).fit(X, Y)
    assert learner(wrong, HEAVY).fit(X, Y).score(X, Y) < 0.3 < 0.85 < light.score(X, Y)
    assert abs(light.score(X, Y) - without.score(X, Y)) < 0.1


def test_what_the_target_needs_is_between():
    """The farther the regulariser lets go, the farther from the prior and the smaller the loss."""
    moved, losses = [], []
    for lam in (1e4, 10.0, 1.0, 0.1, 0.01):
        best = om.svm_optimum(X, Y, lam=lam, prior=(PRIOR[:4], PRIOR[4]))
        w = np.r_[best.coef, best.intercept]
        moved.append(np.linalg.norm(w - PRIOR))
        losses.append(np.maximum(0, 1 - (2 * Y - 1) * (ONES @ w)).mean())
    assert (np.diff(moved) >= -1e-6).all() and (np.diff(losses) <= 1e-6).all()


@pytest.mark.parametrize("numbers", [
    (PRIOR[:4], PRIOR[4]), ([PRIOR[:4].tolist()], [PRIOR[4]]), [PRIOR[:4], PRIOR[4:]],
])  # fmt: skip
def test_numbers_as_they_may_be_written(numbers):
    close(weights(learner(numbers, HEAVY).fit(X, Y))[0], PRIOR)
    close(weights(learner((PRIOR[:4], None), HEAVY).fit(X, Y))[0], [*PRIOR[:4], 0])
    doubled = learner(numbers, HEAVY, intercept_scaling=2.0).fit(X, Y)
    close(weights(doubled)[0], PRIOR)


class TurnedRound(ClassifierMixin, BaseEstimator):
    """A linear model that lists its classes the other way round."""

    def fit(self, X, y):
        right = LogisticRegression().fit(X, y)
        self.classes_ = right.classes_[::-1]
        several = len(self.classes_) > 2
        self.coef_ = right.coef_[::-1] if several else -right.coef_
        self.intercept_ = right.intercept_[::-1] if several else -right.intercept_
        return self


@pytest.mark.parametrize("y", [Y, THREE], ids=["two classes", "three classes"])
def test_classes_in_another_order(y):
    close(weights(learner(TurnedRound().fit(X, y), HEAVY).fit(X, y)), weights(logistic(X, y)))


def test_labels_of_several_kinds_keep_the_order_they_were_announced_in():
    labels = np.array([1, "b"], object)[Y]
    source = om.Perceptron(classes=["b", 1]).partial_fit(X, labels)
    model = learner(source, HEAVY, classes=[1, "b"]).fit(X, labels)
    assert list(source.classes_) == ["b", 1] and list(model.classes_) == [1, "b"]
    close(weights(model), -weights(source))


@pytest.mark.parametrize("multiclass", ["crammer_singer", "one_vs_all"])
def test_several_classes_and_label_sets(multiclass):
    source = logistic(X, THREE)
    close(weights(learner(source, HEAVY, multiclass=multiclass).fit(X, THREE)), weights(source))
    table = DRAW.normal(size=(3, 4))
    sets = np.eye(3, dtype=int)[THREE]
    close(learner((table, 0), HEAVY, multiclass=multiclass).fit(X, sets).coef_, table)
    close(learner((table, 0), HEAVY, multiclass=multiclass).partial_fit(X, sets).coef_, table)


# ---- kept


def test_kept_through_clones_pickles_and_searches():
    source = logistic(X[:40], Y[:40])
    model = learner(source)
    fitted = learner(source).fit(X, Y)
    for twin in (clone(model), model.clone(), pickle.loads(pickle.dumps(model)), clone(fitted)):
        np.testing.assert_array_equal(weights(twin.prior), weights(source))
        assert weights(twin.fit(X, Y)).tolist() == weights(fitted).tolist()
    assert clone(model).prior is source
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(fitted)).coef_, fitted.coef_)
    folds = StratifiedKFold(3)
    search = GridSearchCV(learner(source), {"lam": [0.01, HEAVY]}, cv=folds).fit(X, Y)
    by_prior = [source.score(X[test], Y[test]) for _, test in folds.split(X, Y)]
    assert search.cv_results_["mean_test_score"][1] == pytest.approx(np.mean(by_prior))
    steps = make_pipeline(StandardScaler(with_mean=False, with_std=False), learner(source, HEAVY))
    close(clone(steps).fit(X, Y)[-1].coef_, source.coef_)


def test_a_file_brings_it_back_as_coefficients(tmp_path):
    source = logistic(X[:40], Y[:40])
    model = learner(source, batch_size=3).partial_fit(X[:40], Y[:40], classes=[0, 1])
    om.save(model, tmp_path / "m.onm")
    twin = om.load(tmp_path / "m.onm")
    np.testing.assert_array_equal(np.c_[twin.prior.coef, twin.prior.intercept], weights(source))
    for one in (model, twin):
        one.partial_fit(X[40:], Y[40:])
    np.testing.assert_array_equal(weights(twin), weights(model))
    np.testing.assert_array_equal(weights(twin.fit(X, Y)), weights(model.fit(X, Y)))


def test_a_file_remembers_what_the_signs_mean(tmp_path):
    model = learner(TurnedRound().fit(X, Y), HEAVY).fit(X, Y)
    om.save(model, tmp_path / "m.onm")
    close(weights(om.load(tmp_path / "m.onm").fit(X, Y)), weights(model))


# ---- names


def named(names, y=Y):
    """The rows as dicts, a name for each column."""
    return [(dict(zip(names, x, strict=True)), int(label)) for x, label in zip(X.tolist(), y, strict=True)]


def test_a_stream_of_dicts_finds_the_prior_by_name():
    source = om.PassiveAggressiveClassifier()
    for x, y in named("dcab"):
        source.learn_one(dict(sorted(x.items(), reverse=True)), y)
    by_name = dict(zip(source._columns.slots, source.coef_[0], strict=True))
    model = learner(source, HEAVY, classes=(0, 1))
    for x, y in named("dcab"):
        model.learn_one(x | {"new": 1.0}, y)
    found = dict(zip(model._columns.slots, model.coef_[0], strict=True))
    assert found.keys() == {"a", "b", "c", "d", "new"} and abs(found["new"]) < 1e-6
    close([found[name] for name in "abcd"], [by_name[name] for name in "abcd"])
    for x, _ in named("dcab"):
        assert model.predict_one(x) == source.predict_one(x)
    frame = logistic(pd.DataFrame(X, columns=list("abcd")), Y)
    model = learner(frame, HEAVY, classes=(0, 1))
    for x, y in named("abcd"):
        model.learn_one({name: x[name] for name in "dacb"}, y)
    close([model.coef_[0][list(model._columns.slots).index(name)] for name in "abcd"], frame.coef_[0])


@pytest.mark.parametrize("call", ["fit", "partial_fit"])
def test_a_frame_finds_the_prior_by_name(call):
    frame = pd.DataFrame(X, columns=list("abcd"))
    source = logistic(frame, Y)
    model = getattr(learner(source, HEAVY, classes=(0, 1)), call)(frame[list("dcba")], Y)
    close(model.coef_, source.coef_[:, ::-1])


# ---- refused


REFUSED = {
    "never fitted": (lambda: LogisticRegression(), {}, "never fitted"),
    "never fitted, ours": (lambda: om.Perceptron(), {}, "never fitted"),
    "a regressor": (lambda: Ridge().fit(X, Y), {}, "regressor"),
    "a regressor of ours": (lambda: om.PassiveAggressiveRegressor().partial_fit(X, Y), {}, "regressor"),
    "a tree": (lambda: DecisionTreeClassifier().fit(X, Y), {}, "without coef_"),
    "a kernel": (lambda: SVC().fit(X, Y), {}, "without coef_"),
    "too few columns": (lambda: logistic(X[:, :3], Y), {}, "3 coefficients a row; wanted 4"),
    "too many columns": (lambda: (np.ones(5), 0), {}, "5 coefficients a row; wanted 4"),
    "other classes": (lambda: logistic(X, Y + 1), {}, r"classes \[1, 2\]; wanted \[0, 1\]"),
    "more classes": (lambda: logistic(X, THREE), {}, "classes"),
    "too many rows": (lambda: (np.ones((3, 4)), 0), {}, "3 rows of coefficients; wanted 1"),
    "an intercept": (lambda: (np.ones(4), 1.0), {"fit_intercept": False}, "fit_intercept=False"),
    "two intercepts": (lambda: (np.ones(4), [1.0, 2.0]), {}, "cannot be read"),
    "text": (lambda: "good", {}, "prior=str"),
    "words": (lambda: ("a", "b"), {}, "cannot be read"),
    "coefficients alone": (lambda: np.ones(4), {}, "prior=ndarray"),
    "NaN": (lambda: (np.full(4, np.nan), 0), {}, "finite"),
}


@pytest.mark.parametrize("make, options, said", REFUSED.values(), ids=REFUSED)
def test_refused_in_one_line(make, options, said):
    for call in (lambda model: model.fit(X, Y), lambda model: model.partial_fit(X, Y, classes=[0, 1])):
        model = learner(make(), **options)
        with pytest.raises(BadInput, match=said) as caught:
            call(model)
        assert "\n" not in str(caught.value)
        assert not hasattr(model, "classes_")


def test_streams_must_announce_their_classes():
    source = logistic(X, Y)
    for call in (
        lambda: learner(source).learn_one({0: 1.0}, 1),
        lambda: learner(source, growing=True).partial_fit(X, Y),
    ):
        with pytest.raises(BadInput, match="announce the classes") as caught:
            call()
        assert "\n" not in str(caught.value)
    model = learner(source, classes=(0, 1))
    model.learn_one({0: 1.0}, 1)
    with pytest.raises(BadInput, match="announced classes"):
        model.learn_one({0: 1.0}, 2)
    assert model.t_ == 1
