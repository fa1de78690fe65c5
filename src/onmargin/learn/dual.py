"""Passes over a table for the SVM's dual: scores, weights out of coefficients, coordinate ascent."""

from __future__ import annotations

from ..compiled.outputs import add_rows, score_rows
from ..compiled.parts import specialise
from ..compiled.rows import axpy, dot
from .vocabulary import TINY


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


@specialise
def ascend(rows, sides, caps, weights, duals, order, factor):
    """One pass of exact steps on one coefficient each; `factor` is lam N.

    a_i <- clip(a_i + lam N (1 - y_i <w, x_i>) / |x_i|^2, 0, c_i), w = prior + 1/(lam N) sum_i a_i y_i x_i.
    Shalev-Shwartz & Zhang 2013.
    """
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
