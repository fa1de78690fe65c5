"""What an experiment came to: a table, curves, and claims about them; as text, CSV, Markdown, JSON."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np

Curve = tuple[list[float], list[float]]
Row = dict[str, Any]  # by columns: numbers, texts, (mean, spread), None
MEAN = "mean"  # (mean, spread) is kept as {"mean": ..., "spread": ...}: JSON has no tuples


class Claim(NamedTuple):
    """Something the table must show."""

    text: str
    holds: bool


class Outcome(NamedTuple):
    """Rows of numbers, texts or (mean, spread); curves (x, y) by name ("panel: line" in panels)."""

    title: str
    rows: list[Row]
    claims: list[Claim]
    curves: dict[str, Curve] = {}

    @property
    def holds(self) -> bool:
        """Does every claim?"""
        return all(claim.holds for claim in self.claims)

    @property
    def columns(self) -> list[str]:
        """Of all rows, in the order in which they come."""
        return list(dict.fromkeys(name for row in self.rows for name in row))

    def words(self) -> list[list[str]]:
        """The table as people read it, headings first."""
        names = self.columns
        return [names, *([said(row.get(name)) for name in names] for row in self.rows)]

    def text(self) -> str:
        """The table and the claims, for a terminal."""
        lines = self.words()
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        shown = [
            "  ".join(word.ljust(width) for word, width in zip(line, widths, strict=True)).rstrip()
            for line in lines
        ]
        marks = [f"{'holds' if claim.holds else 'FAILS'}: {claim.text}" for claim in self.claims]
        return "\n".join([self.title, "", *shown, "", *marks, ""])

    def csv(self) -> str:
        """The table with all digits; the spread of a column in a column of its own."""
        wide = {name for name in self.columns if any(isinstance(row.get(name), tuple) for row in self.rows)}
        written = io.StringIO()
        out = csv.writer(written, lineterminator="\n")
        out.writerow([part for name in self.columns for part in _parts(name, name in wide)])
        for row in self.rows:
            cells: list[object] = []
            for name in self.columns:
                value = row.get(name, "")
                if name in wide:
                    cells += list(value) if isinstance(value, tuple) else [value, ""]
                else:
                    cells.append(value)
            out.writerow(["" if cell is None else cell for cell in cells])
        return written.getvalue()

    def markdown(self) -> str:
        """The table and the claims, for a page."""
        head, *lines = ["| " + " | ".join(_escaped(line)) + " |" for line in self.words()]
        rule = "|" + "---|" * len(self.columns)
        marks = [f"- {'holds' if claim.holds else '**fails**'}: {claim.text}" for claim in self.claims]
        return "\n".join([f"# {self.title}", "", head, rule, *lines, "", *marks, ""])

    def json(self) -> str:
        """All of it; `from_json` gives an equal one."""
        return json.dumps(
            {
                "title": self.title,
                "rows": [{name: _packed(value) for name, value in row.items()} for row in self.rows],
                "claims": [[claim.text, bool(claim.holds)] for claim in self.claims],
                "curves": {
                    name: [_packed(list(x)), _packed(list(y))] for name, (x, y) in self.curves.items()
                },
            }
        )

    @classmethod
    def from_json(cls, text: str) -> Outcome:
        """As it was."""
        read = json.loads(text)
        return cls(
            read["title"],
            [{name: _unpacked(value) for name, value in row.items()} for row in read["rows"]],
            [Claim(text, holds) for text, holds in read["claims"]],
            {name: (x, y) for name, (x, y) in read["curves"].items()},
        )

    def check(self) -> None:
        """Every claim holds."""
        failed = [claim.text for claim in self.claims if not claim.holds]
        if failed:
            raise AssertionError(f"{self.title}: {'; '.join(failed)}")

    def value(self, column: str, **where: object) -> float:
        """The number in the one row where these columns say so; of a mean with its spread, the mean."""
        (found,) = (row[column] for row in self.rows if all(row.get(k) == v for k, v in where.items()))
        return float(found[0] if isinstance(found, tuple) else found)

    def panel(self, name: str) -> dict[str, Curve]:
        """The curves of "name: line", by line."""
        start = f"{name}: "
        return {key.removeprefix(start): curve for key, curve in self.curves.items() if key.startswith(start)}


def spread(values: Iterable[float]) -> tuple[float, float]:
    """Mean and standard deviation over seeds."""
    numbers = np.array(list(values))
    return float(numbers.mean()), float(numbers.std(ddof=1)) if len(numbers) > 1 else 0.0


def summed_up(names: Mapping[str, object], runs: list[dict[str, float]]) -> Row:
    """One row: names first, then every measure with its spread over the runs."""
    return {**names, **{key: spread(run[key] for run in runs) for key in runs[0]}}


def said(value: object) -> str:
    """A cell as people read it."""
    if value is None:
        return "-"
    if isinstance(value, tuple):
        mean, deviation = value
        if abs(mean) >= 1000:
            return f"{mean:,.0f} ± {deviation:,.0f}"
        digits = 5 if 0 < abs(mean) < 0.01 else 3
        return f"{mean:.{digits}f} ± {deviation:.{digits}f}"
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def _parts(name: str, wide: bool) -> list[str]:
    return [name, f"{name}, spread"] if wide else [name]


def _escaped(words: Iterable[str]) -> list[str]:
    return [word.replace("|", "\\|") for word in words]


def _packed(value: object) -> object:
    """Plain values; NumPy's numbers as Python's."""
    if isinstance(value, tuple):
        mean, deviation = value
        return {MEAN: float(mean), "spread": float(deviation)}
    if isinstance(value, list):
        return [_packed(item) for item in value]
    return value.item() if isinstance(value, np.generic) else value


def _unpacked(value: object) -> object:
    return (value[MEAN], value["spread"]) if isinstance(value, dict) and MEAN in value else value
