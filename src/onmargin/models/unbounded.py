"""Kernel learners that keep every vector they moved by."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..kernels.sides import Side
from ..learn.kernel_spaces.expansion import Expansion, Prepared, fresh_ledger
from ..learn.vocabulary import BATCH, FOLDED, FOLDED_SHARE
from .kernel import KernelModel
from .products import Evaluator
from .vectors import Grown


class Spelled(NamedTuple):
    """What a manner needs to spell coefficients out."""

    weights: np.ndarray
    drift: np.ndarray
    ledger: np.ndarray


class Unbounded(KernelModel):
    """Coefficients and their drift, one line per vector kept."""

    parts: tuple[str, ...] = ("coefficients", "drifts", "ledger", "held", "held_slots")
    space: Any

    def _begin(self) -> None:
        self.coefficients = Grown(np.zeros((0, self.width)))
        self.drifts = Grown(np.zeros((0, self.width)))
        self.ledger = fresh_ledger()
        self.held, self.held_slots = Grown(np.zeros((0, self.width))), Grown(np.zeros(0, np.int64))

    def _ready_block(
        self, evaluator: Evaluator, side: Side, own: np.ndarray, weights: np.ndarray, judged: bool
    ) -> Any:
        count, average = len(side), self.start.average
        self.space = Expansion(
            np.zeros((count, self.width)), np.zeros((count if average else 0, self.width)), self.ledger,
            np.zeros(2),
        )  # fmt: skip
        both = [self._in_force(), self.drifts.view] if judged else [self._in_force()]
        sums = evaluator.sums(self.kept, side, np.concatenate(both, axis=1))[0]
        dated = np.ascontiguousarray(sums[self.width :]) if judged else np.zeros((0, 0))
        gram = evaluator.grams(side, own)[0]
        return Prepared(
            np.ascontiguousarray(sums[: self.width]), dated, gram, own[0], self._until(weights, count)
        )

    def _until(self, weights: np.ndarray, count: int) -> np.ndarray:
        """The first row of the block that sees what each row adds: the next, or the next mini-batch's."""
        batch = self.hyper.numbers[BATCH]
        if batch == 1:
            return np.arange(1, count + 1)
        seen = weights > 0 if weights.size else 1
        turns = (self._clocks(weights, count) - seen) // batch  # of the round that scores a row
        return np.asarray(np.searchsorted(turns, turns, side="right"))

    def _absorb(self, side: Side, rows: np.ndarray, clock: int) -> None:
        added, ledger = self.space.weights, self.ledger
        if ledger[FOLDED] != 1.0:
            self.drifts.view[...] += ledger[FOLDED_SHARE] * self.coefficients.view
            self.coefficients.view[...] *= ledger[FOLDED]
            ledger[FOLDED], ledger[FOLDED_SHARE] = 1.0, 0.0
        hits = np.flatnonzero(added.any(axis=1))
        slots = self._slots_for(side, rows, hits)
        np.add.at(self.coefficients.view, slots, added[hits])
        if self.space.drift.size:
            np.add.at(self.drifts.view, slots, self.space.drift[hits])
        batch = self.hyper.numbers[BATCH]
        if batch > 1 and clock % batch:  # not over: what it added is held back from its own scores
            self.held.append(added[hits])
            self.held_slots.append(slots)
        elif len(self.held):
            self.held, self.held_slots = Grown(np.zeros((0, self.width))), Grown(np.zeros(0, np.int64))

    def _slots_for(self, side: Side, rows: np.ndarray, hits: np.ndarray) -> np.ndarray:
        """Where these rows of the block are kept; new ones are taken on."""
        numbers = rows[hits]
        new = hits[self.places[numbers] < 0]
        if (np.diff(rows[new]) <= 0).any():  # a row may come twice
            _, first = np.unique(rows[new], return_index=True)
            new = new[np.sort(first)]
        if len(new):
            self.places[rows[new]] = len(self.kept) + np.arange(len(new))
            self.kept.append(side.some(new))
            for lines in (self.coefficients, self.drifts):
                lines.append(np.zeros((len(new), self.width)))
        return np.asarray(self.places[numbers])

    def _in_force(self) -> np.ndarray:
        """Coefficients without those of a mini-batch that is not over."""
        view = self.coefficients.view
        if len(self.held):
            view = view.copy()
            np.subtract.at(view, self.held_slots.view, self.held.view)
        return view

    def _spelled(self, weights: np.ndarray) -> Spelled:
        return Spelled(weights, self.drifts.view, self.ledger)

    def weights(self) -> np.ndarray:
        """(vectors, outputs) coefficients that predict the next round."""
        return self.row.space.weights(self._spelled(self._in_force()), self.clock, self.hyper)

    def mean_weights(self) -> np.ndarray:
        """Coefficients of the average; where none is kept, the last."""
        if not self.start.average:
            return self.weights()
        spelled = self._spelled(self.coefficients.view)
        return self.row.space.average(spelled, self.clock, self.hyper, self.weights())

    @property
    def _ledger(self) -> np.ndarray:
        return self.ledger

    def _fits(self) -> bool:
        lines = (len(self.kept), self.width)
        fits = self.coefficients.view.shape == self.drifts.view.shape == lines
        return fits and len(self.held) == len(self.held_slots) and self.ledger.shape == fresh_ledger().shape

    def _reshape(self, change: Any) -> None:
        for name in ("coefficients", "drifts", "held"):
            setattr(self, name, Grown(np.ascontiguousarray(change(getattr(self, name).view))))
