"""The Banditron at work: weights, and what the rewards of its actions came to."""

from __future__ import annotations

from typing import NamedTuple, Self

import numpy as np

from ..compiled.parts import bound, specialise
from ..compiled.rows import Rows, Sparse
from ..learn import actions
from ..learn.tasks.bandit import chance_of
from ..learn.vocabulary import (
    NO_TRACE,
    PLAYED,
    REWARD_COUNT,
    REWARD_ESTIMATE,
    REWARD_SUM,
    TRACE_ASKED,
    TRACE_GUESS,
    TRACED,
    Examples,
    Tally,
)
from .weights import Model


class Pending(NamedTuple):
    """An action whose reward has not come: its row, the best class then, the class played and its P."""

    row: Sparse
    best: int
    played: int
    probability: float


class Played(NamedTuple):
    """Actions by the numbers of their classes; `done`: rows that were finite, from the first on."""

    played: np.ndarray
    best: np.ndarray
    chances: np.ndarray
    done: int


def kept_row(slots: np.ndarray, values: np.ndarray, bias: float) -> Sparse:
    """A row of its own, of the types that the compiled halves are bound for."""
    arrays = np.array(values, np.float64), np.array(slots, np.uint32), np.array([0, len(slots)], np.int32)
    for array in arrays:
        array.setflags(write=False)
    return Sparse(*arrays, bias)


class BanditModel(Model):
    """`sums` of rewards count simulated rounds and late rewards alike."""

    sums: np.ndarray

    def _prepare(self) -> None:
        super()._prepare()
        if "sums" not in self.__dict__:
            self.sums = np.zeros(REWARD_ESTIMATE + 1)

    def copy(self) -> Self:
        """The same state in arrays of its own."""
        twin = super().copy()
        twin.sums = self.sums.copy()
        return twin

    def sharing(self) -> Self:
        """A twin that learns into this one's arrays; all else is its own."""
        twin = super().sharing()
        twin.sums = self.sums.copy()
        return twin

    def __getstate__(self) -> dict[str, object]:
        return super().__getstate__() | {"sums": self.sums}

    def learn(self, examples: Examples, first: int, count: int, trace: np.ndarray = NO_TRACE) -> Tally:
        """A block of rounds whose labels are known; what they earned is read off their trace."""
        lines, outputs = trace, self.start.outputs
        if not trace.size:
            lines = np.zeros((count, TRACED + outputs))
        tally = super().learn(examples, first, count, lines)
        lines, targets = lines[: tally.stopped], examples.targets[: tally.stopped]
        guess, seen = lines[:, TRACE_GUESS], lines[:, TRACE_ASKED] != 0
        right = seen & (guess == targets)
        best = right & (lines[:, TRACED : TRACED + outputs].argmax(axis=1) == guess)
        sums = self.sums.copy()  # (another array: whoever has marked this model keeps the old one)
        sums[REWARD_COUNT] += seen.sum()
        sums[REWARD_SUM] += right.sum()
        each = np.full(best.sum(), 1.0 / chance_of(0.0, 0.0, self.hyper.epsilon, outputs))
        sums[REWARD_ESTIMATE] = np.cumsum(np.r_[sums[REWARD_ESTIMATE], each])[-1]  # in order, however cut
        self.sums = sums
        return tally

    def act(self, rows: Rows, allowed: np.ndarray, luck: np.ndarray) -> Played:
        """An action for each row, see `actions.act`; nothing changes."""
        count = len(luck)
        played, best, chances = np.zeros(count, np.int64), np.zeros(count, np.int64), np.zeros(count)
        play, scores = specialise(actions.act, score=self.row.space.score), np.zeros_like(self.desk.scores)
        given = (rows, self.space, self.hyper, self.clock, scores, allowed, luck, played, best, chances)
        return Played(played, best, chances, play(*given))


class BoundActions:
    """The compiled halves of a round, bound to the model's arrays, for one row at a time.

    `rows` is one reserved row, written in place; the row of a reward is the action's own.
    """

    def __init__(self, model: BanditModel, rows: Sparse) -> None:
        self.model, self.numbers, self.outputs = model, model.hyper.numbers, model.start.outputs
        self.arrays, self.desk, self.rows = (model.space, model.hyper), model.desk, rows
        self.numbers[PLAYED] = model.clock
        self.everything = np.ones((1, self.outputs), bool)
        self.luck, self.chances = np.zeros(1), np.zeros(1)
        self.played, self.best = np.zeros(1, np.int64), np.zeros(1, np.int64)
        space = model.row.space
        given = (rows, *self.arrays, 0, self.desk.scores, self.everything, self.luck, *self._out())
        self.act_entry = bound(specialise(actions.act, score=space.score), given)
        late = (rows, *self.arrays, 0, self.desk, model.sums, 0, 0, 0.5, 0.5)
        roles = {"score": space.score, "size": space.size, "move": space.move}
        self.reward_entry = bound(specialise(actions.reward, **roles), late)

    def _out(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        return self.played, self.best, self.chances

    def act(self, luck: float, allowed: np.ndarray | None) -> tuple[int, int, float] | None:
        """What is played on the row, what is best, P of what is played; None where the row is not finite."""
        self.luck[0] = luck
        mask, clock = self.everything if allowed is None else allowed, self.model.clock
        scores = self.desk.scores
        if not self.act_entry(self.rows, *self.arrays, clock, scores, mask, self.luck, *self._out()):
            return None
        return int(self.played[0]), int(self.best[0]), float(self.chances[0])

    def reward(self, pending: Pending, earned: float) -> bool:
        """The reward of an action, at one stroke; False, and nothing changed: it would move too far."""
        model, (row, best, played, chance) = self.model, pending
        try:
            after = self.reward_entry(
                row, *self.arrays, model.clock, self.desk, model.sums, best, played, chance, earned
            )
            if after >= 0:
                model.clock = after
        except BaseException:
            model.clock = int(self.numbers[PLAYED])  # Ctrl-C may come right after the stroke
            raise
        return bool(after >= 0)
