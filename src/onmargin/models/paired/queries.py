"""Rows in order of their query and relevance: how many pairs a query has, and its rows cut in two."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np


class Queries(NamedTuple):
    """Rows by query, and within one by relevance, least first."""

    rows: np.ndarray
    bounds: np.ndarray  # (queries + 1,)
    grades: np.ndarray
    before: np.ndarray  # per place: pairs of its query whose better row lies before it; one more at the end

    def sizes(self) -> np.ndarray:
        """How many rows each query has."""
        return np.diff(self.bounds)

    def pairs(self) -> np.ndarray:
        """How many pairs of different relevance each has."""
        return np.diff(self.before[self.bounds])


def queries_of(relevance: np.ndarray, groups: np.ndarray, count: int) -> Queries:
    """Rows in order of their group (0 .. count - 1) and their relevance; ties stay as they came."""
    rows = np.lexsort((relevance, groups))
    bounds = np.searchsorted(groups[rows], np.arange(count + 1))
    grades = np.asarray(relevance[rows], float)
    first = np.empty(len(rows), np.int64)  # of the rows that are as relevant
    begins = np.r_[True, (np.diff(grades) != 0) | (np.diff(groups[rows]) != 0)]
    first[:] = np.maximum.accumulate(np.where(begins, np.arange(len(rows)), 0))
    below = first - bounds[groups[rows]]
    return Queries(rows, bounds, grades, np.r_[0, np.cumsum(below)])


def cut_in_two(
    queries: Queries, some: np.ndarray, uniforms: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rows of these queries, one after the other; where each begins, and the end; which rows are relevant.

    Those of at least a level drawn, by a uniform a query, from all levels of the query but the least.
    """
    sizes = queries.sizes()[some]
    starts = np.r_[0, np.cumsum(sizes)]
    places = np.arange(starts[-1]) + np.repeat(queries.bounds[some] - starts[:-1], sizes)
    grades = queries.grades[places]
    rises = np.r_[False, np.diff(grades) != 0]
    rises[starts[:-1]] = False
    levels = np.r_[0, np.cumsum(rises)]  # before each place, and at the end
    levels_in = levels[starts[1:]] - levels[starts[:-1]]  # of each query, above its least
    cuts = levels[starts[:-1]] + 1 + (uniforms * levels_in).astype(np.int64)
    return queries.rows[places], starts, levels[1:] >= np.repeat(cuts, sizes)
