"""The loop, written once: score, see the demand, suffer the loss, step, move; and its answers.

It reads as one concrete algorithm (binary PA-I) because its roles are imported under role names;
`specialise` rebinds those names.
"""

from __future__ import annotations

import math

from ..compiled.rows import bring
from .losses import hinge as loss
from .queries import always as ask
from .spaces.arrays import nothing_waits as finish
from .spaces.arrays import score_less_drift as mean
from .spaces.linear import move, score, size
from .steps import pa1 as step
from .tasks.classes import binary as demand
from .tasks.classes import differs as wrong
from .tasks.classes import sign as decide
from .vocabulary import (
    FARTHEST,
    NO_ORDER,
    NONE,
    PLAYED,
    TINY,
    TRACE_ASKED,
    TRACE_GUESS,
    TRACE_LOSS,
    TRACE_STEP,
    TRACED,
    Examples,
    Round,
)

SOON = 3  # so many rounds before its own a row out of order is asked of memory
ROLES = ("decide", "demand", "wrong", "loss", "step", "score", "size", "move", "finish", "ask")


def learn(examples, space, hyper, clock, desk, trace, first, start, stop):
    """Rounds start .. stop - 1 of a block, summed up as a `Tally`.

    Round t is on row `order[t]`, or `first + t` where no order is given.

    Stops early at a row whose squared length or loss is not finite, or that would move too far for
    numbers to stay finite, before anything was learned from it.
    """
    rows, targets, weights, chance, order = examples
    scores, pull = desk.scores, desk.pull
    total = 0.0
    mistakes = errors = updates = 0
    stopped = stop
    for t in range(start, stop):
        row, following = first + t, first + t + 1
        if order.size:
            row, following = order[t], order[min(t + 1, stop - 1)]
            bring(rows, order[min(t + SOON, stop - 1)])
        weight = weights[t] if weights.size else 1.0
        seen = weight > 0.0  # a weight of 0: a round that is not seen
        now = Round(row, clock + 1, weight, chance[t] if chance.size else 0.0, following)
        score(space, rows, now, hyper, scores)
        if not math.isfinite(space.notes[0]):
            stopped = t
            break
        guess = decide(scores, now, hyper)
        asked = seen and ask(space, scores, now, hyper)
        suffered = taken = 0.0
        if seen:  # an answer that was wrong is a mistake, whether the label was asked for or not
            clock += 1
            mistakes += wrong(scores, targets[t], guess, hyper)
        if asked:  # otherwise the target is not learned from
            target = targets[t]
            margin, required = demand(scores, target, guess, hyper, pull)
            slope = 0.0
            if margin != math.inf:  # nothing is demanded of an empty or a full set of labels
                suffered, slope = loss(margin, required)
            if not math.isfinite(suffered) or margin != margin:  # steps that feed on themselves
                clock, stopped = clock - 1, t
                break
            errors += margin <= 0.0
            if slope != 0.0:  # passive otherwise
                length = size(space, rows, now, pull, hyper)
                if length > TINY:  # an empty row moves nothing
                    taken = step(margin, suffered, slope, length, pull, now, hyper)
                    if not taken * taken * length <= hyper.numbers[FARTHEST]:
                        clock, stopped = clock - 1, t
                        break
                    if taken != 0.0:
                        taken = move(space, rows, now, pull, taken, margin, hyper)
                        updates += taken != 0.0
        total += suffered
        if trace.size:  # empty: nobody is watching
            trace[t, TRACE_GUESS], trace[t, TRACE_LOSS], trace[t, TRACE_STEP] = guess, suffered, taken
            trace[t, TRACE_ASKED] = 1.0 if asked else (-1.0 if seen else 0.0)
            for k in range(trace.shape[1] - TRACED):
                trace[t, TRACED + k] = scores[k]
    finish(space, rows, hyper, clock)
    if stopped == stop:
        hyper.numbers[PLAYED] = clock
    return clock, stopped, total, mistakes, errors, updates


def learn_one(rows, target, space, hyper, clock, desk, targets, trace):
    """One round of weight 1 on the only row: the clock after it, or -1: refused. The last two are scratch."""
    targets[0] = target
    done = learn(Examples(rows, targets, NONE, NONE, NO_ORDER), space, hyper, clock, desk, trace, 0, 0, 1)
    return done[0] if done[1] else -1


def answer(rows, space, hyper, clock, scores, out, first, count):
    """out[t] = the scores of row first + t; how many were done (fewer: the next is not finite)."""
    for t in range(count):
        score(space, rows, Round(first + t, clock + 1, 1.0, 0.0, first + t + 1), hyper, scores)
        if not math.isfinite(space.notes[0]):
            return t
        for k in range(out.shape[1]):
            out[t, k] = scores[k]
    return count


def answer_mean(rows, space, hyper, clock, scores, out, first, count):
    """`answer` by the averaged weights."""
    for t in range(count):
        now = Round(first + t, clock + 1, 1.0, 0.0, first + t + 1)
        score(space, rows, now, hyper, scores)
        if not math.isfinite(space.notes[0]):
            return t
        mean(space, rows, now, hyper, scores)
        for k in range(out.shape[1]):
            out[t, k] = scores[k]
    return count


def answer_one(rows, space, hyper, scores, clock):
    """The guess for the only row; NaN where it is not finite."""
    now = Round(0, clock + 1, 1.0, 0.0, 0)
    score(space, rows, now, hyper, scores)
    if not math.isfinite(space.notes[0]):
        return math.nan
    return decide(scores, now, hyper)


def answer_one_mean(rows, space, hyper, scores, clock):
    """`answer_one` by the averaged weights."""
    now = Round(0, clock + 1, 1.0, 0.0, 0)
    score(space, rows, now, hyper, scores)
    if not math.isfinite(space.notes[0]):
        return math.nan
    mean(space, rows, now, hyper, scores)
    return decide(scores, now, hyper)


def judged(examples, space, hyper, clock, desk, held, trace, first, start, stop):
    """`learn`, but the trace and the mistakes are those of the averaged weights. `held` is scratch."""
    rows, targets, order, scores = examples.rows, examples.targets, examples.order, desk.scores
    total = 0.0
    mistakes = errors = updates = 0
    for t in range(start, stop):
        row = order[t] if order.size else first + t
        now = Round(row, clock + 1, 1.0, 0.0, row)
        score(space, rows, now, hyper, scores)
        mean(space, rows, now, hyper, scores)
        for k in range(hyper.outputs):
            held[k] = scores[k]
        guess = decide(scores, now, hyper)
        failed = wrong(scores, targets[t], guess, hyper)
        done = learn(examples, space, hyper, clock, desk, trace, first, t, t + 1)
        if done[1] == t:
            return clock, t, total, mistakes, errors, updates
        mistakes += failed and done[0] > clock
        clock, total = done[0], total + done[2]
        errors, updates = errors + done[4], updates + done[5]
        if trace.size:
            trace[t, TRACE_GUESS] = guess
            for k in range(hyper.outputs):
                trace[t, TRACED + k] = held[k]
    return clock, stop, total, mistakes, errors, updates
