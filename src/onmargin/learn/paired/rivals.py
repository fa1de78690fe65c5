"""Rounds where there are many classes: the example, and one of each of its nearest rivals.

A round of one example per class costs as much as there are classes, and nearly all of them have nothing to
say: the example at hand lies far on the right side of them. Its rivals are the classes that it does not have
and scores highest in, as far as it lies within their margin (where scores are compared: the highest). Only
classes that are in the round are moved: a class whose examples are all on one side would forget the other.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from ...compiled.parts import part
from ..vocabulary import THRESHOLD


class Part(NamedTuple):
    """The outputs of a round. Where it is not narrowed down they are all there, and this is not touched."""

    outputs: np.ndarray  # (outputs,) which they are
    eights: np.ndarray  # (outputs / 8 + 1,) where the eights begin that have some; at the end, how many
    line: np.ndarray  # (outputs,) room for one number of every output


@part
def find_rivals(classes, scores, middle, begin, count, arrival, bar, places, most):
    """The places of the members drawn for the highest scores above the bar, from the highest on; how many.

    Of equal scores the earlier class counts as the higher.
    """
    found = 0
    for j in range(count):
        c = classes[begin + j]
        value = scores[c] - middle[THRESHOLD, c]
        if j == arrival or value <= bar:
            continue
        at = found
        while at > 0:
            other = classes[begin + places[at - 1]]
            if scores[other] - middle[THRESHOLD, other] >= value:
                break
            if at < most:
                places[at] = places[at - 1]
            at -= 1
        if at < most:
            places[at] = j
            found = min(found + 1, most)
    return found


@part
def narrow(block, scores, middle, begin, count, arrival, compared, places, hyper):
    """The round becomes the example, then one member of each of its rivals; how many they are.

    `scores` are the example's. A member that was drawn for several rivals counts once.
    """
    members = block.members
    bar = -math.inf if compared else hyper.grain - hyper.margin
    found = find_rivals(
        block.classes, scores, middle, begin, count, arrival, bar, places, hyper.rivals
    )  # fmt: skip
    for i in range(found):
        places[i] = members[begin + places[i]]
    members[begin] = members[begin + arrival]
    size = 1
    for i in range(found):
        fresh = True
        for j in range(1, size):
            fresh &= members[begin + j] != places[i]
        if fresh:
            members[begin + size] = places[i]
            size += 1
    return size


@part
def find_outputs(block, part, begin, count, t, outputs, line):
    """The outputs whose class some member of the round has; how many. `line` is room for a mark of each."""
    for c in range(outputs):
        line[c] = block.marks[t, c]
    for j in range(1, count):
        other = block.lines[begin + j]
        for c in range(outputs):
            line[c] |= block.pool_marks[other, c]
    found = eights = 0
    for c in range(outputs):
        if line[c] == 1:
            if eights == 0 or c >= part.eights[eights - 1] + 8:
                part.eights[eights] = c - c % 8
                eights += 1
            part.outputs[found] = c
            found += 1
    part.eights[part.eights.size - 1] = eights
    return found


@part
def spread(pulls, part, count):
    """Pulls of the outputs of a round as pulls of all, in the line."""
    for c in range(part.line.shape[0]):
        part.line[c] = 0.0
    for i in range(count):
        part.line[part.outputs[i]] = pulls[i]
