"""Sums over few vectors: the budget Perceptrons, which drop a vector where there is no room.

At random (RBP), the oldest after shrinking all (Forgetron), or the newcomer (Stoptron); learners that forget
drop what has faded most.
"""

from __future__ import annotations

import math

from ...compiled.outputs import squared
from ...compiled.parts import part
from ..vocabulary import FORGETRON_MISTAKES, OLDEST, QUOTA, ROOM, VECTORS
from .projection import take_slot

FAINT = 1e-12  # of the largest coefficient: one below is gone


@part
def add_stop(space, rows, now, pull, step, dated, hyper):
    """Stoptron: no vector is kept beyond the budget."""
    count = int(space.ledger[VECTORS])
    if count >= hyper.numbers[ROOM]:
        return 0.0
    take_slot(space, rows, now, count, pull, step, dated)
    space.ledger[VECTORS] += 1.0
    return step


@part
def add_drop(space, rows, now, pull, step, dated, hyper):
    """RBP: where there is no room, a slot chosen by the round's luck. Cavallanti et al. 2007."""
    if space.ledger[VECTORS] < hyper.numbers[ROOM]:
        return add_stop(space, rows, now, pull, step, dated, hyper)
    slot = int(now.luck * hyper.numbers[ROOM])
    take_slot(space, rows, now, slot, pull, step, dated)
    return step


@part
def add_fading(space, rows, now, pull, step, dated, hyper):
    """Of coefficients that fade: the least slot makes room where there is none, or once it has faded away."""
    count, slot = int(space.ledger[VECTORS]), 0
    least, most = math.inf, step * step * squared(pull)
    for i in range(count):
        size = squared(space.weights[i])
        most = max(most, size)
        if size < least:
            least, slot = size, i
    if count < hyper.numbers[ROOM] and not least < FAINT * FAINT * most:
        return add_stop(space, rows, now, pull, step, dated, hyper)
    take_slot(space, rows, now, slot, pull, step, dated)
    return step


@part
def take_square(space, rows, now, slot, count):
    """The Gram matrix of what is kept, with the row at hand in a slot."""
    for i in range(count):
        space.square[slot, i] = space.square[i, slot] = rows.values[now.row, i]
    space.square[slot, slot] = rows.own[now.row]


@part
def shrinkage(a, b, c):
    """The largest phi in (0, 1] with a phi^2 + b phi + c <= 0."""
    if a + b + c <= 0.0:
        return 1.0
    if a == 0.0:
        return -c / b
    return (-b + math.sqrt(max(b * b - 4.0 * a * c, 0.0))) / (2.0 * a)


@part
def add_fade(space, rows, now, pull, step, dated, hyper):
    """Self-tuned Forgetron: shrink all so far that the oldest can be dropped. Dekel et al. 2008.

    sigma = |alpha_r|, mu = <alpha_r, f(x_r)> / sigma with the newcomer in f; a = sigma^2 - 2 sigma mu,
    b = 2 sigma, c = Q - 15/32 M.
    """
    ledger, count = space.ledger, int(space.ledger[VECTORS])
    ledger[FORGETRON_MISTAKES] += 1.0
    if count < hyper.numbers[ROOM]:
        take_square(space, rows, now, count, count)
        return add_stop(space, rows, now, pull, step, dated, hyper)
    oldest = int(ledger[OLDEST])
    weights, near = space.weights, rows.values[now.row, oldest]
    sigma = along = 0.0
    for k in range(pull.shape[0]):
        total = step * pull[k] * near
        for i in range(count):
            total += weights[i, k] * space.square[i, oldest]
        along += weights[oldest, k] * total
        sigma += weights[oldest, k] * weights[oldest, k]
    a, b = sigma - 2.0 * along, 2.0 * math.sqrt(sigma)
    phi = shrinkage(a, b, ledger[QUOTA] - 15.0 / 32.0 * ledger[FORGETRON_MISTAKES])
    for i in range(count):
        for k in range(pull.shape[0]):
            weights[i, k] *= phi
    ledger[QUOTA] += a * phi * phi + b * phi
    take_slot(space, rows, now, oldest, pull, step * phi, dated)
    take_square(space, rows, now, oldest, count)
    ledger[OLDEST] = (oldest + 1) % count
    return step
