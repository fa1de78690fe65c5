"""How a sum over vectors is used; `read`, `read_dated`, `add`, `fold` say how it is kept.

As it is (Perceptron, Passive-Aggressive), fading (`horizon=`, shifting), shrunk (Pegasos:
w = z / (lam (t - 1))), or as the centre of a ball (uniclass). The formulas are those of the linear Spaces,
spelled in coefficients.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...compiled.parts import part
from ..series import harmonic
from ..spaces.arrays import share_after
from ..spaces.fading import LEAST_SCALE, remaining, times
from ..spaces.pegasos import turn
from ..vocabulary import (
    BATCH,
    CENTER_LAST,
    CENTER_LENGTH,
    CENTER_SCALE,
    CENTER_SPREAD,
    FADED,
    FORGETRON_MISTAKES,
    LAM,
    OMEGA,
    OMEGAS,
)
from .expansion import add, fold, read, read_dated

LEAST_CENTER = 1e-3  # the least scale of a centre


@part
def score(space, rows, now, hyper, scores):
    """s_k = sum_i coefficient_ik k(x_i, x)"""
    read(space, rows, now.row, scores)
    space.notes[0] = rows.own[now.row]


@part
def move(space, rows, now, pull, step, margin, hyper):
    """coefficient_k of x += step pull[k]"""
    return add(space, rows, now, pull, step, step * now.clock, hyper)


@part
def mean(space, rows, now, hyper, scores):
    """Scores by the average: less drift / T."""
    share_after(scores, now, hyper)
    read_dated(space, rows, now.row, scores, -1.0 / max(now.clock - 1, 1))


# ---- a learner that forgets: coefficients are kappa^(t - 1) times those kept


@part
def score_forgetful(space, rows, now, hyper, scores):
    """s_k = kappa^(t - 1) sum_i coefficient_ik k(x_i, x)"""
    read(space, rows, now.row, scores)
    space.notes[0] = rows.own[now.row]
    times(scores, remaining(hyper.numbers, now.clock - 1))


@part
def move_forgetful(space, rows, now, pull, step, margin, hyper):
    """All coefficients times kappa, then that of x is step pull[k]."""
    left = remaining(hyper.numbers, now.clock)
    if left < LEAST_SCALE:
        fold(space, rows, left, 0.0)
        hyper.numbers[FADED], left = float(now.clock), 1.0
    taken = add(space, rows, now, pull, step / left, 0.0, hyper)
    return step if taken != 0.0 else 0.0


# ---- the shifting Perceptron: coefficients are scale times those kept


@part
def score_shifting(space, rows, now, hyper, scores):
    """s_k = scale sum_i coefficient_ik k(x_i, x)"""
    read(space, rows, now.row, scores)
    space.notes[0] = rows.own[now.row]
    times(scores, space.ledger[CENTER_SCALE])


@part
def move_shifting(space, rows, now, pull, step, margin, hyper):
    """w = (1 - l) w + l y phi(x) with l = lam / (lam + k), k mistakes so far."""
    ledger = space.ledger
    share = hyper.numbers[LAM] / (hyper.numbers[LAM] + ledger[FORGETRON_MISTAKES])
    scale = ledger[CENTER_SCALE] * (1.0 - share)
    if scale < LEAST_SCALE:
        fold(space, rows, scale, 0.0)
        scale = 1.0
    ledger[CENTER_SCALE] = scale
    ledger[FORGETRON_MISTAKES] += 1.0
    add(space, rows, now, pull, step * share / scale, 0.0, hyper)
    return step


# ---- Pegasos


@part
def score_shrunk(space, rows, now, hyper, scores):
    """s = z / (lam (t - 1))"""
    read(space, rows, now.row, scores)
    space.notes[0] = rows.own[now.row]
    t = turn(now.clock, hyper.numbers[BATCH])
    factor = 1.0 / (hyper.numbers[LAM] * (t - 1.0)) if t > 1.0 else 0.0
    for k in range(hyper.outputs):
        scores[k] *= factor


@part
def move_shrunk(space, rows, now, pull, step, margin, hyper):
    """z += step; the drift is dated by harmonic numbers."""
    t = turn(now.clock, hyper.numbers[BATCH])
    return add(space, rows, now, pull, step, step * harmonic(t - 1.0), hyper)


@part
def mean_shrunk(space, rows, now, hyper, scores):
    """(H_{T-1} z - V) / (lam T)"""
    if now.clock > 1:
        t = turn(now.clock - 1, hyper.numbers[BATCH])
        each = 1.0 / (hyper.numbers[LAM] * t)
        read(space, rows, now.row, scores)
        for k in range(hyper.outputs):
            scores[k] *= harmonic(t - 1.0) * each
        read_dated(space, rows, now.row, scores, -each)


def shrunk(arrays, clock, hyper):
    """Coefficients that predict the next round."""
    t = turn(clock + 1, hyper.numbers[BATCH])
    return np.asarray(arrays.weights * (1.0 / (hyper.numbers[LAM] * (t - 1.0)) if t > 1 else 0.0))


def shrunk_mean(arrays, clock, hyper, weights):
    """Coefficients of the average of w_1 .. w_T."""
    if clock == 0:
        return weights
    t = turn(clock, hyper.numbers[BATCH])
    return np.asarray((harmonic(t - 1.0) * arrays.weights - arrays.drift) / (hyper.numbers[LAM] * t))


def shrunk_drift(arrays: Any, clock: int, hyper: Any, mean: np.ndarray) -> np.ndarray:
    """The drift with which the average is `mean`: `shrunk_mean` the other way round."""
    t = turn(clock, hyper.numbers[BATCH])
    return np.asarray(harmonic(t - 1.0) * arrays.weights - hyper.numbers[LAM] * t * mean)


# ---- the centre of a ball: c = scale nu, with |c|^2 kept up to date


@part
def score_center(space, rows, now, hyper, scores):
    """-|c - phi(x)|, with the learned radius' omega as one more coordinate"""
    ledger, own = space.ledger, rows.own[now.row]
    read(space, rows, now.row, scores)
    inner = ledger[CENTER_SCALE] * scores[0]
    total = max(ledger[CENTER_LENGTH] - 2.0 * inner + own, 0.0) + ledger[OMEGA] * ledger[OMEGA]
    space.notes[0], space.notes[1] = (own if not math.isfinite(own) else total), 0.0
    scores[0] = -math.sqrt(total)


