"""A model of cost: seconds an epoch takes by rows, workers, parts, bytes of the model and bandwidth."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.optimize import nnls

from .measures import Measured, model_bytes

FAN = 4  # models that become one in a step of the tree


@dataclass
class Costs:
    """T = start + per_part P/w + per_row n/w + per_byte m P/w + m (1 + steps) / B.

    n rows, w workers, P parts, m bytes of the model, B bytes a second between machines, steps = log_4 P.
    """

    start: float
    per_part: float
    per_row: float
    per_byte: float
    bare_row: float  # of the bare loop in one process

    def seconds(self, rows: float, workers: int, parts: int, size: float, bandwidth: float) -> float:
        """Of an epoch; with fewer parts than workers some have nothing to do."""
        busy = min(workers, parts)
        each = math.ceil(parts / busy)
        learned = self.per_row * rows / parts * each
        merged = (self.per_part + self.per_byte * size) * each
        return self.start + learned + merged + size * (1 + steps(parts)) / bandwidth

    def alone(self, rows: float) -> float:
        """Of an epoch on one machine, by the bare loop."""
        return self.bare_row * rows

    def crossover(self, workers: int, size: float, bandwidth: float) -> float:
        """Rows from which so many workers, a part each, are faster than one machine; infinite: never."""
        fixed = self.seconds(0, workers, workers, size, bandwidth)
        saved = self.bare_row - self.per_row / workers
        return fixed / saved if saved > 0 else math.inf


def steps(parts: int) -> int:
    """Of the tree."""
    return math.ceil(math.log(max(parts, 1), FAN) - 1e-9)


def fitted(found: Sequence[Measured]) -> tuple[Costs, list[float]]:
    """The costs that CPU seconds suggest (least squares of relative errors, none negative); T of each.

    On one machine there is no network: what moving bytes within it costs is in the other terms.
    """
    loops = [one for one in found if one.workers == 0]
    bare_row = sum(one.work for one in loops) / sum(one.place.rows for one in loops)
    some = [one for one in found if one.workers]
    wanted, lines = [], []
    for one in some:
        size, parts = model_bytes(one.place.columns), one.place.parts
        each = math.ceil(parts / min(one.workers, parts))
        lines.append([1.0, each, one.place.rows / parts * each, size * each])
        wanted.append(one.work)
    scale = 1 / np.array([one.work for one in some])
    table = np.array(lines) * scale[:, None]
    units = table.max(axis=0)
    answer, _ = nnls(table / units, np.array(wanted) * scale)
    costs = Costs(*(answer / units).tolist(), bare_row)
    told = [
        costs.seconds(one.place.rows, one.workers, one.place.parts, model_bytes(one.place.columns), math.inf)
        for one in some
    ]
    return costs, told
