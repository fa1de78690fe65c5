"""What the whole set fixes, the same for all partitions: found by a first pass of summaries."""

from __future__ import annotations

from collections import Counter

import numpy as np

from ..errors import BadInput
from ..interface.apart import Known, kind_of
from ..interface.learner import Learner
from ..interface.targets.labels import agreed, in_order, listed
from .library import Value
from .partitions import Partition
from .summary import Summary

MANY = 1 << 20  # lengths that are kept of all partitions; more are thinned


def announced(estimator: Learner, classes: Value) -> list[Value]:
    """All labels that the call says there are, which must be those that the learner says."""
    if kind_of(estimator) != "labels":
        raise BadInput(f"classes= is for labels, and {type(estimator).__name__} learns none; leave it out")
    labels = listed(classes)
    agreed(getattr(estimator, "classes", None), labels)
    return labels


class Whole:
    """Summaries that were added in the order of partitions, and let go of: as much is kept as of a model."""

    def __init__(self) -> None:
        self.first: tuple[Partition, Summary] | None = None
        self.rows = self.seen = self.width = self.runs = 0
        self.last_label: tuple[Value, ...] = ()
        self.counts, self.names = Counter[Value](), dict[Value, None]()
        self.lengths = LengthsOfAll()

    def add(self, partition: Partition, summary: Summary) -> None:
        """And the next one's."""
        if not summary.rows + summary.unseen:
            return
        if self.first is None:
            self.first = partition, summary
        refuse_other(partition, summary, *self.first)
        self.rows += summary.rows + summary.unseen
        self.seen += summary.rows
        self.width = max(self.width, summary.width)
        if summary.by_name:
            self.names.update(dict.fromkeys(summary.names or ()))
        self.counts.update(dict(summary.labels))
        goes_on = self.last_label and summary.ends and self.last_label[0] == summary.ends[0]
        self.runs += summary.runs - bool(goes_on)  # (a run may go on from a partition into the next)
        self.last_label = summary.ends[1:]
        self.lengths.add(summary.squares, summary.stride)

    def known(self, estimator: Learner, classes: Value) -> Known:
        """What all of them tell."""
        if self.first is None or not self.seen:
            raise BadInput("no partition holds an example (of a weight above 0)")
        first = self.first[1]
        said = classes if classes is not None else getattr(estimator, "classes", None)
        labels = in_order(list(self.counts)) if said is None else in_order(listed(said))
        if first.sets is not None and not labels and first.by_name:
            raise BadInput(
                "no set of labels has a label; wanted {label: bool} in some, or classes= with all of them"
            )
        if first.sets is not None and said is None and not first.by_name:
            labels = list(range(first.sets))
        return Known(
            self.rows, self.lengths.median(), len(self.names) if first.by_name else self.width,
            tuple(self.names) if first.by_name else first.names, first.by_name, tuple(labels),
            tuple(self.counts[label] for label in labels), first.sets is not None, self.runs,
        )  # fmt: skip


def refuse_other(partition: Partition, summary: Summary, before: Partition, first: Summary) -> None:
    """What does not go together with the first."""
    if summary.by_name != first.by_name or (summary.sets is None) != (first.sets is None):
        raise BadInput(f"{partition} holds another kind of examples than {before}; wanted one kind")
    if not first.by_name and summary.names != first.names:
        raise BadInput(f"{partition} has other columns than {before}; wanted the same names")
    if summary.sets != first.sets and not first.by_name:
        raise BadInput(f"{partition} has {summary.sets} labels, {before} {first.sets}; wanted as many")
    if summary.dense and first.dense and summary.width != first.width:
        raise BadInput(f"{partition} has {summary.width} columns, {before} {first.width}; wanted as many")


class LengthsOfAll:
    """Some |x|^2 of every partition, each standing for as many rows as it was kept for."""

    def __init__(self) -> None:
        self.kept: list[tuple[np.ndarray, int]] = []
        self.count = 0

    def add(self, squares: np.ndarray, stride: int) -> None:
        """Of the next partition; where there are too many, every second is kept from then on."""
        self.kept.append((squares, stride))
        self.count += len(squares)
        while self.count > MANY and any(len(some) > 1 for some, _ in self.kept):
            self.kept = [(some[::2].copy(), 2 * each) for some, each in self.kept]
            self.count = sum(len(some) for some, _ in self.kept)

    def median(self) -> float:
        """Of the rows that have a length."""
        squares = np.concatenate([some for some, _ in self.kept])
        each = np.concatenate([np.full(len(some), float(stride)) for some, stride in self.kept])
        there = np.isfinite(squares) & (squares > 0)
        squares, each = squares[there], each[there]
        if not squares.size:
            return 0.0
        if (each == each[0]).all():
            return float(np.median(squares))
        order = np.argsort(squares, kind="stable")
        reached = np.cumsum(each[order])
        return float(squares[order][np.searchsorted(reached, reached[-1] / 2)])
