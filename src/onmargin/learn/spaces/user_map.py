"""A user's regulariser: a map from theta to the weights, as a plain function. O(d) an update."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...compiled.one_output import entry, put
from ...compiled.outputs import add_rows
from ...compiled.parts import Part, compose, part
from ..vocabulary import BIASED, KNOWN
from .arrays import NOTE, SLOT, Field, Space
from .linear import score, size


class Own(NamedTuple):
    """theta, and the weights it is mapped to; the map sees the coordinates that exist, side by side."""

    weights: np.ndarray
    drift: np.ndarray
    theta: np.ndarray
    gathered: np.ndarray
    mapped: np.ndarray
    notes: np.ndarray


FIELDS = {
    "weights": Field(SLOT),
    "drift": Field(SLOT, average=True),
    "theta": Field(SLOT),
    "gathered": Field(SLOT, scratch=True),
    "mapped": Field(SLOT, scratch=True),
    "notes": Field(NOTE),
}


@part
def link(theta, weights, hyper):
    """The map; here the identity."""
    for i in range(theta.shape[0]):
        weights[i] = theta[i]


@part
def move(space, rows, now, pull, step, margin, hyper):
    """theta_k += step pull[k] x, then w = link(theta)."""
    add_rows(rows, now.row, space.theta, pull, step)
    theta = space.gathered.reshape(space.gathered.size)
    weights = space.mapped.reshape(space.mapped.size)
    known, last = int(hyper.numbers[KNOWN]), space.theta.shape[0] - 1
    count = 0
    for number in range(known + int(hyper.numbers[BIASED])):
        slot = number if number < known else last
        for k in range(hyper.outputs):
            theta[count] = entry(space.theta, slot, k)
            count += 1
    link(theta[:count], weights[:count], hyper)
    count = 0
    for number in range(known + int(hyper.numbers[BIASED])):
        slot = number if number < known else last
        for k in range(hyper.outputs):
            change = weights[count] - entry(space.weights, slot, k)
            put(space.weights, slot, k, weights[count])
            if space.drift.size:
                put(space.drift, slot, k, entry(space.drift, slot, k) + now.clock * change)
            count += 1
    return step


def own_space(name: str, mapped: Part) -> Space:
    """The Space of a user's map."""
    return Space(name, Own, FIELDS, score, size, compose(move, f"move_{name}", link=mapped))
