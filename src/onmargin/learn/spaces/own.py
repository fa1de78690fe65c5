"""A user's regulariser: a map from theta to the weights, as a plain function. O(d) an update."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...compiled.parts import Part, compose, part
from ...compiled.rows import add_rows
from .linear import score, size
from .storage import NOTE, SLOT, Field, Space


class Own(NamedTuple):
    """theta, and the weights it is mapped to."""

    weights: np.ndarray
    drift: np.ndarray
    theta: np.ndarray
    notes: np.ndarray


FIELDS = {
    "weights": Field(SLOT),
    "drift": Field(SLOT, average=True),
    "theta": Field(SLOT),
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
    theta, weights = space.theta.reshape(space.theta.size), space.weights.reshape(space.weights.size)
    drift = space.drift.reshape(space.drift.size)
    for i in range(drift.shape[0]):
        drift[i] -= now.clock * weights[i]
    add_rows(rows, now.row, space.theta, pull, step)
    link(theta, weights, hyper)
    for i in range(drift.shape[0]):
        drift[i] += now.clock * weights[i]
    return step


def own_space(name: str, mapped: Part) -> Space:
    """The Space of a user's map."""
    return Space(name, Own, FIELDS, score, size, compose(move, f"move_{name}", link=mapped))
