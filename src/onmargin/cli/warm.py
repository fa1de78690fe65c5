"""onmargin warm: compile ahead of time."""

from __future__ import annotations

from typing import Annotated

import typer

from .output import Json, json_line, progress


def warm(
    everything: Annotated[
        bool, typer.Option("--all", help="Every learner, for arrays, CSR and dicts (minutes).")
    ] = False,
    as_json: Json = False,
) -> None:
    """Compile ahead of time; clear machine code of other versions."""
    with progress() as tell:
        from .. import warm as compiling

        removed = compiling.clear_stale()
        count = compiling.warm(everything, tell)
    if as_json:
        json_line({"learners": count, "stale_files_removed": removed})
    else:
        print(f"{count} learners are compiled; {removed} stale files removed")
