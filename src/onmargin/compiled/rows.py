"""How a row looks to machine code.

`span` and `item` are the only functions that exist twice, for dense and for sparse rows; all
else is written once on top of them. The bias is a constant coordinate of value `rows.bias`, kept
in the last slot of the weights: (d + 1,) for one output, (d + 1, K) for several, with K padded to
a multiple of eight.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numba import types
from numba.extending import overload

from . import lanes
from .parts import OPTIONS, REASSOCIATED, Part, part

_OPTIONS: Any = OPTIONS

# Memory takes as long to answer as some rounds take: it is asked early (a hint, which changes no number).
AHEAD = 192  # entries of sparse rows that lie one after the other
LATER = 24  # entries whose weights lie anywhere, many outputs to each


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


def span(rows, row):
    """First and last-plus-one position of a row's entries."""
    if isinstance(rows, Sparse):
        return int(rows.starts[row]), int(rows.starts[row + 1])
    return 0, rows.values.shape[1]


def item(rows, row, j):
    """Slot and value of the entry at position j of a row."""
    if isinstance(rows, Sparse):
        return int(rows.indices[j]), float(rows.values[j])
    return j, float(rows.values[row, j])


def is_dense(rows):
    """Does every row have all columns?"""
    return not isinstance(rows, Sparse)


def leap(rows, row, j, stop):
    """The next position from j on that may hold a number: dense rows leap over zeros by eights."""
    return j


def stretch(rows, j, stop):
    """Where the entries that are taken without another `leap` end, from j on."""
    return stop


def bring(rows, row):
    """A row out of order will be read a few rounds from now: memory is asked for it."""


def foresee(rows, i, flat, width, eights):
    """Memory is asked for four eights of weights of an entry some places after i, where rows are sparse."""


def ahead(rows, j):
    """Memory is asked for entries of sparse rows some places after j."""


def _is_sparse(rows):
    return isinstance(rows, types.NamedTuple) and rows.instance_class is Sparse


@overload(span, jit_options=_OPTIONS)
def _span_compiled(rows, row):
    if _is_sparse(rows):
        return lambda rows, row: (np.int64(rows.starts[row]), np.int64(rows.starts[row + 1]))
    return lambda rows, row: (np.int64(0), np.int64(rows.values.shape[1]))


@overload(item, jit_options=_OPTIONS)
def _item_compiled(rows, row, j):
    if _is_sparse(rows):
        return lambda rows, row, j: (rows.indices[np.uint64(j)], np.float64(rows.values[np.uint64(j)]))
    return lambda rows, row, j: (np.uint64(j), np.float64(rows.values[np.uint64(row), np.uint64(j)]))


@overload(is_dense, jit_options=_OPTIONS)
def _is_dense_compiled(rows):
    dense = not _is_sparse(rows)
    return lambda rows: dense


def _leaps(rows):
    return isinstance(rows, types.NamedTuple) and rows.instance_class is Dense and rows.types[0].layout == "C"


@overload(leap, jit_options=_OPTIONS)
def _leap_compiled(rows, row, j, stop):
    if not _leaps(rows):
        return lambda rows, row, j, stop: j

    def over_zeros(rows, row, j, stop):
        while j + 8 <= stop and lanes.all_zero(rows.values, row, j):
            j += 8
        return j

    return over_zeros


@overload(stretch, jit_options=_OPTIONS)
def _stretch_compiled(rows, j, stop):
    if _leaps(rows):
        return lambda rows, j, stop: min(j + 8, stop)
    return lambda rows, j, stop: stop


@overload(bring, jit_options=_OPTIONS)
def _bring_compiled(rows, row):
    if _is_sparse(rows):

        def entries(rows, row):
            start, stop = span(rows, row)
            for j in range(start, min(stop, start + AHEAD), 8):
                lanes.fetch(rows.values, j)
                lanes.fetch(rows.indices, j)

        return entries
    if not _leaps(rows):  # (a kernel's block has no rows to bring)
        return lambda rows, row: None

    def columns(rows, row):
        first, count = row * rows.values.shape[1], rows.values.shape[1]
        for j in range(first, first + min(count, AHEAD), 8):
            lanes.fetch(rows.values, j)

    return columns


@overload(ahead, jit_options=_OPTIONS)
def _ahead_compiled(rows, j):
    if not _is_sparse(rows):
        return lambda rows, j: None

    def entries(rows, j):
        lanes.fetch(rows.values, j + AHEAD)
        lanes.fetch(rows.indices, j + AHEAD)

    return entries


