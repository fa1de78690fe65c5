"""Test, then train: what the compiled loop reports is what a patient person would write down."""

import matplotlib
import numpy as np
import pytest
import scipy.sparse as sp
from tests.soaking import uncompiled

import onmargin as om
from onmargin.errors import BadInput

matplotlib.use("Agg")


def stream(classes=3, rows=200):
    draw = np.random.default_rng(classes)
    X = draw.standard_normal((rows, 6))
    return X, (X @ draw.standard_normal((6, classes))).argmax(axis=1)


def by_hand(model, X, y, classes, weights=None):
    """predict, note, partial_fit, one row at a time."""
    scores, answers = [], []
    for number in range(X.shape[0]):
        row = X[[number]]
        if number == 0:
            scores.append(np.zeros(1 if len(classes) == 2 else len(classes)))
            answers.append(classes[1] if len(classes) == 2 else classes[0])
        else:
            scores.append(np.atleast_1d(model.decision_function(row)[0]))
            answers.append(model.predict(row)[0])
        weight = None if weights is None else weights[[number]]
        model.partial_fit(row, y[[number]], classes=classes, sample_weight=weight)
    return np.squeeze(np.array(scores)), np.array(answers)


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("kind", ["dense", "csr"])
def test_equals_the_loop_by_hand(classes, kind):
    X, y = stream(classes)
    X = sp.csr_matrix(X) if kind == "csr" else X
    weights = np.where(np.arange(200) % 3 == 0, 2.0, 0.5)
    run = om.progressive(om.PassiveAggressiveClassifier(C=0.2), X, y, sample_weight=weights)
    scores, answers = by_hand(om.PassiveAggressiveClassifier(C=0.2), X, y, list(range(classes)), weights)
    np.testing.assert_allclose(run.scores, scores, atol=1e-12)
    np.testing.assert_array_equal(run.predictions, answers)
    assert run.mistakes == int(np.sum(answers != y)) and run.rounds == 200
    assert run.error_rate == run.mistakes / 200
    assert run.updates == np.count_nonzero(run.steps)
    assert run.errors_theory >= run.mistakes


def test_average_scored_by_the_model_or_by_the_running_weights():
    X, y = stream(3)
    model = lambda: om.Perceptron(average=True)  # noqa: E731
    _, answers = by_hand(model(), X, y, [0, 1, 2])
    judged = om.progressive(model(), X, y, scored_by="model")
    np.testing.assert_array_equal(judged.predictions, answers)
    running = om.progressive(model(), X, y)
    np.testing.assert_array_equal(running.predictions, om.progressive(om.Perceptron(), X, y).predictions)
    np.testing.assert_array_equal(running.model.coef_, judged.model.coef_)


@pytest.mark.parametrize("scored_by", ["running", "model"])
def test_iterables_give_the_same_result_as_arrays(scored_by):
    X, y = stream(3)
    make = lambda: om.PassiveAggressiveClassifier(C=0.2, average=True, classes=[0, 1, 2])  # noqa: E731
    arrays = om.progressive(make(), X, y, scored_by=scored_by)
    dicts = om.progressive(
        make(),
        ((dict(enumerate(x)), label) for x, label in zip(X.tolist(), y.tolist(), strict=True)),
        scored_by=scored_by,
    )
    np.testing.assert_allclose(dicts.scores, arrays.scores, atol=1e-9)
    for name in ("losses", "steps"):
        np.testing.assert_allclose(getattr(dicts, name), getattr(arrays, name), atol=1e-9)
    np.testing.assert_array_equal(dicts.predictions, arrays.predictions)
    assert dicts.totals[:4] == arrays.totals[:4]


def test_open_streams_of_both_kinds_agree_and_first_answers_none():
    X, y = stream(4)
    names = np.array(["d", "b", "a", "c"])[y]
    arrays = om.progressive(om.PassiveAggressiveClassifier(growing=True), X, names)
    dicts = om.progressive(
        om.PassiveAggressiveClassifier(),
        [(dict(enumerate(x)), n) for x, n in zip(X.tolist(), names.tolist(), strict=True)],
    )
    assert arrays.predictions[0] is None and dicts.predictions[0] is None
    assert arrays.predictions.tolist() == dicts.predictions.tolist()
    np.testing.assert_allclose(arrays.scores, dicts.scores, atol=1e-9)
    firsts = [int(np.argmax(names == name)) for name in "abcd"]
    assert all(arrays.predictions[i] != names[i] for i in firsts)  # a new label is a mistake
    assert arrays.mistakes == sum(a != b for a, b in zip(arrays.predictions, names, strict=True))
    assert (
        om.progressive(om.PassiveAggressiveClassifier(growing=True), X, names, trace="sums").mistakes
        == arrays.mistakes
    )


