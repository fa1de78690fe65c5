"""Kernel learners that keep few vectors: the slots of a budget, or those that a projection calls for."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..kernels.sides import Side
from ..learn.kernel_spaces.expansion import fresh_ledger
from ..learn.kernel_spaces.projection import Budgeted, Kept
from ..learn.vocabulary import ROOM, VECTORS
from .kernel import KernelModel
from .products import Evaluator

SQUARED = ("projection", "projection_plus", "fade")  # Spaces that keep a matrix of their vectors


class Bounded(KernelModel):
    """Coefficients by slot; slots change hands."""

    parts = ("space",)
    space: Budgeted

    def _begin(self) -> None:
        self.space = self._arrays(0)

    def _arrays(self, room: int) -> Budgeted:
        side = room if self.row.space.name in SQUARED else 0
        return Budgeted(
            np.zeros((room, self.width)), np.zeros((room if self.start.average else 0, self.width)),
            np.zeros((side, side)), np.zeros(room), np.full(room, -1, np.int64), fresh_ledger(), np.zeros(2),
        )  # fmt: skip

    def _make_room(self, more: int) -> None:
        """Slots for so many more vectors, as far as the budget goes; doubles, so that growth is cheap."""
        have, most = len(self.space.weights), self.hyper.numbers[ROOM]
        wanted = int(min(len(self.kept) + more, most))
        if wanted <= have:
            return
        wide = self._arrays(int(min(max(wanted, 2 * have), most)))
        for old, new in zip(self.space, wide, strict=True):
            new[tuple(slice(0, length) for length in old.shape)] = old
        self.space = wide

    def _ready_block(
        self, evaluator: Evaluator, side: Side, own: np.ndarray, weights: np.ndarray, judged: bool
    ) -> Kept:
        self._make_room(len(side))
        values = np.empty((len(side), len(self.space.weights)))
        evaluator.values(self.kept, side, values)
        return Kept(values, evaluator.grams(side, own)[0], own[0])

    def _absorb(self, side: Side, rows: np.ndarray, clock: int) -> None:
        owner, before = self.space.owner, len(self.kept)
        taken = np.flatnonzero(owner >= 0)
        changed, new = taken[taken < before], taken[taken >= before]
        if len(changed):
            self.kept.put(changed, side.some(owner[changed]))
        if len(new):
            self.kept.append(side.some(owner[new]), self.hyper.numbers[ROOM])
        owner[taken] = -1
        self._count_bytes()

    def _rows_at_once(self) -> int:
        counted = "bytes" in self.numbers and self.kept.kind == "sparse"
        return 16 if counted and len(self.kept) < self.hyper.numbers[ROOM] else super()._rows_at_once()

    def _count_bytes(self) -> None:
        """Sparse vectors may be longer than the first ones: when the memory is used up, no more are kept."""
        limit, count = self.numbers.get("bytes"), len(self.kept)
        if limit is None or self.kept.kind != "sparse" or count >= self.hyper.numbers[ROOM]:
            return
        if self.kept.bytes + 8 * count * (3 * self.width + self.space.square.shape[1]) > limit:
            self.choose(self.row, self.numbers | {"room": float(max(count, 1))})

    def weights(self) -> np.ndarray:
        """(vectors, outputs) coefficients that predict the next round."""
        return self.row.space.weights(self._used(), self.clock, self.hyper)

    def mean_weights(self) -> np.ndarray:
        """Coefficients of the average; where none is kept, the last."""
        if not self.start.average:
            return self.weights()
        return self.row.space.average(self._used(), self.clock, self.hyper, self.weights())

    def _used(self) -> Budgeted:
        count = int(self.space.ledger[VECTORS])
        return self.space._replace(weights=self.space.weights[:count], drift=self.space.drift[:count])

    @property
    def _ledger(self) -> np.ndarray:
        return self.space.ledger

    def _fits(self) -> bool:
        like = self._arrays(len(self.space.weights))
        same = all(old.shape == new.shape for old, new in zip(self.space, like, strict=True))
        return same and len(self.kept) == self.space.ledger[VECTORS] <= len(self.space.weights)

    def _reshape(self, change: Any) -> None:
        weights, drift = change(self.space.weights), change(self.space.drift)
        self.space = self.space._replace(
            weights=np.ascontiguousarray(weights), drift=np.ascontiguousarray(drift)
        )
