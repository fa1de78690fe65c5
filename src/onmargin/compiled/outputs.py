"""A row against weights of one output (d + 1,) or of many (d + 1, K), padded to eights.

With many, outputs lie side by side and are taken eight at a time (`lanes`). While a block of dense rows is
learned they lie one after the other instead (an array in Fortran's order, `models.by_class`): fewer bytes are
read, and a step writes to the outputs it moves alone.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba.extending import overload

from . import lanes
from .parts import OPTIONS, part, summing
from .rows import axpy, dot, foresee, item, leap, measure_row, span, stretch

_INLINED: Any = {**OPTIONS, "forceinline": True}


@part
def score_rows(rows, row, weights, scores):
    """scores[k] = <w_k, x> for one or many outputs; returns |x|^2."""
    if weights.ndim == 1:
        total, length = dot(rows, row, weights)
        scores[0] = total
        return length
    return score_many(rows, row, weights, scores)


@part
def score_eights(rows, row, weights, eights, count, scores):
    """scores[k] = <w_k, x> in `count` eights of outputs, the first of each in `eights`; returns |x|^2."""
    if weights.ndim == 1:
        return score_rows(rows, row, weights, scores)
    return _score_eights(rows, row, weights, eights, count, scores)


@part
def add_scores(rows, row, weights, scores, factor):
    """scores[k] += factor <w_k, x>, the product summed as `score_rows` sums it."""
    if weights.ndim == 1:
        total, _ = dot(rows, row, weights)
        scores[0] += factor * total
    else:
        add_score_many(rows, row, weights, scores, factor)


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
        add_many(rows, row, weights, pull, step)


# ---- outputs one after the other


@summing
def _scores_of_two(rows, row, weights, k, other):
    """<w_k, x> for two outputs: the row is read once for both."""
    values = rows.values
    one = two = 0.0
    for j in range(values.shape[1]):
        value = np.float64(values[np.uint64(row), np.uint64(j)])
        one += value * weights[np.uint64(j), np.uint64(k)]
        two += value * weights[np.uint64(j), np.uint64(other)]
    last = weights.shape[0] - 1
    return one + rows.bias * weights[last, k], two + rows.bias * weights[last, other]


@part
def _score_by_class(rows, row, weights, scores):
    outputs = weights.shape[1]
    for k in range(0, outputs, 2):
        other = min(k + 1, outputs - 1)
        scores[k], scores[other] = _scores_of_two(rows, row, weights, k, other)
    return measure_row(rows, row)


@part
def _add_score_by_class(rows, row, weights, scores, factor):
    outputs = weights.shape[1]
    for k in range(0, outputs, 2):
        other = min(k + 1, outputs - 1)
        one, two = _scores_of_two(rows, row, weights, k, other)
        scores[k] += factor * one
        if other != k:
            scores[other] += factor * two


@part
def _add_by_class(rows, row, weights, pull, step):
    values = rows.values
    for k in range(weights.shape[1]):
        if pull[k] != 0.0:
            factor = step * pull[k]
            for j in range(values.shape[1]):
                weights[np.uint64(j), np.uint64(k)] += factor * values[np.uint64(row), np.uint64(j)]
            weights[weights.shape[0] - 1, k] += factor * rows.bias


# ---- outputs side by side


@part
def _totals(rows, row, flat, width, group, beside):
    """Two registers of <w_k, x> from output `group` on, without the bias; and the entries' |x|^2."""
    start, stop = span(rows, row)
    left = lanes.nothing()
    right = lanes.nothing()
    length = 0.0
    j = leap(rows, row, start, stop)
    while j < stop:
        edge = stretch(rows, j, stop)
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
def _score_four(rows, row, flat, width, group, scores):
    """Four registers of scores from output `group` on; the entries' |x|^2."""
    start, stop = span(rows, row)
    a, b, c, d = lanes.nothing(), lanes.nothing(), lanes.nothing(), lanes.nothing()
    length = 0.0
    j = leap(rows, row, start, stop)
    while j < stop:
        edge = stretch(rows, j, stop)
        for i in range(j, edge):
            foresee(rows, i, flat, width, group)
            slot, value = item(rows, row, i)
            at = np.int64(slot) * width + group
            a = lanes.plus_times(a, lanes.load(flat, at), value)
            b = lanes.plus_times(b, lanes.load(flat, at + 8), value)
            c = lanes.plus_times(c, lanes.load(flat, at + 16), value)
            d = lanes.plus_times(d, lanes.load(flat, at + 24), value)
            length += value * value
        j = leap(rows, row, edge, stop)
    at = flat.shape[0] - width + group
    lanes.store(scores, group, lanes.plus_times(a, lanes.load(flat, at), rows.bias))
    lanes.store(scores, group + 8, lanes.plus_times(b, lanes.load(flat, at + 8), rows.bias))
    lanes.store(scores, group + 16, lanes.plus_times(c, lanes.load(flat, at + 16), rows.bias))
    lanes.store(scores, group + 24, lanes.plus_times(d, lanes.load(flat, at + 24), rows.bias))
    return length


