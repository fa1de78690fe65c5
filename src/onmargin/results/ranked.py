"""Ranked lists for `metrics`: items by their scores, list by list, and checks of what is given."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..errors import BadInput, require_whole, shown
from ..features.matrices import canonical

BLOCK = 1 << 20  # items of a matrix ranked at once: the work needs ten numbers an item


class Lists:
    """Scored items, list after list, the best first; equal scores in the order given. No list is empty.

    Item by item: `order` (where it was given), `group` (its list), `relevance`, `relevant`, `place` (from
    1), `above` and `reach` (items of its list scored higher, and at least as high). List by list: `starts`,
    `sizes`.
    """

    def __init__(self, relevance: np.ndarray, scores: np.ndarray, group: np.ndarray) -> None:
        self.order = np.lexsort((-scores, group))
        self.relevance, self.group, scores = relevance[self.order], group[self.order], scores[self.order]
        self.relevant = self.relevance > 0
        items = len(scores)
        other = np.append(True, self.group[1:] != self.group[:-1])
        self.starts = np.flatnonzero(other)
        self.sizes = np.diff(self.starts, append=items)
        self._begin = np.repeat(self.starts, self.sizes)
        self.place = np.arange(1, items + 1) - self._begin
        other[1:] |= scores[1:] != scores[:-1]
        heads = np.flatnonzero(other)
        ties = np.diff(heads, append=items)
        self.above = np.repeat(heads, ties) - self._begin
        self.reach = np.repeat(heads + ties, ties) - self._begin
        self._found = np.append(0, np.cumsum(self.relevant))

    def found(self, places: np.ndarray) -> np.ndarray:
        """Item by item: how many of the first `places` items of its list are relevant."""
        return np.asarray(self._found[self._begin + places] - self._found[self._begin])

    def won(self, strict: bool) -> np.ndarray:
        """Item by item: twice the number of relevant items scored above it, a tie counting 1 (strict: 0)."""
        higher = self.found(self.above)
        return np.asarray(higher + (higher if strict else self.found(self.reach)))

    def total(self, values: np.ndarray) -> np.ndarray:
        """List by list: the sum."""
        return np.asarray(np.add.reduceat(values, self.starts, dtype=float))


def area(lists: Lists, strict: bool, empty: float = np.nan) -> np.ndarray:
    """List by list: the share of (relevant, other) pairs in the right order; `empty` where there are none."""
    won = lists.total(np.where(lists.relevant, 0, lists.won(strict)))
    relevant = lists.total(lists.relevant)
    return share(won, 2.0 * relevant * (lists.sizes - relevant), empty)


def share(part: np.ndarray, whole: np.ndarray, empty: float) -> np.ndarray:
    """part / whole, and `empty` where the whole is 0."""
    return np.asarray(np.divide(part, whole, out=np.full(len(part), empty), where=whole > 0))


def mean(values: np.ndarray) -> float:
    """Over those that are not NaN; NaN if there are none."""
    values = values[~np.isnan(values)]
    return float(values.mean()) if values.size else float("nan")


def each(measure: Callable[[Lists], np.ndarray], y_true: Any, y_score: Any, qid: object) -> np.ndarray:
    """The measure of every list: of the rows of a matrix, or of the queries of flat arrays."""
    relevance, scores = numbers("y_true", y_true), numbers("y_score", y_score)
    require_same(relevance, scores)
    for wrong, what in ((relevance < 0, "negative"), (np.isinf(relevance), "infinite")):
        if wrong.any():
            raise BadInput(f"y_true is {what} {_where(wrong)}; wanted a relevance of 0 or more")
    if relevance.ndim == 1:
        return measure(Lists(relevance, scores, queries(qid, len(relevance))))
    if qid is not None:
        raise BadInput("each row of a matrix is a list of its own; leave qid= out, or give flat arrays")
    rows, columns = relevance.shape
    step = max(1, BLOCK // columns)
    group = np.repeat(np.arange(min(step, rows)), columns)
    values = []
    for at in range(0, rows, step):
        part = relevance[at : at + step].ravel()
        values.append(measure(Lists(part, scores[at : at + step].ravel(), group[: part.size])))
    return np.concatenate(values)


def queries(qid: Any, rows: int) -> np.ndarray:
    """The number of each row's query; without qid all rows are of one."""
    if qid is None:
        return np.zeros(rows, np.intp)
    values = np.asarray(qid) if hasattr(qid, "__array__") else None
    if values is not None and values.ndim == 1 and values.dtype.kind in "biufSUMm":
        missing = bool(np.any(values != values))
        codes = np.unique(values, return_inverse=True)[1]
    else:
        numbers: dict[Any, int] = {}
        try:
            names = list(qid)
            codes = np.array([numbers.setdefault(name, len(numbers)) for name in names], np.intp)
        except TypeError as error:
            raise BadInput(
                f"qid cannot name queries ({error}); wanted one hashable value for each row"
            ) from None
        missing = any(isinstance(name, float | np.floating) and name != name for name in names)
    if len(codes) != rows:
        raise BadInput(f"qid has {len(codes)} values for {rows} rows; wanted one for each")
    if missing:
        raise BadInput("qid has a NaN; name every row's query, or drop the row")
    return codes


