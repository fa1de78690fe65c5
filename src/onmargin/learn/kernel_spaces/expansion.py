"""w = sum_i coefficient_i phi(x_i): hypotheses that are spelled in vectors, not in weights.

`uses` says how the sum is used (as it is, shrunk by Pegasos, as the centre of a ball); a module like this,
how it is kept: `read` gives the sums of the round at hand, `read_dated` those of the averages' drift,
`add` puts phi(x) in with a coefficient (and a dated one for the drift), `fold` multiplies all.

Here all vectors are kept: the sums over the vectors kept when the block began are frozen
(one matrix product); what is added goes to the scores of the rounds still to come.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...compiled.parts import part
from ..vocabulary import CENTER_SCALE, FOLDED, FOLDED_SHARE, LEDGER_LENGTH


class Prepared(NamedTuple):
    """A block of rows as the loop sees it."""

    frozen: np.ndarray  # (outputs, rows) sums over the vectors kept, and what the block added
    dated: np.ndarray  # the same of the drift; empty: nobody asks
    gram: np.ndarray  # (rows, rows)
    own: np.ndarray  # (rows,) k(x, x)
    until: np.ndarray  # (rows,) the first row that sees what this one adds


class Expansion(NamedTuple):
    """What the block has added, and a few numbers of the whole."""

    weights: np.ndarray  # (rows, outputs) coefficients added
    drift: np.ndarray  # the same, dated; empty: no average wanted
    ledger: np.ndarray
    notes: np.ndarray  # k(x, x) of the row at hand; squared distance from the span, where projected


def fresh_ledger() -> np.ndarray:
    """As it is before the first round."""
    ledger = np.zeros(LEDGER_LENGTH)
    ledger[CENTER_SCALE] = ledger[FOLDED] = 1.0
    return ledger


@part
def read(space, rows, row, scores):
    """scores[k] = sum_i coefficient_ik k(x_i, x)"""
    for k in range(rows.frozen.shape[0]):
        scores[k] = rows.frozen[k, row]


@part
def read_dated(space, rows, row, scores, factor):
    """scores[k] += factor sum_i drift_ik k(x_i, x)"""
    for k in range(rows.dated.shape[0]):
        scores[k] += factor * rows.dated[k, row]


@part
def add(space, rows, now, pull, step, dated, hyper):
    """coefficient_k += step pull[k] for the row at hand; the step taken."""
    first, last = rows.until[now.row], rows.gram.shape[0]
    for k in range(pull.shape[0]):
        if pull[k] != 0.0:
            change = step * pull[k]
            space.weights[now.row, k] += change
            for i in range(first, last):
                rows.frozen[k, i] += change * rows.gram[now.row, i]
            if space.drift.size:
                space.drift[now.row, k] += dated * pull[k]
                if rows.dated.size:
                    for i in range(first, last):
                        rows.dated[k, i] += dated * pull[k] * rows.gram[now.row, i]
    return step


@part
def fold(space, rows, factor, share):
    """All coefficients times `factor`; the drift takes `share` of them first. (Older ones: the ledger.)"""
    ledger = space.ledger
    ledger[FOLDED_SHARE] += share * ledger[FOLDED]
    ledger[FOLDED] *= factor
    for j in range(space.weights.shape[0]):
        for k in range(space.weights.shape[1]):
            if space.drift.size:
                space.drift[j, k] += share * space.weights[j, k]
            space.weights[j, k] *= factor
    for k in range(rows.frozen.shape[0]):
        for i in range(rows.frozen.shape[1]):
            rows.frozen[k, i] *= factor
