"""A kernel row at work: blocks are prepared by matrix products, played by the loop, absorbed.

The loop is the same as for weights; only the block between rounds differs. Rows are numbered as they
come; a row of the same table that comes again (another pass) adds to its own coefficient.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..kernels.sides import Side
from ..learn.vocabulary import BATCH, NO_TRACE, Examples, Tally
from .kernel_answers import KernelAnswers
from .kernel_state import NO_ORDER
from .products import Evaluator, block_size, sharing


class KernelModel(KernelAnswers):
    """A kernel learner at work; a subclass says how a block is prepared and absorbed."""

    most: int | None = None  # rows to a block, where it is not chosen by itself (tests)

    def _ready_block(
        self, evaluator: Evaluator, side: Side, own: np.ndarray, weights: np.ndarray, judged: bool
    ) -> Any:
        """The block as the loop sees it."""
        raise NotImplementedError

    def _absorb(self, side: Side, rows: np.ndarray, clock: int) -> None:
        """Keep what the block has added."""
        raise NotImplementedError

    def learn(self, examples: Examples, first: int, count: int, trace: np.ndarray = NO_TRACE) -> Tally:
        """A block of rounds; see `rounds.learn`."""
        return self._play(examples, first, count, trace, False)

    def learn_judged(self, examples: Examples, first: int, count: int, trace: np.ndarray) -> Tally:
        """A block of rounds, answered by the averaged coefficients; see `rounds.judged`."""
        return self._play(examples, first, count, trace, True)

    def _play(self, examples: Examples, first: int, count: int, trace: np.ndarray, judged: bool) -> Tally:
        """Blocks of the size that suits what is kept, one after the other."""
        order, weights = examples.order, examples.weights
        last = int(order.max()) if order.size else first + count - 1
        if last >= len(self.places):
            self.open(last + 1)
        sums, at = np.zeros(4), 0
        while at < count:
            stop = min(at + (self.most or self._rows_at_once()), count)
            stop = at + self._whole_batches(weights[at:stop], stop - at)
            rows = order[at:stop] if order.size else np.arange(first + at, first + stop)
            side = self._side(examples.rows, rows, learning=True)
            some = slice(at, stop)
            part = Examples(
                None, examples.targets[some], weights[some], examples.chance[some], NO_ORDER
            )  # fmt: skip
            lines = trace[some] if trace.size else trace
            tally = self._play_block(side, part, rows, lines, judged)
            self.clock, sums = tally.clock, sums + tally[2:]
            if tally.stopped < stop - at:
                return summed(self.clock, at + tally.stopped, sums)
            at = stop
        return summed(self.clock, count, sums)

    def _rows_at_once(self) -> int:
        return block_size(len(self.kept))

    def _play_block(
        self, side: Side, part: Examples, rows: np.ndarray, trace: np.ndarray, judged: bool
    ) -> Tally:
        """One block: prepared, played, absorbed."""
        with sharing(len(self.kept)) as threads, np.errstate(over="ignore", invalid="ignore"):
            evaluator = self.evaluator(threads)
            own = self._checked_lengths(evaluator, side, rows)
            block = self._ready_block(evaluator, side, own, part.weights, judged)
        examples = part._replace(rows=block)
        state = (self.space, self.hyper, self.clock, self.desk)
        if judged:
            held = np.zeros(self.start.outputs)
            done = self.played().judge()(examples, *state, held, trace, 0, 0, len(side))
        else:
            if self._loop is None or self._loop[0] != self.asks:
                self._loop = self.asks, self.played().learner()
            done = self._loop[1](examples, *state, trace, 0, 0, len(side))
        tally = Tally(*done)
        self._absorb(side, rows, tally.clock)
        return tally

    def _whole_batches(self, weights: np.ndarray, count: int) -> int:
        """Rows to take so that a block ends with a mini-batch, or lies within one."""
        batch = int(self.hyper.numbers[BATCH])
        if batch == 1:
            return count
        ends = np.flatnonzero(self._clocks(weights, count) % batch == 0)
        seen = ends[(weights[ends] > 0) if weights.size else slice(None)]
        if not seen.size:
            return count
        return int(seen[0] if self.clock % batch else seen[-1]) + 1

    def _clocks(self, weights: np.ndarray, count: int) -> np.ndarray:
        """The clock after each of the rows that come next."""
        return self.clock + np.cumsum(weights > 0 if weights.size else np.ones(count, int))


def summed(clock: int, stopped: int, sums: np.ndarray) -> Tally:
    """A tally of several blocks: losses, mistakes, errors and updates added up."""
    loss, *counts = sums.tolist()
    return Tally(clock, stopped, loss, *map(int, counts))
