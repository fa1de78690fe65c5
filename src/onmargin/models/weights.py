"""A row at work: its arrays, its clock, and how they grow."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..compiled.parts import specialise
from ..learn import queries, rounds
from ..learn.spaces import arrays as storage
from ..learn.spaces import linear
from ..learn.spaces.arrays import Start, aligned, padded
from ..learn.vocabulary import KNOWN, NO_TRACE, NONE, REMEMBERED, Desk, Examples, Tally, hyper_of
from .table import Row


class Model:
    """The state of one learner. `choices` are the numbers of `Hyper` that the user sets.

    `asks`: rounds ask for their label; `recent`: rows of the last labels asked for, where they are counted
    within a window.
    """

    asks = False
    recent = NONE

    def __init__(self, row: Row, start: Start, choices: dict[str, Any]) -> None:
        self.row, self.start, self.numbers = row, start, choices
        self.space: Any = storage.build(row.space, start)
        self.memory = np.zeros(REMEMBERED)
        self.clock = 0
        self._prepare()

    def _prepare(self) -> None:
        width = max(8, padded(self.start.outputs, self.start.many))
        pulls = padded(self.start.outputs, self.start.many)
        self.desk = Desk(aligned((width,), float), aligned((pulls,), float))
        most, within = (self.numbers.get(name, math.inf) for name in ("ask_most", "ask_within"))
        room = int(most) if within < math.inf else 0
        if len(self.recent) != room:
            self.recent = np.zeros(room)
        self.hyper = hyper_of(self.numbers, self.start.outputs, self.memory, self.recent)
        numbers = self.hyper.numbers
        self.memory, self.recent = numbers[:REMEMBERED], numbers[len(numbers) - room :]

    def played(self) -> Row:
        """The row as it is played: asking for labels, with its moves counted, or plainly."""
        row = self.row
        if self.numbers.get("ask_rule") == queries.ADAPTIVE:
            row = row.counted()
        return row.asking(self.numbers["ask_rule"]) if self.asks else row

    @property
    def live(self) -> np.ndarray:
        """Features known, and 1 where the constant coordinate is in use; to be written."""
        return self.memory[KNOWN:]

    def copy(self) -> Model:
        """The same state in arrays of its own."""
        twin = object.__new__(type(self))
        twin.row, twin.start, twin.numbers = self.row, self.start, self.numbers
        twin.space, twin.clock = storage.copied(self.space), self.clock
        twin.memory, twin.recent, twin.asks = self.memory.copy(), self.recent.copy(), self.asks
        twin._prepare()
        return twin

    def __getstate__(self) -> dict[str, Any]:
        names = ("row", "start", "numbers", "space", "memory", "recent", "clock")
        return {name: getattr(self, name) for name in names}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self.space = storage.copied(self.space)
        self._prepare()

    def state(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        """What a file must hold beside start, choices and clock: facts, and arrays."""
        return {}, {name: np.asarray(array) for name, array in self.space._asdict().items()}

    def restore(self, facts: dict[str, Any], arrays: dict[str, np.ndarray]) -> None:
        """Take on a state that was written."""
        for name, array in self.space._asdict().items():
            if arrays[name].shape != array.shape or arrays[name].dtype != array.dtype:
                raise ValueError(f"the array {name!r} has the wrong shape")
            array[...] = arrays[name]

    @property
    def entries(self) -> int:
        """How many numbers the state holds: what a copy costs."""
        return sum(array.size for array in self.space)

    def choose(self, row: Row, choices: dict[str, Any]) -> None:
        """Go on with other parameters."""
        self.row, self.numbers = row, choices
        self._prepare()

    def open(self, count: int) -> None:
        """A table of so many rows comes next. (Weights do not mind; kernel learners number its rows.)"""

    def learn(self, examples: Examples, first: int, count: int, trace: np.ndarray = NO_TRACE) -> Tally:
        """A block of rounds; see `rounds.learn`."""
        tally = Tally(
            *self.played().learner()(
                examples, self.space, self.hyper, self.clock, self.desk, trace, first, 0, count
            )
        )
        self.clock = tally.clock
        return tally

    def learn_judged(self, examples: Examples, first: int, count: int, trace: np.ndarray) -> Tally:
        """A block of rounds, answered by the averaged weights; see `rounds.judged`."""
        held = np.zeros(self.start.outputs)
        tally = Tally(
            *self.played().judge()(
                examples, self.space, self.hyper, self.clock, self.desk, held, trace, first, 0, count
            )
        )
        self.clock = tally.clock
        return tally

    def scores(self, rows: Any, count: int, averaged: bool) -> tuple[np.ndarray, int]:
        """Scores of rows 0 .. count - 1, and how many rows were finite from the first on."""
        out = np.zeros((count, self.start.outputs))
        answerer, space = self.row.answerer(), self.space
        if self.row.space.flat:  # <w, x> of weights spelled out once
            spelled = self.mean_weights() if averaged else self.weights()
            weights = np.ascontiguousarray(spelled, dtype=space.weights.dtype)
            space = linear.Linear(weights, weights[:0], np.zeros(2))
            answerer = specialise(rounds.answer, score=linear.score)
        else:
            space = storage.with_own_scratch(self.row.space, space)  # threads may ask at once
            if averaged:
                space = space._replace(weights=self.mean_weights())
        scratch = np.zeros_like(self.desk.scores)
        done: int = answerer(rows, space, self.hyper, self.clock, scratch, out, 0, count)
        return out, done

    def weights(self) -> np.ndarray:
        """The weights that predict the next round."""
        return self.row.space.weights(self.space, self.clock, self.hyper)

    def mean_weights(self) -> np.ndarray:
        """The average of the weights that predicted, w_1 .. w_T; where none is kept, the last."""
        weights = self.weights()
        if not self.space.drift.size:
            return weights
        mean = aligned(weights.shape, self.space.weights.dtype)
        mean[...] = self.row.space.average(self.space, self.clock, self.hyper, weights)
        return mean

    def widen(self, slots: int) -> None:
        """Room for more features."""
        self.start = self.start._replace(slots=slots)
        self.space = storage.widened(self.row.space, self.space, self.start)

    def turn(self) -> None:
        """See the one row from the other class."""
        storage.turned(self.row.space, self.space)
        self._settle()

    def split(self, row: Row, outputs: int, halves: tuple[int, int]) -> None:
        """From one row for two classes to one row a class."""
        self.start = self.start._replace(outputs=outputs, many=True)
        self.space = storage.split(row.space, self.space, self.start, halves)
        self.choose(row, self.numbers)
        self._settle()

    def rearrange(self, outputs: int, sources: list[int]) -> None:
        """More outputs; see `storage.rearranged`."""
        self.start = self.start._replace(outputs=outputs)
        self.space = storage.rearranged(self.row.space, self.space, self.start, sources)
        self._prepare()
        self._settle()

    def _settle(self) -> None:
        """Sums that the Space keeps, after its arrays took on another shape."""
        if self.row.space.settle is not None:
            self.row.space.settle(self.space, self.hyper, self.clock)
