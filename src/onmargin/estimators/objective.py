"""The objective that a learner descends: on its rows, on any data, and how far from the least."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..models.kernel import KernelModel
from ..models.svm import KernelProblem, Problem
from ..models.weights import Model
from .classifier import LinearClassifier
from .lessons import Lesson


class SvmObjective(LinearClassifier):
    """`objective`, and after `fit` `objective_` and `dual_gap_`."""

    project: Any
    batch_size: Any
    multiclass: str
    fit_intercept: Any
    objective_: float
    dual_gap_: float

    def _objective_on(self, lesson: Lesson) -> Problem:
        """The objective on these rows, with their weights."""
        labels = self._labels
        assert labels is not None
        ranked = self.multiclass == "crammer_singer"
        caps = lesson.weights if lesson.weights.size else np.ones(lesson.count)
        if labels.sets:
            marks = lesson.y.toarray() if sp.issparse(lesson.y) else np.asarray(lesson.y)
            return Problem(lesson.rows, _sides(marks > 0), caps, ranked)
        codes = labels.codes(lesson.y)
        weighting = labels.fitted_weights(codes[caps > 0], self._weighting())
        if weighting is not None:
            caps = caps * np.array([float(weighting.get(label, 1.0)) for label in labels.known])[codes]
        if labels.outputs == 1:
            return Problem(lesson.rows, _sides(codes[:, None] > 0), caps, False)
        return Problem(lesson.rows, _sides(codes[:, None] == np.arange(len(labels.known))), caps, ranked)

    def _prior_weights(self, model: Model) -> np.ndarray:
        if model.space.prior.size:
            return np.asarray(model.space.prior)
        return np.zeros(model.space.weights.shape)

    def _before_passes(self, model: Model, problem: Problem) -> None:
        """The ball, and a place for each row's coefficient. (Kernel learners keep these anyway.)"""
        if isinstance(model, KernelModel):
            return
        if self.project:
            radius = math.sqrt(problem.loss(self._prior_weights(model)) / model.numbers["lam"])
            model.choose(model.row, model.numbers | {"radius": radius})
        lines = (len(problem.sides), *model.space.weights.shape[1:])
        model.space = model.space._replace(hits=np.zeros(lines))

    def _after_passes(self, model: Model, problem: Problem) -> None:
        """How good it became, and at most how far from the best."""
        lam, share = model.numbers["lam"], problem.seen / max(model.clock // self.batch_size, 1)
        if isinstance(model, KernelModel):
            self.objective_, self.dual_gap_ = KernelProblem(problem, model).found(problem.rows, lam, share)
            return
        hits = model.space.hits.reshape(len(problem.sides), -1)[:, : model.start.outputs]
        model.space = model.space._replace(hits=model.space.hits[:0].copy())
        prior, free = self._prior_weights(model), self.fit_intercept == "free"
        self.objective_ = problem.objective(model.mean_weights(), prior, lam, free)
        bound = problem.dual(hits, prior, lam, share)
        self.dual_gap_ = math.nan if free else self.objective_ - bound  # (another dual has the free one)

    def objective(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """f at the weights that predict, on any data."""
        model = self._fitted()
        X = self._table(X, reset=False)
        y = self._read_y(y, X.shape[0])
        labels = self._labels
        assert labels is not None
        self._check_width(labels, y)
        self._refuse_unknown(labels, y)
        problem = self._objective_on(self._lesson(X, y, sample_weight))
        if isinstance(model, KernelModel):
            return KernelProblem(problem, model).objective(problem.rows, model.numbers["lam"])
        free = self.fit_intercept == "free"
        return problem.objective(model.mean_weights(), self._prior_weights(model), model.numbers["lam"], free)


def _sides(own: np.ndarray) -> np.ndarray:
    return np.where(own, np.int8(1), np.int8(-1))
