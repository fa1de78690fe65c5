"""Scores without learning, and with the averaged weights while learning."""

from __future__ import annotations

import math

from .rounds import learn
from .spaces.arrays import score_less_drift as mean
from .spaces.linear import score
from .tasks.classes import differs as wrong
from .tasks.classes import sign as decide
from .vocabulary import TRACE_GUESS, TRACED, Round


def answer(rows, space, hyper, clock, scores, out, first, count):
    """out[t] = the scores of row first + t; how many were done (fewer: the next is not finite)."""
    for t in range(count):
        score(space, rows, Round(first + t, clock + 1, 1.0, 0.0), hyper, scores)
        if not math.isfinite(space.notes[0]):
            return t
        for k in range(out.shape[1]):
            out[t, k] = scores[k]
    return count


def answer_mean(rows, space, hyper, clock, scores, out, first, count):
    """`answer` by the averaged weights."""
    for t in range(count):
        now = Round(first + t, clock + 1, 1.0, 0.0)
        score(space, rows, now, hyper, scores)
        if not math.isfinite(space.notes[0]):
            return t
        mean(space, rows, now, hyper, scores)
        for k in range(out.shape[1]):
            out[t, k] = scores[k]
    return count


def answer_one(rows, space, hyper, scores, clock):
    """The guess for the only row; NaN where it is not finite."""
    now = Round(0, clock + 1, 1.0, 0.0)
    score(space, rows, now, hyper, scores)
    if not math.isfinite(space.notes[0]):
        return math.nan
    return decide(scores, now, hyper)


def judged(examples, space, hyper, clock, desk, held, trace, first, start, stop):
    """`learn`, but the trace and the mistakes are those of the averaged weights. `held` is scratch."""
    rows, targets, order, scores = examples.rows, examples.targets, examples.order, desk.scores
    total = 0.0
    mistakes = errors = updates = 0
    for t in range(start, stop):
        now = Round(order[t] if order.size else first + t, clock + 1, 1.0, 0.0)
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
