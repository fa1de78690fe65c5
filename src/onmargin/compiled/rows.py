"""How a row looks to machine code.

`span` and `item` are the only functions that exist twice, for dense and for sparse rows; all
else is written once on top of them. The bias is a constant coordinate of value `rows.bias`, kept
in the last slot of the weights: (d + 1,) for one output, (d + 1, K) for several, with K padded to
a multiple of eight.
"""

from __future__ import annotations

import inspect
from typing import Any, NamedTuple

import numpy as np
from numba import types
from numba.extending import overload

from . import lanes
from .parts import OPTIONS, REASSOCIATED, Part, part

_OPTIONS: Any = OPTIONS


class Dense(NamedTuple):
    """Rows of a two-dimensional array."""

    values: np.ndarray
    bias: float


class Sparse(NamedTuple):
    """Rows of a CSR matrix; indices are unsigned, so that a gather has no wrap-around test."""

    values: np.ndarray
    indices: np.ndarray
    starts: np.ndarray
    bias: float


Rows = Dense | Sparse


def span(rows: Any, row: Any) -> Any:
    """First and last-plus-one position of a row's entries."""
    if isinstance(rows, Sparse):
        return int(rows.starts[row]), int(rows.starts[row + 1])
    return 0, rows.values.shape[1]


def item(rows: Any, row: Any, j: Any) -> Any:
    """Slot and value of the entry at position j of a row."""
    if isinstance(rows, Sparse):
        return int(rows.indices[j]), float(rows.values[j])
    return j, float(rows.values[row, j])


def leap(rows: Any, row: Any, j: Any, stop: Any) -> Any:
    """The next position from j on that may hold a number: dense rows leap over zeros by eights."""
    return j


def _is_sparse(rows: Any) -> bool:
    return isinstance(rows, types.NamedTuple) and rows.instance_class is Sparse


@overload(span, jit_options=_OPTIONS)
def _span_compiled(rows, row):
    if _is_sparse(rows):
        return lambda rows, row: (np.int64(rows.starts[row]), np.int64(rows.starts[row + 1]))
    return lambda rows, row: (np.int64(0), np.int64(rows.values.shape[1]))


@overload(item, jit_options=_OPTIONS)
def _item_compiled(rows, row, j):
    if _is_sparse(rows):
        return lambda rows, row, j: (rows.indices[j], np.float64(rows.values[j]))
    return lambda rows, row, j: (np.uint64(j), np.float64(rows.values[np.uint64(row), np.uint64(j)]))


@overload(leap, jit_options=_OPTIONS)
def _leap_compiled(rows, row, j, stop):
    if _is_sparse(rows) or rows.types[0].layout != "C":
        return lambda rows, row, j, stop: j

    def over_zeros(rows, row, j, stop):
        while j + 8 <= stop and lanes.all_zero(rows.values, row, j):
            j += 8
        return j

    return over_zeros


def row_sum(function: Part) -> Part:
    """A part that sums over one row: in order where sparse, by SIMD where dense."""

    def dense(rows, *others):
        return None if _is_sparse(rows) else function

    def sparse(rows, *others):
        return function if _is_sparse(rows) else None

    for typed, options in ((dense, REASSOCIATED), (sparse, OPTIONS)):
        typed.__signature__ = inspect.signature(function)  # type: ignore[attr-defined]
        inlined: Any = {**options, "forceinline": True}
        overload(function, jit_options=inlined)(typed)
    return function


@row_sum
def measure_row(rows, row):
    """|x|^2, the bias coordinate included."""
    start, stop = span(rows, row)
    length = 0.0
    for j in range(start, stop):
        _, value = item(rows, row, j)
        length += value * value
    return length + rows.bias * rows.bias


@row_sum
def dot(rows, row, weights):
    """<w, x> for weights of one output, and |x|^2 by the way."""
    start, stop = span(rows, row)
    total = 0.0
    length = 0.0
    for j in range(start, stop):
        slot, value = item(rows, row, j)
        total += weights[slot] * value
        length += value * value
    bias = rows.bias
    return total + bias * weights[weights.shape[0] - 1], length + bias * bias


@part
def axpy(rows, row, weights, factor):
    """w += factor x, for weights of one output."""
    start, stop = span(rows, row)
    for j in range(start, stop):
        slot, value = item(rows, row, j)
        weights[slot] += factor * value
    weights[weights.shape[0] - 1] += factor * rows.bias


@part
def score_rows(rows, row, weights, scores):
    """scores[k] = <w_k, x> for one or many outputs; returns |x|^2."""
    if weights.ndim == 1:
        total, length = dot(rows, row, weights)
        scores[0] = total
        return length
    return _score_many(rows, row, weights, scores)


@part
def add_scores(rows, row, weights, scores, factor):
    """scores[k] += factor <w_k, x>, the product summed as `score_rows` sums it."""
    if weights.ndim == 1:
        total, _ = dot(rows, row, weights)
        scores[0] += factor * total
    else:
        _add_score_many(rows, row, weights, scores, factor)