def classes(name: str, values: Any) -> tuple[np.ndarray, np.ndarray]:
    """The sorted labels, and the number of each row's among them."""
    labels = _array(name, values)
    if labels.ndim != 1 or not labels.size:
        raise BadInput(f"{name} has shape {labels.shape}; wanted a flat array of at least one label")
    try:
        missing = bool(np.any(labels != labels))
        kinds, codes = np.unique(labels, return_inverse=True)
    except TypeError:
        raise BadInput(f"{name} has labels that cannot be ordered; wanted labels of one type") from None
    if missing:
        raise BadInput(f"{name} has a NaN {_where(labels != labels)}; drop the row")
    return kinds, codes


def by_column(y_true: Any, y_score: Any, labels: Any) -> tuple[np.ndarray, np.ndarray]:
    """The column of each row's label, and the scores."""
    kinds, codes = classes("y_true", y_true)
    scores = numbers("y_score", y_score)
    if scores.ndim != 2 or len(scores) != len(codes):
        raise BadInput(
            f"y_score has shape {scores.shape} for {len(codes)} labels; wanted a row for each label "
            "and a column for each class"
        )
    known = kinds
    if labels is not None:
        known = _array("labels", labels)
        if len(classes("labels", labels)[0]) != len(known):
            raise BadInput("labels= names a label twice; wanted one for each column of y_score")
    if len(known) != scores.shape[1]:
        raise BadInput(
            f"y_score has {scores.shape[1]} columns for {len(known)} labels; "
            "give labels=, one for each column"
        )
    columns = {label: column for column, label in enumerate(known.tolist())}
    for label in kinds.tolist():
        if label not in columns:
            raise BadInput(
                f"y_true has the label {shown(label)}, which is not among labels=; wanted a column for it"
            )
    return np.array([columns[label] for label in kinds.tolist()])[codes], scores


def numbers(name: str, values: Any) -> np.ndarray:
    """A flat array or a matrix of float64, without NaN, not empty."""
    array = _array(name, values)
    try:
        if array.dtype.kind not in "biufO":
            raise TypeError
        numbers = array.astype(float)
    except (TypeError, ValueError, OverflowError):
        raise BadInput(f"{name} holds something else than numbers ({array.dtype}); wanted numbers") from None
    if numbers.ndim not in (1, 2) or not numbers.size:
        raise BadInput(f"{name} has shape {numbers.shape}; wanted at least one number, flat or in a matrix")
    wrong = np.isnan(numbers)
    if wrong.any():
        raise BadInput(f"{name} has a NaN {_where(wrong)}; fill it in or drop the row")
    return numbers


def _array(name: str, values: Any) -> np.ndarray:
    try:
        return np.asarray(canonical(values).toarray() if sp.issparse(values) else values)
    except ValueError:
        raise BadInput(f"{name} has rows of different lengths; wanted a flat array or a matrix") from None


def _where(wrong: np.ndarray) -> str:
    """The first place, in words."""
    row, *column = np.argwhere(wrong)[0]
    return f"in row {row}, column {column[0]}" if column else f"in row {row}"


def require_same(truth: np.ndarray, scores: np.ndarray) -> None:
    if truth.shape != scores.shape:
        raise BadInput(f"y_true has shape {truth.shape}, y_score {scores.shape}; wanted one score for each")


def cut_off(k: int | None) -> float:
    if k is None:
        return np.inf
    require_whole("k", k)
    return k


def refuse(metric: str, **given: Any) -> None:
    for name, value in given.items():
        if value is not None:
            raise BadInput(f"{name}= has no meaning for {metric}; leave it out")
