"""The theorems beyond classes and numbers: balls (A7), label sets and costs (A1); and how tight they are."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

import onmargin as om

from ..students import plain

STEPS = pytest.mark.parametrize("step", ["pa", "pa1", "pa2"])
DRAWN = st.tuples(st.integers(0, 10**6), st.integers(1, 60), st.integers(1, 5))
AGGRESSIVENESS = st.sampled_from([0.01, 0.1, 1.0, 10.0])
often = settings(deadline=None, max_examples=40, derandomize=True, database=None)


def holds(left, right):
    assert left <= right + 1e-9 * max(1.0, abs(right))


def rows_of(drawn, outputs):
    """Rows with a constant coordinate of 1, the weights u of a noisy teacher, and its scores."""
    seed, count, width = drawn
    draw = np.random.default_rng(seed)
    X = np.c_[draw.normal(size=(count, width)) * 10 ** draw.uniform(-1, 1), np.ones(count)]
    u = draw.normal(size=(outputs, width + 1))
    return draw, X, u, X @ u.T + draw.choice([0.0, 0.5, 3.0]) * draw.normal(size=(count, outputs))


@STEPS
@often
@given(drawn=DRAWN, C=AGGRESSIVENESS, largest=st.sampled_from([None, 0.5, 3.0, 20.0]))
def test_uniclass_lemma_a7(step, drawn, C, largest):
    """sum tau (2 loss - tau - 2 loss(u)) <= |u - w_1|^2; a learned radius never decreases.

    With a radius learned up to B points are (y, 0), the start is (0, B) and u = (c, sqrt(B^2 - r^2)).
    """
    points = rows_of(drawn, 1)[1][:, :-1] + 2.0
    model = om.PassiveAggressiveUniclass(step=step, C=C, epsilon=0.7, max_radius=largest)
    run = om.progressive(model, points)
    reach = 0.7 if largest is None else largest
    Y, start = np.c_[points, np.zeros(len(points))], np.r_[np.zeros(points.shape[1]), largest or 0.0]
    for middle in (0 * points[0], points[0], points.mean(axis=0), np.median(points, axis=0), 5 * points[-1]):
        for share in (0.0, 0.5, 1.0):
            u = np.r_[middle, 0.0 if largest is None else largest * np.sqrt(1 - share**2)]
            theirs = np.maximum(0, np.linalg.norm(u - Y, axis=1) - reach)
            holds((run.steps * (2 * run.losses - run.steps - 2 * theirs)).sum(), ((u - start) ** 2).sum())
    radii = [model.partial_fit(row[None]).radius_ for row in points[:10]]
    assert (np.diff(radii) >= 0).all() and max(radii) <= reach


@STEPS
@often
@given(drawn=DRAWN, C=AGGRESSIVENESS)
def test_label_sets_master_lemma_a1(step, drawn, C):
    """The lowest relevant label against the highest irrelevant one; sets may be empty or full."""
    _, X, u, scores = rows_of(drawn, 4)
    sets = (scores > 0).astype(int)
    run = om.progressive(plain(om.PassiveAggressiveClassifier, step=step, C=C), X[:, :-1], sets)
    size = 2 * (X**2).sum(axis=1)
    for scale in (0.0, 0.1, 0.5, 1.0, 2.0, 5.0):
        theirs = scale * X @ u.T
        low = np.where(sets == 1, theirs, np.inf).min(axis=1)
        high = np.where(sets == 0, theirs, -np.inf).max(axis=1)
        left = run.steps * (2 * run.losses - run.steps * size - 2 * np.maximum(0, 1 - low + high))
        holds(left.sum(), scale**2 * (u**2).sum())


@STEPS
@pytest.mark.parametrize("update", ["max_loss", "prediction"])
@often
@given(drawn=DRAWN, C=AGGRESSIVENESS)
def test_costs_master_lemma_a1(step, update, drawn, C):
    """The comparator answers to the learner's own rival q: loss(u) = [sqrt(cost) - <u_y - u_q, x>]_+."""
    draw, X, u, scores = rows_of(drawn, 4)
    y, each = scores.argmax(axis=1), np.arange(len(X))
    cost = draw.uniform(0.1, 4.0, (4, 4)) * (1 - np.eye(4))
    model = plain(
        om.PassiveAggressiveClassifier, step=step, C=C, classes=range(4), cost=cost, cost_update=update
    )
    run = om.progressive(model, X[:, :-1], y, classes=range(4))
    q = (run.scores + np.sqrt(cost[y]) * (update == "max_loss")).argmax(axis=1)
    size = 2 * (X**2).sum(axis=1)
    for scale in (0.0, 0.1, 0.5, 1.0, 2.0, 5.0):
        s = scale * X @ u.T
        theirs = np.maximum(0, np.sqrt(cost[y, q]) - s[each, y] + s[each, q])
        left = run.steps * (2 * run.losses - run.steps * size - 2 * theirs)
        holds(left.sum(), scale**2 * (u**2).sum())
    holds(cost[y, run.predictions].sum(), (run.losses**2).sum())


@often
@given(seed=st.integers(0, 10**6), C=AGGRESSIVENESS)
def test_bounds_are_met_with_equality_after_one_round(seed, C):
    """From zero, one round, u the weights after it: P1, A1, A2, A4 (C large), A5, A6 hold with equality."""
    draw = np.random.default_rng(seed)
    x, y = draw.normal(size=(1, 4)) * 10 ** draw.uniform(-1, 1), draw.choice([-1, 1], 1)
    size = (x**2).sum()
    for step, c in (("pa", 1.0), ("pa1", C), ("pa2", C)):
        model = om.PassiveAggressiveClassifier(step=step, C=c, classes=(-1, 1), fit_intercept=False)
        run = om.progressive(model, x, y, classes=(-1, 1))
        norm2 = (model.coef_**2).sum()
        own, left, tau = 1 - y[0] * model.decision_function(x)[0], run.losses[0], run.steps[0]
        assert run.errors_theory == left == 1
        assert_allclose(tau * (2 * left - tau * size - 2 * max(0.0, own)), norm2)
        if step == "pa":
            assert_allclose(left**2, norm2 * size)
        if step == "pa1" and 1 / size <= c:
            assert_allclose([1.0, min(1 / size, c) * size], max(size, 1 / c) * norm2)
        if step == "pa2":
            assert_allclose(left**2, (size + 1 / (2 * c)) * (norm2 + 2 * c * own**2))
    model = om.Perceptron(classes=(-1, 1), fit_intercept=False, rate=1 / size)
    run = om.progressive(model, x, y, classes=(-1, 1))
    assert_allclose(run.errors_theory, (model.coef_**2).sum() * size)  # U^2 R^2, and u makes no loss


@often
@given(seed=st.integers(0, 10**6))
def test_uniclass_lemma_is_met_with_equality_after_one_round(seed):
    """PA from the origin, u the centre after one round."""
    y = 3 * np.random.default_rng(seed).normal(size=(1, 3))
    model = om.PassiveAggressiveUniclass(step="pa", epsilon=0.01)
    run = om.progressive(model, y)
    assert_allclose(run.steps * (2 * run.losses - run.steps), (model.center_**2).sum())
