"""From a table to rounds: blocks, passes, and the line that shows how it goes.

Labels are numbered a block at a time, so that a pass needs no copy of the data: beside the model
there is one row number per example when shuffling, and the trace that was asked for.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from ..compiled.rows import Rows
from ..learn.vocabulary import NO_TRACE, Examples, Tally
from ..models.weights import Model

BLOCK = 8192
NONE = np.zeros(0)
NO_ORDER = np.zeros(0, np.int64)


class Lesson(NamedTuple):
    """Rows and what is known about them."""

    rows: Rows
    count: int  # type: ignore[assignment]
    y: Any = None  # (n,), (n, labels) dense or sparse, or None
    weights: np.ndarray = NONE


class Block(NamedTuple):
    """Positions first .. first + count - 1 of a pass."""

    first: int
    count: int  # type: ignore[assignment]
    order: np.ndarray  # row numbers, or empty: the positions themselves
    surprise: bool = False  # one round, whose label was not known before

    def take(self, values: Any) -> Any:
        """The block's part of something that has one entry per row."""
        if self.order.size:
            return values[self.order]
        return values[self.first : self.first + self.count]


Cutter = Callable[[Block], Iterator[tuple[Block, np.ndarray, np.ndarray]]]
"""Cuts a block into parts, each with its targets and weights."""


class NotFinite(Exception):
    """A row stopped the loop; its number is the only argument."""


def blocks(count: int, order: np.ndarray = NO_ORDER, size: int | None = None) -> Iterator[Block]:
    """The rounds of a pass, a block at a time."""
    size = size or BLOCK
    for first in range(0, count, size):
        stop = min(first + size, count)
        yield Block(first, stop - first, order[first:stop])


def learn_block(
    model: Model,
    rows: Rows,
    block: Block,
    targets: np.ndarray,
    weights: np.ndarray = NONE,
    chance: np.ndarray = NONE,
    trace: np.ndarray = NO_TRACE,
    judged: bool = False,
) -> Tally:
    """Play one block; a row that is not finite raises with its number."""
    examples = Examples(rows, targets, weights, chance, block.order)
    play = model.learn_judged if judged else model.learn
    tally = play(examples, block.first, block.count, trace)
    if tally.stopped < block.count:
        at = tally.stopped
        raise NotFinite(int(block.order[at]) if block.order.size else block.first + at)
    return tally


class Sums:
    """Tallies added up."""

    def __init__(self) -> None:
        self.rounds = self.mistakes = self.errors = self.updates = 0
        self.loss = 0.0

    def add(self, tally: Tally, before: int) -> None:
        """Take in a block that started at clock `before`."""
        self.rounds += tally.clock - before
        self.loss += tally.loss
        self.mistakes += tally.mistakes
        self.errors += tally.errors
        self.updates += tally.updates

    @property
    def mean_loss(self) -> float:
        """Mean online loss."""
        return self.loss / max(self.rounds, 1)


class Line:
    """One live line on the standard error: what is done, how well, how fast, how long still.

    Written by hand because the core depends on no progress library.
    """

    def __init__(self, total: int, wanted: bool, counts_mistakes: bool = True) -> None:
        self.total, self.wanted, self.counts_mistakes = total, wanted, counts_mistakes
        self.began: float | None = None  # the clock starts after the first block, which may compile
        self.base, self.shown = 0, 0.0
        self.passed: tuple[int, Sums] | None = None

    def show(self, what: str, done: int, sums: Sums, last: bool = False) -> None:
        """Refresh the line, a few times a second."""
        now = time.monotonic()
        if self.began is None:
            self.began, self.base = now, done
        if not self.wanted or (not last and now - self.shown < 0.1):
            return
        self.shown = now
        spent = max(now - self.began, 1e-9)
        rate = (done - self.base) / spent
        if self.counts_mistakes:
            quality = f"error {sums.mistakes / max(sums.rounds, 1):.4f}"
        else:
            quality = f"loss {sums.mean_loss:.4g}"
        left = f"{(self.total - done) / rate:.0f} s left" if rate > 0 else "..."
        line = f"{what}  {quality}  {rate:,.0f} examples/s  {f'{spent:.1f} s' if last else left}"
        sys.stderr.write(f"\r{line:<78}" + ("\n" if last else ""))
        sys.stderr.flush()

    def end(self, rounds: int) -> None:
        """The line as it stays."""
        if self.passed is not None:
            number, sums = self.passed
            self.show(f"{number} passes", number * rounds, sums, last=True)


class Passes(NamedTuple):
    """How often to go over the data."""

    most: int
    tol: float | None
    patience: int
    order: Callable[[int], np.ndarray]  # pass number -> row order, or empty

    def run(self, play: Callable[[int, np.ndarray], float]) -> tuple[int, bool]:
        """Play passes until the mean online loss stops falling; passes made, still falling?

        A pass that does not bring the loss `tol` below the best so far is without progress;
        `patience` such passes in a row are the end.
        """
        best, stale = float("inf"), 0
        for number in range(1, self.most + 1):
            loss = play(number, self.order(number))
            if self.tol is None:
                continue
            stale = stale + 1 if loss > best - self.tol else 0
            best = min(best, loss)
            if stale >= self.patience:
                return number, False
        return self.most, self.tol is not None and self.most > 1 and stale == 0
