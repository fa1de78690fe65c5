"""Reservoirs and their draws: uniform, independent, reproducible. Seeds are fixed, so are the answers."""

from __future__ import annotations

import itertools
from typing import NamedTuple

import numpy as np
import pytest
from numba import njit
from scipy.stats import chi2, chi2_contingency

from onmargin.learn.paired.draws import ARRIVAL, draw_rounds
from onmargin.learn.paired.draws import further as further_part

from .. import oracles_paired

UNLIKELY = 1e-3  # a probability that a fair draw falls below once in a thousand seeds


class Drawn(NamedTuple):
    """Rounds as lists, the positions that entered, and the reservoirs afterwards."""

    rounds: list
    own: np.ndarray
    entering: np.ndarray
    slots: np.ndarray
    seen: np.ndarray


def drawn(marks, luck, size, recent=False, weights=None, start=None, base=0):
    """What `draw_rounds` makes of a block; `start` is (slots, seen) before it."""
    marks = np.ascontiguousarray(marks, np.int8)
    count, groups = len(marks), max(marks.shape[1], 2)
    slots, seen = start or (np.full((groups, size), -1), np.zeros(groups, np.int64))
    slots, seen = slots.astype(np.int64), seen.astype(np.int64)
    out = tuple(np.zeros(length, np.int64) for length in (count * (groups + 1), count + 1, count, count))
    out = (*out, np.zeros(0, np.int32))
    weights = np.zeros(0) if weights is None else weights
    entered = draw_rounds(marks, weights, luck, recent, base, (slots, seen), out)
    rounds = [out[0][a:b].tolist() for a, b in itertools.pairwise(out[1])]
    return Drawn(rounds, out[2], out[3][:entered], slots, seen)


def fair(counts):
    """Is it likely that all of these are as probable?"""
    counts = np.ravel(counts)
    return chi2.sf(np.sum((counts - counts.mean()) ** 2) / counts.mean(), counts.size - 1) > UNLIKELY


def full(groups, size):
    """Reservoirs with rows 0 .. size - 1, size .. 2 size - 1, and so on, `size` of each class seen."""
    return np.arange(groups * size).reshape(groups, size), np.full(groups, size)


@pytest.mark.parametrize("company", [False, True], ids=["alone", "with another class"])
def test_every_example_is_kept_with_the_same_probability(company):
    """m of n: the counts vary as those of samples without replacement; draws for a round come first."""
    draw, runs, count, size = np.random.default_rng(1 + company), 3000, 24, 5
    marks = np.ones((count * (1 + company), 1))
    if company:
        marks[::2] = 0
    kept = np.zeros(len(marks))
    for _ in range(runs):
        found = drawn(marks, draw.random(len(marks)), size)
        kept[found.entering[found.slots[1]]] += 1
    kept = kept[marks[:, 0] == 1]
    share = size / count
    assert kept.sum() == runs * size
    statistic = np.sum((kept - runs * share) ** 2) / (runs * share * (1 - share)) * (count - 1) / count
    assert UNLIKELY < chi2.sf(statistic, count - 1) < 1 - UNLIKELY


def test_an_example_takes_any_slot():
    """Of those that replace another: each slot alike; the n-th enters with probability m / n."""
    draw, size = np.random.default_rng(3), 5
    slots, entered = np.zeros(size), 0
    for _ in range(4000):
        kept, seen = full(2, size)
        found = drawn([[1]], draw.random(1), size, start=(kept, np.array([0, 2 * size - 1])), base=99)
        slots += found.slots[1] == 99
        entered += len(found.entering)
    assert fair(slots) and abs(entered - 2000) < 4 * np.sqrt(1000)


def test_partners_are_drawn_uniformly():
    draw, size = np.random.default_rng(4), 7
    found = drawn(np.ones((7000, 1)), draw.random(7000), size, start=full(2, size))
    partners = [members[1] for members in found.rounds]
    assert all(members[0] == ARRIVAL and len(members) == 2 for members in found.rounds)
    assert fair(np.bincount(partners, minlength=size)[:size])
    before, after = np.array(partners[:-1]), np.array(partners[1:])
    table = np.histogram2d(before, after, bins=size)[0]
    assert chi2_contingency(table).pvalue > UNLIKELY


def test_a_part_of_a_reservoir_is_drawn_from_where_it_is_not_full():
    found = drawn([[0], [0], [1]], np.array([0.1, 0.2, 0.99]), 50)
    assert found.rounds == [[ARRIVAL], [ARRIVAL], [ARRIVAL, 1]]


def test_draws_of_one_round_are_independent():
    """For three other classes: all pairs, and all three together, from one uniform a round."""
    draw, size, count = np.random.default_rng(5), 5, 12_000
    marks = np.zeros((count, 4))
    marks[:, 1] = 1
    found = drawn(marks, draw.random(count), size, start=full(4, size))
    members = np.array([np.delete(line, 1) for line in found.rounds]) - np.array([0, 2, 3]) * size
    assert (found.own == 1).all() and members.min() == 0 and members.max() == size - 1
    for i, j in itertools.combinations(range(3), 2):
        table = np.histogram2d(members[:, i], members[:, j], bins=size)[0]
        assert fair(table) and chi2_contingency(table).pvalue > UNLIKELY
    assert fair(np.bincount(members @ [size**2, size, 1], minlength=size**3))


