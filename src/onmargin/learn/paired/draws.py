"""Balanced rounds out of a plain stream: a sample of every class is kept, and one of each is drawn.

A reservoir holds `size` rows of its class, each seen so far being in it with the same probability
(Vitter's algorithm R), or, where `recent`, the last ones. Two classes have two reservoirs, several one
each; an example with a set of labels is in the reservoir of every label it has.

A round needs several draws and has one uniform: the first draw is that uniform, every further one
follows from the one before (`further`).
"""

from __future__ import annotations

import numpy as np

from ...compiled.parts import part, specialise

ARRIVAL = -1  # among the members of a round: the example that has just come


@part
def wrapped_product(left, right):
    """left right modulo 2^64, by halves: NumPy's scalars warn where machine words wrap."""
    half, low = np.uint64(32), np.uint64(0xFFFFFFFF)
    lower = (left & low) * (right & low)
    cross = (((left >> half) * (right & low)) & low) + (((left & low) * (right >> half)) & low)
    return ((((lower >> half) + cross) & low) << half) | (lower & low)


@part
def further(uniform):
    """The next uniform in [0, 1) after this one: its 53 bits, mixed (Steele, Lea & Flood's splitmix64)."""
    bits = np.uint64(uniform * 9007199254740992.0) + np.uint64(0x9E3779B97F4A7C15)
    bits = wrapped_product(bits ^ (bits >> np.uint64(30)), np.uint64(0xBF58476D1CE4E5B9))
    bits = wrapped_product(bits ^ (bits >> np.uint64(27)), np.uint64(0x94D049BB133111EB))
    bits = bits ^ (bits >> np.uint64(31))
    return np.float64(bits >> np.uint64(11)) / 9007199254740992.0


@part
def belongs(marks, t, group, two):
    """Is example t of this class? Two classes have one column of marks."""
    if two:
        return marks[t, 0] == group
    return marks[t, group] == 1


@part
def is_new(members, first, stop, row):
    """Is the row not among members first .. stop - 1?"""
    for j in range(first, stop):
        if members[j] == row:
            return False
    return True


@specialise
def draw_rounds(marks, weights, luck, recent, base, kept, out):
    """Members of the rounds of a block, and who enters the reservoirs.

    `kept` is (slots, seen): pool rows, (classes, size), and how many of each class came; both move on.
    `out` is (members, starts, arrivals, entering): pool rows, or ARRIVAL; where each round's begin; the
    arrival's place in it; positions that enter the pool, whose rows are `base`, `base` + 1, ... there;
    the class each member was drawn for. Returns how many entered. A round of weight 0 has the arrival
    alone, which nobody keeps. A row is in a round once; where classes are wanted, once for each of them.
    """
    slots, seen = kept
    members, starts, arrivals, entering, classes = out
    groups, size = slots.shape
    two = groups > marks.shape[1]
    total = entered = 0
    for t in range(marks.shape[0]):
        starts[t] = total
        arrivals[t] = -1
        if weights.size and weights[t] <= 0.0:
            members[total], arrivals[t] = ARRIVAL, 0
            total += 1
            continue
        uniform = luck[t]
        for place in range(groups):
            group = groups - 1 - place if two else place  # of two, the positive first
            if belongs(marks, t, group, two):
                if arrivals[t] < 0:
                    arrivals[t] = total - starts[t]
                    members[total] = ARRIVAL
                    total += 1
            elif seen[group] > 0:
                row = slots[group, np.int64(uniform * min(seen[group], size))]
                uniform = further(uniform)
                if classes.size:
                    classes[total] = group
                if classes.size or is_new(members, starts[t], total, row):
                    members[total] = row
                    total += 1
        if arrivals[t] < 0:  # an empty set of labels
            arrivals[t] = total - starts[t]
            members[total] = ARRIVAL
            total += 1
        fresh = True
        for group in range(groups):
            if belongs(marks, t, group, two):
                slot = seen[group]
                seen[group] += 1
                if recent:
                    slot = slot % size
                elif slot >= size:
                    slot = np.int64(uniform * seen[group])
                    uniform = further(uniform)
                if slot < size:
                    if fresh:
                        entering[entered] = t
                        entered += 1
                        fresh = False
                    slots[group, slot] = base + entered - 1
    starts[marks.shape[0]] = total
    return entered


@specialise
def draw_pairs(queries, visits, luck, members):
    """A uniform pair for every round: visits[t] is the query of round t; (better, worse) go to members."""
    rows, bounds, _, before = queries
    for t in range(visits.size):
        low, high = bounds[visits[t]], bounds[visits[t] + 1]
        begin = before[low]
        number = begin + np.int64(luck[t] * (before[high] - begin))
        first = low
        while high - low > 1:  # the last place whose pairs begin at or before the number
            middle = (low + high) >> 1
            if before[middle] <= number:
                low = middle
            else:
                high = middle
        members[2 * t] = rows[low]
        members[2 * t + 1] = rows[first + number - before[low]]
    return visits.size
