"""Tasks whose target is a number, or a point to be enclosed: the margin is minus a distance."""

from __future__ import annotations

from ...compiled.parts import part


@part
def value(scores, now, hyper):
    """The score itself."""
    return scores[0]


@part
def never(scores, target, guess, hyper):
    """There is no right or wrong here, only near and far."""
    return False


@part
def regression(scores, target, guess, hyper, pull):
    """Margin -|y - s|, and -epsilon is required: loss [|y - s| - epsilon]_+."""
    gap = target - scores[0]
    pull[0] = 1.0 if gap >= 0.0 else -1.0
    return -abs(gap), -hyper.epsilon


@part
def estimate(scores, target, guess, hyper, pull):
    """Margin -|y - s|, and 0 is required; the number itself is what pulls (ridge regression)."""
    pull[0] = target
    return -abs(target - scores[0]), 0.0


@part
def enclose(scores, target, guess, hyper, pull):
    """The point inside the ball: score -|w - y|, and -epsilon is required."""
    pull[0] = 1.0
    return scores[0], -hyper.epsilon
