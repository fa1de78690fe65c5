"""A row against one output, alone or among many: its entries, and sums over them.

Where outputs lie side by side, those of one are apart; second-order Spaces take them so, for each has a Sigma
of its own.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba.extending import overload

from . import lanes
from .parts import OPTIONS, part
from .rows import dot, item, lie_apart, row_sum_of, span

_INLINED: Any = {**OPTIONS, "forceinline": True}


@part
def entry(weights, slot, k):
    """weights[slot, k], or weights[slot] where there is one output."""
    if weights.ndim == 1:
        return weights[slot]
    return weights[slot, k]


@part
def put(weights, slot, k, new):
    """weights[slot, k] = new, or weights[slot] where there is one output."""
    if weights.ndim == 1:
        weights[slot] = new
    else:
        weights[slot, k] = new


def _along_in_fours(rows, row, k, weights):
    """Four sums, so that no addition waits for the one before it."""
    start, stop = span(rows, row)
    total = second = third = fourth = 0.0
    j = start
    while j + 4 <= stop:
        slot, value = item(rows, row, j)
        total += entry(weights, slot, k) * value
        slot, value = item(rows, row, j + 1)
        second += entry(weights, slot, k) * value
        slot, value = item(rows, row, j + 2)
        third += entry(weights, slot, k) * value
        slot, value = item(rows, row, j + 3)
        fourth += entry(weights, slot, k) * value
        j += 4
    while j < stop:
        slot, value = item(rows, row, j)
        total += entry(weights, slot, k) * value
        j += 1
    return (total + second) + (third + fourth) + entry(weights, weights.shape[0] - 1, k) * rows.bias


@row_sum_of(_along_in_fours)
def along(rows, row, k, weights):
    """<w_k, x>"""
    start, stop = span(rows, row)
    total = entry(weights, weights.shape[0] - 1, k) * rows.bias
    for j in range(start, stop):
        slot, value = item(rows, row, j)
        total += entry(weights, slot, k) * value
    return total


def _spread_in_fours(rows, row, k, sigma):
    """Four sums, so that no addition waits for the one before it."""
    start, stop = span(rows, row)
    last = sigma.shape[0] - 1
    total = second = third = fourth = 0.0
    j = start
    while j + 4 <= stop:
        slot, value = item(rows, row, j)
        total += entry(sigma, slot, k) * value * value
        slot, value = item(rows, row, j + 1)
        second += entry(sigma, slot, k) * value * value
        slot, value = item(rows, row, j + 2)
        third += entry(sigma, slot, k) * value * value
        slot, value = item(rows, row, j + 3)
        fourth += entry(sigma, slot, k) * value * value
        j += 4
    while j < stop:
        slot, value = item(rows, row, j)
        total += entry(sigma, slot, k) * value * value
        j += 1
    return (total + second) + (third + fourth) + entry(sigma, last, k) * rows.bias * rows.bias


@row_sum_of(_spread_in_fours)
def spread(rows, row, k, sigma):
    """x' Sigma_k x for a diagonal Sigma, which lies as weights do."""
    start, stop = span(rows, row)
    last = sigma.shape[0] - 1
    total = entry(sigma, last, k) * rows.bias * rows.bias
    for j in range(start, stop):
        slot, value = item(rows, row, j)
        total += entry(sigma, slot, k) * value * value
    return total


@part
def _plus_square(sums, flat, at, value):
    """The same of one entry for eight outputs that lie side by side."""
    return lanes.plus_times(sums, lanes.plus_times(lanes.nothing(), lanes.load(flat, at), value), value)


@part
def _spread_of_eight(rows, row, flat, width, group):
    """The same for eight outputs side by side, from `group` on: summed as `_spread_in_fours` does."""
    start, stop = span(rows, row)
    total, second, third, fourth = lanes.nothing(), lanes.nothing(), lanes.nothing(), lanes.nothing()
    j = start
    while j + 4 <= stop:
        slot, value = item(rows, row, j)
        total = _plus_square(total, flat, np.int64(slot) * width + group, value)
        slot, value = item(rows, row, j + 1)
        second = _plus_square(second, flat, np.int64(slot) * width + group, value)
        slot, value = item(rows, row, j + 2)
        third = _plus_square(third, flat, np.int64(slot) * width + group, value)
        slot, value = item(rows, row, j + 3)
        fourth = _plus_square(fourth, flat, np.int64(slot) * width + group, value)
        j += 4
    while j < stop:
        slot, value = item(rows, row, j)
        total = _plus_square(total, flat, np.int64(slot) * width + group, value)
        j += 1
    total, third = lanes.plus_times(total, second, 1.0), lanes.plus_times(third, fourth, 1.0)
    total = lanes.plus_times(total, third, 1.0)
    return _plus_square(total, flat, flat.shape[0] - width + group, rows.bias)


@part
def _spreads_side_by_side(rows, row, sigma, spreads, outputs):
    flat, width = lanes.flattened(sigma), sigma.shape[1]
    for group in range(0, width, 8):
        lanes.store(spreads, group, _spread_of_eight(rows, row, flat, width, group))


@part
def _spreads_apart(rows, row, sigma, spreads, outputs):
    for k in range(outputs):
        spreads[k] = spread(rows, row, k, sigma)


def keep_spreads(rows, row, sigma, spreads, outputs):
    """spreads[k] = x' Sigma_k x, eight at a time where outputs lie side by side."""
    beside = sigma.ndim == 2 and not sigma.flags.fnc
    (_spreads_side_by_side if beside else _spreads_apart)(rows, row, sigma, spreads, outputs)


@overload(keep_spreads, jit_options=_INLINED)
def _keep_spreads_compiled(rows, row, sigma, spreads, outputs):
    chosen = _spreads_side_by_side if lie_apart(sigma) else _spreads_apart
    return lambda rows, row, sigma, spreads, outputs: chosen(rows, row, sigma, spreads, outputs)


@part
def pulled(rows, row, weights, pull):
    """<W, z> = sum_k pull[k] <w_k, x>"""
    if weights.ndim == 1:
        total, _ = dot(rows, row, weights)
        return pull[0] * total
    total = 0.0
    for k in range(weights.shape[1]):
        if pull[k] != 0.0:
            total += pull[k] * along(rows, row, k, weights)
    return total
