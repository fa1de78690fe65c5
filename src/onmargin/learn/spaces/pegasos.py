"""Pegasos' Space: w = prior + z / (lam (t - 1)), z being the sum of the steps so far.

Nothing is ever shrunk: the factor follows from the round, so a step costs O(nonzeros). z is kept as
sigma nu, because projecting w on a ball scales z; the average of w_1 .. w_T follows from
a nu + drift = sum_t z_t / (t - 1), a by harmonic numbers. In mini-batches t counts batches, and a batch
scores by nu as it found it: its moves wait (`late`) until it is over. Where a block of rounds ends before, or
there is no room for more, they are made, and what they change is put aside (`before`, valid where `stamp`
bears the batch's number; a batch that begins with a dense row puts all of nu aside, and the last stamp says
so: its number and a half).
Shalev-Shwartz, Singer, Srebro & Cotter 2011; the lazy forms are ours.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from ...compiled.lanes import flattened
from ...compiled.one_output import entry, pulled, put
from ...compiled.outputs import add_rows, add_scores, score_round, squared
from ...compiled.parts import formula, part, routine
from ...compiled.rows import is_dense, item, span
from ...compiled.stamped import copy_slot, score_stamped
from ..series import grid_after, harmonic
from ..vocabulary import (
    ANCHOR,
    BATCH,
    FREE_BIAS,
    LAM,
    LATE_BEGINS,
    LATE_LENGTH,
    LATE_ROW,
    LATE_STEP,
    NOTED_LATE,
    NOTED_LENGTH,
    PEGASOS_LAST,
    PEGASOS_LENGTH,
    PEGASOS_MOVES,
    PEGASOS_SIGMA,
    PEGASOS_SPREAD,
    RADIUS,
    SUFFIX,
    SUFFIX_EARLY,
    SUFFIX_LATER,
    SUFFIX_NEXT,
)
from .arrays import LEDGER, LINES, MARK, NOTE, ROWS, SLOT, Field, Space
from .linear import size

LEAST_SIGMA = 0.01  # the least sigma
EXACT_FOR = 10_000  # moves after which |z|^2 is summed anew
WHOLE = 0.5  # the last stamp is by so much more than its batch where all of nu was put aside


class Shrunk(NamedTuple):
    """nu, and what averages, mini-batches, a prior and a dual certificate need."""

    weights: np.ndarray
    drift: np.ndarray
    prior: np.ndarray
    before: np.ndarray
    stamp: np.ndarray
    early: np.ndarray
    later: np.ndarray
    hits: np.ndarray  # coefficient of each row of the table being fitted
    ledger: np.ndarray
    notes: np.ndarray
    late: np.ndarray  # moves that wait
    pulls: np.ndarray  # and their directions


FIELDS = {
    "weights": Field(SLOT, exact=False),
    "drift": Field(SLOT, average=True),
    "prior": Field(SLOT, wanted="prior"),
    "before": Field(SLOT, wanted="batch"),
    "stamp": Field(MARK, wanted="batch"),
    "early": Field(SLOT, wanted="suffix"),
    "later": Field(SLOT, wanted="suffix"),
    "hits": Field(ROWS),
    "ledger": Field(LEDGER, begins=(1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0), least=0.0),
    "notes": Field(NOTE),
    "late": Field(LINES, wanted="batch", begins=(0.0, 0.0, 0.0, 0.0), scratch=True, follows=True),
    "pulls": Field(LINES, wanted="batch", scratch=True, follows=True),
}


# ---- scalars that follow from the ledger and the round, in the loop and in plain Python alike


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


# ---- the parts


@part
def score_sum(space, rows, now, t, scores):
    """scores[k] = <nu_k, x> as batch t found nu; returns |x|^2."""
    last, waits = space.stamp.shape[0] - 1, space.notes[NOTED_LATE] > 0.0
    if not space.stamp.size or space.ledger[PEGASOS_LAST] != t or (waits and is_dense(rows)):
        return score_round(rows, now, space.weights, scores)
    if waits:  # (summed in the order in which it is where something is put aside)
        return score_stamped(rows, now.row, space.weights, space.before, space.stamp, t, False, scores)
    if space.stamp[last] == t + WHOLE:
        return score_round(rows, now, space.before, scores)
    return score_stamped(rows, now.row, space.weights, space.before, space.stamp, t, True, scores)


@part
def score(space, rows, now, hyper, scores):
    """s_k = <prior_k + z_k / (lam (t - 1)), x>"""
    t = turn(now.clock, hyper.numbers[BATCH])
    if t != space.ledger[PEGASOS_LAST] and space.notes[NOTED_LATE] > 0.0:
        catch_up(space, rows, hyper, False)
    space.notes[NOTED_LENGTH] = score_sum(space, rows, now, t, scores)
    factor = factor_at(space.ledger, t, hyper.numbers[RADIUS] * hyper.numbers[LAM], hyper.numbers[LAM])
    for k in range(hyper.outputs):
        scores[k] *= factor
    if hyper.numbers[FREE_BIAS] > 0.0:
        last = space.weights.shape[0] - 1
        for k in range(hyper.outputs):
            own = entry(space.weights, last, k)
            if space.stamp.size and space.stamp[last] >= t:
                own = entry(space.before, last, k)
            scores[k] += (1.0 - factor) * rows.bias * own
    if space.prior.size:
        add_scores(rows, now.row, space.prior, scores, 1.0)


@part
def keep_sums(space, weights, drift, ledger, t, reach, suffix, anchor, free):
    """Suffix averages: the sums up to the rounds of the grid that are over. `weights` and `drift` are flat.

    A `free` constant coordinate is never shrunk: of it the sum up to round m is m b - drift.
    """
    early, later, last = flattened(space.early), flattened(space.later), space.later.shape[0] - 1
    if ledger[SUFFIX_NEXT] == 0.0:
        ledger[SUFFIX_NEXT] = grid_after(0.0, suffix, anchor)
    while math.floor(ledger[SUFFIX_NEXT] + 1e-6) < t:
        mark = math.floor(ledger[SUFFIX_NEXT] + 1e-6)
        spread = spread_at(ledger, mark, reach)
        for i in range(early.shape[0]):
            early[i] = later[i]
            later[i] = spread * weights[i] + drift[i]
        if free:
            for k in range(later.shape[0] // (last + 1)):
                told = mark * entry(space.weights, last, k) - entry(space.drift, last, k)
                put(space.later, last, k, told)
        ledger[SUFFIX_EARLY], ledger[SUFFIX_LATER] = ledger[SUFFIX_LATER], mark
        ledger[SUFFIX_NEXT] = grid_after(ledger[SUFFIX_NEXT], suffix, anchor)


@part
def begin_batch(weights, drift, ledger, t, reach):
    """The first move of batch t: settle what the batches since the last move came to.

    Where sigma has become small, nu takes it in, and a nu goes into the drift: digits would be lost.
    """
    sigma, spread = sigma_at(ledger, t, reach), spread_at(ledger, t, reach)
    if sigma != ledger[PEGASOS_SIGMA]:
        ledger[PEGASOS_LENGTH] = (reach * ledger[PEGASOS_LAST]) ** 2
    if sigma < LEAST_SIGMA:
        for i in range(drift.shape[0]):
            drift[i] += spread * weights[i]
        for i in range(weights.shape[0]):
            weights[i] *= sigma
        sigma, spread = 1.0, 0.0
    ledger[PEGASOS_SIGMA], ledger[PEGASOS_SPREAD], ledger[PEGASOS_LAST] = sigma, spread, t


@part
def sum_anew(weights, ledger):
    """|z|^2 to the last bit, now and then."""
    ledger[PEGASOS_MOVES] += 1.0
    if ledger[PEGASOS_MOVES] >= EXACT_FOR:
        total = 0.0
        for i in range(weights.shape[0]):
            total += weights[i] * weights[i]
        ledger[PEGASOS_LENGTH] = total * ledger[PEGASOS_SIGMA] ** 2
        ledger[PEGASOS_MOVES] = 0.0


@part
def put_aside(rows, row, weights, before, stamp, t, begins):
    """What a move of batch t is about to change, as the batch found it; of a dense row that is everything."""
    last = stamp.shape[0] - 1
    if begins and is_dense(rows):
        found, kept = flattened(weights), flattened(before)
        for i in range(kept.shape[0]):
            kept[i] = found[i]
        stamp[last] = t + WHOLE
    if stamp[last] != t + WHOLE:
        start, stop = span(rows, row)
        for j in range(start, stop + 1):
            slot = np.uint64(last)
            if j < stop:
                place, _ = item(rows, row, j)
                slot = np.uint64(place)
            if stamp[slot] != t:
                copy_slot(rows, weights, before, slot)
                stamp[slot] = t


@part
def move(space, rows, now, pull, step, margin, hyper):
    """z_k += step pull[k] x"""
    ledger, reach = space.ledger, hyper.numbers[RADIUS] * hyper.numbers[LAM]
    weights, drift = flattened(space.weights), flattened(space.drift)
    t = turn(now.clock, hyper.numbers[BATCH])
    if space.early.size:
        suffix, anchor, free = hyper.numbers[SUFFIX], hyper.numbers[ANCHOR], hyper.numbers[FREE_BIAS] > 0.0
        keep_sums(space, weights, drift, ledger, t, reach, suffix, anchor, free)
    begins = t > ledger[PEGASOS_LAST]
    if begins:
        begin_batch(weights, drift, ledger, t, reach)
    length = space.notes[NOTED_LENGTH]
    if not space.stamp.size:
        change(space, rows, now.row, pull, step, length, hyper)
        return step
    waits = begins or space.notes[NOTED_LATE] > 0.0  # not where a block before has put aside for this batch
    wait(space, now.row, pull, step, length, begins)
    if not waits or space.notes[NOTED_LATE] == space.late.shape[0]:
        catch_up(space, rows, hyper, True)
    return step


@part
def wait(space, row, pull, step, length, begins):
    """A move is made later, by `catch_up`."""
    line = int(space.notes[NOTED_LATE])
    late, later = space.late[line], space.pulls[line]
    late[LATE_ROW], late[LATE_STEP], late[LATE_LENGTH] = row, step, length
    late[LATE_BEGINS] = 1.0 if begins else 0.0
    for k in range(pull.shape[0]):
        later[k] = pull[k]
    space.notes[NOTED_LATE] += 1.0


@routine
def catch_up(space, rows, hyper, goes_on):
    """The moves that wait, in their order; where their batch goes on, what they change is put aside."""
    t = space.ledger[PEGASOS_LAST]
    for line in range(int(space.notes[NOTED_LATE])):
        late, pull = space.late[line], space.pulls[line]
        row = int(late[LATE_ROW])
        if goes_on:
            put_aside(rows, row, space.weights, space.before, space.stamp, t, late[LATE_BEGINS] > 0.0)
        change(space, rows, row, pull, late[LATE_STEP], late[LATE_LENGTH], hyper)
    space.notes[NOTED_LATE] = 0.0


@part
def finish(space, rows, hyper, clock):
    """A block of rounds is over."""
    if space.notes[NOTED_LATE] > 0.0:
        t = turn(clock + 1, hyper.numbers[BATCH])
        catch_up(space, rows, hyper, t == space.ledger[PEGASOS_LAST])


@part
def change(space, rows, row, pull, step, length, hyper):
    """z_k += step pull[k] x, in the batch of the last move; `length` is |x|^2."""
    ledger, reach = space.ledger, hyper.numbers[RADIUS] * hyper.numbers[LAM]
    t, far = ledger[PEGASOS_LAST], step / ledger[PEGASOS_SIGMA]
    if reach < math.inf:
        inner = ledger[PEGASOS_SIGMA] * pulled(rows, row, space.weights, pull)
        ledger[PEGASOS_LENGTH] += 2.0 * step * inner + step * step * (squared(pull) * length)
    add_rows(rows, row, space.weights, pull, far)
    if reach < math.inf:
        sum_anew(flattened(space.weights), ledger)
    if space.drift.size:
        add_rows(rows, row, space.drift, pull, -ledger[PEGASOS_SPREAD] * far)
    if hyper.numbers[FREE_BIAS] > 0.0:
        spread, share = ledger[PEGASOS_SPREAD], 1.0 / (hyper.numbers[LAM] * t)
        move_free(space.weights, space.drift, spread, rows.bias * step, pull, hyper.outputs, t, share)
    if space.hits.size:
        for k in range(hyper.outputs):
            if pull[k] != 0.0:
                put(space.hits, row, k, entry(space.hits, row, k) + step * pull[k])


@part
def move_free(weights, drift, spread, far, pull, outputs, t, share):
    """The constant coordinate unregularised: b += step pull / (lam t), never shrunk."""
    last = weights.shape[0] - 1
    for k in range(outputs):
        if pull[k] != 0.0:
            added = far * pull[k]
            put(weights, last, k, entry(weights, last, k) - added + added * share)
            if drift.size:
                put(drift, last, k, entry(drift, last, k) + spread * added + t * added * share)


@part
def mean(space, rows, now, hyper, scores):
    """Scores by the average of w_1 .. w_T (or of the last of them)."""
    if now.clock == 1:
        return
    ledger, reach = space.ledger, hyper.numbers[RADIUS] * hyper.numbers[LAM]
    t = turn(now.clock - 1, hyper.numbers[BATCH])
    which, start = 0, 0.0
    if space.early.size:
        which, start = suffix_start(ledger, t, hyper.numbers[SUFFIX], hyper.numbers[ANCHOR])
    each = 1.0 / (hyper.numbers[LAM] * (t - start))
    share = spread_at(ledger, t, reach)
    whole = 1.0
    if which == 2:
        share -= spread_at(ledger, start, reach)
        whole = 0.0
    for k in range(hyper.outputs):
        scores[k] = 0.0
    add_scores(rows, now.row, space.weights, scores, share * each)
    add_scores(rows, now.row, space.drift, scores, whole * each)
    if space.early.size and which < 2:
        add_scores(rows, now.row, space.early if which == 0 else space.later, scores, -each)
    if hyper.numbers[FREE_BIAS] > 0.0:
        last = space.weights.shape[0] - 1
        for k in range(hyper.outputs):
            own, gone = entry(space.weights, last, k), entry(space.drift, last, k)
            left, told = (
                start * own - gone,
                share * own + whole * gone,
            )  # of what is left out; of what was added
            if space.early.size and which < 2:
                left = entry(space.early if which == 0 else space.later, last, k)
                told -= left
            elif which < 2:
                left = 0.0
            scores[k] += rows.bias * ((t * own - gone - left) / (t - start) - each * told)
    if space.prior.size:
        add_scores(rows, now.row, space.prior, scores, 1.0)


def put_aside_in(arrays, t):
    """Which slots of `before` hold what batch t found."""
    return (arrays.stamp == t) | (arrays.stamp[-1] == t + WHOLE)


def spelled_out(arrays, clock, hyper):
    """The weights that predict the next round."""
    t = turn(clock + 1, hyper.numbers[BATCH])
    own = arrays.weights.astype(np.float64)
    if arrays.stamp.size:
        aside = put_aside_in(arrays, t)
        own[aside] = arrays.before[aside]
    weights = (
        factor_at(arrays.ledger, t, hyper.numbers[RADIUS] * hyper.numbers[LAM], hyper.numbers[LAM]) * own
    )
    if hyper.numbers[FREE_BIAS]:
        weights[-1] = own[-1]
    return np.asarray(weights + arrays.prior if arrays.prior.size else weights)


def averaged(arrays, clock, hyper, weights):
    """The average of the weights that predicted, or of the last of them."""
    if clock == 0:
        return weights
    t, reach = turn(clock, hyper.numbers[BATCH]), hyper.numbers[RADIUS] * hyper.numbers[LAM]
    total = spread_at(arrays.ledger, t, reach) * arrays.weights + arrays.drift
    start, left = 0.0, 0.0
    if arrays.early.size:
        which, start = suffix_start(arrays.ledger, t, hyper.numbers[SUFFIX], hyper.numbers[ANCHOR])
        new = spread_at(arrays.ledger, start, reach) * arrays.weights + arrays.drift
        total = total - (arrays.early, arrays.later, new)[which]
        free = start * arrays.weights[-1] - arrays.drift[-1]
        left = (arrays.early[-1], arrays.later[-1], free)[which]
    mean = total / (hyper.numbers[LAM] * (t - start))
    if hyper.numbers[FREE_BIAS]:
        mean[-1] = (t * arrays.weights[-1] - arrays.drift[-1] - left) / (t - start)
    return np.asarray(mean + arrays.prior if arrays.prior.size else mean)


def settle(arrays, hyper, clock):
    """|z|^2 after the arrays took on another shape; a ball that is due is entered first."""
    ledger = arrays.ledger
    ledger[PEGASOS_SIGMA] = sigma_at(
        ledger, turn(clock + 1, hyper.numbers[BATCH]), hyper.numbers[RADIUS] * hyper.numbers[LAM]
    )
    weights = arrays.weights.astype(np.float64)
    arrays.ledger[PEGASOS_LENGTH] = arrays.ledger[PEGASOS_SIGMA] ** 2 * float(np.sum(weights * weights))


def within_grid(arrays, hyper, clock, count):
    """A projection may scale all of nu; a suffix average copies all of it after a round of its grid.

    (A batch that begins with a dense row puts all of nu aside: only sparse rows are taken to be local.)
    """
    if not arrays.early.size or hyper.numbers[RADIUS] < math.inf:
        return hyper.numbers[RADIUS] == math.inf
    return arrays.ledger[SUFFIX_NEXT] >= turn(clock + count, hyper.numbers[BATCH])


def without_stale(arrays, clock, hyper):
    """Zeros where a batch that is over put something aside: whether it did depends on how blocks were cut."""
    if not arrays.stamp.size:
        return arrays
    t = turn(clock + 1, hyper.numbers[BATCH])
    aside, stamp = put_aside_in(arrays, t), arrays.stamp
    fresh = (stamp == t) | (stamp == t + WHOLE)
    before = np.where(aside.reshape(aside.shape + (1,) * (arrays.before.ndim - 1)), arrays.before, 0.0)
    return arrays._replace(before=before, stamp=np.where(fresh, stamp, 0.0))


def from_pending(arrays):
    """A file's arrays; earlier ones held what the batch at hand had added, which `before` is nu without."""
    kept = dict(arrays)
    pending, weights = kept.pop("pending", None), kept.get("weights")
    if pending is None or weights is None or (pending.size and pending.shape != weights.shape):
        return arrays  # (which says what is missing)
    with np.errstate(over="ignore", invalid="ignore"):  # (what is not finite is refused by whoever compares)
        return kept | {"before": weights.astype(np.float64) - pending if pending.size else pending}


SHRUNK = Space(
    "shrunk", Shrunk, FIELDS, score, size, move, mean, spelled_out, averaged, settle, local=within_grid,
    either_way=True, older=from_pending, written=without_stale, finish=finish,
)  # fmt: skip
