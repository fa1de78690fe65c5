"""Sums over few vectors: a vector near their span is projected on it (Projectron, all budgets).

A vector that lies nearer than the tolerance to the span of those kept, or comes when there is no room
left, is replaced by its projection on the span: coefficients += step d with K d = k, solved by the
Cholesky factor of K, which gains a line with every vector kept. Because coefficients of kept vectors
change, the block's kernel values are kept and every sum is made of the coefficients as they are.
Orabona, Keshet & Caputo 2009.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from ...compiled.outputs import squared
from ...compiled.parts import part, summing
from ..vocabulary import ROOM, ROUNDING, TOLERANCE, VECTORS

DIAGONAL = 1e-12  # of k(x, x), on the diagonal: rows that come in order have no inverse without it


class Kept(NamedTuple):
    """A block of rows as the loop sees it."""

    values: np.ndarray  # (rows, room) kernel values against each slot
    gram: np.ndarray  # (rows, rows)
    own: np.ndarray  # (rows,) k(x, x)


class Budgeted(NamedTuple):
    """Coefficients by slot. `square`: the Cholesky factor, or the Gram matrix of what is kept (Forgetron)."""

    weights: np.ndarray  # (room, outputs)
    drift: np.ndarray  # empty: no average wanted
    square: np.ndarray  # (room, room); empty where nobody asks
    work: np.ndarray  # (room,) scratch
    owner: np.ndarray  # (room,) which row of the block took the slot; -1: none
    ledger: np.ndarray
    notes: np.ndarray


@part
def read(space, rows, row, scores):
    """scores[k] = sum_i coefficient_ik k(x_i, x)"""
    count = int(space.ledger[VECTORS])
    for k in range(space.weights.shape[1]):
        scores[k] = 0.0
    for i in range(count):
        for k in range(space.weights.shape[1]):
            scores[k] += space.weights[i, k] * rows.values[row, i]


@part
def read_dated(space, rows, row, scores, factor):
    """scores[k] += factor sum_i drift_ik k(x_i, x)"""
    if space.drift.size:
        for i in range(int(space.ledger[VECTORS])):
            for k in range(space.drift.shape[1]):
                scores[k] += factor * space.drift[i, k] * rows.values[row, i]


@part
def fold(space, rows, factor, share):
    """All coefficients times `factor`; the drift takes `share` of them first."""
    for i in range(int(space.ledger[VECTORS])):
        for k in range(space.weights.shape[1]):
            if space.drift.size:
                space.drift[i, k] += share * space.weights[i, k]
            space.weights[i, k] *= factor


@part
def take_slot(space, rows, now, slot, pull, step, dated):
    """The row at hand is kept in a slot, in place of what was there."""
    space.owner[slot] = now.row
    for k in range(pull.shape[0]):
        space.weights[slot, k] = step * pull[k]
        if space.drift.size:
            space.drift[slot, k] = dated * pull[k]
    for i in range(now.row + 1, rows.gram.shape[0]):
        rows.values[i, slot] = rows.gram[now.row, i]


@summing
def inner(left, right, count):
    """The sum of products of the first `count` entries."""
    total = 0.0
    for j in range(count):
        total += left[j] * right[j]
    return total


@part
def residual(square, values, work, count, own):
    """work = v with L v = k; the squared distance from the span, k(x, x) - |v|^2."""
    total = own
    for i in range(count):
        work[i] = (values[i] - inner(square[i], work, i)) / square[i, i]
        total -= work[i] * work[i]
    return max(total, 0.0)


@part
def solve_back(square, work, count):
    """work = d with L' d = v."""
    for i in range(count - 1, -1, -1):
        work[i] /= square[i, i]
        for j in range(i):
            work[j] -= square[i, j] * work[i]


@part
def add_projection(space, now, pull, step, dated, count):
    """coefficients += step d (the factor's v is in `work`)."""
    solve_back(space.square, space.work, count)
    for i in range(count):
        for k in range(pull.shape[0]):
            space.weights[i, k] += step * pull[k] * space.work[i]
            if space.drift.size:
                space.drift[i, k] += dated * pull[k] * space.work[i]
    return step if count else 0.0


@part
def settle(space, rows, now, pull, step, dated, hyper, gap):
    """Keep the row or project it; `gap` is its squared distance from the span, v is in `work`."""
    count, own = int(space.ledger[VECTORS]), rows.own[now.row]
    far = squared(pull) * gap > hyper.numbers[TOLERANCE] ** 2
    if far and gap > hyper.numbers[ROUNDING] * own and count < hyper.numbers[ROOM]:
        space.notes[1] = 0.0
        take_slot(space, rows, now, count, pull, step, dated)
        for j in range(count):
            space.square[count, j] = space.work[j]
        space.square[count, count] = math.sqrt(gap + DIAGONAL * own)
        space.ledger[VECTORS] += 1.0
        return step
    space.notes[1] = gap
    return add_projection(space, now, pull, step, dated, count)


@part
def add(space, rows, now, pull, step, dated, hyper):
    """phi(x) is kept, or its projection added."""
    count, own = int(space.ledger[VECTORS]), rows.own[now.row]
    gap = residual(space.square, rows.values[now.row], space.work, count, own)
    return settle(space, rows, now, pull, step, dated, hyper, gap)


@part
def move_plus(space, rows, now, pull, step, margin, hyper):
    """Projectron++: mistakes as in the Projectron; margin errors only where the projection is worth it.

    With l = 1 - m (the step given), n^2 = |P z|^2 and the distance delta of z from the span: if
    l > delta / tolerance, tau = min(l / n^2, 2 (l - delta / tolerance) / n^2, 1) times the projection.
    """
    count, own = int(space.ledger[VECTORS]), rows.own[now.row]
    gap = residual(space.square, rows.values[now.row], space.work, count, own)
    if margin <= 0.0:
        return settle(space, rows, now, pull, now.weight, now.weight * now.clock, hyper, gap)
    length = squared(pull)
    if gap <= hyper.numbers[ROUNDING] * own:
        left = step
    elif hyper.numbers[TOLERANCE] > 0.0:
        left = step - math.sqrt(length * gap) / hyper.numbers[TOLERANCE]
    else:
        left = 0.0
    reach = length * (own - gap)
    if left <= 0.0 or reach <= 0.0:
        return 0.0
    far = now.weight * min(min(step, 2.0 * left) / reach, 1.0)
    return add_projection(space, now, pull, far, far * now.clock, count)
