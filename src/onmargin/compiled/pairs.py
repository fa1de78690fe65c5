"""Tables of numbers for pairs of vectors: one line per kept vector, one column per row of a block.

The block lies across, (columns, rows), so that every inner loop runs along it: contiguous, without a
sum over lanes. Sparse vectors look their columns up in `places` (-1: no row
of the block has it; the last entry is for all columns beyond).
"""

from __future__ import annotations

import numpy as np

from .lanes import power_of_two
from .parts import Part, formula, part, specialise

ZERO, ONE, TWO = np.float32(0), np.float32(1), np.float32(2)
LEAST = np.float32(-87)  # e^x below is as good as 0
LOG2_E, ROUNDS = np.float32(1.44269504), np.float32(3 << 22)  # adding and taking away ROUNDS rounds
LN2_HIGH, LN2_LOW = np.float32(0.693359375), np.float32(-2.12194440e-4)
P0, P1, P2 = np.float32(1.9875691500e-4), np.float32(1.3981999507e-3), np.float32(8.3334519073e-3)
P3, P4, P5 = np.float32(4.1665795894e-2), np.float32(1.6666665459e-1), np.float32(5.0000001201e-1)


@formula
def city(a, b):
    """|a - b|: the city-block distance, coordinate by coordinate."""
    return abs(a - b)


@formula
def chi(a, b):
    """(a - b)^2 / (a + b), 0 where both are 0."""
    total = a + b
    return (a - b) * (a - b) / total if total > 0.0 else total * 0.0


term = city  # a role: `specialise` rebinds it


@specialise
def sparse_products(values, indices, starts, places, across, out):
    """out[i, j] = <a_i, b_j>"""
    last = places.shape[0] - 1
    for i in range(out.shape[0]):
        for j in range(out.shape[1]):
            out[i, j] = 0.0
        for at in range(starts[i], starts[i + 1]):
            place = places[min(indices[at], last)]
            if place >= 0:
                value = values[at]
                for j in range(out.shape[1]):
                    out[i, j] += value * across[place, j]


def dense_sums(values, across, out):
    """out[i, j] = sum over columns of term(a_i, b_j)"""
    for i in range(out.shape[0]):
        for j in range(out.shape[1]):
            out[i, j] = 0.0
        for column in range(values.shape[1]):
            value = values[i, column]
            for j in range(out.shape[1]):
                out[i, j] += term(value, across[column, j])


def sparse_sums(values, indices, starts, places, across, base, out):
    """The same: what an empty a_i would give (`base`), and what its entries change."""
    nothing, last = across.dtype.type(0), places.shape[0] - 1
    for i in range(out.shape[0]):
        for j in range(out.shape[1]):
            out[i, j] = base[j]
        for at in range(starts[i], starts[i + 1]):
            place, value = places[min(indices[at], last)], values[at]
            for j in range(out.shape[1]):
                other = across[place, j] if place >= 0 else nothing
                out[i, j] += term(value, other) - term(nothing, other)


@specialise
def sparse_distances(values, indices, starts, places, across, absent, out):
    """out[i, j] = |a_i - b_j|^2, column by column: no digits are lost far from the origin."""
    last = places.shape[0] - 1
    for i in range(out.shape[0]):
        for j in range(out.shape[1]):
            out[i, j] = 0.0
        for place in range(absent.shape[0]):
            absent[place] = True
        for at in range(starts[i], starts[i + 1]):
            place, value = places[min(indices[at], last)], values[at]
            if place >= 0:
                absent[place] = False
            for j in range(out.shape[1]):
                gap = value - across[place, j] if place >= 0 else value
                out[i, j] += gap * gap
        for place in range(absent.shape[0]):
            if absent[place]:
                for j in range(out.shape[1]):
                    out[i, j] += across[place, j] * across[place, j]


@specialise
def dense_gaps(values, others, wanted, out):
    """The same of arrays, for those pairs that are wanted."""
    for i in range(out.shape[0]):
        for j in range(out.shape[1]):
            if wanted[i, j]:
                total = 0.0
                for column in range(values.shape[1]):
                    gap = values[i, column] - others[j, column]
                    total += gap * gap
                out[i, j] = total


