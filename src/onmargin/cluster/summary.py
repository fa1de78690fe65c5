"""What one partition tells of the whole set: read on a worker, in a first pass."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from ..errors import BadInput, as_float, shown
from ..interface.apart import kind_of
from ..interface.learner import Learner
from ..interface.parameters.fixed import is_unfixed
from ..interface.tables import bad_row, checked_weights
from ..interface.targets.labels import check_label, is_missing, items, listed
from ..sources.blocks import Block, height
from .library import Value
from .mixing import after, named
from .partitions import Examples, Partition, Reader, names_of

SOME = 1000  # rows whose lengths are kept, at least; those of a partition are thinned to no more than twice
NONE = np.zeros(0)


class Summary(NamedTuple):
    """What one partition tells of the whole."""

    rows: int = 0  # those that are seen: their weight is above 0
    unseen: int = 0  # of a table; their labels are known all the same
    squares: np.ndarray = NONE  # some |x|^2
    stride: int = 1  # each of them stands for so many rows
    width: int = 0
    names: tuple[Value, ...] | None = None
    by_name: bool = False
    labels: tuple[tuple[Value, int], ...] = ()
    sets: int | None = None  # labels that a set may have, where a row has a set
    runs: int = 0  # stretches of rows with one label
    ends: tuple[Value, ...] = ()  # the label of the first row, and that of the last
    dense: bool = False


class Asked(NamedTuple):
    """How much of a partition has to be read for its summary."""

    kind: str
    rows: int
    target: Value
    brief: bool  # the first rows tell all there is to know
    announced: tuple[Value, ...] | None = None  # all labels there may be


def asked(estimator: Learner, classes: Value, rows: int, target: Value) -> Asked:
    """Labels that nobody announced, their counts, lengths, lam, the width of sparse rows want all of them."""
    said = classes if classes is not None else getattr(estimator, "classes", None)
    labels = tuple(listed(said)) if said is not None and estimator.kind == "labels" else None
    counted = isinstance(getattr(estimator, "class_weight", None), str)
    rate = getattr(estimator, "lam", 0.0) is None
    kind = kind_of(estimator)
    lengths = is_unfixed(estimator.clone())
    brief = not (rate or counted or lengths) and (kind != "labels" or labels is not None)
    return Asked(kind, rows, target, brief, labels)


def summarise(partition: Partition, computed: Sequence[Value], asked: Asked) -> Summary:
    """Read a partition (or, where that will do, its first rows) and say what it holds."""
    with named(partition):
        return _summary(partition, computed, asked)


def _summary(partition: Partition, computed: Sequence[Value], asked: Asked) -> Summary:
    found, lengths, counts = Summary(), Lengths(), Counter[Value]()
    names: dict[Value, None] = {}
    several: set[bool] = set()  # has a dict a set of labels?
    for place, block in enumerate(Reader(partition, computed, asked.rows, asked.target)):
        with after(place * asked.rows):
            if isinstance(block, list):
                _look(block, asked, lengths, counts, names, several)
                sets = len(counts) if True in several else None
                found = found._replace(by_name=True, names=tuple(names), width=len(names), sets=sets)
                continue
            found = _with_block(found, block, asked, lengths, counts)
        if asked.brief and not sp.issparse(block.rows) and lengths.rows >= 2 * SOME:
            break
    strange = [label for label in counts if asked.announced is not None and label not in asked.announced]
    if strange:
        raise BadInput(
            f"it has the label {shown(strange[0])}, which is not among the classes {shown(asked.announced)}; "
            "announce all of them"
        )
    return found._replace(
        rows=lengths.rows,
        squares=np.array(lengths.kept, float),
        stride=lengths.stride,
        labels=tuple(counts.items()),
    )


def outlined(block: Examples, kind: str) -> Summary:
    """Of examples that are to be joined: what those of all partitions must be alike in, and no more.

    kind : "labels" or "numbers" of a learner, which takes no others; "": whoever comes first may take any.
    """
    if isinstance(block, list):
        several, lengths = set[bool](), Lengths()
        _look(block, Asked(kind, len(block), None, False), lengths, Counter(), {}, several)
        return Summary(lengths.rows, by_name=True, sets=0 if True in several else None)
    rows: Value = block.rows
    y: tuple[int, ...] = getattr(block.targets, "shape", ())
    found = Summary(
        height(rows), width=_width(rows), names=names_of(rows), dense=not sp.issparse(rows),
        sets=y[1] if len(y) == 2 and y[1] > 1 else None,
    )  # fmt: skip
    if kind:
        _refuse_no_numbers(rows)
    if kind == "labels":
        _count(block, np.arange(height(rows)), Counter())
    return found


def _look(
    block: list[tuple[Value, ...]], asked: Asked, lengths: Lengths, counts: Counter[Value],
    names: dict[Value, None], several: set[bool],
) -> None:  # fmt: skip
    """Add some dicts up."""
    for x, y, *weight in block:
        if not weight or _weight(weight[0]) > 0:
            names.update(dict.fromkeys(x))
            lengths.add([_squared(x)])
            if asked.kind == "labels":
                several.add(isinstance(y, Mapping))
                counts.update(_marked(y) if isinstance(y, Mapping) else [_hashed(y)])
    if len(several) > 1:
        raise BadInput("it has sets of labels and single labels; wanted one kind")


def _with_block(
    found: Summary, block: Block, asked: Asked, lengths: Lengths, counts: Counter[Value]
) -> Summary:
    """And what a block of a table tells."""
    weights = checked_weights(block.weights, height(block.rows))
    seen = np.flatnonzero(weights > 0) if weights.size else np.arange(height(block.rows))
    _refuse_no_numbers(block.rows)
    lengths.add_rows(block, seen)
    found = found._replace(
        width=max(found.width, _width(block.rows)), names=names_of(block.rows),
        dense=not sp.issparse(block.rows), unseen=found.unseen + height(block.rows) - len(seen),
    )  # fmt: skip
    if asked.kind != "labels":
        return found
    found = found._replace(sets=_count(block, seen, counts))
    return _with_runs(found, block.targets) if found.sets is None else found


def _squared(x: Mapping[Value, Value]) -> float:
    """|x|^2 of a dict; what no learner takes is found here, before its partition has a say in anything."""
    total = 0.0
    for name, value in x.items():
        number = float(value) if isinstance(value, bool | np.bool_) else as_float(value)
        if not math.isfinite(number):
            raise BadInput(f"feature {shown(name)} is {shown(value)}; wanted a finite number")
        total += number * number
    return total


def _weight(given: Value) -> float:
    number = as_float(given)
    if not 0 <= number < math.inf:
        raise BadInput(f"the weight is {shown(given)}; wanted a finite number of at least 0")
    return number


def _hashed(label: Value) -> Value:
    if isinstance(label, Hashable) and not is_missing(label):
        return label
    raise BadInput(
        f"the label is {shown(label)}; wanted a text, a number or a bool (a set of labels: {{label: bool}})"
    )


def _marked(labels: Mapping[Value, Value]) -> dict[Value, int]:
    """The labels of a set, 1 for each that is in it."""
    for label in labels:
        check_label(label)
    return {label: int(bool(mark)) for label, mark in labels.items()}


def _width(rows: Value) -> int:
    """Columns of a table; 0: it is none."""
    return int(rows.shape[1]) if len(getattr(rows, "shape", ())) == 2 else 0


def _refuse_no_numbers(rows: Value) -> None:
    """A row that no learner takes is found before any of its partition has a say in what is fixed."""
    if not _width(rows):
        raise BadInput("its rows are no table of numbers; wanted rows of numbers, or dicts of them")
    values = rows.data if sp.issparse(rows) else np.asarray(rows)
    if values.dtype.kind == "O":  # (numbers of several kinds, and what pandas has for none)
        try:
            values = rows.to_numpy(float, na_value=np.nan) if hasattr(rows, "iloc") else values.astype(float)
        except (TypeError, ValueError):
            raise _first_of_none(values, names_of(rows)) from None
    if values.dtype.kind == "f" and not np.isfinite(values).all():
        bad = int(np.flatnonzero(~np.isfinite(values))[0])
        row = np.searchsorted(rows.indptr, bad, "right") - 1 if sp.issparse(rows) else bad // values.shape[1]
        raise bad_row(rows if sp.issparse(rows) else values, int(row), names_of(rows) or ())


def _count(block: Block, seen: Value, counts: Counter[Value]) -> int | None:
    """Add the labels of a block up; of sets, say how many labels there are."""
    y: Value = block.targets
    if y is None:
        raise BadInput("it has no labels; wanted one a row")
    if isinstance(y, list):
        raise BadInput("its rows have several labels each; wanted an indicator matrix y of 0 and 1")
    if y.ndim == 2 and y.shape[1] > 1:
        return int(y.shape[1])
    y = np.ravel(y)
    if y.dtype.kind == "f" and not np.isfinite(y).all():
        raise BadInput("y has a NaN or an infinity; wanted a label a row; drop such rows")
    for some, each in ((y, 0), (y[seen], 1)):  # (a label whose rows all weigh 0 is one too)
        if y.dtype.kind in "biufUSmM":
            values, number = np.unique(some, return_counts=True)
            found = dict(zip(items(values), number.tolist(), strict=True))
        else:
            found = Counter(map(_hashed, items(some)))
        counts.update({_hashed(label): each * number for label, number in found.items()})
    return None


def _with_runs(found: Summary, targets: Value) -> Summary:
    """And the runs of the labels that come next."""
    y = np.ravel(targets)
    if not y.size:
        return found
    begins = not found.ends or found.ends[1] != y[0]
    ends = (*found.ends[:1], y[-1]) if found.ends else (y[0], y[-1])
    return found._replace(runs=found.runs + int(begins) + int(np.count_nonzero(y[1:] != y[:-1])), ends=ends)


class Lengths:
    """Some |x|^2 at even distances: every one, then every second, every fourth ... row."""

    def __init__(self) -> None:
        self.kept: list[float] = []
        self.rows, self.stride = 0, 1

    def add(self, squares: Sequence[float] | np.ndarray) -> None:
        """Of the rows that come next."""
        self.kept += [float(square) for square in squares[-self.rows % self.stride :: self.stride]]
        self.rows += len(squares)
        while len(self.kept) > 2 * SOME:
            self.kept, self.stride = self.kept[::2], 2 * self.stride

    def add_rows(self, block: Block, seen: Value) -> None:
        """Of the rows of a block; each by itself, without zeros, as `fit` has it."""
        rows = np.arange(height(block.rows))[seen]
        which = rows[-self.rows % self.stride :: self.stride]
        self.kept += [_square(block.rows, int(row)) for row in which]
        self.rows += len(rows)
        while len(self.kept) > 2 * SOME:
            self.kept, self.stride = self.kept[::2], 2 * self.stride


def _square(rows: Value, row: int) -> float:
    if sp.issparse(rows):
        there = slice(rows.indptr[row], rows.indptr[row + 1])
        own, columns = rows.data[there], rows.indices[there]
        if len(columns) > 1 and not (columns[1:] > columns[:-1]).all():  # entries of one column are one
            own = np.bincount(np.unique(columns, return_inverse=True)[1], own)
    else:
        own = rows.iloc[row].to_numpy() if hasattr(rows, "iloc") else rows[row]
    try:
        own = np.asarray(own, float)
    except (TypeError, ValueError):
        raise _no_number(own, names_of(rows), row) from None
    own = own[own != 0]
    with np.errstate(over="ignore", invalid="ignore"):
        return float(own @ own)


def _first_of_none(rows: np.ndarray, names: tuple[str, ...] | None) -> BadInput:
    """The line for the first row with an entry that is no number."""
    for number, row in enumerate(rows):
        try:
            row.astype(float)
        except (TypeError, ValueError):
            return _no_number(row, names, number)
    return BadInput("its rows are no table of numbers; wanted rows of numbers, or dicts of them")


def _no_number(row: Value, names: tuple[str, ...] | None, number: int) -> BadInput:
    """The first entry of a row that is none, and its column."""
    for place, value in enumerate(row):
        try:
            float(value)
        except (TypeError, ValueError):
            column = shown(names[place]) if names else str(place)
            return BadInput(f"row {number}, column {column}, is {shown(value)}; wanted a number")
    return BadInput(f"row {number} is {shown(row)}; wanted numbers")
