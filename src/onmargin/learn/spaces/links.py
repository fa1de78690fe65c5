"""How a coordinate of theta becomes a weight: p-norms and entropies; and z measured in the dual norms.

`gauge` is what a coordinate is measured by, `term` its share of the sum over all, `rescale` the sum
for another largest gauge, `reading` what the sum says, `weigh` the weight; where a weight is one number
of its coordinate times one of all, `spell` is the former and `common` the latter; `regroup` and
`measure_groups` keep the norms of groups, where there are groups.
"""

from __future__ import annotations

import math

import numpy as np

from ...compiled.one_output import entry
from ...compiled.outputs import squared
from ...compiled.parts import formula, part
from ...compiled.rows import item, span
from ..vocabulary import Q

# ---- p-norm: g = |w|_p^2 / (2a), w_i = a theta_i (|theta_i| / |theta|_q)^(q-2)


@formula
def power(theta, q):
    """theta^q for theta >= 0"""
    return theta**q if theta > 0.0 else (1.0 if q == 0.0 else 0.0)


@part
def own_gauge(theta, norms, group, slot):
    """|theta_i|"""
    return abs(theta)


@part
def group_of(group, slot):
    """The group of a slot."""
    return np.uint64(group[slot]) if group.size else np.uint64(slot)


@part
def group_gauge(theta, norms, group, slot):
    """|theta^g|_2 of the coordinate's group."""
    return math.sqrt(norms[group_of(group, slot)])


@part
def no_regroup(weights, norms, group, slot, change, outputs):
    """A coordinate is a group of its own: its gauge follows by itself."""


@part
def regroup_norms(weights, norms, group, slot, change, outputs):
    """|theta^g|^2 after one of its coordinates changed its square; exactly, where it is of one column."""
    place = group_of(group, slot)
    if group.size and slot < weights.shape[0] - 1:
        norms[place] = max(norms[place] + change, 0.0)
    else:
        norms[place] = 0.0
        for k in range(outputs):
            theta = entry(weights, slot, k)
            norms[place] += theta * theta


@part
def no_groups(weights, norms, group, outputs):
    """There are no norms of groups to sum."""


@part
def sum_groups(weights, norms, group, outputs):
    """|theta^g|^2 of all groups, exactly."""
    for slot in range(weights.shape[0]):
        norms[slot] = 0.0
    for slot in range(weights.shape[0]):
        for k in range(outputs):
            theta = entry(weights, slot, k)
            norms[group_of(group, slot)] += theta * theta


@formula
def ratio_to(theta, top, q):
    """|theta_i| / top"""
    ratio = abs(theta) * (1.0 / top) if top > 1e-300 else 0.0
    if ratio > 1e4 or (ratio > 1.0 and q > 64.0):  # (below its power is finite)
        ratio = min(ratio, 10.0 ** (300.0 / q))  # (far beyond what a sum takes)
    return ratio


@formula
def power_term(theta, top, q):
    """(|theta_i| / top)^q, the same to the last bit wherever it is compiled, as sums of terms are exact.

    A division may become a product with 1 / top or not; so it is one. (1 / top must be finite.)
    """
    return power(ratio_to(theta, top, q), q)


@formula
def power_rescale(total, before, after, q):
    return total * power(before / after, q)


@formula
def norm_reading(top, total, fresh, q):
    """|theta|_q"""
    return top * power(total, 1.0 / q)


@formula
def power_weigh(theta, gauge, reading, top, q, scale):
    """a theta_i (gauge / |theta|_q)^(q-2)"""
    if theta == 0.0 or reading == 0.0:
        return 0.0
    return scale * theta * power(gauge / reading, q - 2.0)


@formula
def power_spell(theta, share, top, q):
    """theta_i (|theta_i| / top)^(q-2), the share of the sum being (|theta_i| / top)^q"""
    ratio = ratio_to(theta, top, q)
    if share > 1e-290:  # (a second power takes longer than all else; the ratio is no smaller than its share)
        return theta * share * (1.0 / (ratio * ratio))
    return theta * power(ratio, q - 2.0) if ratio > 0.0 else 0.0


