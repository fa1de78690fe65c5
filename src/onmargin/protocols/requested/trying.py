"""A sweep as it is asked for, by names and texts: which values, of which parameters, over which data."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...errors import BadInput
from ...features.piped import piped
from ...features.steps import FeatureStep
from ...features.texts import Texts
from ...results.sweep_result import SweepResult
from ...sources.blocks import Block, Rows, joined
from ..sweep import sweep
from .naming import QUERIES, named
from .ranges import spread
from .reading import wide_enough
from .record import now, versions
from .requests import Request


class Tried(NamedTuple):
    """What came of it, and what made rows of the raw ones (None: they were numbers)."""

    result: SweepResult
    name: str
    task: str
    features: FeatureStep | None
    skipped: int
    notes: dict[str, object]  # for the best model's file: other rows are read alike

    def best(self) -> object:
        """The best model, behind the features that it needs."""
        model = self.result.best_model
        return model if self.features is None else piped(self.features, model)


def tried(
    request: Request, scoring: str | None = None, threads: int | None = None, verbose: int = 0
) -> Tried:
    """Learn every combination of the values given, in one pass over the data, which are kept in memory.

    request : data, algorithm, task, format, and parameters; those of the algorithm may have several values
        each (`protocols.requested.ranges.spread`).
    """
    own, others = request.shared_out(request.algorithm)
    values = {name: spread(value) for name, value in own.items()}
    grid = {name: some for name, some in values.items() if len(some) > 1}
    if not grid:
        raise BadInput("there is nothing to try; wanted several values of a parameter, as in -C 1e-4..1e2:32")
    reading = request.reading(request.task, others)
    block = _labelled(joined(list(reading.peeked.blocks())), reading.task)
    fixed = {name: some[0] for name, some in values.items()}
    if reading.labels is not None:
        fixed = {"classes": tuple(reading.labels), **fixed}
    chosen = named(request.algorithm, reading.task, fixed)
    model = chosen.model
    if "growing" in model.get_params(deep=False):  # all is there: sizes are fixed, models lie side by side
        model.set_params(growing=False)
    features = reading.features
    X = block.rows if features is None else features.partial_fit_transform(block.rows)
    X = wide_enough(X)
    qid = block.groups if reading.task == QUERIES else None
    result = sweep(
        model, grid, X, block.targets, qid=qid, sample_weight=block.weights, scoring=scoring,
        threads=threads, verbose=verbose,
    )  # fmt: skip
    notes: dict[str, object] = {
        "data": reading.data, "format": reading.format, "options": reading.options, "task": reading.task,
        "algorithm": chosen.name, "command": request.command, "ended": now(), "versions": versions(),
    }  # fmt: skip
    return Tried(result, chosen.name, reading.task, features, reading.source.skipped, notes)


def _labelled(block: Block, task: str) -> Block:
    """Without rows that have no label (Vowpal Wabbit's may), and without weights that are all 1."""
    targets, weights = block.targets, block.weights
    if targets is None:
        raise BadInput(f"the data have no labels; for {task} there must be one a row")
    if isinstance(targets, np.ndarray) and targets.ndim == 1 and targets.dtype.kind == "f":
        told = np.flatnonzero(np.isfinite(targets))
        if len(told) < len(targets):
            block = Block(*(None if part is None else _rows(part, told) for part in block))
            weights = block.weights
    return block._replace(weights=None) if weights is not None and (weights == 1.0).all() else block


def _rows(part: Rows, told: np.ndarray) -> Rows:
    if isinstance(part, Texts):
        return Texts(part.buffer, part.starts[told], part.stops[told])
    return part.take(told) if hasattr(part, "num_rows") else part[told]
