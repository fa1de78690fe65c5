"""What an experiment came to: a table, and claims about it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np


class Claim(NamedTuple):
    """Something the table must show."""

    text: str
    holds: bool


class Outcome(NamedTuple):
    """Rows with the same columns; numbers, texts, or (mean, spread)."""

    title: str
    rows: list[dict[str, Any]]
    claims: list[Claim]

    def text(self) -> str:
        """The table and the claims, for a terminal."""
        names = list(self.rows[0])
        lines = [[_said(row[name]) for name in names] for row in self.rows]
        widths = [max(map(len, column)) for column in zip(names, *lines, strict=True)]
        shown = [
            "  ".join(word.ljust(width) for word, width in zip(line, widths, strict=True)).rstrip()
            for line in [names, *lines]
        ]
        marks = [f"{'holds' if claim.holds else 'FAILS'}: {claim.text}" for claim in self.claims]
        return "\n".join([self.title, "", *shown, "", *marks, ""])

    def check(self) -> None:
        """Every claim holds."""
        failed = [claim.text for claim in self.claims if not claim.holds]
        if failed:
            raise AssertionError(f"{self.title}: {'; '.join(failed)}")

    def value(self, column: str, **where: Any) -> float:
        """The number in the one row where these columns say so; of a mean with its spread, the mean."""
        (found,) = (row[column] for row in self.rows if all(row[k] == v for k, v in where.items()))
        return float(found[0] if isinstance(found, tuple) else found)


def spread(values: Iterable[float]) -> tuple[float, float]:
    """Mean and standard deviation over seeds."""
    numbers = np.array(list(values))
    return float(numbers.mean()), float(numbers.std(ddof=1)) if len(numbers) > 1 else 0.0


def summed_up(names: Mapping[str, Any], runs: list[dict[str, float]]) -> dict[str, Any]:
    """One row: names first, then every measure with its spread over the runs."""
    return {**names, **{key: spread(run[key] for run in runs) for key in runs[0]}}


def _said(value: Any) -> str:
    if isinstance(value, tuple):
        mean, deviation = value
        return f"{mean:.3f} ± {deviation:.3f}"
    return f"{value:.4g}" if isinstance(value, float) else str(value)
