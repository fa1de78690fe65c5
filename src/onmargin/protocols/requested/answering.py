"""Answers of a model to blocks: labels, scores, probabilities, rankings; and how good they were."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator
from typing import NamedTuple, Protocol, cast

import numpy as np
import scipy.sparse as sp

from ...errors import BadInput, shown
from ...estimators.uniclass import PassiveAggressiveUniclass
from ...features.piped import is_pipeline, last_step
from ...features.text import Text
from ...features.texts import Texts
from ...interface.feedback.asks import AsksForLabels
from ...interface.groups import Grouped
from ...interface.learner import Learner
from ...results.metrics import ndcg
from ...sources.blocks import Block, as_wide, csr
from .further import after_tabs
from .training import whole_groups

KINDS = ("labels", "scores", "probabilities", "ranking")


class Answering(Protocol):
    """What is asked of a learner, or of a pipeline that ends in one."""

    def predict(self, X: object) -> np.ndarray: ...
    def decision_function(self, X: object) -> np.ndarray: ...
    def predict_proba(self, X: object) -> np.ndarray: ...
    def score_samples(self, X: object) -> np.ndarray: ...


class Answers(NamedTuple):
    """Of one block: an answer a row; `values`, a row of numbers each, named by `names`; what else it says."""

    labels: list[object]
    values: np.ndarray | None
    names: list[object]
    ids: list[object] | None
    targets: object
    groups: np.ndarray | None
    weights: np.ndarray | None


class Answerer:
    """A model (or a Pipeline that ends in one) that answers blocks in bounded memory.

    kind : "labels" (or numbers), "scores", "probabilities" (where the loss gives them) or "ranking" (labels
        from the best-scored on; of a ranker, places within each query).
    """

    def __init__(self, model: object, kind: str = "labels") -> None:
        if kind not in KINDS:
            raise BadInput(f"kind={kind!r}; wanted one of {', '.join(KINDS)}")
        self.model, self.kind = model, kind
        inside = last_step(model)
        if not isinstance(inside, Learner | AsksForLabels):
            raise BadInput(f"got {type(model).__name__}; wanted a learner, or a Pipeline that ends in one")
        self.learner = inside
        self.cut = 0  # columns that were never learned, at most

    @property
    def names(self) -> list[object]:
        """What the columns of scores stand for."""
        known = getattr(self.learner, "classes_", None)
        return [] if known is None else np.asarray(known).tolist()

    def answers(self, blocks: Iterable[Block]) -> Iterator[Answers]:
        """Block by block."""
        given = iter(blocks)
        for block in whole_groups(given) if isinstance(self.learner, Grouped) else given:
            rows = self._fitting(block.rows)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", UserWarning)  # (columns that have no part in it: the target)
                labels, values = self._asked(rows, block.groups)
            ids = None if block.ids is None else block.ids.tolist()
            yield Answers(labels, values, self.names, ids, block.targets, block.groups, block.weights)

    def _fitting(self, rows: object) -> object:
        """Rows as wide as the model; columns beyond it were never learned and add nothing."""
        if isinstance(rows, Texts):
            return after_tabs(rows)
        if hasattr(rows, "column_names") and is_pipeline(self.model):
            if isinstance(self.model.steps[0][1], Text):
                raise BadInput(
                    f"the model answers texts, and these rows have columns {shown(rows.column_names, 100)}; "
                    "say which is the text, as --text body"
                )
        if is_pipeline(self.model) or not sp.issparse(rows):
            return rows
        matrix, width = cast("sp.csr_matrix", rows), int(self.learner.n_features_in_)
        if matrix.shape[1] < width:
            return as_wide(matrix, width)
        if matrix.shape[1] > width:
            self.cut = max(self.cut, matrix.shape[1] - width)
            narrow = matrix[:, :width].tocsr()
            return csr(narrow.data, narrow.indices, narrow.indptr, width)
        return matrix

    def _asked(self, rows: object, groups: np.ndarray | None) -> tuple[list[object], np.ndarray | None]:
        asked = cast("Answering", self.model)
        if isinstance(self.learner, Grouped):
            scores = np.asarray(_scores(self.model, self.learner, rows, groups))
            if self.kind == "probabilities":
                raise BadInput(
                    f"{type(self.learner).__name__} has no probabilities; ask for scores or ranking"
                )
            if self.kind == "ranking" and groups is not None:
                return cast("list[object]", places(scores, groups).tolist()), scores[:, None]
            return cast("list[object]", scores.tolist()), scores[:, None]
        if self.kind == "scores" and isinstance(self.learner, PassiveAggressiveUniclass):
            away = np.asarray(asked.score_samples(rows), float)  # of points: minus how far from the centre
            return cast("list[object]", away.tolist()), away[:, None]
        labels = _listed(asked.predict(rows), self.names)
        if self.kind == "labels":
            return labels, None
        if self.kind == "probabilities":
            if not hasattr(self.model, "predict_proba"):
                raise BadInput(
                    f"{type(self.learner).__name__} has no probabilities (FTRL with --loss logistic has); "
                    "ask for scores"
                )
            return labels, np.asarray(asked.predict_proba(rows))
        if not self.names:  # numbers are their own scores
            return labels, np.asarray(labels, float)[:, None]
        scores = np.asarray(asked.decision_function(rows))
        if scores.ndim == 1 and self.kind == "ranking":
            scores = np.stack([-scores, scores], axis=1)
        return labels, scores[:, None] if scores.ndim == 1 else scores


def _scores(model: object, learner: Grouped, rows: object, groups: np.ndarray | None) -> np.ndarray:
    """Scores of rows in groups."""
    if is_pipeline(model):
        rows = model[:-1].transform(rows)
    return np.asarray(learner.decision_function(rows))


def places(scores: np.ndarray, groups: np.ndarray) -> np.ndarray:
    """The place of each row within its group, 1 the best-scored; of equal ones the first."""
    order = np.lexsort((np.arange(len(scores)), -scores, groups))
    sorted_groups = np.asarray(groups)[order]
    starts = np.r_[0, np.flatnonzero(sorted_groups[1:] != sorted_groups[:-1]) + 1]
    sizes = np.diff(np.r_[starts, len(scores)])
    found = np.empty(len(scores), np.int64)
    found[order] = np.arange(len(scores)) - np.repeat(starts, sizes) + 1
    return found


def _listed(predicted: object, names: list[object]) -> list[object]:
    """Answers as Python's values; sets of labels as tuples."""
    if sp.issparse(predicted):
        predicted = cast("sp.csr_matrix", predicted).toarray()
    table = np.asarray(predicted)
    if table.ndim == 2:
        return [tuple(names[k] for k in np.flatnonzero(line)) for line in table]
    return cast("list[object]", table.tolist())