@uncompiled
@pytest.mark.parametrize("kind", ["ranking", "calibrated"])
def test_label_sets(kind):
    X, y = stream(4)
    Y = np.eye(4, dtype=int)[y]
    Y[X[:, 0] > 1, 0] = 1
    run = om.progressive(om.PassiveAggressiveClassifier(multilabel=kind), X, Y)
    np.testing.assert_array_equal(run.predictions, (run.scores > 0).astype(int))
    model = om.PassiveAggressiveClassifier(multilabel=kind).partial_fit(X[:99], Y[:99])
    np.testing.assert_allclose(run.scores[99], model.decision_function(X[[99]])[0], atol=1e-12)
    assert run.mistakes == int((run.predictions != Y).any(axis=1).sum())
    dicts = om.progressive(
        om.PassiveAggressiveClassifier(multilabel=kind, classes=range(4)),
        [
            (dict(enumerate(x)), dict(enumerate(map(bool, s))))
            for x, s in zip(X.tolist(), Y.tolist(), strict=True)
        ],
    )
    np.testing.assert_allclose(dicts.scores, run.scores, atol=1e-9)


def test_numbers_and_balls():
    X, _ = stream()
    y = X @ np.arange(6.0)
    run = om.progressive(om.PassiveAggressiveRegressor(), X, y)
    np.testing.assert_allclose(run.losses, np.maximum(0, np.abs(run.predictions - y) - 0.1))
    assert run.metrics("mae")["mae"] == pytest.approx(np.abs(run.predictions - y).mean())
    for radius in (None, 2.0):
        ball = om.progressive(om.PassiveAggressiveUniclass(max_radius=radius), X)
        half = om.PassiveAggressiveUniclass(max_radius=radius).partial_fit(X[:50])
        assert ball.scores[50] == pytest.approx(half.decision_function(X[[50]])[0], abs=1e-9)


def test_late_labels():
    X, y = stream(3)
    run = om.progressive(om.PassiveAggressiveClassifier(classes=[0, 1, 2]), X, y, delay=7)
    model = om.PassiveAggressiveClassifier(classes=[0, 1, 2]).partial_fit(X[:93], y[:93])
    np.testing.assert_allclose(run.scores[100], model.decision_function(X[[100]])[0], atol=1e-12)
    np.testing.assert_array_equal(
        run.model.coef_, om.PassiveAggressiveClassifier(classes=[0, 1, 2]).partial_fit(X, y).coef_
    )
    assert run.mistakes == int(np.sum(run.predictions != y)) and run.rounds == 200


def test_sums_curve_metrics_frame_and_regret():
    X, y = stream(3)
    full = om.progressive(om.PassiveAggressiveClassifier(), X, y)
    sums = om.progressive(om.PassiveAggressiveClassifier(), X, y, trace="sums")
    assert sums.totals == full.totals and sums.scores is None
    at, error = full.curve(every=10)
    assert at[-1] == 200 and error[-1] == full.error_rate
    assert error[4] == np.mean(full.predictions[:50] != y[:50])
    assert sums.curve()[1][-1] == full.error_rate
    assert full.metrics("accuracy")["accuracy"] == pytest.approx(1 - full.error_rate)
    frame = full.to_frame()
    assert len(frame) == 200 and frame["loss"].sum() == pytest.approx(full.losses.sum())
    u = np.random.default_rng(0).standard_normal((3, 6))
    s = X @ u.T
    own = s[np.arange(200), y]
    s[np.arange(200), y] = -np.inf
    expected = full.losses.sum() - np.maximum(0, 1 - own + s.max(axis=1)).sum()
    assert full.regret(u) == pytest.approx(expected)
    assert "mistakes" in repr(full)


def test_the_figure_shows_the_curve():
    X, y = stream(3)
    figure = om.progressive(om.PassiveAggressiveClassifier(), X, y).plot()
    (line,) = figure.axes[0].get_lines()
    assert line.get_ydata()[-1] == om.progressive(om.PassiveAggressiveClassifier(), X, y).error_rate
    assert "error" in figure.axes[0].get_ylabel()


