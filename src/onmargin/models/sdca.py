"""The exact optimum of the SVM objective, by stochastic dual coordinate ascent.

One coefficient of the dual is solved exactly at a time (`svm` has the objective and its dual):
a_i <- clip(a_i + lam N (1 - y_i <w, x_i>) / |x_i|^2, 0, c_i), w = prior + 1/(lam N) sum_i a_i y_i x_i.
The duality gap says how far from the optimum we can be at most. Shalev-Shwartz & Zhang 2013.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..compiled.parts import specialise
from ..compiled.rows import axpy, dot
from ..learn.vocabulary import TINY
from .svm import Problem


class Optimum(NamedTuple):
    """Weights (the constant coordinate last), dual variables, objective, and the gap."""

    weights: np.ndarray
    duals: np.ndarray
    objective: float
    gap: float
    passes: int


@specialise
def ascend(rows, sides, caps, weights, duals, order, factor):
    """One pass of coordinate steps; factor is lam N."""
    for t in range(order.shape[0]):
        row = order[t]
        score, length = dot(rows, row, weights)
        if length > TINY:
            before = duals[row]
            after = before + factor * (1.0 - sides[row] * score) / length
            after = min(max(after, 0.0), caps[row])
            if after != before:
                duals[row] = after
                axpy(rows, row, weights, (after - before) * sides[row] / factor)
        else:  # an empty row costs its weight whatever w is
            duals[row] = caps[row]


def solve(
    problem: Problem, lam: float, prior: np.ndarray, tol: float = 1e-10, most: int = 1000, seed: int = 0
) -> Optimum:
    """Passes in random order until the gap is below tol (times the objective, if that is above 1).

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
