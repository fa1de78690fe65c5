"""The recipe for `oracles`: theta in full, and all weights from it anew after every round.

theta <- theta - eta z with z a subgradient of the loss, w = grad g*(theta). Shalev-Shwartz 2007
(recipe), Kivinen & Warmuth 1997 (EG+-), Duchi, Hazan & Singer 2011 (AdaGrad), Xiao 2010 (l1),
Orabona & Pal 2016 (coin betting), Shalev-Shwartz et al. 2011 (Pegasos), Cesa-Bianchi et al. 2009 (ridge).
"""

from __future__ import annotations

import numpy as np
from scipy.special import expit, softmax

from .oracles_pa import best_rival, extremes

DEFAULTS = dict(
    loss="hinge", step="constant", p=None, groups=None, radius=1.0, adagrad_delta=1.0, coin_epsilon=1.0,
    l1=0.0, soft_of="l2", lam=1e-4,
)  # fmt: skip


def begin(state, X, p):
    """Nothing is summed up yet; without a constant coordinate its weight does not exist."""
    state.theta, state.squares = np.zeros_like(state.W), np.zeros_like(state.W)
    state.live = np.ones(state.W.shape, bool)
    state.live[:, -1] = X[:, -1].any()
    state.t, state.rates = 0, 0.0
    state.wealth, state.largest = p.coin_epsilon, 1.0
    if p.space != "ridge":
        state.W = MAPS[p.space](state, p)


# ---- losses of a margin, and of a number: the value and minus the derivative


def margin_loss(name, m):
    gap = max(0.0, 1 - m)
    return {
        "perceptron": lambda: (max(0.0, -m), float(m <= 0)),
        "hinge": lambda: (gap, float(m < 1)),
        "squared_hinge": lambda: (gap**2, 2 * gap),
        "logistic": lambda: (np.logaddexp(0, -m), expit(-m)),
        "exponential": lambda: (np.exp(-m), np.exp(-m)),
        "squared": lambda: ((1 - m) ** 2 / 2, 1 - m),
    }[name]()


def number_loss(name, gap, epsilon):
    """gap = y - s; the derivative is by the distance |gap|."""
    if name == "squared":
        return gap**2 / 2, abs(gap)
    return max(0.0, abs(gap) - epsilon), float(abs(gap) > epsilon)


def complaint(state, s, y, p):
    """The loss, its slope, and which scores that pulls up (+1) and down (-1)."""
    signs = np.zeros(len(s))
    if p.problem == "regression":
        signs[0] = np.sign(y - s[0])
        return *number_loss(p.loss, y - s[0], p.epsilon), signs
    if p.problem == "binary":
        signs[0] = y
    else:
        pair = (y, best_rival(s, y)) if p.problem == "top" else extremes(state, s, y)
        if pair is None:
            return 0.0, 0.0, signs
        signs[list(pair)] = 1.0, -1.0
    return *margin_loss(p.loss, signs @ s), signs


# ---- w = grad g*(theta); `state.t` rounds are over


def lengths_of(z, p):
    """Per coordinate |z_i|; "group": the length of its group, and one entry per group.

    Columns of one group count for all outputs together; the constant coordinate is its own group.
    """
    if p.space == "pnorm":
        return abs(z), abs(z).ravel()
    columns = np.arange(z.shape[1]) if p.groups is None else np.r_[p.groups, max(p.groups) + 1]
    _, place = np.unique(columns, return_inverse=True)
    norms = np.sqrt(np.bincount(place, (z**2).sum(axis=0)))
    return norms[place], norms


def map_norm(state, p, a=None):
    """a (length_i / |lengths|_q)^(q-2) theta_i; a = 1/(q-1), q = max(2, 2 ln d) unless given."""
    each, norms = lengths_of(state.theta, p)
    many = state.live.sum() if p.space == "pnorm" else len(norms) - (not state.live[0, -1])
    q = max(2.0, 2 * np.log(many)) if p.p is None else p.p / (p.p - 1)
    whole = (norms**q).sum() ** (1 / q)
    a = 1 / (q - 1) if a is None else a
    return a * state.theta * (each / whole) ** (q - 2) if whole > 0 else np.zeros_like(state.theta)


def map_entropic(state, p):
    """The simplex of doubled features (x, -x), all coordinates of all outputs together."""
    live, W = state.live, np.zeros_like(state.theta)
    up, down = np.split(p.radius * softmax(np.r_[state.theta[live], -state.theta[live]]), 2)
    W[live] = up - down
    return W


def map_simplex(state, p):
    W = np.zeros_like(state.theta)
    W[state.live] = p.radius * softmax(state.theta[state.live])
    return W


def map_adagrad(state, p):
    return state.theta / (p.adagrad_delta + np.sqrt(state.squares))


