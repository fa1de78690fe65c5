"""onmargin demo: the main job on data that come along."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from .output import Json, console, json_line, progress, writing


def demo(
    figure: Annotated[str, typer.Option(help="Where to write the figure.")] = "onmargin_demo.png",
    as_json: Json = False,
) -> None:
    """Learn digits and a noisy stream, print a table, draw the curves."""
    path = Path(figure)
    if path.suffix not in (".png", ".svg", ".pdf"):
        from ..errors import BadInput

        raise BadInput(f"--figure {figure}: wanted a name ending in .png, .svg or .pdf")
    with progress() as tell:
        from .. import demo as work

        rows, runs = work.run(tell)
        tell("drawing", len(rows), len(rows))
        with writing(figure):
            work.draw(runs, path)
    if as_json:
        for row in rows:
            json_line(row._asdict())
        json_line({"figure": str(path)})
        return
    from rich.table import Table

    table = Table(title="Learned online: each example is answered first, then learned, once")
    table.add_column("learner")
    for heading in ("online error", "test error", "updates", "µs/example"):
        table.add_column(heading, justify="right", no_wrap=True)
    for number, row in enumerate(rows):
        if number == 0 or rows[number - 1].data != row.data:
            table.add_section()
            table.add_row(f"[bold]{row.data}[/bold]")
        numbers = (f"{row.online_error:.1%}", f"{row.test_error:.1%}", f"{row.updates:,}")
        table.add_row(f"  {row.learner}", *numbers, f"{row.microseconds:.2f}")
    console().print(table)
    print(f"learning curves: {path}")
