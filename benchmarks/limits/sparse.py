"""CSR rows and two classes by hand: PA-I, Pegasos, scores. Targets are +1 and -1, the bias is 1."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from . import LOOP


def arrays(X: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Values, unsigned columns (a gather then has no test for wrap-around) and starts of a CSR matrix."""
    return X.data, X.indices.view(np.uint32), X.indptr


@njit(forceinline=True, **LOOP)
def dot(values, columns, start, stop, weights):
    """<w, x> and |x|^2 in four partial sums: no addition waits for the one before it."""
    a = b = c = d = 0.0
    e = f = g = h = 0.0
    j = start
    while j + 4 <= stop:
        v = np.float64(values[j])
        a += weights[columns[j]] * v
        e += v * v
        v = np.float64(values[j + 1])
        b += weights[columns[j + 1]] * v
        f += v * v
        v = np.float64(values[j + 2])
        c += weights[columns[j + 2]] * v
        g += v * v
        v = np.float64(values[j + 3])
        d += weights[columns[j + 3]] * v
        h += v * v
        j += 4
    while j < stop:
        v = np.float64(values[j])
        a += weights[columns[j]] * v
        e += v * v
        j += 1
    last = weights.shape[0] - 1
    return (a + b) + (c + d) + weights[last], (e + f) + (g + h) + 1.0


@njit(forceinline=True, **LOOP)
def add(values, columns, start, stop, weights, step):
    """w += step x"""
    for j in range(start, stop):
        weights[columns[j]] += step * values[j]
    weights[weights.shape[0] - 1] += step


@njit(**LOOP)
def pa1(values, columns, starts, targets, weights, C):
    """A pass of PA-I; the mistakes."""
    mistakes = 0
    for t in range(targets.shape[0]):
        start, stop = np.int64(starts[t]), np.int64(starts[t + 1])
        score, size = dot(values, columns, start, stop, weights)
        margin = targets[t] * score
        mistakes += margin <= 0.0
        if margin < 1.0:
            add(values, columns, start, stop, weights, targets[t] * min(C, (1.0 - margin) / size))
    return mistakes


@njit(**LOOP)
def pegasos(values, columns, starts, targets, weights, drift, lam):
    """A pass of Pegasos, w_t = z / (lam (t - 1)); the mistakes.

    `drift` (empty: no average) takes - A_t y x, with A_t the sum of 1 / (r - 1) up to round t, so that
    A_T z + drift is lam times the sum of the weights that predicted.
    """
    mistakes = 0
    spread = 0.0
    for t in range(targets.shape[0]):
        if t:
            spread += 1.0 / t
        start, stop = np.int64(starts[t]), np.int64(starts[t + 1])
        score, _ = dot(values, columns, start, stop, weights)
        margin = targets[t] * score / (lam * t) if t else 0.0
        mistakes += margin <= 0.0
        if margin < 1.0:
            add(values, columns, start, stop, weights, targets[t])
            if drift.size:
                add(values, columns, start, stop, drift, -spread * targets[t])
    return mistakes


@njit(**LOOP)
def pegasos_in_batches(values, columns, starts, targets, weights, margins, lam):
    """The same, in batches of as many as there are `margins`: all are scored before one is added."""
    mistakes, batch = 0, margins.shape[0]
    for turn in range(-(-targets.shape[0] // batch)):
        first, end = turn * batch, min((turn + 1) * batch, targets.shape[0])
        for t in range(first, end):
            score, _ = dot(values, columns, np.int64(starts[t]), np.int64(starts[t + 1]), weights)
            margins[t - first] = targets[t] * score / (lam * turn) if turn else 0.0
            mistakes += margins[t - first] <= 0.0
        for t in range(first, end):
            if margins[t - first] < 1.0:
                start, stop = np.int64(starts[t]), np.int64(starts[t + 1])
                add(values, columns, start, stop, weights, targets[t] / batch)
    return mistakes


@njit(**LOOP)
def scores(values, columns, starts, weights, out, first, end):
    """out[t] = <w, x_t> for rows first .. end - 1."""
    for t in range(first, end):
        out[t], _ = dot(values, columns, np.int64(starts[t]), np.int64(starts[t + 1]), weights)
