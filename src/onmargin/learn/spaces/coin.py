"""Coin betting (Krichevsky & Trofimov): no learning rate to choose.

w_t = theta_{t-1} Omega_t / t, Omega_{t+1} = Omega_t - <z_t, w_t>; gradients are divided by the
largest length met so far (at least 1), so the wealth Omega stays positive. w is a scalar times
theta: O(nonzeros) a round, averaged or not. Orabona & Pal 2016.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from ...compiled.one_output import pulled
from ...compiled.outputs import add_rows, add_scores, score_round
from ...compiled.parts import formula, part
from ..series import harmonic
from ..vocabulary import COIN_LARGEST, COIN_LAST, COIN_SPREAD, COIN_WEALTH, DELTA
from .arrays import LEDGER, NOTE, SLOT, Field, Space, always
from .linear import size


class Coin(NamedTuple):
    """theta; the sum of w_1 .. w_T is a theta + drift."""

    weights: np.ndarray
    drift: np.ndarray
    ledger: np.ndarray
    notes: np.ndarray


FIELDS = {
    "weights": Field(SLOT, exact=False),
    "drift": Field(SLOT, average=True),
    "ledger": Field(LEDGER, begins=(1.0, 1.0, 0.0, 0.0)),
    "notes": Field(NOTE),
}


@formula
def wealth(ledger, hyper):
    """Omega"""
    return hyper.numbers[DELTA] * ledger[COIN_WEALTH]


@formula
def spread_at(ledger, t, hyper):
    """a: the sum of Omega_s / s up to round t."""
    return ledger[COIN_SPREAD] + wealth(ledger, hyper) * (harmonic(t) - harmonic(ledger[COIN_LAST]))


@part
def score(space, rows, now, hyper, scores):
    """s_k = <theta_k, x> Omega / t"""
    space.notes[0] = score_round(rows, now, space.weights, scores)
    for k in range(hyper.outputs):
        scores[k] *= wealth(space.ledger, hyper) / now.clock


@part
def move(space, rows, now, pull, step, margin, hyper):
    """Bet, then theta_k += step pull[k] x / R."""
    ledger = space.ledger
    length = abs(step) * math.sqrt(size(space, rows, now, pull, hyper))
    ledger[COIN_LARGEST] = max(ledger[COIN_LARGEST], length)
    far = step / ledger[COIN_LARGEST]
    ledger[COIN_SPREAD] = spread_at(ledger, now.clock, hyper)
    ledger[COIN_LAST] = now.clock
    ledger[COIN_WEALTH] *= 1.0 + far * pulled(rows, now.row, space.weights, pull) / now.clock
    add_rows(rows, now.row, space.weights, pull, far)
    if space.drift.size:
        add_rows(rows, now.row, space.drift, pull, -ledger[COIN_SPREAD] * far)
    return step


@part
def mean(space, rows, now, hyper, scores):
    """Scores by the average of w_1 .. w_T."""
    rounds = max(now.clock - 1, 1)
    for k in range(hyper.outputs):
        scores[k] = 0.0
    share = spread_at(space.ledger, now.clock - 1, hyper) / rounds
    add_scores(rows, now.row, space.weights, scores, share)
    add_scores(rows, now.row, space.drift, scores, 1.0 / rounds)


def spelled_out(arrays, clock, hyper):
    """The weights that predict the next round."""
    return np.asarray(arrays.weights * (wealth(arrays.ledger, hyper) / (clock + 1)))


def averaged(arrays, clock, hyper, weights):
    """The average of the weights that predicted."""
    share = spread_at(arrays.ledger, clock, hyper)
    return np.asarray((share * arrays.weights + arrays.drift) / max(clock, 1))


COIN = Space(
    "coin", Coin, FIELDS, score, size, move, mean, spelled_out, averaged, local=always, either_way=True
)
