"""What the loop is handed: examples, round, scratch, numbers; and the table of array places.

NamedTuples live in an importable module so that Numba can cache. Absent is empty: optional arrays have
length 0, which is one branch, not a second specialisation.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

NONE = np.zeros(0)
NO_ORDER = np.zeros(0, np.int64)
NO_TRACE = np.zeros((0, 0))
TINY = 2.3e-308  # a size below this has no finite reciprocal: as good as 0

# ---- The table of array places: every index into `Hyper.numbers`, into a Space's ledger, into the sums of a
# paired round and into a line of the trace. Each group counts from 0; a name exists once in the package.

# `Hyper.numbers`, what is remembered from round to round
BAR = 0  # label sets: the threshold above which a label is in the set
SEEN = 1  # rounds that the threshold has seen
KNOWN = 2  # features known
BIASED = 3  # 1 where the constant coordinate is in use
SHOWN = 4  # learners that ask: rows they were shown
ASKED = 5  # labels asked for
DRIFTED = 6  # the logarithm of what delta is multiplied by
MOVES = 7  # moves made, where they are counted
LONGEST = 8  # the longest |x|^2 moved by
FADED = 9  # the round from which on a learner that forgets counts its fading
# what was chosen (`MORE` below, in this order)
DECAY = 10  # the rate of round t is rate / t^decay (0 or 1/2)
LAM = 11  # Pegasos: lam; the shifting Perceptron: its lam
BATCH = 12  # Pegasos: rounds that share a hypothesis
RADIUS = 13  # radius of the ball that w stays in (inf: none)
FREE_BIAS = 14  # 1 for a constant coordinate that is not regularised
SUFFIX = 15  # share of the last hypotheses that is averaged
ANCHOR = 16  # round after which that share is exact
Q = 17  # dual exponent of a p-norm
LINK_SCALE = 18  # a of g = |w|^2 / (2a), or the size of a simplex
L1 = 19  # soft threshold
DELTA = 20  # AdaGrad's offset, or the coin's first wealth
TOLERANCE = 21  # kernel learners with few vectors: how far from their span is far
ROOM = 22  # how many vectors there may be
ROUNDING = 23  # the share of k(x, x) below which a distance is rounding
ASK_RULE = 24  # the rule of asking
ASK_DELTA = 25  # its delta
ASK_CHANCE = 26  # its probability
ASK_MOST = 27  # how many labels it may ask for
ASK_WITHIN = 28  # within so many rows (then the rows of the last labels stand at the very end)
ASK_SHARE = 29  # the share it aims at
FORGET = 30  # what remains of a hypothesis after a round
FARTHEST = 31  # the squared length of the farthest move: beyond it numbers might overflow
PLAYED = 32  # the clock after the last rounds that were played to their end
MEAN_AFTER = 33  # 1 where the average is of the weights after each round, 0: of those that predicted
USER_NUMBERS = 34  # from here on the numbers of a user's own parts

# A line of the trace
TRACE_GUESS = 0  # what was answered
TRACE_LOSS = 1  # what was suffered
TRACE_STEP = 2  # how far w moved
TRACE_ASKED = 3  # 1 where the label was asked for, -1 where it was not, 0 where the round was not seen
TRACED = 4  # from here on the scores

# Pegasos' ledger
PEGASOS_SIGMA = 0  # z = sigma nu
PEGASOS_LENGTH = 1  # |z|^2
PEGASOS_SPREAD = 2  # a of the average: a nu + drift = sum of z_t / (t - 1)
PEGASOS_LAST = 3  # the batch of the last move
PEGASOS_MOVES = 4  # moves since |z|^2 was exact
SUFFIX_EARLY = 5  # suffix averages: the round that `early` sums up to
SUFFIX_LATER = 6  # the round that `later` sums up to
SUFFIX_NEXT = 7  # the next such round

# The coin's ledger
COIN_WEALTH = 0  # wealth over the first wealth
COIN_LARGEST = 1  # the largest |z| met
COIN_SPREAD = 2  # sum of Omega_t / t
COIN_LAST = 3  # the round of the last move

# The ledger of weights that fade
FADING_SCALE = 0  # w = scale v
FADING_MOVES = 1  # moves so far
FADING_LENGTH = 2  # |w|^2

# The ledger of norms that bind all coordinates
NORM_TOP = 0  # a gauge that was the largest
NORM_SUM = 1  # sum of the terms, relative to it
NORM_COUNT = 2  # coordinates in the sum
NORM_WORK = 3  # changes since the sum was exact
NORM_LAST = 4  # the round of the last move

# The ledger of sums over vectors
VECTORS = 0  # how many are kept
CENTER_SCALE = 1  # the centre of a ball (or the shifting Perceptron) is scale nu
CENTER_LENGTH = 2  # |centre|^2
CENTER_SPREAD = 3  # sum of the scales of the rounds so far
CENTER_LAST = 4  # the round of its last move
OMEGA = 5  # the learned radius' coordinate
OMEGAS = 6  # sum of the omegas of the rounds so far
FOLDED = 7  # what older coefficients were multiplied by
FOLDED_SHARE = 8  # what the drift took of them
OLDEST = 9  # Forgetron: the slot of the oldest vector
QUOTA = 10  # Forgetron: Q, the damage done by shrinking
FORGETRON_MISTAKES = 11  # Forgetron and shifting Perceptron: M, the mistakes made
LEDGER_LENGTH = 12  # (how long it is)

# The running thresholds of paired learners that compare scores (lines of `middle`)
THRESHOLD = 0  # the mean middle between the two sides' scores
THRESHOLD_ROUNDS = 1  # rounds it was seen in

# What is known of every output in a paired round (lines of `Scratch.stats`)
POSITIVES = 0  # how many members are positive
POSITIVE_SUM = 1  # the sum of their scores
NEGATIVE_SUM = 2  # the sum of the others' scores
LOWEST_POSITIVE = 3  # which positive member scores lowest (-1: there is none)
HIGHEST_NEGATIVE = 4  # which negative member scores highest (-1: there is none)
IS_SHORT = 5  # 1 where the margin is too small

# What the rewards of actions came to (`BanditModel.sums`)
REWARD_COUNT = 0  # rounds whose reward is known
REWARD_SUM = 1  # what was earned in them
REWARD_ESTIMATE = 2  # what the best class alone would have earned: rewards over P where it was played

# A move that waits for the end of its mini-batch (lines of `late`)
LATE_ROW = 0  # its row
LATE_STEP = 1  # how far
LATE_LENGTH = 2  # |x|^2
LATE_BEGINS = 3  # 1 where it is the first of its batch

# Pegasos' notes
NOTED_LENGTH = 0  # |x|^2 of the row at hand
NOTED_LATE = 1  # how many moves wait

REMEMBERED = DECAY  # so many of `Hyper.numbers` are remembered, the others chosen


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
    following: int  # the row of the next round, where it is known: memory may be asked for it


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


# What a number is where the user has no say in it: the fields of `Hyper`, and those in `numbers`.
DEFAULTS = {"C": 1.0, "margin": 1.0, "epsilon": 0.0, "rate": 1.0, "phi": 1.0}
MORE = {
    "decay": 0.0, "lam": 1.0, "batch": 1.0, "radius": math.inf, "free": 0.0, "suffix": 1.0, "anchor": 1.0,
    "q": 2.0, "scale": 1.0, "l1": 0.0, "delta": 1.0, "tolerance": 0.0, "room": math.inf, "grain": 1e-8,
    "ask_rule": 0.0, "ask_delta": 1.0, "ask_chance": 1.0, "ask_most": math.inf, "ask_within": math.inf,
    "ask_share": 0.0, "forget": 1.0, "farthest": 1e200, "played": 0.0, "mean_after": 0.0,
}  # fmt: skip


NO_COST = np.zeros((0, 0))


def hyper_of(
    choices: dict[str, Any], outputs: int, remembered: np.ndarray, recent: np.ndarray = NONE
) -> Hyper:
    """The numbers as the loop wants them; what is remembered is copied, and lives on in there.

    `recent`: rows of the last labels asked for, where they are counted within a window.
    """
    fields, more = dict(DEFAULTS), dict(MORE)
    for name, value in choices.items():
        if name in fields:
            fields[name] = float(value)
        elif name in more:
            more[name] = float(value)
    own = np.asarray(choices.get("own", NONE), float)
    cost = np.asarray(choices.get("cost", NO_COST), float)
    numbers = np.concatenate((remembered, tuple(more.values()), own, recent))
    return Hyper(**fields, outputs=outputs, cost=cost, numbers=numbers)


def alike(numbers: dict[str, Any], others: dict[str, Any]) -> bool:
    """Surely the same? (Arrays are, where they are one.)"""
    if numbers.keys() != others.keys():
        return False
    pairs = ((value, others[name]) for name, value in numbers.items())
    return all(one is other or (isinstance(one, float | int) and one == other) for one, other in pairs)


class Tally(NamedTuple):
    """What a stretch of rounds came to."""

    clock: int
    stopped: int  # position reached; before the end: that row is not finite
    loss: float
    mistakes: int  # emitted answer differs from the truth
    errors: int  # margin <= 0, the theory's count
    updates: int
