"""Learners that draw: one uniform a round, the same however the rounds are cut into calls."""

from __future__ import annotations

import numpy as np

from ..errors import BadInput
from ..models.weights import Model
from .online import OnlineEstimator

DRAWS = 5  # the purpose of a generator


class Gambler(OnlineEstimator):
    """Uniforms from `random_state`, or given as `chance=` to `om.progressive`."""

    def _check_parameters(self) -> None:
        super()._check_parameters()
        seed = self.random_state
        if isinstance(seed, int | np.integer) and seed < 0:
            raise BadInput(f"random_state={seed!r}; wanted a whole number of at least 0")

    def _luck(self, model: Model, count: int, weights: np.ndarray) -> np.ndarray:
        """The uniform of round t is the t-th of one stream."""
        if not weights.size:
            return self._uniforms(model.clock, count)
        seen = weights > 0
        luck = np.zeros(count)
        luck[seen] = self._uniforms(model.clock, int(seen.sum()))
        return luck

    def _uniforms(self, first: int, count: int) -> np.ndarray:
        """Numbers first, first + 1, ... of the stream."""
        bits = np.random.PCG64(self._generator(DRAWS).integers(2**63))
        bits.advance(first)
        return np.random.Generator(bits).random(count)
