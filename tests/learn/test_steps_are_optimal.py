"""One round solves its optimisation problem: a numeric solver does no better, the constraints hold.

Every problem has the form  min 1/2 |w - w_t|^2 + pen(slack)  s.t.  A w >= b - slack, slack >= 0, with
pen = none (slack = 0), C sum(slack), C sum(slack^2).
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize

import onmargin as om

from ..soaking import uncompiled
from ..students import plain

pytestmark = uncompiled

STEPS = ("pa", "pa1", "pa2")
SEEDS = range(8)


def price(step, C, slack):
    return {"pa": 0.0, "pa1": C * slack.sum(), "pa2": C * (slack**2).sum()}[step]


def objective(step, C, start, w, slack):
    return 0.5 * np.sum((w - start) ** 2) + price(step, C, slack)


def solved(step, C, start, A, b, shared):
    """The least objective a general solver finds; `shared`: one slack for all constraints."""
    d = start.size
    spread = np.ones((len(b), 1)) if shared else np.eye(len(b))
    if step == "pa":
        spread = spread[:, :0]
    slacks = spread.shape[1]

    def value(v):
        return objective(step, C, start, v[:d], v[d:])

    def slope(v):
        by_slack = np.full(slacks, C) if step == "pa1" else 2 * C * v[d:]
        return np.r_[v[:d] - start, by_slack]

    rows = np.c_[A, spread]
    met = {"type": "ineq", "fun": lambda v: rows @ v - b, "jac": lambda v: rows}
    begin = np.r_[start, np.full(slacks, max(0.0, (b - A @ start).max()))]
    bounds = [(None, None)] * d + [(0.0, None)] * slacks
    found = minimize(
        value,
        begin,
        jac=slope,
        bounds=bounds,
        constraints=[met],
        method="SLSQP",
        options={"ftol": 1e-13, "maxiter": 500},
    )
    assert (rows @ found.x - b).min() > -1e-7, "the solver itself must have met the constraints"
    return found.fun


def check(step, C, start, w, A, b, shared=False):
    """Our weights against the solver's, the slack being what the constraints lack."""
    start, w = start.ravel(), w.ravel()
    lack = np.maximum(0.0, b - A @ w)
    if step == "pa":
        assert lack.max() < 1e-9
    slack = lack.max(keepdims=True) if shared else lack
    reached = objective(step, C, start, w, slack)
    best = solved(step, C, start, A, b, shared)
    assert reached <= best + 1e-6 * max(1.0, best)


def fitted(model, x, y, start):
    """The coefficients after one round from the given ones."""
    model.set_params(max_iter=1, tol=None, shuffle=False)
    if not isinstance(model, om.PassiveAggressiveUniclass):
        model.set_params(fit_intercept=False)
        return model.fit(x[None], [y], coef_init=start).coef_
    return model.fit(x[None], coef_init=start).coef_


def draw_round(seed, shape):
    """Weights, a row and C, small and large."""
    draw = np.random.default_rng(seed)
    return draw, draw.normal(size=shape), draw.normal(size=shape[-1]), float(10 ** draw.uniform(-2, 1))


