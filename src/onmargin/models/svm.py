"""The objective that Pegasos descends, and its dual: how good are these weights, how far from the best?

f(W) = lam/2 |W - prior|^2 + 1/N sum_i c_i loss_i, the loss being [1 - y s]_+ of each output (two
classes; one against all), or, ranked, [1 - (lowest relevant score - highest irrelevant)]_+ (Crammer &
Singer; label sets). In the dual every row i has a coefficient H_ik for each output, W = prior +
1/(lam N) sum_i H_i (x) x_i; it lies between 0 and c_i on its own side, or, ranked, sums to 0 with
positive part at most c_i. D(H) = 1/N sum_i (positive part of H_i - <H_i, prior scores>) - lam/2 |W - prior|^2
is a lower bound of f at any such H.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from ..compiled.outputs import add_rows, score_rows
from ..compiled.parts import specialise
from ..learn.spaces.arrays import aligned

STRETCH = 8192


@specialise
def score_table(rows, weights, scores, out, first):
    """Scores of rows first, first + 1, ..."""
    for t in range(out.shape[0]):
        score_rows(rows, first + t, weights, scores)
        for k in range(out.shape[1]):
            out[t, k] = scores[k]


@specialise
def spread(rows, coefficients, weights, factor, first):
    """W += factor sum_i H_i (x) x_i, over the rows first, first + 1, ..."""
    for t in range(coefficients.shape[0]):
        add_rows(rows, first + t, weights, coefficients[t], factor)


class Problem(NamedTuple):
    """Rows, each output's side (+1, -1) in each row, and what each row weighs.

    Everything is summed a stretch of rows at a time: beside the sides (one byte each) no table as
    large as the scores is ever made.
    """

    rows: Any
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
