"""Experiments in their quick form, once for all tests of a worker; and tables spoilt to see a claim fail."""

from __future__ import annotations

import io
from functools import cache
from importlib import import_module

import pytest

from onmargin import datasets
from onmargin.experiments.outcome import Claim, Outcome


@cache
def told(name: str) -> Outcome:
    """What the quick form of an experiment came to."""
    module = import_module(f"onmargin.experiments.{name}")
    for needed in module.DATA:
        if not datasets.names()[needed].is_here:
            pytest.skip(f"{needed} is not there; set ONMARGIN_DATA to the folder of real sets")
    return module.run(range(module.QUICK), quick=True)


def exchanged(outcome: Outcome, column: str, of: str, one: object, other: object) -> Outcome:
    """The table with a column's numbers of `one` and `other` exchanged where the other names agree."""
    rows = [dict(row) for row in outcome.rows]
    for row in rows:
        if row.get(of) == one:
            for twin in rows:
                if twin.get(of) == other and _names(row, of) == _names(twin, of):
                    row[column], twin[column] = twin.get(column), row.get(column)
    assert rows != outcome.rows
    return outcome._replace(rows=rows)


def changed(outcome: Outcome, column: str, value: object, **where: object) -> Outcome:
    """The table with another value in the rows where these columns say so."""
    rows = [
        {**row, column: value} if all(row.get(k) == v for k, v in where.items()) else row
        for row in outcome.rows
    ]
    assert rows != outcome.rows
    return outcome._replace(rows=rows)


def failing(claims: list[Claim]) -> str:
    """The texts of those that do not hold."""
    return "\n".join(claim.text for claim in claims if not claim.holds)


def drawn(figure: object) -> bytes:
    """A figure as PNG."""
    file = io.BytesIO()
    figure.savefig(file, format="png", dpi=40)
    return file.getvalue()


def _names(row: dict[str, object], but: str) -> dict[str, object]:
    """The columns that say which row it is: all but measured ones (mean, spread), and chosen parameters."""
    return {k: v for k, v in row.items() if isinstance(v, str | int) and k not in (but, "C")}
