"""A row against weights of one output (d + 1,) or of many (d + 1, K), padded to eights.

With many, outputs lie side by side and are taken eight at a time (`lanes`). While a block of dense rows is
learned they lie one after the other instead (an array in Fortran's order, `by_class`).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba.extending import overload

from . import lanes
from .by_class import add_by_class, add_score_by_class, score_by_class
from .parts import OPTIONS, part
from .rows import axpy, dot, foresee, item, leap, look_ahead, span, stretch

_INLINED: Any = {**OPTIONS, "forceinline": True}


@part
def score_rows(rows, row, weights, scores):
    """scores[k] = <w_k, x> for one or many outputs; returns |x|^2."""
    if weights.ndim == 1:
        total, length = dot(rows, row, weights)
        scores[0] = total
        return length
    return score_many(rows, row, row, weights, scores)


@part
def score_round(rows, now, weights, scores):
    """`score_rows` of the round at hand; memory is asked for the next one's row where that pays."""
    if weights.ndim == 1:
        return score_rows(rows, now.row, weights, scores)
    return score_many(rows, now.row, now.following, weights, scores)


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
def squared(pull):
    """|pull|^2"""
    total = 0.0
    for k in range(pull.shape[0]):
        total += pull[k] * pull[k]
    return total


@part
def add_rows(rows, row, weights, pull, step):
    """w_k += step pull[k] x for one or many outputs."""
    if weights.ndim == 1:
        axpy(rows, row, weights, step * pull[0])
    else:
        add_many(rows, row, weights, pull, step)


@part
def add_eights(rows, row, weights, eights, count, pull, step):
    """w_k += step pull[k] x in `count` eights of outputs, the first of each in `eights`."""
    if weights.ndim == 1:
        add_rows(rows, row, weights, pull, step)
    else:
        _add_eights(rows, row, weights, eights, count, pull, step)


# ---- outputs side by side


@part
def _totals(rows, row, flat, width, group, beside):
    """Two registers of <w_k, x> from output `group` on; and the entries' |x|^2.

    Each is the sum of two, of every other entry: one sum alone would wait for itself at each of them.
    """
    start, stop = span(rows, row)
    at = flat.shape[0] - width + group
    left = lanes.plus_times(lanes.nothing(), lanes.load(flat, at), rows.bias)
    right = lanes.plus_times(lanes.nothing(), lanes.load(flat, at + beside), rows.bias)
    more, most = lanes.nothing(), lanes.nothing()
    length, other = 0.0, 0.0
    j = leap(rows, row, start, stop)
    while j < stop:
        edge = stretch(rows, j, stop)
        while j + 2 <= edge:
            look_ahead(rows, j)
            slot, value = item(rows, row, j)
            at = np.int64(slot) * width + group
            left = lanes.plus_times(left, lanes.load(flat, at), value)
            right = lanes.plus_times(right, lanes.load(flat, at + beside), value)
            length += value * value
            slot, value = item(rows, row, j + 1)
            at = np.int64(slot) * width + group
            more = lanes.plus_times(more, lanes.load(flat, at), value)
            most = lanes.plus_times(most, lanes.load(flat, at + beside), value)
            other += value * value
            j += 2
        if j < edge:
            slot, value = item(rows, row, j)
            at = np.int64(slot) * width + group
            left = lanes.plus_times(left, lanes.load(flat, at), value)
            right = lanes.plus_times(right, lanes.load(flat, at + beside), value)
            length += value * value
        j = leap(rows, row, edge, stop)
    return lanes.plus_times(left, more, 1.0), lanes.plus_times(right, most, 1.0), length + other


@part
def _plus_four(sums, flat, at, eights, value):
    """Four registers of sums, the weights of one entry added."""
    a, b, c, d = sums
    one, two, three, four = eights
    return (
        lanes.plus_times(a, lanes.load(flat, at + one), value),
        lanes.plus_times(b, lanes.load(flat, at + two), value),
        lanes.plus_times(c, lanes.load(flat, at + three), value),
        lanes.plus_times(d, lanes.load(flat, at + four), value),
    )


