"""Several classes by hand: PA-I and Pegasos against the top rival, and the bare gather of sparse rows."""

from __future__ import annotations

import numpy as np
from numba import njit

from onmargin.compiled import lanes  # eight float64 in one register: Numba's own loops stay scalar

from . import LOOP


def aligned(rows: int, width: int) -> np.ndarray:
    """A flat table of zeros that begins at a cache line."""
    room = np.zeros(rows * width + 8)
    first = -(room.ctypes.data // 8) % 8
    return room[first : first + rows * width]


@njit(forceinline=True, **LOOP)
def best_rival(scores, own, outputs):
    """The best class but the true one."""
    best = 1 if own == 0 else 0
    for k in range(outputs):
        if k != own and scores[k] > scores[best]:
            best = k
    return best


@njit(**LOOP)
def top_dense(X, targets, weights, scores, C):
    """Weights (classes, slots), the bias last, columns in eights. The updates.

    A row is read once for its length and for a bit an eight that is not all 0 (64 of them, and the rest);
    then by all classes, five at a time, while the next row is fetched. Two classes are written.
    """
    columns, updates = X.shape[1], 0
    values, flat = lanes.flattened(X), lanes.flattened(weights)
    for t in range(targets.shape[0]):
        own = targets[t]
        size = score_dense(values, t * columns, columns, flat, weights, scores)
        rival = best_rival(scores, own, weights.shape[0])
        loss = 1.0 - scores[own] + scores[rival]
        if loss > 0.0:
            updates += 1
            _pull_apart(weights[own], weights[rival], X[t], min(C, loss / (2.0 * size)))
    return updates


@njit(**LOOP)
def pegasos_dense(X, targets, weights, scores, lam):
    """The same of Pegasos: the weights are lam (t - 1) w_t. The updates."""
    columns, updates = X.shape[1], 0
    values, flat = lanes.flattened(X), lanes.flattened(weights)
    for t in range(targets.shape[0]):
        own = targets[t]
        score_dense(values, t * columns, columns, flat, weights, scores)
        rival = best_rival(scores, own, weights.shape[0])
        if scores[own] - scores[rival] < lam * t or t == 0:
            updates += 1
            _pull_apart(weights[own], weights[rival], X[t], 1.0)
    return updates


@njit(forceinline=True, **LOOP)
def _pull_apart(own, rival, x, step):
    """The weights of two classes, the bias last."""
    for j in range(x.shape[0]):
        own[j] += step * x[j]
        rival[j] -= step * x[j]
    own[own.shape[0] - 1] += step
    rival[rival.shape[0] - 1] -= step


@njit(forceinline=True, **LOOP)
def score_dense(values, origin, columns, flat, weights, scores):
    """All scores of a row; its length."""
    stride, middle, squares = weights.shape[1], min(columns, 512), lanes.nothing()
    squares, early = _not_zero(values, origin, 0, middle, columns, squares)
    squares, late = _not_zero(values, origin, middle, columns, columns, squares)
    for k in range(0, weights.shape[0], 5):
        sums = lanes.nothing(), lanes.nothing(), lanes.nothing(), lanes.nothing(), lanes.nothing()
        sums = _five(values, origin, flat, k * stride, stride, 0, early, sums)
        a, b, c, d, e = _five(values, origin, flat, k * stride, stride, middle, late, sums)
        scores[k], scores[k + 1], scores[k + 2] = lanes.total(a), lanes.total(b), lanes.total(c)
        scores[k + 3], scores[k + 4] = lanes.total(d), lanes.total(e)
    for k in range(weights.shape[0]):
        scores[k] += weights[k, stride - 1]
    return lanes.total(squares) + 1.0


@njit(forceinline=True, **LOOP)
def _not_zero(values, origin, start, stop, ahead, squares):
    bits = np.uint64(0)
    for j in range(start, stop, 8):
        lanes.fetch(values, origin + j + ahead)
        eight = lanes.load(values, origin + j)
        squares = lanes.plus_product(squares, eight, eight)
        bits |= lanes.some(eight) << np.uint64((j - start) >> 3)
    return squares, bits


@njit(forceinline=True, **LOOP)
def _five(values, origin, flat, first, stride, start, bits, sums):
    a, b, c, d, e = sums
    while bits:
        j = start + 8 * lanes.lowest(bits)
        bits &= bits - np.uint64(1)
        eight, at = lanes.load(values, origin + j), first + j
        a = lanes.plus_product(a, lanes.load(flat, at), eight)
        b = lanes.plus_product(b, lanes.load(flat, at + stride), eight)
        c = lanes.plus_product(c, lanes.load(flat, at + 2 * stride), eight)
        d = lanes.plus_product(d, lanes.load(flat, at + 3 * stride), eight)
        e = lanes.plus_product(e, lanes.load(flat, at + 4 * stride), eight)
    return a, b, c, d, e


@njit(**LOOP)
def top_sparse(values, columns, starts, targets, flat, scores, outputs, C):
    """Weights (columns + 1, 16) in two registers, each in two partial sums. The updates."""
    updates = 0
    for t in range(targets.shape[0]):
        start, stop, own = np.int64(starts[t]), np.int64(starts[t + 1]), targets[t]
        size = _score_sparse(values, columns, start, stop, flat, scores)
        rival = best_rival(scores, own, outputs)
        loss = 1.0 - scores[own] + scores[rival]
        if loss > 0.0:
            updates += 1
            step = min(C, loss / (2.0 * size))
            _pull_apart_sparse(values, columns, start, stop, flat, own, rival, step)
    return updates


@njit(**LOOP)
def pegasos_in_batches(values, columns, starts, targets, flat, scores, rivals, outputs, lam):
    """Pegasos in batches of as many as there are `rivals`, all scored before one moves. The updates."""
    updates, batch = 0, rivals.shape[0]
    for turn in range(-(-targets.shape[0] // batch)):
        first, end = turn * batch, min((turn + 1) * batch, targets.shape[0])
        for t in range(first, end):
            own = targets[t]
            _score_sparse(values, columns, np.int64(starts[t]), np.int64(starts[t + 1]), flat, scores)
            rival = best_rival(scores, own, outputs)
            moves = turn == 0 or scores[own] - scores[rival] < lam * turn
            rivals[t - first] = rival if moves else -1
        for t in range(first, end):
            start, stop, rival = np.int64(starts[t]), np.int64(starts[t + 1]), rivals[t - first]
            if rival >= 0:
                updates += 1
                _pull_apart_sparse(values, columns, start, stop, flat, targets[t], rival, 1.0 / batch)
    return updates


@njit(forceinline=True, **LOOP)
def _score_sparse(values, columns, start, stop, flat, scores):
    """All scores of a row; its length."""
    last = flat.shape[0] - 16
    left, right = lanes.load(flat, last), lanes.load(flat, last + 8)
    more, most = lanes.nothing(), lanes.nothing()
    size, other = 1.0, 0.0
    j = start
    while j + 2 <= stop:
        at, value = 16 * np.int64(columns[np.uint64(j)]), values[np.uint64(j)]
        left = lanes.plus_times(left, lanes.load(flat, at), value)
        right = lanes.plus_times(right, lanes.load(flat, at + 8), value)
        size += value * value
        at, value = 16 * np.int64(columns[np.uint64(j + 1)]), values[np.uint64(j + 1)]
        more = lanes.plus_times(more, lanes.load(flat, at), value)
        most = lanes.plus_times(most, lanes.load(flat, at + 8), value)
        other += value * value
        j += 2
    if j < stop:
        at, value = 16 * np.int64(columns[np.uint64(j)]), values[np.uint64(j)]
        left = lanes.plus_times(left, lanes.load(flat, at), value)
        right = lanes.plus_times(right, lanes.load(flat, at + 8), value)
        size += value * value
    lanes.store(scores, 0, lanes.plus_times(left, more, 1.0))
    lanes.store(scores, 8, lanes.plus_times(right, most, 1.0))
    return size + other


@njit(forceinline=True, **LOOP)
def _pull_apart_sparse(values, columns, start, stop, flat, own, rival, step):
    """The weights of two classes, the bias last."""
    last = flat.shape[0] - 16
    for j in range(start, stop):
        at, value = 16 * np.int64(columns[np.uint64(j)]), values[np.uint64(j)]
        flat[np.uint64(at + own)] += step * value
        flat[np.uint64(at + rival)] -= step * value
    flat[last + own] += step
    flat[last + rival] -= step


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
