"""A fixed hypothesis u beside a run: its scores, its losses, and how long it and the rows are."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..guard import answers
from ..tables import Table

if TYPE_CHECKING:
    from ..learner import Learner

Judge = Callable[[np.ndarray], np.ndarray]
"""Losses of every row, by (rows, outputs) scores."""


class Compared(NamedTuple):
    """Rows count with their constant coordinate: |(x, s)|^2, and k(x, x) in a kernel's space."""

    scores: np.ndarray  # (rows, outputs) of u
    losses: np.ndarray  # (rows,) of u
    squares: np.ndarray  # (kernels, rows) |x|^2 or k(x, x); one line but for several kernels
    parts: np.ndarray  # (kernels,) |u|^2, of several kernels in each one's space
    weights: np.ndarray | None  # (outputs, columns + 1) u, the constant coordinate last; None: by a kernel
    grams: np.ndarray | None  # (kernels, rows, rows)
    judge: Judge

    @property
    def square(self) -> float:
        """|u|^2"""
        return float(self.parts.sum())

    @property
    def lengths(self) -> np.ndarray:
        """(rows,) |x|^2, or k(x, x)."""
        return np.asarray(self.squares.sum(axis=0))

    def scaled(self, by: float) -> Compared:
        """The same for u times a number."""
        scores = by * self.scores
        weights = None if self.weights is None else by * self.weights
        return self._replace(
            scores=scores, losses=self.judge(scores), parts=by * by * self.parts, weights=weights
        )


@answers
def beside(learner: Learner, X: Table, y: object, comparator: object) -> Compared:
    """Another hypothesis beside the rows of a learner's run, with all that bounds ask of it."""
    own: Callable[[Table, object, object], Compared] | None = getattr(learner, "_compared", None)
    if own is not None:  # a ball, or pairs
        return own(X, y, comparator)
    return learner._form().compared(X, comparator, lambda scores: learner._losses_of(scores, y))
