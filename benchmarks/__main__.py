"""Run the benchmarks: `python -m benchmarks [--only NAME ...] [--quick]`."""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeElapsedColumn

from . import (
    asking,
    calls,
    figure,
    files,
    kernels,
    page,
    pairs,
    passes,
    recipes,
    rounds,
    second_order,
    serving,
    shapes,
    starts,
    svm,
    texts,
)
from .contest import Result, Work, check, interleaved, results
from .datasets import ROOT
from .markdown import short

WORKS: dict[str, Callable[[bool], Work]] = {
    "binary": passes.binary,
    "pegasos": svm.pegasos,
    "dense": passes.dense,
    "csr": passes.csr,
    "many": passes.many,
    "second": second_order.scaled,
    "calls": calls.small,
    "predict": calls.predict,
    "numbers": rounds.numbers,
    "words": rounds.words,
    "others": rounds.others,
    "kernel": kernels.passes,
    "threads": kernels.threads,
    "projectron": kernels.projectron,
    "svc": kernels.machines,
    "sweep": recipes.sweep,
    "recipe": recipes.recipe,
    "labels": pairs.labels,
    "pairs": pairs.rounds,
    "asking": asking.sampler,
    "bbq": asking.bbq,
    "text": texts.hashed,
    "files": files.reading,
    "passes": files.learning,
    "shell": files.shell,
}
STARTS, SERVING, SHAPES, CLUSTER = "starts", "serving", "shapes", "cluster"
NAMES = [*WORKS, STARTS, SERVING, SHAPES]
BY_NAME_ALONE = [CLUSTER]  # long, and a page of its own
FEWEST = 3  # repetitions of a quick run
OUT = ROOT / "out" / "bench"
DOCS = ROOT / "docs"


def compare(
    make: Callable[[bool], Work], quick: bool, progress: Progress, task: TaskID
) -> tuple[Work, list[Result]]:
    """Make the data, see that everybody learns, take the times."""
    progress.update(task, doing="making the data")
    work = make(quick)
    if not work.lines:
        progress.update(task, total=1, completed=1, doing=f"skipped: {work.skipped}")
        return work, []
    repetitions = FEWEST if quick else work.repetitions
    progress.update(task, total=repetitions, doing="warming up")
    reached = check(work)
    found: list[Result] = []
    for seconds in interleaved(work, repetitions):
        found = results(work, seconds)
        best = found[0]
        progress.update(task, advance=1, doing=f"{best.line.title}: {short(best.value)}{best.unit}")
    accuracies = ", ".join(f"{name} {accuracy:.3f}" for name, accuracy in reached.items())
    progress.console.print(f"[dim]{work.name}: {work.data}; accuracy: {accuracies}[/]", highlight=False)
    return work, found


def begun(quick: bool, progress: Progress, task: TaskID) -> list[Result]:
    """Start and memory."""
    progress.update(task, total=len(starts.MEASURES), doing="fresh processes")
    found = []
    for result in starts.measured(FEWEST if quick else 9):
        found.append(result)
        doing = f"{result.line.title}: {short(result.value)} {result.unit}"
        progress.update(task, advance=1, doing=doing)
    return found


def served(quick: bool, progress: Progress, task: TaskID) -> list[Result]:
    """The server under load."""
    if serving.MISSING:
        progress.update(task, total=1, completed=1, doing=f"skipped: {serving.MISSING}")
        return []
    progress.update(task, total=serving.LINES, doing="starting the server")
    found = []
    for result in serving.measured(quick):
        found.append(result)
        progress.update(task, advance=1, doing=f"{result.line.title}: {short(result.value)}{result.unit}")
    return found


def shaped(quick: bool, progress: Progress, task: TaskID) -> list[list[shapes.Place]]:
    """Every axis of the shapes."""
    progress.update(task, total=len(shapes.SHAPES))
    found = []
    for axis in shapes.SHAPES:
        progress.update(task, doing=axis[0].axis)
        entries, repetitions = (shapes.ENTRIES // 10, FEWEST) if quick else (shapes.ENTRIES, 9)
        found.append(shapes.places(list(shapes.measure(axis, entries, repetitions))))
        progress.update(task, advance=1)
    return found


def clustered(quick: bool, progress: Progress, task: TaskID) -> None:
    """Epochs on workers, and the page of what they cost."""
    from .cluster import page as costs

    told = costs.measured(OUT / "cluster", quick, lambda doing: progress.update(task, doing=doing))
    path = (OUT if quick else DOCS) / "cluster_costs.md"
    path.write_text(costs.text(*told), encoding="utf-8")
    progress.update(task, total=1, completed=1, doing=f"wrote {path}")


def main() -> None:
    """Parse, measure, print, write."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    every = [*NAMES, *BY_NAME_ALONE]
    parser.add_argument("--only", choices=every, nargs="+", metavar="NAME", help=", ".join(every))
    parser.add_argument("--quick", action="store_true", help=f"{FEWEST} repetitions on smaller data")
    options = parser.parse_args()
    console = Console()
    lines: list[Result] = []
    axes: list[list[shapes.Place]] = []
    skipped: list[str] = []
    columns = (
        TextColumn("{task.description:<10}"),
        BarColumn(20),
        TextColumn("{task.fields[doing]}", markup=False),
    )
    began = time.perf_counter()
    with Progress(*columns, TimeElapsedColumn(), console=console) as progress:
        for name in options.only or NAMES:
            task = progress.add_task(name, total=None, doing="")
            if name == STARTS:
                lines += begun(options.quick, progress, task)
            elif name == SERVING:
                lines += served(options.quick, progress, task)
                skipped += [f"{name}: {serving.MISSING}"] if serving.MISSING else []
            elif name == SHAPES:
                axes = shaped(options.quick, progress, task)
            elif name == CLUSTER:
                clustered(options.quick, progress, task)
            else:
                work, found = compare(WORKS[name], options.quick, progress, task)
                lines += found
                skipped += [f"{name}: {work.skipped}"] if work.skipped else []
    if options.only == BY_NAME_ALONE:
        return
    said = f"{FEWEST} repetitions on small data, a quick run." if options.quick else "3 to 15 repetitions."
    whole = not options.quick and not options.only
    folder = DOCS if whole else OUT
    written = page.write(folder, lines, axes, skipped, said)
    drawn = folder / page.FIGURE
    figure.draw(drawn, lines, axes)
    print(written.read_text(encoding="utf-8"))
    for path in (written, drawn):
        print(f"wrote {path.relative_to(ROOT)}")
    print(f"in {(time.perf_counter() - began) / 60:.1f} minutes")


if __name__ == "__main__":
    main()
