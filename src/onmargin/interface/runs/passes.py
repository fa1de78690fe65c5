"""From a table to rounds: blocks, passes until the loss stops falling, the line that shows it.

Labels are numbered a block at a time, so that a pass needs no copy of the data: beside the model
there is one row number per example when shuffling, and the trace that was asked for.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from ...compiled.rows import Rows
from ...errors import BadInput, warn
from ...learn.vocabulary import NO_ORDER, NO_TRACE, NONE, Examples, Tally
from ...models.user_tasks import Nonsense
from ...models.weights import Model
from ...results.trace import Watcher

if TYPE_CHECKING:
    from ..learner import Learner
    from ..tables import Table

BLOCK = 8192


class Block(NamedTuple):
    """Positions first .. first + size - 1 of a pass."""

    first: int
    size: int
    order: np.ndarray  # row numbers, or empty: the positions themselves
    new_label: bool = False  # one round, whose label was not known before

    def take(self, values: Any) -> Any:
        """The block's part of something that has one entry per row."""
        if self.order.size:
            return values[self.order]
        return values[self.first : self.first + self.size]


class TrainingSet(NamedTuple):
    """Rows and what is known about them."""

    rows: Rows
    size: int
    y: Any = None  # (n,), (n, labels) dense or sparse, or None
    weights: np.ndarray = NONE
    begins: int = 0  # before this row the constant coordinate is 0: nothing has fixed its value yet

    @property
    def is_seen(self) -> bool:
        """Has any row a weight above 0? Others are not seen."""
        return not self.weights.size or bool(self.weights.any())

    def rows_of(self, block: Block) -> Rows:
        """The rows as they are to a block, which does not go beyond `begins`."""
        return self.rows if block.first >= self.begins else self.rows._replace(bias=0.0)


Part = tuple[Block, np.ndarray, np.ndarray]
"""Some rounds of a block with their targets and weights."""

Cutter = Callable[[Block], Iterator[Part]]
"""Cuts a block where a new label appears."""

Luck = Callable[[Model, int, np.ndarray], np.ndarray]
"""One uniform for each of the rounds to come, where the learner draws."""


class NotFinite(Exception):
    """A row stopped the loop; its number is the only argument."""


@contextmanager
def naming_rows(learner: Learner, X: Table) -> Iterator[None]:
    """A row that stops the loop is named, with its column."""
    try:
        yield
    except (IndexError, Nonsense) as error:
        raise fault_of(learner, error) from None
    except NotFinite as stop:
        raise learner._bad_row(X, stop.args[0]) from None


def fault_of(learner: object, error: IndexError | Nonsense) -> Exception:
    """Where a round has left an array, or its task is beside itself: whose functions did it."""
    functions: dict[str, object] = getattr(getattr(learner, "recipe", None), "own_functions", dict)()
    if not functions:
        return error
    names = ", ".join(map(repr, functions))
    if isinstance(error, Nonsense):
        return BadInput(f"one of {names} {error}; nothing was learned; mend it")
    return BadInput(f"one of {names} reads or writes beyond an array's end ({error}); mend it")


def blocks(
    count: int, order: np.ndarray = NO_ORDER, size: int | None = None, cut: int = 0
) -> Iterator[Block]:
    """The rounds of a pass, a block at a time; none goes beyond `cut`, where another begins."""
    size = size or BLOCK
    for first in range(0, count, size):
        stop = min(first + size, count)
        for begin, end in pairwise((first, cut, stop) if first < cut < stop else (first, stop)):
            yield Block(begin, end - begin, order[begin:end])


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


def mean_loss(sums: Sums) -> float:
    """What a pass is judged by, for most."""
    return sums.mean_loss


