"""onmargin reproduce: the papers' experiments, their figures, and whether their claims hold."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from .output import Json, json_line, progress, table

if TYPE_CHECKING:
    from ..experiments.running import Result

HELP = """Run the papers' experiments and hold them to their claims.

NAME is one of those that --list tells, or all. Tables (CSV, Markdown), figures (PNG, SVG) and report.html go
to --out; what was run before on the same sources and data is not run again. Real sets are looked for in the
folder that ONMARGIN_DATA names. Exit code 1: a claim does not hold; 2: an experiment's data are not there."""


def reproduce(
    names: Annotated[
        list[str] | None, typer.Argument(help="Which ones, or all. [all]", metavar="NAME")
    ] = None,
    out: Annotated[str, typer.Option(help="Where everything goes.", metavar="DIR")] = "out/reproduce",
    quick: Annotated[bool, typer.Option("--quick", help="Fewer repetitions; minutes in all.")] = False,
    listed: Annotated[bool, typer.Option("--list", help="Say which there are.")] = False,
    as_json: Json = False,
) -> None:
    from ..experiments import NAMES

    if listed:
        for name, line in NAMES.items():
            json_line({"name": name, "about": line}) if as_json else print(f"{name:18} {line}")
        return
    folder = Path(out)
    with progress() as tell:
        from ..experiments.running import exit_code, run

        results = run(names or [], folder, quick, tell)
    _tell(results, folder, as_json)
    raise typer.Exit(exit_code(results))


reproduce.__doc__ = HELP


def _tell(results: list[Result], folder: Path, as_json: bool) -> None:
    for result in results:
        if result.outcome is None:
            why = result.missing or result.broke.strip().splitlines()[-1]
            sys.stderr.write(f"{result.name}: {why}\n")
        for text in result.failed:
            sys.stderr.write(f"{result.name}: does not hold: {text}\n")
        if as_json:
            json_line(_facts(result))
    if as_json:
        json_line({"report": str(folder / "report.html")})
        return
    lines = []
    for result in results:
        claims = [] if result.outcome is None else result.outcome.claims
        held = f"{len(claims) - len(result.failed)} of {len(claims)}" if claims else "-"
        took = "-" if result.outcome is None else "kept" if result.kept else f"{result.seconds:.1f} s"
        lines.append([result.name, result.verdict, held, took])
    table(["experiment", "verdict", "claims", "took"], lines, words=2)
    print(f"report: {folder / 'report.html'}")


def _facts(result: Result) -> dict[str, object]:
    """For programs: the whole outcome."""
    facts: dict[str, object] = {
        "name": result.name, "verdict": result.verdict, "quick": result.quick, "kept": result.kept,
    }  # fmt: skip
    if result.outcome is None:
        return facts | {"error": result.missing or result.broke}
    return facts | {
        "seconds": round(result.seconds, 3),
        "title": result.outcome.title,
        "rows": result.outcome.rows,
        "claims": [claim._asdict() for claim in result.outcome.claims],
    }
