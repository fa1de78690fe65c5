"""What a run on a cluster came to: the error by epoch and by worker, and the price of going parallel."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from ..results.plots import epoch_curves
from ..results.tally import WORDS
from .library import Value

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

LISTED = 20  # workers that have a line in what is printed


class Line(NamedTuple):
    """What one partition came to in one stretch: every example was answered before it was learned."""

    partition: int
    name: str
    worker: str
    rounds: int
    mistakes: int
    updates: int
    loss: float
    seconds: float  # of reading and learning, on the worker
    blocks: int
    ended: bool = True  # all of it was read
    gap: float = 0.0  # of numbers: the absolute errors; `idle`: those of the mean of the targets before each
    idle: float = 0.0
    level: float = 0.0  # the targets

    def plus(self, later: Line) -> Line:
        """And of a later stretch."""
        return self._replace(
            rounds=self.rounds + later.rounds, mistakes=self.mistakes + later.mistakes,
            updates=self.updates + later.updates, loss=self.loss + later.loss,
            seconds=self.seconds + later.seconds, blocks=self.blocks + later.blocks, ended=later.ended,
            gap=self.gap + later.gap, idle=self.idle + later.idle, level=self.level + later.level,
        )  # fmt: skip


KINDS: tuple[Callable[[Value], Value], ...] = (
    int, str, str, int, int, int, float, float, int, bool, float, float, float,
)  # fmt: skip
"""Of the fields of a line, as a file must have them."""


class Sum(NamedTuple):
    """Lines added up."""

    rounds: int = 0
    mistakes: int = 0
    updates: int = 0
    loss: float = 0.0
    seconds: float = 0.0
    gap: float = 0.0
    idle: float = 0.0
    level: float = 0.0

    def plus(self, other: Sum) -> Sum:
        """And so many more."""
        return Sum(
            self.rounds + other.rounds, self.mistakes + other.mistakes, self.updates + other.updates,
            self.loss + other.loss, self.seconds + other.seconds, self.gap + other.gap,
            self.idle + other.idle, self.level + other.level,
        )  # fmt: skip

    @classmethod
    def of(cls, lines: Iterable[Line]) -> Sum:
        """In the order they come."""
        found = cls()
        for line in lines:
            found = found.plus(cls(*(getattr(line, name) for name in cls._fields)))
        return found

    def total(self, kind: str) -> float:
        """Mistakes; of numbers, their absolute errors."""
        return {"labels": self.mistakes, "numbers": self.gap}.get(kind, self.loss)

    def error(self, kind: str) -> float:
        """The same over the rounds; NaN: nothing was seen."""
        return self.total(kind) / self.rounds if self.rounds else math.nan


class Epoch(NamedTuple):
    """One epoch: its lines in the order of partitions, and how long it took."""

    number: int
    lines: tuple[Line, ...]
    seconds: float
    bytes_mixed: int  # of the learned models that became one

    @property
    def sums(self) -> Sum:
        """Over all partitions."""
        return Sum.of(self.lines)


class Moment(NamedTuple):
    """How far a run is: partitions done of those of this epoch; `line` once an epoch is over."""

    epoch: int
    epochs: int
    done: int
    partitions: int
    line: Epoch | None = None


Tell = Callable[[Moment], None]


class Sample(NamedTuple):
    """As many epochs on the first rows of every partition, in sequence by one learner: its errors."""

    rows: int
    errors: tuple[float, ...]


class Report:
    """Errors of a run by epoch; `kind`: "labels" (mistakes over rounds), "numbers" (mean absolute error).

    epochs : what each came to. partitions : their names, by number.
    skipped : partitions that could not be read, and why. sample : the price of parallelism, or None, and
    `unsampled` why there is none.
    """

    def __init__(self, kind: str, partitions: Sequence[str], mixing: str) -> None:
        self.kind, self.partitions, self.mixing = kind, list(partitions), mixing
        self.epochs: list[Epoch] = []
        self.skipped: dict[str, str] = {}
        self.sample: Sample | None = None
        self.unsampled = ""

    @property
    def errors(self) -> list[float]:
        """By epoch."""
        return [epoch.sums.error(self.kind) for epoch in self.epochs]

    @property
    def error(self) -> float:
        """Of the last epoch."""
        return self.errors[-1] if self.epochs else math.nan

    @property
    def lacks_sample(self) -> bool:
        """Are there epochs that the learner in sequence did not have (after a run that was resumed)?"""
        return self.sample is None or len(self.sample.errors) < len(self.epochs)

    def by_worker(self, epoch: int = -1) -> dict[str, Sum]:
        """What each worker did in an epoch (the last)."""
        return self._grouped(epoch, lambda line: line.worker)

    def by_partition(self, epoch: int = -1) -> dict[str, Sum]:
        """What each partition came to in an epoch (the last)."""
        return self._grouped(epoch, lambda line: self.partitions[line.partition])

    def _grouped(self, epoch: int, name: Callable[[Line], str]) -> dict[str, Sum]:
        lines = self.epochs[epoch].lines if self.epochs else ()
        return {
            key: Sum.of(line for line in lines if name(line) == key) for key in sorted({*map(name, lines)})
        }

    def __repr__(self) -> str:
        said = f"Report({len(self.partitions)} partitions, {len(self.epochs)} epochs"
        skipped = f", {len(self.skipped)} skipped" if self.skipped else ""
        return f"{said}, {self._word} {self.error:.4f}{skipped})"

    @property
    def _word(self) -> str:
        return WORDS.get(self.kind, "loss")

    def __str__(self) -> str:
        """A table of at most 80 columns."""
        head = f"{'epoch':>5}  {'examples':>13}  {self._word:>8}  {'updates':>11}  {'seconds':>8}"
        if self.sample is not None:
            head += f"  {'in sequence':>11}"
        rows = [head]
        for place, epoch in enumerate(self.epochs):
            sums = epoch.sums
            row = f"{epoch.number:>5}  {sums.rounds:>13,}  {sums.error(self.kind):>8.4f}  {sums.updates:>11,}"
            row += f"  {epoch.seconds:>8.1f}"
            if self.sample is not None and place < len(self.sample.errors):
                row += f"  {self.sample.errors[place]:>11.4f}"
            rows.append(row)
        if self.sample is not None:
            rows.append(f"in sequence: one learner on a sample of {self.sample.rows:,} examples")
        elif self.unsampled:
            rows.append(f"in sequence: no sample could be learned: {self.unsampled}")
        workers = self.by_worker()
        for name, sums in list(workers.items())[:LISTED]:
            said = f", {self._word} {sums.error(self.kind):.4f}" if sums.rounds else ""
            rows.append(f"worker {name}: {sums.rounds:,} examples{said}, {sums.seconds:.1f} s")
        if len(workers) > LISTED:
            rows.append(f"and {len(workers) - LISTED:,} workers more (by_worker() has all)")
        rows += [
            f"skipped {why if why.startswith(name) else f'{name}: {why}'}"
            for name, why in self.skipped.items()
        ]
        return "\n".join(rows)

    def plot(self, ax: Axes | None = None) -> Figure:
        """The error of each epoch, and beside it what one learner comes to in sequence on the sample."""
        runs = {"in parts": self.errors}
        if self.sample is not None and self.sample.errors:
            runs["in sequence"] = list(self.sample.errors)
        return epoch_curves(runs, self.kind == "labels", self._word, ax)

    # ---- for files

    def state(self) -> dict[str, Value]:
        """Plain values that `restore` takes on again."""
        return {
            "kind": self.kind, "partitions": self.partitions, "mixing": self.mixing,
            "skipped": self.skipped, "sample": None if self.sample is None else tuple(self.sample),
            "epochs": [
                (epoch.number, [tuple(line) for line in epoch.lines], epoch.seconds, epoch.bytes_mixed)
                for epoch in self.epochs
            ],
        }  # fmt: skip

    @classmethod
    def restored(cls, state: dict[str, Value]) -> Report:
        """The same again."""
        found = cls(state["kind"], state["partitions"], state["mixing"])
        found.skipped = dict(state["skipped"])
        if state["sample"] is not None:
            rows, errors = state["sample"]
            found.sample = Sample(int(rows), tuple(map(float, errors)))
        found.epochs = [
            Epoch(int(number), tuple(map(_line, lines)), float(seconds), int(moved))
            for number, lines, seconds, moved in state["epochs"]
        ]
        return found


def _line(values: Sequence[Value]) -> Line:
    """From a file."""
    return Line(*(kind(value) for kind, value in zip(KINDS, values, strict=True)))


def whole(lines: Sequence[Line]) -> list[Line]:
    """A line for each partition and worker, in the order of partitions: those of stretches added up."""
    found: dict[tuple[int, str], Line] = {}
    for line in sorted(lines, key=lambda line: line.partition):
        key = line.partition, line.worker
        found[key] = found[key].plus(line) if key in found else line
    return list(found.values())
