"""Do we ask for the label at all? ask(space, scores, now, hyper) -> bool

The asking rules share one part, so that a learner that asks is compiled once, whatever its rule.
"""

from __future__ import annotations

import math
from functools import cache

from ..compiled.parts import Part, compose, formula, part, plain, specialise
from .vocabulary import (
    ASK_CHANCE,
    ASK_DELTA,
    ASK_MOST,
    ASK_RULE,
    ASK_SHARE,
    ASK_WITHIN,
    ASKED,
    DRIFTED,
    LONGEST,
    MOVES,
    SHOWN,
    VECTORS,
    Round,
)

RULES = ("bernoulli", "adaptive", "margin", "random")  # of a sampler; the loop is told the place of one
COUNTING = ("adaptive",)  # those that want to know of every move
ADAPTIVE, MARGIN, RANDOM = (RULES.index(name) for name in ("adaptive", "margin", "random"))
HOEFFDING, SEED, POLYNOMIAL = range(-3, 0)  # BBQ's
OWN = -4  # a user's function
FAR = 300.0  # of that logarithm from 0
GAIN = 0.05  # of the logarithm of delta, where a share of labels is aimed at


@part
def always(space, scores, now, hyper):
    """Full information: every label is read."""
    return True


@part
def certainty(scores, outputs):
    """|p|; of several classes, the gap between the two best scores."""
    if outputs == 1:
        return abs(scores[0])
    best, second = -math.inf, -math.inf
    for k in range(outputs):
        if scores[k] > best:
            best, second = scores[k], best
        elif scores[k] > second:
            second = scores[k]
    return best - second


@formula
def odds(numbers, sure, length):
    """(a, b): the rule asks for a row with this |p| and |x|^2 with probability a / b, limits apart.

    bernoulli: delta / (delta + |p|). adaptive: the same with beta X^2 sqrt(1 + K), X the longest row moved by
    or at hand, K the moves so far. margin: 1 where |p| <= delta. random: a given probability.
    """
    rule = numbers[ASK_RULE]
    if rule == RANDOM:
        return numbers[ASK_CHANCE], 1.0
    spread = numbers[ASK_DELTA] * math.exp(numbers[DRIFTED])
    if rule == MARGIN:
        return (1.0 if sure <= spread else 0.0), 1.0
    if rule == ADAPTIVE:
        spread *= max(numbers[LONGEST], length) * math.sqrt(1.0 + numbers[MOVES])
    if sure == 0.0 or spread == math.inf:
        return 1.0, 1.0
    return spread, spread + sure


@part
def is_spent(numbers):
    """Are all labels asked for that there may be? Then delta does not follow its share any more."""
    return numbers[ASK_WITHIN] == math.inf and numbers[ASKED] >= numbers[ASK_MOST]


@part
def grant(numbers, asks):
    """What a rule wishes, within its limits; counts the label where it asks."""
    most, within = numbers[ASK_MOST], numbers[ASK_WITHIN]
    if within < math.inf:  # the last `most` labels, oldest overwritten: was the oldest long enough ago?
        room = int(most)
        place = numbers.shape[0] - room + int(numbers[ASKED]) % room
        asks = asks and (numbers[ASKED] < most or numbers[SHOWN] - numbers[place] >= within)
        if asks:
            numbers[place] = numbers[SHOWN]
    if asks:
        numbers[ASKED] += 1.0
    if numbers[ASK_SHARE] > 0.0:
        change = GAIN * (numbers[ASK_SHARE] - (1.0 if asks else 0.0))
        numbers[DRIFTED] = min(max(numbers[DRIFTED] + change, -FAR), FAR)
    return asks


@part
def decide_asking(numbers, sure, length, luck):
    """The rule within its limits; counts the row, and the label where it asks."""
    numbers[SHOWN] += 1.0
    if is_spent(numbers):
        return False
    chance, whole = odds(numbers, sure, length)
    return grant(numbers, luck * whole < chance)


@part
def rule(space, scores, now, hyper):
    """(Stands for a user's function.)"""
    return True


@part
def own_asking(space, scores, now, hyper):
    """A user's rule within the same limits."""
    hyper.numbers[SHOWN] += 1.0
    if is_spent(hyper.numbers):
        return False
    return grant(hyper.numbers, rule(space, scores, now, hyper))


