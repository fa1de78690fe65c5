"""The loop of paired rounds: score all members, choose who matters, one joint step for every output.

It reads as the learner with weights that corrects its mistakes: `specialise` rebinds the roles of a rule
(`rules`), and the five that know how a hypothesis is kept (`members`): `score`, `mean`, `inner`, `apart`,
`move`.
"""

from __future__ import annotations

import math
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from ...compiled.parts import Part, compose, part, specialise
from ...compiled.rows import bring
from ..losses import hinge as loss
from ..steps import pa1 as step
from ..vocabulary import (
    HIGHEST_NEGATIVE,
    IS_SHORT,
    LOWEST_POSITIVE,
    NEGATIVE_SUM,
    POSITIVE_SUM,
    POSITIVES,
    THRESHOLD,
    TINY,
    TRACE_ASKED,
    TRACE_GUESS,
    TRACE_LOSS,
    TRACE_STEP,
    TRACED,
    Round,
)
from .joint import correct_mistakes as solve_one
from .members import WITH_VECTORS, WITH_WEIGHTS, apart, inner, mean, move, score, score_some
from .rivals import Part as RoundPart
from .rivals import find_outputs, narrow, spread
from .rules import RULES
from .rules import any_short as short_of
from .rules import keep_thresholds as follow
from .rules import no_comparison as compares
from .rules import share_weighted as share
from .rules import unweighted as strength
from .rules import violates as matters
from .together import Columns, pull_all, step_together

SOON = 2  # so many rounds before its own a member is asked of memory


class PairedRounds(NamedTuple):
    """A block of rounds. Members are rows of the pool, or ARRIVAL: the row at hand."""

    rows: Any
    pool: Any
    marks: np.ndarray  # (rounds, outputs) of the arrivals: 1 for the labels it has
    pool_marks: np.ndarray  # (lines, outputs) of the others
    weights: np.ndarray  # (rounds,) or empty: 1
    pool_weights: np.ndarray  # (lines,) or empty: 1
    order: np.ndarray  # (rounds,) row numbers, or empty: first, first + 1, ...
    members: np.ndarray
    lines: np.ndarray  # of every member: where its marks and weight are
    starts: np.ndarray  # (rounds + 1,) where each round's members begin
    arrivals: np.ndarray  # (rounds,) the arrival's place among them
    classes: np.ndarray  # of every member: the class it was drawn for; empty: rounds stay as they are


class PairedHyper(NamedTuple):
    """What was chosen."""

    C: float
    margin: float
    grain: float  # a loss that is rounding
    rate: float  # of a Perceptron's step
    outputs: int
    sets: bool  # outputs are the labels of a set
    judged: bool  # answers are the averages'
    rivals: int  # classes that a round is narrowed down to (0: it is not); see `rivals`
    here: int  # outputs of the round at hand; all, where it is not narrowed down


class Scratch(NamedTuple):
    """Room for the largest round: a line per member; of the few that matter, what a rule wants."""

    scores: np.ndarray  # (members, outputs)
    signs: np.ndarray  # (members, outputs) +1 or -1
    lengths: np.ndarray  # (members,) |x|^2
    weights: np.ndarray  # (members,)
    stats: np.ndarray  # (6, outputs) what is known of a round, by the places of the vocabulary
    which: np.ndarray  # (2 members,) places of the few; and among them, of those that matter to one output
    pulls: np.ndarray  # (few, outputs)
    gram: np.ndarray  # (few * few,) inner products
    signed: np.ndarray  # (few * few,) the same with an output's signs
    margins: np.ndarray  # (few,) y_j s_j, as are the others
    shares: np.ndarray  # c_j
    alphas: np.ndarray
    chosen: np.ndarray
    positive: np.ndarray
    lane: np.ndarray  # one number per slot of the weights, 0 between uses
    held: np.ndarray  # (outputs,) the scores that are answered
    wide: Columns  # for steps of all outputs at once (empty where there is one)
    part: RoundPart  # the outputs of a round that is narrowed down: lines above have these columns then


@part
def bring_members(block, begin, end):
    """Members that lie anywhere in the pool will be read some rounds from now: memory is asked for them."""
    for j in range(begin, end):
        if block.members[j] >= 0:
            bring(block.pool, block.members[j])


@part
def survey(scores, signs, stats, count, outputs):
    """Of every output: positive members, sums of either side's scores, the worst of either side (-1: none).

    Members lie outside, outputs inside: lines are read as they lie.
    """
    for c in range(outputs):
        stats[POSITIVES, c] = stats[POSITIVE_SUM, c] = stats[NEGATIVE_SUM, c] = 0.0
        stats[LOWEST_POSITIVE, c] = stats[HIGHEST_NEGATIVE, c] = -1.0
    for j in range(count):
        for c in range(outputs):
            value = scores[j, c]
            if signs[j, c] > 0:
                stats[POSITIVES, c] += 1.0
                stats[POSITIVE_SUM, c] += value
                low = stats[LOWEST_POSITIVE, c]
                if low < 0.0 or value < scores[np.int64(low), c]:
                    stats[LOWEST_POSITIVE, c] = j
            else:
                stats[NEGATIVE_SUM, c] += value
                high = stats[HIGHEST_NEGATIVE, c]
                if high < 0.0 or value > scores[np.int64(high), c]:
                    stats[HIGHEST_NEGATIVE, c] = j


