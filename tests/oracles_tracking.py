"""Learners that track, play and ask once more in plain NumPy, from sections 7.2 and 8 of the mathematics.

As in `oracles`: a learner is `(state, x, y, h, p) -> (loss, step)` and changes `state.W`.
"""

from __future__ import annotations

import numpy as np

from .oracles_pa import best_rival, extremes

HORIZON = 12.0  # of those that forget: what is left after a round is 1 - 1 / horizon
DEFAULTS = dict(lam=1.0, radius=1.0, gamma=0.1, luck=None)


def mistaken(state, x, y, p):
    """{output: sign} of what a mistake pulls, and whether there is one."""
    s = state.W @ x
    if p.problem == "binary":
        return {0: y}, y * s[0] <= 0
    pair = (y, best_rival(s, y)) if p.problem == "top" else extremes(state, s, y)
    if pair is None:
        return {}, False
    return {pair[0]: 1.0, pair[1]: -1.0}, s[pair[0]] <= s[pair[1]]


def shifting(state, x, y, h, p):
    """Cavallanti et al. 2007: w = (1 - l) w + l y x, l = lam / (lam + k) after k mistakes."""
    signs, wrong = mistaken(state, x, y, p)
    if not wrong or not x.any():
        return float(wrong), 0.0
    share = p.lam / (p.lam + len(state.moved))
    state.moved.append(x)
    state.W *= 1 - share
    for k, sign in signs.items():
        state.W[k] += share * h * sign * x
    return 1.0, h


def projected(state, x, y, h, p):
    """w = the point of the ball nearest to w + eta y x."""
    signs, wrong = mistaken(state, x, y, p)
    if not wrong or not x.any():
        return float(wrong), 0.0
    for k, sign in signs.items():
        state.W[k] += h * p.rate * sign * x
    state.W *= min(1.0, p.radius / np.linalg.norm(state.W))
    return 1.0, h * p.rate


def banditron(state, x, y, h, p):
    """Kakade et al. 2008: only whether the played class was right is seen."""
    best = int(np.argmax(state.W @ x))
    P = np.full(len(state.W), p.gamma / len(state.W))
    P[best] += 1 - p.gamma
    played = min(int(np.sum(np.cumsum(P) <= p.luck[state.row])), len(P) - 1)
    state.W[best] -= h * x
    if played == y:
        state.W[played] += h * x / P[played]
    return float(played != y), h if x.any() else 0.0


def evidence(K, y, seen):
    """BBQ with a kernel, every label of `seen` asked for: scores before each round, and the support.

    c = (I + K_SS)^-1 k, v = k(x, x) - k'c, estimate Y'c / (1 + v).
    """
    S, scores = [], []
    for t in range(len(y)):
        k = K[S, t]
        c = np.linalg.solve(np.eye(len(S)) + K[np.ix_(S, S)], k)
        scores.append(y[S] @ c / (1 + K[t, t] - k @ c))
        S += [t] if seen[t] else []
    return np.array(scores), S


ROWS = {
    f"{learner.__name__}.{problem}": (learner, {"problem": problem})
    for learner in (shifting, projected)
    for problem in ("binary", "top", "labels")
} | {"banditron.top": (banditron, {})}
