"""The objective that Pegasos descends, and its dual: how good are these weights, how far from the best?

f(W) = lam/2 |W - prior|^2 + 1/N sum_i c_i loss_i, the loss being [1 - y s]_+ of each output (two
classes; one against all), or, ranked, [1 - (lowest relevant score - highest irrelevant)]_+ (Crammer &
Singer; label sets). In the dual every row i has a coefficient H_ik for each output, W = prior +
1/(lam N) sum_i H_i (x) x_i; it lies between 0 and c_i on its own side, or, ranked, sums to 0 with
positive part at most c_i. D(H) = 1/N sum_i (positive part of H_i - <H_i, prior scores>) - lam/2 |W - prior|^2
is a lower bound of f at any such H.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..compiled.parts import specialise
from ..compiled.rows import add_rows, score_rows
from .spaces.storage import aligned

STRETCH = 8192


@specialise
def score_table(rows, weights, scores, out, first):
    """Scores of rows first, first + 1, ..."""
    for t in range(out.shape[0]):
        score_rows(rows, first + t, weights, scores)
        for k in range(out.shape[1]):
            out[t, k] = scores[k]


@specialise
def spread(rows, coefficients, weights, factor):
    """W += factor sum_i H_i (x) x_i"""
    for row in range(coefficients.shape[0]):
        add_rows(rows, row, weights, coefficients[row], factor)


class Problem(NamedTuple):
    """Rows, each output's side (+1, -1) in each row, and what each row weighs."""

    rows: Any
    sides: np.ndarray  # (n, outputs); ranked: +1 for the relevant
    caps: np.ndarray  # (n,) c_i; 0: not seen
    ranked: bool

    @property
    def seen(self) -> int:
        """N"""
        return max(int(np.count_nonzero(self.caps)), 1)

    def scores(self, weights: np.ndarray) -> np.ndarray:
        """(n, outputs) scores by weights (slots,) or (slots, padded)."""
        out = np.empty(self.sides.shape)
        score_table(self.rows, weights, np.zeros(max(8, weights[0].size)), out, 0)
        return out

    def loss(self, weights: np.ndarray) -> float:
        """1/N sum_i c_i loss_i"""
        losses = self.losses(self.scores(weights))
        return float(self.caps @ losses) / self.seen

    def losses(self, scores: np.ndarray) -> np.ndarray:
        """Loss of every row."""
        if not self.ranked:
            return np.asarray(np.maximum(1.0 - self.sides * scores, 0.0).sum(axis=1))
        low = np.where(self.sides > 0, scores, np.inf).min(axis=1)
        high = np.where(self.sides > 0, -np.inf, scores).max(axis=1)
        return np.asarray(np.maximum(1.0 - (low - high), 0.0))

    def objective(self, weights: np.ndarray, prior: np.ndarray, lam: float, free: bool = False) -> float:
        """f(W); `free`: the constant coordinate is not regularised."""
        gap = (weights - prior)[: -1 if free else None]
        return 0.5 * lam * float(np.sum(gap * gap)) + self.loss(np.ascontiguousarray(weights, float))

    def feasible(self, coefficients: np.ndarray) -> np.ndarray:
        """The nearest multiples (ranked) or values that the dual allows."""
        if not self.ranked:
            return np.asarray(self.sides * np.clip(self.sides * coefficients, 0.0, self.caps[:, None]))
        total = np.maximum(coefficients, 0.0).sum(axis=1)
        share = np.divide(self.caps, total, out=np.zeros_like(total), where=total > 0)
        return np.asarray(coefficients * np.minimum(share, 1.0)[:, None])

    def dual(self, coefficients: np.ndarray, prior: np.ndarray, lam: float) -> float:
        """D(H) of feasible coefficients (n, outputs)."""
        won = np.maximum(coefficients if self.ranked else self.sides * coefficients, 0.0).sum()
        if prior.any():
            won -= float((coefficients * self.scores(prior)).sum())
        wide = aligned((len(coefficients), prior[0].size), float)
        wide[:, : coefficients.shape[1]] = coefficients
        moved = aligned(prior.shape, float)
        spread(self.rows, wide, moved, 1.0 / (lam * self.seen))
        return float(won) / self.seen - 0.5 * lam * float(np.sum(moved * moved))