@part
def selective(space, scores, now, hyper):
    """Margin-based asking: Cesa-Bianchi, Gentile & Zaniboni 2006; Lu, Zhao & Hoi 2016 (PA)."""
    return decide_asking(hyper.numbers, certainty(scores, hyper.outputs), space.notes[0], now.luck)


@formula
def confidence_width(variance, length, clock, rule, delta):
    """r + s + |q| sqrt(2 ln(2 t (t + 1) / delta)): how far the estimate may be from the truth.

    With v = x'Px and |Px|^2 = `length`: r = v / (1 + v), s = |Px| / (1 + v), |q|^2 = r - r^2 - s^2.
    """
    share = variance / (1.0 + variance)
    side = math.sqrt(length) / (1.0 + variance)
    noise = math.sqrt(max(share * (1.0 - share) - side * side, 0.0))
    rounds = clock * (clock + 1.0)
    odds = 2.0 * rounds / delta if rule != SEED else 0.5 * rounds / delta
    return share + side + noise * math.sqrt(max(2.0 * math.log(odds), 0.0))


@part
def ask_bbq(numbers, variance, length, clock, epsilon):
    """BBQ: ask where the estimate may be further than epsilon off; BBQ(kappa): where r >= f t^-kappa."""
    rule = numbers[ASK_RULE]
    numbers[SHOWN] += 1.0
    if rule == POLYNOMIAL:
        asks = variance / (1.0 + variance) >= numbers[ASK_CHANCE] * clock ** -numbers[ASK_SHARE]
    else:
        asks = confidence_width(variance, length, clock, rule, numbers[ASK_DELTA]) > epsilon
    if asks:
        numbers[ASKED] += 1.0
    return asks


@part
def bbq(space, scores, now, hyper):
    """Bound on bias query, with weights (the score left Px in `reach`): Cesa-Bianchi et al. 2009."""
    length = 0.0
    for i in range(space.reach.shape[1]):
        length += space.reach[0, i] * space.reach[0, i]
    return ask_bbq(hyper.numbers, space.notes[1], length, now.clock, hyper.epsilon)


@part
def bbq_kept(space, scores, now, hyper):
    """The same spelled in vectors: |Px|^2 = v - sum of c_i^2 / h_i, c = (K + H^-1)^-1 k being in `work`."""
    length = space.notes[1]
    for i in range(int(space.ledger[VECTORS])):
        length -= space.work[i] * space.work[i] / space.drift[i, 0]
    return ask_bbq(hyper.numbers, space.notes[1], max(length, 0.0), now.clock, hyper.epsilon)


@part
def move(space, rows, now, pull, step, margin, hyper):
    """(Stands for the move of a Space.)"""
    return step


@part
def counted_move(space, rows, now, pull, step, margin, hyper):
    """The move of a Space; the adaptive rule wants to know how many there were, and how long their rows."""
    taken = move(space, rows, now, pull, step, margin, hyper)
    if taken != 0.0:
        hyper.numbers[MOVES] += 1.0
        hyper.numbers[LONGEST] = max(hyper.numbers[LONGEST], space.notes[0])
    return taken


@cache
def counting(whose: Part) -> Part:
    """`counted_move` around a Space's move."""
    source = plain(whose)
    place = "_".join(source.__module__.split(".")[-2:])  # (modules of two folders may share a name)
    return compose(counted_move, f"counted_{place}_{source.__qualname__}", move=whose)


@cache
def limited(whose: Part) -> Part:
    """`own_asking` by a user's rule."""
    return compose(own_asking, f"limited_{plain(whose).__name__}", rule=whose)


def ask_own_rows(space, scores, luck, clock, hyper, asks):
    """asks[i] = a user's rule about the scores of row i, one after the other."""
    for i in range(asks.shape[0]):
        asks[i] = own_asking(space, scores[i], Round(i, clock + 1, 1.0, luck[i], i), hyper)


@specialise
def ask_rows(numbers, sure, lengths, luck, asks):
    """asks[i] = the rule about row i, one after the other; how many."""
    count = 0
    for i in range(asks.shape[0]):
        asks[i] = decide_asking(numbers, sure[i], lengths[i], luck[i])
        count += asks[i]
    return count
