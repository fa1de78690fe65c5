"""Passive where the demand is met; aggressive, but no more than needed, where it is not."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

import onmargin as om

from ..oracles import ORACLES
from ..soaking import uncompiled
from ..students import problem_of, stream, student

pytestmark = uncompiled

PA = sorted(name for name in ORACLES if name.startswith("pa"))
ONE_DEMAND = [name for name in PA if not name.endswith((".all", ".calibrated"))]
# Tasks whose second round on an example makes the demand of the first (no other rival can step in).
SAME_DEMAND = ("binary", "binary_max_loss", "binary_prediction", "all", "regression", "uniclass")
# Weights that hold the number of the round: without a step they shrink.
TIMED = ("pegasos", "ftrl_coin", "ftrl_soft")
NEAR = {"rtol": 1e-12, "atol": 1e-12}


def one_more(model, X, y, t):
    """One round on row t, with everything watched."""
    return om.progressive(model, X[t : t + 1], None if y is None else y[t : t + 1])


def trained(name, **more):
    """A model that has seen the stream once, and the stream."""
    X, y, _ = stream(name)
    model = student(name, **more)
    om.progressive(model, X, y)
    return model, X, y


@pytest.mark.parametrize("name", sorted(ORACLES))
def test_no_loss_no_change(name):
    """A round without a step leaves every weight as it was, bit for bit (or lets it shrink: `TIMED`)."""
    model, X, y = trained(name, **options(name))
    own_gate = name.startswith(
        ("cw", "scw", "ridge", "banditron")
    )  # they step until sure (or always), loss or not
    quiet = 0
    for t in range(len(X)):
        before = model.coef_
        run = one_more(model, X, y, t)
        assert run.steps[0] == 0 or run.losses[0] > 0 or own_gate
        if run.steps[0] == 0:
            quiet += 1
            if name.startswith(TIMED):
                assert np.all(np.abs(model.coef_) <= np.abs(before)) and np.all(model.coef_ * before >= 0)
            else:
                assert np.array_equal(model.coef_, before)
    assert quiet > 0


def options(name):
    """What makes some rounds quiet: a wide ball, no constant coordinate in an empty row; the last weights."""
    if name.startswith("pegasos"):
        return {"average": False}
    if name.startswith(("ridge", "banditron")):
        return {"intercept": False}
    return {"epsilon": 2.0} if problem_of(name) == "points" else {}


@pytest.mark.parametrize("name", [f"{step}.{task}" for step in ("pa", "pa1") for task in SAME_DEMAND])
def test_second_step_on_the_same_example_is_none_after_an_uncapped_one(name):
    """After PA, and PA-I with room to move, the example costs nothing any more."""
    model, X, y = trained(name, **({"C": 1e9} if name.startswith("pa1") else {}))
    moved = 0
    for t in range(len(X)):
        first, second = one_more(model, X, y, t), one_more(model, X, y, t)
        moved += first.steps[0] > 0
        assert second.losses[0] <= 1e-12 * max(1.0, first.losses[0])
    assert moved > 0


@pytest.mark.parametrize("step", ["pa", "pa1"])
def test_margin_is_exactly_one_after_an_uncapped_step(step):
    """Two classes: y <w, x> = 1; regression: |y - <w, x>| = epsilon; uniclass: on the sphere."""
    draw = np.random.default_rng(3)
    X, numbers = draw.normal(size=(40, 4)), draw.normal(size=40)
    sides = np.where(numbers > 0, 1, -1)
    model = om.PassiveAggressiveClassifier(step=step, C=1e9, classes=(-1, 1))
    line = om.PassiveAggressiveRegressor(step=step, C=1e9, epsilon=0.1)
    ball = om.PassiveAggressiveUniclass(step=step, C=1e9, epsilon=0.5)
    for x, side, number in zip(X[:, None], sides, numbers, strict=True):
        if om.progressive(model, x, np.array([side])).steps[0] > 0:
            assert_allclose(side * model.decision_function(x), 1.0, **NEAR)
        if om.progressive(line, x, np.array([number])).steps[0] > 0:
            assert_allclose(abs(number - line.predict(x)), 0.1, **NEAR)
        if om.progressive(ball, x).steps[0] > 0:
            assert_allclose(ball.score_samples(x), -0.5, **NEAR)


@pytest.mark.parametrize("step", ["pa", "pa1"])
@pytest.mark.parametrize("update", ["top", "all"])
def test_rivals_are_kept_at_the_margin(step, update):
    """The best rival of before ends exactly at the margin; with update="all" every rival does, or beyond."""
    draw = np.random.default_rng(4)
    X, y = draw.normal(size=(40, 4)), draw.integers(5, size=40)
    model = om.PassiveAggressiveClassifier(step=step, C=1e9, classes=range(5), update=update)
    for x, own in zip(X[:, None], y, strict=True):
        run = om.progressive(model, x, np.array([own]))
        before, after = run.scores[0], model.decision_function(x)[0]
        before[own] = -np.inf
        gaps = np.delete(after[own] - after, own)
        if run.steps[0] > 0 and update == "top":
            assert_allclose(after[own] - after[before.argmax()], 1.0, **NEAR)
        if run.steps[0] > 0 and update == "all":
            assert_allclose(gaps.min(), 1.0, **NEAR)


@pytest.mark.parametrize(
    "name", [f"{step}.{task}" for step in ("pa1", "pa2") for task in ("binary", "regression")]
)
def test_capped_step_lowers_the_loss(name):
    """With a small C a step stops short of the demand, but goes towards it."""
    model, X, y = trained(name, C=1e-3)
    lowered = 0
    for t in range(len(X)):
        first, second = one_more(model, X, y, t), one_more(model, X, y, t)
        if first.steps[0] > 0:
            lowered += 1
            assert 0 < second.losses[0] < first.losses[0]
    assert lowered > 10


@pytest.mark.parametrize("name", [name for name in ONE_DEMAND if problem_of(name) in ("binary", "classes")])
def test_mistakes_are_at_most_the_squared_losses(name):
    """M <= sum of squared losses; with costs, the costs paid are."""
    X, y, _ = stream(name)
    costs = "max_loss" in name or "prediction" in name
    model = student(name, **({} if costs else {"margin": 1.0}))
    run = om.progressive(model, X, y)
    assert run.mistakes > 0
    if costs:
        codes = np.searchsorted(model.classes_, y), np.searchsorted(model.classes_, run.predictions)
        assert model.cost[codes].sum() <= (run.losses**2).sum() + 1e-9
    else:
        assert run.mistakes <= run.errors_theory <= (run.losses**2).sum()


@pytest.mark.parametrize("name", sorted({name.split(".")[1] for name in PA}))
def test_infinite_aggressiveness_is_the_hard_margin(name):
    """C = inf makes PA-I and PA-II equal to PA."""
    X, y, h = stream(f"pa.{name}")
    models = [student(f"{step}.{name}", C=np.inf) for step in ("pa", "pa1", "pa2")]
    runs = [om.progressive(model, X, y, sample_weight=h) for model in models]
    for run in runs[1:]:
        assert_allclose(run.model.coef_, runs[0].model.coef_, rtol=1e-9, atol=1e-12)
        assert_allclose(run.steps, runs[0].steps, rtol=1e-9, atol=1e-12)
    assert np.any(runs[0].steps)


@pytest.mark.parametrize("step", ["pa", "pa1", "pa2"])
def test_two_rows_with_half_the_aggressiveness_equal_one_row(step):
    """w_1 - w_0 of two rows learned with C/2 is the one row learned with C (label sets of one label)."""
    X, y, h = stream("pa1.binary")
    sets = np.c_[y == "no", y == "yes"].astype(int)
    one = om.PassiveAggressiveClassifier(step=step, C=0.3)
    two = om.PassiveAggressiveClassifier(step=step, C=0.15, multilabel="ranking")
    single = om.progressive(one, X, y, sample_weight=h)
    double = om.progressive(two, X, sets, sample_weight=h)
    assert_allclose(two.coef_[1] - two.coef_[0], one.coef_[0], rtol=1e-9, atol=1e-12)
    assert_allclose(two.intercept_[1] - two.intercept_[0], one.intercept_[0], rtol=1e-9, atol=1e-12)
    assert_allclose(double.steps * 2, single.steps, rtol=1e-9, atol=1e-12)
    assert_allclose(double.losses, single.losses, rtol=1e-9, atol=1e-12)
