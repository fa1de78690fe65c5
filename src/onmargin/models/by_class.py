"""Weights class by class while dense rows are learned: see `compiled.outputs`."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from ..compiled.rows import Rows
from ..features.tables import is_wide
from ..learn.spaces.arrays import MARK, SLOT, aligned, padded

if TYPE_CHECKING:
    from .weights import Model


def lies_by_class(model: Model, rows: Rows) -> bool:
    """Are these rows taken class by class? (One output alone would lie both ways at once.)"""
    return model.start.many and model.start.outputs > 1 and is_wide(rows)


@contextmanager
def laid_out(model: Model, rows: Rows) -> Iterator[Any]:
    """The arrays to learn these rows with; what they come to is the model's."""
    space = model.row.space
    if not space.either_way or not lies_by_class(model, rows):
        yield model.space
        return
    mine, outputs = model.space._asdict(), model.start.outputs
    kinds = {name: field.kind for name, field in space.fields.items()}
    turned = {name: by_class(mine[name], outputs) for name in mine if kinds[name] == SLOT}
    turned |= {name: as_long(mine[name]) for name in mine if kinds[name] == MARK}
    yield model.space._replace(**turned)
    for name, table in turned.items():
        kept = mine[name] if kinds[name] == MARK else mine[name][:, :outputs]
        if kept.size:
            kept[:-1], kept[-1] = table[: len(kept) - 1], table[-1]


def by_class(weights: np.ndarray, outputs: int) -> np.ndarray:
    """The same numbers, output after output, each beginning a cache line; the constant coordinate last."""
    table = aligned((outputs, padded(len(weights), True)), weights.dtype).T
    if weights.size:
        table[: len(weights) - 1], table[-1] = weights[:-1, :outputs], weights[-1, :outputs]
    return table


def as_long(marks: np.ndarray) -> np.ndarray:
    """A number for each slot, where slots are as many as `by_class` has them."""
    longer = aligned((padded(len(marks), True),), marks.dtype)
    if marks.size:
        longer[: len(marks) - 1], longer[-1] = marks[:-1], marks[-1]
    return longer
