"""Which rows of the table `make test` compiles: few, with every part among them. `make soak` has the others.

Every row is compared with its oracle as plain Python in any case; what is compiled has been chosen so that
every part, and every Space with one output and with several, runs as machine code too.
"""

from __future__ import annotations

from typing import Any

import pytest

from onmargin.models.table import ROWS

from .oracles import ORACLES
from .students import BOTH_TABLES, problem_of


def parts_of(name: str) -> set[Any]:
    """What a row compiles: its parts, and its Space for one output or for several."""
    row, several = ROWS[name], problem_of(name) in ("classes", "labels")
    parts = {("decide", row.task.decide), ("move", row.space.move), (row.space.name, several)}
    return parts | set(row.words().items())


def chosen() -> list[str]:
    """Those compiled for both kinds of tables, and what they lack."""
    rows = [name for name in sorted(ORACLES) if name in BOTH_TABLES]
    seen = set().union(*map(parts_of, rows))
    for name in sorted(ORACLES, key=lambda name: -len(parts_of(name) - seen)):
        if parts_of(name) - seen:
            rows.append(name)
            seen |= parts_of(name)
    return rows


def each_row(*more: str) -> list[Any]:
    """All rows with an oracle (and some more), for a test; those that are not chosen are soaked."""
    compiled = {*chosen(), *more}
    names = [*sorted(ORACLES), *more]
    return [pytest.param(name, marks=[] if name in compiled else [pytest.mark.soak]) for name in names]
