"""How good a ranking is.

The truth comes first, then the scores; a higher score is better. What is ranked comes in lists: each row
of a matrix is one (a relevance or an indicator of a label in every column, dense or sparse), or each
query of flat arrays with `qid=` (in any order), or all of a flat array without. The result is the mean
over the lists; an item is relevant where its relevance is above 0. Scores may be infinite, not NaN.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..errors import BadInput, require_whole

__all__ = [
    "auc", "auc_all_pairs", "auc_one_vs_all", "coverage", "lrap", "mean_average_precision", "ndcg",
    "one_error", "ranking_loss",
]  # fmt: skip

BLOCK = 1 << 20  # items of a matrix ranked at once: the work needs ten numbers an item

GAINS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "exponential": lambda relevance: np.exp2(relevance) - 1.0,
    "linear": lambda relevance: relevance,
}
DISCOUNTS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "log2": lambda place: np.log2(place + 1.0),
    "letor": lambda place: np.log2(np.maximum(place, 2.0)),
}


def auc(y_true: Any, y_score: Any, *, qid: Any = None, k: int | None = None, strict: bool = False) -> float:
    """How often a positive is scored above a negative: #{s+ > s-} / (n+ n-), a tie counting half.

    y_true : labels of two kinds; the larger is positive. Of one kind: the result is NaN.
    qid : the query of each row; the mean over queries that have both kinds (NaN: none has).
    strict : a tie counts nothing.

    >>> auc([0, 0, 1, 1], [0.1, 0.4, 0.4, 0.8])
    0.875
    >>> auc([0, 0, 1, 1], [0.1, 0.4, 0.4, 0.8], strict=True)
    0.75
    """
    _refuse("auc", k=k)
    kinds, codes = _classes("y_true", y_true)
    if len(kinds) > 2:
        raise BadInput(
            f"y_true has {len(kinds)} kinds of labels; wanted two (for more: auc_one_vs_all, auc_all_pairs)"
        )
    scores = _numbers("y_score", y_score)
    _require_same(codes, scores)
    return _mean(_area(_Lists(codes > 0, scores, _queries(qid, len(codes))), strict))


def auc_all_pairs(
    y_true: Any, y_score: Any, *, qid: None = None, k: int | None = None, labels: Any = None
) -> float:
    """Mean over ordered pairs of classes (a, b) of the AUC of column a on the rows of a and b.

    1 / (K (K - 1)) sum_{a != b} AUC_{s_a}(X_a, X_b)   (Hand and Till 2001); a pair with a class that no row
    has is left out of the mean, which is NaN if no pair is left.

    y_score : (n, K), the columns in the order of the sorted labels, or in that of `labels`.
    labels : the label of each column (`classes_`), also of those that y_true does not show.

    >>> auc_all_pairs(["a", "b", "c"], [[0.8, 0.1, 0.1], [0.2, 0.2, 0.6], [0.1, 0.3, 0.6]])
    0.75
    """
    _refuse("auc_all_pairs", qid=qid, k=k)
    codes, scores = _by_column(y_true, y_score, labels)
    outputs = scores.shape[1]
    count = np.bincount(codes, minlength=outputs)
    areas = np.full((outputs, outputs), np.nan)
    for own in np.flatnonzero(count):
        lists = _Lists(codes == own, scores[:, own], np.zeros(len(codes), np.intp))
        won = np.bincount(codes[lists.order], lists.won(strict=False), outputs)
        areas[own] = _share(won, 2.0 * count[own] * count, np.nan)
    return _mean(areas[~np.eye(outputs, dtype=bool)])


def auc_one_vs_all(
    y_true: Any, y_score: Any, *, qid: None = None, k: int | None = None, labels: Any = None
) -> float:
    """Mean over classes a of the AUC of column a, the rows of a against all others: 1/K sum_a AUC_{s_a}.

    A class that no row has, or every row, is left out of the mean (NaN if no class is left).

    y_score : (n, K), the columns in the order of the sorted labels, or in that of `labels`.
    labels : the label of each column (`classes_`), also of those that y_true does not show.

    >>> auc_one_vs_all(["a", "b", "c"], [[0.8, 0.1, 0.1], [0.2, 0.2, 0.6], [0.1, 0.3, 0.6]])
    0.75
    """
    _refuse("auc_one_vs_all", qid=qid, k=k)
    codes, scores = _by_column(y_true, y_score, labels)
    one_list = np.zeros(len(codes), np.intp)
    areas = [
        _area(_Lists(codes == own, column, one_list), strict=False) for own, column in enumerate(scores.T)
    ]
    return _mean(np.concatenate(areas))


def mean_average_precision(
    y_true: Any, y_score: Any, *, qid: Any = None, k: int | None = None, skip_empty: bool = False
) -> float:
    """Mean over lists of AP = 1/#relevant sum_{places i of relevant items} precision@i.

    Equal scores stand in the order given. A list without relevant items counts 0.

    k : only the first k places; AP is then over min(k, #relevant), so that the best order has 1.
    skip_empty : leave lists without relevant items out of the mean (NaN if no list is left).

    >>> mean_average_precision([0, 1, 1], [0.9, 0.5, 0.1])   # (1/2 + 2/3) / 2
    0.5833333333333333
    >>> mean_average_precision([0, 1, 1, 0], [0.9, 0.5, 0.1, 0.7], qid=["a", "a", "b", "b"])
    0.5
    """
    cut = _cut(k)

    def precision(lists: _Lists) -> np.ndarray:
        counted = lists.relevant & (lists.place <= cut)
        hits = lists.total(np.where(counted, lists.found(lists.place) / lists.place, 0.0))
        return _share(hits, np.minimum(lists.total(lists.relevant), cut), np.nan if skip_empty else 0.0)

    return _mean(_each(precision, y_true, y_score, qid))


def ndcg(
    y_true: Any, y_score: Any, *, qid: Any = None, k: int | None = None,
    gain: str = "exponential", discount: str = "log2",
) -> float:  # fmt: skip
    """Mean over lists of DCG / the DCG of the best order, DCG = sum_{i <= k} gain(relevance_i) / discount(i).

    Equal scores stand in the order given. A list without relevant items counts 0.

    y_true : relevance, 0 or more.
    k : the cut-off, of both DCGs; None: the whole list.
    gain : "exponential" (2^relevance - 1) or "linear" (relevance).
    discount : "log2" (log2(i + 1)) or "letor" (1 at the first place, then log2(i): LETOR 3's script).

    >>> ndcg([2, 0, 1], [0.3, 0.2, 0.1])   # (3 + 1 / log2(4)) / (3 + 1 / log2(3))
    0.9639...
    >>> ndcg([2, 0, 1], [0.3, 0.2, 0.1], k=2, gain="linear", discount="letor")   # (2 + 0) / (2 + 1)
    0.6666666666666666
    """
    if gain not in GAINS:
        raise BadInput(f"gain={gain!r}; wanted 'exponential' or 'linear'")
    if discount not in DISCOUNTS:
        raise BadInput(f"discount={discount!r}; wanted 'log2' or 'letor'")
    cut = _cut(k)

    def gained(lists: _Lists, relevance: np.ndarray) -> np.ndarray:
        with np.errstate(over="ignore"):
            gains = GAINS[gain](relevance) / DISCOUNTS[discount](lists.place)
            return lists.total(np.where(lists.place <= cut, gains, 0.0))

    def normalised(lists: _Lists) -> np.ndarray:
        best = lists.relevance[np.lexsort((-lists.relevance, lists.group))]
        ideal = gained(lists, best)
        if not np.isfinite(ideal).all():
            raise BadInput(
                f"y_true has a relevance of {best.max():g}, too large for gain={gain!r}; scale it down"
            )
        return _share(gained(lists, lists.relevance), ideal, 0.0)

    return _mean(_each(normalised, y_true, y_score, qid))


def coverage(y_true: Any, y_score: Any, *, qid: Any = None, k: int | None = None) -> float:
    """How far down to go for all relevant labels: mean of max_{r in Y} #{l: s_l >= s_r}.

    1 is the best with one relevant label; ties count as above; a list without relevant labels counts 0.

    >>> coverage([[1, 0, 0], [0, 0, 1]], [[0.9, 0.5, 0.1], [0.9, 0.5, 0.1]])
    2.0
    """
    _refuse("coverage", k=k)

    def depth(lists: _Lists) -> np.ndarray:
        reached = np.maximum.reduceat(np.where(lists.relevant, lists.reach, 0), lists.starts)
        return np.asarray(reached, float)

    return _mean(_each(depth, y_true, y_score, qid))


def ranking_loss(y_true: Any, y_score: Any, *, qid: Any = None, k: int | None = None) -> float:
    """Pairs out of order: mean of #{(r, q): s_r <= s_q} / (|Y| |not Y|), r relevant and q not.

    A tie is an error: it is 1 - strict AUC of each list. A list all or none of whose labels are relevant
    counts 0.

    >>> ranking_loss([[1, 0, 0], [0, 0, 1]], [[0.9, 0.5, 0.1], [0.9, 0.5, 0.5]])
    0.5
    """
    _refuse("ranking_loss", k=k)
    return _mean(_each(lambda lists: 1.0 - _area(lists, strict=True, empty=1.0), y_true, y_score, qid))


def one_error(y_true: Any, y_score: Any, *, qid: Any = None, k: int | None = None) -> float:
    """The fraction of lists whose top label (the first given, on ties) is not relevant.

    A list without relevant labels is such a list.

    >>> one_error([[1, 0, 0], [0, 0, 1]], [[0.9, 0.5, 0.1], [0.9, 0.5, 0.1]])
    0.5
    """
    _refuse("one_error", k=k)
    return _mean(_each(lambda lists: 1.0 - lists.relevant[lists.starts], y_true, y_score, qid))


def lrap(y_true: Any, y_score: Any, *, qid: Any = None, k: int | None = None) -> float:
    """Label ranking average precision: mean of 1/|Y| sum_{r in Y} #{l in Y: s_l >= s_r} / #{l: s_l >= s_r}.

    As average precision, but ties count as above, and a list without relevant labels counts 1 (nothing is
    out of order; scikit-learn's convention).

    >>> lrap([[1, 0, 0], [0, 0, 1]], [[0.9, 0.5, 0.1], [0.9, 0.5, 0.1]])   # (1 + 1/3) / 2
    0.6666666666666666
    """
    _refuse("lrap", k=k)

    def precision(lists: _Lists) -> np.ndarray:
        hits = lists.total(np.where(lists.relevant, lists.found(lists.reach) / lists.reach, 0.0))
        return _share(hits, lists.total(lists.relevant), 1.0)

    return _mean(_each(precision, y_true, y_score, qid))


class _Lists:
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


def _area(lists: _Lists, strict: bool, empty: float = np.nan) -> np.ndarray:
    """List by list: the share of (relevant, other) pairs in the right order; `empty` where there are none."""
    won = lists.total(np.where(lists.relevant, 0, lists.won(strict)))
    relevant = lists.total(lists.relevant)
    return _share(won, 2.0 * relevant * (lists.sizes - relevant), empty)


def _share(part: np.ndarray, whole: np.ndarray, empty: float) -> np.ndarray:
    """part / whole, and `empty` where the whole is 0."""
    return np.asarray(np.divide(part, whole, out=np.full(len(part), empty), where=whole > 0))


def _mean(values: np.ndarray) -> float:
    """Over those that are not NaN; NaN if there are none."""
    values = values[~np.isnan(values)]
    return float(values.mean()) if values.size else float("nan")


def _each(measure: Callable[[_Lists], np.ndarray], y_true: Any, y_score: Any, qid: Any) -> np.ndarray:
    """The measure of every list: of the rows of a matrix, or of the queries of flat arrays."""
    relevance, scores = _numbers("y_true", y_true), _numbers("y_score", y_score)
    _require_same(relevance, scores)
    for wrong, what in ((relevance < 0, "negative"), (np.isinf(relevance), "infinite")):
        if wrong.any():
            raise BadInput(f"y_true is {what} {_where(wrong)}; wanted a relevance of 0 or more")
    if relevance.ndim == 1:
        return measure(_Lists(relevance, scores, _queries(qid, len(relevance))))
    if qid is not None:
        raise BadInput("each row of a matrix is a list of its own; leave qid= out, or give flat arrays")
    rows, columns = relevance.shape
    step = max(1, BLOCK // columns)
    group = np.repeat(np.arange(min(step, rows)), columns)
    values = []
    for at in range(0, rows, step):
        part = relevance[at : at + step].ravel()
        values.append(measure(_Lists(part, scores[at : at + step].ravel(), group[: part.size])))
    return np.concatenate(values)


def _queries(qid: Any, rows: int) -> np.ndarray:
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


def _classes(name: str, values: Any) -> tuple[np.ndarray, np.ndarray]:
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


def _by_column(y_true: Any, y_score: Any, labels: Any) -> tuple[np.ndarray, np.ndarray]:
    """The column of each row's label, and the scores."""
    kinds, codes = _classes("y_true", y_true)
    scores = _numbers("y_score", y_score)
    if scores.ndim != 2 or len(scores) != len(codes):
        raise BadInput(
            f"y_score has shape {scores.shape} for {len(codes)} labels; wanted a row for each label "
            "and a column for each class"
        )
    known = kinds
    if labels is not None:
        known = _array("labels", labels)
        if len(_classes("labels", labels)[0]) != len(known):
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
                f"y_true has the label {label!r}, which is not among labels=; wanted a column for it"
            )
    return np.array([columns[label] for label in kinds.tolist()])[codes], scores


def _numbers(name: str, values: Any) -> np.ndarray:
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
        return np.asarray(values.toarray() if sp.issparse(values) else values)
    except ValueError:
        raise BadInput(f"{name} has rows of different lengths; wanted a flat array or a matrix") from None


def _where(wrong: np.ndarray) -> str:
    """The first place, in words."""
    row, *column = np.argwhere(wrong)[0]
    return f"in row {row}, column {column[0]}" if column else f"in row {row}"


def _require_same(truth: np.ndarray, scores: np.ndarray) -> None:
    if truth.shape != scores.shape:
        raise BadInput(f"y_true has shape {truth.shape}, y_score {scores.shape}; wanted one score for each")


def _cut(k: int | None) -> float:
    if k is None:
        return np.inf
    require_whole("k", k)
    return k


def _refuse(metric: str, **given: Any) -> None:
    for name, value in given.items():
        if value is not None:
            raise BadInput(f"{name}= has no meaning for {metric}; leave it out")
