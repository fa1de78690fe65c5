"""Means and spreads of numbers as they come, block by block; the same however the blocks were cut."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from ..errors import BadInput


class Moments:
    r"""Count, mean and sum of squared deviations of each column; NaN is a number that is missing.

    Blocks are merged: with n, m, S so far and n', m', S' of the block, and d = m' - m,

        m += d n' / (n + n'),    S += S' + d^2 n n' / (n + n').

    All is measured from the first number of each column, which is the same however blocks are cut, so that
    large offsets cost no digits.

    >>> import numpy as np
    >>> from onmargin.features.moments import Moments
    >>> moments = Moments(1)
    >>> moments.add(np.array([[1e9], [1e9 + 2]]))
    >>> moments.scaled(np.array([[1e9 + 1], [1e9 + 3], [np.nan]])).tolist()
    [[0.0], [2.0], [0.0]]
    """

    def __init__(self, columns: int) -> None:
        self.count, self.origin, self.mean, self.spread = np.zeros((4, columns))

    def add(self, block: np.ndarray, names: Sequence[str] = ()) -> None:
        """Go on with some rows; `names` of the columns, for a refusal."""
        known = ~np.isnan(block)
        count = known.sum(axis=0).astype(float)
        if not count.any():
            return
        first = block[known.argmax(axis=0), np.arange(block.shape[1])]
        origin = np.where((self.count == 0) & (count > 0), first, self.origin)
        with np.errstate(over="ignore", invalid="ignore"):
            apart = np.where(known, block - origin, 0.0)
            mean = apart.sum(axis=0) / np.maximum(count, 1.0)
            spread = np.square(np.where(known, apart - mean, 0.0)).sum(axis=0)
            whole, gap = np.maximum(self.count + count, 1.0), mean - self.mean
            merged = self.spread + spread + np.square(gap) * (self.count * count / whole)
        if not np.isfinite(merged).all():
            at = int(np.argmin(np.isfinite(merged)))
            said = repr(names[at]) if names else at
            raise BadInput(f"the numbers of column {said} are too large: their squares overflow; scale them")
        self.mean = self.mean + gap * (count / whole)
        self.count, self.origin, self.spread = self.count + count, origin, merged

    def deviations(self) -> np.ndarray:
        """sqrt(S / n); 1 where nothing varies yet."""
        found: np.ndarray = np.sqrt(self.spread / np.maximum(self.count, 1.0))
        found[found == 0.0] = 1.0
        return found

    def scaled(self, block: np.ndarray) -> np.ndarray:
        """(x - mean) / deviation; 0, the mean, for what is missing; before any number x itself."""
        made: np.ndarray = ((block - self.origin) - self.mean) / self.deviations()
        made[np.isnan(made)] = 0.0
        return made

    def filled(self, block: np.ndarray) -> np.ndarray:
        """x itself; the mean for what is missing."""
        return np.where(np.isnan(block), self.origin + self.mean, block)

    def state(self) -> dict[str, object]:
        """Four arrays."""
        return {
            "count": self.count, "origin": self.origin, "mean": self.mean, "spread": self.spread,
        }  # fmt: skip

    @classmethod
    def from_state(cls, state: Mapping[str, object], columns: int) -> Moments:
        """The same again, of so many columns."""
        made = cls(columns)
        for name in made.state():
            array = np.array(state.get(name))
            least = 0.0 if name in ("count", "spread") else -np.inf
            if array.dtype != np.float64 or array.shape != (columns,) or not np.isfinite(array).all():
                raise BadInput(
                    f"the {name} of numbers is not one finite number for each of {columns} columns"
                )
            if (array < least).any():
                raise BadInput(f"the {name} of numbers is below 0")
            setattr(made, name, array)
        return made
