"""A row against weights of which some slots were put aside, as a batch found them, and bear its stamp."""

from __future__ import annotations

import numpy as np

from . import lanes
from .one_output import entry, put
from .parts import part
from .rows import is_dense, item, look_ahead, span


@part
def score_stamped(rows, row, weights, others, stamp, mark, some, scores):
    """`score_rows`, where slots that bear the stamp `mark`, if `some` do, have their weights in `others`."""
    if weights.ndim == 1 or is_dense(rows):
        return _score_stamped_singly(rows, row, weights, others, stamp, mark, some, scores)
    return _score_stamped_side_by_side(rows, row, weights, others, stamp, mark, some, scores)


@part
def copy_slot(rows, weights, others, slot):
    """others[slot] = weights[slot], of every output."""
    if weights.ndim == 1 or is_dense(rows):
        for k in range(weights.size // weights.shape[0]):
            put(others, slot, k, entry(weights, slot, k))
    else:
        own, other = lanes.flattened(weights), lanes.flattened(others)
        at = np.int64(slot) * weights.shape[1]
        for group in range(0, weights.shape[1], 8):
            lanes.store(other, at + group, lanes.load(own, at + group))


@part
def _score_stamped_side_by_side(rows, row, weights, others, stamp, mark, some, scores):
    """Two registers at a time, two sums each, as `_totals` has them."""
    start, stop = span(rows, row)
    own, other = lanes.flattened(weights), lanes.flattened(others)
    width, last = weights.shape[1], weights.shape[0] - 1
    length = 0.0
    for group in range(0, width, 16):
        beside = min(8, width - 8 - group)
        left, right = _load_stamped(own, other, last * width + group, beside, some and stamp[last] == mark)
        left = lanes.plus_times(lanes.nothing(), left, rows.bias)
        right = lanes.plus_times(lanes.nothing(), right, rows.bias)
        more, most = lanes.nothing(), lanes.nothing()
        length = 0.0
        for j in range(start, stop):
            look_ahead(rows, j)
            slot, value = item(rows, row, j)
            at = np.int64(slot) * width + group
            one, two = _load_stamped(own, other, at, beside, some and stamp[slot] == mark)
            left, more = more, lanes.plus_times(left, one, value)  # (in turn)
            right, most = most, lanes.plus_times(right, two, value)
            length += value * value
        lanes.store(scores, group, lanes.plus_times(left, more, 1.0))
        lanes.store(scores, group + beside, lanes.plus_times(right, most, 1.0))
    return length + rows.bias * rows.bias


@part
def _load_stamped(own, other, at, beside, stamped):
    """Two registers of weights."""
    if stamped:
        return lanes.load(other, at), lanes.load(other, at + beside)
    return lanes.load(own, at), lanes.load(own, at + beside)


@part
def _stamped(weights, others, stamp, mark, some, slot, k):
    return entry(others, slot, k) if some and stamp[slot] == mark else entry(weights, slot, k)


@part
def _score_stamped_singly(rows, row, weights, others, stamp, mark, some, scores):
    """Four sums, so that no addition waits for the one before it."""
    start, stop = span(rows, row)
    last = weights.shape[0] - 1
    length = width = 0.0
    for k in range(weights.size // weights.shape[0]):
        total = rows.bias * _stamped(weights, others, stamp, mark, some, last, k)
        second = third = fourth = length = width = 0.0
        j = start
        while j + 4 <= stop:
            look_ahead(rows, j)
            slot, value = item(rows, row, j)
            total += value * _stamped(weights, others, stamp, mark, some, slot, k)
            length += value * value
            slot, value = item(rows, row, j + 1)
            second += value * _stamped(weights, others, stamp, mark, some, slot, k)
            width += value * value
            slot, value = item(rows, row, j + 2)
            third += value * _stamped(weights, others, stamp, mark, some, slot, k)
            length += value * value
            slot, value = item(rows, row, j + 3)
            fourth += value * _stamped(weights, others, stamp, mark, some, slot, k)
            width += value * value
            j += 4
        while j < stop:
            slot, value = item(rows, row, j)
            total += value * _stamped(weights, others, stamp, mark, some, slot, k)
            length += value * value
            j += 1
        scores[k] = (total + second) + (third + fourth)
    return length + width + rows.bias * rows.bias
