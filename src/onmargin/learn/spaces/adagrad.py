"""Regularisers that are a sum over coordinates: AdaGrad's dual averaging, and the l1 soft threshold.

AdaGrad: w_i = theta_i / (delta + s_i), s_i = sqrt of the summed squares of z_i; the rate is in theta.
l1: theta_i is drawn towards 0 by l1 times the sum of all rates so far, and cut off there, before it
becomes a weight (regularised dual averaging): weights that do not matter are exactly 0.
Duchi, Hazan & Singer 2011; Xiao 2010.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from ...compiled.one_output import entry, put
from ...compiled.outputs import add_rows
from ...compiled.parts import formula, part
from ...compiled.rows import item, look_ahead, measure_row, row_sum, row_sum_of, span
from ..series import roots
from ..vocabulary import DECAY, DELTA, L1
from . import linear
from .arrays import NOTE, SLOT, Field, Space, always
from .linear import size


class AdaGrad(NamedTuple):
    """Weights as they are, and what they follow from."""

    weights: np.ndarray
    drift: np.ndarray
    theta: np.ndarray
    squares: np.ndarray
    notes: np.ndarray


class Soft(NamedTuple):
    """theta (as `weights`), cut off when it is read; `squares` are empty where there is no AdaGrad."""

    weights: np.ndarray
    drift: np.ndarray  # always empty
    squares: np.ndarray
    notes: np.ndarray


ADAGRAD_FIELDS = {
    "weights": Field(SLOT, exact=False),
    "drift": Field(SLOT, average=True),
    "theta": Field(SLOT),
    "squares": Field(SLOT, signed=False),
    "notes": Field(NOTE),
}
SOFT_FIELDS = {
    "weights": Field(SLOT, exact=False),
    "drift": Field(SLOT, average=True),
    "squares": Field(SLOT, signed=False, wanted="adagrad"),
    "notes": Field(NOTE),
}


@formula
def rate_at(clock, hyper):
    """eta_t of a scheduled step."""
    return hyper.rate / math.sqrt(clock) if hyper.numbers[DECAY] > 0.0 else hyper.rate


@formula
def threshold_at(clock, hyper):
    """l1 times the sum of eta over the rounds before this one."""
    spent = roots(clock - 1.0) if hyper.numbers[DECAY] > 0.0 else clock - 1.0
    return hyper.numbers[L1] * hyper.rate * spent


@part
def shift(space, slot, k, change, gradient, delta):
    """One coordinate: theta, the squares, and the weight that follows; its change."""
    theta = entry(space.theta, slot, k) + change
    squares = entry(space.squares, slot, k) + gradient * gradient
    before = entry(space.weights, slot, k)
    after = theta / (delta + math.sqrt(squares))
    put(space.theta, slot, k, theta)
    put(space.squares, slot, k, squares)
    put(space.weights, slot, k, after)
    return entry(space.weights, slot, k) - before  # (as it is kept: in single precision not `after`)


@part
def shift_averaged(space, slot, k, change, gradient, delta, clock):
    """The same where an average is kept."""
    moved = shift(space, slot, k, change, gradient, delta)
    put(space.drift, slot, k, entry(space.drift, slot, k) + clock * moved)


@part
def move_adagrad(space, rows, now, pull, step, margin, hyper):
    """theta_i += eta z_i, s_i^2 += z_i^2, for the coordinates of the row."""
    start, stop = span(rows, now.row)
    last = space.weights.shape[0] - 1
    gradient, delta = step / rate_at(now.clock, hyper), hyper.numbers[DELTA]
    for k in range(hyper.outputs):
        if pull[k] != 0.0:
            way = pull[k]  # (read once: what the loop writes might be `pull`, for all it can know)
            if space.drift.size:
                for j in range(start, stop):
                    slot, value = item(rows, now.row, j)
                    shift_averaged(
                        space, slot, k, step * (way * value), gradient * (way * value), delta, now.clock
                    )
                z = way * rows.bias
                shift_averaged(space, last, k, step * z, gradient * z, delta, now.clock)
            else:
                for j in range(start, stop):
                    slot, value = item(rows, now.row, j)
                    shift(space, slot, k, step * (way * value), gradient * (way * value), delta)
                z = way * rows.bias
                shift(space, last, k, step * z, gradient * z, delta)
    return step


@part
def soft(theta, threshold):
    """theta cut off at the threshold."""
    return max(theta - threshold, 0.0) - max(-theta - threshold, 0.0)


@row_sum
def soft_along(rows, row, k, threshold, weights):
    """<soft(theta_k), x>"""
    start, stop = span(rows, row)
    total = soft(entry(weights, weights.shape[0] - 1, k), threshold) * rows.bias
    for j in range(start, stop):
        slot, value = item(rows, row, j)
        total += soft(entry(weights, slot, k), threshold) * value
    return total


def _soft_dot_in_fours(rows, row, k, threshold, weights):
    """Four sums of each, as `compiled.rows.dot` has them; rows to come are asked of memory."""
    start, stop = span(rows, row)
    total = second = third = fourth = 0.0
    length = width = depth = time = 0.0
    j = start
    while j + 4 <= stop:
        look_ahead(rows, j)
        slot, value = item(rows, row, j)
        total += soft(entry(weights, slot, k), threshold) * value
        length += value * value
        slot, value = item(rows, row, j + 1)
        second += soft(entry(weights, slot, k), threshold) * value
        width += value * value
        slot, value = item(rows, row, j + 2)
        third += soft(entry(weights, slot, k), threshold) * value
        depth += value * value
        slot, value = item(rows, row, j + 3)
        fourth += soft(entry(weights, slot, k), threshold) * value
        time += value * value
        j += 4
    while j < stop:
        slot, value = item(rows, row, j)
        total += soft(entry(weights, slot, k), threshold) * value
        length += value * value
        j += 1
    constant = soft(entry(weights, weights.shape[0] - 1, k), threshold) * rows.bias
    total = (total + second) + (third + fourth) + constant
    return total, (length + width) + (depth + time) + rows.bias * rows.bias


@row_sum_of(_soft_dot_in_fours)
def soft_dot(rows, row, k, threshold, weights):
    """<soft(theta_k), x>, and |x|^2 by the way."""
    return soft_along(rows, row, k, threshold, weights), measure_row(rows, row)


@row_sum
def soft_apart(rows, row, k, threshold, delta, squares, weights):
    """The same, every weight over AdaGrad's divisor."""
    start, stop = span(rows, row)
    last = weights.shape[0] - 1
    total = (
        soft(entry(weights, last, k), threshold) * rows.bias / (delta + math.sqrt(entry(squares, last, k)))
    )
    for j in range(start, stop):
        slot, value = item(rows, row, j)
        kept = soft(entry(weights, slot, k), threshold)
        total += kept * value / (delta + math.sqrt(entry(squares, slot, k)))
    return total