@part
def choose(scratch, count, hyper):
    """How many members matter to some output (their places are in `which`), and the least margin of all."""
    scores, signs, stats = scratch.scores, scratch.signs, scratch.stats
    least, few, any_short = math.inf, 0, False
    survey(scores, signs, stats, count, hyper.here)
    for c in range(hyper.here):
        gap, short = short_of(scores, stats, count, c, hyper)
        least = min(least, gap)
        stats[IS_SHORT, c] = 1.0 if short else 0.0
        any_short |= short
    if any_short:
        for j in range(count):
            for c in range(hyper.here):
                if stats[IS_SHORT, c] > 0.0 and matters(scores, signs, stats, j, c, hyper):
                    scratch.which[few] = j
                    few += 1
                    break
    return few, least


@part
def lay_out(scratch, mine, count, few, c, hyper):
    """Those of the few that matter to output c: places in `mine`; margins, weights, signs, Gram matrix.

    Returns how many.
    """
    scores, signs, stats, which = scratch.scores, scratch.signs, scratch.stats, scratch.which
    some = 0
    for i in range(few):
        if matters(scores, signs, stats, which[i], c, hyper):
            mine[some] = i
            some += 1
    for i in range(some):
        j = which[mine[i]]
        scratch.shares[i] = share(signs, scratch.weights, stats, count, j, c, hyper.outputs)
        scratch.positive[i] = signs[j, c] > 0
        scratch.margins[i] = signs[j, c] * scores[j, c]
        scratch.alphas[i] = 0.0
        for k in range(some):
            sign = signs[j, c] * signs[which[mine[k]], c]
            scratch.signed[i * some + k] = sign * scratch.gram[mine[i] * few + mine[k]]
    return some


@part
def solve(scratch, count, few, arrival, hyper):
    """pulls[i, c] = y_i c_i alpha_i of the few, for every output; |w' - w|, or -1 where nothing moves.

    The few come first in `which`; the rest of it is room for those that matter to one output.
    """
    signs, which, pulls = scratch.signs, scratch.which, scratch.pulls
    length, moves, mine = 0.0, False, which[count:]
    C = hyper.C * strength(scratch.weights, count, arrival)
    for i in range(few):
        for c in range(pulls.shape[1]):
            pulls[i, c] = 0.0
    for c in range(hyper.here):
        if scratch.stats[IS_SHORT, c] == 0.0:
            continue
        some = lay_out(scratch, mine, count, few, c, hyper)
        gram = scratch.signed[: some * some].reshape((some, some))
        shares, alphas = scratch.shares[:some], scratch.alphas[:some]
        solve_one(
            gram, scratch.margins[:some], scratch.positive[:some], shares, alphas, scratch.chosen[:some], C,
            hyper.margin, hyper.grain,
        )  # fmt: skip
        for i in range(some):
            place = mine[i]
            pulls[place, c] = signs[which[place], c] * shares[i] * alphas[i]
            moves |= alphas[i] != 0.0
            for k in range(i + 1):
                product = shares[i] * alphas[i] * shares[k] * alphas[k] * gram[i, k]
                length += product if i == k else 2.0 * product
    return math.sqrt(max(length, 0.0)) if moves else -1.0


@part
def move_few(space, block, scratch, row, begin, few, taken, hyper, clock):
    """Move by the pulls of the few, unless nothing moves."""
    if taken >= 0.0:
        for i in range(few):
            member, pull = block.members[begin + scratch.which[i]], scratch.pulls[i]
            if hyper.rivals:
                spread(pull, scratch.part, hyper.here)
                pull = scratch.part.line
            move(space, block, row, member, pull, clock + 1)


@part
def step_one_by_one(space, block, scratch, row, begin, count, few, arrival, hyper, clock):
    """Solve the problem of every output, and move; |w' - w|, or -1."""
    inner(space, block, scratch, row, begin, few)
    taken = solve(scratch, count, few, arrival, hyper)
    move_few(space, block, scratch, row, begin, few, taken, hyper, clock)
    return taken


@part
def step_jointly(space, block, scratch, row, begin, count, few, arrival, hyper, clock):
    """The same, for rules of one step: many outputs at once."""
    if space.weights.ndim == 1:
        return step_one_by_one(space, block, scratch, row, begin, count, few, arrival, hyper, clock)
    return step_together(space, block, scratch, row, begin, count, few, hyper, clock + 1)


