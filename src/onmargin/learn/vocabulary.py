"""What the loop is handed. NamedTuples live in an importable module so that Numba can cache.

Absent is empty: optional arrays have length 0, which is one branch, not a second specialisation.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

TINY = 2.3e-308  # a size below this has no finite reciprocal: as good as 0
TRACED = 4  # columns of a trace before the scores: guess, loss, step, asked


class Examples(NamedTuple):
    """A block of rounds: targets, weights and chance by position, rows by number."""

    rows: Any
    targets: np.ndarray  # (n,) or (n, labels)
    weights: np.ndarray  # (n,) or empty: 1
    chance: np.ndarray  # (n,) uniforms in [0, 1), or empty
    order: np.ndarray  # (n,) row numbers, or empty: 0, 1, 2, ...


class Round(NamedTuple):
    """The round at hand."""

    row: int
    clock: int  # counts from 1
    weight: float
    luck: float


class Desk(NamedTuple):
    """Scratch: one number per output, padded to eights."""

    scores: np.ndarray
    pull: np.ndarray


class Hyper(NamedTuple):
    """What the user chose, and the few numbers a Task remembers."""

    C: float
    margin: float  # the margin asked for
    epsilon: float  # half-width of what is tolerated (regression), radius (uniclass)
    rate: float
    phi: float  # confidence as a normal quantile
    outputs: int
    cost: np.ndarray  # square roots of the costs, (K, K) or empty
    bar: np.ndarray  # (2,) running threshold of label sets and the rounds it has seen


class Tally(NamedTuple):
    """What a stretch of rounds came to."""

    clock: int
    stopped: int  # position reached; before the end: that row is not finite
    loss: float
    mistakes: int  # emitted answer differs from the truth
    errors: int  # margin <= 0, the theory's count
    updates: int
