"""One piece of work done by several contestants in turn, and what the medians say."""

from __future__ import annotations

import gc
import statistics
import time
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

Seconds = dict[str, list[float]]


class Contestant(NamedTuple):
    """`run` does the whole work with a fresh learner; `accuracy` judges what it returned."""

    run: Callable[[Any], Any]
    accuracy: Callable[[Any], float]
    prepare: Callable[[], Any] = lambda: None  # done before the clock starts, its result goes to `run`


class Versus(NamedTuple):
    """A line of the table: one contestant of ours against one of theirs."""

    title: str
    ours: str
    peer: str
    hold: float | None = None  # the ratio that must be held; None: shown for comparison
    reach: float | None = None


class Work(NamedTuple):
    """Contestants that do the same work on the same data."""

    name: str
    data: str
    contestants: dict[str, Contestant]
    lines: list[Versus]
    unit: str = "ms"  # of one `run`, divided by `rounds`
    rounds: int = 1
    repetitions: int = 7
    least: float = 0.75  # an accuracy below this is no learning
    skipped: str = ""  # why lines are missing


class Result(NamedTuple):
    """A measured line."""

    versus: Versus
    work: str
    data: str
    unit: str
    ours: float
    peer: float
    ratio: float  # of the medians
    low: float  # least and greatest ratio of two runs of one repetition
    high: float


UNITS = {"ms": 1e3, "us": 1e6}


def check(work: Work) -> dict[str, float]:
    """Every contestant once, off the clock: compiles what must be compiled, refuses a no-op."""
    reached = {}
    for name, contestant in work.contestants.items():
        reached[name] = contestant.accuracy(contestant.run(contestant.prepare()))
        if not reached[name] >= work.least:
            raise SystemExit(
                f"{work.name}: {name} reaches an accuracy of {reached[name]:.3f}; wanted at least "
                f"{work.least}, else the times mean nothing"
            )
    return reached


def interleaved(work: Work, repetitions: int) -> Iterator[Seconds]:
    """The times so far, after every repetition; who goes first changes."""
    seconds: Seconds = {name: [] for name in work.contestants}
    names = list(seconds)
    for repetition in range(repetitions):
        shift = repetition % len(names)
        for name in names[shift:] + names[:shift]:
            contestant = work.contestants[name]
            prepared = contestant.prepare()
            gc.collect()
            began = time.perf_counter()
            kept = contestant.run(prepared)
            seconds[name].append(time.perf_counter() - began)
            del kept
        yield seconds


def results(work: Work, seconds: Seconds) -> list[Result]:
    """The lines of a work from its times."""
    scale = UNITS[work.unit] / work.rounds
    lines = []
    for versus in work.lines:
        ours, peer = seconds[versus.ours], seconds[versus.peer]
        pairs = [theirs / mine for mine, theirs in zip(ours, peer, strict=True)]
        mine, theirs = statistics.median(ours), statistics.median(peer)
        ratio = theirs / mine
        times = (scale * mine, scale * theirs, ratio, min(pairs), max(pairs))
        lines.append(Result(versus, work.name, work.data, work.unit, *times))
    return lines
