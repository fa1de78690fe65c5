"""onmargin algorithms: the table of recipes."""

from __future__ import annotations

from typing import Annotated

import typer

from .output import Json, json_line, table


def algorithms(
    containing: Annotated[str, typer.Argument(help="Only names that contain this.")] = "",
    as_json: Json = False,
) -> None:
    """List every algorithm: task, loss, step, space, and where it is written."""
    from ..models.table import algorithms as recipes

    rows = [row for row in recipes() if containing in row["name"]]
    if as_json:
        for row in rows:
            json_line(row)
        return
    parts = ("name", "task", "loss", "step", "space", "section")
    table(parts, ([str(row[part]) for part in parts] for row in rows), words=len(parts))
