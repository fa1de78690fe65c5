"""Who of a round matters to which output, and what the rule makes of them.

`scores` and `signs` have a line per member of the round and a column per output, `stats` a column per
output; `which` names the few that matter to some output, in order. The rules themselves are in `paired`.
"""

from __future__ import annotations

import math

import numpy as np

from ...compiled.parts import part, routine
from ..vocabulary import (
    HIGHEST_NEGATIVE,
    IS_SHORT,
    LOWEST_POSITIVE,
    NEGATIVE_SUM,
    POSITIVE_SUM,
    POSITIVES,
    TINY,
)
from . import joint as paired
from .company import AUC, CORRECT_MISTAKES, DCA, MAX_VIOLATORS, PA, PA2, PERCEPTRON, RIVAL, SEQUENTIAL


@part
def survey(scores, signs, stats, count, outputs):
    """Of every output: positive members, sums of either side's scores, the worst of either side (-1: none).

    Members lie outside, outputs inside: lines are read as they lie.
    """
    for c in range(outputs):
        stats[POSITIVES, c] = stats[POSITIVE_SUM, c] = stats[NEGATIVE_SUM, c] = 0.0
        stats[LOWEST_POSITIVE, c] = stats[HIGHEST_NEGATIVE, c] = -1.0
    for j in range(count):
        for c in range(outputs):
            value = scores[j, c]
            if signs[j, c] > 0:
                stats[POSITIVES, c] += 1.0
                stats[POSITIVE_SUM, c] += value
                if stats[LOWEST_POSITIVE, c] < 0.0 or value < scores[np.int64(stats[LOWEST_POSITIVE, c]), c]:
                    stats[LOWEST_POSITIVE, c] = j
            else:
                stats[NEGATIVE_SUM, c] += value
                if (
                    stats[HIGHEST_NEGATIVE, c] < 0.0
                    or value > scores[np.int64(stats[HIGHEST_NEGATIVE, c]), c]
                ):
                    stats[HIGHEST_NEGATIVE, c] = j


@part
def short_of(scores, stats, count, c, rule):
    """The least margin of output c (the gap, where scores are compared), and: is it too little?

    inf: nothing is asked.
    """
    have, low, high = (
        stats[POSITIVES, c],
        np.int64(stats[LOWEST_POSITIVE, c]),
        np.int64(stats[HIGHEST_NEGATIVE, c]),
    )
    if rule.rule == AUC:
        if low < 0 or high < 0:
            return math.inf, False
        gap = stats[POSITIVE_SUM, c] / have - stats[NEGATIVE_SUM, c] / (count - have)
        return gap, gap < rule.margin - rule.grain
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


@part
def matters(scores, signs, stats, j, c, rule):
    """Is member j in the set that the rule moves for output c, which is short of its margin?"""
    if rule.rule == CORRECT_MISTAKES:
        return signs[j, c] * scores[j, c] < rule.margin - rule.grain
    if rule.rule == MAX_VIOLATORS or rule.rule == RIVAL:
        worst = j == stats[LOWEST_POSITIVE, c] or j == stats[HIGHEST_NEGATIVE, c]
        return worst and (rule.rule == RIVAL or signs[j, c] * scores[j, c] < rule.margin - rule.grain)
    return True


@routine
def choose(scores, signs, stats, which, count, rule):
    """How many matter to some output (their places are in `which`), and the least margin of all."""
    least, few, any_short = math.inf, 0, False
    survey(scores, signs, stats, count, rule.outputs)
    for c in range(rule.outputs):
        gap, short = short_of(scores, stats, count, c, rule)
        least = min(least, gap)
        stats[IS_SHORT, c] = 1.0 if short else 0.0
        any_short |= short
    if any_short:
        for j in range(count):
            for c in range(rule.outputs):
                if stats[IS_SHORT, c] > 0.0 and matters(scores, signs, stats, j, c, rule):
                    which[few] = j
                    few += 1
                    break
    return few, least


