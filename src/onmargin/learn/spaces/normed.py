"""Regularisers that bind all coordinates: p-norm, group norm, entropy. w = grad g*(theta).

A weight is read off theta when a row asks for it, given one sum over all coordinates, and that sum
is kept up to date coordinate by coordinate: O(nonzeros) a round. It is relative to the largest
coordinate (no overflow), and summed anew whenever it has lost a digit or the changes have cost as
much as that does. An average needs all weights at every move: O(d).

Each Space is made of the same `score` and `move` and of five parts: `gauge` (what a coordinate is
measured by), `term` (its share of the sum), `rescale` (the sum for another largest), `reading` (what
the sum says), `weigh` (a weight). Grove, Littlestone & Schuurmans 1997; Gentile 2003; Kivinen &
Warmuth 1997.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from ...compiled.parts import formula, part
from ...compiled.rows import add_scores, entry, item, measure_row, put, span
from .storage import LEDGER, MARK, NOTE, SLOT, Field

# The ledger: largest gauge, sum of the terms, coordinates in it, work since it was exact; the
# round of the last move.
TOP, SUM, COUNT, WORK, LAST = range(5)


class Normed(NamedTuple):
    """theta (as `weights`); group norms squared, and each slot's group (empty: the slot itself).

    `drift` is the sum of the weights that predicted, up to the last move.
    """

    weights: np.ndarray
    drift: np.ndarray
    norms: np.ndarray
    spans: np.ndarray
    group: np.ndarray
    ledger: np.ndarray
    notes: np.ndarray


FIELDS = {
    "weights": Field(SLOT, exact=False),
    "drift": Field(SLOT, average=True),
    "norms": Field(MARK, wanted="norms"),
    "spans": Field(MARK, wanted="norms", scratch=True),
    "group": Field(MARK, wanted="groups"),
    "ledger": Field(LEDGER, begins=(0.0, 0.0, 0.0, 0.0, 0.0)),
    "notes": Field(NOTE),
}


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


@formula
def power_term(theta, top, q):
    """(|theta_i| / top)^q"""
    return power(abs(theta) / top, q) if top > 0.0 else 0.0


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


# ---- entropy: w = B softmax(theta); with doubled features (x, -x): w_i = B sinh / sum cosh


@formula
def cosh_term(theta, top, q):
    """cosh(theta_i) e^-top"""
    return 0.5 * (math.exp(abs(theta) - top) + math.exp(-abs(theta) - top))


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


@part
def plain_gauge(theta, norms, group, slot):
    """theta_i"""
    return theta


@formula
def exp_term(theta, top, q):
    """e^(theta_i - top)"""
    return math.exp(theta - top)


@formula
def exp_weigh(theta, gauge, reading, top, q, scale):
    """B e^theta_i / sum e^theta"""
    return scale * math.exp(theta - top) / reading


# ---- the same for all

gauge, term, rescale, reading, weigh = own_gauge, power_term, power_rescale, norm_reading, power_weigh
GROUPED = 0.0  # 1: the terms are those of groups


@part
def fresh(ledger, live, outputs):
    """Coordinates that exist but are not in the sum yet: all of them at 0."""
    return (live[0] + live[1]) * outputs - ledger[COUNT]


@part
def lift(ledger, more, q):
    """Coordinates at 0 that are new: where all others lie below 0, the largest is 0 from now on."""
    top, total = ledger[TOP], ledger[SUM]
    if more > 0.0 and top < 0.0:
        return 0.0, rescale(total, top, 0.0, q)
    return top, total


@part
def score(space, rows, now, hyper, scores):
    """s_k = <w_k, x>, each weight read off theta."""
    norms, group = space.norms, space.group
    start, stop = span(rows, now.row)
    last = space.weights.shape[0] - 1
    q, scale = hyper.q, hyper.scale
    more = fresh(space.ledger, hyper.live, hyper.outputs)
    top, total = lift(space.ledger, more, q)
    said = reading(top, total, more, q)
    space.notes[0] = measure_row(rows, now.row)
    for k in range(hyper.outputs):
        total = 0.0
        for j in range(start, stop + 1):
            slot, value = np.uint64(last), rows.bias
            if j < stop:
                place, value = item(rows, now.row, j)
                slot = np.uint64(place)
            if value != 0.0:
                theta = entry(space.weights, slot, k)
                total += weigh(theta, gauge(theta, norms, group, slot), said, top, q, scale) * value
        scores[k] = total


@part
def shift_theta(weights, norms, group, ledger, slot, k, change, q):
    """theta_i += change; the sum follows."""
    theta = entry(weights, slot, k)
    moved = theta + change
    before = gauge(theta, norms, group, slot)
    if GROUPED > 0.0:
        place = group_of(group, slot)
        norms[place] = max(norms[place] + moved * moved - theta * theta, 0.0)
    put(weights, slot, k, moved)
    after = gauge(moved, norms, group, slot)
    if after > ledger[TOP]:
        ledger[SUM] = rescale(ledger[SUM], ledger[TOP], after, q)
        ledger[TOP] = after
    ledger[SUM] += term(after, ledger[TOP], q) - term(before, ledger[TOP], q)
    ledger[WORK] += 1.0


@part
def sum_groups(weights, norms, group, outputs):
    """Group norms squared, exactly."""
    for slot in range(weights.shape[0]):
        norms[slot] = 0.0
    for slot in range(weights.shape[0]):
        for k in range(outputs):
            theta = entry(weights, slot, k)
            norms[group_of(group, slot)] += theta * theta


@part
def sum_anew(weights, norms, group, ledger, live, outputs, q):
    """The largest gauge and the sum, exactly: a first sweep finds the one, a second the other."""
    last = weights.shape[0] - 1
    known = int(live[0])
    if GROUPED > 0.0:
        sum_groups(weights, norms, group, outputs)
    top = -np.inf if known > 0 else 0.0
    total = 0.0
    for sweep in range(2):
        for number in range(known + 1):
            slot = number if number < known else last
            if slot < last or live[1] > 0.0:
                for k in range(outputs):
                    measured = gauge(entry(weights, slot, k), norms, group, slot)
                    if sweep == 0:
                        top = max(top, measured)
                    elif GROUPED == 0.0:
                        total += term(measured, top, q)
    if GROUPED > 0.0:
        for slot in range(last + 1):
            total += term(math.sqrt(norms[slot]), top, q)
    ledger[TOP], ledger[SUM], ledger[WORK] = top, total, 0.0


@part
def remember(weights, drift, norms, group, ledger, live, outputs, q, scale, rounds):
    """drift += rounds w, for all weights."""
    last = weights.shape[0] - 1
    known = int(live[0])
    more = fresh(ledger, live, outputs)
    top, total = lift(ledger, more, q)
    said = reading(top, total, more, q)
    for number in range(known + 1):
        slot = number if number < known else last
        if slot < last or live[1] > 0.0:
            for k in range(outputs):
                theta = entry(weights, slot, k)
                weight = weigh(theta, gauge(theta, norms, group, slot), said, top, q, scale)
                put(drift, slot, k, entry(drift, slot, k) + rounds * weight)


@part
def move(space, rows, now, pull, step, margin, hyper):
    """theta_k += step pull[k] x"""
    weights, norms, group, ledger = space.weights, space.norms, space.group, space.ledger
    live, outputs, q = hyper.live, hyper.outputs, hyper.q
    start, stop = span(rows, now.row)
    if space.drift.size:
        since = now.clock - ledger[LAST]
        remember(weights, space.drift, norms, group, ledger, live, outputs, q, hyper.scale, since)
    ledger[LAST] = now.clock
    more = fresh(ledger, live, outputs)
    if more > 0.0:
        ledger[TOP], ledger[SUM] = lift(ledger, more, q)
        ledger[SUM] += more * term(0.0, ledger[TOP], q)
        ledger[COUNT] += more
    for k in range(pull.shape[0]):
        if pull[k] != 0.0:
            for j in range(start, stop + 1):
                slot, value = np.uint64(weights.shape[0] - 1), rows.bias
                if j < stop:
                    place, value = item(rows, now.row, j)
                    slot = np.uint64(place)
                if value != 0.0:
                    shift_theta(weights, norms, group, ledger, slot, k, step * pull[k] * value, q)
    if ledger[SUM] < 0.1 or ledger[WORK] >= weights.size:
        sum_anew(weights, norms, group, ledger, live, outputs, q)
    return step


@part
def mean(space, rows, now, hyper, scores):
    """Scores by the average: the remembered sum, and the weights of the rounds since."""
    rounds = now.clock - 1.0
    if rounds > 0.0:
        for k in range(hyper.outputs):
            scores[k] *= (rounds - space.ledger[LAST]) / rounds
        add_scores(rows, now.row, space.drift, scores, 1.0 / rounds)


# ---- |z|^2 in the dual norm


@part
def size_q(space, rows, now, pull, hyper):
    """|z|_q^2, z = pull (x) x"""
    start, stop = span(rows, now.row)
    top = abs(rows.bias)
    for j in range(start, stop):
        _, value = item(rows, now.row, j)
        top = max(top, abs(value))
    if top == 0.0:
        return 0.0
    total = power(abs(rows.bias) / top, hyper.q)
    for j in range(start, stop):
        _, value = item(rows, now.row, j)
        total += power(abs(value) / top, hyper.q)
    pulls = 0.0
    for k in range(pull.shape[0]):
        pulls += power(abs(pull[k]), hyper.q)
    return top * top * power(total * pulls, 2.0 / hyper.q)


@part
def size_groups(space, rows, now, pull, hyper):
    """|z|_{2,q}^2: entries of one group add up as squares."""
    start, stop = span(rows, now.row)
    pulls = 0.0
    for k in range(pull.shape[0]):
        pulls += pull[k] * pull[k]
    for j in range(start, stop):
        slot, value = item(rows, now.row, j)
        space.spans[group_of(space.group, slot)] += value * value
    top = rows.bias * rows.bias
    for j in range(start, stop):
        slot, _ = item(rows, now.row, j)
        top = max(top, space.spans[group_of(space.group, slot)])
    if top == 0.0:
        return 0.0
    total = power(rows.bias * rows.bias / top, 0.5 * hyper.q)
    for j in range(start, stop):
        slot, _ = item(rows, now.row, j)
        place = group_of(space.group, slot)
        total += power(space.spans[place] / top, 0.5 * hyper.q)
        space.spans[place] = 0.0
    return top * pulls * power(total, 2.0 / hyper.q)


@part
def size_largest(space, rows, now, pull, hyper):
    """|z|_inf^2"""
    start, stop = span(rows, now.row)
    top = abs(rows.bias)
    for j in range(start, stop):
        _, value = item(rows, now.row, j)
        top = max(top, abs(value))
    pulls = 0.0
    for k in range(pull.shape[0]):
        pulls = max(pulls, abs(pull[k]))
    return (top * pulls) ** 2
