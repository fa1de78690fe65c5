"""Gaussians of one sparse row and the vectors kept, past the tiles that serve blocks of rows.

The row is spread out over a line of zeros, one for every column, from which each vector kept reads. All is
added up in the very order of `pairs`: a row has the same values alone as in a block.
"""

from __future__ import annotations

import numpy as np

from .pairs import add_sums, gaussian
from .parts import part, specialise

LARGEST_SQUARE = 1e30  # a squared length beyond which a product in float32 may overflow
REFUSED = -1.0  # what `exponents` and `gaussians` return in place of the row's squared length


@part
def products(vectors, count, row, line, far, out):
    """out[i, 0] = <a_i, x>; |x|^2, or REFUSED where it is not finite, or the row and a vector kept are long.

    `far` is the squared length from which on products lose the digits of a distance.
    """
    values, indices, starts, squares = vectors
    stop, own = row.starts[1], 0.0
    kind = line.dtype.type
    for at in range(stop):
        value = np.float64(kind(row.values[at]))
        own += value * value
    if not own <= LARGEST_SQUARE:
        return REFUSED
    if own > far:
        for i in range(count):
            if squares[i] > far:
                return REFUSED
    for at in range(stop):
        line[row.indices[at]] = kind(row.values[at])
    for i in range(count):
        total = kind(0)
        for at in range(starts[i], starts[i + 1]):
            total += values[at] * line[indices[at]]
        out[i, 0] = total
    for at in range(stop):
        line[row.indices[at]] = kind(0)
    return own


@specialise
def exponents(vectors, count, row, line, far, gamma, out):
    """out[i, 0] = -gamma |a_i - x|^2, at most 0; the row's squared length, or REFUSED."""
    own, squares = products(vectors, count, row, line, far, out), vectors[3]
    if own >= 0.0:
        for i in range(count):
            gap = squares[i] + own - 2 * out[i, 0]
            out[i, 0] = -gamma * gap if gap > 0 else gap * 0
    return own


@specialise
def gaussians(vectors, count, row, line, far, gamma, out, coefficients, sums):
    """sums[k, 0] = sum_i coefficients[i, k] exp(-gamma |a_i - x|^2), in float32; as `exponents` otherwise."""
    own, squares = products(vectors, count, row, line, far, out), vectors[3]
    if own >= 0.0:
        width, right = np.float32(gamma), np.float32(own)
        for i in range(count):
            out[i, 0] = gaussian(out[i, 0], np.float32(squares[i]), right, width)
        for k in range(sums.shape[0]):
            sums[k, 0] = 0.0
        add_sums(out[:count], coefficients, sums)
    return own


@specialise
def weighed(values, count, coefficients, sums):
    """sums[k, 0] = sum_i coefficients[i, k] values[i, 0]"""
    for k in range(sums.shape[0]):
        sums[k, 0] = 0.0
    add_sums(values[:count], coefficients, sums)


@specialise
def keep(lines, entries, count, at, number, square, row, weights, drift):
    """The row as vector `count` of arrays that have room for it, its entries from `at` on.

    `lines` have a line a vector (numbers, squared lengths as they are used and as they came, starts,
    coefficients, drifts), `entries` an item an entry (values as they came and ready, columns).
    """
    ids, squares, exact, starts, coefficients, drifts = lines
    values, ready, columns = entries
    stop, own, kind = row.starts[1], 0.0, ready.dtype.type
    for j in range(stop):
        value = row.values[j]
        own += value * value
        values[at + j], ready[at + j], columns[at + j] = value, kind(value), row.indices[j]
    ids[count], squares[count], starts[count + 1] = number, square, at + stop
    exact[count] = own
    for k in range(weights.shape[1]):
        coefficients[count, k] = weights[0, k]
        drifts[count, k] = drift[0, k] if drift.size else 0.0
