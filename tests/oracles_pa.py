"""The Passive-Aggressive family for `oracles`, from Crammer et al. 2006 and Crammer & Singer 2003."""

from __future__ import annotations

import itertools
from types import SimpleNamespace

import numpy as np


def best_rival(s, y):
    """The best class but y; the lowest of equals."""
    return max((q for q in range(len(s)) if q != y), key=lambda q: s[q])


def extremes(state, s, y):
    """Lowest relevant and highest irrelevant label (None for a trivial set); the threshold follows."""
    inside, outside = np.flatnonzero(y == 1), np.flatnonzero(y == 0)
    if not len(inside) or not len(outside):
        return None
    r, q = min(inside, key=lambda k: s[k]), max(outside, key=lambda k: s[k])
    state.middles.append((s[r] + s[q]) / 2)
    state.bar = float(np.mean(state.middles))
    return r, q


def tau(p, loss, size, h):
    """How far PA, PA-I and PA-II move."""
    if loss == 0 or size == 0:
        return 0.0
    if p.step == "pa2":
        return loss / (size + 1 / (2 * h * p.C))
    return min(h * p.C, loss / size) if p.step == "pa1" else loss / size


def pa_binary(state, x, y, h, p):
    loss = max(0.0, p.margin - y * (state.W[0] @ x))
    step = tau(p, loss, x @ x, h)
    state.W[0] += step * y * x
    return loss, step


def separate(state, x, r, q, required, h, p):
    """PA on the one constraint s_r - s_q >= required, in two rows."""
    loss = max(0.0, required - (state.W[r] - state.W[q]) @ x)
    step = tau(p, loss, 2 * (x @ x), h)
    state.W[r] += step * x
    state.W[q] -= step * x
    return loss, step


def pa_top(state, x, y, h, p):
    return separate(state, x, y, best_rival(state.W @ x, y), p.margin, h, p)


def pa_labels(state, x, y, h, p):
    pair = extremes(state, state.W @ x, y)
    return separate(state, x, *pair, p.margin, h, p) if pair else (0.0, 0.0)


def pa_all(state, x, y, h, p):
    """Every rival at once, by sorting."""
    s, size, C = state.W @ x, x @ x, h * p.C
    loss = max(0.0, p.margin - s[y] + s[best_rival(s, y)])
    if loss == 0 or size == 0:
        return loss, 0.0
    b = (p.margin - s[y] + s) / size
    b[y] = -np.inf
    down = np.sort(b[b > 0])[::-1]
    kappa = 1 / (2 * C * size) if p.step == "pa2" else 0.0
    levels = [(1 + kappa) * down[:n].sum() / (1 + n * (1 + kappa)) for n in range(1, len(down) + 1)]
    a = [a for n, a in enumerate(levels) if down[n] > a][-1]
    alpha = np.maximum(b - a, 0)
    if p.step == "pa1" and alpha.sum() > C:
        levels = [(down[:n].sum() - C) / n for n in range(1, len(down) + 1)]
        alpha = np.maximum(b - [nu for n, nu in enumerate(levels) if down[n] > nu][-1], 0)
    state.W -= np.outer(alpha, x)
    state.W[y] += alpha.sum() * x
    return loss, alpha.sum()


def box_qp(v, G, cap):
    """argmax a.v - a'Ga/2 over [0, cap]^2: the best of all choices of what lies on which bound."""
    best, value = np.zeros(2), 0.0
    ends = (0.0, None) if np.isinf(cap) else (0.0, cap, None)
    for bounds in itertools.product(ends, repeat=2):
        free = [i for i in range(2) if bounds[i] is None]
        a = np.array([0.0 if bound is None else bound for bound in bounds])
        if free:
            a[free] = np.linalg.solve(G[np.ix_(free, free)], (v - G @ a)[free])
        if (a >= 0).all() and (a <= cap).all() and a @ v - a @ G @ a / 2 > value:
            best, value = a, a @ v - a @ G @ a / 2
    return best


def pa_calibrated(state, x, y, h, p):
    """A dummy label (the last row) between the relevant and the irrelevant labels."""
    s, size, C = state.W @ x, x @ x, h * p.C
    pair = extremes(SimpleNamespace(middles=[]), s[:-1], y)
    if pair is None:
        return 0.0, 0.0
    r, q = pair
    v = np.array([p.margin + s[-1] - s[r], p.margin + s[q] - s[-1]])
    loss = np.maximum(v, 0).sum()
    if loss == 0 or size == 0:
        return loss, 0.0
    ridge = 1 / (2 * C) if p.step == "pa2" else 0.0
    G = size * np.array([[2.0, -1.0], [-1.0, 2.0]]) + ridge * np.eye(2)
    one, two = box_qp(v, G, C if p.step == "pa1" else np.inf)
    state.W[r] += one * x
    state.W[-1] += (two - one) * x
    state.W[q] -= two * x
    return loss, one + two


def pa_max_loss(state, x, y, h, p):
    s, margins = state.W @ x, np.sqrt(p.cost[y])
    q = int(np.argmax(s + margins))
    return (0.0, 0.0) if q == y else separate(state, x, y, q, margins[q], h, p)


def pa_prediction(state, x, y, h, p):
    q = int(np.argmax(state.W @ x))
    return (0.0, 0.0) if q == y else separate(state, x, y, q, np.sqrt(p.cost[y, q]), h, p)


def pa_binary_cost(state, x, y, h, p):
    """One row for two classes; the margin asked for is the root of the other class's cost."""
    score, own = state.W[0] @ x, int(y > 0)
    if p.only_wrong and (score >= 0) == (y > 0):
        return 0.0, 0.0
    loss = max(0.0, np.sqrt(p.cost[own, 1 - own]) - y * score)
    step = tau(p, loss, x @ x, h)
    state.W[0] += step * y * x
    return loss, step


def pa_regression(state, x, y, h, p):
    gap = y - state.W[0] @ x
    loss = max(0.0, abs(gap) - p.epsilon)
    step = tau(p, loss, x @ x, h)
    state.W[0] += np.sign(gap) * step * x
    return loss, step


def inside(w, x, p):
    """Radius minus distance in the plane of the data."""
    radius = p.epsilon if p.max_radius is None else np.sqrt(max(p.max_radius**2 - w[-1] ** 2, 0.0))
    return radius - np.linalg.norm(w[:-1] - x[:-1])


def pa_uniclass(state, x, y, h, p):
    """x is the point; its last coordinate is 0, that of the centre is omega."""
    away = x - state.W[0]
    distance = np.linalg.norm(away)
    loss = max(0.0, distance - (p.epsilon if p.max_radius is None else p.max_radius))
    step = tau(p, loss, 1.0, h)
    if step:
        state.W[0] += step * away / distance
    return loss, step
