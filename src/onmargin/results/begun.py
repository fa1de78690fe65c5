"""How a run began, and by which parts and numbers it was played: what bounds ask of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np


class Begun(NamedTuple):
    """Kept beside the lines of a run; parameters that are changed afterwards do not touch it."""

    words: Mapping[str, str]  # task, loss, step and space of the row that was played
    form: str  # "weights" or "kernel"
    numbers: Mapping[str, object]  # C, margin, rate and so on, as the loop read them
    bias: float  # the constant coordinate's value
    outputs: int
    clock: int  # rounds before the first
    weights: np.ndarray | None  # (outputs, slots) before the first round, the constant last; None: all 0
    empty: bool  # nothing was learned before: weights of 0, no vector
    weighted: bool  # rows count differently: sample_weight, class_weight
    late: bool  # labels came late
    judged: bool  # scores are those of averaged weights
    grew: bool  # labels or columns joined in mid-run
    double: bool  # sums are of 64 bits
    rule: Mapping[str, float] | None = None  # of a learner that asks for labels, as numbers of the loop
    members: np.ndarray | None = None  # of paired rounds: the rows of each, one round after the other
    starts: np.ndarray | None = None  # (rounds + 1,) where each begins

    @property
    def slack(self) -> float:
        """What rounding may add to a left side, as a share of the right one."""
        return 1e-9 if self.double else 1e-5
