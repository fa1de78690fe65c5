"""One joint step for every output at once, with weights: the members of a round column by column.

The rules that take one step from alpha = 0 need of an output c no more than d_c = sum_J c_j z_j: its step is
tau_c = min(C, (asked - <w_c, d_c>) / |d_c|^2), clipped at 0. With many outputs a round has as many members,
in which the same columns come again and again: so d is summed up column by column, eight outputs in a
register, and every column of the weights is read and written once, however many members have it.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from ...compiled import lanes
from ...compiled.parts import part
from ...compiled.rows import item, span
from ..vocabulary import IS_SHORT, POSITIVES
from .joint import NOTHING
from .members import pick
from .rules import violates as matters


class Columns(NamedTuple):
    """Room for it: entries of the members that matter, sorted by columns; numbers of every output."""

    ends: np.ndarray  # (slots,) where the entries of every column end; 0 between rounds
    used: np.ndarray  # (slots,) the columns that have some
    owners: np.ndarray  # (entries,) where the pulls of the member begin that has it
    values: np.ndarray  # (entries,)
    groups: np.ndarray  # (outputs / 8,) where the eights begin that somebody pulls
    inner: np.ndarray  # (outputs,) <w, d>, as are all below
    asked: np.ndarray
    reach: np.ndarray  # sum of |pull| |x|
    lengths: np.ndarray  # |d|^2
    steps: np.ndarray  # tau
    dated: np.ndarray  # tau times the clock


@part
def pull_all(scratch, count, few, hyper):
    """pulls[i, c] = y_i c_i of those that matter to c, otherwise 0; what is asked of c, and <w_c, d_c>."""
    wide, stats, pulls = scratch.wide, scratch.stats, scratch.pulls
    width = (hyper.here + 7) // 8 * 8
    for c in range(width):
        wide.inner[c] = wide.asked[c] = wide.reach[c] = wide.lengths[c] = 0.0
    for i in range(few):
        j = scratch.which[i]
        root = math.sqrt(max(scratch.lengths[j], 0.0))
        for c in range(width):
            pulls[i, c] = 0.0
        for c in range(hyper.here):
            if stats[IS_SHORT, c] > 0.0 and matters(scratch.scores, scratch.signs, stats, j, c, hyper):
                positive = scratch.signs[j, c] > 0
                side = stats[POSITIVES, c] if positive else count - stats[POSITIVES, c]
                share = 1.0 / side * scratch.weights[j]
                pulls[i, c] = share if positive else -share
                wide.inner[c] += pulls[i, c] * scratch.scores[j, c]
                wide.asked[c] += share * hyper.margin
                wide.reach[c] += share * root


@part
def sort_entries(wide, block, which, row, begin, few, slots, width):
    """The entries of those that matter, by columns; how many columns there are."""
    used = total = 0
    for i in range(few):
        rows, at = pick(block, row, block.members[begin + which[i]])
        start, stop = span(rows, at)
        for j in range(start, stop):
            slot, _ = item(rows, at, j)
            if wide.ends[slot] == 0:
                wide.used[used] = slot
                used += 1
            wide.ends[slot] += 1
        if rows.bias != 0.0:
            if i == 0:
                wide.used[used] = slots - 1
                used += 1
            wide.ends[slots - 1] += 1
    for at in range(used):  # where each begins; filled, where it ends
        slot = wide.used[at]
        total, wide.ends[slot] = total + wide.ends[slot], total
    for i in range(few):
        rows, at = pick(block, row, block.members[begin + which[i]])
        start, stop = span(rows, at)
        for j in range(start, stop):
            slot, value = item(rows, at, j)
            entry = wide.ends[slot]
            wide.owners[entry], wide.values[entry] = i * width, value
            wide.ends[slot] = entry + 1
        if rows.bias != 0.0:
            entry = wide.ends[slots - 1]
            wide.owners[entry], wide.values[entry] = i * width, rows.bias
            wide.ends[slots - 1] = entry + 1
    return used


@part
def active_groups(wide, outputs):
    """The eights of outputs for which something is asked; how many."""
    found = 0
    for group in range(0, outputs, 8):
        some = False
        for c in range(group, group + 8):
            some |= wide.asked[c] > 0.0
        if some:
            wide.groups[found] = group
            found += 1
    return found


@part
def four_groups(wide, k, active):
    """The eights k .. k + 3; beyond the last one it again, which then is written twice the same."""
    last = active - 1
    groups = wide.groups
    return groups[k], groups[min(k + 1, last)], groups[min(k + 2, last)], groups[min(k + 3, last)]


@part
def sum_column(wide, pulls, first, stop, eights):
    """d_c in a column, for four eights of outputs."""
    a, b, c, d = eights
    one, two, three, four = lanes.nothing(), lanes.nothing(), lanes.nothing(), lanes.nothing()
    for entry in range(first, stop):
        at, value = wide.owners[entry], wide.values[entry]
        one = lanes.plus_times(one, lanes.load(pulls, at + a), value)
        two = lanes.plus_times(two, lanes.load(pulls, at + b), value)
        three = lanes.plus_times(three, lanes.load(pulls, at + c), value)
        four = lanes.plus_times(four, lanes.load(pulls, at + d), value)
    return one, two, three, four


@part
def add_products(array, at, eights, left, right):
    """array += left * right in four eights of outputs."""
    a, b, c, d = eights
    one, two, three, four = right
    one = lanes.plus_product(lanes.load(array, at + a), lanes.load(left, a), one)
    two = lanes.plus_product(lanes.load(array, at + b), lanes.load(left, b), two)
    three = lanes.plus_product(lanes.load(array, at + c), lanes.load(left, c), three)
    four = lanes.plus_product(lanes.load(array, at + d), lanes.load(left, d), four)
    lanes.store(array, at + a, one)
    lanes.store(array, at + b, two)
    lanes.store(array, at + c, three)
    lanes.store(array, at + d, four)


@part
def hold(line, eights, sums):
    """Four eights of outputs, in a line."""
    a, b, c, d = eights
    one, two, three, four = sums
    lanes.store(line, a, one)
    lanes.store(line, b, two)
    lanes.store(line, c, three)
    lanes.store(line, d, four)


@part
def scatter(array, at, part, steps, outputs):
    """array += steps * what the line holds, in the outputs of a round."""
    for i in range(outputs):
        if steps[i] != 0.0:
            array[at + part.outputs[i]] += steps[i] * part.line[i]


@part
def measure(wide, pulls, used, eights):
    """|d_c|^2 for four eights of outputs."""
    a, b, c, d = eights
    one, two, three, four = lanes.nothing(), lanes.nothing(), lanes.nothing(), lanes.nothing()
    first = 0
    for at in range(used):
        stop = wide.ends[wide.used[at]]
        left, right, third, fourth = sum_column(wide, pulls, first, stop, eights)
        one = lanes.plus_product(one, left, left)
        two = lanes.plus_product(two, right, right)
        three = lanes.plus_product(three, third, third)
        four = lanes.plus_product(four, fourth, fourth)
        first = stop
    lanes.store(wide.lengths, a, one)
    lanes.store(wide.lengths, b, two)
    lanes.store(wide.lengths, c, three)
    lanes.store(wide.lengths, d, four)


@part
def step_together(space, block, scratch, row, begin, count, few, hyper, clock):
    """Moves the weights of every output by its joint step; |w' - w|, or -1 where nothing moves."""
    wide, width = scratch.wide, scratch.pulls.shape[1]
    pull_all(scratch, count, few, hyper)
    pulls = scratch.pulls.reshape(scratch.pulls.size)
    used = sort_entries(wide, block, scratch.which, row, begin, few, space.weights.shape[0], width)
    active = active_groups(wide, hyper.here)
    for k in range(0, active, 4):
        measure(wide, pulls, used, four_groups(wide, k, active))
    length, moves = 0.0, False
    for c in range((hyper.here + 7) // 8 * 8):
        tau = 0.0
        if wide.lengths[c] > NOTHING * wide.reach[c] * wide.reach[c]:  # otherwise d = 0 but for rounding
            tau = max(0.0, min(hyper.C, (wide.asked[c] - wide.inner[c]) / wide.lengths[c]))
        length += tau * tau * wide.lengths[c]
        moves |= tau != 0.0
        wide.steps[c], wide.dated[c] = tau, tau * clock
    weights, drift = space.weights.reshape(space.weights.size), space.drift.reshape(space.drift.size)
    first = 0
    for at in range(used):
        slot = wide.used[at]
        stop = wide.ends[slot]
        for k in range(0, active if moves else 0, 4):
            eights = four_groups(wide, k, active)
            sums = sum_column(wide, pulls, first, stop, eights)
            if hyper.rivals:
                hold(scratch.part.line, eights, sums)
                continue
            add_products(weights, slot * width, eights, wide.steps, sums)
            if drift.size:
                add_products(drift, slot * width, eights, wide.dated, sums)
        if hyper.rivals and moves:
            scatter(weights, slot * width, scratch.part, wide.steps, hyper.here)
            if drift.size:
                scatter(drift, slot * width, scratch.part, wide.dated, hyper.here)
        wide.ends[slot], first = 0, stop
    return math.sqrt(length) if moves else -1.0
