"""The value of the constant coordinate where none is given: fixed once, by the first data.

A coordinate as long as the row takes half of every step, one that is much shorter learns no bias; where
targets lie far from 0 it must be as long as the row. The rule is chosen by measurement: `docs/defaults.md`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from ..models.weights import Model
    from .learner import Learner
    from .passes import TrainingSet
    from .tables import Table

SOME = 1000  # rows whose median length is as good as that of all

Squares = Callable[[np.ndarray], np.ndarray]
"""|x|^2 (kernels: k(x, x)) of rows by their numbers, without the constant coordinate."""


class Rule(NamedTuple):
    """The value is a share of a row's length; `fixed`: in streams it is 1, whatever the first row is."""

    share: float
    fixed: bool = False

    def of_table(self, found: np.ndarray) -> float:
        """By the median length of some rows; where none has a length, as for rows of length 1."""
        found = found[np.isfinite(found) & (found > 0)]
        return self.share * (math.sqrt(float(np.median(found))) if found.size else 1.0)

    def of_row(self, square: float) -> float:
        """By the first row of a stream; one that is much longer than the others must not make it large."""
        value = self.share * (math.sqrt(square) if 0 < square < math.inf else 1.0)
        return 1.0 if self.fixed else min(value, math.sqrt(value))


CLASSES = Rule(0.3)
NUMBERS = Rule(1.0, fixed=True)
FREE = Rule(1.0)  # Pegasos' unregularised bias: where it went astray at first it comes back faster


def with_constant(
    learner: Learner, model: Model, X: Table, data: TrainingSet, fitting: bool = False
) -> TrainingSet:
    """The rows with their constant coordinate, whose value they fix where nothing has fixed it yet.

    Before the first row that has a length the coordinate is 0: empty rows move nothing.
    """
    if not learner._is_unfixed:
        return data
    form, rule = learner._form(), learner._scaling_rule
    squares, begins = partial(form.squares, model, X), 0
    seen = np.flatnonzero(data.weights > 0) if data.weights.size else np.arange(data.size)
    if fitting:
        value = rule.of_table(squares(seen[:: max(len(seen) // SOME, 1)]))
    else:
        begins, square = _first(squares, seen, form.kind == "kernel" or rule.fixed)
        if begins < 0:
            return data
        value = rule.of_row(square)
    fix_constant(learner, model, value)
    return data._replace(rows=data.rows._replace(bias=value), begins=begins)


def fix_constant(learner: Learner, model: Model, value: float) -> None:
    """The value of the constant coordinate, for good."""
    learner._scaling = value
    learner._form().fix_constant(model, value)


def _first(squares: Squares, seen: np.ndarray, any_will_do: bool) -> tuple[int, float]:
    """The first of these rows that has a length, and |x|^2 of it; -1 where there is none."""
    at, some = 0, 1
    while at < len(seen):
        found = squares(seen[at : at + some])
        hits = np.flatnonzero(~(found == 0) | any_will_do)  # NaN too: such a row is refused, where it comes
        if hits.size:
            return int(seen[at + hits[0]]), float(found[hits[0]])
        at, some = at + some, 2 * some
    return -1, 0.0
