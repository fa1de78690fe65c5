"""Who of a round matters to which output, and what the rule makes of them.

`scores` and `signs` have a line per member of the round and a column per output; `which` names the few
that matter to some output, in order. The rules themselves are in `paired`.
"""

from __future__ import annotations

import math

from ..compiled.parts import part, routine
from . import paired
from .company import AUC, CORRECT_MISTAKES, DCA, MAX_VIOLATORS, PA, PA2, PERCEPTRON, RIVAL, SEQUENTIAL
from .vocabulary import TINY


@part
def halves(scores, signs, count, c):
    """How many members are positive for output c, and the sums of either side's scores."""
    have, up, down = 0, 0.0, 0.0
    for j in range(count):
        if signs[j, c] > 0:
            have += 1
            up += scores[j, c]
        else:
            down += scores[j, c]
    return have, up, down


@part
def worst_of(scores, signs, count, c, side):
    """The member of a side whose margin is the least, -1 where there is none."""
    worst = -1
    for j in range(count):
        if signs[j, c] == side and (worst < 0 or side * scores[j, c] < side * scores[worst, c]):
            worst = j
    return worst


@part
def short_of(scores, signs, count, c, rule):
    """The least margin of output c (the gap, where scores are compared), and: is it too little?

    inf: nothing is asked.
    """
    if rule.rule == AUC:
        have, up, down = halves(scores, signs, count, c)
        if have == 0 or have == count:
            return math.inf, False
        gap = up / have - down / (count - have)
        return gap, gap < rule.margin - rule.grain
    low, high = worst_of(scores, signs, count, c, 1), worst_of(scores, signs, count, c, -1)
    if rule.rule == RIVAL:
        if low < 0 or high < 0:
            return math.inf, False
        gap = scores[low, c] - scores[high, c]
        return gap, gap <= 0.0 if rule.step == PERCEPTRON else gap < rule.margin - rule.grain
    gap = math.inf
    if low >= 0:
        gap = scores[low, c]
    if high >= 0:
        gap = min(gap, -scores[high, c])
    return gap, gap < rule.margin - rule.grain


@routine
def choose(scores, signs, which, count, rule):
    """How many matter (their places are in `which`), and the least margin over all outputs."""
    least, few = math.inf, 0
    for j in range(count):
        which[j] = 0
    for c in range(rule.outputs):
        gap, short = short_of(scores, signs, count, c, rule)
        least = min(least, gap)
        if not short:
            continue
        if rule.rule == MAX_VIOLATORS or rule.rule == RIVAL:
            for side in (-1, 1):
                j = worst_of(scores, signs, count, c, side)
                if j >= 0 and (rule.rule == RIVAL or side * scores[j, c] < rule.margin - rule.grain):
                    which[j] = 1
        else:
            for j in range(count):
                if rule.rule != CORRECT_MISTAKES or signs[j, c] * scores[j, c] < rule.margin - rule.grain:
                    which[j] = 1
    for j in range(count):
        if which[j]:
            which[few] = j
            few += 1
    return few, least


@part
def lay_out(scores, signs, heft, which, grams, numbers, flags, count, few, c, rule):
    """Margins, weights and signs of the few for output c, and their Gram matrix with signs."""
    have, _, _ = halves(scores, signs, count, c)
    for i in range(few):
        j = which[i]
        share = 1.0
        if rule.outputs > 1 or rule.rule == AUC:
            share = 1.0 / have if signs[j, c] > 0 else 1.0 / (count - have)
        if rule.rule != AUC:  # there the comparison has a weight, see `strength`
            share *= heft[j]
        flags[1, i] = signs[j, c] > 0
        numbers[0, i] = signs[j, c] * scores[j, c]
        numbers[1, i] = share
        numbers[2, i] = 0.0
        for k in range(few):
            grams[1, i * few + k] = signs[j, c] * signs[which[k], c] * grams[0, i * few + k]


@part
def strength(heft, count, own):
    """The weight of a comparison: the arrival's times the others' mean."""
    total = -heft[own]
    for j in range(count):
        total += heft[j]
    return heft[own] * total / max(count - 1, 1)


@part
def against_rival(gram, margins, alphas, step, C, margin):
    """PA, PA-I, PA-II or the Perceptron on the difference of two."""
    loss = margin - margins[0] - margins[1]
    size = gram[0, 0] + gram[1, 1] + 2.0 * gram[0, 1]
    tau = 0.0
    if step == PERCEPTRON:
        tau = 1.0
    elif step == PA2:
        tau = loss / (size + 0.5 / C)
    elif size > TINY:
        tau = loss / size if step == PA else min(C, loss / size)
    alphas[0] = alphas[1] = tau


@part
def apply_rule(gram, margins, weights, alphas, chosen, positive, C, rule):
    """The rule at work on the few."""
    if rule.rule == DCA:
        paired.dca(gram, margins, positive, weights, alphas, chosen, C, rule.margin, rule.grain)
    elif rule.rule == SEQUENTIAL:
        paired.sequential(gram, margins, positive, weights, alphas, chosen, C, rule.margin, rule.grain)
    elif rule.rule == AUC:
        paired.auc(gram, margins, positive, weights, alphas, chosen, C, rule.margin, rule.grain)
    elif rule.rule == MAX_VIOLATORS:
        paired.max_violators(gram, margins, positive, weights, alphas, chosen, C, rule.margin, rule.grain)
    elif rule.rule == CORRECT_MISTAKES:
        paired.correct_mistakes(gram, margins, positive, weights, alphas, chosen, C, rule.margin, rule.grain)
    else:
        against_rival(gram, margins, alphas, rule.step, C, rule.margin)


@routine
def solve(scores, signs, heft, which, grams, numbers, flags, pulls, count, few, own, rule):
    """pulls[i, c] = y_i c_i alpha_i of the few, for every output; |w' - w|, or -1 where nothing moves."""
    length, moves = 0.0, False
    C = rule.C
    if rule.rule == AUC:
        C *= strength(heft, count, own)
    for c in range(pulls.shape[1]):
        for i in range(few):
            pulls[i, c] = 0.0
        if c >= rule.outputs or not short_of(scores, signs, count, c, rule)[1]:
            continue
        lay_out(scores, signs, heft, which, grams, numbers, flags, count, few, c, rule)
        gram = grams[1, : few * few].reshape((few, few))
        margins, weights, alphas = numbers[0, :few], numbers[1, :few], numbers[2, :few]
        apply_rule(gram, margins, weights, alphas, flags[0, :few], flags[1, :few], C, rule)
        for i in range(few):
            pulls[i, c] = signs[which[i], c] * weights[i] * alphas[i]
            moves |= alphas[i] != 0.0
            for k in range(i + 1):
                share = pulls[i, c] * pulls[k, c] * grams[0, i * few + k]
                length += share if i == k else 2.0 * share
    return math.sqrt(max(length, 0.0)) if moves else -1.0


@routine
def follow(scores, signs, middle, count, outputs):
    """The thresholds follow the middle between the two sides' mean scores."""
    for c in range(outputs):
        have, up, down = halves(scores, signs, count, c)
        if 0 < have < count:
            middle[1, c] += 1.0
            point = 0.5 * (up / have + down / (count - have))
            middle[0, c] += (point - middle[0, c]) / middle[1, c]
