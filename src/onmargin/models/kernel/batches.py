"""Mini-batches in a kernel learner's blocks: where a block may end, and who sees what a row adds."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np


class Batches(NamedTuple):
    """Rounds in mini-batches of a size, after so many rounds; rows of weight 0 are no rounds."""

    clock: int
    size: int

    def clocks(self, weights: np.ndarray, count: int) -> np.ndarray:
        """The clock after each of the rows that come next."""
        return self.clock + np.cumsum(weights > 0 if weights.size else np.ones(count, int))

    def whole(self, weights: np.ndarray, count: int) -> int:
        """Rows to take so that a block ends with a mini-batch, or lies within one."""
        if self.size == 1:
            return count
        ends = np.flatnonzero(self.clocks(weights, count) % self.size == 0)
        seen = ends[(weights[ends] > 0) if weights.size else slice(None)]
        if not seen.size:
            return count
        return int(seen[0] if self.clock % self.size else seen[-1]) + 1

    def first_to_see(self, weights: np.ndarray, count: int) -> np.ndarray:
        """The first row of the block that sees what each row adds: the next, or the next mini-batch's."""
        if self.size == 1:
            return np.arange(1, count + 1)
        seen = weights > 0 if weights.size else 1
        turns = (self.clocks(weights, count) - seen) // self.size  # of the round that scores a row
        return np.asarray(np.searchsorted(turns, turns, side="right"))
