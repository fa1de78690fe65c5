"""Scores of many rows, in threads: by weights spelled out once, or as they lie for a few rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..compiled.parts import Part, specialise
from ..compiled.rows import Rows
from ..compiled.threads import in_threads
from ..learn import rounds
from ..learn.spaces import arrays as storage
from ..learn.spaces import linear
from ..learn.vocabulary import NONE
from .by_class import by_class, lies_by_class

if TYPE_CHECKING:
    from .weights import Model


def scores_of(model: Model, rows: Rows, count: int, averaged: bool) -> tuple[np.ndarray, int]:
    """Scores of rows 0 .. count - 1, and how many rows were finite from the first on."""
    out, width = np.zeros((count, model.start.outputs)), model.desk.scores.size
    answerer, space = _asked(model, rows, averaged)

    def share(first: int, stop: int) -> int:
        own = storage.with_own_scratch(model.row.space, space) if space is model.space else space
        own, some = own._replace(notes=np.zeros(2)), out[first:stop]  # threads may ask at once
        scratch = np.zeros(width)
        done: int = answerer(rows, own, model.hyper, model.clock, scratch, some, first, stop - first)
        return done

    return out, in_threads(share, count, rows.values.size * (width if model.start.many else 1))


def _asked(model: Model, rows: Rows, averaged: bool) -> tuple[Part, Any]:
    """Compiled scores for these rows, and the arrays that they read.

    Weights that do not lie as they are used are spelled out once, but not for a few rows.
    """
    space, kept, averaged = model.space, model.row.space, averaged and model.space.drift.size > 0
    if not kept.flat:
        if averaged:
            space = storage.with_own_scratch(kept, space)._replace(weights=model.mean_weights())
        return model.row.answerer(), space
    if 4 * rows.values.size < len(space.weights):
        by_mean = model.row.mean_answerer() if averaged else None
        if by_mean is not None:
            return by_mean, space
        if not averaged and kept.weights is not storage.as_they_lie:
            return model.row.answerer(), space
    weights = model.mean_weights() if averaged else model.weights()
    weights = np.ascontiguousarray(weights, dtype=space.weights.dtype)
    if lies_by_class(model, rows):
        weights = by_class(weights, model.start.outputs)
    return specialise(rounds.answer, score=linear.score), linear.Linear(weights, weights[:0], NONE)