@part
def _score_eights(rows, row, weights, eights, count, scores):
    """Four registers at a time; beyond the last eight it again, which is then written twice the same."""
    flat = lanes.flattened(weights)
    width = weights.shape[1]
    start, stop = span(rows, row)
    length = 0.0
    for k in range(0, count, 4):
        one, two = eights[k], eights[min(k + 1, count - 1)]
        three, four = eights[min(k + 2, count - 1)], eights[min(k + 3, count - 1)]
        a, b, c, d = lanes.nothing(), lanes.nothing(), lanes.nothing(), lanes.nothing()
        length = 0.0
        j = leap(rows, row, start, stop)
        while j < stop:
            edge = stretch(rows, j, stop)
            for i in range(j, edge):
                slot, value = item(rows, row, i)
                at = np.int64(slot) * width
                a = lanes.plus_times(a, lanes.load(flat, at + one), value)
                b = lanes.plus_times(b, lanes.load(flat, at + two), value)
                c = lanes.plus_times(c, lanes.load(flat, at + three), value)
                d = lanes.plus_times(d, lanes.load(flat, at + four), value)
                length += value * value
            j = leap(rows, row, edge, stop)
        at = flat.shape[0] - width
        lanes.store(scores, one, lanes.plus_times(a, lanes.load(flat, at + one), rows.bias))
        lanes.store(scores, two, lanes.plus_times(b, lanes.load(flat, at + two), rows.bias))
        lanes.store(scores, three, lanes.plus_times(c, lanes.load(flat, at + three), rows.bias))
        lanes.store(scores, four, lanes.plus_times(d, lanes.load(flat, at + four), rows.bias))
    return length + rows.bias * rows.bias


@part
def _score_side_by_side(rows, row, weights, scores):
    flat = lanes.flattened(weights)
    width = weights.shape[1]
    length = 0.0
    group = 0
    while group + 32 <= width:
        length = _score_four(rows, row, flat, width, group, scores)
        group += 32
    while group < width:  # two registers at a time where there are two
        beside = min(8, width - 8 - group)
        left, right, length = _totals(rows, row, flat, width, group, beside)
        lanes.store(scores, group, left)
        lanes.store(scores, group + beside, right)
        group += 16
    return length + rows.bias * rows.bias


@part
def _add_score_side_by_side(rows, row, weights, scores, factor):
    flat = lanes.flattened(weights)
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
def _add_side_by_side(rows, row, weights, pull, step):
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
    width = weights.shape[1]
    group = 0
    while group < width:
        if not _pulls(pull, group):
            group += 8
        elif group + 8 < width and _pulls(pull, group + 8):
            _add_two(rows, row, weights, pull, step, group)
            group += 16
        else:
            _add_one(rows, row, weights, pull, step, group)
            group += 8


@part
def _pulls(pull, group):
    """Is any of eight outputs pulled?"""
    some = False
    for k in range(group, group + 8):
        some |= pull[k] != 0.0
    return some


@part
def _add_one(rows, row, weights, pull, step, group):
    start, stop = span(rows, row)
    width = weights.shape[1]
    flat = lanes.flattened(weights)
    lane = lanes.load(pull, group)
    j = leap(rows, row, start, stop)
    while j < stop:
        edge = stretch(rows, j, stop)
        for i in range(j, edge):
            slot, value = item(rows, row, i)
            _add_at(flat, np.int64(slot) * width + group, lane, step * value)
        j = leap(rows, row, edge, stop)
    _add_at(flat, flat.shape[0] - width + group, lane, step * rows.bias)


@part
def _add_two(rows, row, weights, pull, step, group):
    """`_add_one` for two registers at a time: the row is read once for both."""
    start, stop = span(rows, row)
    width = weights.shape[1]
    flat = lanes.flattened(weights)
    left, right = lanes.load(pull, group), lanes.load(pull, group + 8)
    j = leap(rows, row, start, stop)
    while j < stop:
        edge = stretch(rows, j, stop)
        for i in range(j, edge):
            slot, value = item(rows, row, i)
            at = np.int64(slot) * width + group
            _add_at(flat, at, left, step * value)
            _add_at(flat, at + 8, right, step * value)
        j = leap(rows, row, edge, stop)
    at = flat.shape[0] - width + group
    _add_at(flat, at, left, step * rows.bias)
    _add_at(flat, at + 8, right, step * rows.bias)


@part
def _add_at(flat, at, lane, factor):
    lanes.store(flat, at, lanes.plus_times(lanes.load(flat, at), lane, factor))


# ---- either, as the weights lie


def score_many(rows, row, weights, scores):
    """scores[k] = <w_k, x>; returns |x|^2."""
    return (_score_by_class if weights.flags.fnc else _score_side_by_side)(rows, row, weights, scores)


def add_score_many(rows, row, weights, scores, factor):
    """scores[k] += factor <w_k, x>"""
    by_class = weights.flags.fnc
    (_add_score_by_class if by_class else _add_score_side_by_side)(rows, row, weights, scores, factor)


def add_many(rows, row, weights, pull, step):
    """w_k += step pull[k] x"""
    (_add_by_class if weights.flags.fnc else _add_side_by_side)(rows, row, weights, pull, step)


@overload(score_many, jit_options=_INLINED)
def _score_many_compiled(rows, row, weights, scores):
    chosen = _score_by_class if weights.layout == "F" else _score_side_by_side
    return lambda rows, row, weights, scores: chosen(rows, row, weights, scores)


@overload(add_score_many, jit_options=_INLINED)
def _add_score_many_compiled(rows, row, weights, scores, factor):
    chosen = _add_score_by_class if weights.layout == "F" else _add_score_side_by_side
    return lambda rows, row, weights, scores, factor: chosen(rows, row, weights, scores, factor)


@overload(add_many, jit_options=_INLINED)
def _add_many_compiled(rows, row, weights, pull, step):
    chosen = _add_by_class if weights.layout == "F" else _add_side_by_side
    return lambda rows, row, weights, pull, step: chosen(rows, row, weights, pull, step)


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
