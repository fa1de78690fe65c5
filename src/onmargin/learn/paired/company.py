"""What the loop of paired rounds is handed: who meets whom, by which rule, and room to work."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..spaces.arrays import aligned

DCA, SEQUENTIAL, AUC, MAX_VIOLATORS, CORRECT_MISTAKES, RIVAL = range(6)
NAMES = ("dca", "sequential", "auc", "max_violators", "correct_mistakes", "rival")
PA, PA1, PA2, PERCEPTRON = range(4)  # steps against a rival
STEPS = ("pa", "pa1", "pa2", "perceptron")
ONE, CLASSES, SETS = range(3)  # what an answer is: a sign, the highest output, all outputs above 0


class Company(NamedTuple):
    """A block of rounds. Members are rows of the pool, or ARRIVAL: the row at hand."""

    rows: Any
    pool: Any
    marks: np.ndarray  # (rounds, outputs) of the arrivals: 1 for the labels it has
    pool_marks: np.ndarray  # (lines, outputs) of the others
    weights: np.ndarray  # (rounds,) or empty: 1
    pool_weights: np.ndarray  # (lines,) or empty: 1
    order: np.ndarray  # (rounds,) row numbers, or empty: first, first + 1, ...
    members: np.ndarray
    lines: np.ndarray  # of every member: where its marks and weight are
    starts: np.ndarray  # (rounds + 1,) where each round's members begin
    own: np.ndarray  # (rounds,) the arrival's place among them


class Rule(NamedTuple):
    """What was chosen."""

    rule: int
    step: int
    C: float
    margin: float
    grain: float  # a loss that is rounding
    outputs: int
    kind: int
    judged: bool  # answers are the averages'


class Table(NamedTuple):
    """Scratch for the largest round: a line per member; of the few that matter, what a rule wants."""

    scores: np.ndarray  # (members, outputs)
    signs: np.ndarray  # (members, outputs) +1 or -1
    lengths: np.ndarray  # (members,) |x|^2
    heft: np.ndarray  # (members,) weights
    stats: np.ndarray  # (6, outputs) what is known of a round: see `choices`
    which: np.ndarray  # (2 members,) places of the few; and among them, of those that matter to one output
    pulls: np.ndarray  # (few, outputs)
    grams: np.ndarray  # (2, few * few) inner products; the same with an output's signs
    numbers: np.ndarray  # (3, few) margins, weights, alphas: see `paired`
    flags: np.ndarray  # (2, few) chosen, positive
    lane: np.ndarray  # one number per slot of the weights, 0 between uses
    held: np.ndarray  # (outputs,)


def table_for(most: int, few: int, width: int, slots: int) -> Table:
    """Room for rounds of so many members, of whom so many matter."""
    return Table(
        aligned((most, width), float), np.zeros((most, width), np.int8), np.zeros(most), np.zeros(most),
        np.zeros((6, width)), np.zeros(2 * most, np.int64), aligned((few, width), float),
        np.zeros((2, few * few)), np.zeros((3, few)), np.zeros((2, few), bool), np.zeros(slots),
        aligned((max(width, 8),), float),
    )  # fmt: skip
