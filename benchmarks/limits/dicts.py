"""A dict's round by hand: names looked up, values packed, and one compiled round of PA-I."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from . import LOOP
from .sparse import add, dot


@njit(**LOOP)
def _round(values, columns, count, target, weights, C):
    """Answer and learn; was the answer right?"""
    score, size = dot(values, columns, 0, count, weights)
    margin = target * score
    if margin < 1.0:
        add(values, columns, 0, count, weights, target * min(C, (1.0 - margin) / size))
    return margin > 0.0


class ByHand:
    """Room for so many names; nothing is checked."""

    def __init__(self, names: int, longest: int = 100) -> None:
        self.slots: dict[str, int] = {}
        self.weights = np.zeros(names + 1)
        self.values, self.columns = np.empty(longest), np.empty(longest, np.uint32)

    def play(self, examples: list[tuple[dict[str, float], Any]]) -> int:
        """The rounds that were answered right."""
        slots, weights, values, columns = self.slots, self.weights, self.values, self.columns
        right = 0
        for x, y in examples:
            count = len(x)
            try:
                columns[:count] = [slots[name] for name in x]
            except KeyError:
                columns[:count] = [slots.setdefault(name, len(slots)) for name in x]
            values[:count] = list(x.values())
            right += _round(values, columns, count, 1.0 if y else -1.0, weights, 1.0)
        return right
