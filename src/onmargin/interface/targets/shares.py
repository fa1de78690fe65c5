"""Scores squashed into shares that add up to 1: what River asks of a classifier; not calibrated."""

from __future__ import annotations

import math
from collections.abc import Hashable

import numpy as np
from scipy import special

Share = dict[Hashable, float]
Decision = tuple[Hashable, Share]
"""An answer, and the score of each label."""
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
        return np.asarray(np.c_[special.expit(-decisions), special.expit(decisions)])
    return np.asarray(special.softmax(decisions, axis=1))


def shares_of_one(known: list[Hashable], scores: list[float]) -> Share:
    """Of one row, in plain Python; the answer comes first, also of equal shares (River takes the first)."""
    if len(known) == 1:  # of two truths the other is no secret
        only = known[0]
        return {only: 1.0, not only: 0.0} if isinstance(only, bool) else {only: 1.0}
    if len(scores) == 1:
        answer, larger, smaller = _sides(scores[0], scores[0] >= 0.0)
        return {known[answer]: larger, known[not answer]: smaller}
    order = sorted(range(len(scores)), key=lambda k: -scores[k])
    parts = [math.exp(scores[k] - scores[order[0]]) for k in order]
    total = sum(parts)
    return {known[k]: part / total for k, part in zip(order, parts, strict=True)}


def sides_of_one(known: list[Hashable], scores: list[float]) -> Sides:
    """Of sets: one sigmoid a label, as River has it ({label: {False: ..., True: ...}}), the answer first."""
    found: Sides = {}
    for label, score in zip(known, scores, strict=True):
        answer, larger, smaller = _sides(score, score > 0.0)
        found[label] = {answer: larger, not answer: smaller}
    return found


def _sides(score: float, answer: bool) -> tuple[bool, float, float]:
    """The answer with its share and the other's, 1 / (1 + e^-|s|) and e^-|s| / (1 + e^-|s|)."""
    tail = math.exp(-abs(score))
    return answer, 1.0 / (1.0 + tail), tail / (1.0 + tail)
