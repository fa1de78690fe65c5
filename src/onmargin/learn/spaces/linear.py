"""The plain Space: one weight per slot and output, Euclidean length."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...compiled.outputs import add_rows, score_round, squared
from ...compiled.parts import part
from .arrays import NOTE, SLOT, Field, Space, always


class Linear(NamedTuple):
    """w, and what its average needs."""

    weights: np.ndarray
    drift: np.ndarray  # sum of t d_t, from which the average follows; empty: no average wanted
    notes: np.ndarray  # |x|^2 of the row at hand: score sums it on its way, size reads it


FIELDS = {"weights": Field(SLOT, exact=False), "drift": Field(SLOT, average=True), "notes": Field(NOTE)}


@part
def score(space, rows, now, hyper, scores):
    """s_k = <w_k, x>"""
    space.notes[0] = score_round(rows, now, space.weights, scores)


@part
def size(space, rows, now, pull, hyper):
    """|z|^2 = |pull|^2 |x|^2"""
    return squared(pull) * space.notes[0]


@part
def move(space, rows, now, pull, step, margin, hyper):
    """w_k += step pull[k] x"""
    add_rows(rows, now.row, space.weights, pull, step)
    if space.drift.size:
        add_rows(rows, now.row, space.drift, pull, step * now.clock)
    return step


LINEAR = Space(
    "linear", Linear, FIELDS, score, size, move, mergeable=True, starts_anywhere=True, local=always,
    either_way=True,
)  # fmt: skip