@part
def pull_apart(signs, which, pulls, tau):
    """Two members are moved by, on either side of the one output."""
    for i in range(2):
        for c in range(pulls.shape[1]):
            pulls[i, c] = 0.0
        pulls[i, 0] = signs[which[i], 0] * tau


@part
def answer(scores, marks, t, middle, hyper):
    """The guess (+1 or -1, the highest, or, for sets, the bar 0), and whether it is wrong."""
    best, wrong = 0, False
    for c in range(hyper.outputs):
        if scores[c] - middle[THRESHOLD, c] > scores[best] - middle[THRESHOLD, best]:
            best = c
        wrong |= (scores[c] > middle[THRESHOLD, c]) != (marks[t, c] == 1)
    if hyper.sets:
        return 0.0, wrong
    if hyper.outputs == 1:
        guess = 1.0 if scores[0] >= middle[THRESHOLD, 0] else -1.0
        return guess, (guess > 0.0) != (marks[t, 0] == 1)
    return float(best), marks[t, best] != 1


@part
def introduce(signs, weights, j, marks, given, line, outputs):
    """A member's labels as signs, and its weight; `line` is where they are."""
    for c in range(outputs):
        signs[j, c] = 2 * marks[line, c] - 1
    weights[j] = given[line] if given.size else 1.0


@part
def least_margin(scores, marks, t, outputs):
    """The least margin of the arrival over all outputs."""
    least = math.inf
    for c in range(outputs):
        least = min(least, scores[c] if marks[t, c] == 1 else -scores[c])
    return least


@part
def gather(space, block, scratch, t, row, begin, count, arrival, outputs):
    """Scores, signs and weights of all members, the arrival's in `held` too; are all finite?"""
    scores, signs, weights = scratch.scores, scratch.signs, scratch.weights
    for j in range(count):
        scratch.lengths[j] = score(space, block, row, block.members[begin + j], scores[j])
        if not math.isfinite(scratch.lengths[j]):
            return False
        if j == arrival:
            introduce(signs, weights, j, block.marks, block.weights, t, outputs)
        else:
            line = block.lines[begin + j]
            introduce(signs, weights, j, block.pool_marks, block.pool_weights, line, outputs)
    for c in range(outputs):
        scratch.held[c] = scores[arrival, c]
    return True


@part
def gather_few(space, block, scratch, middle, t, row, begin, count, arrival, hyper):
    """The same of a round that is narrowed down, the arrival first: members, outputs (-1: not finite)."""
    scores, signs, weights, part = scratch.scores, scratch.signs, scratch.weights, scratch.part
    scratch.lengths[0] = score(space, block, row, block.members[begin + arrival], scratch.held)
    if not math.isfinite(scratch.lengths[0]):
        return count, -1
    count = narrow(block, scratch.held, middle, begin, count, arrival, compares(), scratch.which, hyper)
    bring_members(block, begin + 1, begin + count)
    here = find_outputs(block, part, begin, count, t, hyper.outputs, signs[0])
    weights[0] = block.weights[t] if block.weights.size else 1.0
    for i in range(here):
        scores[0, i], signs[0, i] = scratch.held[part.outputs[i]], 2 * block.marks[t, part.outputs[i]] - 1
    for j in range(1, count):
        line = block.lines[begin + j]
        scratch.lengths[j] = score_some(space, block, row, block.members[begin + j], part, here, scores[j])
        weights[j] = block.pool_weights[line] if block.pool_weights.size else 1.0
        for i in range(here):
            signs[j, i] = 2 * block.pool_marks[line, part.outputs[i]] - 1
    return count, here