def judged(model: object, blocks: Iterable[Block]) -> dict[str, float]:
    """How good a model is on labelled blocks, which it does not learn: error, mae and rmse, ndcg, outside."""
    answerer = Answerer(model)
    if isinstance(answerer.learner, PassiveAggressiveUniclass):
        outside = [label == -1 for found in answerer.answers(blocks) for label in found.labels]
        return {"rows": len(outside), "outside": float(np.mean(outside))}
    rows, sums = 0, np.zeros(3)
    grouped = isinstance(answerer.learner, Grouped)
    for found in answerer.answers(blocks):
        if found.targets is None:
            raise BadInput("the test data have no labels")
        count = len(found.labels)
        if grouped:
            queries = len(np.unique(np.asarray(found.groups)))
            mean = ndcg(found.targets, np.asarray(found.labels, float), qid=found.groups)
            sums += (mean * queries, 0.0, queries)
        elif not answerer.names:
            gaps = np.asarray(found.labels, float) - np.asarray(found.targets, float)
            gaps = gaps[np.isfinite(gaps)]
            sums += (np.abs(gaps).sum(), (gaps**2).sum(), len(gaps))
        else:
            truths = _listed(found.targets, answerer.names)
            told = [truth == truth for truth in truths]  # (a line of Vowpal Wabbit's may have none)
            wrong = [a != b for a, b, known in zip(truths, found.labels, told, strict=True) if known]
            sums += (sum(wrong), 0.0, sum(told))
        rows += count
    if not sums[2]:
        raise BadInput("the test data hold no labelled example")
    if grouped:
        return {"rows": rows, "ndcg": sums[0] / sums[2]}
    if not answerer.names:
        return {"rows": rows, "mae": sums[0] / sums[2], "rmse": float(np.sqrt(sums[1] / sums[2]))}
    return {"rows": rows, "error": sums[0] / sums[2]}
