"""Many learners of one row of the table side by side: which can, their compiled loop, their arrays."""

from __future__ import annotations

import numpy as np

from ..compiled.parts import Part, specialise
from ..learn.queries import always
from ..learn.series import harmonic
from ..learn.spaces.arrays import aligned, padded
from ..learn.spaces.linear import LINEAR
from ..learn.spaces.pegasos import SHRUNK
from ..learn.sweeps import KNOBS, Lanes, by_harmonics, distance, shrunk, sweep
from ..learn.tasks.numbers import never
from ..learn.vocabulary import DEFAULTS, MORE, PEGASOS_LAST, PEGASOS_SPREAD, Examples
from .table import Row
from .weights import Model, Numbers

AT_ONCE = 32  # lanes: four registers, and a row's weights still fit into the nearest cache


def group_size(models: int, threads: int) -> int:
    """How many lanes to a group, so that every thread has one: whole registers, as long as they last."""
    return min(AT_ONCE, padded(-(-models // threads), True))


def can_sweep(row: Row) -> bool:
    """Is there a lane for this row of the table? (One output, a plain or a shrunk Space, all labels read.)"""
    return row.query is always and (row.space is LINEAR or row.space is SHRUNK)


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
    scores, pull, suffered = (aligned((wide,), float) for _ in range(3))
    drift = aligned((slots if average else 0, wide), float)
    return Lanes(weights, drift, knobs, losses, gaps, mistakes, updates, scores, pull, suffered)


class LaneModels:
    """Models of one row of the table, each a lane, all starting where a leader's model is."""

    def __init__(self, leader: Model, numbers: list[Numbers]) -> None:
        known = DEFAULTS | MORE
        knobs = np.array([[float(each.get(name, known[name])) for each in numbers] for name in KNOBS])
        self.lanes: Lanes = fresh_lanes(knobs, leader.space.weights, leader.start.average)
        self.play, self.hyper, self.clock = sweeper(leader.row), leader.hyper, 0

    def learn(self, examples: Examples, first: int, count: int) -> int:
        """A block of rounds for every lane; how many were played."""
        done = self.play(examples, self.lanes, self.hyper, self.clock, first, 0, count)
        self.clock, reached = int(done[0]), int(done[1])
        return reached

    def line(self, lane: int) -> dict[str, float] | None:
        """What one lane came to; None: its steps fed on themselves."""
        lanes, rounds = self.lanes, float(max(self.clock, 1))
        if not np.isfinite(lanes.losses[lane]):
            return None
        return {
            "rounds": self.clock, "mistakes": int(lanes.mistakes[lane]), "updates": int(lanes.updates[lane]),
            "error_rate": lanes.mistakes[lane] / rounds, "mean_loss": lanes.losses[lane] / rounds,
            "mae": lanes.gaps[lane] / rounds,
        }  # fmt: skip

    def write(self, lane: int, model: Model) -> None:
        """One lane's state into a model, as if it had learned alone."""
        space = model.space
        space.weights[...] = self.lanes.weights[:, lane]
        if self.lanes.drift.size:
            space.drift[...] = self.lanes.drift[:, lane]
        model.clock = self.clock
        if hasattr(space, "ledger"):  # Pegasos: as if the last round had moved it
            space.ledger[PEGASOS_SPREAD] = harmonic(self.clock - 1.0)
            space.ledger[PEGASOS_LAST] = self.clock