def learn(block, space, hyper, clock, scratch, middle, trace, first, start, stop):
    """Rounds start .. stop - 1 of a block, summed up as a `Tally`; see `learn.rounds.learn`.

    The loss of a round is the arrival's, of the least margin over its outputs; where scores are compared,
    that of the pair.
    """
    signs, weights, outputs = scratch.signs, scratch.weights, hyper.outputs
    which, pulls = scratch.which, scratch.pulls
    total = 0.0
    mistakes = errors = updates = 0
    if not hyper.rivals:
        for c in range(outputs):
            scratch.part.outputs[c] = c
    for t in range(start, stop):
        row = block.order[t] if block.order.size else first + t
        if t + SOON < stop and not hyper.rivals:  # (of many classes few are read)
            bring_members(block, block.starts[t + SOON], block.starts[t + SOON + 1])
        begin, arrival = block.starts[t], block.arrivals[t]
        count, here = block.starts[t + 1] - begin, outputs
        if hyper.rivals:
            count, here = gather_few(
                space, block, scratch, middle, t, row, begin, count, arrival, hyper
            )  # fmt: skip
            arrival = 0
        elif not gather(space, block, scratch, t, row, begin, count, arrival, outputs):
            here = -1
        if here < 0:
            return clock, t, total, mistakes, errors, updates
        told = PairedHyper(
            hyper.C, hyper.margin, hyper.grain, hyper.rate, outputs, hyper.sets, hyper.judged, hyper.rivals,
            here,
        )  # fmt: skip
        least = least_margin(scratch.held, block.marks, t, outputs)
        if hyper.judged:
            mean(space, block, row, block.members[begin + arrival], scratch.held, clock)
        guess, wrong = answer(scratch.held, block.marks, t, middle, hyper)
        if trace.size:  # empty: nobody is watching
            for c in range(outputs):
                trace[t, TRACED + c] = scratch.held[c] - middle[THRESHOLD, c]
        seen = weights[arrival] > 0.0
        suffered, taken = 0.0, -1.0
        if seen:
            few, gap = choose(scratch, count, told)
            if few == 2 and compares() and outputs == 1:
                # one step on the difference: from inner products that of long rows would be all rounding
                one, two = block.members[begin + which[0]], block.members[begin + which[1]]
                length = apart(space, block, scratch, row, one, two)
                if length > TINY:
                    now = Round(row, clock + 1, strength(weights, count, arrival), 0.0, row)
                    tau = step(gap, hyper.margin - gap, 1.0, length, pulls[0], now, hyper)
                    pull_apart(signs, which, pulls, tau)
                    taken = tau * math.sqrt(length) if tau > 0.0 else -1.0
                    move_few(space, block, scratch, row, begin, few, taken, hyper, clock)
            elif few:  # passive otherwise
                taken = step_jointly(space, block, scratch, row, begin, count, few, arrival, told, clock)
            follow(scratch.stats, middle, scratch.part.outputs, count, here)
            least = gap if compares() else least
            suffered, _ = loss(least, hyper.margin)
            mistakes += wrong
            errors += least <= 0.0
            updates += taken >= 0.0
            clock += 1
        total += suffered
        if trace.size:
            trace[t, TRACE_GUESS], trace[t, TRACE_LOSS] = guess, suffered
            trace[t, TRACE_STEP] = max(taken, 0.0)
            trace[t, TRACE_ASKED] = 1.0 if seen else 0.0
    return clock, stop, total, mistakes, errors, updates


def _bound(name: str, rule: dict[str, Part], kept: dict[str, Part], form: str) -> dict[str, Part]:
    """What `learn` reads of a rule and of how the hypothesis is kept: parts, and those that read others."""
    full = f"{name}_{form}"
    laid = compose(lay_out, f"lay_out_{name}", matters=rule["matters"], share=rule["share"])
    more = {"lay_out": laid, "strength": rule["strength"], "solve_one": rule["solve_one"]}
    solved = compose(solve, f"solve_{name}", **more)
    moved = compose(move_few, f"move_few_{form}", **_some(kept, "move"))
    stepped = compose(
        step_one_by_one, f"step_one_by_one_{full}", solve=solved, move_few=moved, **_some(kept, "inner")
    )
    if name in AT_ONCE and not kept:
        together = compose(step_together, f"step_together_{name}", pull_all=_pulling(name, rule))
        stepped = compose(
            step_jointly, f"step_jointly_{full}", step_one_by_one=stepped, step_together=together
        )
    few = compose(
        gather_few, f"gather_few_{full}", compares=rule["compares"], **_some(kept, "score", "score_some")
    )
    return {
        "gather": compose(gather, f"gather_{form}", **_some(kept, "score")), "gather_few": few,
        "choose": compose(choose, f"choose_{name}", short_of=rule["short_of"], matters=rule["matters"]),
        "step_jointly": stepped, "move_few": moved,
        **{role: rule[role] for role in ("strength", "compares", "loss", "step", "follow")},
        **_some(kept, "mean", "apart"),
    }  # fmt: skip


def _some(parts: dict[str, Part], *names: str) -> dict[str, Part]:
    return {name: parts[name] for name in names if name in parts}


def _pulling(name: str, rule: dict[str, Part]) -> Part:
    return compose(pull_all, f"pull_all_{name}", matters=rule["matters"])


AT_ONCE = ("correct_mistakes", "max_violators")


@cache
def _roles(rule: str, with_vectors: bool) -> dict[str, Part]:
    """Bound when it is first played: most processes never do."""
    kept, form = (WITH_VECTORS, "vectors") if with_vectors else (WITH_WEIGHTS, "weights")
    return _bound(rule, RULES[rule], kept, form)


def player(rule: str, kept: dict[str, Part]) -> Part:
    """The compiled loop of a rule; `kept` are the roles of a hypothesis that is not kept in weights."""
    return specialise(learn, **_roles(rule, bool(kept)))
