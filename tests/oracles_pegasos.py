"""Pegasos once more in plain NumPy, from section 5 of the mathematics and not from our code.

Rows carry the constant coordinate at their end. A task is a function (scores, target) -> the side on
which each output is pulled (0: not at all).
"""

from __future__ import annotations

import numpy as np


def binary(s, y):
    """y <w, x> < 1"""
    return np.array([y * (y * s[0] < 1)], float)


def crammer_singer(s, y):
    """r = argmax_r 1[r != y] + s_r; if that exceeds s_y, class y goes up and class r down."""
    shifted = s + (np.arange(len(s)) != y)
    r = shifted.argmax()
    pull = np.zeros(len(s))
    if shifted[r] > s[y]:
        pull[y], pull[r] = 1.0, -1.0
    return pull


def one_vs_all(s, y):
    """K binary problems."""
    side = np.where(np.arange(len(s)) == y, 1.0, -1.0)
    return side * (side * s < 1)


def ranking(s, marks):
    """The lowest relevant label against the highest irrelevant one."""
    pull = np.zeros(len(s))
    if marks.any() and not marks.all():
        low = np.where(marks, s, np.inf).argmin()
        high = np.where(marks, -np.inf, s).argmax()
        if s[low] - s[high] < 1:
            pull[low], pull[high] = 1.0, -1.0
    return pull


def each_label(s, marks):
    """Every label is a binary problem."""
    side = np.where(marks, 1.0, -1.0)
    return side * (side * s < 1)


def hypotheses(
    X, y, lam, task=binary, outputs=1, order=None, batch=1, radius=np.inf, free=False, prior=None, c=None
):
    """w_1, ..., w_{T+1}, each (outputs, d): T whole batches, in the given order of rows.

    w <- prior + (1 - 1/t) (w - prior) + 1/(lam t b) sum c_i pull_i x_i, then into the ball.
    """
    order = np.arange(len(X)) if order is None else order
    c = np.ones(len(X)) if c is None else c
    start = np.zeros((outputs, X.shape[1])) if prior is None else np.atleast_2d(prior)
    found = [start]
    for t in range(1, len(order) // batch + 1):
        w = found[-1]
        push = np.zeros_like(start)
        for i in order[(t - 1) * batch : t * batch]:
            push += c[i] * np.outer(task(w @ X[i], y[i]), X[i]) / (lam * t * batch)
        v = (1 - 1 / t) * (w - start) + push
        if free:  # the constant coordinate is never shrunk
            v[:, -1] = (w - start + push)[:, -1]
        length = np.linalg.norm(v)
        found.append(start + (v * radius / length if length > radius else v))
    return np.array(found)


def objective(w, X, y, lam, prior=0.0, c=1.0, free=False):
    """lam/2 |w - prior|^2 + 1/N sum c_i [1 - y_i <w, x_i>]_+ of one row of weights."""
    gap = (w - prior)[: -1 if free else None]
    return lam / 2 * gap @ gap + np.mean(c * np.maximum(0, 1 - y * (X @ w)))
