"""One piece of work done by several contestants in turn, and what the medians say."""

from __future__ import annotations

import gc
import statistics
import time
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from .targets import Target

Seconds = dict[str, list[float]]
OVER, BESIDE, TAKES = "over", "beside", "takes"  # the peer's time / ours; ours / the other's; ours alone
RATE = "rate"  # how many a second

# What a line is compared with: the headings of the page, in its order.
SKLEARN = "Times faster than scikit-learn, both in row order"
RIVER = "Times faster than River"
VW = "Times faster than Vowpal Wabbit"
MACHINE = "Times faster than scikit-learn's SVC to the end"
PLAIN = "Times faster than one thread, or than NumPy"
LIMIT = "Beside the limit: our time / that of the bare work"
OTHER = "Beside other work of ours: this / that"
ROUND = "Microseconds"
START = "Start and memory"
HTTP, SERVED = "A second through HTTP, one process", "Waiting for an answer through HTTP"
GROUPS = {
    SKLEARN: OVER, RIVER: OVER, VW: OVER, MACHINE: OVER, PLAIN: OVER, LIMIT: BESIDE, OTHER: BESIDE,
    ROUND: TAKES, START: TAKES, HTTP: RATE, SERVED: TAKES,
}  # fmt: skip
PEERS = {
    SKLEARN: "scikit-learn", RIVER: "River", VW: "Vowpal Wabbit", MACHINE: "SVC",
    PLAIN: "One thread or NumPy",
}  # fmt: skip


LONGEST = 28  # a title, so that tables stay within 80 columns


class Contestant(NamedTuple):
    """`run` does the whole work with a fresh learner; `accuracy` judges what it returned."""

    run: Callable[[Any], Any]
    accuracy: Callable[[Any], float]
    prepare: Callable[[], Any] = lambda: None  # done before the clock starts, its result goes to `run`


class Line(NamedTuple):
    """A line of the table: one contestant of ours, what it is held against, and the limit of both."""

    group: str
    title: str
    ours: str
    peer: str = ""  # none where the time itself counts
    target: Target | None = None  # None: shown for comparison
    limit: str = ""  # the contestant that does the bare work

    @property
    def sense(self) -> str:
        """How its number is made."""
        return GROUPS[self.group]


def line(
    group: str, title: str, ours: str, peer: str = "",
    hold: float | None = None, reach: float | None = None, limit: str = "",
) -> Line:  # fmt: skip
    """A line whose target is met from above or from below, as its group has it."""
    if len(title) > LONGEST:
        raise ValueError(f"a title of {len(title)} characters; the page has room for {LONGEST}: {title!r}")
    target = None if hold is None else Target(hold, reach, most=GROUPS[group] not in (OVER, RATE))
    return Line(group, title, ours, peer, target, limit)


class Work(NamedTuple):
    """Contestants that do the same work on the same data."""

    name: str
    data: str
    contestants: dict[str, Contestant]
    lines: list[Line]
    rounds: int = 1  # of one `run`, where the time of a round is shown
    repetitions: int = 7
    least: float = 0.75  # an accuracy below this is no learning
    skipped: str = ""  # why lines are missing


class Result(NamedTuple):
    """A measured line: a ratio, or a number of units."""

    line: Line
    work: str
    data: str
    value: float  # of the medians
    low: float  # least and greatest of a single repetition
    high: float
    limit: float | None = None  # the number that the bare work would have had
    unit: str = "x"

    @property
    def verdict(self) -> str:
        """What the target makes of it; nothing where there is none."""
        return self.line.target.verdict(self.value) if self.line.target else ""


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
    found = []
    for each in work.lines:
        peers = seconds[each.peer] if each.peer else [1.0] * len(seconds[each.ours])
        value, low, high = _measured(each.sense, seconds[each.ours], peers, work.rounds)
        limit = _measured(each.sense, seconds[each.limit], peers, work.rounds)[0] if each.limit else None
        unit = "us" if each.sense == TAKES else "x"
        found.append(Result(each, work.name, work.data, value, low, high, limit, unit))
    return found


def _measured(sense: str, ours: list[float], peers: list[float], rounds: int) -> tuple[float, float, float]:
    """The number of the medians, the least and the greatest of one repetition."""

    def number(mine: float, theirs: float) -> float:
        if sense == TAKES:
            return 1e6 * mine / rounds
        return theirs / mine if sense == OVER else mine / theirs

    each = [number(mine, theirs) for mine, theirs in zip(ours, peers, strict=True)]
    return number(statistics.median(ours), statistics.median(peers)), min(each), max(each)