def margins(rivals, own, outputs, x):
    """One constraint a rival: <w_own - w_rival, x>."""
    A = np.zeros((len(rivals), outputs, x.size))
    for i, q in enumerate(rivals):
        A[i, own], A[i, q] = x, -x
    return A.reshape(len(rivals), -1)


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("seed", SEEDS)
def test_binary_step_is_optimal(step, seed):
    draw, start, x, C = draw_round(seed, (1, 4))
    y = int(draw.choice([-1, 1]))
    model = plain(om.PassiveAggressiveClassifier, step=step, C=C, classes=(-1, 1))
    check(step, C, start, fitted(model, x, y, start), y * x[None], np.ones(1))


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("seed", SEEDS)
def test_multiclass_step_is_optimal_for_the_best_rival(step, seed):
    draw, start, x, C = draw_round(seed, (4, 3))
    y = int(draw.integers(4))
    scores = start @ x
    scores[y] = -np.inf
    model = plain(om.PassiveAggressiveClassifier, step=step, C=C, classes=range(4))
    A = margins([int(scores.argmax())], y, 4, x)
    check(step, C, start, fitted(model, x, y, start), A, np.ones(1))


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("seed", range(16))
def test_mira_step_is_optimal_for_all_rivals(step, seed):
    draw, start, x, C = draw_round(seed, (5, 3))
    y = int(draw.integers(5))
    model = plain(om.PassiveAggressiveClassifier, step=step, C=C, classes=range(5), update="all")
    A = margins([q for q in range(5) if q != y], y, 5, x)
    check(step, C, start, fitted(model, x, y, start), A, np.ones(4), shared=True)


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("update", ["max_loss", "prediction"])
@pytest.mark.parametrize("seed", SEEDS)
def test_cost_sensitive_step_is_optimal_for_its_rival(step, update, seed):
    draw, start, x, C = draw_round(seed, (4, 3))
    cost = draw.uniform(0.2, 4.0, (4, 4)) * (1 - np.eye(4))
    y = int(draw.integers(4))
    scores = start @ x
    q = int((scores + np.sqrt(cost[y]) * (update == "max_loss")).argmax())
    model = plain(
        om.PassiveAggressiveClassifier, step=step, C=C, classes=range(4), cost=cost, cost_update=update
    )
    w = fitted(model, x, y, start)
    if q == y:
        assert np.array_equal(w, start)
    else:
        check(step, C, start, w, margins([q], y, 4, x), np.sqrt(cost[y, [q]]))


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("seed", SEEDS)
def test_regression_step_is_optimal(step, seed):
    """|y - <w, x>| <= epsilon + slack is two constraints with one slack."""
    draw, start, x, C = draw_round(seed, (1, 4))
    y = float(draw.normal())
    model = plain(om.PassiveAggressiveRegressor, step=step, C=C, epsilon=0.3)
    A, b = np.stack([x, -x]), np.array([y - 0.3, -y - 0.3])
    check(step, C, start, fitted(model, x, y, start), A, b, shared=True)


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("seed", range(16))
def test_calibrated_step_is_optimal_for_both_constraints(step, seed):
    """s_r - s_0 >= 1 and s_0 - s_q >= 1. The dummy starts at 0; labels that are not pulled show its move."""
    draw, start, x, C = draw_round(seed, (5, 3))
    y = np.array([1, 1, 1, 0, 0])[draw.permutation(5)]
    scores = start @ x
    r = int(np.where(y == 1, scores, np.inf).argmin())
    q = int(np.where(y == 0, scores, -np.inf).argmax())
    other = next(k for k in range(5) if k not in (r, q))
    model = plain(om.PassiveAggressiveClassifier, step=step, C=C, multilabel="calibrated")
    less = fitted(model, x, y, start)  # rows less the dummy's
    dummy = start[other] - less[other]
    before, after = np.r_[start, np.zeros((1, 3))], np.r_[less + dummy, dummy[None]]
    A = np.r_[margins([5], r, 6, x), margins([q], 5, 6, x)]
    check(step, C, before, after, A, np.ones(2))


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("seed", SEEDS)
def test_uniclass_step_is_optimal(step, seed):
    """min 1/2 |w - w_t|^2 + pen(slack) s.t. |w - y| <= epsilon + slack, slack >= 0."""
    _, start, y, C = draw_round(seed, (1, 3))
    start, y = 3 * start[0], 3 * y
    w = fitted(plain(om.PassiveAggressiveUniclass, step=step, C=C, epsilon=0.5), y, None, start[None])[0]

    def lack(v):
        return max(0.0, np.linalg.norm(v - y) - 0.5)

    def room(v):
        return (0.5 + soft * v[3]) ** 2 - np.sum((v[:3] - y) ** 2)

    def room_slope(v):
        return np.r_[-2 * (v[:3] - y), 2 * soft * (0.5 + soft * v[3])]

    def slope(v):
        return np.r_[v[:3] - start, {"pa": 0.0, "pa1": C, "pa2": 2 * C * v[3]}[step]]

    soft = float(step != "pa")
    found = minimize(
        lambda v: objective(step, C, start, v[:3], v[3:]), np.r_[y, 0.0], jac=slope, method="SLSQP",
        bounds=[(None, None)] * 3 + [(0.0, None)], options={"ftol": 1e-13, "maxiter": 500},
        constraints=[{"type": "ineq", "fun": room, "jac": room_slope}],
    )  # fmt: skip
    assert room(found.x) > -1e-7, "the solver itself must have met the constraint"
    reached = objective(step, C, start, w, np.array([lack(w)]))
    assert reached <= found.fun + 1e-6 * max(1.0, found.fun)
    assert step != "pa" or lack(w) < 1e-9
