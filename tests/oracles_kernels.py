"""The kernel learners once more, row by row in plain NumPy, with the whole Gram matrix of the stream.

K[i, j] = k(x_i, x_j), the constant coordinate's s^2 included; OM-2 takes one such matrix per kernel.
Targets and weights are those of `oracles`. A hypothesis is A, (outputs, T): f_k = sum_i A[k, i] k(x_i, .).
A learner is a function `(state, K, t, s, y, h, p) -> (loss, step)`: s are the scores of row t, state.A and
state.S (the rows kept, slot by slot) change.

Orabona et al. 2009 (Projectron), Cavallanti et al. 2007 (RBP), Dekel et al. 2008 (Forgetron), Orabona et
al. 2010 (OM-2), Shalev-Shwartz et al. 2011 (Pegasos), Crammer et al. 2006 (PA).
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import NamedTuple

import numpy as np

from . import oracles, oracles_pegasos
from .oracles_pa import best_rival, extremes, pa_all, pa_calibrated, tau

DEFAULTS = oracles.DEFAULTS | dict(budget=None, tolerance=0.1, plus=False, lam=1e-4, batch_size=1, q=None)


class KernelRun(NamedTuple):
    """What a stream came to."""

    scores: np.ndarray  # (T, outputs) before each round; uniclass: -|w - y|, omega within
    losses: np.ndarray  # mistakes (0 or 1): Perceptron, Projectron, RBP, Forgetron, Stoptron
    steps: np.ndarray
    last: np.ndarray  # (outputs, T) coefficients after the last round
    mean: np.ndarray  # of the hypotheses that predicted; OM-2: (F, outputs, T), kernel weights within
    bars: np.ndarray  # (T,) threshold of label sets before each round
    bar: float  # and after the last
    support: list  # the rows kept, in the order of their slots
    omega: tuple  # learned radius: after the last round, and the mean of those that predicted
    weights: np.ndarray | None  # (F,) of OM-2's kernels


def play_kernel(name, K, y, h, outputs, luck=None, **parameters):
    """Run a learner over a stream; a weight of 0 is a round not seen, luck[t] is the uniform of row t."""
    learner, score, fixed = KERNEL_ORACLES[name]
    p = SimpleNamespace(**{**DEFAULTS, **fixed, **parameters, "luck": luck})
    state = SimpleNamespace(A=np.zeros((outputs, len(y))), S=[], bar=0.0, middles=[], rounds=0)
    state.omega, state.weights = p.max_radius or 0.0, np.zeros(len(K)) if learner is om2 else None
    state.Z = state.A.copy()  # Pegasos: lam (t - 1) A
    state.mistakes, state.Q = 0, 0.0  # Forgetron
    seen, lines = [], []
    for t in range(len(y)):
        s, bar, loss, step = score(state, K, t), state.bar, 0.0, 0.0
        if h[t] > 0:
            if state.rounds % p.batch_size == 0:
                kernels = 1.0 if state.weights is None else state.weights[:, None, None]
                seen.append((kernels * state.A, state.omega))
            state.rounds += 1
            loss, step = learner(state, K, t, s, y[t], h[t], p)
        lines.append((s, loss, step, bar))
    scores, losses, steps, bars = map(np.array, zip(*lines, strict=True))
    mean, radius = (np.mean(each, axis=0) for each in zip(*seen, strict=True))
    omega = (state.omega, radius)
    return KernelRun(scores, losses, steps, state.A, mean, bars, state.bar, state.S, omega, state.weights)


# ---- what a round demands


def demand(state, s, y, p):
    """<w, z> >= required with z = signs (x) phi(x): <w, z> (inf: nothing is demanded), required, signs."""
    signs, required, pair = np.zeros(len(s)), p.margin, None
    if p.problem == "regression":
        signs[0] = np.sign(y - s[0])
        return -abs(y - s[0]), -p.epsilon, signs
    if p.problem.startswith("binary"):
        signs[0], own = y, int(y > 0)
        if p.problem != "binary":
            required = np.sqrt(p.cost[own, 1 - own])
        right = p.problem == "binary_prediction" and (s[0] >= 0) == (y > 0)
        return np.inf if right else y * s[0], required, signs
    if p.problem == "labels":
        pair = extremes(state, s, y)
    elif p.problem == "top":
        pair = y, best_rival(s, y)
    else:
        margins = np.sqrt(p.cost[y])
        q = int(np.argmax(s + margins if p.problem == "max_loss" else s))
        pair, required = (y, q) if q != y else None, margins[q]
    if pair is None:
        return np.inf, required, signs
    signs[list(pair)] = 1.0, -1.0
    return signs @ s, required, signs


# ---- where the step goes


def score(state, K, t):
    return state.A @ K[:, t]


def project(K, S, t):
    """Coefficients d of the projection of phi(x_t) on the span of S, and the length of what is left."""
    d = np.linalg.solve(K[np.ix_(S, S)], K[S, t])
    rest = K[t, t] - K[S, t] @ d
    return d, np.sqrt(rest) if rest > 1e-8 * K[t, t] else 0.0


def enter(A, S, K, t, change, budget=None, tolerance=None):
    """A += change (x) phi(x_t); under a budget x_t is kept or projected on S. True if anything moved.

    A plain budget (tolerance None) keeps what is a hundredth of |phi| from the span, or more.
    """
    if K[t, t] == 0 or not change.any():
        return False
    d, delta = project(K, S, t) if budget is not None else (None, None)
    far = 0.01 * np.sqrt(K[t, t]) if tolerance is None else tolerance
    if budget is None or (len(S) < budget and delta > far):
        S.append(t)
        A[:, t] += change
        return True
    A[:, S] += np.outer(change, d)
    return bool(d.any())


# ---- Perceptron and Passive-Aggressive


def perceptron(state, K, t, s, y, h, p):
    m, _, signs = demand(state, s, y, p)
    if m > 0:
        return 0.0, 0.0
    return 1.0, h * p.rate * enter(state.A, state.S, K, t, h * p.rate * signs, p.budget)


def perceptron_uniform(state, K, t, s, y, h, p):
    above = [q for q in range(len(s)) if q != y and s[q] >= s[y]]
    if not above:
        return 0.0, 0.0
    signs = np.zeros(len(s))
    signs[y], signs[above] = 1.0, -1 / len(above)
    return 1.0, h * p.rate * enter(state.A, state.S, K, t, h * p.rate * signs, p.budget)


def passive_aggressive(state, K, t, s, y, h, p):
    m, required, signs = demand(state, s, y, p)
    loss = max(0.0, required - m)
    step = tau(p, loss, signs @ signs * K[t, t], h)
    return loss, step * enter(state.A, state.S, K, t, step * signs, p.budget)


def many_constraints(state, K, t, s, y, h, p):
    """MIRA and the calibrated pair see x by its scores and its length alone: a row of one number does."""
    x = np.sqrt(K[t, [t]])
    before = np.outer(s, 1 / x if x > 0 else 0.0)
    line = SimpleNamespace(W=before.copy())
    loss, step = p.rule(line, x, y, h, p)
    change = (line.W - before)[:, 0] / x if step > 0 else np.zeros(len(s))
    return loss, step * enter(state.A, state.S, K, t, change, p.budget)


def distance(state, K, t):
    """-|w - y|, w = (c, omega), y = (phi(x_t), 0)."""
    a = state.A[0]
    return np.array([-np.sqrt(max(0.0, a @ K @ a - 2 * a @ K[:, t] + K[t, t] + state.omega**2))])


def uniclass(state, K, t, s, y, h, p):
    """(c, omega) <- (1 - f) (c, omega) + f (phi(x_t), 0); a point at the origin pulls like any other."""
    loss = max(0.0, -s[0] - (p.epsilon if p.max_radius is None else p.max_radius))
    step = tau(p, loss, 1.0, h)
    if step > 0:
        f = step / -s[0]
        state.A *= 1 - f
        state.omega *= 1 - f
        enter(state.A, state.S, K, t, np.array([f]), p.budget)
    return loss, step


# ---- Pegasos


def pegasos(state, K, t, s, y, h, p):
    """z += side (x) phi(x) h / b for all examples within the margin; after b of them w = z / (lam t)."""
    if p.problem.startswith("apart"):
        apart = oracles_pegasos.one_vs_all if p.problem == "apart" else oracles_pegasos.each_label
        side = apart(s, y)
        loss = ((1 - side * s) * (side != 0)).max()
    else:
        m, _, signs = demand(state, s, y, p)
        loss, side = max(0.0, 1 - m), signs * (m < 1)
    step = h / p.batch_size * enter(state.Z, state.S, K, t, h / p.batch_size * side, p.budget)
    if state.rounds % p.batch_size == 0:
        state.A = state.Z / (p.lam * (state.rounds // p.batch_size))
    return loss, step


# ---- bounded Perceptrons


def projectron(state, K, t, s, y, h, p):
    m, _, signs = demand(state, s, y, p)
    length, budget = np.linalg.norm(signs), np.inf if p.budget is None else p.budget
    loss = max(0.0, 1 - m) if p.plus else float(m <= 0)
    if m <= 0:
        return loss, h * enter(state.A, state.S, K, t, h * signs, budget, p.tolerance / length)
    if not p.plus or m >= 1 or K[t, t] == 0:
        return loss, 0.0
    d, delta = project(K, state.S, t)
    n2 = length**2 * (K[state.S, t] @ d)
    lost = 0.0 if delta == 0 else length * delta / p.tolerance if p.tolerance > 0 else np.inf
    if loss <= lost or n2 <= 0:
        return loss, 0.0
    step = h * min(loss / n2, 2 * (loss - lost) / n2, 1.0)
    state.A[:, state.S] += np.outer(step * signs, d)
    return loss, step


def rbp(state, K, t, s, y, h, p):
    """A random one makes room."""
    m, _, signs = demand(state, s, y, p)
    if m > 0 or K[t, t] == 0:
        return float(m <= 0), 0.0
    if len(state.S) < p.budget:
        state.S.append(t)
    else:
        slot = int(np.floor(p.luck[t] * p.budget))
        state.A[:, state.S[slot]] = 0.0
        state.S[slot] = t
    state.A[:, t] = h * signs
    return 1.0, h


def forgetron(state, K, t, s, y, h, p):
    """All shrink by phi and the oldest goes; phi is the most that a phi^2 + b phi + Q <= 15/32 M allows."""
    m, _, signs = demand(state, s, y, p)
    if m > 0 or K[t, t] == 0:
        return float(m <= 0), 0.0
    state.mistakes += 1
    state.S.append(t)
    state.A[:, t] = h * signs
    if len(state.S) > p.budget:
        r = state.S[0]
        sigma = np.linalg.norm(state.A[:, r])
        mu = state.A[:, r] @ (state.A @ K[:, r]) / sigma
        a, b, c = sigma**2 - 2 * sigma * mu, 2 * sigma, state.Q - 15 / 32 * state.mistakes
        phi = 1.0
        if a + b + c > 0:
            phi = -c / b if a == 0 else (-b + np.sqrt(b**2 - 4 * a * c)) / (2 * a)
        state.A *= phi
        state.A[:, r] = 0.0
        state.S.pop(0)
        state.Q += a * phi**2 + b * phi
    return 1.0, h


def stoptron(state, K, t, s, y, h, p):
    m, _, signs = demand(state, s, y, p)
    if m > 0 or len(state.S) == p.budget:
        return float(m <= 0), 0.0
    return 1.0, h * enter(state.A, state.S, K, t, h * signs)


# ---- many kernels


def score_om2(state, K, t):
    return sum(w * (state.A @ k[:, t]) for w, k in zip(state.weights, K, strict=True))


def om2(state, K, t, s, y, h, p):
    """Coefficients are shared by all kernels; a kernel's weight follows from its |theta_j| = sqrt(N_j)."""
    m, _, signs = demand(state, s, y, p)
    q = max(2.0, 2 * np.log(len(K))) if p.q is None else p.q
    loss, size = max(0.0, 1 - m), signs @ signs * (K[:, t, t] ** (q / 2)).sum() ** (2 / q)
    eta = h * max(0.0, min(1 - 2 * m / size, 1.0)) if loss > 0 and size > 0 else 0.0
    if eta > 0:
        state.S.append(t)
        state.A[:, t] = eta * signs
        N = np.array([max(0.0, sum(a @ k @ a for a in state.A)) for k in K])
        share = np.sqrt(N / N.max())
        state.weights = (share / (share**q).sum() ** (1 / q)) ** (q - 2) / q
    return loss, eta


