"""Structured outputs: a user's argmax, feature map and cost, and the rounds that are played with them.

Phi(x, y) is `features(x, y)`; q = `decode(weights, x)`, or with a third argument, y, the argmax of score plus
cost. The round is one of a binary learner on z = Phi(x, y) - Phi(x, q), which asks <w, z> for the margin
cost(y, q): played on z / cost with a weight that makes it the very step of the paper.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import NamedTuple, cast

import numpy as np
import scipy.sparse as sp

from ..compiled.rows import Sparse
from ..errors import BadInput, Diverged, as_float, shown, warn
from ..features.matrices import canonical, read_only
from ..learn.spaces.arrays import Start
from ..learn.vocabulary import NO_ORDER, NONE, Examples
from ..models.layout import Arrays, Facts, Layout
from ..models.weights import Model, Numbers
from .runs.passes import Sums
from .weights import WeightsForm

ENOUGH = 10  # rounds after which a decoder that finds less than the best is spoken of

RIGHT, FOUND = "the right structure of", "what decode gave for"

Entries = tuple[np.ndarray, np.ndarray]
"""Columns and values of one row."""


class StructuredForm(WeightsForm):
    """Plain weights, whatever model the learner has otherwise."""

    def model(self, start: Start, numbers: Numbers) -> Model:
        """A fresh model."""
        return Model(self.owner._table_row(), start, numbers)

    def layout(self, start: Start, numbers: Numbers, facts: Facts, arrays: Arrays) -> Layout:
        """The arrays that a file must hold of a model of such a start."""
        return Model.file_layout(self.owner._table_row(), start, numbers, facts, arrays)


class Round(NamedTuple):
    """Columns and values of Phi(x, y) - Phi(x, q), and cost(y, q)."""

    columns: np.ndarray
    values: np.ndarray
    cost: float


class Misshapen(Exception):
    """No row of numbers."""


def _entries(given: object) -> tuple[int, np.ndarray, np.ndarray]:
    """Width, columns and values of a row of numbers."""
    if sp.issparse(given):
        row = canonical(given)
        if row.shape[0] != 1 or not row.shape[1] or row.dtype.kind not in "biuf":
            raise Misshapen
        return int(row.shape[1]), np.asarray(row.indices), np.asarray(row.data, np.float64)
    numbers = np.asarray(given)
    if numbers.ndim != 1 or not numbers.size or numbers.dtype.kind not in "biuf":
        raise Misshapen
    columns = np.flatnonzero(numbers)
    return len(numbers), columns, np.asarray(numbers[columns], np.float64)


class Decoder:
    """What a user has given; whatever comes back from it is looked at."""

    def __init__(self, decode: object, features: object, cost: object) -> None:
        if not callable(decode) or not callable(features):
            raise BadInput(
                f"decode={shown(decode)} and features={shown(features)}; wanted two functions, "
                "decode(weights, x) and features(x, y)"
            )
        if cost is not None and not callable(cost):
            raise BadInput(f"cost={shown(cost)}; wanted None or a function cost(y, other)")
        self.decode: Callable[..., object] = decode
        self.features: Callable[..., object] = features
        self.cost: Callable[..., object] | None = cost
        self.adds_cost = _arguments(decode) > 2

    def best(self, weights: np.ndarray, x: object, place: int, *y: object) -> object:
        """The best structure of an input (with y: by score plus cost)."""
        try:
            found = self.decode(weights, x, *y)
        except Exception as error:
            raise BadInput(f"decode failed on example {place} ({_said(error)}); mend it") from error
        if found is None:
            raise BadInput(f"decode gave None for example {place}; wanted a structure that features= takes")
        return found

    def row(self, x: object, y: object, place: int, of: str) -> tuple[int, Entries]:
        """Phi(x, y): how many features there are, columns and values."""
        try:
            said = self.features(x, y)
            width, columns, values = _entries(said)
        except Misshapen:
            wanted = "numbers of one dimension, or a sparse row"
            raise BadInput(f"features gave {shown(said)} for {of} example {place}; wanted {wanted}") from None
        except Exception as error:
            raise BadInput(f"features failed on {of} example {place} ({_said(error)})") from error
        if not np.isfinite(values).all():
            raise BadInput(f"features gave NaN or infinity for {of} example {place}; wanted finite numbers")
        return width, (columns, values)

    def price(self, y: object, other: object, place: int) -> float:
        """The margin asked for against a rival: its cost; 1 where none is given."""
        if self.cost is None:
            return 1.0
        try:
            said = self.cost(y, other)
        except Exception as error:
            raise BadInput(f"cost failed on example {place} ({_said(error)}); mend it") from error
        price = float(said) if isinstance(said, bool | np.bool_) else as_float(said)
        if not 0.0 <= price < np.inf:
            raise BadInput(f"cost gave {shown(said)} for example {place}; wanted a number of at least 0")
        return price

    def round(self, weights: np.ndarray, x: object, y: object, place: int) -> Round:
        """The difference to the best rival; empty where the right structure is the best."""
        q = self.best(weights, x, place, *((y,) if self.adds_cost else ()))
        right, other = self.row(x, y, place, RIGHT), self.row(x, q, place, FOUND)
        for width, _ in (right, other):
            if width != len(weights):
                raise BadInput(
                    f"features gave {width} numbers for example {place}; this model has {len(weights)}"
                )
        difference = np.zeros(len(weights)) if len(weights) < 4096 else None
        columns, values = _less(right[1], other[1], difference)
        cost = self.price(y, q, place) if len(columns) else 0.0
        return Round(columns, values, cost)


def _less(right: Entries, other: Entries, room: np.ndarray | None) -> Entries:
    """One row less another."""
    columns, values = np.r_[right[0], other[0]].astype(np.int64), np.r_[right[1], -other[1]]
    if room is not None:
        np.add.at(room, columns, values)
        found = np.flatnonzero(room)
        return found, room[found]
    found, where = np.unique(columns, return_inverse=True)
    sums = np.bincount(where, values, minlength=len(found))
    return found[sums != 0], sums[sums != 0]


def _arguments(function: Callable[..., object]) -> int:
    """How many arguments may be given by position."""
    try:
        found = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return 2
    if any(one.kind is one.VAR_POSITIONAL for one in found):
        return 3
    return sum(one.kind in (one.POSITIONAL_ONLY, one.POSITIONAL_OR_KEYWORD) for one in found)


def _said(error: Exception) -> str:
    """A failure inside a user's function, on one line."""
    return f"{type(error).__name__}: {' '.join(str(error).split())[:100]}"


