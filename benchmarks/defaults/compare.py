"""Candidate settings side by side: a line per set, mean, rank, wins, ties and losses against the first."""

from __future__ import annotations

from typing import Any

import numpy as np
from rich.console import Console

from . import sets
from .estimators import Made, evaluated, kind_of
from .jobs import Outcome
from .running import Task, run
from .store import Store
from .verdicts import capped, tally, verdict


def ranks(table: np.ndarray) -> np.ndarray:
    """Mean rank of every column, ties shared; failures last."""
    filled = np.where(np.isnan(table), np.inf, table)
    below = (filled[:, None, :] < filled[:, :, None]).sum(axis=2)
    level = (filled[:, None, :] == filled[:, :, None]).sum(axis=2)
    return np.asarray((below + (level + 1) / 2).mean(axis=0))


def kind(expressions: list[str]) -> str:
    """Of the candidates, which must be alike."""
    found = set()
    for expression in expressions:
        try:
            found.add(kind_of(evaluated(expression)()))
        except Exception as problem:
            raise SystemExit(f"{expression!r} cannot be made: {problem}") from None
    if len(found) > 1:
        raise SystemExit(f"the candidates are for different targets ({', '.join(sorted(found))})")
    return found.pop()


def compare(
    expressions: list[str], jobs: list[str], wanted: list[str] | None, runs: int | None, by: str,
    workers: int, store: Store,
) -> None:  # fmt: skip
    """Measure (or take from the store) and print."""
    names = sets.names(wanted, kind(expressions))
    console = Console(highlight=False, width=max(80, 24 + 11 * len(expressions)))
    for number, expression in enumerate(expressions):
        console.print(f"{letter(number)}  {expression}", markup=False)
    for job in jobs:
        tasks = [
            Task(name, job, expression, Made(expression), runs, by)
            for name in names
            for expression in expressions
        ]
        found = run(tasks, store, workers, console)
        shown = [name for name in names if all((name, job, e) in found for e in expressions)]
        if not shown:
            console.print(f"\n{job}: not for any of these sets", markup=False)
            continue
        table(console, job, by, [[found[name, job, e] for e in expressions] for name in shown], shown)


def letter(number: int) -> str:
    """A, B, C ..."""
    return chr(ord("A") + number) if number < 26 else f"Z{number - 25}"


def table(console: Console, job: str, by: str, outcomes: list[list[Outcome]], names: list[str]) -> None:
    """Print it: a line per set, a column per candidate."""
    count = len(outcomes[0])
    said = {"error": "error", "auc": "100 (1 - AUC)", "f1": "100 (1 - F1)"}[by]
    console.print(f"\n[bold]{job}[/]: {said} in percent, * best; ! no convergence, x failed")
    cells: list[list[str]] = []
    values = np.full((len(names), count), np.nan)
    seconds, warned, failed = (np.zeros(count) for _ in range(3))
    notes: list[str] = []
    for i, name in enumerate(names):
        line = []
        for j, got in enumerate(outcomes[i]):
            values[i, j] = got.mean
            seconds[j] += got.seconds
            warned[j] += got.warned > 0
            failed[j] += bool(got.failed)
            if got.failed:
                notes.append(f"x {name}, {letter(j)}: {got.failed}")
            line.append("x" if got.failed else f"{got.mean:.2f}{'!' if got.warned else ''}")
        cells.append(line)
    for i, line in enumerate(cells):
        for best in np.flatnonzero(values[i] <= np.nanmin(values[i], initial=np.inf)):
            line[best] += "*"
    heads = ["set", *(letter(j) for j in range(count))]
    foot: list[list[Any]] = [
        ["mean", *(f"{m:.2f}" for m in capped(values).mean(axis=0))],
        ["mean rank", *(f"{r:.2f}" for r in ranks(values))],
        ["win/tie/loss", "", *(_against_first(job, values, j) for j in range(1, count))],
        ["seconds", *(f"{s:.1f}" for s in seconds)],
        ["no convergence", *(f"{int(w)}" for w in warned)],
        ["failed", *(f"{int(f)}" for f in failed)],
    ]
    width = max(14, *(len(name) for name in names))
    columns = [
        max(8, *(len(str(line[j])) for line in [*cells, *(f[1:] for f in foot)]))
        for j in range(len(heads) - 1)
    ]
    for line in [heads, *([n, *c] for n, c in zip(names, cells, strict=True)), *foot]:
        own = [str(cell).rjust(w + 1) for cell, w in zip(line[1:], columns, strict=True)]
        console.print(
            f"{line[0]:<{width}}{''.join(own)}", markup=False, style="bold" if line is heads else ""
        )
    for note in notes[:12]:
        console.print(note, markup=False, style="yellow")


def _against_first(job: str, values: np.ndarray, column: int) -> str:
    return tally([verdict(job, float(line[column]), float(line[0])) for line in values])