@formula
def power_common(reading, top, q, scale):
    """a (top / |theta|_q)^(q-2)"""
    return scale * power(top / reading, q - 2.0) if reading > 0.0 else 0.0


# ---- entropy: w = B softmax(theta); with doubled features (x, -x): w_i = B sinh / sum cosh


@formula
def cosh_term(theta, top, q):
    """cosh(theta_i) e^-top"""
    return 0.5 * (math.exp(min(abs(theta) - top, 300.0)) + math.exp(-abs(theta) - top))


@formula
def exp_rescale(total, before, after, q):
    return total * math.exp(before - after)


@formula
def cosh_reading(top, total, fresh, q):
    """sum of cosh e^-top, `fresh` coordinates at 0 not yet in it."""
    return total + fresh * math.exp(-top) if fresh > 0.0 else total


@formula
def sinh_weigh(theta, gauge, reading, top, q, scale):
    """B sinh(theta_i) / sum cosh, B being the scale"""
    return scale * 0.5 * (math.exp(theta - top) - math.exp(-theta - top)) / reading


@formula
def sinh_spell(theta, share, top, q):
    """sinh(theta_i) e^-top"""
    size = 0.5 * (math.exp(min(abs(theta) - top, 300.0)) - math.exp(-abs(theta) - top))
    return math.copysign(size, theta)


@formula
def cosh_common(reading, top, q, scale):
    """B / sum cosh e^-top"""
    return scale / reading


@part
def plain_gauge(theta, norms, group, slot):
    """theta_i"""
    return theta


@formula
def exp_term(theta, top, q):
    """e^(theta_i - top)"""
    return math.exp(min(theta - top, 300.0))


@formula
def exp_weigh(theta, gauge, reading, top, q, scale):
    """B e^theta_i / sum e^theta"""
    return scale * math.exp(theta - top) / reading


# ---- |z|^2 in the dual norm


@part
def largest_entry(rows, row):
    """max |x_i|"""
    start, stop = span(rows, row)
    top = abs(rows.bias)
    for j in range(start, stop):
        _, value = item(rows, row, j)
        top = max(top, abs(value))
    return top


@part
def size_q(space, rows, now, pull, hyper):
    """|z|_q^2, z = pull (x) x"""
    start, stop = span(rows, now.row)
    top = largest_entry(rows, now.row)
    if top == 0.0:
        return 0.0
    total = power(abs(rows.bias) / top, hyper.numbers[Q])
    for j in range(start, stop):
        _, value = item(rows, now.row, j)
        total += power(abs(value) / top, hyper.numbers[Q])
    pulls = 0.0
    for k in range(pull.shape[0]):
        pulls += power(abs(pull[k]), hyper.numbers[Q])
    return top * top * power(total * pulls, 2.0 / hyper.numbers[Q])


@part
def size_groups(space, rows, now, pull, hyper):
    """|z|_{2,q}^2: entries of one group add up as squares."""
    start, stop = span(rows, now.row)
    pulls = squared(pull)
    for j in range(start, stop):
        slot, value = item(rows, now.row, j)
        space.spans[group_of(space.group, slot)] += value * value
    top = rows.bias * rows.bias
    for j in range(start, stop):
        slot, _ = item(rows, now.row, j)
        top = max(top, space.spans[group_of(space.group, slot)])
    if top == 0.0:
        return 0.0
    total = power(rows.bias * rows.bias / top, 0.5 * hyper.numbers[Q])
    for j in range(start, stop):
        slot, _ = item(rows, now.row, j)
        place = group_of(space.group, slot)
        total += power(space.spans[place] / top, 0.5 * hyper.numbers[Q])
        space.spans[place] = 0.0
    return top * pulls * power(total, 2.0 / hyper.numbers[Q])


@part
def size_largest(space, rows, now, pull, hyper):
    """|z|_inf^2"""
    top = largest_entry(rows, now.row)
    pulls = 0.0
    for k in range(pull.shape[0]):
        pulls = max(pulls, abs(pull[k]))
    return (top * pulls) ** 2
