"""Ridge regression spelled in vectors: c = (K + H^-1)^-1 k, the Space of BBQ with a kernel.

K is the Gram matrix of the examples whose label was asked for, H their weights (`drift`): row and label times
sqrt(h) each. The Cholesky factor of K + H^-1 gains a line with each of them. With v = k(x, x) - k'c the score
is Y'c / (1 + v): the row at hand counts as seen.
"""

from __future__ import annotations

import math

from ...compiled.parts import part
from ..spaces.arrays import Space, as_they_lie, less_drift
from ..spaces.linear import size
from ..spaces.ridge import size as own_size
from ..vocabulary import VECTORS
from .projection import Budgeted, residual, solve_back, take_slot


@part
def score(space, rows, now, hyper, scores):
    """Y'c / (1 + v); c stays in `work`, v in the notes."""
    count = int(space.ledger[VECTORS])
    variance = residual(space.square, rows.values[now.row], space.work, count, rows.own[now.row])
    solve_back(space.square, space.work, count)
    total = 0.0
    for i in range(count):
        total += space.weights[i, 0] * space.work[i]
    space.notes[0], space.notes[1] = rows.own[now.row], variance
    scores[0] = total / (1.0 + variance)


@part
def move(space, rows, now, pull, step, margin, hyper):
    """Keep the row with its label and its weight h; the factor gains (L^-1 k, sqrt(1 / h + v))."""
    count = int(space.ledger[VECTORS])
    variance = residual(space.square, rows.values[now.row], space.work, count, rows.own[now.row])
    for j in range(count):
        space.square[count, j] = space.work[j]
    space.square[count, count] = math.sqrt(1.0 / step + variance)
    take_slot(space, rows, now, count, pull, 1.0, 0.0)
    space.drift[count, 0] = step
    space.ledger[VECTORS] += 1.0
    return step


EVIDENCE = Space("evidence", Budgeted, {}, score, size, move, None, as_they_lie, less_drift, flat=False)
NUMBER_EVIDENCE = EVIDENCE._replace(size=own_size)
