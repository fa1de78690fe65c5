"""The measured lines as a table on the screen and in Markdown."""

from __future__ import annotations

import platform
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

from .contest import Result
from .starts import Bound

PEERS = ("onmargin", "scikit-learn", "river", "numba", "numpy", "scipy")
Lines = list[list[str]]
SPEED = ["work", "ours", "peer's", "ratio", "hold", "reach", "verdict", "from - to", "peer"]
STARTS = ["start and memory", "measured", "hold", "verdict", "note"]
WIDE_ONLY = {"from - to", "peer", "note"}  # columns that only the file has room for


def verdict(result: Result) -> str:
    """What the targets make of a ratio."""
    hold, reach = result.versus.hold, result.versus.reach
    if hold is None or reach is None:
        return ""
    if result.ratio < hold:
        return "below"
    return "reached" if result.ratio >= reach else "held"


def kept(bound: Bound) -> str:
    """What its limit makes of a number."""
    return "held" if bound.value < bound.limit else "over"


def speed_lines(results: list[Result]) -> Lines:
    """Cells for `SPEED`."""
    lines = []
    for result in results:
        versus, unit = result.versus, result.unit.replace("us", "µs")
        targets = [f"{target:.3g}x" if target else "" for target in (versus.hold, versus.reach)]
        times = [f"{time:.{0 if time >= 100 else 1}f} {unit}" for time in (result.ours, result.peer)]
        spread = f"{result.low:.2f} - {result.high:.2f}"
        measured = [versus.title, *times, f"{result.ratio:.2f}x", *targets]
        lines.append([*measured, verdict(result), spread, versus.peer])
    return lines


def start_lines(bounds: list[Bound]) -> Lines:
    """Cells for `STARTS`."""
    return [
        [b.title, f"{b.value:.2g} {b.unit}", f"under {b.limit:g} {b.unit}", kept(b), b.note] for b in bounds
    ]


def show(console: Console, heads: list[str], lines: Lines) -> None:
    """A table on the screen."""
    colours = {"below": "red", "over": "red", "held": "green", "reached": "bold green"}
    table = Table(header_style="bold", box=SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False)
    shown = [column for column, head in enumerate(heads) if head not in WIDE_ONLY]
    for column in shown:
        table.add_column(heads[column], no_wrap=True, justify="right" if column in (1, 2, 3) else "left")
    for line in lines:
        cells = [line[column] for column in shown]
        table.add_row(*(f"[{colours[cell]}]{cell}[/]" if cell in colours else cell for cell in cells))
    console.print(table)


def _markdown(heads: list[str], lines: Lines) -> list[str]:
    rows = [f"| {' | '.join(cells)} |" for cells in (heads, ["---"] * len(heads), *lines)]
    return [row.replace("|   ", "| &emsp;", 1) for row in rows]  # an indented title stays indented


def machine() -> str:
    """Where it ran, and with what."""
    versions = []
    for name in PEERS:
        try:
            versions.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            versions.append(f"{name} absent")
    return f"Python {platform.python_version()} on {platform.machine()}; {', '.join(versions)}; one thread."


def write(
    path: Path, results: list[Result], bounds: list[Bound], skipped: list[str], repetitions: str
) -> None:
    """The Markdown file."""
    text = ["# Benchmarks", "", machine(), f"Medians of {repetitions}; ratio = peer's time / ours."]
    text += ["`from - to` is the least and the greatest ratio of a single repetition.", ""]
    if results:
        text += [*_markdown(SPEED, speed_lines(results)), "", "Data:", ""]
        text += [f"- {name}: {data}" for name, data in {r.work: r.data for r in results}.items()] + [""]
    if bounds:
        text += [*_markdown(STARTS, start_lines(bounds)), ""]
    text += [f"Skipped: {line}" for line in skipped]
    path.write_text("\n".join(text).rstrip() + "\n", encoding="utf-8")
