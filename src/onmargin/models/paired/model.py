"""Paired learners at work: what both have, and the one with weights (`paired_kernel`: with vectors)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Self

import numpy as np

from ...compiled.rows import Rows
from ...learn.paired.members import WITH_WEIGHTS
from ...learn.paired.rivals import Part as RoundPart
from ...learn.paired.rounds import AT_ONCE, PairedHyper, PairedRounds, Scratch, player
from ...learn.paired.rules import RULES, is_worst, worst_violates
from ...learn.paired.together import MOST, Columns
from ...learn.spaces.arrays import Start, aligned, padded
from ...learn.vocabulary import IS_SHORT, NO_TRACE, THRESHOLD, Examples, Tally
from ..layout import Arrays, Facts, Layout
from ..merging import Merging
from ..table import Row
from ..weights import Model, Numbers
from .pairing import Given, Pairing, most_entries

# Rules that move two members of an output, however many there are.
WORST_TWO = [name for name, rule in RULES.items() if rule["matters"] in (is_worst, worst_violates)]


def columns_for(width: int, slots: int, entries: int) -> Columns:
    """Room for steps of many outputs at once, on members with so many entries together (0: none are made)."""
    if not entries:
        width = slots = 0
    ends, used, owners, groups = (np.zeros(n, np.int64) for n in (slots, slots, entries, width // 8))
    sums = aligned((min(width // 8, MOST), 8 * min(slots, entries)), float)
    return Columns(ends, used, owners, np.zeros(entries), sums, groups, *aligned((6, width), float))


def part_for(width: int) -> RoundPart:
    """Room for the outputs of a round; as it is, all of them."""
    return RoundPart(np.arange(width), np.zeros(width // 8 + 1, np.int64), aligned((max(width, 8),), float))


def scratch_for(most: int, few: int, width: int, slots: int, entries: int) -> Scratch:
    """Room for rounds of so many members, of whom so many matter."""
    return Scratch(
        aligned((most, width), float), np.zeros((most, width), np.int8), np.zeros(most), np.zeros(most),
        np.zeros((IS_SHORT + 1, width)), np.zeros(2 * most, np.int64), aligned((few, width), float),
        np.zeros(few * few), np.zeros(few * few), np.zeros(few), np.zeros(few), np.zeros(few),
        np.zeros(few, bool), np.zeros(few, bool), np.zeros(slots), aligned((max(width, 8),), float),
        columns_for(width, slots, entries), part_for(width),
    )  # fmt: skip


class Paired(Model):
    """What both have: a pairing that follows the labels, and room for the largest round."""

    pairing: Pairing
    may_share = False  # (reservoirs; and rounds reach rows of the past)
    pairs = True
    _scratch: Scratch | None = None

    def _begin_pairing(self) -> None:
        size = int(self.numbers["reservoir"])
        sets = bool(self.numbers["sets"])
        self.pairing = Pairing(self.start.outputs, sets, size)

    @property
    def rule(self) -> str:
        """Its name among `rules.RULES`."""
        rule = str(self.numbers["rule"])
        return f"rival_{self.numbers['step']}" if rule == "rival" else rule

    def _hyper(self, judged: bool) -> PairedHyper:
        return self.pairing.hyper(self.numbers, judged, self._dtype() == "float32")

    @property
    def longest_step(self) -> float:
        """C, as the next round has it."""
        return self.pairing.longest(self.numbers)

    @property
    def _rivals(self) -> int:
        return self.pairing.rivals(self.numbers)

    @property
    def _recent(self) -> bool:
        return bool(self.numbers["sampler"] == "recent")

    @property
    def thresholds(self) -> np.ndarray:
        """The thresholds in force: those of `auc`, 0 for other rules."""
        used = self.rule == "auc" and self.numbers.get("thresholds", True)
        return np.asarray(self.pairing.middle[THRESHOLD] if used else np.zeros(self.start.outputs))

    @contextmanager
    def given(self, rounds: Given) -> Iterator[None]:
        """Play these rounds, which are known in advance."""
        self.pairing.given = rounds
        try:
            yield
        finally:
            self.pairing.given = None

    def merge(self, others: Sequence[Model], shares: np.ndarray, how: Merging) -> None:
        """The mean of models, their thresholds too; the reservoirs stay its own."""
        super().merge(others, shares, how)
        middles = [other.pairing.middle for other in others if isinstance(other, Paired)]
        self.pairing.middle[...] = np.average(middles, axis=0, weights=shares)

    def _room(self, block: PairedRounds, first: int = 0) -> Scratch:
        """Scratch for the largest round of a block."""
        starts = block.starts
        most = int(np.diff(starts).max(initial=1)) if len(starts) != 2 else max(int(starts[1] - starts[0]), 1)
        most = min(most, self._rivals + 1) if self._rivals else most
        few = min(most, 2) if self.rule in WORST_TWO and self.start.outputs == 1 else most
        width, slots = padded(self.start.outputs, self.start.many), self._lane()
        entries = self._entries_of(block, first)
        mine = self._scratch
        if (
            mine is None or len(mine.lengths) < most or len(mine.pulls) < few
            or mine.scores.shape[1] != width or len(mine.lane) != slots
            or len(mine.wide.values) < entries
        ):  # fmt: skip
            mine = self._scratch = scratch_for(most, few, width, slots, entries)
        return mine

    def _lane(self) -> int:
        return 0

    def _entries_of(self, block: PairedRounds, first: int) -> int:
        """The most entries that a round's members have together, where a step of all outputs wants room."""
        return 0

    def _dtype(self) -> str:
        return self.start.dtype

    def remember(
        self, rows: Rows, first: int, count: int, targets: np.ndarray, weights: np.ndarray, luck: np.ndarray
    ) -> None:
        """Fill the reservoirs from a block of rows, without learning."""
        examples = Examples(rows, targets, weights, luck, np.zeros(0, np.int64))
        self.pairing.rounds(examples, first, count, self._recent, 0, getattr(self, "offset", 0))
        self.pairing.tidy()

    def turn(self) -> None:
        """See the one row from the other class."""
        super().turn()
        self.pairing.turn()

    def split(self, row: Row, outputs: int, halves: tuple[int, int]) -> None:
        """From one row for two classes to one row a class."""
        super().split(row, outputs, halves)
        self.pairing.split(outputs, halves)

    def rearrange(self, outputs: int, sources: list[int]) -> None:
        """More outputs."""
        super().rearrange(outputs, sources)
        self.pairing.rearrange(outputs, sources)

    def copy(self) -> Self:
        """The same state in arrays of its own."""
        twin = super().copy()
        twin.pairing, twin._scratch = self.pairing.copy(), None
        return twin

    def for_round(self) -> Self:
        """A copy for one round, which takes over from this one or is given up: kept rows are not copied."""
        twin = super().for_round()
        if self.asking is None:
            twin.pairing = self.pairing.for_round()
        return twin

    def __getstate__(self) -> dict[str, Any]:
        return super().__getstate__() | {"pairing": self.pairing, "_scratch": None}

    def state(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        """What a file must hold."""
        facts, arrays = super().state()
        more, kept = self.pairing.state()
        return facts | more, arrays | kept

    @classmethod
    def file_layout(cls, row: Row, start: Start, numbers: Numbers, facts: Facts, arrays: Arrays) -> Layout:
        """The arrays that a file must hold, those of the reservoirs among them."""
        wanted = super().file_layout(row, start, numbers, facts, arrays)
        return wanted | Pairing.layout(start.outputs, numbers, facts, arrays)

    def restore(self, facts: Facts, arrays: Arrays) -> None:
        """Take on a state that was written, and that fits the layout."""
        super().restore(facts, arrays)
        self.pairing.restore(facts, arrays)

    @property
    def entries(self) -> int:
        """How many numbers the state holds: what a copy costs."""
        return super().entries + self.pairing.pool.entries


class PairedModel(Paired):
    """Weights."""

    def __init__(self, row: Row, start: Start, choices: dict[str, Any]) -> None:
        super().__init__(row, start, choices)
        self._begin_pairing()

    def _lane(self) -> int:
        return self.start.slots

    def _entries_of(self, block: PairedRounds, first: int) -> int:
        """The most entries that a round's members have together, where a step of all outputs wants room."""
        return most_entries(block, first, self._rivals) if self.steps_together else 0

    @property
    def steps_together(self) -> bool:
        """Does a step of all outputs want room for the entries of a round's members?"""
        return self.start.many and self.rule in AT_ONCE

    def learn(self, examples: Examples, first: int, count: int, trace: np.ndarray = NO_TRACE) -> Tally:
        """A block of rounds; see `paired.rounds.learn`."""
        return self._play(examples, first, count, trace, False)

    def learn_judged(self, examples: Examples, first: int, count: int, trace: np.ndarray) -> Tally:
        """A block of rounds, answered by the averaged weights."""
        return self._play(examples, first, count, trace, True)

    def _play(self, examples: Examples, first: int, count: int, trace: np.ndarray, judged: bool) -> Tally:
        block = self.pairing.rounds(examples, first, count, self._recent, self._rivals)
        play, hyper, room = player(self.rule, WITH_WEIGHTS), self._hyper(judged), self._room(block, first)
        middle = self.pairing.middle
        tally = Tally(*play(block, self.space, hyper, self.clock, room, middle, trace, first, 0, count))
        self.clock = tally.clock
        self.pairing.tidy()
        return tally

    def scores(self, rows: Any, count: int, averaged: bool) -> tuple[np.ndarray, int]:
        """Scores of rows 0 .. count - 1, less the thresholds."""
        scores, done = super().scores(rows, count, averaged)
        return scores - self.thresholds, done
