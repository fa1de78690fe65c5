"""How much do we mind? loss(margin, required) -> (loss, slope); slope 0 means passive.

The slope is minus the derivative by the margin: by how much the round pulls. For numbers the margin
is -|y - s| and -epsilon is required, so that the hinge is the epsilon-insensitive loss.
"""

from __future__ import annotations

import math

from ..compiled.parts import part


@part
def mistake(margin, required):
    """1 where the margin is not positive (the theory's mistake), 0 elsewhere."""
    if margin <= 0.0:
        return 1.0, 1.0
    return 0.0, 0.0


@part
def perceptron(margin, required):
    """[-m]_+, with the slope of a mistake at 0."""
    if margin <= 0.0:
        return -margin, 1.0
    return 0.0, 0.0


@part
def hinge(margin, required):
    """[required - margin]_+"""
    if margin < required:
        return required - margin, 1.0
    return 0.0, 0.0


@part
def squared_hinge(margin, required):
    """[required - margin]_+^2"""
    if margin < required:
        gap = required - margin
        return gap * gap, 2.0 * gap
    return 0.0, 0.0


@part
def squared(margin, required):
    """(required - margin)^2 / 2; for numbers (y - s)^2 / 2."""
    gap = required - margin
    return 0.5 * gap * gap, gap


@part
def logistic(margin, required):
    """log(1 + e^-m)"""
    if margin >= 0.0:
        small = math.exp(-margin)
        return math.log1p(small), small / (1.0 + small)
    small = math.exp(margin)
    return math.log1p(small) - margin, 1.0 / (1.0 + small)


@part
def exponential(margin, required):
    """e^-m, as it is at -700 beyond."""
    value = math.exp(min(-margin, 700.0))
    return value, value


@part
def watchful(margin, required):
    """The hinge's value, but never passive: the step has a gate of its own (CW, SCW)."""
    return max(required - margin, 0.0), 1.0


@part
def always(margin, required):
    """A mistake's value, but every round pulls alike (ridge regression on the labels: BBQ)."""
    return (1.0 if margin <= 0.0 else 0.0), 1.0


@part
def heeded(margin, required):
    """(required - margin)^2 / 2, but every round pulls alike (ridge regression on numbers: BBQRegressor)."""
    gap = required - margin
    return 0.5 * gap * gap, 1.0