def map_soft(state, p):
    """theta cut off at l1 times the sum of all rates, then the map of the regulariser."""
    kept = np.sign(state.theta) * np.maximum(abs(state.theta) - p.l1 * state.rates, 0)
    return kept / (p.adagrad_delta + np.sqrt(state.squares)) if p.soft_of == "adagrad" else kept


MAPS = {
    "l2": lambda state, p: state.theta.copy(),
    "pnorm": map_norm,
    "group": map_norm,
    "entropic": map_entropic,
    "simplex": map_simplex,
    "adagrad": map_adagrad,
    "soft": map_soft,
    "coin": lambda state, p: state.theta * state.wealth / (state.t + 1),
}


# ---- rounds


def pa_rate(p, loss, size, h):
    """The rate that meets the loss's tangent; size = |z|^2."""
    if p.step == "pa2":
        return loss / (size + 1 / (2 * h * p.C))
    return min(h * p.C, loss / size) if p.step == "pa1" else loss / size


def ftrl(state, x, y, h, p):
    if p.step == "aggressive":
        return aggressive(state, x, y, h, p)
    loss, slope, signs = complaint(state, state.W @ x, y, p)
    state.t += 1
    rate = {"sqrt": p.rate / np.sqrt(state.t), "unit": 1.0}.get(p.step, p.rate)
    state.rates += rate
    z = -slope * np.outer(signs, x)  # the gradient
    step = 0.0
    if z.any():
        if p.step.startswith("pa"):
            rate, h = pa_rate(p, loss, (z**2).sum(), h), 1.0
        step = rate * h * slope
        state.theta -= rate * h * z
        state.squares += (h * z) ** 2
    state.W = MAPS[p.space](state, p)
    return loss, step


def coin(state, x, y, h, p):
    loss, slope, signs = complaint(state, state.W @ x, y, p)
    z = -h * slope * np.outer(signs, x)
    state.largest = max(state.largest, np.sqrt((z**2).sum()))
    z /= state.largest
    state.wealth -= (z * state.W).sum()
    state.theta -= z
    state.t += 1
    state.W = MAPS["coin"](state, p)
    return loss, h * slope if z.any() else 0.0


def aggressive(state, x, y, h, p):
    """OM-2's step: a = 1/q, and [min(1 - 2m/|z|^2, 1)]_+ in the dual norm."""
    q, s = p.p / (p.p - 1), state.W @ x
    loss, slope, signs = complaint(state, s, y, p)
    _, lengths = lengths_of(np.outer(signs, x), p)
    size = (lengths**q).sum() ** (2 / q)
    step = h * max(0.0, min(1 - 2 * (signs @ s) / size, 1.0)) if slope > 0 and size > 0 else 0.0
    state.theta += step * np.outer(signs, x)
    state.W = map_norm(state, p, a=1 / q)
    return loss, step


def pegasos(state, x, y, h, p):
    """w_{t+1} = (1 - 1/t) w_t + (sum of the pulled examples) / (lam t) = theta / (lam t)."""
    s = state.W @ x
    if p.problem.startswith("apart"):
        inside = y == 1 if p.problem.endswith("labels") else np.arange(len(s)) == y
        sides = np.where(inside, 1.0, -1.0)
        loss, signs = max(0.0, 1 - (sides * s).min()), sides * (sides * s < 1)
        slope = float(loss > 0)
    else:
        loss, slope, signs = complaint(state, s, y, p)
    state.t += 1
    state.theta += h * slope * np.outer(signs, x)
    state.W = state.theta / (p.lam * state.t)
    return loss, h * slope if x.any() else 0.0


def ridge(state, x, y, h, p):
    """BBQ's estimator, every label asked for; the row at hand counts as seen without its label."""
    m = y * ridge_score(state, x)[0]
    state.S[0] += h * np.outer(x, x)  # starts as the identity
    state.b[0] += h * y * x
    state.W[0] = np.linalg.solve(state.S[0], state.b[0])
    return float(m <= 0), h if x.any() else 0.0


def ridge_score(state, x):
    return np.array([x @ np.linalg.solve(state.S[0] + np.outer(x, x), state.b[0])])


SPACES = ("l2", "pnorm", "group", "entropic", "simplex", "adagrad", "coin", "soft")
ROWS = {
    f"ftrl_{space}.{problem}": (coin if space == "coin" else ftrl, {"space": space, "problem": problem})
    for space in SPACES
    for problem in ("binary", "top", "labels", "regression")
} | {
    f"pegasos.{problem}": (pegasos, {"space": "l2", "problem": problem})
    for problem in ("binary", "top", "labels", "apart", "apart_labels")
}
ROWS["pnorm_aggressive.binary"] = (aggressive, {"space": "pnorm", "problem": "binary"})
ROWS["ridge.binary"] = (ridge, {"space": "ridge", "problem": "binary"})