@part
def pulled(rows, row, weights, pull):
    """<W, z> = sum_k pull[k] <w_k, x>"""
    if weights.ndim == 1:
        total, _ = dot(rows, row, weights)
        return pull[0] * total
    start, stop = span(rows, row)
    last = weights.shape[0] - 1
    total = 0.0
    for k in range(weights.shape[1]):
        if pull[k] != 0.0:
            inner = rows.bias * weights[last, k]
            for j in range(start, stop):
                slot, value = item(rows, row, j)
                inner += weights[slot, k] * value
            total += pull[k] * inner
    return total


@part
def add_rows(rows, row, weights, pull, step):
    """w_k += step pull[k] x for one or many outputs."""
    if weights.ndim == 1:
        axpy(rows, row, weights, step * pull[0])
    else:
        _add_many(rows, row, weights, pull, step)


@part
def _totals(rows, row, flat, width, group, beside):
    """Two registers of <w_k, x> from output `group` on, without the bias; and the entries' |x|^2."""
    start, stop = span(rows, row)
    left = lanes.nothing()
    right = lanes.nothing()
    length = 0.0
    j = leap(rows, row, start, stop)
    while j < stop:
        edge = min(j + 8, stop)
        for i in range(j, edge):
            slot, value = item(rows, row, i)
            at = np.int64(slot) * width + group
            left = lanes.plus_times(left, lanes.load(flat, at), value)
            right = lanes.plus_times(right, lanes.load(flat, at + beside), value)
            length += value * value
        j = leap(rows, row, edge, stop)
    at = flat.shape[0] - width + group
    left = lanes.plus_times(left, lanes.load(flat, at), rows.bias)
    return left, lanes.plus_times(right, lanes.load(flat, at + beside), rows.bias), length


@part
def _score_many(rows, row, weights, scores):
    flat = weights.reshape(weights.size)
    width = weights.shape[1]
    length = 0.0
    group = 0
    while group < width:  # two registers at a time where there are two
        beside = min(8, width - 8 - group)
        left, right, length = _totals(rows, row, flat, width, group, beside)
        lanes.store(scores, group, left)
        lanes.store(scores, group + beside, right)
        group += 16
    return length + rows.bias * rows.bias


@part
def _add_score_many(rows, row, weights, scores, factor):
    flat = weights.reshape(weights.size)
    width = weights.shape[1]
    group = 0
    while group < width:
        beside = min(8, width - 8 - group)
        left, right, _ = _totals(rows, row, flat, width, group, beside)
        other = lanes.load(scores, group + beside)
        lanes.store(scores, group, lanes.plus_times(lanes.load(scores, group), left, factor))
        lanes.store(scores, group + beside, lanes.plus_times(other, right, factor))
        group += 16


@part
def _add_many(rows, row, weights, pull, step):
    width = weights.shape[1]
    active = 0
    for k in range(width):
        active += pull[k] != 0.0
    if 4 * active <= width and width > 16:  # few outputs of many: one column at a time
        _add_columns(rows, row, weights, pull, step)
    else:
        _add_lanes(rows, row, weights, pull, step)


@part
def _add_columns(rows, row, weights, pull, step):
    start, stop = span(rows, row)
    for k in range(weights.shape[1]):
        if pull[k] != 0.0:
            factor = step * pull[k]
            for j in range(start, stop):
                slot, value = item(rows, row, j)
                weights[slot, k] += factor * value
            weights[weights.shape[0] - 1, k] += factor * rows.bias


@part
def _add_lanes(rows, row, weights, pull, step):
    start, stop = span(rows, row)
    width = weights.shape[1]
    flat = weights.reshape(weights.size)
    last = (weights.shape[0] - 1) * width
    for group in range(0, width, 8):
        pulled = False
        for k in range(group, group + 8):
            pulled |= pull[k] != 0.0
        lane = lanes.load(pull, group)
        j = leap(rows, row, start, stop) if pulled else stop
        while j < stop:
            edge = min(j + 8, stop)
            for i in range(j, edge):
                slot, value = item(rows, row, i)
                if value != 0.0:
                    at = np.int64(slot) * width + group
                    lanes.store(flat, at, lanes.plus_times(lanes.load(flat, at), lane, step * value))
            j = leap(rows, row, edge, stop)
        at = last + group
        lanes.store(flat, at, lanes.plus_times(lanes.load(flat, at), lane, step * rows.bias))


@part
def prefetch_row(rows, row, weights):
    """Fetch the weights of many outputs that a row will ask for; dense rows are read in order anyway."""
    start, stop = span(rows, row)
    flat = weights.reshape(weights.size)
    width = weights.shape[1]
    for j in range(start, stop):
        slot, _ = item(rows, row, j)
        at = np.int64(slot) * width
        for line in range(0, width, 8):
            lanes.prefetch(flat, at + line)


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
