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

from ..errors import BadInput, shown
from .ranked import (
    Lists,
    area,
    by_column,
    classes,
    cut_off,
    each,
    mean,
    numbers,
    queries,
    refuse,
    require_same,
    share,
)

__all__ = [
    "auc", "auc_all_pairs", "auc_one_vs_all", "coverage", "lrap", "mean_average_precision", "ndcg",
    "one_error", "ranking_loss",
]  # fmt: skip

GAINS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "exponential": lambda relevance: np.exp2(relevance) - 1.0,
    "linear": lambda relevance: relevance,
}
DISCOUNTS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "log2": lambda place: np.log2(place + 1.0),
    "letor": lambda place: np.log2(np.maximum(place, 2.0)),
}


def auc(
    y_true: Any, y_score: Any, *, qid: object = None, k: int | None = None, strict: bool = False
) -> float:
    """How often a positive is scored above a negative: #{s+ > s-} / (n+ n-), a tie counting half.

    y_true : labels of two kinds; the larger is positive. Of one kind: the result is NaN.
    qid : the query of each row; the mean over queries that have both kinds (NaN: none has).
    strict : a tie counts nothing.

    >>> auc([0, 0, 1, 1], [0.1, 0.4, 0.4, 0.8])
    0.875
    >>> auc([0, 0, 1, 1], [0.1, 0.4, 0.4, 0.8], strict=True)
    0.75
    """
    refuse("auc", k=k)
    kinds, codes = classes("y_true", y_true)
    if len(kinds) > 2:
        raise BadInput(
            f"y_true has {len(kinds)} kinds of labels; wanted two (for more: auc_one_vs_all, auc_all_pairs)"
        )
    scores = numbers("y_score", y_score)
    require_same(codes, scores)
    return mean(area(Lists(codes > 0, scores, queries(qid, len(codes))), strict))


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
    refuse("auc_all_pairs", qid=qid, k=k)
    codes, scores = by_column(y_true, y_score, labels)
    outputs = scores.shape[1]
    count = np.bincount(codes, minlength=outputs)
    areas = np.full((outputs, outputs), np.nan)
    for own in np.flatnonzero(count):
        lists = Lists(codes == own, scores[:, own], np.zeros(len(codes), np.intp))
        won = np.bincount(codes[lists.order], lists.won(strict=False), outputs)
        areas[own] = share(won, 2.0 * count[own] * count, np.nan)
    return mean(areas[~np.eye(outputs, dtype=bool)])


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
    refuse("auc_one_vs_all", qid=qid, k=k)
    codes, scores = by_column(y_true, y_score, labels)
    one_list = np.zeros(len(codes), np.intp)
    areas = [area(Lists(codes == own, column, one_list), strict=False) for own, column in enumerate(scores.T)]
    return mean(np.concatenate(areas))


