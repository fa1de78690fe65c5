"""What the loop is handed. NamedTuples live in an importable module so that Numba can cache.

Absent is empty: optional arrays have length 0, which is one branch, not a second specialisation.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

NONE = np.zeros(0)
NO_ORDER = np.zeros(0, np.int64)
NO_TRACE = np.zeros((0, 0))
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
    """What the user chose, and the few numbers a Task and a Space remember.

    Every field is unpacked at every call, which dict rounds feel: what only some parts read lies in
    `numbers`, by the places below.
    """

    C: float
    margin: float  # the margin asked for
    epsilon: float  # half-width of what is tolerated (regression), radius (uniclass)
    rate: float
    phi: float  # confidence as a normal quantile
    outputs: int
    cost: np.ndarray  # square roots of the costs, (K, K) or empty
    numbers: np.ndarray


class Numbers(NamedTuple):
    """What a user's own functions see of it as `hyper`."""

    C: float
    margin: float
    epsilon: float
    rate: float
    outputs: int
    own: np.ndarray  # the numbers of `Recipe(..., own=...)`


# Places in `numbers`. What is remembered: the threshold of label sets, rounds it has seen; features
# known, and 1 where the constant coordinate is in use; of learners that ask for labels: rows they were
# shown, labels asked for, the logarithm of what delta is multiplied by, moves made, the longest |x|^2 moved
# by; the round from which on a learner that forgets counts its fading.
BAR, SEEN, KNOWN, BIASED, SHOWN, ASKED, DRIFTED, MOVES, LONGEST, FADED, REMEMBERED = range(11)

# What was chosen: the rate of round t is rate / t^decay (0 or 1/2); Pegasos' lam, rounds that share a
# hypothesis, radius of its ball (inf: none), 1 for an unregularised constant coordinate, share of the
# last hypotheses that is averaged, round after which that share is exact; dual exponent of a p-norm, a
# of g = |w|^2 / (2a) or the size of a simplex, soft threshold, AdaGrad's offset or the coin's first
# wealth; of kernel learners with few vectors: how far from their span is far, how many there may be,
# the share of k(x, x) below which a distance is rounding; the rule of asking, its delta, its probability,
# how many labels it may ask for (within so many rows), the share it aims at; what remains of a hypothesis
# after a round; from OWN on the numbers of a user's own parts. At the very end, where labels are counted
# within a window: the rows of the last ones asked for.
DECAY, LAM, BATCH, RADIUS, FREE, SUFFIX, ANCHOR, Q, SCALE, L1, DELTA = range(REMEMBERED, REMEMBERED + 11)
TOLERANCE, ROOM, GRAIN = range(REMEMBERED + 11, REMEMBERED + 14)
ASK_RULE, ASK_DELTA, ASK_CHANCE, ASK_MOST, ASK_WITHIN, ASK_SHARE = range(REMEMBERED + 14, REMEMBERED + 20)
FORGET, OWN = range(REMEMBERED + 20, REMEMBERED + 22)

# What a number is where the user has no say in it: the fields of `Hyper`, and those in `numbers`.
DEFAULTS = {"C": 1.0, "margin": 1.0, "epsilon": 0.0, "rate": 1.0, "phi": 1.0}
MORE = {
    "decay": 0.0, "lam": 1.0, "batch": 1.0, "radius": math.inf, "free": 0.0, "suffix": 1.0, "anchor": 1.0,
    "q": 2.0, "scale": 1.0, "l1": 0.0, "delta": 1.0, "tolerance": 0.0, "room": math.inf, "grain": 1e-8,
    "ask_rule": 0.0, "ask_delta": 1.0, "ask_chance": 1.0, "ask_most": math.inf, "ask_within": math.inf,
    "ask_share": 0.0, "forget": 1.0,
}  # fmt: skip


def hyper_of(
    choices: dict[str, Any], outputs: int, remembered: np.ndarray, recent: np.ndarray = NONE
) -> Hyper:
    """The numbers as the loop wants them; what is remembered is copied, and lives on in there.

    `recent`: rows of the last labels asked for, where they are counted within a window.
    """
    fields = {name: float(choices.get(name, value)) for name, value in DEFAULTS.items()}
    more = [float(choices.get(name, value)) for name, value in MORE.items()]
    more += np.asarray(choices.get("own", ()), float).tolist()
    cost = np.asarray(choices.get("cost", np.zeros((0, 0))), float)
    numbers = np.array([*remembered.tolist(), *more, *recent.tolist()])
    return Hyper(**fields, outputs=outputs, cost=cost, numbers=numbers)


class Tally(NamedTuple):
    """What a stretch of rounds came to."""

    clock: int
    stopped: int  # position reached; before the end: that row is not finite
    loss: float
    mistakes: int  # emitted answer differs from the truth
    errors: int  # margin <= 0, the theory's count
    updates: int
