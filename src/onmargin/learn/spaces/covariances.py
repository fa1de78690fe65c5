"""A full covariance per output: the second-order learners in O(d^2) a round."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...compiled.one_output import entry, put
from ...compiled.outputs import score_rows
from ...compiled.parts import part
from ...compiled.rows import item, row_sum, span
from .arrays import NOTE, REACH, SLOT, SQUARE, Field, Space
from .variances import arow_beta, scw_beta


class Covariance(NamedTuple):
    """Mean and covariance; `reach` holds Sigma_k x of the round at hand."""

    weights: np.ndarray
    drift: np.ndarray
    sigma: np.ndarray
    reach: np.ndarray
    notes: np.ndarray


FIELDS = {
    "weights": Field(SLOT, exact=False),
    "drift": Field(SLOT, average=True),
    "sigma": Field(SQUARE, fill=1.0, signed=False),
    "reach": Field(REACH),
    "notes": Field(NOTE),
}


@row_sum
def reach_out(rows, row, sigma, reach, k):
    """reach[k] = Sigma_k x; returns x' Sigma_k x."""
    start, stop = span(rows, row)
    last = sigma.shape[1] - 1
    for i in range(last + 1):
        total = sigma[k, i, last] * rows.bias
        for j in range(start, stop):
            slot, value = item(rows, row, j)
            total += sigma[k, i, slot] * value
        reach[k, i] = total
    inner = reach[k, last] * rows.bias
    for j in range(start, stop):
        slot, value = item(rows, row, j)
        inner += reach[k, slot] * value
    return inner


@part
def shrink(sigma, reach, k, beta):
    """Sigma_k -= beta (Sigma_k x)(Sigma_k x)'"""
    for i in range(sigma.shape[1]):
        factor = beta * reach[k, i]
        for j in range(sigma.shape[1]):
            sigma[k, i, j] -= factor * reach[k, j]


@part
def shift(space, k, factor, clock):
    """mu_k += factor Sigma_k x"""
    for i in range(space.weights.shape[0]):
        change = factor * space.reach[k, i]
        put(space.weights, i, k, entry(space.weights, i, k) + change)
        if space.drift.size:
            put(space.drift, i, k, entry(space.drift, i, k) + clock * change)


@part
def score(space, rows, now, hyper, scores):
    """s_k = <mu_k, x>"""
    space.notes[0] = score_rows(rows, now.row, space.weights, scores)


@part
def size(space, rows, now, pull, hyper):
    """v = sum_k pull[k]^2 x' Sigma_k x"""
    total = 0.0
    for k in range(hyper.outputs):
        if pull[k] != 0.0:
            total += pull[k] * pull[k] * reach_out(rows, now.row, space.sigma, space.reach, k)
    space.notes[1] = total
    return total


@part
def shift_all(space, now, pull, step, beta, hyper):
    """Every output that is pulled."""
    for k in range(hyper.outputs):
        if pull[k] != 0.0:
            shift(space, k, step * pull[k], now.clock)
            shrink(space.sigma, space.reach, k, beta)


@part
def move_arow(space, rows, now, pull, step, margin, hyper):
    """AROW: Crammer, Kulesza & Dredze 2009."""
    shift_all(space, now, pull, step, arow_beta(space, step, margin, hyper), hyper)
    return step


@part
def move_scw(space, rows, now, pull, step, margin, hyper):
    """CW and SCW: Wang, Zhao & Hoi 2012."""
    shift_all(space, now, pull, step, scw_beta(space, step, margin, hyper), hyper)
    return step


AROW = Space("covariance", Covariance, FIELDS, score, size, move_arow, starts_anywhere=True)
SCW = Space("covariance", Covariance, FIELDS, score, size, move_scw, starts_anywhere=True)
