"""A recipe at work: its arrays, its clock, and how they grow."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..compiled.parts import Part
from .recipe import Recipe
from .spaces import storage
from .spaces.storage import Start, aligned, padded
from .vocabulary import Desk, Examples, Hyper, Tally

NO_TRACE = np.zeros((0, 0))


class Model:
    """The state of one learner. `choices` are the numbers of `Hyper` that the user sets."""

    def __init__(self, recipe: Recipe, start: Start, choices: dict[str, Any]) -> None:
        self.recipe, self.start, self.choices = recipe, start, choices
        self.space: Any = storage.build(recipe.space, start)
        self.bar = np.zeros(2)
        self.clock = 0
        self._prepare()

    def _prepare(self) -> None:
        width = max(8, padded(self.start.outputs, self.start.many))
        pulls = padded(self.start.outputs, self.start.many)
        self.desk = Desk(aligned((width,), float), aligned((pulls,), float))
        defaults = {"C": 1.0, "margin": 1.0, "epsilon": 0.0, "rate": 1.0, "phi": 1.0}
        numbers = defaults | {k: v for k, v in self.choices.items() if k != "cost"}
        cost = np.asarray(self.choices.get("cost", np.zeros((0, 0))), float)
        outputs = self.start.outputs
        self.hyper = Hyper(
            **{k: float(v) for k, v in numbers.items()}, outputs=outputs, cost=cost, bar=self.bar
        )

    def copy(self) -> Model:
        """The same state in arrays of its own."""
        twin = object.__new__(Model)
        twin.recipe, twin.start, twin.choices = self.recipe, self.start, self.choices
        twin.space, twin.bar, twin.clock = storage.copied(self.space), self.bar.copy(), self.clock
        twin._prepare()
        return twin

    def __getstate__(self) -> dict[str, Any]:
        names = ("recipe", "start", "choices", "space", "bar", "clock")
        return {name: getattr(self, name) for name in names}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self.space = storage.copied(self.space)
        self._prepare()

    @property
    def entries(self) -> int:
        """How many numbers the state holds: what a copy costs."""
        return sum(array.size for array in self.space)

    def choose(self, recipe: Recipe, choices: dict[str, Any]) -> None:
        """Go on with other parameters."""
        self.recipe, self.choices = recipe, choices
        self._prepare()

    def learn(self, examples: Examples, first: int, count: int, trace: np.ndarray = NO_TRACE) -> Tally:
        """A block of rounds; see `rounds.learn`."""
        tally = Tally(
            *self.recipe.learner()(
                examples, self.space, self.hyper, self.clock, self.desk, trace, first, 0, count
            )
        )
        self.clock = tally.clock
        return tally

    def learn_judged(self, examples: Examples, first: int, count: int, trace: np.ndarray) -> Tally:
        """A block of rounds, answered by the averaged weights; see `answers.judged`."""
        shadow = self.space._replace(weights=self.space.drift)
        held = np.zeros(self.start.outputs)
        tally = Tally(
            *self.recipe.judge()(
                examples, self.space, shadow, self.hyper, self.clock, self.desk, held, trace, first, 0, count
            )
        )
        self.clock = tally.clock
        return tally

    def scores(self, rows: Any, count: int, averaged: bool) -> tuple[np.ndarray, int]:
        """Scores of rows 0 .. count - 1, and how many rows were finite from the first on."""
        out = np.zeros((count, self.start.outputs))
        space = storage.with_own_scratch(self.recipe.space, self.space)  # threads may ask at once
        if averaged:
            space = space._replace(weights=self.mean_weights())
        answerer: Part = self.recipe.answerer()
        done: int = answerer(rows, space, self.hyper, np.zeros_like(self.desk.scores), out, 0, count)
        return out, done

    def mean_weights(self) -> np.ndarray:
        """The average of the weights that predicted, w_1 .. w_T: w - drift / T."""
        weights = self.space.weights
        if not self.space.drift.size:
            return np.asarray(weights)
        mean = aligned(weights.shape, weights.dtype)
        mean[...] = weights - self.space.drift / max(self.clock, 1)
        return mean

    def widen(self, slots: int) -> None:
        """Room for more features."""
        self.start = self.start._replace(slots=slots)
        self.space = storage.widened(self.recipe.space, self.space, self.start)

    def turn(self) -> None:
        """See the one row from the other class."""
        storage.turned(self.recipe.space, self.space)

    def split(self, recipe: Recipe, outputs: int, halves: tuple[int, int]) -> None:
        """From one row for two classes to one row a class."""
        self.start = self.start._replace(outputs=outputs, many=True)
        self.space = storage.split(recipe.space, self.space, self.start, halves)
        self.choose(recipe, self.choices)

    def rearrange(self, outputs: int, sources: list[int]) -> None:
        """More outputs; see `storage.rearranged`."""
        self.start = self.start._replace(outputs=outputs)
        self.space = storage.rearranged(self.recipe.space, self.space, self.start, sources)
        self._prepare()
