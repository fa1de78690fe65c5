"""A dense row against weights that lie output after output: an array (columns, K) in Fortran's order.

So the weights lie while a block of long dense rows is learned (`models.by_class`): fewer bytes are read than
side by side, eights of columns in which the row has only zeros are passed over, and a step writes to the
outputs it moves alone. A score is the sum of eight sums, one for each place in an eight; the columns left
over come one by one.
"""

from __future__ import annotations

import numpy as np

from . import lanes
from .parts import part

BITS = 64  # eights of columns of which one number tells where the row has only zeros
SECTION = 2 * 8 * BITS  # columns taken at a time


@part
def score_by_class(rows, row, following, weights, scores):
    """scores[k] = <w_k, x>; returns |x|^2. Row `following` will be read next."""
    return _add_products(rows, row, following, weights, scores, 1.0, False)


@part
def add_score_by_class(rows, row, weights, scores, factor):
    """scores[k] += factor <w_k, x>"""
    _add_products(rows, row, row, weights, scores, factor, True)


@part
def add_by_class(rows, row, weights, pull, step):
    """w_k += step pull[k] x"""
    values = rows.values
    for k in range(weights.shape[1]):
        if pull[k] != 0.0:
            factor = step * pull[k]
            for j in range(values.shape[1]):
                weights[np.uint64(j), np.uint64(k)] += factor * values[np.uint64(row), np.uint64(j)]
            weights[weights.shape[0] - 1, k] += factor * rows.bias


@part
def _add_products(rows, row, following, weights, scores, factor, adding):
    """scores[k] = factor <w_k, x>, or (`adding`) so much more; returns |x|^2."""
    values, entries = lanes.flattened(rows.values), lanes.flattened(weights.T)
    columns, stride, outputs = rows.values.shape[1], weights.shape[0], weights.shape[1]
    origin, whole, last = row * columns, columns - columns % 8, weights.shape[0] - 1
    ahead = (following - row) * columns
    squares, length = lanes.nothing(), rows.bias * rows.bias
    for j in range(whole, columns):
        value = np.float64(values[origin + j])
        length += value * value
    for k in range(outputs):
        rest = rows.bias * entries[k * stride + last]
        for j in range(whole, columns):
            rest += np.float64(values[origin + j]) * entries[k * stride + j]
        scores[k] = (scores[k] if adding else 0.0) + factor * rest
    for start in range(0, whole, SECTION):
        middle, stop = min(start + SECTION // 2, whole), min(start + SECTION, whole)
        squares, early = _not_zero(values, origin, start, middle, squares, ahead)
        squares, late = _not_zero(values, origin, middle, stop, squares, ahead)
        for k in range(0, outputs, 5):
            one, two = k * stride, min(k + 1, outputs - 1) * stride
            three, four = min(k + 2, outputs - 1) * stride, min(k + 3, outputs - 1) * stride
            five = min(k + 4, outputs - 1) * stride
            sums = lanes.nothing(), lanes.nothing(), lanes.nothing(), lanes.nothing(), lanes.nothing()
            places = one, two, three, four, five
            sums = _add_five(values, origin, entries, places, start, early, sums)
            a, b, c, d, e = _add_five(values, origin, entries, places, middle, late, sums)
            scores[k] += factor * lanes.total(a)
            if k + 4 < outputs:
                scores[k + 1] += factor * lanes.total(b)
                scores[k + 2] += factor * lanes.total(c)
                scores[k + 3] += factor * lanes.total(d)
                scores[k + 4] += factor * lanes.total(e)
            else:
                if k + 1 < outputs:
                    scores[k + 1] += factor * lanes.total(b)
                if k + 2 < outputs:
                    scores[k + 2] += factor * lanes.total(c)
                if k + 3 < outputs:
                    scores[k + 3] += factor * lanes.total(d)
    return length + lanes.total(squares)


@part
def _not_zero(values, origin, start, stop, squares, ahead):
    """A bit for each eight of columns start .. stop - 1 that has more than zeros; the squares, added up."""
    bits = np.uint64(0)
    for j in range(start, stop, 8):
        lanes.fetch(values, origin + j + ahead)
        eight = lanes.load(values, origin + j)
        squares = lanes.plus_product(squares, eight, eight)
        bits |= lanes.some(eight) << np.uint64((j - start) >> 3)
    return squares, bits


@part
def _add_five(values, origin, entries, places, start, bits, sums):
    """Five outputs times the eights, from column `start` on, whose bits are set."""
    one, two, three, four, five = places
    a, b, c, d, e = sums
    while bits:
        j = start + 8 * lanes.lowest(bits)
        bits &= bits - np.uint64(1)
        eight = lanes.load(values, origin + j)
        a = lanes.plus_product(a, lanes.load(entries, one + j), eight)
        b = lanes.plus_product(b, lanes.load(entries, two + j), eight)
        c = lanes.plus_product(c, lanes.load(entries, three + j), eight)
        d = lanes.plus_product(d, lanes.load(entries, four + j), eight)
        e = lanes.plus_product(e, lanes.load(entries, five + j), eight)
    return a, b, c, d, e