def test_who_is_drawn_does_not_say_who_is_kept():
    """The partner against the slot that the arrival takes (or none)."""
    draw, size = np.random.default_rng(6), 4
    table = np.zeros((size, size + 1))
    for _ in range(6000):
        kept, _ = full(2, size)
        found = drawn([[1]], draw.random(1), size, start=(kept, np.array([size, 2 * size - 1])), base=99)
        taken = np.flatnonzero(found.slots[1] == 99)
        table[found.rounds[0][1], taken[0] if taken.size else size] += 1
    assert chi2_contingency(table).pvalue > UNLIKELY
    assert fair(table[:, :size]) and fair(table.sum(axis=1))


@njit
def further(uniform):
    """Parts are compiled into loops only."""
    return further_part(uniform)


def test_further_uniforms_are_uniform_and_independent():
    """After uniforms of a generator, and along a chain of their own."""
    first = np.random.default_rng(7).random(20_000)
    second = np.array([further(u) for u in first])
    third = np.array([further(u) for u in second])
    chain = [0.5]
    while len(chain) < 20_000:
        chain.append(further(chain[-1]))
    chain = np.array(chain)
    for one, two in ((first, second), (second, third), (first, third), (chain[:-1], chain[1:])):
        assert two.min() >= 0 and two.max() < 1 and fair(np.histogram(two, 64, (0, 1))[0])
        table = np.histogram2d(one, two, 12, [(0, 1), (0, 1)])[0]
        assert fair(table) and abs(np.corrcoef(one, two)[0, 1]) < 4 / np.sqrt(len(one))
    assert len(set(chain.tolist())) == len(chain)


def test_further_is_splitmix64():
    """Bit for bit, also at the ends of the range; its first number from 0 is known."""
    for u in (0.0, 2.0**-53, 0.5, 1 - 2.0**-53, *np.random.default_rng(8).random(200)):
        assert further(u) == oracles_paired.further(u)
    assert further(0.0) == (0xE220A8397B1DCDAF >> 11) / 2**53


@pytest.mark.parametrize("recent", [False, True])
def test_rounds_are_those_of_the_oracle_however_they_are_cut(recent):
    """Label sets, some empty: who meets whom, where the arrival stands, who is kept."""
    draw, size = np.random.default_rng(9), 3
    marks, luck = draw.random((200, 4)) < 0.3, draw.random(200)
    whole = drawn(marks, luck, size, recent)
    oracle = oracles_paired.Reservoirs(4, size, recent)
    for t, (line, own) in enumerate(zip(whole.rounds, whole.own, strict=True)):
        wanted = oracle.round(t, set(np.flatnonzero(marks[t])), range(4), luck[t])
        assert [t if row == ARRIVAL else whole.entering[row] for row in line] == wanted
        assert line[own] == ARRIVAL
    assert whole.entering[whole.slots].tolist() == oracle.kept and whole.seen.tolist() == oracle.seen
    first = drawn(marks[:77], luck[:77], size, recent)
    rest = drawn(
        marks[77:], luck[77:], size, recent, start=(first.slots, first.seen), base=len(first.entering)
    )
    assert first.rounds + rest.rounds == whole.rounds
    np.testing.assert_array_equal(rest.slots, whole.slots)


@pytest.mark.parametrize("size", [1, 4, 9])
def test_a_ring_keeps_exactly_the_last(size):
    """Of every class, whatever is drawn."""
    draw = np.random.default_rng(10)
    marks = draw.random((90, 3)) < 0.4
    for stop in (5, 30, 90):
        found = drawn(marks[:stop], draw.random(stop), size, recent=True)
        for group in range(3):
            held = found.slots[group][found.slots[group] >= 0]
            assert set(found.entering[held]) == set(np.flatnonzero(marks[:stop, group])[-size:])


def test_weights_of_0_are_neither_drawn_for_nor_kept():
    draw = np.random.default_rng(11)
    marks, luck, weights = draw.random((120, 1)) < 0.3, draw.random(120), draw.random(120)
    weights[draw.random(120) < 0.4] = 0.0
    seen = weights > 0
    found, fewer = drawn(marks, luck, 4, weights=weights), drawn(marks[seen], luck[seen], 4)
    assert [line for line, here in zip(found.rounds, seen, strict=True) if here] == fewer.rounds
    assert all(line == [ARRIVAL] for line, here in zip(found.rounds, seen, strict=True) if not here)
    np.testing.assert_array_equal(found.entering, np.flatnonzero(seen)[fewer.entering])
    np.testing.assert_array_equal(found.seen, fewer.seen)
