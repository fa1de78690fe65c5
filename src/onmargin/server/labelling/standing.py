"""Where the labelling of a queue stands: counts, the curve, and whether it is time to stop."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from ...results.label_plan import Advice

WINDOW = 20  # answers of the shorter curve


class Standing(NamedTuple):
    """Where the labelling stands."""

    items: int
    answered: int
    skipped: int
    held: int  # items that somebody is looking at
    budget: int | None
    counts: Mapping[object, int]  # answers a label
    rights: Sequence[bool]  # per answer that the model had guessed before: was it right?
    advice: Advice
    trouble: str = ""  # why no more items stream in, where that ended before its time

    @property
    def left(self) -> int:
        """Items nobody has said anything of."""
        return self.items - self.answered - self.skipped

    @property
    def verdict(self) -> tuple[bool, str]:
        """Is it time to stop, and why (not)?"""
        if not self.items:
            return False, "no items yet: import some, or stream them in"
        if not self.left:
            skipped = f", {self.skipped:,} skipped" if self.skipped else ""
            return True, f"no item is left: {self.answered:,} answered{skipped}"
        if self.budget is not None and self.answered >= self.budget:
            labels = "1 label" if self.budget == 1 else f"{self.budget:,} labels"
            return True, f"the budget of {labels} is used up; raise it if more are wanted"
        return self.advice.stop, self.advice.reason

    def curve(self) -> tuple[list[float], list[float]]:
        """Share of guesses that were right: so far, and among the last 20."""
        right = np.array(self.rights, float)
        so_far = right.cumsum() / np.arange(1, len(right) + 1)
        total = np.r_[0.0, right.cumsum()]
        at = np.arange(1, len(right) + 1)
        begin = np.maximum(at - WINDOW, 0)
        return so_far.tolist(), ((total[at] - total[begin]) / (at - begin)).tolist()
