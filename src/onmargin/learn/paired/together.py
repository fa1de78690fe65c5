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
from ...compiled.outputs import add_eights
from ...compiled.parts import part
from ...compiled.rows import item, span
from ..vocabulary import IS_SHORT, POSITIVES
from .joint import NOTHING
from .members import pick
from .rules import violates as matters

MOST = 4  # eights of outputs up to which entries are read for each, and not sorted by their columns


class Columns(NamedTuple):
    """Room for it: entries of the members that matter, sorted by columns; numbers of every output."""

    ends: np.ndarray  # (slots,) where the entries of every column end; 0 between rounds
    used: np.ndarray  # (slots,) the columns that have some
    owners: np.ndarray  # (entries,) where the pulls of the member begin that has it
    values: np.ndarray  # (entries,)
    sums: np.ndarray  # (MOST or fewer, 8 columns) d in those used, of an eight of outputs; 0 between rounds
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
                wide.used[np.uint64(used)] = slot
                used += 1
            wide.ends[slot] += 1
        if rows.bias != 0.0:
            if i == 0:
                wide.used[used] = slots - 1
                used += 1
            wide.ends[slots - 1] += 1
    for at in range(used):  # where each begins; filled, where it ends
        slot = np.uint64(wide.used[at])
        total, wide.ends[slot] = total + wide.ends[slot], total
    for i in range(few):
        rows, at = pick(block, row, block.members[begin + which[i]])
        start, stop = span(rows, at)
        for j in range(start, stop):
            slot, value = item(rows, at, j)
            entry = np.uint64(wide.ends[slot])
            wide.owners[entry], wide.values[entry] = i * width, value
            wide.ends[slot] += 1
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
        at, value = wide.owners[np.uint64(entry)], wide.values[np.uint64(entry)]
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
def move_members(space, block, scratch, row, begin, few, hyper, clock):
    """w_c += tau_c d_c of the outputs of a round that was narrowed down: member by member, by eights."""
    part, eights = scratch.part, scratch.part.eights
    count = eights[eights.size - 1]
    for i in range(few):
        for k in range(count):
            lanes.store(part.line, eights[k], lanes.nothing())
        for c in range(hyper.here):
            part.line[part.outputs[c]] = scratch.wide.steps[c] * scratch.pulls[i, c]
        rows, at = pick(block, row, block.members[begin + scratch.which[i]])
        add_eights(rows, at, space.weights, eights, count, part.line, 1.0)
        if space.drift.size:
            add_eights(rows, at, space.drift, eights, count, part.line, float(clock))


@part
def measure(wide, pulls, used, eights):
    """|d_c|^2 for four eights of outputs."""
    a, b, c, d = eights
    one, two, three, four = lanes.nothing(), lanes.nothing(), lanes.nothing(), lanes.nothing()
    first = 0
    for at in range(used):
        stop = wide.ends[np.uint64(wide.used[at])]
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
def add_entry(wide, pulls, sums, slot, value, at, used):
    """An entry of a member into d of its column; how many columns are used now. (See `sum_entries`.)"""
    place = wide.ends[np.uint64(slot)]
    if place == 0:
        wide.used[np.uint64(used)] = slot
        used += 1
        wide.ends[np.uint64(slot)] = place = used
    total = lanes.load(sums, 8 * place - 8)
    lanes.store(sums, 8 * place - 8, lanes.plus_times(total, lanes.load(pulls, at), value))
    return used


@part
def sum_entries(wide, block, pulls, sums, which, row, begin, few, slots, width, group, used):
    """d_c of one eight of outputs in every column, in the order of `sort_entries`, which is spared; how many.

    `ends` says which of the columns used it is, counted from 1; another eight may have found them already.
    """
    for i in range(few):
        rows, at = pick(block, row, block.members[begin + which[i]])
        start, stop = span(rows, at)
        for j in range(start, stop):
            slot, value = item(rows, at, j)
            used = add_entry(wide, pulls, sums, np.int64(slot), value, i * width + group, used)
        if rows.bias != 0.0:
            used = add_entry(wide, pulls, sums, slots - 1, rows.bias, i * width + group, used)
    return used


