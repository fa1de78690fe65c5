"""The SVM objective that a learner descends: on its rows, on any data, and how far from the least."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from ..models.svm import Problem
from ..models.weights import Model
from .runs.passes import TrainingSet

if TYPE_CHECKING:
    from .classifier import Classifier


class SvmObjective(NamedTuple):
    """Whose objective: `ranked` is Crammer & Singer's loss, `free` leaves the constant unregularised."""

    owner: Classifier
    ranked: bool
    free: bool
    batch_size: int

    def problem(self, data: TrainingSet) -> Problem:
        """The objective on these rows, with their weights."""
        targets = self.owner._targets()
        labels = targets.labels
        caps = data.weights if data.weights.size else np.ones(data.size)
        if labels.sets:
            marks = data.y.toarray() if sp.issparse(data.y) else np.asarray(data.y)
            return Problem(data.rows, _sides(marks > 0), caps, self.ranked)
        codes = labels.codes(data.y)
        weighting = labels.fitted_weights(codes[caps > 0], targets.weighting())
        if weighting is not None:
            caps = caps * np.array([float(weighting.get(label, 1.0)) for label in labels.known])[codes]
        if labels.outputs == 1:
            return Problem(data.rows, _sides(codes[:, None] > 0), caps, False)
        return Problem(data.rows, _sides(codes[:, None] == np.arange(len(labels.known))), caps, self.ranked)

    def before_passes(self, model: Model, problem: Problem, project: bool) -> None:
        """The ball, and a place for each row's coefficient. (Kernel learners keep these anyway.)"""
        if model.kind == "kernel":
            return
        if project:
            radius = math.sqrt(problem.loss(model.prior_weights()) / model.numbers["lam"])
            model.choose(model.row, model.numbers | {"radius": radius})
        model.count_hits(len(problem.sides))

    def after_passes(self, model: Model, problem: Problem) -> tuple[float, float]:
        """How good it became, and at most how far from the best."""
        lam, share = model.numbers["lam"], problem.seen / max(model.clock // self.batch_size, 1)
        if model.kind == "kernel":
            return problem.in_kernel(model).found(problem.rows, lam, share)
        hits = model.take_hits(len(problem.sides))
        reached = self.reached(model, problem)
        bound = problem.dual(hits, model.prior_weights(), lam, share)
        return reached, math.nan if self.free else reached - bound  # (another dual has the free one)

    def reached(self, model: Model, problem: Problem) -> float:
        """f at the weights that predict, on the rows at hand."""
        return problem.objective(model.mean_weights(), model.prior_weights(), model.numbers["lam"], self.free)

    def value(self, X: Any, y: Any, sample_weight: Any) -> float:
        """f at the weights that predict, on any data."""
        owner, model = self.owner, self.owner._fitted()
        X, targets = owner._table(X, reset=False), owner._targets()
        y = targets.read(y, X.shape[0])
        targets.check_width(targets.labels, y)
        targets.refuse_unknown(targets.labels, y)
        problem = self.problem(owner._training_set(X, y, sample_weight))
        if model.kind == "kernel":
            return problem.in_kernel(model).objective(problem.rows, model.numbers["lam"])
        return problem.objective(model.mean_weights(), model.prior_weights(), model.numbers["lam"], self.free)


def _sides(own: np.ndarray) -> np.ndarray:
    return np.where(own, np.int8(1), np.int8(-1))
