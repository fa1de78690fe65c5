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

    def pairs(self, query: int) -> int:
        """How many pairs of different relevance it has."""
        return int(self.before[self.bounds[query + 1]] - self.before[self.bounds[query]])


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


def cut_in_two(queries: Queries, query: int, uniform: float) -> tuple[np.ndarray, np.ndarray]:
    """A query's rows, and which count as relevant: those of at least a level drawn from all but the least."""
    some = slice(queries.bounds[query], queries.bounds[query + 1])
    levels = np.unique(queries.grades[some])[1:]
    relevant = queries.grades[some] >= levels[int(uniform * len(levels))]
    return queries.rows[some], relevant
