"""One paired round by itself: drawn, played, and its row left in the pool, in one call."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from ...compiled.parts import Part, specialise
from .draws import draw_rounds
from .members import WITH_WEIGHTS
from .rounds import PairedRounds, player
from .rounds import learn as play

# What a round leaves behind, by their places in `Alone.notes`
CLOCK_AFTER = 0  # the clock after it
ROWS_KEPT = 1  # rows in the pool
ENTRIES_KEPT = 2  # and their entries


class Alone(NamedTuple):
    """What one round is played with. Arrays of the pool have room for one more row."""

    rows: object  # one reserved row
    pool: object  # the pool's rows, of the same type
    marks: np.ndarray  # (1, outputs) scratch
    slots: np.ndarray  # reservoirs: (classes, size) rows of the pool
    seen: np.ndarray  # (classes,) how many came
    values: np.ndarray  # of the pool, to be written to, as are the next
    indices: np.ndarray
    starts: np.ndarray  # as they are read
    wide_starts: np.ndarray  # as they are kept
    pool_marks: np.ndarray
    pool_weights: np.ndarray
    ids: np.ndarray
    weighted: np.ndarray  # the pool's weights, or empty: all are 1
    none: np.ndarray  # no weights
    order: np.ndarray  # no order
    members: np.ndarray  # scratch of `draw_rounds`, as are the next
    bounds: np.ndarray
    arrivals: np.ndarray
    entering: np.ndarray
    classes: np.ndarray  # whose each member is, where rounds are narrowed down to rivals
    notes: np.ndarray


def learn_alone(alone, target, luck, recent, count, space, hyper, clock, scratch, middle, trace):
    """A round of weight 1 with a pool of `count` rows; False, and nothing changed: its row is not finite."""
    rows, marks, stop = alone.rows, alone.marks, alone.rows.starts[1]
    total = 0.0
    for j in range(stop):
        total += rows.values[j] * rows.values[j]
    if not math.isfinite(total):
        return False
    for c in range(marks.shape[1]):
        marks[0, c] = target > 0.0 if marks.shape[1] == 1 else target == c
    out = (alone.members, alone.bounds, alone.arrivals, alone.entering, alone.classes)
    entered = draw_rounds(marks, alone.none, luck, recent, count, (alone.slots, alone.seen), out)
    block = PairedRounds(
        rows, alone.pool, marks, alone.pool_marks, alone.none, alone.weighted, alone.order, alone.members,
        alone.members, alone.bounds, alone.arrivals, alone.classes,
    )  # fmt: skip
    after = play(block, space, hyper, clock, scratch, middle, trace, 0, 0, 1)[0]
    at = alone.wide_starts[count]
    if entered:
        for j in range(stop):
            alone.values[at + j], alone.indices[at + j] = rows.values[j], rows.indices[j]
        at += stop
        alone.starts[count + 1] = alone.wide_starts[count + 1] = at
        for c in range(marks.shape[1]):
            alone.pool_marks[count, c] = marks[0, c]
        alone.pool_weights[count], alone.ids[count] = 1.0, 0
    alone.notes[ROWS_KEPT], alone.notes[ENTRIES_KEPT] = count + entered, at
    alone.notes[CLOCK_AFTER] = after
    return True


def player_alone(rule: str) -> Part:
    """The compiled round of a rule, with weights."""
    return specialise(learn_alone, play=player(rule, WITH_WEIGHTS))