@part
def measure_sums(wide, sums, used, group):
    """|d_c|^2 for one eight of outputs."""
    total = lanes.nothing()
    for at in range(used):
        one = lanes.load(sums, 8 * at)
        total = lanes.plus_product(total, one, one)
    lanes.store(wide.lengths, group, total)


@part
def add_sums(array, at, group, steps, sums, place):
    """array += steps * d of a column, for one eight of outputs."""
    one = lanes.plus_product(lanes.load(array, at + group), lanes.load(steps, group), lanes.load(sums, place))
    lanes.store(array, at + group, one)


@part
def find_steps(wide, hyper, clock):
    """tau of every output, from <w, d> and |d|^2; |w' - w|, or -1 where nothing moves."""
    length, moves = 0.0, False
    for c in range((hyper.here + 7) // 8 * 8):
        tau = 0.0
        if wide.lengths[c] > NOTHING * wide.reach[c] * wide.reach[c]:  # otherwise d = 0 but for rounding
            tau = max(0.0, min(hyper.C, (wide.asked[c] - wide.inner[c]) / wide.lengths[c]))
        length += tau * tau * wide.lengths[c]
        moves |= tau != 0.0
        wide.steps[c], wide.dated[c] = tau, tau * clock
    return math.sqrt(length) if moves else -1.0


@part
def step_few(space, block, scratch, row, begin, few, active, hyper, clock):
    """`step_together` where few eights of outputs are pulled: each entry is read once for each of them."""
    wide, width, used = scratch.wide, scratch.pulls.shape[1], 0
    pulls = scratch.pulls.reshape(scratch.pulls.size)
    slots = space.weights.shape[0]
    for k in range(active):
        group, sums = wide.groups[k], wide.sums[k]
        used = sum_entries(
            wide, block, pulls, sums, scratch.which, row, begin, few, slots, width, group, used
        )  # fmt: skip
        measure_sums(wide, sums, used, group)
    taken = find_steps(wide, hyper, clock)
    weights, drift = space.weights.reshape(space.weights.size), space.drift.reshape(space.drift.size)
    moves = taken >= 0.0 and not hyper.rivals
    for k in range(active):
        group, sums = wide.groups[k], wide.sums[k]
        for at in range(used):
            slot, place = wide.used[np.uint64(at)], 8 * at
            if moves:
                add_sums(weights, slot * width, group, wide.steps, sums, place)
                if drift.size:
                    add_sums(drift, slot * width, group, wide.dated, sums, place)
            lanes.store(sums, place, lanes.nothing())
    for at in range(used):
        wide.ends[np.uint64(wide.used[np.uint64(at)])] = 0
    if taken >= 0.0 and hyper.rivals:
        move_members(space, block, scratch, row, begin, few, hyper, clock)
    return taken


@part
def step_together(space, block, scratch, row, begin, count, few, hyper, clock):
    """Moves the weights of every output by its joint step; |w' - w|, or -1 where nothing moves."""
    wide, width = scratch.wide, scratch.pulls.shape[1]
    pull_all(scratch, count, few, hyper)
    active = active_groups(wide, hyper.here)
    if active <= wide.sums.shape[0]:
        return step_few(space, block, scratch, row, begin, few, active, hyper, clock)
    pulls = scratch.pulls.reshape(scratch.pulls.size)
    used = sort_entries(wide, block, scratch.which, row, begin, few, space.weights.shape[0], width)
    for k in range(0, active, 4):
        measure(wide, pulls, used, four_groups(wide, k, active))
    taken = find_steps(wide, hyper, clock)
    moves = taken >= 0.0 and not hyper.rivals
    weights, drift = space.weights.reshape(space.weights.size), space.drift.reshape(space.drift.size)
    first = 0
    for at in range(used):
        slot = wide.used[at]
        stop = wide.ends[slot]
        for k in range(0, active if moves else 0, 4):
            eights = four_groups(wide, k, active)
            sums = sum_column(wide, pulls, first, stop, eights)
            add_products(weights, slot * width, eights, wide.steps, sums)
            if drift.size:
                add_products(drift, slot * width, eights, wide.dated, sums)
        wide.ends[slot], first = 0, stop
    if taken >= 0.0 and hyper.rivals:
        move_members(space, block, scratch, row, begin, few, hyper, clock)
    return taken