KERNEL_ORACLES = {"perceptron.uniform": (perceptron_uniform, score, {})}
for _problem in ("binary", "top", "labels"):
    _row = {"problem": _problem}
    KERNEL_ORACLES[f"perceptron.{_problem}"] = (perceptron, score, _row)
    KERNEL_ORACLES[f"projectron.{_problem}"] = (projectron, score, _row)
    KERNEL_ORACLES[f"projectron_plus.{_problem}"] = (projectron, score, _row | {"plus": True})
for _rule in (rbp, forgetron, stoptron):
    for _problem in ("binary", "top"):
        KERNEL_ORACLES[f"{_rule.__name__}.{_problem}"] = (_rule, score, {"problem": _problem})
for _problem in ("top", "labels"):
    KERNEL_ORACLES[f"om2.{_problem}"] = (om2, score_om2, {"problem": _problem})
for _problem in ("binary", "top", "labels", "apart", "apart_labels"):
    KERNEL_ORACLES[f"pegasos.{_problem}"] = (pegasos, score, {"problem": _problem})
for _step in ("pa", "pa1", "pa2"):
    for _problem in (
        "binary", "top", "labels", "max_loss", "prediction", "binary_max_loss", "binary_prediction",
        "regression",
    ):  # fmt: skip
        _row = {"step": _step, "problem": _problem}
        KERNEL_ORACLES[f"{_step}.{_problem}"] = (passive_aggressive, score, _row)
    KERNEL_ORACLES[f"{_step}.all"] = (many_constraints, score, {"step": _step, "rule": pa_all})
    KERNEL_ORACLES[f"{_step}.calibrated"] = (many_constraints, score, {"step": _step, "rule": pa_calibrated})
    KERNEL_ORACLES[f"{_step}.uniclass"] = (uniclass, distance, {"step": _step})
