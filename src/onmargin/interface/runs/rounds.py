"""Rounds that are known in advance: given by the user, drawn from a whole table, or all pairs of it."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...errors import BadInput, shown
from ..groups import Rounds

MANY = 50_000_000  # pairs that are written down; more are better drawn


def checked_rounds(rounds: Any, count: int) -> Rounds:
    """The user's rounds: row numbers of a table of so many rows."""
    wrong = BadInput(
        f"rounds wants row numbers from 0 to {count - 1}, at least one a line; got {type(rounds).__name__}"
    )
    try:
        lines = [np.asarray(line) for line in rounds]
    except (TypeError, ValueError):
        raise wrong from None
    if not lines:
        raise BadInput("rounds is empty; wanted at least one round of row numbers")
    for line in lines:
        if line.ndim != 1 or not line.size or line.dtype.kind not in "iu":
            raise wrong
        if line.min() < 0 or line.max() >= count:
            raise BadInput(f"rounds has the row {line.max() if line.min() >= 0 else line.min()}; wanted row "
                           f"numbers from 0 to {count - 1}")  # fmt: skip
        if len(np.unique(line)) < len(line):
            raise BadInput(f"the round {line.tolist()} has a row twice; wanted different rows")
    starts = np.r_[0, np.cumsum([len(line) for line in lines])]
    return np.concatenate(lines).astype(np.int64), starts.astype(np.int64)


def seen_rounds(rounds: Rounds, weights: np.ndarray) -> Rounds:
    """Rounds without the rows of weight 0, which are not seen."""
    members, starts = rounds
    if not weights.size or (weights[members] > 0).all():
        return rounds
    seen = weights[members] > 0
    counts = np.add.reduceat(seen, starts[:-1])
    if not seen.any():
        raise BadInput("all rows of rounds have a weight of 0; wanted one at least that is seen")
    return members[seen], np.r_[0, np.cumsum(counts[counts > 0])].astype(np.int64)


def groups_of(marks: np.ndarray, weights: np.ndarray, sets: bool) -> list[np.ndarray]:
    """The rows of each class that are seen; of two classes the positive ones first."""
    seen = weights > 0 if weights.size else np.ones(len(marks), bool)
    if marks.shape[1] == 1 and not sets:
        return [np.flatnonzero(seen & (marks[:, 0] == side)) for side in (1, 0)]
    return [np.flatnonzero(seen & (column == 1)) for column in marks.T]


def random_rounds(
    generator: np.random.Generator, marks: np.ndarray, weights: np.ndarray, sets: bool
) -> Rounds:
    """As many rounds as rows, each of one row of every class, drawn uniformly; no row twice in one."""
    groups = [group for group in groups_of(marks, weights, sets) if group.size]
    if not groups:
        raise BadInput("no row has a label; wanted at least one")
    drawn = np.stack([generator.choice(group, len(marks)) for group in groups], axis=1)
    fresh = np.ones(drawn.shape, bool)
    if sets:
        for k in range(1, drawn.shape[1]):
            fresh[:, k] = (drawn[:, :k] != drawn[:, k : k + 1]).all(axis=1)
    starts = np.r_[0, np.cumsum(fresh.sum(axis=1))]
    return drawn[fresh].astype(np.int64), starts.astype(np.int64)


def all_pairs(asked: str, marks: np.ndarray, sets: bool) -> np.ndarray:
    """(pairs, 2): every positive row with every negative one."""
    if asked != "all":
        raise BadInput(f"rounds={shown(asked)}; wanted None, 'all' or row numbers, one round per line")
    if marks.shape[1] > 1 or sets:
        raise BadInput("rounds='all' is for two classes; give row numbers, or sampler='pairs'")
    positive, negative = np.flatnonzero(marks[:, 0] == 1), np.flatnonzero(marks[:, 0] == 0)
    if len(positive) * len(negative) > MANY:
        raise BadInput(
            f"there are {len(positive) * len(negative):,} pairs; 'all' takes up to {MANY:,}; use "
            "sampler='pairs'"
        )
    return np.stack(np.meshgrid(positive, negative, indexing="ij"), axis=-1).reshape(-1, 2)
