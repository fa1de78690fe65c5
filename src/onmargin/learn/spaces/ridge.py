"""The second-order Perceptron's Space: w = P theta, P = (aI + sum of x x' over mistakes)^-1.

A score counts the row at hand as if it had been seen: p = theta' P' x with
P' = (P^-1 + x x')^-1, that is <w, x> / (1 + x'Px). Cesa-Bianchi, Conconi & Gentile 2005.
Here P is diagonal (only the diagonal is kept after each update), or full.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...compiled.one_output import along, entry, keep_spreads, put
from ...compiled.outputs import score_round
from ...compiled.parts import part
from ...compiled.rows import item, measure_row, span
from .arrays import LINE, NOTE, REACH, SLOT, SQUARE, Field, Space, always, share_after
from .covariances import reach_out, shift, shrink


class Ridge(NamedTuple):
    """Diagonal P; `spreads` holds x' P_k x of the round at hand."""

    weights: np.ndarray
    drift: np.ndarray
    theta: np.ndarray
    sigma: np.ndarray
    spreads: np.ndarray
    notes: np.ndarray


class FullRidge(NamedTuple):
    """Full P; `reach` holds P_k x of the round at hand."""

    weights: np.ndarray
    drift: np.ndarray
    sigma: np.ndarray
    reach: np.ndarray
    notes: np.ndarray


FIELDS = {
    "weights": Field(SLOT, exact=False),
    "drift": Field(SLOT, average=True),
    "theta": Field(SLOT),
    "sigma": Field(SLOT, prior=True, signed=False),
    "spreads": Field(LINE, scratch=True, follows=True),
    "notes": Field(NOTE),
}
FULL_FIELDS = {
    "weights": Field(SLOT, exact=False),
    "drift": Field(SLOT, average=True),
    "sigma": Field(SQUARE, prior=True, signed=False),
    "reach": Field(REACH),
    "notes": Field(NOTE),
}


@part
def score(space, rows, now, hyper, scores):
    """s_k = <w_k, x> / (1 + x' P_k x)"""
    space.notes[0] = score_round(rows, now, space.weights, scores)
    keep_spreads(rows, now.row, space.sigma, space.spreads, hyper.outputs)
    for k in range(hyper.outputs):
        scores[k] /= 1.0 + space.spreads[k]


@part
def size(space, rows, now, pull, hyper):
    """|x|^2: only whether it is 0 matters, the step is fixed."""
    return space.notes[0]


@part
def shift_slot(space, slot, k, gain, value, weight):
    """One coordinate: P shrinks, theta grows by weight y x, w = P theta follows; the change of w."""
    sigma, before = entry(space.sigma, slot, k), entry(space.weights, slot, k)
    sigma -= gain * (sigma * value) ** 2
    theta = entry(space.theta, slot, k) + weight * value
    change = sigma * theta - before  # (all is read before anything is written)
    change = change if value != 0.0 else 0.0  # a zero leaves its weight alone to the last bit
    put(space.sigma, slot, k, sigma)
    put(space.theta, slot, k, theta)
    put(space.weights, slot, k, before + change)
    return change


@part
def shift_averaged(space, slot, k, gain, value, weight, clock):
    """The same where an average is kept."""
    change = shift_slot(space, slot, k, gain, value, weight)
    put(space.drift, slot, k, entry(space.drift, slot, k) + clock * change)


@part
def move(space, rows, now, pull, step, margin, hyper):
    """P -= h P x x' P / (1 + h x'Px), theta += h y x, for every output on the wrong side."""
    start, stop = span(rows, now.row)
    last = space.weights.shape[0] - 1
    for k in range(hyper.outputs):
        if pull[k] != 0.0:
            gain = step / (1.0 + step * space.spreads[k])
            weight = step * pull[k]  # (read once: what the loop writes might be `pull`, for all it can know)
            if space.drift.size:
                for j in range(start, stop):
                    slot, value = item(rows, now.row, j)
                    shift_averaged(space, slot, k, gain, value, weight, now.clock)
                shift_averaged(space, last, k, gain, rows.bias, weight, now.clock)
            else:
                for j in range(start, stop):
                    slot, value = item(rows, now.row, j)
                    shift_slot(space, slot, k, gain, value, weight)
                shift_slot(space, last, k, gain, rows.bias, weight)
    return step


@part
def full_score(space, rows, now, hyper, scores):
    """s_k = <w_k, x> / (1 + x' P_k x)"""
    space.notes[0] = measure_row(rows, now.row)
    for k in range(hyper.outputs):
        total = along(rows, now.row, k, space.weights)
        length = reach_out(rows, now.row, space.sigma, space.reach, k)
        space.notes[1] = length
        scores[k] = total / (1.0 + length)


@part
def full_move(space, rows, now, pull, step, margin, hyper):
    """As `move`; w = P theta is kept by w += h (y - <w, x>) P x / (1 + h x'Px)."""
    start, stop = span(rows, now.row)
    last = space.weights.shape[0] - 1
    for k in range(hyper.outputs):
        if pull[k] != 0.0:
            total = entry(space.weights, last, k) * rows.bias
            length = space.reach[k, last] * rows.bias
            for j in range(start, stop):
                slot, value = item(rows, now.row, j)
                total += entry(space.weights, slot, k) * value
                length += space.reach[k, slot] * value
            gain = step / (1.0 + step * length)
            shift(space, k, gain * (pull[k] - total), now.clock)
            shrink(space.sigma, space.reach, k, gain)
    return step


@part
def number_move(space, rows, now, pull, step, margin, hyper):
    """As `full_move` on a number y, which is the pull; P learns of a row whose number is 0 as well."""
    start, stop = span(rows, now.row)
    last = space.weights.shape[0] - 1
    total = entry(space.weights, last, 0) * rows.bias
    length = space.reach[0, last] * rows.bias
    for j in range(start, stop):
        slot, value = item(rows, now.row, j)
        total += entry(space.weights, slot, 0) * value
        length += space.reach[0, slot] * value
    gain = step / (1.0 + step * length)
    shift(space, 0, gain * (pull[0] - total), now.clock)
    shrink(space.sigma, space.reach, 0, gain)
    return step


@part
def mean(space, rows, now, hyper, scores):
    """The average's score has the same denominator, as the score left it."""
    share_after(scores, now, hyper)
    rounds = max(now.clock - 1, 1)
    for k in range(hyper.outputs):
        total = along(rows, now.row, k, space.drift)
        scores[k] -= total / (1.0 + space.spreads[k]) / rounds


@part
def full_mean(space, rows, now, hyper, scores):
    """The same with a full P; `reach` holds P_k x, as the score left it."""
    share_after(scores, now, hyper)
    rounds = max(now.clock - 1, 1)
    start, stop = span(rows, now.row)
    last = space.weights.shape[0] - 1
    for k in range(hyper.outputs):
        total = entry(space.drift, last, k) * rows.bias
        length = space.reach[k, last] * rows.bias
        for j in range(start, stop):
            slot, value = item(rows, now.row, j)
            total += entry(space.drift, slot, k) * value
            length += space.reach[k, slot] * value
        scores[k] -= total / (1.0 + length) / rounds


RIDGE = Space(
    "ridge", Ridge, FIELDS, score, size, move, mean, flat=False, starts_anywhere=True, local=always,
    either_way=True,
)  # fmt: skip
FULL_RIDGE = Space(
    "ridge (full)",
    FullRidge,
    FULL_FIELDS,
    full_score,
    size,
    full_move,
    full_mean,
    flat=False,
    starts_anywhere=True,
)
NUMBER_RIDGE = FULL_RIDGE._replace(move=number_move)
