"""The loop of paired rounds: score all members, choose who matters, one joint step for every output.

It reads as the learner with weights; `specialise` rebinds the five roles that know how a hypothesis is kept
(`score`, `mean`, `inner`, `apart`, `move`) for the one that is spelled in vectors (`spaces.members`).
"""

from __future__ import annotations

import math

from ...compiled.parts import part
from ..vocabulary import TRACE_ASKED, TRACE_GUESS, TRACE_LOSS, TRACE_STEP, TRACED
from .choices import choose, follow, solve, solve_pair
from .company import AUC, ONE, PERCEPTRON, RIVAL, SETS
from .members import apart, inner, mean, move, score


@part
def answer(scores, marks, t, middle, rule):
    """The guess (+1 or -1, the highest, or the bar 0), and whether it is wrong."""
    if rule.kind == ONE:
        guess = 1.0 if scores[0] >= middle[0, 0] else -1.0
        return guess, (guess > 0.0) != (marks[t, 0] == 1)
    best, wrong = 0, False
    for c in range(rule.outputs):
        if scores[c] - middle[0, c] > scores[best] - middle[0, best]:
            best = c
        wrong |= (scores[c] > middle[0, c]) != (marks[t, c] == 1)
    if rule.kind == SETS:
        return 0.0, wrong
    return float(best), marks[t, best] != 1


@part
def introduce(signs, heft, marks, at, weights, j, outputs):
    """A member's labels as signs, and its weight; `at` is its line in its own lists."""
    for c in range(outputs):
        signs[j, c] = 2 * marks[at, c] - 1
    heft[j] = weights[at] if weights.size else 1.0


@part
def least_margin(scores, signs, own, outputs):
    """The least margin of the arrival over all outputs."""
    least = math.inf
    for c in range(outputs):
        least = min(least, signs[own, c] * scores[own, c])
    return least


def learn(company, space, rule, clock, table, middle, trace, first, start, stop):
    """Rounds start .. stop - 1 of a block, summed up as a `Tally`; see `rounds.learn`.

    The loss of a round is the arrival's, of the least margin over its outputs; where scores are compared,
    that of the pair.
    """
    scores, signs, heft, outputs = table.scores, table.signs, table.heft, rule.outputs
    compares = rule.rule == AUC or rule.rule == RIVAL
    total = 0.0
    mistakes = errors = updates = 0
    for t in range(start, stop):
        row = company.order[t] if company.order.size else first + t
        begin, own = company.starts[t], company.own[t]
        count = company.starts[t + 1] - begin
        for j in range(count):
            member = company.members[begin + j]
            table.lengths[j] = score(space, company, row, member, scores[j])
            if not math.isfinite(table.lengths[j]):
                return clock, t, total, mistakes, errors, updates
            if j == own:
                introduce(signs, heft, company.marks, t, company.weights, j, outputs)
            else:
                line = company.lines[begin + j]
                introduce(signs, heft, company.pool_marks, line, company.pool_weights, j, outputs)
        for c in range(outputs):
            table.held[c] = scores[own, c]
        if rule.judged:
            mean(space, company, row, company.members[begin + own], table.held, clock)
        guess, wrong = answer(table.held, company.marks, t, middle, rule)
        if trace.size:  # empty: nobody is watching
            for c in range(outputs):
                trace[t, TRACED + c] = table.held[c] - middle[0, c]
        seen = heft[own] > 0.0
        suffered, taken = 0.0, -1.0
        if seen:
            few, gap = choose(scores, signs, table.stats, table.which, count, rule)
            if few:  # passive otherwise
                if few == 2 and compares and outputs == 1:
                    one, two = (
                        company.members[begin + table.which[0]],
                        company.members[begin + table.which[1]],
                    )
                    far = apart(space, company, table, row, one, two)
                    taken = solve_pair(signs, heft, table.which, table.pulls, gap, far, count, own, rule)
                else:
                    inner(space, company, table, row, begin, few)
                    taken = solve(
                        scores, signs, heft, table.stats, table.which, table.grams, table.numbers,
                        table.flags, table.pulls, count, few, own, rule,
                    )  # fmt: skip
                if taken >= 0.0:
                    for i in range(few):
                        member = company.members[begin + table.which[i]]
                        move(space, company, row, member, table.pulls[i], clock + 1)
            if rule.rule == AUC:
                follow(table.stats, middle, count, outputs)
            least = gap if compares else least_margin(scores, signs, own, outputs)
            suffered = max(0.0, -least if rule.step == PERCEPTRON else rule.margin - least)
            mistakes += wrong
            errors += least <= 0.0
            updates += taken >= 0.0
            clock += 1
        total += suffered
        if trace.size:
            trace[t, TRACE_GUESS], trace[t, TRACE_LOSS], trace[t, TRACE_STEP] = (
                guess,
                suffered,
                max(taken, 0.0),
            )
            trace[t, TRACE_ASKED] = 1.0 if seen else 0.0
    return clock, stop, total, mistakes, errors, updates
