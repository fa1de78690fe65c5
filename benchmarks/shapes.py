"""Shapes of data, one property varied at a time: nanoseconds for every weight touched, and where a cliff is.

Every row bears a hint that tells its class, or misleads: so the share of rounds that update is as wanted.
Steps are too short to change an answer. A row touches the weights of its nonzeros: of every output to score
it, and of those that move once more.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

import onmargin as om

from .passes import EXACT

COLUMNS = 47_000  # of CSR rows
OFTEN = 0.7  # the share of rounds that update, unless it is varied
PRECISIONS = ("float64", "float32")
CLIFF = 2.0
ENTRIES = 3_000_000  # of a table


class Shape(NamedTuple):
    """Rows of a kind; `nonzeros` are columns where they are dense."""

    axis: str
    label: str
    nonzeros: int
    dense: bool = False
    zeros: float = 0.0
    updates: float = OFTEN
    classes: int = 2

    @property
    def outputs(self) -> int:
        """Rows of weights."""
        return 1 if self.classes == 2 else self.classes

    def touched(self) -> float:
        """Weights that a round touches, in the mean."""
        entries = max(1.0, self.nonzeros * (1.0 - self.zeros))
        return entries * (self.outputs + self.updates * min(2, self.outputs))


class Measured(NamedTuple):
    """A shape in one precision."""

    shape: Shape
    precision: str
    nanoseconds: float  # a round

    @property
    def each(self) -> float:
        """Nanoseconds for a weight touched."""
        return self.nanoseconds / self.shape.touched()


class Place(NamedTuple):
    """A measured shape beside its trend."""

    measured: Measured
    ratio: float  # to the line through its neighbours
    precise: float  # to the same shape in the other precision

    @property
    def cliff(self) -> bool:
        """More than twice as bad as its neighbours let expect."""
        return max(self.ratio, self.precise) > CLIFF


def _varied(axis: str, labels: dict[str, dict[str, Any]], **fixed: Any) -> list[Shape]:
    return [Shape(axis, label, **{**fixed, **own}) for label, own in labels.items()]


_LENGTHS = {f"{n:,}": {"nonzeros": n} for n in (1, 10, 100, 1_000, 10_000)}
_WIDTHS = {f"{n:,}": {"nonzeros": n} for n in (2, 16, 100, 784, 5_000)}
_ZEROS = {f"{n} %": {"zeros": n / 100} for n in (0, 50, 90)}
_UPDATES = {f"{n} %": {"updates": n / 100} for n in (1, 10, 70, 100)}
_CLASSES = {f"{n}": {"classes": n} for n in (2, 3, 10, 100)}
SHAPES = [
    _varied("CSR: nonzeros", _LENGTHS),
    _varied("CSR x 10: nonzeros", _LENGTHS, classes=10),
    _varied("dense: columns", _WIDTHS, dense=True),
    _varied("dense 784: zeros", _ZEROS, nonzeros=784, dense=True),
    _varied("dense 784 x 10: zeros", _ZEROS, nonzeros=784, dense=True, classes=10),
    _varied("CSR 100: updates", _UPDATES, nonzeros=100),
    _varied("dense 784 x 10: updates", _UPDATES, nonzeros=784, dense=True, classes=10),
    _varied("CSR 100: classes", _CLASSES, nonzeros=100),
    _varied("dense 784: classes", _CLASSES, nonzeros=784, dense=True),
]

# Why a shape may be worse than its trend: (axis, label) -> a sentence for the page.
_PADDED = "weights of three classes are kept, scored and moved as those of eight: one register."
REASONS: dict[tuple[str, str], str] = {
    ("CSR 100: classes", "3"): _PADDED,
    ("dense 784: classes", "3"): _PADDED,
    ("CSR 100: classes", "100"): (
        "a call that may write to most of the weights works on a copy: 39 MB for 2,500 rows here, a third of "
        "the time, and most of it where the system has no large pages at hand."
    ),
}


def table(shape: Shape, rows: int) -> tuple[Any, np.ndarray]:
    """Rows with their hints, and labels."""
    rng = np.random.default_rng(0)
    y = rng.integers(shape.classes, size=rows)
    misled = rng.random(rows) < shape.updates
    told = np.where(misled, (y + rng.integers(1, shape.classes, size=rows)) % shape.classes, y)
    column, value = (np.zeros(rows, int), 20.0 * told - 10.0) if shape.classes == 2 else (told, 10.0)
    hints = shape.outputs
    if shape.dense:
        X = 0.01 + rng.random((rows, shape.nonzeros))
        X[rng.random(X.shape) < shape.zeros] = 0.0
        X[:, :hints] = 0.0
        X[np.arange(rows), column] = value
        return X, y
    rest = shape.nonzeros - 1
    indices = np.empty((rows, shape.nonzeros), np.int32)
    indices[:, 0] = column
    if rest:
        steps = rng.integers(1, (COLUMNS - hints) // rest, size=(rows, rest), endpoint=True)
        indices[:, 1:] = hints - 1 + steps.cumsum(axis=1)
    values = 0.01 + rng.random(indices.shape)
    values[:, 0] = value
    starts = np.arange(0, indices.size + 1, shape.nonzeros, dtype=np.int32)
    return sp.csr_matrix((values.ravel(), indices.ravel(), starts), shape=(rows, COLUMNS)), y


def model(shape: Shape, columns: int, precision: str) -> Any:
    """PA-I that believes the hints, and takes steps of next to nothing from now on."""
    y = np.tile(np.arange(shape.classes), 5)
    X = np.zeros((len(y), columns))
    if shape.classes == 2:
        X[:, 0] = 2.0 * y - 1.0
    else:
        X[np.arange(len(y)), y] = 1.0
    X = X if shape.dense else sp.csr_matrix(X)
    learner = om.PassiveAggressiveClassifier(C=1.0, dtype=precision, **EXACT)
    learner.partial_fit(X.astype(precision), y, classes=np.arange(shape.classes))
    return learner.set_params(C=1e-12)


def measure(shapes: list[Shape], entries: int, repetitions: int) -> Iterator[Measured]:
    """The shapes of an axis, all precisions, interleaved."""
    players = {}
    for shape in shapes:
        rows = int(np.clip(entries // (shape.nonzeros * max(1, shape.outputs // 8)), 50, 100_000))
        X, y = table(shape, rows)
        for precision in PRECISIONS:
            players[shape, precision] = (model(shape, X.shape[1], precision), X.astype(precision), y)
    seconds: dict[Any, list[float]] = {key: [] for key in players}
    for turn in range(repetitions + 1):  # the first compiles
        for key, (learner, X, y) in players.items():
            gc.collect()
            began = time.perf_counter()
            learner.partial_fit(X, y)
            if turn:
                seconds[key].append(time.perf_counter() - began)
    for (shape, precision), taken in seconds.items():
        rows = len(players[shape, precision][2])
        yield Measured(shape, precision, 1e9 * min(taken) / rows)


def trend(points: list[tuple[float, float]], at: int) -> float:
    """What the neighbours let expect of point `at`: (weights touched, time) on the line through two of them.

    Between two neighbours where it has two, beyond them at the ends. A round costs something by itself, and
    every weight touched does: a line. At an end a weight may always cost what it costs the neighbour, and a
    round half of what it does there: the line may come from a cliff.
    """
    if len(points) < 3:
        return points[at][1]
    inside = 0 < at < len(points) - 1
    near = points[at - 1 if at else 1]
    far = points[at + 1] if inside else points[at - 2 if at else 2]
    x = points[at][0]
    expected = near[1] + (far[1] - near[1]) * (x - near[0]) / (far[0] - near[0])
    return expected if inside else max(expected, near[1] * max(0.5, x / near[0]))


def places(found: list[Measured]) -> list[Place]:
    """Every measured shape of one axis beside the trend of its precision, and beside the other precision."""
    placed = []
    for one in found:
        own = [other for other in found if other.precision == one.precision]
        points = [(other.shape.touched(), other.nanoseconds) for other in own]
        best = min(other.nanoseconds for other in found if other.shape == one.shape)
        expected = trend(points, own.index(one))
        placed.append(Place(one, one.nanoseconds / expected, one.nanoseconds / best))
    return placed
