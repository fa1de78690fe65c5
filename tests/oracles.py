"""The learners once more, row by row in plain NumPy, from the papers and not from our code.

A learner is a function `(state, x, y, h, p) -> (loss, step)` that changes `state.W` (one row per
output). x carries the constant coordinate at its end, h is the example's weight, p holds the
parameters. Two classes: y is -1 or +1 and there is one row; several: a class number; label sets: a
row of 0 and 1.
"""

from __future__ import annotations

import itertools
from types import SimpleNamespace
from typing import NamedTuple

import numpy as np
from scipy.stats import norm

from . import oracles_ftrl as ftrl
from . import oracles_pa as pa
from . import oracles_tracking as tracking
from .oracles_pa import best_rival, extremes


class Run(NamedTuple):
    """What a stream came to."""

    last: np.ndarray  # (outputs, d + 1) weights after the last round
    mean: np.ndarray  # of the weights that predicted
    scores: np.ndarray  # (n, outputs) before each round
    bars: np.ndarray  # (n,) threshold of label sets before each round
    bar: float  # and after the last
    losses: np.ndarray
    steps: np.ndarray


def play(name, X, y, h, outputs, **parameters):
    """Run the learner of a row of the table over a stream; a weight of 0 is a round not seen."""
    learner, fixed = ORACLES[name.removesuffix("~")]
    kappa = 1 - 1 / tracking.HORIZON if name.endswith("~") else 1.0  # forgetting: w_t+1 = kappa w_t + step z
    p = SimpleNamespace(**{**DEFAULTS, **tracking.DEFAULTS, **ftrl.DEFAULTS, **fixed, **parameters})
    width = X.shape[1]
    state = SimpleNamespace(W=np.zeros((outputs, width)), bar=0.0, middles=[], moved=[])
    state.score = lambda x: state.W @ x
    state.S = np.stack([np.eye(width)] * outputs)
    state.b = np.zeros((outputs, width))
    if p.max_radius is not None:
        state.W[0, -1] = p.max_radius  # omega
    if learner is second_order_perceptron:
        state.S = state.S / p.a
        state.score = lambda x: np.array(
            [b @ P @ x / (1 + x @ P @ x) for b, P in zip(state.b, state.S, strict=True)]
        )
    if "space" in fixed:
        ftrl.begin(state, X, p)
    if learner is ftrl.ridge:
        state.score = lambda x: ftrl.ridge_score(state, x)
    if learner is pa.pa_uniclass:
        state.score = lambda x: np.array([pa.inside(state.W[0], x, p)])
    seen, lines = [], []
    for row, (x, target, weight) in enumerate(zip(X, y, h, strict=True)):
        state.row = row
        scores, bar = state.score(x), state.bar
        loss = step = 0.0
        if weight > 0:
            seen.append(state.W.copy())
            theta = np.array(getattr(state, "theta", 0.0))
            loss, step = learner(state, x, target, weight, p)
            state.W = state.W - (1 - kappa) * seen[-1]
            if kappa < 1 and theta.ndim:
                state.theta = state.theta - (1 - kappa) * theta
        lines.append((scores, bar, loss, step))
    scores, bars, losses, steps = map(np.array, zip(*lines, strict=True))
    return Run(state.W, np.mean(seen, axis=0), scores, bars, state.bar, losses, steps)


DEFAULTS = dict(
    C=1.0, margin=1.0, rate=1.0, epsilon=0.1, max_radius=None, r=1.0, a=1.0, confidence=0.9, cost=None
)


# ---- Perceptron


def unit(x, h, p):
    """The step of a mistake; an empty row moves nothing."""
    return h * p.rate if x.any() else 0.0


def perceptron_binary(state, x, y, h, p):
    if y * (state.W[0] @ x) > 0:
        return 0.0, 0.0
    state.W[0] += h * p.rate * y * x
    return 1.0, unit(x, h, p)


def perceptron_top(state, x, y, h, p):
    s = state.W @ x
    q = best_rival(s, y)
    if s[y] > s[q]:
        return 0.0, 0.0
    state.W[y] += h * p.rate * x
    state.W[q] -= h * p.rate * x
    return 1.0, unit(x, h, p)


def perceptron_uniform(state, x, y, h, p):
    s = state.W @ x
    above = [q for q in range(len(s)) if q != y and s[q] >= s[y]]
    if not above:
        return 0.0, 0.0
    state.W[y] += h * p.rate * x
    for q in above:
        state.W[q] -= h * p.rate * x / len(above)
    return 1.0, unit(x, h, p)


