"""average="auto": `fit` averages and ends with the mean as its weights; streams go on without one."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone

import onmargin as om

from ..soaking import uncompiled

pytestmark = uncompiled

draw = np.random.default_rng(6)
X = draw.normal(size=(60, 3))
Y = (X[:, 0] - 0.5 * X[:, 1] + 0.6 * draw.normal(size=60) > 0).astype(int)
THREE = np.digitize(X[:, 0] + 0.4 * draw.normal(size=60), [-0.4, 0.5])
MORE = draw.normal(size=(25, 3))
MORE_Y = (MORE[:, 0] + 0.5 * draw.normal(size=25) > 0).astype(int)
QID = np.repeat(np.arange(15), 4)
PA = om.PassiveAggressiveClassifier
PASSES: dict[str, Any] = {"max_iter": 3, "tol": None, "random_state": 0}
KERNEL: dict[str, Any] = {"kernel": "rbf", "gamma": 0.5, "dtype": "float64"}

TAKEN = {
    "PA": PA(**PASSES),
    "PA of three": PA(**PASSES),
    "Perceptron": om.Perceptron(**PASSES),
    "Perceptron of three": om.Perceptron(**PASSES),
    "MIRA": om.MIRA(**PASSES),
    "AROW": om.AROW(**PASSES),
    "AROW, full": om.AROW(covariance="full", **PASSES),
    "SCW": om.SoftConfidenceWeighted(**PASSES),
    "SCW, full": om.SoftConfidenceWeighted(covariance="full", **PASSES),
    "second order": om.SecondOrderPerceptron(**PASSES),
    "second order, full": om.SecondOrderPerceptron(covariance="full", **PASSES),
    "FTRL, l2": om.FTRLClassifier(regularizer="l2", **PASSES),
    "regressor": om.PassiveAggressiveRegressor(**PASSES),
    "ball": om.PassiveAggressiveUniclass(**PASSES),
    "kernel PA": PA(**KERNEL, **PASSES),
    "kernel PA, budget": PA(**KERNEL, budget=8, **PASSES),
    "kernel Perceptron of three": om.Perceptron(**KERNEL, **PASSES),
    "float32": PA(**PASSES | {"dtype": "float32"}),
    "paired": om.PairedClassifier(**PASSES),
}
BOTH = {
    "adagrad": om.FTRLClassifier(regularizer="adagrad", **PASSES),
    "coin": om.FTRLClassifier(loss="logistic", regularizer="coin", **PASSES),
    "adagrad, numbers": om.FTRLRegressor(regularizer="adagrad", **PASSES),
}
NEVER = {
    "l1": om.FTRLClassifier(regularizer="l2", l1=0.01, **PASSES),
    "horizon": PA(horizon=30, **PASSES),
    "p-norm": om.FTRLClassifier(regularizer="pnorm", p=1.5, **PASSES),
}
each_taken = pytest.mark.parametrize("name", TAKEN)
each_both = pytest.mark.parametrize("name", BOTH)


def labels(name: str) -> Any:
    return THREE if "three" in name else Y


def dicts(table: np.ndarray) -> list[dict[int, float]]:
    return [dict(enumerate(row)) for row in table.tolist()]


def scores(model: Any, table: np.ndarray = MORE) -> np.ndarray:
    return np.asarray(getattr(model, "decision_function", model.predict)(table))


def with_average(model: Any, average: Any) -> Any:
    return clone(model).set_params(average=average)


# ---- where any weights may be gone on from


@each_taken
def test_fit_ends_with_the_mean_as_its_weights(name: str) -> None:
    model = clone(TAKEN[name]).fit(X, labels(name))
    mean = with_average(TAKEN[name], True).fit(X, labels(name))
    near = 1e-6 if "32" in name else 1e-12
    np.testing.assert_allclose(scores(model), scores(mean), rtol=near, atol=near)
    if "kernel" in name:
        np.testing.assert_allclose(model.dual_coef_, mean.dual_coef_, rtol=near, atol=near)
    else:
        np.testing.assert_allclose(model.coef_, mean.coef_, rtol=near, atol=near)
        np.testing.assert_allclose(model.intercept_, mean.intercept_, rtol=near, atol=near)
    last = with_average(TAKEN[name], False).fit(X, labels(name))
    assert not np.allclose(scores(last), scores(model))
    assert model.t_ == mean.t_ == last.t_
    assert model.n_iter_ == last.n_iter_


@pytest.mark.parametrize("step", ["pa1", "perceptron"])
def test_groups_of_candidates_end_with_it_too(step: str) -> None:
    chosen = np.arange(60) % 4 == np.repeat(draw.integers(0, 4, 15), 4)
    made = om.CandidateClassifier(step=step, **PASSES)
    model, mean = (with_average(made, average).fit(X, chosen, QID) for average in ("auto", True))
    np.testing.assert_allclose(model.coef_, mean.coef_, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("rule", ["auc", "max_violators"])
def test_rankers_end_with_it_too(rule: str) -> None:
    made = om.PairedRanker(rule=rule, **PASSES)
    model, mean, last = (with_average(made, average).fit(X, THREE, QID) for average in ("auto", True, False))
    np.testing.assert_allclose(model.coef_, mean.coef_, rtol=1e-12, atol=1e-12)
    assert not np.allclose(last.coef_, mean.coef_)


@pytest.mark.parametrize("made", [PA(**PASSES), om.Perceptron(**PASSES), om.MIRA(**PASSES)])
def test_a_stream_goes_on_from_it_with_running_weights(made: Any) -> None:
    model = clone(made).fit(X, Y)
    value = model.intercept_scaling_
    on = clone(made).set_params(average=False, max_iter=1, shuffle=False, intercept_scaling=value)
    on.fit(MORE, MORE_Y, coef_init=model.coef_, intercept_init=model.intercept_)
    one = pickle.loads(pickle.dumps(model))
    model.partial_fit(MORE, MORE_Y)
    for x, y in zip(dicts(MORE), MORE_Y.tolist(), strict=True):
        one.learn_one(x, y)
    for found in (model, one):
        np.testing.assert_allclose(found.coef_, on.coef_, rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(found.intercept_, on.intercept_, rtol=1e-9, atol=1e-9)
        assert [found.predict_one(x) for x in dicts(X)] == on.predict(X).tolist()


@each_taken
def test_a_stream_begun_as_one_keeps_no_mean(name: str) -> None:
    if name == "ball":
        model, last = (with_average(TAKEN[name], average).partial_fit(X) for average in ("auto", False))
    else:
        y = labels(name)
        known = {} if name == "regressor" else {"classes": np.unique(y)}
        model, last = (
            with_average(TAKEN[name], average).partial_fit(X, y, **known) for average in ("auto", False)
        )
    np.testing.assert_array_equal(scores(model), scores(last))


@pytest.mark.parametrize("name", ["PA", "AROW", "second order, full", "kernel PA", "kernel PA, budget"])
def test_a_file_holds_one_vector(name: str, tmp_path: Any) -> None:
    """As large as that of a model without a mean, and it goes on like the model."""
    model = clone(TAKEN[name]).fit(X, Y)
    without = with_average(TAKEN[name], False).fit(X, Y)
    for each, path in ((model, "auto.onm"), (without, "false.onm")):
        om.save(each, tmp_path / path)
    sizes = [(tmp_path / path).stat().st_size for path in ("auto.onm", "false.onm")]
    if "kernel" not in name:  # (those keep as many vectors as they met violators)
        assert abs(sizes[0] - sizes[1]) < 32
    again = om.load(tmp_path / "auto.onm")
    np.testing.assert_array_equal(scores(again), scores(model))
    for each in (model, again):
        each.partial_fit(MORE, MORE_Y)
    np.testing.assert_array_equal(scores(again), scores(model))


def test_a_warm_start_averages_as_if_the_weights_had_always_been_these() -> None:
    made = PA(warm_start=True, shuffle=False, max_iter=1, tol=None)
    first = clone(made).fit(X, Y)
    twice = pickle.loads(pickle.dumps(first)).fit(X, Y)
    again = PA(average=True, shuffle=False, max_iter=1, tol=None, intercept_scaling=first.intercept_scaling_)
    again.fit(X, Y, coef_init=first.coef_, intercept_init=first.intercept_)
    np.testing.assert_allclose(twice.coef_, (first.coef_ + again.coef_) / 2, rtol=1e-9, atol=1e-9)
    assert twice.t_ == 120


def test_merged_fits_are_the_mean_of_their_means() -> None:
    parts = [PA(**PASSES).fit(X[i::2], Y[i::2]) for i in range(2)]
    np.testing.assert_allclose(scores(om.merge(parts)), (scores(parts[0]) + scores(parts[1])) / 2, atol=1e-12)


# ---- where they may not


@each_both
def test_both_stay_until_a_stream_goes_on(name: str, tmp_path: Any) -> None:
    model, mean, last = (with_average(BOTH[name], average).fit(X, Y) for average in ("auto", True, False))
    np.testing.assert_allclose(scores(model), scores(mean), rtol=1e-12, atol=1e-12)
    om.save(model, tmp_path / "m.onm")
    again, one = om.load(tmp_path / "m.onm"), pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(scores(again), scores(model))
    last.partial_fit(MORE, MORE_Y)
    for found in (model, again):
        found.partial_fit(MORE, MORE_Y)
        np.testing.assert_allclose(scores(found), scores(last), rtol=1e-12, atol=1e-12)
    for x, y in zip(dicts(MORE), MORE_Y.tolist(), strict=True):
        one.learn_one(x, y)
    np.testing.assert_allclose(scores(one), scores(last), rtol=1e-9, atol=1e-9)
    run = om.progressive(with_average(BOTH[name], "auto").fit(X, Y), MORE, MORE_Y)
    np.testing.assert_allclose(scores(run.model), scores(last), rtol=1e-12, atol=1e-12)


@each_both
def test_a_refused_call_leaves_the_mean(name: str) -> None:
    model = clone(BOTH[name]).fit(X, Y)
    before = scores(model)
    bad = np.where(np.arange(25)[:, None] == 7, np.nan, MORE)
    for call in (
        lambda: model.partial_fit(bad, MORE_Y),
        lambda: model.learn_one({0: np.nan}, 1),
        lambda: model.learn_one({0: 1.0}, 1, w=-1.0),
        lambda: model.fit(bad, MORE_Y),
    ):
        with pytest.raises(ValueError):
            call()
        np.testing.assert_array_equal(scores(model), before)


@each_both
def test_a_warm_start_goes_on_with_both(name: str) -> None:
    models = []
    for average in ("auto", True):
        model = with_average(BOTH[name], average).set_params(warm_start=True, shuffle=False)
        models.append(model.fit(X, Y).fit(X, Y))
    np.testing.assert_allclose(scores(models[0]), scores(models[1]), rtol=1e-12, atol=1e-12)


@each_both
def test_a_question_by_dict_is_answered_by_the_mean(name: str) -> None:
    model = clone(BOTH[name]).fit(X, Y)
    answers = [model.predict_one(x) for x in dicts(MORE)]
    np.testing.assert_allclose(answers, model.predict(MORE), rtol=1e-9)


# ---- as without


@pytest.mark.parametrize("name", NEVER)
def test_what_cannot_or_should_not_is_as_without(name: str) -> None:
    model, last = (with_average(NEVER[name], average).fit(X, Y) for average in ("auto", False))
    np.testing.assert_array_equal(scores(model), scores(last))


def test_sweeps_and_runs_scored_by_the_model_are_those_of_running_weights() -> None:
    grid = {"C": [0.01, 0.1, 1.0]}
    for given in ({}, {"scored_by": "model"}):
        auto, last = (om.sweep(PA(average=average), grid, X, Y, **given) for average in ("auto", False))
        assert auto.best_params == last.best_params
        np.testing.assert_array_equal(scores(auto.best_model), scores(last.best_model))
    auto, last = (om.progressive(PA(average=a), X, Y, scored_by="model") for a in ("auto", False))
    np.testing.assert_array_equal(auto.scores, last.scores)


def test_a_word_that_is_not_auto_is_refused() -> None:
    for word in ("yes", 0.5, None):
        with pytest.raises(ValueError, match="wanted True, False, 'after' or 'auto'"):
            PA(average=word).fit(X, Y)
    model = PA().fit(X, Y).set_params(average=True)
    with pytest.raises(ValueError, match="average"):
        model.partial_fit(MORE, MORE_Y)


# ---- Pegasos


@pytest.mark.parametrize("batch", [1, 4])
def test_the_kernel_form_averages_the_same_half_of_the_passes(batch: int) -> None:
    given = {"lam": 0.1, "max_iter": 4, "tol": None, "random_state": 0, "batch_size": batch}
    linear, kernel = (
        om.Pegasos(**given, **more).fit(X, Y) for more in ({}, {"kernel": "linear", "dtype": "float64"})
    )
    np.testing.assert_allclose(kernel.coef_, linear.coef_, rtol=1e-9, atol=1e-9)
    assert kernel.objective_ == pytest.approx(linear.objective_, rel=1e-9)


@pytest.mark.parametrize("tol", [0.3, 0.1, 0.01])
def test_it_stops_by_the_objective_of_what_is_returned(tol: float) -> None:
    given = {"lam": 0.05, "average": True, "order": "cyclic"}
    reached = [om.Pegasos(**given, max_iter=k, tol=None).fit(X, Y).objective_ for k in range(1, 16)]
    best, stale, by_hand = np.inf, 0, 15
    for number, value in enumerate(reached, 1):
        stale = stale + 1 if value > best - tol else 0
        best = min(best, value)
        if stale == 2:
            by_hand = number
            break
    assert by_hand < 15
    model = om.Pegasos(**given, max_iter=15, tol=tol, n_iter_no_change=2).fit(X, Y)
    assert model.n_iter_ == by_hand
    assert model.objective_ == pytest.approx(reached[by_hand - 1], rel=1e-12)


def test_half_is_better_than_all_of_them() -> None:
    halves, wholes = (
        [
            om.Pegasos(lam=0.01, max_iter=10, tol=None, random_state=s, **a).fit(X, Y).objective_
            for s in range(5)
        ]
        for a in ({}, {"average": True})
    )
    assert np.mean(halves) < np.mean(wholes)


@pytest.mark.parametrize("name", ["adagrad", "coin"])
def test_rows_of_weight_0_leave_the_mean(name: str) -> None:
    """They are not seen, one by one or in a table."""
    model = om.FTRLClassifier(regularizer=name, **PASSES).fit(X, Y)
    before = model.decision_function(X)
    model.partial_fit(MORE, MORE_Y, sample_weight=np.zeros(25))
    model.learn_one(dict(enumerate(MORE[0].tolist())), 1, w=0.0)
    np.testing.assert_array_equal(model.decision_function(X), before)
    assert np.abs(model.partial_fit(MORE, MORE_Y).decision_function(X) - before).max() > 0
