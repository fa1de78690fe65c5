"""onmargin sweep: many values of the parameters, one pass over the data."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from .output import Json, console, json_line, table, writing
from .parameters import told_apart

if TYPE_CHECKING:
    from ..results.sweep_result import SweepResult

FIGURES = (".png", ".svg", ".pdf")
HELP = """Try many values of the parameters in one pass over DATA.

Give an algorithm's parameter a range, -C 1e-4..1e2:32 (32 values, evenly in their logarithms), or a list,
--step pa1,pa2; of several parameters, all combinations are tried. Other --name value are as in 'learn'."""


def sweep(
    context: typer.Context,
    data: Annotated[list[str], typer.Argument(help="What to learn from.", metavar="DATA")],
    algorithm: Annotated[
        str | None,
        typer.Option(help="A family (arow, pa1, ...) or a row of 'onmargin algorithms'. [best for the task]"),
    ] = None,
    task: Annotated[
        str | None, typer.Option(help="classes, numbers, sets or queries. [found from the labels]")
    ] = None,
    format: Annotated[
        str | None, typer.Option(help="svmlight, vw, csv, jsonl, parquet or text. [by the ending]")
    ] = None,
    scoring: Annotated[
        str | None, typer.Option(help="What to judge by: auc, f1, ... [error_rate; mae; ndcg]")
    ] = None,
    figure: Annotated[str | None, typer.Option(help="Draw the outcome: a .png, .svg or .pdf file.")] = None,
    save: Annotated[str | None, typer.Option(help="Where to keep the best model (.onm).")] = None,
    threads: Annotated[int | None, typer.Option(min=1, help="How many at once. [one per core]")] = None,
    on_error: Annotated[str, typer.Option(help="At a bad line: stop, or skip and count it.")] = "stop",
    as_json: Json = False,
) -> None:
    from ..errors import BadInput
    from ..protocols.requested.requests import Request
    from ..protocols.requested.trying import tried
    from ..protocols.saving.files import save as write

    if figure is not None and Path(figure).suffix not in FIGURES:
        raise BadInput(f"--figure {figure}: wanted a name ending in {', '.join(FIGURES)}")
    paths, parameters = told_apart(context, data)
    typed = shlex.join(["onmargin", *sys.argv[1:]])
    request = Request(paths, algorithm, task, format, parameters, on_error=on_error, command=typed)
    found = tried(request, scoring, threads, verbose=int(console(stderr=True).is_terminal))
    _tell(found.result, {"algorithm": found.name, "task": found.task, "skipped": found.skipped}, as_json)
    if figure is not None:
        Path(figure).parent.mkdir(parents=True, exist_ok=True)
        with writing(figure):
            found.result.plot().savefig(figure, dpi=150)
        json_line({"figure": figure}) if as_json else print(f"figure: {figure}")
    if save is not None:
        write(found.best(), save, notes=found.notes)
        json_line({"saved": save}) if as_json else print(f"best model: {save}")


sweep.__doc__ = HELP


def _tell(result: SweepResult, facts: dict[str, object], as_json: bool) -> None:
    best = result.rows[result.best_index]
    if as_json:
        for row in result.rows:
            json_line(row)
        json_line({"best": result.best_params, result.criterion: best[result.criterion], **facts})
        return
    told = ("rounds",) if result.rows[0].keys() & {"error_rate"} else ("rounds", "mistakes")  # numbers: none
    headings = [name for name in result.rows[0] if name not in told]
    lines = []
    for number, row in enumerate(result.rows):
        mark = "* " if number == result.best_index else ""
        lines.append(
            [_short(row[name]) if name != result.criterion else mark + _short(row[name]) for name in headings]
        )
    table([name.replace("_", " ") for name in headings], lines, words=0)
    said = ", ".join(f"{name}={_short(value)}" for name, value in result.best_params.items())
    task, skipped = facts["task"], facts["skipped"]
    print(f"best of {len(result.rows)}: {said} ({facts['algorithm']}, {task}), {result.criterion} "
          f"{best[result.criterion]:.5g} online over {best['rounds']:,} examples")  # fmt: skip
    if skipped:
        print(f"skipped: {skipped:,} lines that could not be read")


def _short(value: object) -> str:
    if isinstance(value, float):
        return f"{value:.5g}"
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)