@part
def score_soft(space, rows, now, hyper, scores):
    """s_k = <soft(theta_k), x>"""
    threshold, delta = threshold_at(now.clock, hyper), hyper.numbers[DELTA]
    if space.squares.size or hyper.outputs == 0:
        space.notes[0] = measure_row(rows, now.row)
        for k in range(hyper.outputs):
            scores[k] = soft_apart(rows, now.row, k, threshold, delta, space.squares, space.weights)
    else:
        for k in range(hyper.outputs):
            scores[k], space.notes[0] = soft_dot(rows, now.row, k, threshold, space.weights)


@part
def move_soft(space, rows, now, pull, step, margin, hyper):
    """theta_i += eta z_i; the squares follow where they are kept."""
    add_rows(rows, now.row, space.weights, pull, step)
    if space.squares.size:
        start, stop = span(rows, now.row)
        last = space.weights.shape[0] - 1
        gradient = step / rate_at(now.clock, hyper)
        for k in range(hyper.outputs):
            if pull[k] != 0.0:
                way = gradient * pull[k]
                for j in range(start, stop):
                    slot, value = item(rows, now.row, j)
                    z = way * value
                    put(space.squares, slot, k, entry(space.squares, slot, k) + z * z)
                z = way * rows.bias
                put(space.squares, last, k, entry(space.squares, last, k) + z * z)
    return step


def spelled_out(arrays, clock, hyper):
    """The weights that predict the next round."""
    theta = arrays.weights
    kept = np.sign(theta) * np.maximum(np.abs(theta) - threshold_at(clock + 1, hyper), 0.0)
    return np.asarray(
        kept / (hyper.numbers[DELTA] + np.sqrt(arrays.squares)) if arrays.squares.size else kept
    )


ADAGRAD = Space(
    "adagrad", AdaGrad, ADAGRAD_FIELDS, linear.score, size, move_adagrad, local=always, either_way=True
)
SOFT = Space(
    "soft", Soft, SOFT_FIELDS, score_soft, size, move_soft, weights=spelled_out, local=always, either_way=True
)
