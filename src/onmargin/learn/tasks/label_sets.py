"""Tasks whose target is a set of labels (a row of 0 and 1): labels that score above a bar are in."""

from __future__ import annotations

import numpy as np

from ...compiled.parts import part
from ..vocabulary import BAR, SEEN
from .classes import against, clear


@part
def running_bar(scores, now, hyper):
    """Label sets: labels above the running threshold are in the set."""
    return hyper.numbers[BAR]


@part
def dummy_bar(scores, now, hyper):
    """Calibrated label sets: labels above the dummy label (the last output) are in the set."""
    return scores[hyper.outputs - 1]


@part
def set_differs(scores, target, guess, hyper):
    """The emitted set is not the true one."""
    for k in range(target.shape[0]):
        if (scores[k] > guess) != (target[k] > 0.5):
            return True
    return False


@part
def lowest_relevant(scores, target):
    """argmin of the scores over the label set, -1 where it is empty."""
    low = -1
    for k in range(target.shape[0]):
        if target[k] > 0.5 and (low < 0 or scores[k] < scores[low]):
            low = k
    return low


@part
def highest_irrelevant(scores, target):
    """argmax of the scores outside the label set, -1 where it has all labels."""
    high = -1
    for k in range(target.shape[0]):
        if target[k] <= 0.5 and (high < 0 or scores[k] > scores[high]):
            high = k
    return high


@part
def labelset(scores, target, guess, hyper, pull):
    """The lowest relevant label against the highest irrelevant one.

    The bar follows the mean midpoint of the two before each update. An empty or a full set
    demands nothing.
    """
    low, high = lowest_relevant(scores, target), highest_irrelevant(scores, target)
    if low < 0 or high < 0:
        clear(pull)
        return np.inf, hyper.margin
    middle = 0.5 * (scores[low] + scores[high])
    hyper.numbers[SEEN] += 1.0
    hyper.numbers[BAR] += (middle - hyper.numbers[BAR]) / hyper.numbers[SEEN]
    return against(scores, low, high, pull), hyper.margin


@part
def calibrated(scores, target, guess, hyper, pull):
    """Separation loss against a dummy label 0: [1 + s_0 - s_r]_+ + [1 + s_q - s_0]_+.

    pull[r] and pull[q] hold the two violations (of either sign: one step may break the other's
    constraint), the dummy's own slot says which labels they are; a `both` step solves for the two
    coefficients. Guo & Schuurmans 2011.
    """
    labels = target.shape[0]
    low, high = lowest_relevant(scores, target), highest_irrelevant(scores, target)
    clear(pull)
    if low < 0 or high < 0:
        return np.inf, hyper.margin
    dummy = scores[labels]
    pull[low] = hyper.margin + dummy - scores[low]
    pull[high] = hyper.margin + scores[high] - dummy
    pull[labels] = 1.0 + low * labels + high
    return hyper.margin - max(pull[low], 0.0) - max(pull[high], 0.0), hyper.margin


@part
def apart_set(scores, target, guess, hyper, pull):
    """`apart` for label sets: each label is a binary problem of its own."""
    clear(pull)
    least = np.inf
    for k in range(target.shape[0]):
        side = 1.0 if target[k] > 0.5 else -1.0
        least = min(least, side * scores[k])
        if side * scores[k] <= 0.0:
            pull[k] = side
    return least, hyper.margin


@part
def one_vs_all_set(scores, target, guess, hyper, pull):
    """`one_vs_all` for label sets: each label is a binary problem with a margin."""
    clear(pull)
    least = np.inf
    for k in range(target.shape[0]):
        side = 1.0 if target[k] > 0.5 else -1.0
        least = min(least, side * scores[k])
        if side * scores[k] < hyper.margin:
            pull[k] = side
    return least, hyper.margin