@overload(foresee, jit_options=_OPTIONS)
def _foresee_compiled(rows, i, flat, width, eights):
    if not _is_sparse(rows):
        return lambda rows, i, flat, width, eights: None

    def weights(rows, i, flat, width, eights):
        slot = rows.indices[min(i + LATER, rows.indices.size - 1)]
        at = np.int64(slot) * width
        lanes.fetch(flat, at + eights[0])
        lanes.fetch(flat, at + eights[1])
        lanes.fetch(flat, at + eights[2])
        lanes.fetch(flat, at + eights[3])

    return weights


def _lie_apart(weights):
    """Are the weights of one output not beside each other?"""
    return isinstance(weights, types.Array) and weights.ndim == 2 and weights.layout == "C"


def row_sum_of(sparse: Part, single: Part | None = None) -> Callable[[Part], Part]:
    """A part that sums over one row: by SIMD where it is dense, as `sparse` does where it is sparse.

    The last argument may be weights: those of an output that do not lie beside each other are taken as those
    of a sparse row. `single`: as this does where they are in single precision.
    """

    def declare(function: Part) -> Part:
        def by_simd(rows, *others):
            return None if _is_sparse(rows) or _lie_apart(others[-1]) else function

        def in_order(rows, *others):
            if by_simd(rows, *others) is not None:
                return None
            return single if single is not None and others[-1].dtype == types.float32 else sparse

        for typed, options in ((by_simd, REASSOCIATED), (in_order, OPTIONS)):
            typed.__signature__ = inspect.signature(function)  # type: ignore[attr-defined]
            inlined: Any = {**options, "forceinline": True}
            overload(function, jit_options=inlined)(typed)
        return function

    return declare


def row_sum(function: Part) -> Part:
    """A part that sums over one row: in order where sparse, by SIMD where dense."""
    return row_sum_of(function)(function)


def _measure_in_fours(rows, row):
    """Four sums, so that no addition waits for the one before it."""
    start, stop = span(rows, row)
    total = second = third = fourth = 0.0
    j = start
    while j + 4 <= stop:
        _, value = item(rows, row, j)
        total += value * value
        _, value = item(rows, row, j + 1)
        second += value * value
        _, value = item(rows, row, j + 2)
        third += value * value
        _, value = item(rows, row, j + 3)
        fourth += value * value
        j += 4
    while j < stop:
        _, value = item(rows, row, j)
        total += value * value
        j += 1
    return (total + second) + (third + fourth) + rows.bias * rows.bias


@row_sum_of(_measure_in_fours)
def measure_row(rows, row):
    """|x|^2, the bias coordinate included."""
    start, stop = span(rows, row)
    length = 0.0
    for j in range(start, stop):
        _, value = item(rows, row, j)
        length += value * value
    return length + rows.bias * rows.bias


def _dot_in_fours(rows, row, weights):
    """Four sums, so that no addition waits for the one before it; leave to reassociate would make gathers."""
    start, stop = span(rows, row)
    total = second = third = fourth = 0.0
    length = width = depth = time = 0.0
    j = start
    fours = stop if stop - start >= 16 else start  # short rows in order, as dense ones of few columns
    while j + 4 <= fours:
        lanes.fetch(rows.values, j + AHEAD)
        lanes.fetch(rows.indices, j + AHEAD)
        slot, value = item(rows, row, j)
        total += weights[slot] * value
        length += value * value
        slot, value = item(rows, row, j + 1)
        second += weights[slot] * value
        width += value * value
        slot, value = item(rows, row, j + 2)
        third += weights[slot] * value
        depth += value * value
        slot, value = item(rows, row, j + 3)
        fourth += weights[slot] * value
        time += value * value
        j += 4
    while j < stop:
        slot, value = item(rows, row, j)
        total += weights[slot] * value
        length += value * value
        j += 1
    bias = rows.bias
    total = (total + second) + (third + fourth) + bias * weights[weights.shape[0] - 1]
    return total, (length + width) + (depth + time) + bias * bias


def _dot_in_eights(rows, row, weights):
    """The same for weights in single precision: eight are converted at once."""
    start, stop = span(rows, row)
    sums, squares = lanes.nothing(), lanes.nothing()
    j = start
    eights = stop if stop - start >= 16 else start
    while j + 8 <= eights:
        lanes.fetch(rows.values, j + AHEAD)
        lanes.fetch(rows.indices, j + AHEAD)
        values = lanes.load(rows.values, j)
        sums = lanes.plus_product(sums, lanes.gathered(weights, rows.indices, j), values)
        squares = lanes.plus_product(squares, values, values)
        j += 8
    total, length = lanes.total(sums), lanes.total(squares)
    while j < stop:
        slot, value = item(rows, row, j)
        total += weights[slot] * value
        length += value * value
        j += 1
    bias = rows.bias
    return total + bias * weights[weights.shape[0] - 1], length + bias * bias


@row_sum_of(_dot_in_fours, _dot_in_eights)
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
