"""A Task whose label is never shown, only whether the answer was right: the Banditron.

The answer is played by a coin: the best class with probability 1 - gamma + gamma / K, any other with
gamma / K. gamma is the loop's epsilon. Kakade, Shalev-Shwartz & Tewari 2008.
"""

from __future__ import annotations

from ...compiled.parts import formula, part
from .classes import clear, differs, highest


@formula
def chance_of(played, best, gamma, outputs):
    """P of a class."""
    return (1.0 - gamma if played == best else 0.0) + gamma / outputs


@part
def play(scores, now, hyper):
    """The first class, in order, whose cumulated probability exceeds the round's uniform."""
    best = highest(scores, now, hyper)
    total = 0.0
    for k in range(hyper.outputs - 1):
        total += chance_of(float(k), best, hyper.epsilon, hyper.outputs)
        if now.luck < total:
            return float(k)
    return float(hyper.outputs - 1)


@part
def reward(scores, target, guess, hyper, pull):
    """w_best -= x; where the played class was right, w_played += x / P."""
    clear(pull)
    best = 0
    for k in range(1, hyper.outputs):
        if scores[k] > scores[best]:
            best = k
    pull[best] -= 1.0
    if guess == target:
        pull[int(guess)] += 1.0 / chance_of(guess, float(best), hyper.epsilon, hyper.outputs)
        return 1.0, 1.0
    return -1.0, 1.0


__all__ = ["chance_of", "differs", "play", "reward"]