def test_a_bad_row_refuses_the_whole_run():
    X, y = stream(3)
    model = om.PassiveAggressiveClassifier().partial_fit(X, y, classes=[0, 1, 2])
    before, X = model.coef_.copy(), X.copy()
    X[150, 2] = np.nan
    with pytest.raises(BadInput, match="row 150 has a NaN in column 2"):
        om.progressive(model, X, y)
    np.testing.assert_array_equal(model.coef_, before)
    assert model.t_ == 200


@pytest.mark.parametrize("wrong", [{"scored_by": "x"}, {"trace": "x"}, {"drift": 1}, {"chance": [0.5]}])
def test_wrong_options_are_one_line(wrong):
    X, y = stream()
    with pytest.raises(BadInput) as caught:
        om.progressive(om.Perceptron(), X, y, **wrong)
    assert "\n" not in str(caught.value)


def test_sums_scored_by_the_model_write_nowhere():
    X, y = stream(3)
    full = om.progressive(om.Perceptron(average=True), X, y, scored_by="model")
    sums = om.progressive(om.Perceptron(average=True), X, y, scored_by="model", trace="sums")
    assert sums.totals == full.totals and sums.scores is None


def test_every_sets_the_points_of_the_curve():
    X, y = stream(3)
    examples = [(dict(enumerate(x)), label) for x, label in zip(X.tolist(), y.tolist(), strict=True)]
    for trace in ("full", "sums"):
        run = om.progressive(om.PassiveAggressiveClassifier(), X, y, every=50, trace=trace)
        assert run.curve()[0].tolist() == [50, 100, 150, 200]
        one = om.progressive(om.PassiveAggressiveClassifier(), examples, every=50, trace=trace)
        assert one.curve()[0].tolist() == [50, 100, 150, 200]


@uncompiled
@pytest.mark.parametrize("kind", ["ranking", "calibrated"])
def test_label_sets_scored_by_the_model_agree_for_arrays_and_dicts(kind):
    X, y = stream(4)
    Y = np.eye(4, dtype=int)[y]
    make = lambda: om.PassiveAggressiveClassifier(multilabel=kind, average=True, classes=range(4))  # noqa: E731
    arrays = om.progressive(make(), X, Y, scored_by="model")
    dicts = om.progressive(
        make(),
        [
            (dict(enumerate(x)), dict(enumerate(map(bool, s))))
            for x, s in zip(X.tolist(), Y.tolist(), strict=True)
        ],
        scored_by="model",
    )
    np.testing.assert_array_equal(arrays.predictions, dicts.predictions)
    assert arrays.mistakes == dicts.mistakes


def test_late_labels_of_sets_weights_and_averages():
    X, y = stream(3)
    Y = np.eye(3, dtype=int)[y]
    run = om.progressive(om.PassiveAggressiveClassifier(), X, Y, delay=5)
    then = om.PassiveAggressiveClassifier().partial_fit(X[:95], Y[:95])
    np.testing.assert_allclose(run.scores[100], then.decision_function(X[[100]])[0], atol=1e-12)
    balanced = om.PassiveAggressiveClassifier(class_weight="balanced", classes=[0, 1, 2])
    late = om.progressive(balanced.clone(), X, y, delay=5)
    np.testing.assert_array_equal(late.model.coef_, balanced.clone().partial_fit(X, y).coef_)
    mean = om.progressive(om.Perceptron(average=True), X, y, delay=5, scored_by="model")
    half = om.Perceptron(average=True).partial_fit(X[:95], y[:95], classes=[0, 1, 2])
    np.testing.assert_allclose(mean.scores[100], half.decision_function(X[[100]])[0], atol=1e-12)
    number = om.progressive(om.PassiveAggressiveRegressor(), X, X[:, 0].copy(), delay=3)
    np.testing.assert_allclose(number.losses, np.maximum(0, np.abs(number.predictions - X[:, 0]) - 0.1))
    for wrong in (-1, 1.5):
        with pytest.raises(BadInput, match="delay="):
            om.progressive(om.Perceptron(), X, y, delay=wrong)