@specialise
def sparse_gaps(
    values, indices, starts, others, other_indices, other_starts, places, line, shared, wanted, out
):
    """The same of sparse rows, by the entries of each pair that is wanted: for few pairs, or many columns.

    `line` and `shared` have room for every column of the others: a_i's value there, and the number of the
    last pair that has the column on both sides.
    """
    last, pair = places.shape[0] - 1, 0
    for i in range(out.shape[0]):
        start, stop = starts[i], starts[i + 1]
        for at in range(start, stop):
            place = places[min(indices[at], last)]
            if place >= 0:
                line[place] = values[at]
        for j in range(out.shape[1]):
            if not wanted[i, j]:
                continue
            pair += 1
            both = alone = 0.0
            for at in range(other_starts[j], other_starts[j + 1]):
                place = places[other_indices[at]]
                difference = others[at] - line[place]
                both += difference * difference
                shared[place] = pair
            for at in range(start, stop):
                place = places[min(indices[at], last)]
                if place < 0 or shared[place] != pair:
                    alone += values[at] * values[at]
            out[i, j] = both + alone
        for at in range(start, stop):
            place = places[min(indices[at], last)]
            if place >= 0:
                line[place] = 0.0


@specialise
def dense_squares(values, out):
    """out[i] = |a_i|^2 in float64, each summed by itself."""
    for i in range(out.shape[0]):
        total = 0.0
        for column in range(values.shape[1]):
            total += np.float64(values[i, column]) * np.float64(values[i, column])
        out[i] = total


@specialise
def sparse_squares(values, starts, out):
    """The same, of the rows of a CSR matrix."""
    for i in range(out.shape[0]):
        total = 0.0
        for at in range(starts[i], starts[i + 1]):
            total += np.float64(values[at]) * np.float64(values[at])
        out[i] = total


@specialise
def to_exponents(table, left, right, gamma):
    """Products become -gamma |a - b|^2, from the squared lengths, at most 0."""
    for i in range(table.shape[0]):
        own = left[i]
        for j in range(table.shape[1]):
            gap = own + right[j] - 2 * table[i, j]
            table[i, j] = -gamma * gap if gap > 0 else gap * 0


@part
def gaussian(product, left, right, gamma):
    """exp(-gamma |a - b|^2) of a product and two squared lengths, in float32.

    e^x = 2^n e^r with n = round(x / ln 2); e^r by Cephes' polynomial, to 1e-7.
    """
    x = max(gamma * min(TWO * product - left - right, ZERO), LEAST)
    n = (x * LOG2_E + ROUNDS) - ROUNDS
    r = (x - n * LN2_HIGH) - n * LN2_LOW
    p = ((((P0 * r + P1) * r + P2) * r + P3) * r + P4) * r + P5
    return (p * (r * r) + r + ONE) * power_of_two(n)


@specialise
def to_gaussians(table, left, right, gamma):
    """Products become exp(-gamma |a - b|^2) in float32, in one pass (NumPy's exp would need three)."""
    for i in range(table.shape[0]):
        own = left[i]
        for j in range(table.shape[1]):
            table[i, j] = gaussian(table[i, j], own, right[j], gamma)


@specialise
def add_sums(table, coefficients, sums):
    """sums[k, j] += sum_i coefficients[i, k] table[i, j], in float64."""
    for k in range(sums.shape[0]):
        i = 0
        while i < table.shape[0]:
            # four lines at a time: the sums are read and written once for them
            rest = min(table.shape[0] - i, 4)
            a = coefficients[i, k]
            b = coefficients[i + 1, k] if rest > 1 else 0.0
            c = coefficients[i + 2, k] if rest > 2 else 0.0
            d = coefficients[i + 3, k] if rest > 3 else 0.0
            if rest == 4 and (a != 0.0 or b != 0.0 or c != 0.0 or d != 0.0):
                for j in range(sums.shape[1]):
                    sums[k, j] += (a * table[i, j] + b * table[i + 1, j]) + (
                        c * table[i + 2, j] + d * table[i + 3, j]
                    )
            elif rest < 4:
                for other in range(i, i + rest):
                    weight = coefficients[other, k]
                    for j in range(sums.shape[1]):
                        sums[k, j] += weight * table[other, j]
            i += 4


def summed(term: Part, sparse: bool) -> Part:
    """`dense_sums` or `sparse_sums` of a term."""
    return specialise(sparse_sums if sparse else dense_sums, term=term)
