"""The kernel models: Unbounded, Bounded (budgets, Projectron), MultiKernel (OM-2), KernelRidge (BBQ)."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy import linalg

from ...compiled.checks import first_not_finite
from ...compiled.rows import Rows
from ...kernels.sides import Side
from ...learn.kernel_spaces import many
from ...learn.kernel_spaces.expansion import Expansion, Prepared, fresh_ledger
from ...learn.kernel_spaces.projection import Budgeted, Kept
from ...learn.kernel_spaces.uses import shrunk_drift
from ...learn.spaces.arrays import Start, padded
from ...learn.vocabulary import BATCH, FOLDED, FOLDED_SHARE, LEDGER_LENGTH, OLDEST, ROOM, VECTORS
from ..layout import Arrays, Facts, Layout, Wanted, indices, lines
from ..table import Row
from ..weights import Numbers
from .model import KernelModel
from .products import BLOCK, Evaluator
from .vectors import Grown

FACTORED = ("projection", "projection_plus", "evidence")  # Spaces that keep a Cholesky factor
SQUARED = (*FACTORED, "fade")  # Spaces that keep a matrix of their vectors


class Spelled(NamedTuple):
    """What a Space needs to spell coefficients out."""

    weights: np.ndarray
    drift: np.ndarray
    ledger: np.ndarray


class Unbounded(KernelModel):
    """Every vector moved by is kept: coefficients and their drift, one line each."""

    keeps_rows = True  # a coefficient is one row's, however often it comes

    parts: tuple[str, ...] = ("coefficients", "drifts", "ledger", "held", "held_slots")
    space: Expansion | many.MultiKernel

    def _begin(self) -> None:
        self.coefficients = Grown(np.zeros((0, self.width)))
        self.drifts = Grown(np.zeros((0, self.width)))
        self.ledger = fresh_ledger()
        self.held, self.held_slots = Grown(np.zeros((0, self.width))), Grown(np.zeros(0, np.int64))

    def _ready_block(
        self, evaluator: Evaluator, side: Side, own: np.ndarray, weights: np.ndarray, judged: bool
    ) -> tuple[np.ndarray, ...]:
        count, average = len(side), self.start.average
        self.space = Expansion(
            np.zeros((count, self.width)), np.zeros((count if average else 0, self.width)), self.ledger,
            np.zeros(2),
        )  # fmt: skip
        both = [self._in_force(), self.drifts.view] if judged else [self._in_force()]
        coefficients = np.concatenate(both, axis=1) if judged else both[0]
        (sums,), (gram,) = evaluator.sums_and_grams(self.kept, side, coefficients, own)
        dated = np.ascontiguousarray(sums[self.width :]) if judged else np.zeros((0, 0))
        return Prepared(
            np.ascontiguousarray(sums[: self.width]),
            dated,
            gram,
            own[0],
            self._batches().first_to_see(weights, count),
        )

    def _absorb(self, side: Side, rows: np.ndarray, clock: int) -> None:
        added, ledger = self.space.weights, self.ledger
        if ledger[FOLDED] != 1.0:
            self.drifts.view[...] += ledger[FOLDED_SHARE] * self.coefficients.view
            self.coefficients.view[...] *= ledger[FOLDED]
            ledger[FOLDED], ledger[FOLDED_SHARE] = 1.0, 0.0
        hits = np.flatnonzero(added.any(axis=1))
        slots = self._slots_for(side, rows, hits) if len(hits) else hits
        if len(hits):
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
        if len(new) > 1 and (np.diff(rows[new]) <= 0).any():  # a row may come twice
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

    def write_all(self, coefficients: np.ndarray) -> None:
        """Go on from these coefficients."""
        self.coefficients.view[...] = coefficients

    def begin_mean(self) -> None:
        """No round so far is in the average."""
        self.drifts = Grown(np.zeros_like(self.drifts.view))

    def put_mean(self, mean: np.ndarray) -> None:
        """Date the coefficients so that this is their average (Pegasos)."""
        spelled = self._spelled(self.coefficients.view)
        self.drifts.view[...] = shrunk_drift(spelled, self.clock, self.hyper, mean)

    @property
    def _ledger(self) -> np.ndarray:
        return self.ledger

    @classmethod
    def _layout(cls, row: Row, start: Start, kept: int, kernels: int, arrays: Arrays) -> Layout:
        width, held = padded(start.outputs, start.many), lines(arrays, "held")
        return {
            "coefficients": Wanted((kept, width)), "drifts": Wanted((kept, width)),
            "ledger": Wanted((LEDGER_LENGTH,)), "held": Wanted((held, width)),
            "held_slots": indices((held,), kept),
        }  # fmt: skip

    def _reshape(self, change: Callable[[np.ndarray], np.ndarray]) -> None:
        for name in ("coefficients", "drifts", "held"):
            setattr(self, name, Grown(np.ascontiguousarray(change(getattr(self, name).view))))


class Bounded(KernelModel):
    """Few vectors are kept, those of a budget or that a projection calls for: slots that change hands."""

    parts = ("space",)
    space: Budgeted

    def _begin(self) -> None:
        self.space = self._arrays(0)

    @staticmethod
    def _shapes(row: Row, start: Start, room: int) -> dict[str, tuple[int, ...]]:
        """The shapes of its arrays, with so many slots."""
        width, side = padded(start.outputs, start.many), room if row.space.name in SQUARED else 0
        return {
            "weights": (room, width), "drift": (room if start.average else 0, width), "square": (side, side),
            "work": (room,), "owner": (room,), "ledger": (LEDGER_LENGTH,), "notes": (2,),
        }  # fmt: skip

    def _arrays(self, room: int) -> Budgeted:
        shapes = self._shapes(self.row, self.start, room)
        fresh = Budgeted(**{name: np.zeros(shape) for name, shape in shapes.items()})
        return fresh._replace(owner=np.full(room, -1, np.int64), ledger=fresh_ledger())

    @classmethod
    def _layout(cls, row: Row, start: Start, kept: int, kernels: int, arrays: Arrays) -> Layout:
        room = lines(arrays, "space.weights")
        shapes = cls._shapes(row, start, room)
        wanted = {f"space.{name}": Wanted(shape) for name, shape in shapes.items()}
        nobody = {"space.owner": indices((room,), 0, least=-1)}  # slots change hands within a block only
        scratch = {name: wanted[name]._replace(scratch=True) for name in ("space.work", "space.notes")}
        return wanted | nobody | scratch

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

    def write_all(self, coefficients: np.ndarray) -> None:
        """Go on from these coefficients."""
        self.space.weights[: len(coefficients)] = coefficients

    def begin_mean(self) -> None:
        """No round so far is in the average."""
        shapes = self._shapes(self.row, self.start, len(self.space.weights))
        self.space = self.space._replace(drift=np.zeros(shapes["drift"]))

    def put_mean(self, mean: np.ndarray) -> None:
        """Date the coefficients so that this is their average (Pegasos)."""
        self.space.drift[: len(mean)] = shrunk_drift(self._used(), self.clock, self.hyper, mean)

    def _used(self) -> Budgeted:
        count = int(self.space.ledger[VECTORS])
        return self.space._replace(weights=self.space.weights[:count], drift=self.space.drift[:count])

    @property
    def _ledger(self) -> np.ndarray:
        return self.space.ledger

    def _fits(self) -> bool:
        used, ledger = len(self.kept), self.space.ledger
        fits = ledger[VECTORS] == used <= len(self.space.weights)
        fits = fits and ledger[OLDEST] in range(max(used, 1))
        factor = self.space.square[:used, :used] if self.row.space.name in FACTORED else np.ones((1, 1))
        return bool(fits and (factor.diagonal() > 0).all())

    def _reshape(self, change: Callable[[np.ndarray], np.ndarray]) -> None:
        weights, drift = change(self.space.weights), change(self.space.drift)
        self.space = self.space._replace(
            weights=np.ascontiguousarray(weights), drift=np.ascontiguousarray(drift)
        )


class MultiKernel(Unbounded):
    """OM-2: as the unbounded learners, with a weight for every kernel."""

    parts = (*Unbounded.parts, "norms", "omegas")
    whole_share = 2.0  # two classes in one row are two rows of opposite signs

    def _begin(self) -> None:
        super()._begin()
        self.norms, self.omegas = np.zeros((2, len(self.form.kernels)))

    def kernel_weights(self) -> np.ndarray:
        """omega: what each kernel's scores are multiplied by."""
        return np.array(self.omegas)

    @classmethod
    def _layout(cls, row: Row, start: Start, kept: int, kernels: int, arrays: Arrays) -> Layout:
        wanted = super()._layout(row, start, kept, kernels, arrays)
        return wanted | {"norms": Wanted((kernels,)), "omegas": Wanted((kernels,))}

    def _ready_block(
        self, evaluator: Evaluator, side: Side, own: np.ndarray, weights: np.ndarray, judged: bool
    ) -> tuple[np.ndarray, ...]:
        empty = np.zeros((0, self.width))
        self.space = many.MultiKernel(
            np.zeros((len(side), self.width)), empty, self.norms, self.omegas, np.zeros(2)
        )  # fmt: skip
        frozen, grams = evaluator.sums_and_grams(self.kept, side, self.coefficients.view, own)
        return many.Many(frozen, grams, own)

    def _block_scores(
        self, evaluator: Evaluator, side: Side, coefficients: np.ndarray, centre: float | None
    ) -> np.ndarray:
        sums = evaluator.sums(self.kept, side, coefficients)
        scores = np.tensordot(self.omegas, sums, axes=1)[: self.start.outputs].T
        return np.asarray(scores * (2.0 if self.start.outputs == 1 else 1.0))


