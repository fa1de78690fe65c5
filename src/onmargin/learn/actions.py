"""Rounds of the Banditron in two halves: an action is played now, its reward moves the weights later."""

from __future__ import annotations

import math

from .spaces.linear import move, score, size
from .tasks.bandit import chance_of
from .tasks.classes import clear
from .vocabulary import FARTHEST, PLAYED, REWARD_COUNT, REWARD_ESTIMATE, REWARD_SUM, TINY, Round


def act(rows, space, hyper, clock, scores, allowed, luck, played, best, chances):
    """An action for each row, of those allowed to it; how many were played (fewer: the next is not finite).

    The best allowed class with probability 1 - gamma + gamma / n, any other of the n allowed with gamma / n;
    the first, in order, whose cumulated probability exceeds the row's uniform. `allowed` has a line for each
    row, or one for all.
    """
    for t in range(luck.shape[0]):
        score(space, rows, Round(t, clock + 1, 1.0, luck[t], t), hyper, scores)
        if not math.isfinite(space.notes[0]):
            return t
        line = t if allowed.shape[0] > 1 else 0
        count = 0
        top = -1
        for k in range(hyper.outputs):
            if allowed[line, k]:
                count += 1
                if top < 0 or scores[k] > scores[top]:
                    top = k
        total = 0.0
        chosen = top
        for k in range(hyper.outputs):
            if allowed[line, k] and luck[t] >= total:
                total += chance_of(float(k), float(top), hyper.epsilon, count)
                chosen = k
        played[t] = chosen
        best[t] = top
        chances[t] = 1.0 if count == 1 else chance_of(float(chosen), float(top), hyper.epsilon, count)
    return luck.shape[0]


def reward(rows, space, hyper, clock, desk, sums, best, played, chance, earned):
    """w_best -= x, w_played += earned x / P, on the only row: the clock after it, or -1: it moves too far."""
    pull = desk.pull
    clear(pull)
    pull[best] -= 1.0
    pull[played] += earned / chance
    now = Round(0, clock + 1, 1.0, 0.0, 0)
    score(space, rows, now, hyper, desk.scores)
    length = size(space, rows, now, pull, hyper)
    if not length <= hyper.numbers[FARTHEST]:
        return -1
    if length > TINY:
        move(space, rows, now, pull, 1.0, 0.0, hyper)
    sums[REWARD_COUNT] += 1.0
    sums[REWARD_SUM] += earned
    if played == best:
        sums[REWARD_ESTIMATE] += earned / chance
    hyper.numbers[PLAYED] = clock + 1
    return clock + 1
