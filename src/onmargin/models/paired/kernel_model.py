"""A paired learner at work with a kernel: its hypothesis is a sum over vectors."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from ...compiled.rows import Rows
from ...kernels.sides import Side, side_of
from ...learn.paired.draws import ARRIVAL
from ...learn.paired.members import WITH_VECTORS, BlockVectors, Coefficients
from ...learn.paired.rounds import PairedRounds, player
from ...learn.spaces.arrays import Start
from ...learn.vocabulary import Examples, Tally
from ..kernel.forms import Unbounded
from ..kernel.model import summed
from ..kernel.products import BLOCK, Evaluator, sharing
from ..kernel.support import Form
from ..table import Row
from .model import Paired


class PairedKernel(Paired, Unbounded):
    """Vectors: a block's members are found once, their scores kept up to date as it is played."""

    def __init__(self, row: Row, start: Start, choices: dict[str, Any], form: Form) -> None:
        super().__init__(row, start, choices, form)
        self._begin_pairing()

    def _play(self, examples: Examples, first: int, count: int, trace: np.ndarray, judged: bool) -> Tally:
        order = examples.order
        last = int(order.max()) if order.size else first + count - 1
        if self.pairing.given is not None:
            last = max(last, int(self.pairing.given.members.max()))
        if last >= len(self.places):
            self.open(last + 1)
        sums, at = np.zeros(4), 0
        while at < count:
            stop = min(at + (self.most or BLOCK), count)
            some = slice(at, stop)
            part = Examples(
                examples.rows,
                examples.targets[some],
                examples.weights[some],
                examples.chance[some],
                order[some],
            )
            lines = trace[some] if trace.size else trace
            tally = self._play_some(part, first + at, stop - at, lines, judged)
            self.clock, sums = tally.clock, sums + tally[2:]
            if tally.stopped < stop - at:
                return summed(self.clock, at + tally.stopped, sums)
            at = stop
        return summed(self.clock, count, sums)

    def _play_some(
        self, examples: Examples, first: int, count: int, trace: np.ndarray, judged: bool
    ) -> Tally:
        order = examples.order
        block = self.pairing.rounds(examples, first, count, self._recent, self._rivals, self.offset)
        arrivals = self.offset + (order if order.size else np.arange(first, first + count))
        ids = self._ids(block, arrivals)
        numbers, places = np.unique(ids, return_inverse=True)
        side = self._side_with(examples.rows, block.pool, numbers)
        marks = np.zeros((len(numbers), self.start.outputs), np.int8)
        weights = np.ones(len(numbers)) if block.pool_weights.size else block.pool_weights
        others = block.members != ARRIVAL
        marks[places[others]] = block.pool_marks[block.lines[others]]
        if weights.size:
            weights[places[others]] = block.pool_weights[block.lines[others]]
        with sharing(len(self.kept)) as threads, np.errstate(over="ignore", invalid="ignore"):
            evaluator = self.evaluator(threads)
            own = self._checked_lengths(evaluator, side, numbers - self.offset)
            kept = self._prepared(evaluator, side, own, judged)
        block = block._replace(
            rows=kept,
            pool=None,
            pool_marks=marks,
            pool_weights=weights,
            members=places,
            lines=places,
            order=order[:0],
        )
        shape, dated = (len(side), self.width), (len(side) if self.start.average else 0, self.width)
        space = Coefficients(np.zeros(shape), np.zeros(dated), np.zeros(len(side) + 1, np.int64))
        play, hyper, room = player(self.rule, WITH_VECTORS), self._hyper(judged), self._room(block)
        middle = self.pairing.middle
        tally = Tally(*play(block, space, hyper, self.clock, room, middle, trace, 0, 0, count))
        self._keep(side, space)
        self.pairing.tidy()
        return tally

    def _dtype(self) -> str:
        return self.form.dtype

    def _ids(self, block: PairedRounds, arrivals: np.ndarray) -> np.ndarray:
        """The number of every member among all rows so far."""
        ids, others = np.repeat(arrivals, np.diff(block.starts)), block.members != ARRIVAL
        drawn = block.members[others]
        ids[others] = self.pairing.pool.ids.view[drawn] if self.pairing.given is None else drawn + self.offset
        return ids

    def _side_with(self, rows: Rows, pool: Rows, numbers: np.ndarray) -> Side:
        """Vectors by their numbers: of the table at hand, or of the pool."""
        here = numbers >= self.offset
        side = self._side(rows, numbers[here] - self.offset, learning=True)
        if here.all():
            return side
        places = {int(number): slot for slot, number in enumerate(self.pairing.pool.ids.view)}
        slots = np.array([places[int(number)] for number in numbers[~here]])
        old = side_of(pool, slots, numbers[~here], self.kept.width, side.dtype)
        old = self.kept.like(old)
        if side.sparse:
            width = max(side.width, old.width)
            raw: Any = sp.vstack([old.table(width), side.table(width)], format="csr")
        else:
            raw = np.vstack([old.raw, side.raw])
        both = Side(raw, numbers, side.dtype, side.shift)
        both.direct = side.direct
        return both

    def _prepared(self, evaluator: Evaluator, side: Side, own: np.ndarray, judged: bool) -> BlockVectors:
        both = [self.coefficients.view, self.drifts.view] if judged else [self.coefficients.view]
        (sums,), (gram,) = evaluator.sums_and_grams(self.kept, side, np.concatenate(both, axis=1), own)
        dated = np.ascontiguousarray(sums[self.width :]) if judged else np.zeros((0, 0))
        return BlockVectors(np.ascontiguousarray(sums[: self.width]), dated, gram, own[0])

    def _keep(self, side: Side, space: Coefficients) -> None:
        """Coefficients to the vectors they belong to; new ones are taken on."""
        hits = np.flatnonzero(space.turns[:-1])
        hits = hits[np.argsort(space.turns[hits])]  # in the order they came in, however rounds are cut
        numbers = side.ids[hits]
        order = np.argsort(self.kept.ids.view, kind="stable")
        known = self.kept.ids.view[order]
        at = np.minimum(np.searchsorted(known, numbers), max(len(known) - 1, 0))
        found = known[at] == numbers if len(known) else np.zeros(len(numbers), bool)
        slots = np.where(found, order[at] if len(known) else 0, 0)
        new = hits[~found]
        slots[~found] = len(self.kept) + np.arange(len(new))
        if len(new):
            self.kept.append(side.some(new))
            for lines in (self.coefficients, self.drifts):
                lines.append(np.zeros((len(new), self.width)))
        self.coefficients.view[slots] += space.weights[hits]
        if space.drift.size:
            self.drifts.view[slots] += space.drift[hits]

    def _block_scores(
        self, evaluator: Evaluator, side: Side, coefficients: np.ndarray, centre: float | None
    ) -> np.ndarray:
        scores = super()._block_scores(evaluator, side, coefficients, centre)
        return np.asarray(scores - self.thresholds)
