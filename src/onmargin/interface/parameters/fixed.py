"""Numbers that are left to the data ("auto"): fixed once, by the length of the first rows.

The constant coordinate's value: one that is as long as the row takes half of every step, one that is much
shorter learns no bias; where targets lie far from 0 it must be as long as the row. AROW's r. The rules are
chosen by measurement: `docs/defaults.md`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from .fields import is_auto

if TYPE_CHECKING:
    from ...models.weights import Model
    from ..learner import Learner
    from ..runs.passes import TrainingSet
    from ..tables import Table

SOME = 1000  # rows whose median length is as good as that of all
PART = 100
SHORTEST = 1e-300  # |x|^2 of a row that is as good as empty: rules square a length, and divide by it

Squares = Callable[[np.ndarray], np.ndarray]
"""|x|^2 (kernels: k(x, x)) of rows by their numbers, without the constant coordinate."""


class Rule(NamedTuple):
    """A number by the median length of a table (`fit`), or by the length of a stream's first row.

    `before` it is fixed it is so much; `any_row`: the first row need not have a length.
    """

    of_table: Callable[[float], float]
    of_row: Callable[[float], float]
    before: float = 0.0
    any_row: bool = False


def share(part: float) -> Rule:
    """A share of the length; one row that is much longer than the others must not make it large."""
    return Rule(lambda length: part * length, lambda length: min(part * length, math.sqrt(part * length)))


CLASSES = share(0.3)
FREE = share(1.0)  # Pegasos' unregularised bias: where it went astray at first it comes back faster
NUMBERS = Rule(lambda length: length, lambda length: 1.0, any_row=True)


def chosen(learner: Learner, name: str) -> float:
    """A number that is given, or left to the data."""
    value, rule = getattr(learner, name, 1.0), learner._by_length.get(name)
    return learner._fixed.get(name, rule.before if rule else 1.0) if is_auto(value) else float(value)


def is_unfixed(learner: Learner) -> bool:
    """Is a number yet to be fixed by a row?"""
    return not learner._fixed and any(is_auto(getattr(learner, name, 1.0)) for name in learner._by_length)


def fixed_by(
    learner: Learner, model: Model, X: Table, data: TrainingSet, fitting: bool = False
) -> TrainingSet:
    """The rows with their constant coordinate; they fix what is left to the data and not fixed yet.

    Before the first row that has a length the coordinate is 0: empty rows move nothing.
    """
    if not is_unfixed(learner):
        return data
    form = learner._form()
    squares, begins = partial(form.squares, model, X), 0
    seen = np.flatnonzero(data.weights > 0) if data.weights.size else np.arange(data.size)
    if fitting:
        some = _in_parts(squares, seen[:: max(len(seen) // SOME, 1)])
        some = some[np.isfinite(some) & (some > 0)]
        square = float(np.median(some)) if some.size else 0.0
    else:
        begins, square = _first(squares, seen, any_row(learner))
        if begins < 0:
            return data
    fix(learner, model, square, fitting)
    return data._replace(rows=data.rows._replace(bias=learner._bias), begins=begins)


def any_row(learner: Learner) -> bool:
    """Will the first row do, though it be empty? A kernel may give it a length."""
    return learner._form().kind == "kernel" or any(rule.any_row for rule in learner._by_length.values())


def fix(learner: Learner, model: Model, square: float, fitting: bool = False) -> None:
    """What is left to the data, for good, by |x|^2 (where there is next to none: as for rows of length 1)."""
    length = math.sqrt(square) if SHORTEST < square < math.inf else 1.0
    learner._fixed = {
        name: rule.of_table(length) if fitting else rule.of_row(length)
        for name, rule in learner._by_length.items()
    } | dict(learner._fixed)
    learner._form().fix_numbers(model)


def _in_parts(squares: Squares, some: np.ndarray) -> np.ndarray:
    """|x|^2 of these rows, of which few are copied at a time."""
    return np.concatenate([squares(some[at : at + PART]) for at in range(0, max(len(some), 1), PART)])


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
