"""The dict face of a paired learner with weights."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any

import numpy as np

from ..learn.vocabulary import NO_TRACE, Examples
from .lessons import NO_ORDER, NONE
from .stream import Stream


class PairedStream(Stream):
    """One dict at a time through the model's own rounds, which need more than the row at hand."""

    def bind(self) -> None:
        """Room for a target, and what labels mean."""
        owner = self.owner
        self.target, self.weight = owner._new_target(), np.ones(1)
        self.rows, self.space = self.packer.rows, self.model.space
        self.room = self.model.start.slots - 2  # the last two: the blank slot, the constant coordinate
        self.packer.blank = self.room
        self.coded: dict[Any, float] | None = owner._coded()
        self.quick, self.answers = False, None

    def learn(
        self, x: Mapping[Hashable, Any], weight: float, trace: np.ndarray = NO_TRACE
    ) -> tuple[Any, ...]:
        """Play one round; example and target are in place, and checked."""
        weights = NONE if weight == 1.0 else np.full(1, weight)
        luck = self.owner._luck(self.model, 1, weights)
        examples = Examples(self.packer.rows, self.target, weights, luck, NO_ORDER)
        tally = self.model.learn(examples, 0, 1, trace)
        if not tally.stopped:
            self.packer.refuse(x)
        return tuple(tally)

    def scores(self, x: Mapping[Hashable, Any]) -> np.ndarray:
        """Scores of one dict, by the average where one is kept."""
        self._ask(x)
        scores, done = self.model.scores(self.packer.rows, 1, self.model.start.average)
        if not done:
            self.packer.refuse(x)
        return scores
