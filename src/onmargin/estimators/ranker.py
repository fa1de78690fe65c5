"""Ranking by query."""

from __future__ import annotations

import sys
import warnings
from types import FrameType
from typing import Any, Self

import numpy as np

from ..errors import BadInput
from ..interface.groups import Grouped, Rounds, no_rounds, read_groups, weights_of_groups
from ..interface.guard import answers
from ..interface.parameters.fields import (
    Averaged,
    Intercept,
    Passes,
    Shuffled,
    above_zero,
    from_zero,
    learner,
    one_of,
)
from ..learn.paired.draws import draw_pairs
from ..learn.vocabulary import NONE
from ..models.paired.queries import cut_in_two, queries_of
from ..models.weights import Model, Numbers
from ..results.metrics import ndcg

TOLD: set[tuple[str, int]] = set()  # lines whose search was warned of


@learner
class PairedRanker(Grouped, Passes, Shuffled, Intercept, Averaged):
    """Order the documents of a query: Passive-Aggressive rounds of more and less relevant ones.

    rule="auc": pairs (x+, x-) of one query, drawn uniformly among those of different relevance, as many a
    visit as the query has documents; w += tau (x+ - x-), tau = min(C, [2 - <w, x+ - x->]_+ / |x+ - x-|^2).
    rule="max_violators": the query's documents are cut in two at a level of relevance (drawn, where there
    are several); the lowest-scored relevant and the highest-scored other are moved by one joint step, each
    only if it is on the wrong side of its margin (the intercept is the threshold between them).

    Pairs never cross queries; a query whose documents are all as relevant is skipped, and counted in
    `n_skipped_`.

    Parameters
    ----------
    rule : "auc" or "max_violators".
    C : the longest step.
    margin : None is 2 for "auc" (1 is Keshet et al.'s form) and 1 for "max_violators".
    average : "auto" (`fit` ends with the mean of the weights that predicted, streams go on with the last),
        True (that mean in both) or False.

    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X, qid = rng.normal(size=(600, 5)), np.repeat(np.arange(60), 10)
    >>> y = np.digitize(X[:, 0], [0, 1])  # graded: 0, 1 or 2
    >>> model = PairedRanker(C=0.1, average=True, random_state=0).fit(X, y, qid)
    >>> bool(model.score(X, y, qid) > 0.95)
    True
    """

    rule: str = one_of("auc", "max_violators", default="auc")
    C: float = above_zero(default=1.0, inf=True)
    margin: float | None = from_zero(default=None, none=True)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.target_tags.positive_only = True
        return tags

    def numbers(self) -> Numbers:
        """C, the margin, the rule."""
        margin = self.margin if self.margin is not None else 2.0 if self.rule == "auc" else 1.0
        chosen = {"C": self.C, "margin": margin, "rule": self.rule, "thresholds": False}
        return chosen | {"sampler": "", "reservoir": 1, "sets": False}

    def fit(self, X: object, y: object, qid: object = None) -> Self:
        """Learn from scratch (`warm_start`: go on): rows X, their relevance y, their queries (None: one)."""
        fresh = not (self.warm_start and self._model is not None)
        warn_in_search(qid)
        return self._learn_groups(X, y, qid, fresh, True)

    def partial_fit(self, X: object, y: object, qid: object = None) -> Self:
        """Learn from these queries, in order, each once. A query's rows come in one call."""
        return self._learn_groups(X, y, qid, False, False)

    def _read_truth(self, y: object, groups: np.ndarray, count: int) -> np.ndarray:
        return read_relevance(y, len(groups))

    def _rounds(
        self, groups: np.ndarray, truth: np.ndarray, order: np.ndarray, model: Model
    ) -> tuple[Rounds, np.ndarray]:
        queries = queries_of(truth, groups, len(order))
        some = order[queries.pairs()[order] > 0]
        self.n_skipped_ = len(order) - len(some)
        if not len(some):
            return no_rounds()
        if self.rule == "auc":
            visits = np.repeat(some, queries.sizes()[some])
            members = np.empty(2 * len(visits), np.int64)
            draw_pairs(queries, visits, self._luck(model, len(visits), NONE), members)
            starts = 2 * np.arange(len(visits) + 1)
            return (members, starts), np.arange(len(members)) % 2 == 0
        rows, starts, better = cut_in_two(queries, some, self._luck(model, len(some), NONE))
        return (rows, starts), better

    @answers
    def predict(self, X: object) -> np.ndarray:
        """The score of every row: within a query, higher is better."""
        return self.decision_function(X)

    @answers
    def score(self, X: object, y: object, qid: object = None, sample_weight: object = None) -> float:
        """Mean NDCG over the queries; with weights, a query counts as the mean of its rows' weights."""
        warn_in_search(qid)
        scores = self.predict(X)
        truth = read_relevance(y, len(scores))
        if sample_weight is None:
            return float(ndcg(truth, scores, qid=qid))
        groups, _ = read_groups(qid, len(scores))
        order = np.argsort(groups, kind="stable")
        parts = np.split(order, np.flatnonzero(np.diff(groups[order])) + 1)
        each = [ndcg(truth[part], scores[part]) for part in parts]
        return float(np.average(each, weights=weights_of_groups(sample_weight, groups)))


def warn_in_search(qid: object) -> None:
    """Without queries all rows are one; in a search that is rarely meant, and its folds cut queries apart.

    Said once for the line that began the search (scikit-learn forgets what was said before every fold).
    """
    frame: FrameType | None = sys._getframe(1) if qid is None else None
    searching, place = False, None
    while frame is not None:
        module = frame.f_globals.get("__name__", "")
        searching = searching or module.startswith("sklearn.model_selection")
        if module.startswith(("sklearn.", "joblib.")):
            place = frame.f_back or frame
        frame = frame.f_back
    if searching and place is not None and (line := (place.f_code.co_filename, place.f_lineno)) not in TOLD:
        TOLD.add(line)
        warnings.warn_explicit(
            "PairedRanker got no qid inside a search: all rows are one query; hand qid on by metadata "
            "routing (set_fit_request(qid=True), set_score_request(qid=True)), and split by query "
            "(GroupKFold)", UserWarning, *line,
        )  # fmt: skip


def read_relevance(y: object, count: int) -> np.ndarray:
    """Grades of relevance, from 0 on."""
    if y is None:
        raise BadInput("PairedRanker requires y to be passed, but the target y is None")
    try:
        given = np.asarray(y)
        if given.dtype.kind in "cUSM":
            raise TypeError
        relevance = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError):
        raise BadInput("y cannot be read as numbers; wanted one grade of relevance per row") from None
    if relevance.ndim == 2 and relevance.shape[1] == 1:
        relevance = relevance[:, 0]
    if relevance.shape != (count,):
        raise BadInput(f"y has shape {relevance.shape}; wanted ({count},), one grade of relevance per row")
    bad = ~(np.isfinite(relevance) & (relevance >= 0))
    if bad.any():
        where = int(np.argmax(bad))
        raise BadInput(
            f"the relevance of row {where} is {relevance[where]}; wanted finite numbers of at least 0 (Input "
            "contains NaN or negative values); drop or mend the row"
        )
    return relevance
