"""Scores squashed into shares that add up to 1: what River asks of a classifier; not calibrated."""

from __future__ import annotations

from collections.abc import Hashable

import numpy as np
from scipy.special import expit, softmax

Share = dict[Hashable, float]
Sides = dict[Hashable, dict[bool, float]]
"""Of sets of labels: each label is in the set, or not."""

EVEN: Share = {True: 0.5, False: 0.5}  # before any label, as River's learners of two classes have it


def shares(decisions: np.ndarray, labels: int) -> np.ndarray:
    """(n, labels): 1 / (1 + e^-s) for the second of two classes, e^s_k / sum_j e^s_j for several.

    >>> shares(np.array([0.0, 2.0]), 2).round(2).tolist()
    [[0.5, 0.5], [0.12, 0.88]]
    """
    if labels == 1:
        return np.ones((len(decisions), 1))
    if decisions.ndim == 1:
        return np.asarray(np.c_[expit(-decisions), expit(decisions)])
    return np.asarray(softmax(decisions, axis=1))


def shares_of_one(known: list[Hashable], decisions: np.ndarray) -> Share:
    """Of one row of decisions; the answer comes first, also of equal shares (River takes the first)."""
    found = shares(decisions, len(known))[0].tolist()
    if len(known) == 1 and isinstance(known[0], bool):  # the other is no secret
        return {known[0]: 1.0, not known[0]: 0.0}
    if decisions.ndim == 1:
        order = [1, 0] if len(known) > 1 and decisions[0] >= 0.0 else range(len(known))
    else:
        order = np.argsort(-decisions[0], kind="stable").tolist()
    return {known[k]: found[k] for k in order}


def sides_of_one(known: list[Hashable], decisions: np.ndarray) -> Sides:
    """Of sets: one sigmoid a label, as River has it ({label: {False: ..., True: ...}}), the answer first."""
    found: Sides = {}
    for label, score in zip(known, decisions[0].tolist(), strict=True):
        sides = {True: float(expit(score)), False: float(expit(-score))}
        found[label] = sides if score > 0.0 else {side: sides[side] for side in (False, True)}
    return found
