"""Categories and interactions as named features: one name and one value a row."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from .frames import Words

DENSE = 4  # codes for each row, up to which a table of them is faster than sorting


class Feature(NamedTuple):
    """One feature a row: names[codes[row]], in order of appearance, with its value; -1: none."""

    codes: np.ndarray
    names: list[str]
    values: np.ndarray


class Factor(NamedTuple):
    """A column in an interaction: its name, and numbers (NaN: missing) or words."""

    column: str
    held: np.ndarray | Words


def crossed(factors: Sequence[Factor]) -> Feature:
    """The product of numbers, the names joined by *: "age*colour=red"; of one factor the factor itself."""
    rows = max(len(f.held.codes if isinstance(f.held, Words) else f.held) for f in factors)
    values, made = np.ones(rows), Words(np.zeros(rows, np.int64), [""])
    for number, (column, held) in enumerate(factors):
        star = "*" if number else ""
        if isinstance(held, Words):
            made = _joined(made, Words(held.codes, [f"{star}{column}={word}" for word in held.words]))
        else:
            values = values * held
            made = Words(made.codes, [f"{name}{star}{column}" for name in made.words])
    there = np.where(np.isnan(values), -1, made.codes)
    return Feature(*_joined(Words(there, made.words), Words(np.zeros(rows, np.int64), [""])), values)


def _joined(first: Words, second: Words) -> Words:
    """Every combination that is there, in order of appearance."""
    wide = max(len(second.words), 1)
    codes = np.where((first.codes >= 0) & (second.codes >= 0), first.codes * wide + second.codes, -1)
    rows = np.flatnonzero(codes >= 0)
    used = codes[rows]
    size = len(first.words) * wide
    if size <= DENSE * len(codes) + 1024:
        seen = np.full(size, len(codes))
        seen[used[::-1]] = rows[::-1]  # (what is written last stays: the first row)
        met = np.flatnonzero(seen < len(codes))
        order = np.argsort(seen[met])
    else:
        met, at = np.unique(used, return_index=True)
        order = np.argsort(at)
    place = np.empty(len(met), np.int64)
    place[order] = np.arange(len(met))
    if size <= DENSE * len(codes) + 1024:
        seen[met] = place
        found = seen[used]
    else:
        found = place[np.searchsorted(met, used)]
    made = np.full(len(codes), -1, np.int64)
    made[rows] = found
    return Words(made, [first.words[c // wide] + second.words[c % wide] for c in met[order].tolist()])