class Game(NamedTuple):
    """What one pass is played with."""

    model: Model
    data: TrainingSet
    cut: Cutter
    luck: Luck
    chance: np.ndarray = NONE  # given uniforms, by position; empty: those of `luck`
    judged: bool = False  # answers are the averages'
    watcher: Watcher | None = None
    known: Callable[[], list[Any]] = list  # labels known at this moment, for the watcher

    def learn(self, part: Part, trace: np.ndarray = NO_TRACE) -> tuple[Tally, int]:
        """Some rounds, and the clock before them; a row that is not finite raises with its number."""
        block, targets, weights = part
        luck = block.take(self.chance) if self.chance.size else self.luck(self.model, block.size, weights)
        examples = Examples(self.data.rows_of(block), targets, weights, luck, block.order)
        before = self.model.clock
        play = self.model.learn_judged if self.judged else self.model.learn
        tally = play(examples, block.first, block.size, trace)
        if tally.stopped < block.size:
            at = tally.stopped
            raise NotFinite(int(block.order[at]) if block.order.size else block.first + at)
        return tally, before

    def play(
        self, order: np.ndarray = NO_ORDER, size: int | None = None,
        show: Callable[[int, Sums], None] | None = None, sums: Sums | None = None,
    ) -> Sums:  # fmt: skip
        """One pass, or one that goes on with these sums.

        The watcher, if any, is shown every block, and `show` told how far it is.
        """
        sums, watcher = sums or Sums(), self.watcher
        size = size or (4 * BLOCK if watcher is None else BLOCK)
        for block in blocks(len(order) or self.data.size, order, size, self.data.begins):
            for part in self.cut(block):
                some, trace, known = part[0], NO_TRACE, []
                if watcher is not None:
                    known = self.known()
                    trace = watcher.table(some.first, some.size, self.model.start.outputs, known)
                tally, before = self.learn(part, trace)
                if trace.size and watcher is not None and watcher.labels and not known:
                    trace[:, 0] = np.nan  # before any label the answer is None
                if some.new_label:  # answered without the label it brought
                    tally = tally._replace(mistakes=tally.clock - before)
                sums.add(tally, before)
            if watcher is not None:
                watcher.curve.append((sums.rounds, sums.mistakes, sums.loss))
            if show is not None:
                show(block.first + block.size, sums)
        return sums


class Line:
    """One live line on the standard error: what is done, how well, how fast, how long still.

    Written by hand because the core depends on no progress library.
    """

    def __init__(self, total: int, wanted: bool, counts_mistakes: bool = True) -> None:
        self.total, self.wanted, self.counts_mistakes = total, wanted, counts_mistakes
        self.began: float | None = None  # the clock starts after the first block, which may compile
        self.base, self.shown = 0, 0.0

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


class Stopping(NamedTuple):
    """How often to go over the data.

    A pass that does not bring the mean online loss `tol` below the best so far is without progress;
    `patience` such passes in a row are the end.
    """

    most: int
    tol: float | None
    patience: int
    verbose: bool = False
    counts_mistakes: bool = True
    advice: str = ""  # what may help beside more passes


def _show(line: Line, what: str, before: int, done: int, sums: Sums) -> None:
    line.show(what, before + done, sums)


def run_passes(
    count: int, stopping: Stopping, order: Callable[[], np.ndarray],
    play: Callable[[np.ndarray, Callable[[int, Sums], None]], Sums],
    judge: Callable[[Sums], float] = mean_loss, judged: str = "mean online loss",
) -> int:  # fmt: skip
    """Passes of `count` rounds until the mean online loss (or what `judge` says) stops falling; how many."""
    most, tol = stopping.most, stopping.tol
    line = Line(count * most, stopping.verbose, stopping.counts_mistakes)
    best, stale, number = float("inf"), 0, 0
    while number < most:
        number += 1
        done = (number - 1) * count
        sums = play(order(), partial(_show, line, f"pass {number}", done))
        if tol is None:
            continue
        reached = judge(sums)
        stale = stale + 1 if reached > best - tol else 0
        best = min(best, reached)
        if stale >= stopping.patience:
            break
    line.show(f"{number} passes", number * count, sums, last=True)
    if tol is not None and most > 1 and stale == 0:
        warn(
            f"the {judged} was still falling after max_iter={most} passes; {stopping.advice}raise "
            "max_iter, or set tol=None to run exactly that many",
            ConvergenceWarning,
        )
    return number