@part
def lay_out(scores, signs, heft, stats, which, own, grams, numbers, flags, count, few, c, rule):
    """Those of the few that matter to output c: places in `own`; margins, weights, signs, Gram matrix.

    Returns how many.
    """
    some = 0
    for i in range(few):
        if matters(scores, signs, stats, which[i], c, rule):
            own[some] = i
            some += 1
    for i in range(some):
        j = which[own[i]]
        share = 1.0
        if rule.outputs > 1 or rule.rule == AUC:
            share = 1.0 / stats[POSITIVES, c] if signs[j, c] > 0 else 1.0 / (count - stats[POSITIVES, c])
        if rule.rule != AUC:  # there the comparison has a weight, see `strength`
            share *= heft[j]
        flags[1, i] = signs[j, c] > 0
        numbers[0, i] = signs[j, c] * scores[j, c]
        numbers[1, i] = share
        numbers[2, i] = 0.0
        for k in range(some):
            sign = signs[j, c] * signs[which[own[k]], c]
            grams[1, i * some + k] = sign * grams[0, own[i] * few + own[k]]
    return some


@part
def strength(heft, count, own):
    """The weight of a comparison: the arrival's times the others' mean."""
    total = -heft[own]
    for j in range(count):
        total += heft[j]
    return heft[own] * total / max(count - 1, 1)


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
    else:
        paired.correct_mistakes(gram, margins, positive, weights, alphas, chosen, C, rule.margin, rule.grain)


@routine
def solve(scores, signs, heft, stats, which, grams, numbers, flags, pulls, count, few, arrival, rule):
    """pulls[i, c] = y_i c_i alpha_i of the few, for every output; |w' - w|, or -1 where nothing moves.

    The few come first in `which`; the rest of it is room for those that matter to one output.
    """
    length, moves = 0.0, False
    C, own = rule.C, which[count:]
    if rule.rule == AUC:
        C *= strength(heft, count, arrival)
    for i in range(few):
        for c in range(pulls.shape[1]):
            pulls[i, c] = 0.0
    for c in range(rule.outputs):
        if stats[IS_SHORT, c] == 0.0:
            continue
        some = lay_out(scores, signs, heft, stats, which, own, grams, numbers, flags, count, few, c, rule)
        gram = grams[1, : some * some].reshape((some, some))
        margins, weights, alphas = numbers[0, :some], numbers[1, :some], numbers[2, :some]
        apply_rule(gram, margins, weights, alphas, flags[0, :some], flags[1, :some], C, rule)
        for i in range(some):
            place = own[i]
            pulls[place, c] = signs[which[place], c] * weights[i] * alphas[i]
            moves |= alphas[i] != 0.0
            for k in range(i + 1):
                share = weights[i] * alphas[i] * weights[k] * alphas[k] * gram[i, k]
                length += share if i == k else 2.0 * share
    return math.sqrt(max(length, 0.0)) if moves else -1.0


@part
def solve_pair(signs, heft, which, pulls, gap, apart, count, arrival, rule):
    """Two that are compared: PA, PA-I, PA-II or the Perceptron on their difference; `apart`: its length^2.

    As `solve`, without inner products: from those a small difference of long rows would be all rounding.
    """
    loss, C, tau = rule.margin - gap, rule.C, 0.0
    if rule.rule == AUC:
        C *= strength(heft, count, arrival)
    if rule.step == PERCEPTRON:
        tau = 1.0
    elif rule.step == PA2:
        tau = loss / (apart + 0.5 / C)
    elif apart > TINY:
        tau = loss / apart if rule.step == PA else min(C, loss / apart)
    for i in range(2):
        for c in range(pulls.shape[1]):
            pulls[i, c] = 0.0
        pulls[i, 0] = signs[which[i], 0] * tau
    return tau * math.sqrt(apart) if tau > 0.0 else -1.0


@part
def follow(stats, middle, count, outputs):
    """The thresholds follow the middle between the two sides' mean scores."""
    for c in range(outputs):
        have = stats[POSITIVES, c]
        if 0.0 < have < count:
            middle[1, c] += 1.0
            point = 0.5 * (stats[POSITIVE_SUM, c] / have + stats[NEGATIVE_SUM, c] / (count - have))
            middle[0, c] += (point - middle[0, c]) / middle[1, c]