@part
def _score_four(rows, row, flat, width, eights, scores):
    """Four registers of scores, from these outputs on; the entries' |x|^2.

    Summed as `_totals` does: a score is the same, bit for bit, whatever number of outputs lie beside it.
    """
    start, stop = span(rows, row)
    none = lanes.nothing(), lanes.nothing(), lanes.nothing(), lanes.nothing()
    sums, others = _plus_four(none, flat, flat.shape[0] - width, eights, rows.bias), none
    length, other = 0.0, 0.0
    j = leap(rows, row, start, stop)
    while j < stop:
        edge = stretch(rows, j, stop)
        while j + 2 <= edge:
            foresee(rows, j, flat, width, eights)
            slot, value = item(rows, row, j)
            sums = _plus_four(sums, flat, np.int64(slot) * width, eights, value)
            length += value * value
            foresee(rows, j + 1, flat, width, eights)
            slot, value = item(rows, row, j + 1)
            others = _plus_four(others, flat, np.int64(slot) * width, eights, value)
            other += value * value
            j += 2
        if j < edge:
            slot, value = item(rows, row, j)
            sums = _plus_four(sums, flat, np.int64(slot) * width, eights, value)
            length += value * value
        j = leap(rows, row, edge, stop)
    for k in range(4):
        lanes.store(scores, eights[k], lanes.plus_times(sums[k], others[k], 1.0))
    return length + other


@part
def _score_two(rows, row, flat, width, one, two, scores):
    """Two registers of scores, which may be the same; the entries' |x|^2."""
    left, right, length = _totals(rows, row, flat, width, one, two - one)
    lanes.store(scores, one, left)
    lanes.store(scores, two, right)
    return length


@part
def _score_eights(rows, row, weights, eights, count, scores):
    """Four registers at a time, the last one or two by themselves; of three the last counts twice."""
    flat = lanes.flattened(weights)
    width = weights.shape[1]
    length = 0.0
    k = 0
    while k + 2 < count:
        some = eights[k], eights[k + 1], eights[k + 2], eights[min(k + 3, count - 1)]
        length = _score_four(rows, row, flat, width, some, scores)
        k += 4
    if k < count:
        length = _score_two(rows, row, flat, width, eights[k], eights[count - 1], scores)
    return length + rows.bias * rows.bias


@part
def _score_side_by_side(rows, row, weights, scores):
    flat = lanes.flattened(weights)
    width = weights.shape[1]
    length = 0.0
    group = 0
    while group + 32 <= width:
        some = group, group + 8, group + 16, group + 24
        length = _score_four(rows, row, flat, width, some, scores)
        group += 32
    while group < width:  # two registers at a time where there are two
        length = _score_two(rows, row, flat, width, group, min(group + 8, width - 8), scores)
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
    if width > 16 and 4 * _active(pull, width) <= width:  # few outputs of many: one column at a time
        _add_columns(rows, row, weights, pull, step)
    else:
        _add_lanes(rows, row, weights, pull, step)


@part
def _active(pull, width):
    """How many outputs are pulled."""
    active = 0
    for k in range(width):
        active += pull[k] != 0.0
    return active


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
def _add_eights(rows, row, weights, eights, count, pull, step):
    for k in range(count):
        if _pulls(pull, eights[k]):
            _add_one(rows, row, weights, pull, step, eights[k])


@part
def _pulls(pull, group):
    """Is any of eight outputs pulled? (One branch: which of them it is nobody can predict.)"""
    return lanes.some(lanes.load(pull, group)) != 0


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


def score_many(rows, row, following, weights, scores):
    """scores[k] = <w_k, x>; returns |x|^2."""
    if weights.flags.fnc:
        return score_by_class(rows, row, following, weights, scores)
    return _score_side_by_side(rows, row, weights, scores)


def add_score_many(rows, row, weights, scores, factor):
    """scores[k] += factor <w_k, x>"""
    by_class = weights.flags.fnc
    (add_score_by_class if by_class else _add_score_side_by_side)(rows, row, weights, scores, factor)


def add_many(rows, row, weights, pull, step):
    """w_k += step pull[k] x"""
    (add_by_class if weights.flags.fnc else _add_side_by_side)(rows, row, weights, pull, step)


@overload(score_many, jit_options=_INLINED)
def _score_many_compiled(rows, row, following, weights, scores):
    if weights.layout == "F":
        return lambda rows, row, following, weights, scores: score_by_class(
            rows, row, following, weights, scores
        )
    return lambda rows, row, following, weights, scores: _score_side_by_side(rows, row, weights, scores)


@overload(add_score_many, jit_options=_INLINED)
def _add_score_many_compiled(rows, row, weights, scores, factor):
    chosen = add_score_by_class if weights.layout == "F" else _add_score_side_by_side
    return lambda rows, row, weights, scores, factor: chosen(rows, row, weights, scores, factor)


@overload(add_many, jit_options=_INLINED)
def _add_many_compiled(rows, row, weights, pull, step):
    chosen = add_by_class if weights.layout == "F" else _add_side_by_side
    return lambda rows, row, weights, pull, step: chosen(rows, row, weights, pull, step)
