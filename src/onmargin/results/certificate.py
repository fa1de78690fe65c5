"""What theorems say of a run: a row for each bound, and how both of its sides grew."""

from __future__ import annotations

import html
import math
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..errors import BadInput, extra, shown

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

WIDTH = 80
FAILS = "FAILS"


class Row(NamedTuple):
    """left <= right, or not; `holds` is None where a condition is not met: the bound says nothing then."""

    id: str
    left: float
    right: float
    holds: bool | None
    conditions: str

    @property
    def verdict(self) -> str:
        """In a word."""
        return "does not apply" if self.holds is None else "holds" if self.holds else FAILS


class Course(NamedTuple):
    """Both sides of a bound after every round."""

    left: np.ndarray
    right: np.ndarray
    counts: str  # what the left side is
    rounds: np.ndarray | None = None  # after which rounds; None: after every one


class Certificate:
    """Rows `(id, left, right, holds, conditions)`, in the order of the table of theorems.

    title : what was run. comparator : u as it was used (`coef`, `intercept`; or coefficients of a kernel).
    size : |u|. `table` is for people, `records` and `frame` for programs, `plot` draws a row over the rounds.
    """

    def __init__(
        self, title: str, rows: Sequence[Row], courses: Mapping[str, Course], comparator: object, size: float,
        found: str = "given",
    ) -> None:  # fmt: skip
        self.title, self.rows, self.courses = title, tuple(rows), dict(courses)
        self.comparator, self.size, self.found = comparator, size, found

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[Row]:
        return iter(self.rows)

    def __getitem__(self, which: object) -> Row:
        """A row by its number, or by its id."""
        if isinstance(which, str):
            for row in self.rows:
                if row.id == which:
                    return row
            have = ", ".join(row.id for row in self.rows) or "none"
            raise BadInput(f"there is no row {shown(which)}; there are {have}")
        if isinstance(which, int | np.integer):
            return self.rows[int(which)]
        raise BadInput(f"got {shown(which)}; wanted the number of a row, or its id")

    # ---- what it says

    @property
    def holds(self) -> bool:
        """Does every bound that applies hold?"""
        return not self.failed

    @property
    def failed(self) -> list[Row]:
        """Rows that want attention: their conditions are met, and they do not hold."""
        return [row for row in self.rows if row.holds is False]

    @property
    def applying(self) -> list[Row]:
        """Rows whose conditions are met."""
        return [row for row in self.rows if row.holds is not None]

    def __repr__(self) -> str:
        said = f"{len(self.applying)} of {len(self.rows)} bounds apply"
        if self.failed:
            said += f", {FAILS}: {', '.join(row.id for row in self.failed)}"
        elif self.applying:
            said += ", all hold"
        return f"Certificate({self.title}: {said})"

    def __str__(self) -> str:
        return self.table

    @property
    def _head(self) -> str:
        u = "u: best in hindsight" if self.found == "best" else f"u: {self.found}"
        return f"{self.title}; {u}, |u| = {_said(self.size)}"

    @property
    def table(self) -> str:
        """The rows as lines of at most 80 characters; what fails stands first in its line as FAILS."""
        lines = (
            textwrap.wrap(self._head, WIDTH)
            if self.rows
            else [f"{self.title}: no bound is known for this learner"]
        )
        if self.rows:
            lines.append(f"{'':<7} {'left':>10}    {'right':>10}  {'used':>5}  verdict, conditions")
        for row in self.rows:
            lines += self._lines(row)
        if self.failed:
            names = ", ".join(row.id for row in self.failed)
            lines.append(f"ATTENTION: beyond what its theorem allows: {names}")
        return "\n".join(lines)

    @staticmethod
    def _lines(row: Row) -> list[str]:
        begin = f"{row.id:<7} "
        if row.holds is not None:
            sign = "<=" if row.holds else " >"
            share = row.left / row.right if row.right else math.nan
            used = f"{share:5.0%}" if 0 <= share < 10 else f"{'-':>5}"
            begin += f"{_said(row.left):>10} {sign} {_said(row.right):>10}  {used}  "
        text = textwrap.wrap(f"{row.verdict}: {row.conditions}", WIDTH - len(begin)) or [row.verdict]
        return [begin + text[0], *(" " * len(begin) + more for more in text[1:])]

    @property
    def records(self) -> list[dict[str, object]]:
        """A dict for each row; sides that are not known are None."""
        return [
            {
                "id": row.id,
                "left": row.left if math.isfinite(row.left) else None,
                "right": row.right if math.isfinite(row.right) else None,
                "holds": row.holds,
                "conditions": row.conditions,
                "verdict": row.verdict,
            }
            for row in self.rows
        ]

    @property
    def frame(self) -> pd.DataFrame:
        """The rows as a pandas frame."""
        try:
            import pandas as pd
        except ImportError:
            raise extra("pandas", "frames") from None
        return pd.DataFrame(self.records, columns=[*Row._fields, "verdict"])

    def _repr_html_(self) -> str:
        return self.html

    @property
    def html(self) -> str:
        """The rows as a table for a page; what fails is red."""
        if not self.rows:
            return f"<p>{html.escape(self.table)}</p>"
        heads = "".join(f"<th>{name}</th>" for name in ("", "left", "right", "verdict", "conditions"))
        lines = []
        for row in self.rows:
            style = ' style="background:#fbd5d0;font-weight:600"' if row.holds is False else ""
            style = ' style="color:#777"' if row.holds is None else style
            sides = [_said(row.left), _said(row.right)] if row.holds is not None else ["", ""]
            texts = (row.id, *sides, row.verdict, row.conditions)
            cells = "".join(f"<td>{html.escape(text)}</td>" for text in texts)
            lines.append(f"<tr{style}>{cells}</tr>")
        warning = ""
        if self.failed:
            names = ", ".join(row.id for row in self.failed)
            said = f"ATTENTION: beyond what its theorem allows: {html.escape(names)}"
            warning = f'<p style="color:#b00020"><b>{said}</b></p>'
        caption = f"<p>{html.escape(self._head)}</p>"
        return f"{warning}{caption}<table><tr>{heads}</tr>{''.join(lines)}</table>"

    # ---- figures

    @property
    def main(self) -> str:
        """The row that `plot` draws: the first that counts mistakes, or losses, over the rounds."""
        drawn = [row.id for row in self.applying if row.id in self.courses]
        named = [id for id in drawn if self.courses[id].counts and id != "A0"]
        return next(iter(named or drawn), "")

    def plot(self, id: str | None = None, ax: Axes | None = None) -> Figure:
        """Both sides of a row over the rounds; returns the figure."""
        from .plots import bound_curves

        chosen = self.main if id is None else self[id].id
        if chosen not in self.courses:
            raise BadInput(
                f"there is nothing to draw for {chosen}: it has no course over the rounds"
                if chosen
                else "no bound applies to this run; there is nothing to draw"
            )
        course = self.courses[chosen]
        rounds = np.arange(1, len(course.left) + 1) if course.rounds is None else course.rounds
        return bound_curves(chosen, rounds, course.left, course.right, course.counts, ax=ax)


def _said(value: float) -> str:
    """Whole numbers whole, others in four digits."""
    if math.isfinite(value) and value == int(value) and abs(value) < 1e9:
        return f"{int(value):,}"
    return f"{value:.4g}"
