"""What a number is to come to, in either direction, and what is said of it."""

from __future__ import annotations

from typing import NamedTuple

MISSED, HELD, REACHED = "miss", "hold", "reach"


class Target(NamedTuple):
    """A bound that must be held and, where there is one, a better one to reach for."""

    hold: float
    reach: float | None = None
    most: bool = False  # at most; otherwise at least

    def verdict(self, value: float) -> str:
        """MISSED, HELD or REACHED."""
        if not self._kept(value, self.hold):
            return MISSED
        return REACHED if self.reach is not None and self._kept(value, self.reach) else HELD

    def words(self) -> str:
        """Both bounds, the one to hold first."""
        return f"{self.hold:g}" + (f"/{self.reach:g}" if self.reach is not None else "")

    def _kept(self, value: float, bound: float) -> bool:
        return value <= bound if self.most else value >= bound
