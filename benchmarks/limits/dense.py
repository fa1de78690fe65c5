"""Dense rows and two classes by hand."""

from __future__ import annotations

from numba import njit

from . import LOOP, SUMS


@njit(forceinline=True, **SUMS)
def _dot(x, weights):
    total, size = weights[x.shape[0]], 1.0
    for j in range(x.shape[0]):
        total += x[j] * weights[j]
        size += x[j] * x[j]
    return total, size


@njit(**LOOP)
def pa1(X, targets, weights, C):
    """A pass of PA-I; the mistakes."""
    mistakes, columns = 0, X.shape[1]
    for t in range(targets.shape[0]):
        score, size = _dot(X[t], weights)
        margin = targets[t] * score
        mistakes += margin <= 0.0
        if margin < 1.0:
            step = targets[t] * min(C, (1.0 - margin) / size)
            for j in range(columns):
                weights[j] += step * X[t, j]
            weights[columns] += step
    return mistakes
