"""Categories and interactions as named features: one name and one value a row."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from .frames import Words


class Feature(NamedTuple):
    """One feature a row: names[codes[row]], in order of appearance, with its value; -1: none."""

    codes: np.ndarray
    names: list[str]
    values: np.ndarray


class Factor(NamedTuple):
    """A column in an interaction: numbers (NaN: missing), or words."""

    column: str
    numbers: np.ndarray | None
    words: Words | None


def crossed(factors: Sequence[Factor]) -> Feature:
    """The product of numbers, the names joined by *: "age*colour=red"; of one factor the factor itself."""
    rows = len(_length(factors[0]))
    codes, values, pieces = np.zeros(rows, np.int64), np.ones(rows), [[""]]
    for factor in factors:
        if factor.words is None and factor.numbers is not None:
            values = values * factor.numbers
            pieces.append([factor.column])
        elif factor.words is not None:
            words = factor.words
            codes = np.where(
                (codes >= 0) & (words.codes >= 0), codes * max(len(words.words), 1) + words.codes, -1
            )
            pieces.append([f"{factor.column}={word}" for word in words.words])
    codes = np.where(np.isnan(values), -1, codes)
    met, first = np.unique(codes[codes >= 0], return_index=True)  # of all that could be, those that are there
    order = np.argsort(first)
    place = np.empty(len(met) + 1, np.int64)
    place[order], place[-1] = np.arange(len(met)), -1
    names = [_name(int(code), pieces[1:]) for code in met[order]]
    return Feature(place[np.where(codes < 0, -1, np.searchsorted(met, codes))], names, values)


def _length(factor: Factor) -> np.ndarray:
    if factor.words is not None:
        return factor.words.codes
    return np.empty(0) if factor.numbers is None else factor.numbers


def _name(code: int, pieces: list[list[str]]) -> str:
    """The last factor is the lowest digit."""
    chosen = []
    for names in reversed(pieces):
        code, at = divmod(code, len(names))
        chosen.append(names[at])
    return "*".join(reversed(chosen))
