"""Kernel PA-I (RBF, and 1 for the bias) by hand: the rounds of a table, one vector after the other."""

from __future__ import annotations

import math

from numba import njit

from . import SUMS


@njit(**SUMS)
def pa1(X, targets, kept, alpha, count, first, end, gamma, C):
    """Rounds first .. end - 1: the vectors kept after them, and the answers that were right."""
    right = 0
    for t in range(first, end):
        score = 0.0
        for i in range(count):
            gap = 0.0
            for j in range(X.shape[1]):
                gap += (kept[i, j] - X[t, j]) ** 2
            score += alpha[i] * (1.0 + math.exp(-gamma * gap))
        margin = targets[t] * score
        right += margin > 0.0
        if margin < 1.0:
            for j in range(X.shape[1]):
                kept[count, j] = X[t, j]
            alpha[count] = targets[t] * min(C, (1.0 - margin) / 2.0)
            count += 1
    return count, right
