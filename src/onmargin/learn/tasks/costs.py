"""Tasks with a price on each confusion: the margin asked for is the square root of the cost.

Crammer et al. 2006, section 9.
"""

from __future__ import annotations

import numpy as np

from ...compiled.parts import part
from .classes import against, clear


@part
def costly(scores, target, guess, hyper, pull):
    """Max-loss, cost-sensitive: rival argmax_q s_q + sqrt(cost(y, q)), margin sqrt(cost)."""
    true = int(target)
    other = true
    for k in range(hyper.outputs):
        if scores[k] + hyper.cost[true, k] > scores[other] + hyper.cost[true, other]:
            other = k
    if other == true:
        clear(pull)
        return np.inf, 0.0
    return against(scores, true, other, pull), hyper.cost[true, other]


@part
def costly_guess(scores, target, guess, hyper, pull):
    """Prediction-based, cost-sensitive: rival = the emitted class, margin sqrt(cost(y, q))."""
    true, other = int(target), int(guess)
    if other == true:
        clear(pull)
        return np.inf, 0.0
    return against(scores, true, other, pull), hyper.cost[true, other]


@part
def costly_binary(scores, target, guess, hyper, pull):
    """Max-loss for one row: required margin sqrt(cost(y, other))."""
    pull[0] = target
    true = 1 if target > 0.0 else 0
    return target * scores[0], hyper.cost[true, 1 - true]


@part
def costly_guess_binary(scores, target, guess, hyper, pull):
    """Prediction-based for one row: nothing is demanded when the emitted label is right."""
    pull[0] = target
    true = 1 if target > 0.0 else 0
    if guess == target:
        return np.inf, 0.0
    return target * scores[0], hyper.cost[true, 1 - true]
