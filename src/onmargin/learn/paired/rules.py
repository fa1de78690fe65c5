"""The paired rules as sets of parts: what is too small a margin, who is moved, and by how much.

A round has several members, an output a score and a sign for each (`scores`, `signs`: a line per member, a
column per output; `stats`: what is known of each output). A rule brings the roles of `rounds`:

short_of(scores, stats, count, c, hyper) -> the least margin of output c (the gap, where scores are compared;
    inf: nothing is asked), and: is it too small?
matters(scores, signs, stats, j, c, hyper) -> is member j moved for output c, which is short of its margin?
share(signs, weights, stats, count, j, c, outputs) -> c_j, the member's weight in the problem of output c
strength(weights, count, arrival) -> what C is multiplied by
solve_one(gram, margins, positive, weights, alphas, chosen, C, margin, grain) -> writes alphas; see `joint`
compares() -> are scores compared with each other (a pair is then one step on its difference, by `step`)?
loss(margin, required), step(...) -> as for single examples
follow(stats, middle, which, count, outputs) -> moves the running thresholds of these outputs
"""

from __future__ import annotations

import math

import numpy as np

from ...compiled.parts import Part, part
from .. import losses, steps
from ..vocabulary import (
    HIGHEST_NEGATIVE,
    LOWEST_POSITIVE,
    NEGATIVE_SUM,
    POSITIVE_SUM,
    POSITIVES,
    THRESHOLD,
    THRESHOLD_ROUNDS,
)
from . import joint

# ---- what is too small a margin


@part
def any_short(scores, stats, count, c, hyper):
    """The least margin of all members, below the one asked for."""
    low, high = np.int64(stats[LOWEST_POSITIVE, c]), np.int64(stats[HIGHEST_NEGATIVE, c])
    gap = math.inf
    if low >= 0:
        gap = scores[low, c]
    if high >= 0:
        gap = min(gap, -scores[high, c])
    return gap, gap < hyper.margin - hyper.grain


@part
def means_short(scores, stats, count, c, hyper):
    """The mean score of the positive members less that of the others."""
    have = stats[POSITIVES, c]
    if stats[LOWEST_POSITIVE, c] < 0.0 or stats[HIGHEST_NEGATIVE, c] < 0.0:
        return math.inf, False
    gap = stats[POSITIVE_SUM, c] / have - stats[NEGATIVE_SUM, c] / (count - have)
    return gap, gap < hyper.margin - hyper.grain


@part
def rivals_gap(scores, stats, c):
    """The lowest positive score less the highest other; inf where a side is missing."""
    low, high = np.int64(stats[LOWEST_POSITIVE, c]), np.int64(stats[HIGHEST_NEGATIVE, c])
    if low < 0 or high < 0:
        return math.inf
    return scores[low, c] - scores[high, c]


@part
def rivals_short(scores, stats, count, c, hyper):
    """The worst pair's gap, below the margin asked for."""
    gap = rivals_gap(scores, stats, c)
    return gap, gap < hyper.margin - hyper.grain


@part
def rivals_wrong(scores, stats, count, c, hyper):
    """The worst pair's gap, in the wrong order or tied (Perceptron)."""
    gap = rivals_gap(scores, stats, c)
    return gap, gap <= 0.0


# ---- who is moved


@part
def all_matter(scores, signs, stats, j, c, hyper):
    """Every member."""
    return True


@part
def violates(scores, signs, stats, j, c, hyper):
    """Those whose loss is above 0."""
    return signs[j, c] * scores[j, c] < hyper.margin - hyper.grain


@part
def is_worst(scores, signs, stats, j, c, hyper):
    """The lowest positive and the highest other."""
    return j == stats[LOWEST_POSITIVE, c] or j == stats[HIGHEST_NEGATIVE, c]


@part
def worst_violates(scores, signs, stats, j, c, hyper):
    """These two, each only if its loss is above 0."""
    worst = is_worst(scores, signs, stats, j, c, hyper)
    return worst and violates(scores, signs, stats, j, c, hyper)


# ---- weights


@part
def share_of_side(signs, weights, stats, count, j, c, outputs):
    """1 / (members on its side): sides are compared by their means."""
    return 1.0 / stats[POSITIVES, c] if signs[j, c] > 0 else 1.0 / (count - stats[POSITIVES, c])


@part
def share_weighted(signs, weights, stats, count, j, c, outputs):
    """The example's weight; where there are several outputs, balanced by the members on its side."""
    share = share_of_side(signs, weights, stats, count, j, c, outputs) if outputs > 1 else 1.0
    return share * weights[j]


@part
def unweighted(weights, count, arrival):
    """C as it is."""
    return 1.0


@part
def weight_of_comparison(weights, count, arrival):
    """The arrival's weight times the others' mean."""
    total = -weights[arrival]
    for j in range(count):
        total += weights[j]
    return weights[arrival] * total / max(count - 1, 1)


# ---- the rest


@part
def no_comparison():
    """Members have margins of their own."""
    return False


@part
def comparison():
    """Only differences of scores count."""
    return True


@part
def keep_thresholds(stats, middle, which, count, outputs):
    """Scores are compared with 0."""


@part
def follow_middles(stats, middle, which, count, outputs):
    """The thresholds follow the middle between the two sides' mean scores."""
    for c in range(outputs):
        have = stats[POSITIVES, c]
        if 0.0 < have < count:
            middle[THRESHOLD_ROUNDS, which[c]] += 1.0
            point = 0.5 * (stats[POSITIVE_SUM, c] / have + stats[NEGATIVE_SUM, c] / (count - have))
            off = point - middle[THRESHOLD, which[c]]
            middle[THRESHOLD, which[c]] += off / middle[THRESHOLD_ROUNDS, which[c]]


MARGINS: dict[str, Part] = {  # rules over margins
    "short_of": any_short, "share": share_weighted, "strength": unweighted, "compares": no_comparison,
    "loss": losses.hinge, "step": steps.pa1, "follow": keep_thresholds,
}  # fmt: skip
RIVALS = MARGINS | {  # the right one against its best rival: two members, whatever `solve_one` is
    "short_of": rivals_short, "matters": is_worst, "compares": comparison, "solve_one": joint.correct_mistakes
}  # fmt: skip
RULES: dict[str, dict[str, Part]] = {
    "dca": MARGINS | {"matters": all_matter, "solve_one": joint.dca},
    "sequential": MARGINS | {"matters": all_matter, "solve_one": joint.sequential},
    "auc": MARGINS | {
        "short_of": means_short, "matters": all_matter, "share": share_of_side, "compares": comparison,
        "strength": weight_of_comparison, "solve_one": joint.auc, "follow": follow_middles,
    },
    "max_violators": MARGINS | {"matters": worst_violates, "solve_one": joint.max_violators},
    "correct_mistakes": MARGINS | {"matters": violates, "solve_one": joint.correct_mistakes},
    "rival_pa": RIVALS | {"step": steps.pa},
    "rival_pa1": RIVALS | {"step": steps.pa1},
    "rival_pa2": RIVALS | {"step": steps.pa2},
    "rival_perceptron": RIVALS | {
        "short_of": rivals_wrong, "loss": losses.perceptron, "step": steps.unit
    },
}  # fmt: skip
