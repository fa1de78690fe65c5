"""Counts of n-grams as values of a row: their weight, their rarity, the length of the row."""

from __future__ import annotations

import math

import numpy as np

from .kept import kept

BINARY, COUNTS, LOGARITHMS = 0, 1, 2


@kept
def weigh_counts(
    columns: np.ndarray, values: np.ndarray, bounds: np.ndarray, weighting: int, rows_met: float,
    met: np.ndarray, unit: bool,
) -> None:  # fmt: skip
    """Values in place: 1, n or 1 + ln n; times 1 + ln((1 + rows) / (1 + rows with it)); the row of length 1.

    met : rows with each column (one place: rarity does not count).
    """
    for row in range(bounds.size - 1):
        total = 0.0
        for at in range(bounds[row], bounds[row + 1]):
            value = values[at]
            if weighting == BINARY:
                value = 1.0
            elif weighting == LOGARITHMS and value > 1.0:
                value = 1.0 + math.log(value)
            if met.size > 1:
                value *= 1.0 + math.log((1.0 + rows_met) / (1.0 + met[columns[at]]))
            values[at] = value
            total += value * value
        if unit and total > 0.0:
            length = math.sqrt(total)
            for at in range(bounds[row], bounds[row + 1]):
                values[at] /= length
