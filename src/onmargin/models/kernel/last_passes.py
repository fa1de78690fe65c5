"""Pegasos in kernel form: the mean of the last passes of a fit."""

from __future__ import annotations

import math

import numpy as np

from ...learn.spaces.pegasos import turn
from ...learn.vocabulary import BATCH
from .model import KernelModel


class LastPasses:
    """The sums of the hypotheses before each pass, in coefficients; vectors are only ever added."""

    def __init__(self, model: KernelModel) -> None:
        self.model = model
        self.before: list[tuple[float, np.ndarray]] = []

    def begin(self) -> None:
        """A pass begins."""
        self.before.append(self._so_far())

    def settle(self, share: float) -> None:
        """The average is that of this share of them; rounds to come go on as if all had been like it."""
        passes = len(self.before)
        turns, sums = self.before[passes - math.ceil(share * passes - 1e-9)]
        now, total = self._so_far()
        total[: len(sums)] -= sums
        self.model.put_mean(total / (now - turns))

    def _so_far(self) -> tuple[float, np.ndarray]:
        """How many hypotheses there were, and their sum."""
        model = self.model
        turns = float(turn(model.clock, model.hyper.numbers[BATCH])) if model.clock else 0.0
        return turns, turns * model.mean_weights()
