"""A variance per slot: sure weights move little. AROW, CW and SCW with a diagonal covariance."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from ...compiled.one_output import entry, put, spread
from ...compiled.outputs import score_round
from ...compiled.parts import part
from ...compiled.rows import item, span
from .arrays import NOTE, SLOT, Field, Space, always


class Confidence(NamedTuple):
    """Mean and variance of every weight."""

    weights: np.ndarray
    drift: np.ndarray
    sigma: np.ndarray
    notes: np.ndarray  # |x|^2, and the size of the round


FIELDS = {
    "weights": Field(SLOT, exact=False),
    "drift": Field(SLOT, average=True),
    "sigma": Field(SLOT, fill=1.0, signed=False),
    "notes": Field(NOTE),
}


@part
def score(space, rows, now, hyper, scores):
    """s_k = <mu_k, x>"""
    space.notes[0] = score_round(rows, now, space.weights, scores)


@part
def size(space, rows, now, pull, hyper):
    """v = sum_k pull[k]^2 x' Sigma_k x"""
    total = 0.0
    for k in range(pull.shape[0]):
        if pull[k] != 0.0:
            total += pull[k] * pull[k] * spread(rows, now.row, k, space.sigma)
    space.notes[1] = total
    return total


@part
def arow_beta(space, step, margin, hyper):
    """beta = 1 / (v + r): the step without its loss."""
    return step / (hyper.margin - margin)


@part
def scw_beta(space, step, margin, hyper):
    """beta = alpha phi / (sqrt(u) + v alpha phi).

    sqrt(u) = (-alpha v phi + sqrt(alpha^2 v^2 phi^2 + 4v)) / 2
    """
    reach = step * space.notes[1] * hyper.phi
    root = 0.5 * (math.sqrt(reach * reach + 4.0 * space.notes[1]) - reach)
    return step * hyper.phi / (root + reach)


@part
def shift(space, slot, k, value, factor, beta):
    """One coordinate of mu += factor Sigma x and of diag(Sigma - beta Sigma x x' Sigma); the change of mu."""
    sigma = entry(space.sigma, slot, k)
    change = factor * sigma * value
    put(space.weights, slot, k, entry(space.weights, slot, k) + change)
    put(space.sigma, slot, k, sigma - beta * (sigma * value) ** 2)
    return change


@part
def shift_averaged(space, slot, k, value, factor, beta, clock):
    """The same where an average is kept."""
    change = shift(space, slot, k, value, factor, beta)
    put(space.drift, slot, k, entry(space.drift, slot, k) + clock * change)


@part
def shift_all(space, rows, now, pull, step, beta, outputs):
    """Every coordinate of the row, for every output that is pulled."""
    start, stop = span(rows, now.row)
    last = space.weights.shape[0] - 1
    for k in range(outputs):
        if pull[k] != 0.0:
            factor = step * pull[k]  # (read once: what the loop writes might be `pull`, for all it can know)
            if space.drift.size:
                for j in range(start, stop):
                    slot, value = item(rows, now.row, j)
                    shift_averaged(space, slot, k, value, factor, beta, now.clock)
                shift_averaged(space, last, k, rows.bias, factor, beta, now.clock)
            else:
                for j in range(start, stop):
                    slot, value = item(rows, now.row, j)
                    shift(space, slot, k, value, factor, beta)
                shift(space, last, k, rows.bias, factor, beta)


@part
def move_arow(space, rows, now, pull, step, margin, hyper):
    """AROW: Crammer, Kulesza & Dredze 2009."""
    shift_all(space, rows, now, pull, step, arow_beta(space, step, margin, hyper), hyper.outputs)
    return step


@part
def move_scw(space, rows, now, pull, step, margin, hyper):
    """CW and SCW: Wang, Zhao & Hoi 2012."""
    shift_all(space, rows, now, pull, step, scw_beta(space, step, margin, hyper), hyper.outputs)
    return step


DIAGONAL: dict[str, Any] = {"starts_anywhere": True, "local": always, "either_way": True}
AROW = Space("confidence", Confidence, FIELDS, score, size, move_arow, **DIAGONAL)
SCW = Space("confidence", Confidence, FIELDS, score, size, move_scw, **DIAGONAL)
