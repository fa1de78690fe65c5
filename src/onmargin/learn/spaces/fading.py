"""Weights that fade or are kept in a ball: w = scale v, one number for all of them.

The shifting Perceptron and the projected Perceptron change their scale on a move; a learner that forgets
does so every round, which its clock says: nothing is touched until it moves.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from ...compiled.outputs import add_rows, score_round, squared
from ...compiled.parts import formula, part
from ..vocabulary import FADED, FADING_LENGTH, FADING_MOVES, FADING_SCALE, FORGET, LAM, RADIUS
from .arrays import LEDGER, NOTE, SLOT, Field, Space
from .linear import size

LEAST_SCALE = 1e-12  # a scale below this is multiplied out (float32 weights hold 1e38)


class Fading(NamedTuple):
    """v, and the few numbers of the whole."""

    weights: np.ndarray
    drift: np.ndarray  # empty: these learners keep no average
    ledger: np.ndarray
    notes: np.ndarray


FIELDS = {
    "weights": Field(SLOT, exact=False), "drift": Field(SLOT, average=True),
    "ledger": Field(LEDGER, begins=(1.0, 0.0, 0.0)), "notes": Field(NOTE),
}  # fmt: skip


@part
def times(scores, factor):
    """scores *= factor"""
    for k in range(scores.shape[0]):
        scores[k] *= factor


@part
def multiply_out(weights, factor):
    """v *= factor"""
    if weights.ndim == 1:
        for i in range(weights.shape[0]):
            weights[i] *= factor
    else:
        for i in range(weights.shape[0]):
            for k in range(weights.shape[1]):
                weights[i, k] *= factor


@part
def rescale(space, factor):
    """w *= factor"""
    scale = space.ledger[FADING_SCALE] * factor
    if scale < LEAST_SCALE:
        multiply_out(space.weights, scale)
        scale = 1.0
    space.ledger[FADING_SCALE] = scale


@part
def score(space, rows, now, hyper, scores):
    """s_k = scale <v_k, x>"""
    space.notes[0] = score_round(rows, now, space.weights, scores)
    times(scores, space.ledger[FADING_SCALE])


@part
def move_shifting(space, rows, now, pull, step, margin, hyper):
    """w = (1 - l) w + l y x with l = lam / (lam + k), k moves so far. Cavallanti et al. 2007."""
    share = hyper.numbers[LAM] / (hyper.numbers[LAM] + space.ledger[FADING_MOVES])
    rescale(space, 1.0 - share)
    add_rows(rows, now.row, space.weights, pull, step * share / space.ledger[FADING_SCALE])
    space.ledger[FADING_MOVES] += 1.0
    return step


@part
def move_projected(space, rows, now, pull, step, margin, hyper):
    """w = the point of the ball nearest to w + step z."""
    add_rows(rows, now.row, space.weights, pull, step / space.ledger[FADING_SCALE])
    length = space.ledger[FADING_LENGTH] + 2.0 * step * margin
    length += step * step * squared(pull) * space.notes[0]
    radius = hyper.numbers[RADIUS]
    if length > radius * radius:
        rescale(space, radius / math.sqrt(length))
        length = radius * radius
    space.ledger[FADING_LENGTH] = max(length, 0.0)
    return step


@formula
def remaining(numbers, clock):
    """What remains of v when `clock` rounds are over."""
    return numbers[FORGET] ** (clock - numbers[FADED])


@part
def score_forgetful(space, rows, now, hyper, scores):
    """s_k = kappa^(t - 1) <v_k, x>"""
    space.notes[0] = score_round(rows, now, space.weights, scores)
    times(scores, remaining(hyper.numbers, now.clock - 1))


@part
def move_forgetful(space, rows, now, pull, step, margin, hyper):
    """w = kappa w + step z"""
    left = remaining(hyper.numbers, now.clock)
    if left < LEAST_SCALE:
        multiply_out(space.weights, left)
        hyper.numbers[FADED], left = float(now.clock), 1.0
    add_rows(rows, now.row, space.weights, pull, step / left)
    return step


def scaled(arrays, clock, hyper):
    """The weights that predict the next round."""
    return np.asarray(arrays.weights * arrays.ledger[FADING_SCALE])


def faded(arrays, clock, hyper):
    """The weights that predict the next round."""
    return np.asarray(arrays.weights * hyper.numbers[FORGET] ** (clock - hyper.numbers[FADED]))


def spelled_out(arrays, hyper, clock):
    """w = v from here on, and its length anew: after weights were given, or outputs were added."""
    if hyper.numbers[FORGET] < 1.0:
        arrays.weights[...] *= hyper.numbers[FORGET] ** (clock - hyper.numbers[FADED])
        hyper.numbers[FADED] = clock
    arrays.weights[...] *= arrays.ledger[FADING_SCALE]
    arrays.ledger[FADING_SCALE] = 1.0
    arrays.ledger[FADING_LENGTH] = float(np.square(arrays.weights, dtype=float).sum())


def into_the_ball(arrays, hyper, clock):
    """The same, and no further out than the radius."""
    spelled_out(arrays, hyper, clock)
    radius, length = hyper.numbers[RADIUS], arrays.ledger[FADING_LENGTH]
    if length > radius * radius:
        arrays.weights[...] *= radius / math.sqrt(length)
        arrays.ledger[FADING_LENGTH] = radius * radius


def slow_steps(arrays, hyper, clock, count):
    """Is the scale not multiplied out, even if all of these rounds move? It shrinks by k / (lam + k) each."""
    lam, moves, scale = hyper.numbers[LAM], arrays.ledger[FADING_MOVES], arrays.ledger[FADING_SCALE]
    if moves == 0.0:
        return False  # (the first move leaves nothing)
    grown = math.lgamma(moves + count) - math.lgamma(moves) + math.lgamma(lam + moves)
    return math.log(scale) + grown - math.lgamma(lam + moves + count) > math.log(LEAST_SCALE) + 1e-3


def short_while(arrays, hyper, clock, count):
    """Is the scale not multiplied out in these rounds?"""
    return remaining(hyper.numbers, clock + count) >= 2.0 * LEAST_SCALE


SHRINKS: dict[str, Any] = {"settle": spelled_out, "local": slow_steps, "either_way": True}
FADES: dict[str, Any] = {"settle": spelled_out, "local": short_while, "either_way": True}
IN_BALL: dict[str, Any] = {"settle": into_the_ball, "either_way": True}
SHIFTING = Space("shifting", Fading, FIELDS, score, size, move_shifting, weights=scaled, **SHRINKS)
PROJECTED = Space("ball", Fading, FIELDS, score, size, move_projected, weights=scaled, **IN_BALL)
FORGETFUL = Space("forgetful", Fading, FIELDS, score_forgetful, size, move_forgetful, weights=faded, **FADES)
