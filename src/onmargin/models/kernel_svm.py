"""Pegasos' objective and its dual where w is spelled in vectors; see `svm`."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from ..errors import BadInput
from .kernel import KernelModel
from .kernel_forms import Bounded
from .svm import Problem


class KernelProblem(NamedTuple):
    """A problem, and the model whose kernel and vectors it is seen by."""

    problem: Problem
    model: KernelModel

    def objective(self, rows: Any, lam: float) -> float:
        """f at the coefficients that predict."""
        model, problem = self.model, self.problem
        scores, _ = model.scores(rows, len(problem.sides), model.start.average)
        losses = [problem.caps[some] @ problem.losses(scores[some], some) for some in problem.stretches()]
        if model.form.precomputed and rows.values.shape[0] != rows.values.shape[1]:
            raise BadInput("the objective of a precomputed kernel is known on its training table only")
        length = model.squared_length(model.evaluator(), np.ascontiguousarray(model.mean_weights()), rows)
        return 0.5 * lam * length + float(sum(losses)) / problem.seen

    def found(self, rows: Any, lam: float, factor: float) -> tuple[float, float]:
        """f after a fit, and its distance to a lower bound: the dual of the coefficients so far.

        With a budget the coefficients are no longer those of rows: NaN.
        """
        model, problem = self.model, self.problem
        reached = self.objective(rows, lam)
        if isinstance(model, Bounded):
            return reached, math.nan
        numbers = model.kept.ids.view - model.offset
        mine = np.flatnonzero(numbers >= 0)
        table = np.zeros((len(problem.sides), model.start.outputs))
        table[numbers[mine]] = model.coefficients.view[mine, : model.start.outputs]  # type: ignore[attr-defined]
        whole = slice(0, len(table))
        kept = problem.feasible(factor * table, whole)
        won = float(np.maximum(kept if problem.ranked else problem.sides * kept, 0.0).sum())
        wide = np.zeros((len(numbers), model.width))
        wide[mine, : model.start.outputs] = kept[numbers[mine]] / (lam * problem.seen)
        bound = won / problem.seen - 0.5 * lam * model.squared_length(model.evaluator(), wide, rows)
        return reached, reached - bound