class KernelRidge(Bounded):
    """BBQ's estimates: `space.weights` are the labels, `space.square` the Cholesky factor of K + H^-1.

    `space.drift` are the weights h of the examples, H; a file has none where all are 1.
    """

    @staticmethod
    def _shapes(row: Row, start: Start, room: int) -> dict[str, tuple[int, ...]]:
        shapes = Bounded._shapes(row, start, room)
        return shapes | {"drift": shapes["weights"]}

    def state(self) -> tuple[Numbers, dict[str, np.ndarray]]:
        """What a file must hold."""
        facts, arrays = super().state()
        if (self._importance() == 1.0).all():
            arrays["space.drift"] = np.zeros((0, self.width))
        return facts, arrays

    @classmethod
    def _layout(cls, row: Row, start: Start, kept: int, kernels: int, arrays: Arrays) -> Layout:
        wanted = super()._layout(row, start, kept, kernels, arrays)
        if not lines(arrays, "space.drift"):
            wanted |= {"space.drift": Wanted((0, padded(start.outputs, start.many)))}
        return wanted

    def restore(self, facts: Facts, arrays: Arrays) -> None:
        """Take on a state that was written, and that fits the layout."""
        if not len(arrays["space.drift"]):
            arrays = {**arrays, "space.drift": np.ones(arrays["space.weights"].shape)}
        super().restore(facts, arrays)

    def _fits(self) -> bool:
        return super()._fits() and bool((self._importance() > 0.0).all())

    def _importance(self) -> np.ndarray:
        """h of every example kept."""
        return np.asarray(self.space.drift[: int(self.space.ledger[VECTORS]), 0])

    def _reshape(self, change: Callable[[np.ndarray], np.ndarray]) -> None:
        self.space = self.space._replace(weights=np.ascontiguousarray(change(self.space.weights)))

    def estimates(self, rows: Rows, count: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, int]:
        """Of rows 0 .. count - 1: the estimate, v, |Px|^2; and how many were finite from the first on."""
        found = np.zeros((3, count))
        done = int(first_not_finite(rows, count))
        if done < count:
            return found[0], found[1], found[2], done
        support = self.support.as_wide_as(rows)
        used = int(self.space.ledger[VECTORS])
        factor, labels = self.space.square[:used, :used], self.space.weights[:used, 0]
        evaluator, importance = support.evaluator(), self._importance()[:, None]
        for first in range(0, count, BLOCK):
            which = np.arange(first, min(first + BLOCK, count))
            side = support.side(rows, which, self.offset + which, self.features, np.float64)
            support.check(side, which, "nothing was predicted")
            values = np.zeros((len(which), used))
            evaluator.values(support.vectors, side, values)
            half = linalg.solve_triangular(factor, values.T, lower=True) if used else values.T
            variance = np.maximum(evaluator.diagonals(side)[0] - np.square(half).sum(axis=0), 0.0)
            c = linalg.solve_triangular(factor, half, lower=True, trans=1) if used else half
            found[0, which] = labels @ c / (1.0 + variance)
            found[1, which] = variance
            found[2, which] = np.maximum(variance - (np.square(c) / importance).sum(axis=0), 0.0)
        return found[0], found[1], found[2], count

    def solved(self) -> np.ndarray:
        """c = (K + H^-1)^-1 y, so that w = P b = sum of c_i x_i. (The coefficients shown are labels.)"""
        used = int(self.space.ledger[VECTORS])
        factor, labels = self.space.square[:used, :used], self.space.weights[:used, 0]
        return np.asarray(linalg.cho_solve((factor, True), labels) if used else labels)

    def scores(self, rows: Rows, count: int, averaged: bool) -> tuple[np.ndarray, int]:
        """Estimates, as scores."""
        estimates, _, _, done = self.estimates(rows, count)
        return estimates[:, None], done
