"""Pegasos' scalars: which batch, how much w is of nu, and how the average is made up of it.

They follow from the ledger and the round, in the loop and in plain Python alike.
"""

from __future__ import annotations

import math

from ...compiled.parts import formula
from ..series import harmonic
from ..vocabulary import (
    PEGASOS_LAST,
    PEGASOS_LENGTH,
    PEGASOS_SIGMA,
    PEGASOS_SPREAD,
    SUFFIX_EARLY,
    SUFFIX_LATER,
    SUFFIX_NEXT,
)

LEAST_SIGMA = 0.01  # the least sigma
EXACT_FOR = 10_000  # moves after which |z|^2 is summed anew


@formula
def turn(clock, batch):
    """The batch that a round belongs to, from 1."""
    return math.floor((clock - 1) / batch) + 1.0


# `reach` is radius lam: after batch t, |z| is at most reach t in the ball.


@formula
def sigma_at(ledger, t, reach):
    """sigma as batch t sees it: projected, if the last batch that moved is over."""
    if reach < math.inf and t > ledger[PEGASOS_LAST]:
        bound = reach * ledger[PEGASOS_LAST]
        if ledger[PEGASOS_LENGTH] > bound * bound:
            return ledger[PEGASOS_SIGMA] * bound / math.sqrt(ledger[PEGASOS_LENGTH])
    return ledger[PEGASOS_SIGMA]


@formula
def factor_at(ledger, t, reach, lam):
    """w - prior = factor nu in batch t."""
    return sigma_at(ledger, t, reach) / (lam * (t - 1.0)) if t > 1.0 else 0.0


@formula
def spread_at(ledger, t, reach):
    """a: the factor of nu in sum_{r <= t} z_r / (r - 1)."""
    if t <= ledger[PEGASOS_LAST]:
        return ledger[PEGASOS_SPREAD]
    rounds = harmonic(t - 1.0) - harmonic(ledger[PEGASOS_LAST] - 1.0)
    return ledger[PEGASOS_SPREAD] + sigma_at(ledger, t, reach) * rounds


@formula
def grid_after(mark, suffix, anchor):
    """The next round of the grid that suffix averages start from; each is 1 - suffix of the next."""
    keep = 1.0 - suffix
    if mark == 0.0:
        return anchor * keep ** math.floor(1e-9 - math.log(anchor) / math.log(keep))
    now = math.floor(mark + 1e-6)
    while math.floor(mark + 1e-6) <= now:
        mark /= keep
    return mark


@formula
def suffix_start(ledger, t, suffix, anchor):
    """Which sum the average of rounds up to t leaves out: (0 early, 1 later, 2 a new one; its round)."""
    which, start = 0, ledger[SUFFIX_EARLY]
    following, mark = 1, ledger[SUFFIX_LATER]
    grid = ledger[SUFFIX_NEXT] if ledger[SUFFIX_NEXT] > 0.0 else grid_after(0.0, suffix, anchor)
    while math.floor(grid + 1e-6) <= t:
        which, start = following, mark
        following, mark = 2, math.floor(grid + 1e-6)
        grid = grid_after(grid, suffix, anchor)
    return which, start