def test_metrics_of_an_open_stream_and_of_weights():
    X, y = stream(2)
    open_run = om.progressive(om.PassiveAggressiveClassifier(growing=True), X, y)
    measured = open_run.metrics("accuracy", "f1", "auc")
    assert measured["accuracy"] == pytest.approx(1 - open_run.error_rate) and measured["auc"] > 0.9
    weights = np.arange(200) % 2.0
    run = om.progressive(om.PassiveAggressiveClassifier(), X, y, sample_weight=weights)
    assert run.metrics("error_rate")["error_rate"] == pytest.approx(run.error_rate)
    assert run.curve()[0][-1] == run.rounds == 100
    for bad_run, name in (
        (om.progressive(om.PassiveAggressiveRegressor(), X, X[:, 0].copy()), "accuracy"),
        (run, "mae"),
    ):
        with pytest.raises(BadInput, match="no metric"):
            bad_run.metrics(name)
    with pytest.raises(BadInput, match="comparator has shape"):
        run.regret(np.zeros(5))
    ball = om.progressive(om.PassiveAggressiveUniclass(epsilon=0.5), X)
    theirs = np.maximum(0.0, np.linalg.norm(X - 1.0, axis=1) - 0.5)
    assert ball.regret(np.ones(X.shape[1])) == pytest.approx(ball.losses.sum() - theirs.sum())
    with pytest.raises(BadInput, match="radius is epsilon="):
        ball.regret((np.ones(X.shape[1]), 2.0))


def test_what_is_no_learner_and_no_pair_is_one_line():
    from sklearn.pipeline import make_pipeline

    X, y = stream(2)
    for call in (
        lambda: om.progressive(make_pipeline(om.Perceptron()), X, y),
        lambda: om.progressive(om.Perceptron(), [{"a": 1.0}], [1]),
        lambda: om.progressive(om.Perceptron(), X, y, every=0),
        lambda: om.progressive(om.Perceptron(), iter(())),
    ):
        with pytest.raises(BadInput) as caught:
            call()
        assert "\n" not in str(caught.value)


def never(space, scores, now, hyper):
    return False


def sometimes(space, scores, now, hyper):
    return now.clock % 3 == 0


@uncompiled
@pytest.mark.parametrize("query", [never, sometimes])
def test_mistakes_are_counted_whether_the_label_was_asked_for_or_not(query):
    X, y = stream(2)
    recipe = om.Recipe(step="pa1", query=query)
    run = om.progressive(om.OnlineClassifier(recipe), X, y)
    wrong = np.asarray(run.predictions) != y
    assert run.mistakes == wrong.sum() > 0 and run.error_rate == wrong.mean()
    assert run.metrics("error_rate")["error_rate"] == pytest.approx(wrong.mean())
    assert run.curve()[1][-1] == pytest.approx(wrong.mean())
    assert run.queried.sum() == (0 if query is never else len(y) // 3)
    assert om.progressive(om.OnlineClassifier(recipe), X, y, trace="sums").mistakes == wrong.sum()
    assert om.progressive(om.OnlineClassifier(recipe), X, y, delay=1).mistakes > 0
    dicts = [(dict(enumerate(x)), label) for x, label in zip(X.tolist(), y.tolist(), strict=True)]
    each = om.progressive(om.OnlineClassifier(recipe, classes=np.unique(y).tolist()), dicts)
    assert each.mistakes == wrong.sum() and each.queried.sum() == run.queried.sum()
    weights = (np.arange(len(y)) % 2).astype(float)
    half = om.progressive(om.OnlineClassifier(recipe), X, y, sample_weight=weights)
    assert half.mistakes == (np.asarray(half.predictions) != y)[weights > 0].sum()


def test_a_sweep_asks_by_the_query_of_its_recipe():
    X, y = stream(2)
    model = om.OnlineClassifier(om.Recipe(query=never))
    found = om.sweep(model, {"rate": [0.5, 1.0]}, X, y)
    assert [row["updates"] for row in found.rows] == [0, 0]


@pytest.mark.parametrize(
    "model", [om.SelectiveSampler(om.PassiveAggressiveClassifier(), random_state=0), om.BBQ(random_state=0)]
)
def test_regret_of_learners_that_ask(model):
    X, y = stream(2)
    run = om.progressive(model, X / np.abs(X).max() / X.shape[1], y)
    theirs = run.losses.sum() - run.queried.sum()  # the hinge at 0 is 1
    assert run.regret(np.zeros((1, X.shape[1]))) == pytest.approx(theirs)