def mean_average_precision(
    y_true: Any, y_score: Any, *, qid: object = None, k: int | None = None, skip_empty: bool = False
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
    cut = cut_off(k)

    def precision(lists: Lists) -> np.ndarray:
        counted = lists.relevant & (lists.place <= cut)
        hits = lists.total(np.where(counted, lists.found(lists.place) / lists.place, 0.0))
        return share(hits, np.minimum(lists.total(lists.relevant), cut), np.nan if skip_empty else 0.0)

    return mean(each(precision, y_true, y_score, qid))


def ndcg(
    y_true: Any, y_score: Any, *, qid: object = None, k: int | None = None,
    gain: str = "exponential", discount: str = "log2", skip_empty: bool = False,
) -> float:  # fmt: skip
    """Mean over lists of DCG / the DCG of the best order, DCG = sum_{i <= k} gain(relevance_i) / discount(i).

    Equal scores stand in the order given. A list without relevant items counts 0.

    y_true : relevance, 0 or more.
    k : the cut-off, of both DCGs; None: the whole list.
    gain : "exponential" (2^relevance - 1) or "linear" (relevance).
    discount : "log2" (log2(i + 1)) or "letor" (1 at the first place, then log2(i): LETOR 3's script).
    skip_empty : leave lists without relevant items out of the mean (NaN if no list is left).

    >>> ndcg([2, 0, 1], [0.3, 0.2, 0.1])   # (3 + 1 / log2(4)) / (3 + 1 / log2(3))
    0.9639...
    >>> ndcg([2, 0, 1], [0.3, 0.2, 0.1], k=2, gain="linear", discount="letor")   # (2 + 0) / (2 + 1)
    0.6666666666666666
    """
    if gain not in GAINS:
        raise BadInput(f"gain={shown(gain)}; wanted 'exponential' or 'linear'")
    if discount not in DISCOUNTS:
        raise BadInput(f"discount={shown(discount)}; wanted 'log2' or 'letor'")
    cut = cut_off(k)

    def gained(lists: Lists, relevance: np.ndarray) -> np.ndarray:
        with np.errstate(over="ignore"):
            gains = GAINS[gain](relevance) / DISCOUNTS[discount](lists.place)
            return lists.total(np.where(lists.place <= cut, gains, 0.0))

    def normalised(lists: Lists) -> np.ndarray:
        best = lists.relevance[np.lexsort((-lists.relevance, lists.group))]
        ideal = gained(lists, best)
        if not np.isfinite(ideal).all():
            raise BadInput(
                f"y_true has a relevance of {best.max():g}, too large for gain={shown(gain)}; scale it down"
            )
        return share(gained(lists, lists.relevance), ideal, np.nan if skip_empty else 0.0)

    return mean(each(normalised, y_true, y_score, qid))


def coverage(y_true: Any, y_score: Any, *, qid: object = None, k: int | None = None) -> float:
    """How far down to go for all relevant labels: mean of max_{r in Y} #{l: s_l >= s_r}.

    1 is the best with one relevant label; ties count as above; a list without relevant labels counts 0.

    >>> coverage([[1, 0, 0], [0, 0, 1]], [[0.9, 0.5, 0.1], [0.9, 0.5, 0.1]])
    2.0
    """
    refuse("coverage", k=k)

    def depth(lists: Lists) -> np.ndarray:
        reached = np.maximum.reduceat(np.where(lists.relevant, lists.reach, 0), lists.starts)
        return np.asarray(reached, float)

    return mean(each(depth, y_true, y_score, qid))


def ranking_loss(y_true: Any, y_score: Any, *, qid: object = None, k: int | None = None) -> float:
    """Pairs out of order: mean of #{(r, q): s_r <= s_q} / (|Y| |not Y|), r relevant and q not.

    A tie is an error: it is 1 - strict AUC of each list. A list all or none of whose labels are relevant
    counts 0.

    >>> ranking_loss([[1, 0, 0], [0, 0, 1]], [[0.9, 0.5, 0.1], [0.9, 0.5, 0.5]])
    0.5
    """
    refuse("ranking_loss", k=k)
    return mean(each(lambda lists: 1.0 - area(lists, strict=True, empty=1.0), y_true, y_score, qid))


def one_error(y_true: Any, y_score: Any, *, qid: object = None, k: int | None = None) -> float:
    """The fraction of lists whose top label (the first given, on ties) is not relevant.

    A list without relevant labels is such a list.

    >>> one_error([[1, 0, 0], [0, 0, 1]], [[0.9, 0.5, 0.1], [0.9, 0.5, 0.1]])
    0.5
    """
    refuse("one_error", k=k)
    return mean(each(lambda lists: 1.0 - lists.relevant[lists.starts], y_true, y_score, qid))


def lrap(y_true: Any, y_score: Any, *, qid: object = None, k: int | None = None) -> float:
    """Label ranking average precision: mean of 1/|Y| sum_{r in Y} #{l in Y: s_l >= s_r} / #{l: s_l >= s_r}.

    As average precision, but ties count as above, and a list without relevant labels counts 1 (nothing is
    out of order; scikit-learn's convention).

    >>> lrap([[1, 0, 0], [0, 0, 1]], [[0.9, 0.5, 0.1], [0.9, 0.5, 0.1]])   # (1 + 1/3) / 2
    0.6666666666666666
    """
    refuse("lrap", k=k)

    def precision(lists: Lists) -> np.ndarray:
        hits = lists.total(np.where(lists.relevant, lists.found(lists.reach) / lists.reach, 0.0))
        return share(hits, lists.total(lists.relevant), 1.0)

    return mean(each(precision, y_true, y_score, qid))
