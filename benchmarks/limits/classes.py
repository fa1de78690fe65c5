"""Several classes by hand: PA-I against the top rival on dense rows, and the bare gather of sparse ones."""

from __future__ import annotations

import numpy as np
from numba import njit

from onmargin.compiled import lanes  # eight float64 in one register: Numba's own loops stay scalar

from . import LOOP, SUMS


def aligned(rows: int, width: int) -> np.ndarray:
    """A flat table of zeros that begins at a cache line."""
    room = np.zeros(rows * width + 8)
    first = -(room.ctypes.data // 8) % 8
    return room[first : first + rows * width]


@njit(forceinline=True, **SUMS)
def _dot(x, w):
    total = 0.0
    for j in range(x.shape[0]):
        total += x[j] * w[j]
    return total


@njit(forceinline=True, **LOOP)
def _rival(scores, own, outputs):
    """The best class but the true one."""
    best = 1 if own == 0 else 0
    for k in range(outputs):
        if k != own and scores[k] > scores[best]:
            best = k
    return best


@njit(**LOOP)
def top_by_class(X, targets, weights, scores, C):
    """Weights (classes, columns + 1): only the two classes that move are written. The updates."""
    outputs, columns = weights.shape[0], X.shape[1]
    updates = 0
    for t in range(targets.shape[0]):
        x, own = X[t], targets[t]
        for k in range(outputs):
            scores[k] = _dot(x, weights[k, :columns]) + weights[k, columns]
        rival = _rival(scores, own, outputs)
        loss = 1.0 - scores[own] + scores[rival]
        if loss > 0.0:
            updates += 1
            step = min(C, loss / (2.0 * (_dot(x, x) + 1.0)))
            for j in range(columns):
                weights[own, j] += step * x[j]
                weights[rival, j] -= step * x[j]
            weights[own, columns] += step
            weights[rival, columns] -= step
    return updates


@njit(**LOOP)
def top_by_column(X, targets, flat, scores, places, outputs, C):
    """Weights (columns + 1, 16) in two registers, those of the row's nonzeros alone. The updates.

    `places` is room for the nonzeros' columns: they are found without a branch, which zeros at random
    would mispredict.
    """
    columns = X.shape[1]
    updates = 0
    for t in range(targets.shape[0]):
        own = targets[t]
        x, count, size = X[t], 0, 1.0
        for j in range(columns):
            places[count] = j
            count += x[j] != 0.0
        left, right = lanes.load(flat, 16 * columns), lanes.load(flat, 16 * columns + 8)
        for i in range(count):
            at, value = 16 * np.int64(places[i]), x[places[i]]
            left = lanes.plus_times(left, lanes.load(flat, at), value)
            right = lanes.plus_times(right, lanes.load(flat, at + 8), value)
            size += value * value
        lanes.store(scores, 0, left)
        lanes.store(scores, 8, right)
        rival = _rival(scores, own, outputs)
        loss = 1.0 - scores[own] + scores[rival]
        if loss > 0.0:
            updates += 1
            step = min(C, loss / (2.0 * size))
            for i in range(count):
                at, value = 16 * np.int64(places[i]), x[places[i]]
                flat[at + own] += step * value
                flat[at + rival] -= step * value
            flat[16 * columns + own] += step
            flat[16 * columns + rival] -= step
    return updates


@njit(**LOOP)
def gather(values, columns, starts, flat, width, scores):
    """All weights of every nonzero read once, eight at a time, and summed: the bytes a score must touch."""
    for t in range(starts.shape[0] - 1):
        start, stop = np.int64(starts[t]), np.int64(starts[t + 1])
        for group in range(0, width, 32):
            a, b, c, d = lanes.nothing(), lanes.nothing(), lanes.nothing(), lanes.nothing()
            for j in range(start, stop):
                at = np.int64(columns[j]) * width + group
                value = values[j]
                a = lanes.plus_times(a, lanes.load(flat, at), value)
                b = lanes.plus_times(b, lanes.load(flat, at + 8), value)
                c = lanes.plus_times(c, lanes.load(flat, at + 16), value)
                d = lanes.plus_times(d, lanes.load(flat, at + 24), value)
            lanes.store(scores, group, a)
            lanes.store(scores, group + 8, b)
            lanes.store(scores, group + 16, c)
            lanes.store(scores, group + 24, d)


@njit(**LOOP)
def sweep(values, columns, starts, targets, flat, scores, steps, C, mistakes):
    """PA-I with 32 values of C side by side, two classes: one read of a row scores them all."""
    for t in range(targets.shape[0]):
        start, stop, y = np.int64(starts[t]), np.int64(starts[t + 1]), targets[t]
        last = flat.shape[0] - 32
        a, b = lanes.load(flat, last), lanes.load(flat, last + 8)
        c, d = lanes.load(flat, last + 16), lanes.load(flat, last + 24)
        size = 1.0
        for j in range(start, stop):
            at, value = np.int64(columns[j]) * 32, values[j]
            a = lanes.plus_times(a, lanes.load(flat, at), value)
            b = lanes.plus_times(b, lanes.load(flat, at + 8), value)
            c = lanes.plus_times(c, lanes.load(flat, at + 16), value)
            d = lanes.plus_times(d, lanes.load(flat, at + 24), value)
            size += value * value
        lanes.store(scores, 0, a)
        lanes.store(scores, 8, b)
        lanes.store(scores, 16, c)
        lanes.store(scores, 24, d)
        moved = False
        for k in range(32):
            margin = y * scores[k]
            mistakes[k] += margin <= 0.0
            steps[k] = y * max(0.0, min(C[k], (1.0 - margin) / size))
            moved |= margin < 1.0
        if moved:
            a, b, c, d = (
                lanes.load(steps, 0),
                lanes.load(steps, 8),
                lanes.load(steps, 16),
                lanes.load(steps, 24),
            )
            for j in range(start, stop):
                _add_four(flat, np.int64(columns[j]) * 32, a, b, c, d, values[j])
            _add_four(flat, last, a, b, c, d, 1.0)


@njit(forceinline=True, **LOOP)
def _add_four(flat, at, a, b, c, d, value):
    lanes.store(flat, at, lanes.plus_times(lanes.load(flat, at), a, value))
    lanes.store(flat, at + 8, lanes.plus_times(lanes.load(flat, at + 8), b, value))
    lanes.store(flat, at + 16, lanes.plus_times(lanes.load(flat, at + 16), c, value))
    lanes.store(flat, at + 24, lanes.plus_times(lanes.load(flat, at + 24), d, value))
