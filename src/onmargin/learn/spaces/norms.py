"""Regularisers that bind all coordinates: p-norm, group norm, entropy. w = grad g*(theta).

A weight is read off theta when a row asks for it, given one sum over all coordinates, and that sum
is kept up to date coordinate by coordinate: O(nonzeros) a round. It is relative to a coordinate that
was the largest (no overflow), and exact: terms are cut at fixed places, and pieces of one place add up
without rounding. So what the largest coordinate leaves when it falls is what the others are, to the last
digit, and all is summed anew only where they have become far larger or far smaller than what the sum is
relative to. (Groups of several columns: their norms lose digits, and are summed anew for that, too.)
An average needs all weights at every move: O(d).

Powers and exponentials take longer than all else. So p-norms and the signed entropy keep, beside theta,
what each weight is but for a factor that all have in common; it changes with its own theta alone.

Each Space is made of the same `score` (or `spelled_score`) and `move` and of five parts: `gauge` (what
a coordinate is measured by), `term` (its share of the sum), `rescale` (the sum for another largest),
`reading` (what the sum says), `weigh` (a weight). Grove, Littlestone & Schuurmans 1997; Gentile 2003;
Kivinen & Warmuth 1997.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ...compiled.one_output import entry, put
from ...compiled.outputs import add_scores, score_round
from ...compiled.parts import Part, compose, part
from ...compiled.rows import item, measure_row, span
from ..vocabulary import BIASED, KNOWN, LINK_SCALE, NORM_COUNT, NORM_LAST, NORM_SUM, NORM_TOP, NORM_WORK, Q
from . import links
from .arrays import LEDGER, MARK, NOTE, SLOT, Field, Space, never, without_average
from .links import (
    no_groups,
    no_regroup,
    norm_reading,
    own_gauge,
    power_common,
    power_rescale,
    power_spell,
    power_term,
    power_weigh,
)


class Normed(NamedTuple):
    """theta (as `weights`); group norms squared, and each slot's group (empty: the slot itself).

    `drift` is the sum of the weights that predicted, up to the last move. `spelled`: of p-norms and of the
    signed entropy, each weight but for what all have in common, as of the last move (`is_left`).
    """

    weights: np.ndarray
    drift: np.ndarray
    spelled: np.ndarray
    norms: np.ndarray
    spans: np.ndarray
    group: np.ndarray
    ledger: np.ndarray
    pieces: np.ndarray
    notes: np.ndarray


# The sum of the terms, cut at fixed places: a term has at most 2^26 units of a place, so that sums of up to
# 2^27 terms are exact. They follow from theta, and are gathered anew where the ledger is not as they were
# left with it.
PLACES = 14
UNITS = 2.0 ** np.arange(46, 46 - 26 * PLACES, -26)
PER_UNIT = 1.0 / UNITS
MOST, LEAST = 2.0**72, 2.0**-200  # a term beyond, or a sum below, is told from another largest
LEFT_TOP, LEFT_SUM, LEFT_WORK = PLACES, PLACES + 1, PLACES + 2

FIELDS = {
    "weights": Field(SLOT, exact=False),
    "drift": Field(SLOT, average=True),
    "spelled": Field(SLOT, follows=True),
    "norms": Field(MARK, wanted="norms"),
    "spans": Field(MARK, wanted="norms", scratch=True),
    "group": Field(MARK, wanted="groups", names_slots=True),
    "ledger": Field(LEDGER, begins=(0.0, 0.0, 0.0, 0.0, 0.0)),
    "pieces": Field(LEDGER, begins=(0.0,) * (PLACES + 3), follows=True),
    "notes": Field(NOTE),
}
BOUND: dict[str, Field] = FIELDS | {"spelled": Field(LEDGER, follows=True)}
"""The same where weights are not spelled: those of a group change with each other, those of a simplex are
not 0 before they are met."""


# The parts that a Space of this family brings; here those of the p-norm.
gauge, term, rescale, reading, weigh = own_gauge, power_term, power_rescale, norm_reading, power_weigh
spell, common = power_spell, power_common
regroup, measure_groups = no_regroup, no_groups


@part
def fresh(ledger, numbers, outputs):
    """Coordinates that exist but are not in the sum yet: all of them at 0."""
    return (numbers[KNOWN] + numbers[BIASED]) * outputs - ledger[NORM_COUNT]


@part
def lift(ledger, more, q):
    """Coordinates at 0 that are new: where all others lie below 0, the largest is 0 from now on."""
    top, total = ledger[NORM_TOP], ledger[NORM_SUM]
    if more > 0.0 and top < 0.0:
        return 0.0, rescale(total, top, 0.0, q)
    return top, total


@part
def score(space, rows, now, hyper, scores):
    """s_k = <w_k, x>, each weight read off theta."""
    norms, group = space.norms, space.group
    start, stop = span(rows, now.row)
    last = space.weights.shape[0] - 1
    q, scale = hyper.numbers[Q], hyper.numbers[LINK_SCALE]
    more = fresh(space.ledger, hyper.numbers, hyper.outputs)
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
def is_left(ledger, pieces):
    """Is all as the last move left it? (Not in files, and not where arrays took on another shape.)"""
    left = pieces[LEFT_TOP] == ledger[NORM_TOP] and pieces[LEFT_SUM] == ledger[NORM_SUM]
    return left and pieces[LEFT_WORK] == ledger[NORM_WORK]


@part
def spell_slot(spelled, slot, k, theta, share, top, q):
    """One weight, but for what all have in common."""
    if spelled.size:
        put(spelled, slot, k, spell(theta, share, top, q))


@part
def spelled_score(space, rows, now, hyper, scores):
    """s_k = <w_k, x>, the weights as they are spelled; where they are not, those of the row are now."""
    ledger, q = space.ledger, hyper.numbers[Q]
    top, last = ledger[NORM_TOP], space.weights.shape[0] - 1
    if not is_left(ledger, space.pieces):
        start, stop = span(rows, now.row)
        for k in range(hyper.outputs):
            for j in range(start, stop + 1):
                slot = np.uint64(last)
                if j < stop:
                    place, _ = item(rows, now.row, j)
                    slot = np.uint64(place)
                theta = entry(space.weights, slot, k)
                spell_slot(space.spelled, slot, k, theta, term(abs(theta), top, q), top, q)
    said = reading(top, ledger[NORM_SUM], fresh(ledger, hyper.numbers, hyper.outputs), q)
    shared = common(said, top, q, hyper.numbers[LINK_SCALE])
    length = score_round(rows, now, space.spelled, scores)
    space.notes[0] = length if hyper.outputs else measure_row(rows, now.row)
    for k in range(hyper.outputs):
        scores[k] *= shared


@part
def collect(pieces, term, sign):
    """Add a term to the sum, or take it away, without rounding: three places hold its 53 bits."""
    first = 0
    for place in range(PLACES - 3):  # (no branch: they would be guessed wrong)
        first += term < UNITS[place]
    if term < MOST:
        for place in range(first, first + 3):
            piece = int(term * PER_UNIT[place]) * UNITS[place]
            pieces[place] += sign * piece
            term -= piece
    else:
        pieces[LEFT_WORK] = np.inf


@part
def gathered(pieces):
    """The sum, to the last digit."""
    total = 0.0
    for place in range(PLACES - 1, -1, -1):
        total += pieces[place]
    return total


@part
def shift_theta(weights, spelled, norms, group, ledger, pieces, slot, k, change, apart, outputs, q):
    """theta_i += change; the sum follows, where coordinates are put into it one by one."""
    theta, top = entry(weights, slot, k), ledger[NORM_TOP]
    if apart:
        collect(pieces, term(gauge(theta, norms, group, slot), top, q), -1.0)
    put(weights, slot, k, theta + change)
    moved = entry(weights, slot, k)
    regroup(weights, norms, group, slot, moved * moved - theta * theta, outputs)
    if apart:
        share = term(gauge(moved, norms, group, slot), top, q)
        collect(pieces, share, 1.0)
        spell_slot(spelled, slot, k, moved, share, top, q)
    ledger[NORM_WORK] += 1.0


@part
def sum_anew(weights, spelled, norms, group, ledger, pieces, numbers, outputs, q):
    """The largest gauge and the sum relative to it."""
    last = weights.shape[0] - 1
    known = int(numbers[KNOWN])
    measure_groups(weights, norms, group, outputs)
    top = -np.inf if known > 0 else 0.0
    for number in range(known + 1):
        slot = number if number < known else last
        if slot < last or numbers[BIASED] > 0.0:
            for k in range(outputs):
                top = max(top, gauge(entry(weights, slot, k), norms, group, slot))
    ledger[NORM_TOP], ledger[NORM_WORK] = top, 0.0
    gather(weights, spelled, norms, group, ledger, pieces, numbers, outputs, q)
    ledger[NORM_SUM] = gathered(pieces)


@part
def gather(weights, spelled, norms, group, ledger, pieces, numbers, outputs, q):
    """The pieces of all terms, relative to the same, and all weights as they are spelled."""
    for place in range(PLACES):
        pieces[place] = 0.0
    collect_all(weights, spelled, norms, group, pieces, numbers, outputs, ledger[NORM_TOP], q)
    ledger[NORM_COUNT] = (numbers[KNOWN] + numbers[BIASED]) * outputs


@part
def collect_coordinates(weights, spelled, norms, group, pieces, numbers, outputs, top, q):
    """The terms of all coordinates that exist."""
    last = weights.shape[0] - 1
    known = int(numbers[KNOWN])
    for number in range(known + 1):
        slot = number if number < known else last
        if slot < last or numbers[BIASED] > 0.0:
            for k in range(outputs):
                theta = entry(weights, slot, k)
                share = term(gauge(theta, norms, group, slot), top, q)
                collect(pieces, share, 1.0)
                spell_slot(spelled, slot, k, theta, share, top, q)


@part
def collect_groups(weights, spelled, norms, group, pieces, numbers, outputs, top, q):
    """The terms of all groups."""
    for place in range(norms.shape[0]):
        collect(pieces, term(math.sqrt(norms[place]), top, q), 1.0)


collect_all = collect_coordinates


@part
def is_worn(ledger, group, pieces, numbers, outputs, q):
    """Must all be summed anew?"""
    total, work = ledger[NORM_SUM], ledger[NORM_WORK]
    if group.size:  # squares that come and go in norms: they may lose a digit
        each, digit = (numbers[KNOWN] + numbers[BIASED]) * outputs, 10.0 ** (0.5 * q)
        if work >= each or total * digit < 1.0 or total > each * digit:
            return True
    return total < LEAST or pieces[LEFT_WORK] == np.inf


@part
def remember(weights, drift, norms, group, ledger, numbers, outputs, q, scale, rounds):
    """drift += rounds w, for all weights."""
    last = weights.shape[0] - 1
    known = int(numbers[KNOWN])
    more = fresh(ledger, numbers, outputs)
    top, total = lift(ledger, more, q)
    said = reading(top, total, more, q)
    for number in range(known + 1):
        slot = number if number < known else last
        if slot < last or numbers[BIASED] > 0.0:
            for k in range(outputs):
                theta = entry(weights, slot, k)
                weight = weigh(theta, gauge(theta, norms, group, slot), said, top, q, scale)
                put(drift, slot, k, entry(drift, slot, k) + rounds * weight)


@part
def move(space, rows, now, pull, step, margin, hyper):
    """theta_k += step pull[k] x"""
    weights, spelled, norms, group = space.weights, space.spelled, space.norms, space.group
    ledger, pieces = space.ledger, space.pieces
    numbers, outputs, q = hyper.numbers, hyper.outputs, hyper.numbers[Q]
    start, stop = span(rows, now.row)
    if space.drift.size:
        since = now.clock - ledger[NORM_LAST]
        remember(
            weights, space.drift, norms, group, ledger, numbers, outputs, q, hyper.numbers[LINK_SCALE], since
        )
    ledger[NORM_LAST] = now.clock
    if not is_left(ledger, pieces):
        gather(weights, spelled, norms, group, ledger, pieces, numbers, outputs, q)
    more = fresh(ledger, numbers, outputs)
    if more > 0.0:
        share = term(0.0, ledger[NORM_TOP], q)
        for _ in range(int(more) if share > 0.0 else 0):
            collect(pieces, share, 1.0)
        ledger[NORM_COUNT] += more
    pulled = 0
    for k in range(pull.shape[0]):
        pulled += pull[k] != 0.0
    # Out of the sum and into it again is twice the work of a sum of all, and the sum is the same.
    apart = 2.0 * pulled * (stop - start + 1) < (numbers[KNOWN] + numbers[BIASED]) * outputs
    for k in range(pull.shape[0]):
        if pull[k] != 0.0:
            for j in range(start, stop + 1):
                slot, value = np.uint64(weights.shape[0] - 1), rows.bias
                if j < stop:
                    place, value = item(rows, now.row, j)
                    slot = np.uint64(place)
                if value != 0.0:
                    change = step * pull[k] * value
                    shift_theta(
                        weights, spelled, norms, group, ledger, pieces, slot, k, change, apart, outputs, q
                    )
    if not apart:
        gather(weights, spelled, norms, group, ledger, pieces, numbers, outputs, q)
    ledger[NORM_SUM] = gathered(pieces)
    if is_worn(ledger, group, pieces, numbers, outputs, q):
        sum_anew(weights, spelled, norms, group, ledger, pieces, numbers, outputs, q)
    pieces[LEFT_TOP], pieces[LEFT_SUM] = ledger[NORM_TOP], ledger[NORM_SUM]
    pieces[LEFT_WORK] = ledger[NORM_WORK]
    return step


@part
def mean(space, rows, now, hyper, scores):
    """Scores by the average: the remembered sum, and the weights of the rounds since."""
    rounds = now.clock - 1.0
    if rounds > 0.0:
        for k in range(hyper.outputs):
            scores[k] *= (rounds - space.ledger[NORM_LAST]) / rounds
        add_scores(rows, now.row, space.drift, scores, 1.0 / rounds)


# ---- the same maps in plain NumPy, for whoever wants all weights at once


def gauges(arrays, grouped):
    """What each coordinate of theta is measured by."""
    if not grouped:
        return np.asarray(np.abs(arrays.weights))
    place = arrays.group.astype(int) if arrays.group.size else slice(None)
    each = np.sqrt(arrays.norms)[place]
    return np.asarray(each if arrays.weights.ndim == 1 else each[:, None])


def read_norm(arrays, clock, hyper, grouped=False):
    """a theta_i (gauge / |theta|_q)^(q-2)"""
    said = links.norm_reading(arrays.ledger[NORM_TOP], arrays.ledger[NORM_SUM], 0.0, hyper.numbers[Q])
    ratio = gauges(arrays, grouped) / said if said > 0 else np.zeros(1)
    return np.asarray(hyper.numbers[LINK_SCALE] * arrays.weights * ratio ** (hyper.numbers[Q] - 2.0))


def read_groups(arrays, clock, hyper):
    """The same, measured by groups."""
    return read_norm(arrays, clock, hyper, grouped=True)


def living(arrays, hyper):
    """Which coordinates exist."""
    mask = np.zeros(arrays.weights.shape, bool)
    mask[: int(hyper.numbers[KNOWN]), ...] = True
    mask[-1, ...] = hyper.numbers[BIASED] > 0
    if mask.ndim == 2:
        mask[:, hyper.outputs :] = False
    return mask


def _entropic(arrays, hyper, signed):
    theta, mask = arrays.weights.astype(np.float64), living(arrays, hyper)
    top = float(np.abs(theta[mask]).max() if signed else theta[mask].max()) if mask.any() else 0.0
    theta = np.where(mask, theta, top)  # (what does not exist would lie far above)
    up, down = np.exp(theta - top), np.exp(-theta - top) if signed else np.zeros(theta.shape)
    return np.asarray(hyper.numbers[LINK_SCALE] * np.where(mask, up - down, 0.0) / (up + down)[mask].sum())


def read_signed(arrays, clock, hyper):
    """B sinh(theta_i) / sum cosh"""
    return _entropic(arrays, hyper, True)


def read_simplex(arrays, clock, hyper):
    """B softmax(theta)"""
    return _entropic(arrays, hyper, False)


def averaged(arrays, clock, hyper, weights):
    """The average of the weights that predicted."""
    since = clock - arrays.ledger[NORM_LAST]
    return np.asarray((arrays.drift + since * weights) / max(clock, 1)) if clock else weights


def _settle(grouped: bool, signed: bool | None) -> Callable[[Any, Any, int], None]:
    """The sums after the arrays took on another shape; `signed` is None for norms."""

    def settle(arrays, hyper, clock):
        ledger, mask = arrays.ledger, living(arrays, hyper)
        if grouped:
            squares = (arrays.weights.astype(np.float64) ** 2).reshape(len(arrays.weights), -1).sum(axis=1)
            place = arrays.group.astype(int) if arrays.group.size else np.arange(len(squares))
            arrays.norms[:] = np.bincount(place, squares, len(squares))
            values = np.sqrt(arrays.norms)
        else:
            theta = arrays.weights.astype(np.float64)[mask]
            values = theta if signed is False else np.abs(theta)
        top = float(values.max()) if values.size else 0.0
        terms = {None: links.power_term, True: links.cosh_term, False: links.exp_term}[signed]
        ledger[NORM_TOP], ledger[NORM_SUM] = (
            top,
            sum(terms(float(value), top, hyper.numbers[Q]) for value in values),
        )
        ledger[NORM_COUNT], ledger[NORM_WORK] = mask.sum(), 0.0
        arrays.pieces[:], arrays.spelled[...] = 0.0, 0.0

    return settle


def _space(name: str, read: Any, measure: Part, settle: Any, **roles: Any) -> Space:
    """One Space of this family, from its parts."""
    every = roles.pop("collect_all", collect_coordinates)
    if "spell" in roles:
        roles["spell_slot"] = compose(spell_slot, f"spell_slot_{name}", **roles)
    roles["collect_all"] = compose(every, f"{every.__name__}_{name}", **roles)
    for helper in (lift, shift_theta, gather, sum_anew, remember):
        roles[helper.__name__] = compose(helper, f"{helper.__name__}_{name}", **roles)
    scored, fields = (spelled_score, FIELDS) if "spell" in roles else (score, BOUND)
    made = [compose(part, f"{part.__name__}_{name}", **roles) for part in (scored, move)]
    local = never if measure is links.size_groups else without_average  # (a group's norm lies anywhere)
    return Space(name, Normed, fields, made[0], measure, made[1], mean, read, averaged, settle, local=local)


_POWERS: dict[str, Any] = {
    "term": links.power_term, "rescale": links.power_rescale, "reading": links.norm_reading,
    "weigh": links.power_weigh,
}  # fmt: skip
_SPELLED: dict[str, Any] = _POWERS | {"spell": links.power_spell, "common": links.power_common}
_EXPS: dict[str, Any] = {"rescale": links.exp_rescale, "reading": links.cosh_reading}
PNORM = _space("pnorm", read_norm, links.size_q, _settle(False, None), gauge=links.own_gauge, **_SPELLED)
GROUP = _space(
    "group", read_groups, links.size_groups, _settle(True, None), gauge=links.group_gauge,
    regroup=links.regroup_norms, measure_groups=links.sum_groups,
    collect_all=collect_groups, **_POWERS,
)  # fmt: skip
SIGNED = _space(
    "entropic", read_signed, links.size_largest, _settle(False, True),
    gauge=links.own_gauge, term=links.cosh_term, weigh=links.sinh_weigh, spell=links.sinh_spell,
    common=links.cosh_common, **_EXPS,
)  # fmt: skip
SIMPLEX = _space(
    "simplex", read_simplex, links.size_largest, _settle(False, False),
    gauge=links.plain_gauge, term=links.exp_term, weigh=links.exp_weigh, **_EXPS,
)  # fmt: skip
