"""BBQ with a kernel at work: the examples asked for, the factor of I + K, and answers from them."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.linalg import solve_triangular

from ..compiled.checks import first_not_finite
from ..learn.kernel_spaces.projection import Budgeted
from ..learn.vocabulary import VECTORS
from .bounded import Bounded
from .products import BLOCK


class Evidence(Bounded):
    """`space.weights` are the labels, `space.square` the Cholesky factor of I + K."""

    def _arrays(self, room: int) -> Budgeted:
        return super()._arrays(room)._replace(square=np.zeros((room, room)))

    def estimates(self, rows: Any, count: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, int]:
        """Of rows 0 .. count - 1: the estimate, v, |Px|^2; and how many were finite from the first on."""
        found = np.zeros((3, count))
        done = first_not_finite(rows, count)
        if done < count:
            return found[0], found[1], found[2], done
        wide = self._as_wide_as(rows)
        used = int(self.space.ledger[VECTORS])
        factor, labels = self.space.square[:used, :used], self.space.weights[:used, 0]
        evaluator = wide.evaluator()
        for first in range(0, count, BLOCK):
            which = np.arange(first, min(first + BLOCK, count))
            side = wide._side(rows, which, np.dtype(np.float64))
            wide._check_side(side, which, "nothing was predicted")
            values = np.zeros((len(which), used))
            evaluator.values(wide.kept, side, values)
            half = solve_triangular(factor, values.T, lower=True) if used else values.T
            variance = np.maximum(evaluator.diagonals(side)[0] - np.square(half).sum(axis=0), 0.0)
            c = solve_triangular(factor, half, lower=True, trans=1) if used else half
            found[0, which] = labels @ c / (1.0 + variance)
            found[1, which] = variance
            found[2, which] = np.maximum(variance - np.square(c).sum(axis=0), 0.0)
        return found[0], found[1], found[2], count

    def scores(self, rows: Any, count: int, averaged: bool) -> tuple[np.ndarray, int]:
        """Estimates, as scores."""
        estimates, _, _, done = self.estimates(rows, count)
        return estimates[:, None], done
