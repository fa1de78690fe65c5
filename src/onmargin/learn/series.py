"""Sums of 1/s and 1/sqrt(s) up to n, without going over them: what lazy averages and schedules need.

The first terms are added up, the rest is Euler and Maclaurin's expansion (exact to rounding). And the rounds
from which averages of the last share of all may start.
"""

from __future__ import annotations

import math

from ..compiled.parts import formula

GAMMA = 0.5772156649015329  # Euler's constant
ZETA = -1.4603545088095868  # Riemann's zeta at 1/2


@formula
def harmonic(n):
    """1 + 1/2 + ... + 1/n; 0 for n <= 0"""
    if n < 20.0:
        total = 0.0
        for s in range(1, int(n) + 1):
            total += 1.0 / s
        return total
    square = 1.0 / (n * n)
    tail = square * (1.0 / 12.0 - square * (1.0 / 120.0 - square * (1.0 / 252.0 - square / 240.0)))
    return math.log(n) + GAMMA + 0.5 / n - tail


@formula
def roots(n):
    """1 + 1/sqrt(2) + ... + 1/sqrt(n); 0 for n <= 0"""
    if n < 20.0:
        total = 0.0
        for s in range(1, int(n) + 1):
            total += 1.0 / math.sqrt(s)
        return total
    root = math.sqrt(n)
    square = 1.0 / (n * n)
    tail = 1.0 / 384.0 - square * (1.0 / 1024.0 - square * 143.0 / 163840.0)
    tail = (1.0 / 24.0 - square * tail) / (n * root)
    return 2.0 * root + ZETA + 0.5 / root - tail


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
