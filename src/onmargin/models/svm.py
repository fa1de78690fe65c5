"""The SVM objective that Pegasos descends: its value, its dual, its optimum; with weights and kernels.

f(W) = lam/2 |W - prior|^2 + 1/N sum_i c_i loss_i, the loss being [1 - y s]_+ of each output (two
classes; one against all), or, ranked, [1 - (lowest relevant score - highest irrelevant)]_+ (Crammer &
Singer; label sets). In the dual every row i has a coefficient H_ik for each output, W = prior +
1/(lam N) sum_i H_i (x) x_i; it lies between 0 and c_i on its own side, or, ranked, sums to 0 with
positive part at most c_i. D(H) = 1/N sum_i (positive part of H_i - <H_i, prior scores>) - lam/2 |W - prior|^2
is a lower bound of f at any such H.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple, cast

import numpy as np

from ..compiled.rows import Rows
from ..errors import BadInput
from ..learn.dual import ascend, score_table, spread
from ..learn.spaces.arrays import aligned
from .kernel.model import KernelModel
from .weights import Model

STRETCH = 8192


class Problem(NamedTuple):
    """Rows, each output's side (+1, -1) in each row, and what each row weighs.

    Everything is summed a stretch of rows at a time: beside the sides (one byte each) no table as
    large as the scores is ever made.
    """

    rows: Rows
    sides: np.ndarray  # (n, outputs) int8; ranked: +1 for the relevant
    caps: np.ndarray  # (n,) c_i; 0: not seen
    ranked: bool

    @property
    def seen(self) -> int:
        """N"""
        return max(int(np.count_nonzero(self.caps)), 1)

    def stretches(self) -> Iterator[slice]:
        """All rows, some at a time."""
        for first in range(0, len(self.sides), STRETCH):
            yield slice(first, min(first + STRETCH, len(self.sides)))

    def scores(self, weights: np.ndarray, some: slice) -> np.ndarray:
        """Scores of some rows by weights (slots,) or (slots, padded)."""
        out = np.empty(self.sides[some].shape)
        score_table(self.rows, weights, np.zeros(max(8, weights[0].size)), out, some.start)
        return out

    def loss(self, weights: np.ndarray) -> float:
        """1/N sum_i c_i loss_i"""
        parts = [self.caps[some] @ self.losses(self.scores(weights, some), some) for some in self.stretches()]
        return float(sum(parts)) / self.seen

    def losses(self, scores: np.ndarray, some: slice) -> np.ndarray:
        """Loss of each of some rows."""
        sides = self.sides[some]
        if not self.ranked:
            return np.asarray(np.maximum(1.0 - sides * scores, 0.0).sum(axis=1))
        low = np.where(sides > 0, scores, np.inf).min(axis=1)
        high = np.where(sides > 0, -np.inf, scores).max(axis=1)
        return np.asarray(np.maximum(1.0 - (low - high), 0.0))

    def objective(self, weights: np.ndarray, prior: np.ndarray, lam: float, free: bool = False) -> float:
        """f(W); `free`: the constant coordinate is not regularised."""
        gap = (weights - prior)[: -1 if free else None]
        return 0.5 * lam * float(np.sum(gap * gap)) + self.loss(np.ascontiguousarray(weights, float))

    def feasible(self, coefficients: np.ndarray, some: slice) -> np.ndarray:
        """The nearest values (ranked: multiples) that the dual allows, for some rows."""
        sides, caps = self.sides[some], self.caps[some]
        if not self.ranked:
            return np.asarray(sides * np.clip(sides * coefficients, 0.0, caps[:, None]))
        total = np.maximum(coefficients, 0.0).sum(axis=1)
        share = np.divide(caps, total, out=np.zeros_like(total), where=total > 0)
        return np.asarray(coefficients * np.minimum(share, 1.0)[:, None])

    def dual(self, coefficients: np.ndarray, prior: np.ndarray, lam: float, factor: float = 1.0) -> float:
        """D of what is feasible next to factor times the coefficients (n, outputs)."""
        won, moved = 0.0, aligned(prior.shape, float)
        for some in self.stretches():
            kept = self.feasible(factor * coefficients[some], some)
            won += float(np.maximum(kept if self.ranked else self.sides[some] * kept, 0.0).sum())
            if prior.any():
                won -= float((kept * self.scores(prior, some)).sum())
            wide = aligned((len(kept), prior[0].size), float)
            wide[:, : kept.shape[1]] = kept
            spread(self.rows, wide, moved, 1.0 / (lam * self.seen), some.start)
        return won / self.seen - 0.5 * lam * float(np.sum(moved * moved))

    def in_kernel(self, model: Model) -> KernelProblem:
        """The same, seen by a model in kernel form."""
        return KernelProblem(self, cast(KernelModel, model))


class Optimum(NamedTuple):
    """Weights (the constant coordinate last), dual variables, objective, and the gap."""

    weights: np.ndarray
    duals: np.ndarray
    objective: float
    gap: float
    passes: int


def solve(
    problem: Problem, lam: float, prior: np.ndarray, tol: float = 1e-10, most: int = 1000, seed: int = 0
) -> Optimum:
    """The exact optimum by stochastic dual coordinate ascent (`dual.ascend`).

    Passes in random order until the gap is below tol (times the objective, if that is above 1): the
    duality gap says how far from the optimum we can be at most.

    The problem has one output; several are solved one by one.
    """
    count, factor = len(problem.sides), lam * problem.seen
    sides = problem.sides[:, 0].astype(float)
    draw = np.random.default_rng(seed)
    weights, duals = prior.copy(), np.zeros(count)
    value, gap, passes = 0.0, np.inf, 0
    while passes < most and gap > tol * max(1.0, abs(value)):
        passes += 1
        ascend(problem.rows, sides, problem.caps, weights, duals, draw.permutation(count), factor)
        value = problem.objective(weights, prior, lam)
        gap = value - problem.dual((sides * duals)[:, None], prior, lam)
    return Optimum(weights, duals, value, gap, passes)


class KernelProblem(NamedTuple):
    """The problem where w is spelled in vectors: seen by a model's kernel and vectors."""

    problem: Problem
    model: KernelModel

    def objective(self, rows: Rows, lam: float) -> float:
        """f at the coefficients that predict."""
        model, problem = self.model, self.problem
        scores, _ = model.scores(rows, len(problem.sides), model.start.average)
        losses = [problem.caps[some] @ problem.losses(scores[some], some) for some in problem.stretches()]
        if model.form.precomputed and rows.values.shape[0] != rows.values.shape[1]:
            raise BadInput("the objective of a precomputed kernel is known on its training table only")
        length = model.squared_length(model.evaluator(), np.ascontiguousarray(model.mean_weights()), rows)
        return 0.5 * lam * length + float(sum(losses)) / problem.seen

    def found(self, rows: Rows, lam: float, factor: float) -> tuple[float, float]:
        """f after a fit, and its distance to a lower bound: the dual of the coefficients so far.

        With a budget the coefficients are no longer those of rows: NaN.
        """
        model, problem = self.model, self.problem
        reached = self.objective(rows, lam)
        if not model.keeps_rows:
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