def perceptron_labels(state, x, y, h, p):
    s = state.W @ x
    pair = extremes(state, s, y)
    if pair is None or s[pair[0]] > s[pair[1]]:
        return 0.0, 0.0
    state.W[pair[0]] += h * p.rate * x
    state.W[pair[1]] -= h * p.rate * x
    return 1.0, unit(x, h, p)


# ---- second order


def rates(p, m, v, h):
    """alpha and beta of AROW, CW, SCW-I and SCW-II; None where the round is passive."""
    if p.rule == "arow":
        beta = 1 / (v + p.r / h)
        return ((1 - m) * beta, beta) if m < 1 else None
    phi = norm.ppf(p.confidence)
    if phi * np.sqrt(v) - m <= 0:
        return None
    psi, zeta, n = 1 + phi**2 / 2, 1 + phi**2, v + 1 / (2 * h * p.C)
    alpha = max(0, (-m * psi + np.sqrt(m**2 * phi**4 / 4 + v * phi**2 * zeta)) / (v * zeta))
    if p.rule == "scw1":
        alpha = min(h * p.C, alpha)
    if p.rule == "scw2":
        root = phi * np.sqrt(phi**2 * m**2 * v**2 + 4 * n * v * (n + v * phi**2))
        alpha = max(0, (-(2 * m * n + phi**2 * m * v) + root) / (2 * (n**2 + n * v * phi**2)))
    root = (-alpha * v * phi + np.sqrt(alpha**2 * v**2 * phi**2 + 4 * v)) / 2
    return alpha, alpha * phi / (root + v * alpha * phi)


def second_order(state, x, y, h, p):
    """One row, the true class against its best rival, or the two extremes of a label set."""
    s = state.W @ x
    if p.problem == "binary":
        signs = {0: y}
    else:
        pair = (y, best_rival(s, y)) if p.problem == "top" else extremes(state, s, y)
        if pair is None:
            return 0.0, 0.0
        signs = {pair[0]: 1.0, pair[1]: -1.0}
    m = sum(sign * s[k] for k, sign in signs.items())
    v = sum(x @ state.S[k] @ x for k in signs)
    loss = max(0.0, 1 - m)
    found = rates(p, m, v, h) if v > 0 else None
    if found is None:
        return loss, 0.0
    alpha, beta = found
    for k, sign in signs.items():
        reach = state.S[k] @ x
        state.W[k] += alpha * sign * reach
        state.S[k] -= beta * np.outer(reach, reach)
        if p.shape == "diag":
            state.S[k] = np.diag(np.diag(state.S[k]))
    return loss, alpha


def second_order_perceptron(state, x, y, h, p):
    """Each output is a binary problem; state.S is P, state.b the sum of y x over mistakes."""
    if p.problem == "binary":
        sides = [y]
    else:
        sides = (
            np.where(np.arange(len(state.W)) == y, 1, -1) if p.problem == "top" else np.where(y == 1, 1, -1)
        )
    wrong = [k for k, p_k in enumerate(state.score(x)) if sides[k] * p_k <= 0]
    for k in wrong if x.any() else []:
        state.S[k] = np.linalg.inv(np.linalg.inv(state.S[k]) + h * np.outer(x, x))
        if p.shape == "diag":
            state.S[k] = np.diag(np.diag(state.S[k]))
        state.b[k] += h * sides[k] * x
        state.W[k] = state.S[k] @ state.b[k]
    return float(bool(wrong)), h if wrong and x.any() else 0.0


ORACLES = {
    "perceptron.binary": (perceptron_binary, {}),
    "perceptron.top": (perceptron_top, {}),
    "perceptron.uniform": (perceptron_uniform, {}),
    "perceptron.labels": (perceptron_labels, {}),
}
for _step in ("pa", "pa1", "pa2"):
    for _problem in (
        "binary",
        "top",
        "all",
        "labels",
        "calibrated",
        "max_loss",
        "prediction",
        "regression",
        "uniclass",
    ):
        ORACLES[f"{_step}.{_problem}"] = (getattr(pa, f"pa_{_problem}"), {"step": _step})
    ORACLES[f"{_step}.binary_max_loss"] = (pa.pa_binary_cost, {"step": _step, "only_wrong": False})
    ORACLES[f"{_step}.binary_prediction"] = (pa.pa_binary_cost, {"step": _step, "only_wrong": True})
for _shape, _problem in itertools.product(("diag", "full"), ("binary", "top", "labels")):
    _kind = {"shape": _shape, "problem": _problem}
    for _rule in ("arow", "cw", "scw1", "scw2"):
        ORACLES[f"{_rule}_{_shape}.{_problem}"] = (second_order, {"rule": _rule, **_kind})
    ORACLES[f"sop_{_shape}.{_problem}"] = (second_order_perceptron, _kind)
ORACLES |= ftrl.ROWS | tracking.ROWS