@part
def move_center(space, rows, now, pull, step, margin, hyper):
    """c <- (1 - f) c + f phi(x), f = step / |c - phi(x)|"""
    ledger, own = space.ledger, rows.own[now.row]
    share = -step / margin
    total = margin * margin - ledger[OMEGA] * ledger[OMEGA]
    inner = 0.5 * (ledger[CENTER_LENGTH] + own - total)
    ledger[CENTER_SPREAD] += ledger[CENTER_SCALE] * (now.clock - ledger[CENTER_LAST])
    ledger[OMEGAS] += ledger[OMEGA] * (now.clock - ledger[CENTER_LAST])
    ledger[CENTER_LAST] = now.clock
    scale = ledger[CENTER_SCALE] * (1.0 - share)
    if scale < LEAST_CENTER:
        fold(space, rows, scale, ledger[CENTER_SPREAD])
        scale, ledger[CENTER_SPREAD] = 1.0, 0.0
    ledger[CENTER_SCALE] = scale
    added, taken, kept = share / scale, 0.0, 1.0 - share
    if own > 0.0:  # the origin only draws the centre nearer
        taken = add(space, rows, now, pull, added, -ledger[CENTER_SPREAD] * added, hyper)
    ledger[CENTER_LENGTH] = kept * kept * ledger[CENTER_LENGTH] + 2.0 * share * kept * inner
    if taken != 0.0:
        ledger[CENTER_LENGTH] += share * share * (own - space.notes[1])
    ledger[CENTER_LENGTH] = max(ledger[CENTER_LENGTH], 0.0)
    ledger[OMEGA] *= kept
    return step


def centered(arrays, clock, hyper):
    """Coefficients of the centre."""
    return np.asarray(arrays.weights * arrays.ledger[CENTER_SCALE])


def centered_mean(arrays, clock, hyper, weights):
    """Coefficients of the mean centre: (a nu + drift) / T."""
    if clock == 0:
        return weights
    ledger = arrays.ledger
    spread = ledger[CENTER_SPREAD] + ledger[CENTER_SCALE] * (clock - ledger[CENTER_LAST])
    return np.asarray((spread * arrays.weights + arrays.drift) / clock)


def omega(ledger: np.ndarray, clock: int, averaged: bool) -> float:
    """The learned radius' coordinate (0 where the radius is given), or its mean."""
    if not averaged or clock == 0:
        return float(ledger[OMEGA])
    return float(ledger[OMEGAS] + ledger[OMEGA] * (clock - ledger[CENTER_LAST])) / clock
