"""`python -m benchmarks.defaults`: every default beside its peers; `compare` beside it: candidates."""

from __future__ import annotations

import argparse
import time

from rich.console import Console

from ..datasets import ROOT
from . import dots, page, sets
from .compare import compare
from .contestants import EVERYBODY, OURS, absent
from .jobs import JOBS, MEASURES
from .running import Found, Task, run
from .store import Store

OUT = ROOT / "out" / "defaults"
ALL_OURS = "ours"
QUICK = ["small", "numbers", "sms"]


def tasks(names: list[str], runs: int | None) -> list[Task]:
    """Everybody does everything, set by set."""
    return [
        Task(name, job, who, contestant, runs)
        for name in names
        for job in JOBS
        for who, contestant in EVERYBODY.items()
    ]


def measured(options: argparse.Namespace, console: Console) -> Found:
    """Anew, or what an earlier run left, or only one contestant anew."""
    store = Store(OUT / "defaults.jsonl", options.resume or options.report or bool(options.only))
    for who in options.only or []:
        for one in OURS if who == ALL_OURS else [who]:
            store.forget(one)
    names = sets.names(options.sets or (QUICK if options.quick else None))
    todo = tasks(names, 1 if options.quick else None)
    if options.report:
        todo = [task for task in todo if store.get(task.key)]
    return run(todo, store, options.workers, console)


def defaults(options: argparse.Namespace) -> None:
    """Measure all, write page and figure."""
    console, begun = Console(highlight=False), time.perf_counter()
    found = measured(options, console)
    whole = not options.quick and {name for name, _, _ in found} == set(sets.names())
    folder = ROOT / "docs" if whole else OUT  # a part of the truth is no page of the documentation
    count = len({name for name, _, _ in found})
    said = f"{count} sets, {len({who for _, _, who in found if who in OURS})} learners of ours."
    path = page.write(folder, found, absent(), said if whole else f"A part only: {said}")
    dots.draw(folder / page.FIGURE, found)
    for section in page.SECTIONS:
        for job in page.JOBS:
            table = page.matches(section, job, found)
            if table:
                console.print(f"\n{section.title}, {job}: {section.measure}", style="bold", markup=False)
                console.print("\n".join(table), markup=False, soft_wrap=True)
    for line in absent():
        console.print(f"absent: {line}", style="yellow", markup=False)
    console.print(f"wrote {path.relative_to(ROOT)} in {time.perf_counter() - begun:.0f} s")


def main() -> None:
    """Parse, measure, print."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.defaults", description=__doc__)
    parser.add_argument("--quick", action="store_true", help=f"{', '.join(QUICK)} only, one run each")
    who = [ALL_OURS, *EVERYBODY]
    said = f"measure these anew, keep the rest: {', '.join(who)}"
    parser.add_argument("--only", nargs="+", choices=who, metavar="NAME", help=said)
    parser.add_argument("--resume", action="store_true", help="take what an earlier run has measured")
    parser.add_argument("--report", action="store_true", help="measure nothing: the page of what is known")
    parser.add_argument("--sets", nargs="+", metavar="SET", help=f"sets or groups: {', '.join(sets.GROUPS)}")
    parser.add_argument("--workers", type=int, default=2)
    verbs = parser.add_subparsers(dest="verb")
    side = verbs.add_parser("compare", help="candidate settings side by side")
    side.add_argument(
        "expression", nargs="+", help="such as 'AROW(r=0.1)'; length, typical, spread, n, d are the set's"
    )
    side.add_argument("--job", nargs="+", choices=JOBS, default=list(JOBS))
    side.add_argument("--sets", nargs="+", metavar="SET", help=f"sets or groups: {', '.join(sets.GROUPS)}")
    side.add_argument("--measure", choices=MEASURES, default="error")
    side.add_argument("--runs", type=int, help=f"splits or orders ({sets.SPLITS}; long streams: 1)")
    side.add_argument("--workers", type=int, default=2)
    side.add_argument("--resume", action="store_true", help="take what an earlier run has measured")
    options = parser.parse_args()
    sets.where()
    if options.verb is None:
        defaults(options)
        return
    store = Store(OUT / "compare.jsonl", options.resume)
    compare(
        options.expression, options.job, options.sets, options.runs, options.measure, options.workers, store
    )


if __name__ == "__main__":
    main()
