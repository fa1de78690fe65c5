"""The uniclass Space: w is the centre of a ball, a row is a point. O(d) a round.

With a learned radius the last slot holds omega, which starts at the largest admissible radius B;
the ball of radius B around (c, omega) cuts the ball of radius sqrt(B^2 - omega^2) around c out of
the data's plane. Crammer et al. 2006, section 6.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from ...compiled.parts import part, summing
from ...compiled.rows import item, span
from .arrays import NOTE, SLOT, Field, Space


class Center(NamedTuple):
    """The centre; `point` holds the row at hand in full."""

    weights: np.ndarray
    drift: np.ndarray
    point: np.ndarray
    notes: np.ndarray  # squared distance of the row at hand


FIELDS = {
    "weights": Field(SLOT, exact=False),
    "drift": Field(SLOT, average=True),
    "point": Field(SLOT, scratch=True),
    "notes": Field(NOTE),
}


@summing
def squared_distance(center, point):
    """|w - y|^2"""
    total = 0.0
    for i in range(point.shape[0]):
        gap = center[i] - point[i]
        total += gap * gap
    return total


@part
def score(space, rows, now, hyper, scores):
    """-|w - y|"""
    for i in range(space.point.shape[0]):
        space.point[i] = 0.0
    start, stop = span(rows, now.row)
    for j in range(start, stop):
        slot, value = item(rows, now.row, j)
        space.point[slot] = value
    total = squared_distance(space.weights, space.point)
    space.notes[0] = total
    scores[0] = -math.sqrt(total)


@part
def size(space, rows, now, pull, hyper):
    """The direction is a unit vector."""
    return 1.0


@part
def move(space, rows, now, pull, step, margin, hyper):
    """w += step (y - w) / |y - w|"""
    factor = -step / margin  # margin = -|w - y|
    for i in range(space.weights.shape[0]):
        change = factor * (space.point[i] - space.weights[i])
        space.weights[i] += change
        if space.drift.size:
            space.drift[i] += now.clock * change
    return step


CENTER = Space("center", Center, FIELDS, score, size, move, mean=None, flat=False)
