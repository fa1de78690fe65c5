"""In which order `fit` visits the rows, so that a mini-batch never has the same row twice."""

from __future__ import annotations

import numpy as np


class Orders:
    """A permutation ("shuffle") or draws with replacement ("random") for each pass.

    A pass may end within a mini-batch: the next pass then begins with rows that are not in it yet.
    """

    def __init__(self, kind: str, rows: np.ndarray, batch: int, position: int = 0) -> None:
        self.kind, self.rows, self.count, self.batch = kind, rows, len(rows), batch
        self.begun = np.zeros(0, np.int64)  # places of the unfinished batch
        self.missing = -position % batch

    def next(self, generator: np.random.Generator) -> np.ndarray:
        """Row numbers of one pass."""
        if self.kind == "shuffle":
            order = self._apart(generator.permutation(self.count))
        elif self.batch == 1:
            order = generator.integers(self.count, size=self.count)
        else:
            order = self._drawn(generator)
        open_rows = (self.count - self.missing) % self.batch
        if self.count >= self.missing:
            self.begun = order[self.count - open_rows :]
        else:
            self.begun = np.r_[self.begun, order]
        self.missing = (self.missing - self.count) % self.batch
        return np.asarray(self.rows[order])

    def _apart(self, order: np.ndarray) -> np.ndarray:
        """Move rows of the unfinished batch out of its missing part."""
        head = min(self.missing, self.count)
        if head and self.begun.size:
            taken = np.isin(order, self.begun)
            first = np.r_[np.flatnonzero(~taken)[:head]]
            rest = np.setdiff1d(np.arange(self.count), first, assume_unique=True)
            order = order[np.r_[first, rest]]
        return order

    def _drawn(self, generator: np.random.Generator) -> np.ndarray:
        """Mini-batches of distinct rows, each drawn anew."""
        needed = -(-(self.count - min(self.missing, self.count)) // self.batch)
        free = np.setdiff1d(np.arange(self.count), self.begun)
        head = generator.choice(free, min(self.missing, self.count), replace=False)
        batches = [generator.choice(self.count, self.batch, replace=False) for _ in range(needed)]
        return np.concatenate([head, *batches])[: self.count].astype(np.int64)
