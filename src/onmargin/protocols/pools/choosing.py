"""Which rows of a pool are worth a label: the most doubtful, unlike each other; at first typical ones."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from ...interface.tables import Table
from ...interface.targets.missing import rows_of

MOST = 5000  # candidates, however many rows are wanted (but for those rows themselves)
SAMPLE = 1000  # rows that stand for the pool
COPY = 0.999  # cosine of rows that are taken for copies
NEAR = 10  # candidates for every row that is wanted


class Likeness:
    """The cosine between rows; the columns of arrays and frames are standardised first, by a sample."""

    def __init__(self, X: Table, draw: np.random.Generator) -> None:
        self.X, self.centre, self.scale = X, np.zeros(1), np.ones(1)
        count = X.shape[0]
        self.sample = np.sort(draw.choice(count, min(count, SAMPLE), replace=False))
        if not sp.issparse(X):
            some = _numbers(X, self.sample)
            spread = some.std(axis=0)
            self.centre, self.scale = some.mean(axis=0), np.where(spread > 0, spread, 1.0)

    def directions(self, rows: np.ndarray) -> Table:
        """Rows of length 1 (empty ones stay empty)."""
        if sp.issparse(self.X):
            some = rows_of(self.X, rows).astype(np.float64)
            lengths = np.sqrt(np.asarray(some.multiply(some).sum(axis=1), float).ravel())
            return sp.csr_matrix(sp.diags(1.0 / np.where(lengths > 0, lengths, 1.0)) @ some)
        some = (_numbers(self.X, rows) - self.centre) / self.scale
        lengths = np.linalg.norm(some, axis=1, keepdims=True)
        return some / np.where(lengths > 0, lengths, 1.0)


def _numbers(X: Table, rows: np.ndarray) -> np.ndarray:
    return np.asarray(rows_of(X, rows), dtype=np.float64)


def cosines(first: Table, second: Table) -> np.ndarray:
    """Of every row with every other."""
    product = first @ second.T
    return np.asarray(product.toarray() if sp.issparse(product) else product)


def typical(likeness: Likeness, open_rows: np.ndarray, covered: np.ndarray, k: int) -> np.ndarray:
    """k rows that stand for the pool: each next one adds most to what is near a chosen row.

    Greedy for sum_i max_{j chosen} cos(x_i, x_j), i over a sample of the pool; that is within 1 - 1/e of the
    best choice (facility location; Nemhauser, Wolsey & Fisher 1978). `covered` rows count as chosen.
    """
    some = open_rows[np.linspace(0, len(open_rows) - 1, min(len(open_rows), max(SAMPLE, k))).astype(np.int64)]
    near = np.maximum(cosines(likeness.directions(some), likeness.directions(likeness.sample)), 0.0)
    best = np.zeros(near.shape[1])
    if len(covered):
        best = cosines(likeness.directions(covered), likeness.directions(likeness.sample)).max(axis=0)
        best = np.maximum(best, 0.0)
    chosen: list[int] = []
    left = np.ones(len(some), bool)
    for _ in range(min(k, len(some))):
        gains = np.where(left, np.maximum(near - best, 0.0).sum(axis=1), -1.0)
        place = int(np.argmax(gains))
        chosen.append(place)
        left[place] = False
        best = np.maximum(best, near[place])
    return some[chosen]


def doubtful(
    likeness: Likeness, open_rows: np.ndarray, sure: np.ndarray, waiting: np.ndarray, k: int
) -> np.ndarray:
    """k rows, most doubtful first, each unlike those before it and those that wait for their answer.

    Of the 10 k least sure rows, one after the other the least of (its place among them, 0 to 1) + max |cos|
    with rows already taken; copies of such come last. Brinker 2003, with places in place of distances from
    the hyperplane: they have no unit.
    """
    count = min(len(open_rows), max(k, min(NEAR * k, MOST)))
    few = open_rows
    if count < len(open_rows):
        few = open_rows[np.argpartition(sure[open_rows], count - 1)[:count]]
    few = few[np.argsort(sure[few], kind="stable")]
    ways, cost = likeness.directions(few), np.arange(count) / max(count - 1, 1)
    cost += _too_like(ways, likeness.directions(waiting)) if len(waiting) else 0.0
    alike, chosen = np.zeros(count), np.zeros(0, np.int64)
    for _ in range(min(k, count)):
        place = int(np.argmin(cost + alike))
        chosen, cost[place] = np.append(chosen, place), np.inf
        alike = np.maximum(alike, _too_like(ways, ways[[place]]))
    return np.asarray(few[chosen])


def _too_like(ways: Table, others: Table) -> np.ndarray:
    """What likeness to any of the others costs: |cos|, and more for a copy."""
    near = cosines(ways, others)
    return np.asarray(np.where(near > COPY, 3.0, np.abs(near)).max(axis=1))
