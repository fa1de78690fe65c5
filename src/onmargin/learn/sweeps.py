"""Many models of one row of the table side by side, each a lane: the row is read once for all.

Weights lie [feature][model], so that scores and moves are SIMD over models; between them the very
same `demand`, `loss` and `step` run lane by lane, each lane with its own numbers. The only other
loop over rounds.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from ..compiled.lanes import cell
from ..compiled.outputs import add_rows, score_rows
from ..compiled.parts import part
from .losses import hinge as loss
from .series import harmonic
from .steps import pa1 as step
from .tasks.classes import binary as demand
from .tasks.classes import differs as wrong
from .tasks.classes import sign as decide
from .vocabulary import TINY, Hyper, Round

# Numbers of `Hyper` that may differ from lane to lane, in the order of `Lanes.knobs`.
KNOBS = ("C", "margin", "epsilon", "rate", "lam")


class Lanes(NamedTuple):
    """Weights (slots, models padded), numbers (knobs, models), and what the rounds came to."""

    weights: np.ndarray
    drift: np.ndarray  # empty: no average wanted
    knobs: np.ndarray
    losses: np.ndarray
    gaps: np.ndarray  # sum of |y - s|
    mistakes: np.ndarray
    updates: np.ndarray
    scores: np.ndarray  # scratch, as are the others
    pull: np.ndarray
    suffered: np.ndarray


@part
def whole(clock, lam):
    """A score is <w, x> as it is."""
    return 1.0


@part
def shrunk(clock, lam):
    """Pegasos: w = z / (lam (t - 1))"""
    return 1.0 / (lam * (clock - 1.0)) if clock > 1 else 0.0


@part
def by_rounds(clock):
    """What a step counts in the drift: t, where w changes by steps only."""
    return float(clock)


@part
def by_harmonics(clock):
    """Pegasos: minus the factors of the rounds so far."""
    return -harmonic(clock - 1.0)


@part
def nothing(target, score):
    """Classes are judged by their mistakes."""
    return 0.0


@part
def distance(target, score):
    """Numbers are judged by |y - s|."""
    return abs(target - score)


factor, dated, gap = whole, by_rounds, nothing  # roles, as `decide` and the others are


def sweep(examples, lanes, hyper, clock, first, start, stop):
    """Rounds start .. stop - 1 for every lane; (clock, position reached)."""
    rows, targets, weights, _, order = examples
    scores, pull, knobs = lanes.scores, lanes.pull, lanes.knobs
    suffered, score, one = lanes.suffered, cell(), cell()
    for t in range(start, stop):
        row = order[t] if order.size else first + t
        weight = weights[t] if weights.size else 1.0
        length = score_rows(rows, row, lanes.weights, scores)
        if not math.isfinite(length):
            return clock, t
        if not weight > 0.0:  # a round that is not seen
            continue
        clock += 1
        now = Round(row, clock, weight, 0.0, row)
        target, size = targets[t], max(length, TINY)
        for m in range(knobs.shape[1]):  # no branches (a passive lane's step is dropped), few arrays: SIMD
            hyper_of_lane = Hyper(
                knobs[0, m], knobs[1, m], knobs[2, m], knobs[3, m], hyper.phi, hyper.outputs, hyper.cost,
                hyper.numbers,
            )  # fmt: skip
            score[0] = scores[m] * factor(clock, knobs[4, m])
            guess = decide(score, now, hyper_of_lane)
            margin, required = demand(score, target, guess, hyper_of_lane, one)
            lost, slope = loss(margin, required)
            finite = math.isfinite(lost)  # otherwise its steps feed on themselves: out of the race
            bend = slope if slope != 0.0 else 1.0
            taken = step(margin, lost, bend, size, one, now, hyper_of_lane) * one[0]
            suffered[m] = lost if finite else math.inf
            pull[m] = taken if finite and slope != 0.0 and length > TINY else 0.0
        for m in range(knobs.shape[1]):
            score[0] = scores[m] * factor(clock, knobs[4, m])
            guess = decide(score, now, hyper)
            lanes.mistakes[m] += wrong(score, target, guess, hyper)
            lanes.gaps[m] += gap(target, score[0])
        for m in range(knobs.shape[1]):
            lanes.losses[m] += suffered[m]
        moved = 0
        for m in range(knobs.shape[1]):
            lanes.updates[m] += pull[m] != 0.0
            moved += pull[m] != 0.0
        if moved:
            add_rows(rows, row, lanes.weights, pull, 1.0)
            if lanes.drift.size:
                add_rows(rows, row, lanes.drift, pull, dated(clock))
    return clock, stop
