"""What the loop is handed. NamedTuples live in an importable module so that Numba can cache.

Absent is empty: optional arrays have length 0, which is one branch, not a second specialisation.
"""

from __future__ import annotations

import math
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
    decay: float  # the rate of round t is rate / t^decay: 0 or 1/2
    phi: float  # confidence as a normal quantile
    lam: float  # Pegasos: weight of the regulariser
    batch: float  # rounds that share one hypothesis
    radius: float  # of the ball that is projected on (inf: none)
    free: float  # 1: the constant coordinate is not regularised
    suffix: float  # the share of last hypotheses that is averaged (1: all)
    anchor: float  # rounds after which that share is exact
    q: float  # dual exponent of a p-norm
    scale: float  # a of g = |w|^2 / (2a); the size of the simplex
    l1: float  # soft threshold
    delta: float  # AdaGrad's offset; coin betting's first wealth
    outputs: int
    cost: np.ndarray  # square roots of the costs, (K, K) or empty
    own: np.ndarray  # numbers of a user's own parts
    bar: np.ndarray  # (2,) running threshold of label sets and the rounds it has seen
    live: np.ndarray  # (2,) features known, and 1 where the constant coordinate is in use


# What a number of `Hyper` is where the user has no say in it.
DEFAULTS = {
    "C": 1.0, "margin": 1.0, "epsilon": 0.0, "rate": 1.0, "decay": 0.0, "phi": 1.0, "lam": 1.0,
    "batch": 1.0, "radius": math.inf, "free": 0.0, "suffix": 1.0, "anchor": 1.0, "q": 2.0, "scale": 1.0,
    "l1": 0.0, "delta": 1.0,
}  # fmt: skip


class Tally(NamedTuple):
    """What a stretch of rounds came to."""

    clock: int
    stopped: int  # position reached; before the end: that row is not finite
    loss: float
    mistakes: int  # emitted answer differs from the truth
    errors: int  # margin <= 0, the theory's count
    updates: int
