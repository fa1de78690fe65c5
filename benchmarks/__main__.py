"""Run the benchmarks: `python -m benchmarks [--only NAME] [--quick]`."""

from __future__ import annotations

import argparse
from collections.abc import Callable

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeElapsedColumn

from . import asking, figure, kernels, pairs, passes, recipes, report, rounds, starts
from .contest import Result, Work, check, interleaved, results
from .datasets import ROOT

WORKS: dict[str, Callable[[bool], Work]] = {
    "sparse": passes.sparse,
    "dense": passes.dense,
    "csr": passes.csr,
    "numbers": rounds.numbers,
    "words": rounds.words,
    "pegasos": recipes.pegasos,
    "sweep": recipes.sweep,
    "recipe": recipes.recipe,
    "kernel": kernels.passes,
    "threads": kernels.threads,
    "projectron": kernels.projectron,
    "svc": kernels.machines,
    "pairs": pairs.rounds,
    "asking": asking.sampler,
    "bbq": asking.bbq,
}
STARTS = "starts"
FEWEST = 3  # repetitions of a quick run
OUT = ROOT / "out" / "bench"


def compare(
    make: Callable[[bool], Work], quick: bool, progress: Progress, task: TaskID
) -> tuple[Work, list[Result]]:
    """Make the data, see that everybody learns, take the times."""
    progress.update(task, doing="making the data")
    work = make(quick)
    if not work.lines:
        return work, []
    repetitions = FEWEST if quick else work.repetitions
    progress.update(task, total=repetitions, doing="warming up")
    reached = check(work)
    seconds: dict[str, list[float]] = {}
    for seconds in interleaved(work, repetitions):
        best = results(work, seconds)[0]
        progress.update(task, advance=1, doing=f"{best.versus.title}: {best.ratio:.2f}x")
    accuracies = ", ".join(f"{name} {accuracy:.3f}" for name, accuracy in reached.items())
    progress.console.print(f"[dim]{work.name}: {work.data}; accuracy: {accuracies}[/]", highlight=False)
    return work, results(work, seconds)


def limits(quick: bool, progress: Progress, task: TaskID) -> list[starts.Bound]:
    """Start and memory."""
    progress.update(task, total=len(starts.MEASURES), doing="fresh processes")
    found = []
    for bound in starts.bounds(FEWEST if quick else 9):
        found.append(bound)
        progress.update(task, advance=1, doing=f"{bound.title}: {bound.value:.3g} {bound.unit}")
    return found


def main() -> None:
    """Parse, measure, print, write."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--only", choices=[*WORKS, STARTS], metavar="NAME", help=", ".join([*WORKS, STARTS]))
    parser.add_argument("--quick", action="store_true", help=f"{FEWEST} repetitions on smaller data")
    options = parser.parse_args()
    names = [options.only] if options.only else [*WORKS, STARTS]
    console = Console()
    lines: list[Result] = []
    bounds: list[starts.Bound] = []
    skipped: list[str] = []
    columns = (
        TextColumn("{task.description:<8}"),
        BarColumn(24),
        TextColumn("{task.fields[doing]}", markup=False),
    )
    with Progress(*columns, TimeElapsedColumn(), console=console) as progress:
        for name in names:
            task = progress.add_task(name, total=None, doing="")
            if name == STARTS:
                bounds = limits(options.quick, progress, task)
                continue
            work, found = compare(WORKS[name], options.quick, progress, task)
            lines += found
            if work.skipped:
                skipped.append(f"{name}: {work.skipped}")
                progress.update(task, total=1, completed=1, doing=f"skipped: {work.skipped}")
    if lines:
        report.show(console, report.SPEED, report.speed_lines(lines))
    if bounds:
        report.show(console, report.STARTS, report.start_lines(bounds))
    for line in skipped:
        console.print(f"skipped {line}", style="yellow", markup=False)
    OUT.mkdir(parents=True, exist_ok=True)
    repetitions = (
        f"{FEWEST} repetitions (a quick run)" if options.quick else "7 to 15 interleaved repetitions"
    )
    report.write(OUT / "bench.md", lines, bounds, skipped, repetitions)
    if lines or bounds:
        figure.draw(OUT / "bench.png", lines, bounds)
    for path in (OUT / "bench.md", OUT / "bench.png"):
        console.print(f"wrote {path.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
