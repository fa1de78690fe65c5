"""A paired learner at work, with weights; see `paired_kernel` for the one that is spelled in vectors."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from ..compiled.parts import specialise
from ..compiled.rows import Rows
from ..learn.paired import rounds as paired_rounds
from ..learn.paired.company import AUC, MAX_VIOLATORS, NAMES, RIVAL, Company, Rule, Table, table_for
from ..learn.spaces.arrays import Start, padded
from ..learn.vocabulary import NO_TRACE, Examples, Tally
from .pairing import Pairing
from .table import Row
from .weights import Model

WORST_TWO = (MAX_VIOLATORS, RIVAL)  # rules that move two members of an output, however many there are


class Paired(Model):
    """What both have: a pairing that follows the labels, and room for the largest round."""

    pairing: Pairing
    _table: Table | None = None

    def _begin_pairing(self) -> None:
        size = int(self.numbers["reservoir"])
        sets = bool(self.numbers["sets"])
        self.pairing = Pairing(self.start.outputs, sets, size)

    def _rule(self, judged: bool) -> Rule:
        return self.pairing.rule(self.numbers, judged, self._dtype() == "float32")

    @property
    def _recent(self) -> bool:
        return bool(self.numbers["sampler"] == "recent")

    def middles(self) -> np.ndarray:
        """The thresholds in force: those of `auc`, 0 for other rules."""
        used = NAMES.index(self.numbers["rule"]) == AUC and self.numbers.get("thresholds", True)
        return np.asarray(self.pairing.middle[0] if used else np.zeros(self.start.outputs))

    def _room(self, company: Company, rule: Rule) -> Table:
        """Scratch for the largest round of a block."""
        most = int(np.diff(company.starts).max(initial=1))
        few = min(most, 2) if rule.rule in WORST_TWO and rule.outputs == 1 else most
        width, slots = padded(self.start.outputs, self.start.many), self._lane()
        mine = self._table
        if (
            mine is None or len(mine.lengths) < most or len(mine.pulls) < few
            or mine.scores.shape[1] != width or len(mine.lane) != slots
        ):  # fmt: skip
            mine = self._table = table_for(most, few, width, slots)
        return mine

    def _lane(self) -> int:
        return 0

    def _dtype(self) -> str:
        return self.start.dtype

    def remember(
        self, rows: Rows, first: int, count: int, targets: np.ndarray, weights: np.ndarray, luck: np.ndarray
    ) -> None:
        """Fill the reservoirs from a block of rows, without learning."""
        examples = Examples(rows, targets, weights, luck, np.zeros(0, np.int64))
        self.pairing.company(examples, first, count, self._recent, getattr(self, "offset", 0))
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
        twin: Self = super().copy()  # type: ignore[assignment]
        twin.pairing, twin._table = self.pairing.copy(), None
        return twin

    def __getstate__(self) -> dict[str, Any]:
        return super().__getstate__() | {"pairing": self.pairing, "_table": None}

    def state(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        """What a file must hold."""
        facts, arrays = super().state()
        more, kept = self.pairing.state()
        return facts | more, arrays | kept

    def restore(self, facts: dict[str, Any], arrays: dict[str, np.ndarray]) -> None:
        """Take on a state that was written."""
        super().restore(facts, arrays)
        self.pairing.restore(facts, arrays)
        if self.pairing.pool.columns >= max(self.start.slots, 2):  # (the last slot is the constant's)
            raise ValueError("the rows of its pool are wider than its weights")

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

    def learn(self, examples: Examples, first: int, count: int, trace: np.ndarray = NO_TRACE) -> Tally:
        """A block of rounds; see `paired_rounds.learn`."""
        return self._play(examples, first, count, trace, False)

    def learn_judged(self, examples: Examples, first: int, count: int, trace: np.ndarray) -> Tally:
        """A block of rounds, answered by the averaged weights."""
        return self._play(examples, first, count, trace, True)

    def _play(self, examples: Examples, first: int, count: int, trace: np.ndarray, judged: bool) -> Tally:
        rule = self._rule(judged)
        company = self.pairing.company(examples, first, count, self._recent)
        room = self._room(company, rule)
        play = specialise(paired_rounds.learn)
        middle = self.pairing.middle
        done = play(company, self.space, rule, self.clock, room, middle, trace, first, 0, count)
        tally = Tally(*done)
        self.clock = tally.clock
        self.pairing.tidy()
        return tally

    def scores(self, rows: Any, count: int, averaged: bool) -> tuple[np.ndarray, int]:
        """Scores of rows 0 .. count - 1, less the thresholds."""
        scores, done = super().scores(rows, count, averaged)
        return scores - self.middles(), done
