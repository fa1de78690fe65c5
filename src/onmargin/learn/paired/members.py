"""How the members of a paired round are scored, compared and moved by: with weights, and with vectors.

With weights a member is a row of the pool, or (ARRIVAL) the row at hand; with vectors every member is a
vector of the block, whose scores are kept up to date.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...compiled.outputs import add_rows, add_scores, score_eights, score_rows
from ...compiled.parts import Part, part
from ...compiled.rows import axpy, dot, item, span


@part
def pick(block, row, member):
    """Where the member lies. Table and pool have one type, so that all below is compiled once."""
    if member < 0:
        return block.rows, row
    return block.pool, member


@part
def score(space, block, row, member, scores):
    """scores[c] = <w_c, x>; |x|^2"""
    rows, at = pick(block, row, member)
    return score_rows(rows, at, space.weights, scores)


@part
def score_some(space, block, row, member, part, count, scores):
    """scores[i] = <w_c, x> of the `count` outputs c that are in a round; |x|^2"""
    rows, at = pick(block, row, member)
    eights = part.eights
    length = score_eights(rows, at, space.weights, eights, eights[eights.size - 1], part.line)
    for i in range(count):
        scores[i] = part.line[part.outputs[i]]
    return length


@part
def mean(space, block, row, member, scores, clock):
    """From the scores of w to those of the average."""
    if space.drift.size:
        add_scores(block.rows, row, space.drift, scores, -1.0 / max(clock, 1))


@part
def wipe(rows, row, lane):
    """Zeros where the row has entries."""
    start, stop = span(rows, row)
    for j in range(start, stop):
        slot, _ = item(rows, row, j)
        lane[slot] = 0.0
    lane[lane.shape[0] - 1] = 0.0


@part
def sum_up(rows, row, lane):
    """The sum of squares of what the lane holds where the row has entries; zeros are left behind."""
    start, stop = span(rows, row)
    total = 0.0
    for j in range(start, stop):
        slot, _ = item(rows, row, j)
        total += lane[slot] * lane[slot]
        lane[slot] = 0.0
    lane[lane.shape[0] - 1] = 0.0  # the constant coordinate cancels
    return total


@part
def apart(space, block, scratch, row, first, second):
    """|x - x'|^2 of two members, entry by entry."""
    rows, at = pick(block, row, first)
    others, there = pick(block, row, second)
    axpy(rows, at, scratch.lane, 1.0)
    axpy(others, there, scratch.lane, -1.0)
    return sum_up(rows, at, scratch.lane) + sum_up(others, there, scratch.lane)


@part
def inner(space, block, scratch, row, begin, few):
    """The Gram matrix of the few that matter: each is spread out once, the later ones read it."""
    for i in range(few):
        rows, at = pick(block, row, block.members[begin + scratch.which[i]])
        scratch.gram[i * few + i] = scratch.lengths[scratch.which[i]]
        if i + 1 < few:
            axpy(rows, at, scratch.lane, 1.0)
            for k in range(i + 1, few):
                others, there = pick(block, row, block.members[begin + scratch.which[k]])
                value, _ = dot(others, there, scratch.lane)
                scratch.gram[i * few + k] = scratch.gram[k * few + i] = value
            wipe(rows, at, scratch.lane)


@part
def move(space, block, row, member, pull, clock):
    """w_c += pull[c] x"""
    rows, at = pick(block, row, member)
    add_rows(rows, at, space.weights, pull, 1.0)
    if space.drift.size:
        add_rows(rows, at, space.drift, pull, float(clock))


class Coefficients(NamedTuple):
    """What a block has added, per vector and output."""

    weights: np.ndarray
    drift: np.ndarray  # the same, dated; empty: no average wanted
    turns: np.ndarray  # (vectors + 1,) 1 for the first to be moved by, 2 for the next; at the end, how many


class BlockVectors(NamedTuple):
    """The vectors of a block."""

    sums: np.ndarray  # (outputs, vectors) scores so far
    dated: np.ndarray  # the same of the drift; empty: nobody asks
    gram: np.ndarray  # (vectors, vectors)
    diagonal: np.ndarray  # (vectors,) k(x, x)


@part
def score_kept(space, block, row, member, scores):
    """scores[c] = w_c(x); k(x, x)"""
    kept = block.rows
    for c in range(kept.sums.shape[0]):
        scores[c] = kept.sums[c, member]
    return kept.diagonal[member]


@part
def score_some_kept(space, block, row, member, part, count, scores):
    """scores[i] = w_c(x) of the `count` outputs c that are in a round; k(x, x)"""
    for i in range(count):
        scores[i] = block.rows.sums[part.outputs[i], member]
    return block.rows.diagonal[member]


@part
def mean_kept(space, block, row, member, scores, clock):
    """From the scores of w to those of the average."""
    dated = block.rows.dated
    for c in range(dated.shape[0]):
        scores[c] -= dated[c, member] / max(clock, 1)


@part
def apart_kept(space, block, scratch, row, first, second):
    """k(x, x) + k(x', x') - 2 k(x, x')"""
    kept = block.rows
    return max(kept.diagonal[first] + kept.diagonal[second] - 2.0 * kept.gram[first, second], 0.0)


@part
def inner_kept(space, block, scratch, row, begin, few):
    """The Gram matrix of the few that matter."""
    for i in range(few):
        first = block.members[begin + scratch.which[i]]
        for k in range(few):
            second = block.members[begin + scratch.which[k]]
            scratch.gram[i * few + k] = block.rows.gram[first, second]


@part
def move_kept(space, block, row, member, pull, clock):
    """w_c += pull[c] k(x, .)"""
    kept, turns = block.rows, space.turns
    for c in range(kept.sums.shape[0]):
        if pull[c] != 0.0:
            if turns[member] == 0:
                turns[turns.shape[0] - 1] += 1
                turns[member] = turns[turns.shape[0] - 1]
            space.weights[member, c] += pull[c]
            for i in range(kept.gram.shape[0]):
                kept.sums[c, i] += pull[c] * kept.gram[member, i]
            if space.drift.size:
                space.drift[member, c] += clock * pull[c]
            if kept.dated.size:
                for i in range(kept.gram.shape[0]):
                    kept.dated[c, i] += clock * pull[c] * kept.gram[member, i]


WITH_WEIGHTS: dict[str, Part] = {}  # the loop as it reads
WITH_VECTORS: dict[str, Part] = {
    "score": score_kept, "score_some": score_some_kept, "mean": mean_kept, "inner": inner_kept,
    "apart": apart_kept, "move": move_kept,
}  # fmt: skip