def listed(name: str, values: object) -> Sequence[object]:
    """Inputs or structures, one after the other."""
    if isinstance(values, str | bytes | dict) or not hasattr(values, "__len__"):
        raise BadInput(f"{name} is {shown(values)}; wanted a list, one entry for each example")
    if not hasattr(values, "__getitem__"):
        raise BadInput(f"{name} is a {type(values).__name__}; wanted a list, one entry for each example")
    entries = cast(Sequence[object], values)
    return list(entries) if hasattr(values, "iloc") else entries


def play(
    decoder: Decoder, model: Model, width: int, step: str, xs: Sequence[object], ys: Sequence[object],
    order: np.ndarray,
) -> Sums:  # fmt: skip
    """Rounds on these examples, in this order."""
    sums, missed = Sums(), 0
    for place in order.tolist():
        weights = read_only(model.weights()[:width])
        columns, values, cost = decoder.round(weights, xs[place], ys[place], place)
        before = model.clock
        if cost > 0.0:
            margin = float(values @ weights[columns])
            near = 1e-9 * (1.0 + float(np.abs(values) @ np.abs(weights[columns])))
            missed += margin > (cost if decoder.adds_cost else 0.0) + near
            _learn(model, columns, values, cost, step, place, sums)
        if model.clock == before:  # passive: the right one is the best
            model.clock += 1
            sums.rounds += 1
    if len(order) >= ENOUGH and 2 * missed > len(order):
        warn(
            f"decode gave a structure that scores less than the right one in {missed} of {len(order)} "
            "rounds; is it an argmax?",
            UserWarning,
        )
    return sums


def _learn(
    model: Model, columns: np.ndarray, values: np.ndarray, cost: float, step: str, place: int, sums: Sums
) -> None:
    """w += tau z, tau = min(C, [cost - <w, z>]_+ / |z|^2) (PA-I; others alike)."""
    scaled = cost if step != "perceptron" else 1.0
    weight = {"pa1": cost, "pa2": cost * cost}.get(step, 1.0)
    starts = read_only(np.array([0, len(columns)], np.int32))
    row = Sparse(read_only(values / scaled), read_only(columns.astype(np.uint32)), starts, 0.0)
    before = model.clock
    tally = model.learn(Examples(row, np.ones(1), np.full(1, weight), NONE, NO_ORDER), 0, 1)
    if not tally.stopped:
        raise Diverged(f"example {place} moves the weights too far; nothing was learned; scale features=")
    sums.add(tally._replace(loss=tally.loss * scaled), before)


def same_structure(first: object, second: object) -> bool:
    """Equal; a list, a tuple and an array of the same entries are one."""
    sequences = (list, tuple, np.ndarray)
    if isinstance(first, sequences) and isinstance(second, sequences):
        return len(first) == len(second) and all(map(same_structure, first, second))
    return bool(np.all(first == second))
