"""Tasks done by a few processes, with a bar, and kept as they are done."""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from multiprocessing import get_context
from pathlib import Path
from typing import NamedTuple

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

import onmargin

from . import sets
from .jobs import Contestant, Outcome, measure
from .store import Store

Found = dict[tuple[str, str, str], Outcome]  # by set, job and contestant


class Task(NamedTuple):
    """One contestant does one job on one set."""

    name: str
    job: str
    who: str
    contestant: Contestant
    runs: int | None = None
    by: str = "error"

    @property
    def key(self) -> str:
        """Under which its outcome is kept: another default is another key."""
        measured = f"{self.who} | {self.job} | {self.name} | {self.by} | {self.runs or 'all'}"
        return f"{measured} | {self.contestant.settings()}"


def _do(task: Task) -> Outcome | None:
    data = sets.load(task.name)
    if (data.stream_only and task.job != "online") or not task.contestant.takes(task.job, data):
        return None
    return measure(task.contestant, task.name, task.job, task.runs, task.by)


def _quietly() -> None:
    """Others may work here too; and where the run is killed, nobody goes on without it."""
    os.nice(5)
    parent = os.getppid()

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(1.0)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def run(tasks: list[Task], store: Store, workers: int, console: Console) -> Found:
    """What the store has is not measured again. One worker: in this process."""
    print(f"onmargin of {Path(onmargin.__file__).parent}", file=sys.stderr)  # not another checkout's
    found: Found = {}
    left = []
    for task in tasks:
        known = store.get(task.key)
        if known is None:
            left.append(task)
        else:
            found[task.name, task.job, task.who] = known

    def done(task: Task, outcome: Outcome | None) -> None:
        if outcome is not None:
            found[task.name, task.job, task.who] = outcome
            store.put(task.key, outcome)

    columns = (TextColumn("{task.description:<34}", markup=False), BarColumn(20), MofNCompleteColumn())
    with Progress(*columns, TimeElapsedColumn(), console=console, transient=True) as progress:
        bar = progress.add_task("", total=len(left))
        for task, outcome in _outcomes(left, workers):
            done(task, outcome)
            said = f"{task.name} {task.job} {task.who}"[:34]
            progress.update(bar, advance=1, description=said)
            if not console.is_terminal and outcome is not None:  # a log wants lines, a terminal a bar
                print(f"{said:<34} {outcome.mean:8.2f} {outcome.seconds:7.1f} s", file=sys.stderr, flush=True)
    return found


def _outcomes(tasks: list[Task], workers: int) -> Iterator[tuple[Task, Outcome | None]]:
    if workers <= 1 or len(tasks) < 2:
        for task in tasks:
            yield task, _do(task)
        return
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"):
        os.environ.setdefault(name, "1")
    with ProcessPoolExecutor(workers, mp_context=get_context("spawn"), initializer=_quietly) as pool:
        waiting: dict[Future[Outcome | None], Task] = {pool.submit(_do, task): task for task in tasks}
        for future in as_completed(waiting):
            yield waiting[future], future.result()
