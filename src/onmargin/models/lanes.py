"""Many learners of one row of the table side by side: which can, their compiled loop, their arrays."""

from __future__ import annotations

import numpy as np

from ..compiled.parts import Part, specialise
from ..learn.spaces.arrays import aligned, padded
from ..learn.spaces.linear import LINEAR
from ..learn.spaces.pegasos import SHRUNK
from ..learn.sweeps import Lanes, by_harmonics, distance, shrunk, sweep
from ..learn.tasks.numbers import never
from .table import Row

AT_ONCE = 16  # lanes: two registers; more at once are slower than one sixteen after the other


def can_sweep(row: Row) -> bool:
    """Is there a lane for this row of the table? (One output, in a plain or a shrunk Space.)"""
    return row.space is LINEAR or row.space is SHRUNK


def sweeper(row: Row) -> Part:
    """The compiled loop of a row."""
    decide, demand, wrong = row.task
    parts = {"decide": decide, "demand": demand, "wrong": wrong, "loss": row.loss, "step": row.step}
    if row.space is SHRUNK:
        parts |= {"factor": shrunk, "dated": by_harmonics}
    if wrong is never:
        parts["gap"] = distance
    return specialise(sweep, **parts)


def fresh_lanes(knobs: np.ndarray, start: np.ndarray, average: bool) -> Lanes:
    """Lanes before the first round, each at the same weights (and of their dtype)."""
    models, slots = knobs.shape[1], len(start)
    wide = padded(models, True)
    weights = aligned((slots, wide), start.dtype)
    weights[:, :models] = start[:, None]
    losses, gaps, mistakes, updates = (np.zeros(models) for _ in range(4))
    scores, pull = aligned((wide,), float), aligned((wide,), float)
    drift = aligned((slots if average else 0, wide), float)
    return Lanes(weights, drift, knobs, losses, gaps, mistakes, updates, scores, pull, np.zeros(1))
