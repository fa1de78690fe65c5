"""The compiled entries of a model with weights, bound to its arrays, for one row at a time."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..compiled.parts import Part, bound
from ..compiled.rows import Rows
from ..learn.vocabulary import NO_ORDER, NO_TRACE, NONE, PLAYED, Examples
from .weights import Model


class BoundEntries:
    """What a stream of single rows calls. Larger arrays of the same types keep their entries.

    `rows` is one reserved row and `target` room for its target, both written in place. Whoever plays millions
    of rows calls `one_entry` (on what `one` says) and `guess_entry` (on `single`, and the clock) itself.
    Where an average is kept, guesses and answers are by it (guesses not where it must be `spelled` out).
    """

    kind: object = None

    def bind(self, model: Model, rows: Rows, target: np.ndarray, learns: bool = True) -> None:
        """The arrays as they are now; a model that does not learn through them is only asked."""
        self.model, self.rows, self.target = model, rows, target
        self.weight, self.out = np.ones(1), np.zeros((1, model.start.outputs))
        self.plain = Examples(rows, target, NONE, NONE, NO_ORDER)
        self.weighted = Examples(rows, target, self.weight, NONE, NO_ORDER)
        self.space, self.hyper, self.desk = model.space, model.hyper, model.desk
        self.hyper.numbers[PLAYED] = model.clock
        self.averaged = bool(self.space.drift.size)
        self.spelled = self.averaged and not model.judges
        self.single = (rows, self.space, self.hyper, self.desk.scores)
        # (the first set of labels makes outputs: an average of none is bound as if none were kept)
        kind = (model.played(), model.start.many, target.ndim, self.averaged)
        if kind != self.kind:
            self.learn_entry: Part | None = None  # found when it is wanted
            self.one_entry: Part | None = None
            if target.ndim == 1 and learns:
                self.one_entry = bound(model.played().one_learner(), self.one(0.0, 0))
            answerer = model.row.mean_answerer() if self.averaged else None
            single = model.row.mean_single() if self.averaged else None
            answer = (rows, self.space, self.hyper, 0, self.desk.scores, self.out, 0, 1)
            self.answer_entry: Part = bound(answerer or model.row.answerer(), answer)
            self.guess_entry: Part = bound(single or model.row.single(), (*self.single, 0))
            self.kind = kind

    def one(self, target: float, clock: int) -> tuple[Any, ...]:
        """What `one_entry` is called on."""
        return self.rows, target, self.space, self.hyper, clock, self.desk, self.target, NO_TRACE

    def learn(self, weight: float, trace: np.ndarray) -> tuple[Any, ...]:
        """Play the row; a `Tally` as a tuple. (The clock moves on where the row is finite.)"""
        if weight == 1.0:
            examples = self.plain
        else:
            examples, self.weight[0] = self.weighted, weight
        model = self.model
        if self.learn_entry is None:
            learn = (self.plain, self.space, self.hyper, 0, self.desk, NO_TRACE, 0, 0, 1)
            self.learn_entry = bound(model.played().learner(), learn)
        try:
            tally: tuple[Any, ...] = self.learn_entry(
                examples, self.space, self.hyper, model.clock, self.desk, trace, 0, 0, 1
            )
            if tally[1]:
                model.clock = tally[0]
        except BaseException:
            self.settle()
            raise
        return tally

    def play(self, target: float) -> bool:
        """Play the row, with weight 1; False where it is refused. (The clock moves on otherwise.)"""
        model = self.model
        assert self.one_entry is not None
        try:
            clock = self.one_entry(*self.one(target, model.clock))
            if clock >= 0:
                model.clock = clock
        except BaseException:
            self.settle()
            raise
        return bool(clock >= 0)

    def guessed(self) -> list[float]:
        """The scores that the last guess was made by."""
        scores, outputs = self.desk.scores, self.out.shape[1]
        found: list[float] = [scores.item(0)] if outputs == 1 else scores[:outputs].tolist()
        return found

    def settle(self) -> None:
        """After Ctrl-C, which Python delivers between two of its own steps: was the round played?"""
        self.model.clock = int(self.hyper.numbers[PLAYED])

    def answer(self) -> bool:
        """The row's scores into `out`, by the average where one is kept; was it finite?"""
        space = self.space._replace(weights=self.model.mean_weights()) if self.spelled else self.space
        scores, clock = self.desk.scores, self.model.clock
        return bool(self.answer_entry(self.rows, space, self.hyper, clock, scores, self.out, 0, 1))
