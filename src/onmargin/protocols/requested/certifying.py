"""Bounds of a stream in bounded memory: its rows are read again, and a fresh learner plays them.

The comparator is what was learned, at several scales; of every bound sums are kept, not lines. One reading
finds the longest row, the next one plays.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone

from ...errors import BadInput
from ...interface.feedback.asks import AsksForLabels
from ...interface.groups import Grouped
from ...interface.runs.comparing import beside
from ...interface.tables import Table
from ...results.certificate import Certificate, Course
from ...results.progress import Progress
from ..bounds.evidence import Bound, Carried, Evidence
from ..bounds.hindsight import SCALES
from ..certificate import bounds_of, preference, row_of
from ..progressive import progressive
from .training import Model, Training

POINTS = 16  # of a block that are drawn
NOT_AGAIN = "--certify reads the data again, and this can be read only once; keep it in a file"


def require_again(training: Training) -> None:
    """Refuse, before anything is learned, what cannot be certified."""
    model = training.model
    if not training.reading.source.again:
        raise BadInput(NOT_AGAIN)
    if isinstance(model, AsksForLabels | Grouped) or getattr(model, "kernel", None) is not None:
        raise BadInput(
            f"--certify is for learners with weights, one row at a time; read the rows and give a run of "
            f"{type(model).__name__} to om.certificate"
        )


def certified(training: Training) -> Certificate:
    """The bounds of one pass over the data, beside the weights that were learned."""
    require_again(training)
    used = _learned(training.model)
    width, longest = used[0].shape[1], 0.0
    for rows, _, _ in training.again():
        longest = max(longest, _longest(rows))
    twin = _fresh(training.model)
    lanes: list[Lane] = []
    rounds = 0
    for rows, targets, weights in training.again():
        wide = _widened(rows, width)
        targets = np.zeros(wide.shape[0]) if targets is None else targets
        run = progressive(twin, wide, targets, sample_weight=weights)
        if not lanes:
            lanes = [Lane(scale, run, longest) for scale in _scales(run)]
        for lane in lanes:
            lane.take(run, wide, used, rounds)
        rounds += run.rounds
    best = min(lanes, key=lambda lane: lane.preference)
    name = f"{type(twin).__name__}, {rounds:,} rounds"
    return best.certificate(name, used)


class Lane:
    """One scale of the comparator: bounds with the sums of all blocks so far, and their courses."""

    def __init__(self, scale: float, run: Progress, longest: float) -> None:
        assert run.begun is not None
        self.scale, self.begun = scale, run.begun
        self.sums = Carried(longest + run.begun.bias**2)
        self.bounds: list[Bound] = []
        self.size = 0.0
        self.courses: dict[str, list[np.ndarray]] = {}

    def take(self, run: Progress, rows: Table, used: object, rounds: int) -> None:
        """One more block."""
        assert run.begun is not None
        weighted, grew = run.begun.weighted or self.begun.weighted, run.begun.grew or self.begun.grew
        self.begun = self.begun._replace(weighted=weighted, grew=grew)
        compared = beside(run.model, rows, run.y, used)
        compared = compared.scaled(self.scale) if self.scale != 1.0 else compared
        block = Evidence(run, self.begun, rows, run.y, compared)
        block.before = self.sums
        self.bounds, self.size = list(bounds_of(block)), float(np.sqrt(block.square))
        self.sums.end_block()
        some = np.unique(np.linspace(0, len(block.losses) - 1, POINTS).astype(int))
        for bound in self.bounds:
            if bound.applies and np.ndim(bound.left) == np.ndim(bound.right) == 1:
                points = np.array(
                    [rounds + 1 + some, np.asarray(bound.left)[some], np.asarray(bound.right)[some]]
                )
                self.courses.setdefault(bound.id, []).append(points)

    @property
    def preference(self) -> tuple[float, float]:
        """The smaller, the better the scale."""
        return preference(self.bounds, self.size)

    def certificate(self, name: str, used: tuple[np.ndarray, np.ndarray]) -> Certificate:
        """The bounds as they are after the last block."""
        rows = [row_of(bound, self.begun.slack) for bound in self.bounds]
        counts = {bound.id: bound.counts for bound in self.bounds}
        courses = {}
        for id, parts in self.courses.items():
            at, left, right = np.concatenate(parts, axis=1)
            courses[id] = Course(left, right, counts.get(id, ""), at)
        scaled = (self.scale * used[0], self.scale * used[1])
        return Certificate(name, rows, courses, scaled, self.size, "what was learned, scaled")


def _learned(model: Model) -> tuple[np.ndarray, np.ndarray]:
    """What was learned, as a comparator."""
    try:
        return np.atleast_2d(model.coef_), np.asarray(getattr(model, "intercept_", 0.0), float)
    except AttributeError:
        raise BadInput(f"{type(model).__name__} has no weights to compare with; use om.certificate") from None


def _fresh(model: Model) -> Model:
    """The same learner before its first row, all labels announced."""
    twin: Model = clone(model)
    if "classes" in twin.get_params(deep=False) and model.kind == "labels":
        twin.set_params(classes=model.known_labels())
    return twin


def _scales(run: Progress) -> Iterator[float]:
    assert run.begun is not None
    yield from (1.0,) if run.begun.words["task"] == "enclose" else SCALES


def _longest(rows: Table) -> float:
    """The largest |x|^2."""
    squares = (
        rows.multiply(rows).sum(axis=1)
        if sp.issparse(rows)
        else np.square(np.asarray(rows, float)).sum(axis=1)
    )
    return float(np.asarray(squares).max(initial=0.0))


def _widened(rows: Table, width: int) -> Table:
    """Rows with all columns that were met."""
    if not sp.issparse(rows) or rows.shape[1] >= width:
        return rows
    return sp.csr_matrix((rows.data, rows.indices, rows.indptr), shape=(rows.shape[0], width))
