"""Examples that become durable together: jobs, the rows they make, who is told what."""

from __future__ import annotations

import asyncio
import time
from asyncio import AbstractEventLoop
from bisect import bisect_right
from collections.abc import Callable, Sequence
from concurrent.futures import InvalidStateError
from contextlib import suppress

import msgspec

from ..hosted import Event, Hosted
from ..plain import Json, Plain
from .journal import LEARN, Key, Row

Known = dict[tuple[str, str], int]
encode = msgspec.msgpack.Encoder().encode


class Job:
    """Examples of a model on their way to the journal, and who waits for them.

    `future` is asyncio's where there is a `loop`, else one of concurrent.futures. `size` is that of the
    request, in bytes, where it is known.
    """

    __slots__ = (
        "error",
        "events",
        "fresh",
        "future",
        "loop",
        "name",
        "numbers",
        "refused",
        "rounds",
        "since",
        "size",
    )

    def __init__(
        self, name: str, events: list[Event], future: Plain, loop: AbstractEventLoop | None, size: int = 0
    ) -> None:  # fmt: skip
        self.name, self.events, self.future, self.loop, self.size = name, events, future, loop, size
        self.since = time.monotonic()
        self.numbers: list[int] = []
        self.refused: dict[str, str] = {}
        self.fresh = self.rounds = 0
        self.error: Exception | None = None

    @property
    def answer(self) -> Json:
        """What is told when all is done."""
        return {
            "events": self.numbers, "rounds": self.rounds, "counted": self.fresh - len(self.refused),
            "refused": self.refused,
        }  # fmt: skip

    def keys(self) -> list[str]:
        """Those that were given."""
        return [event.key for event in self.events if event.key is not None]

    def settle(self) -> None:
        """Tell whoever waits, in their own thread."""
        with suppress(InvalidStateError, asyncio.InvalidStateError):  # (nobody waits any more)
            if self.error is not None:
                self.future.set_exception(self.error)
            else:
                self.future.set_result(self.answer)


class Batch:
    """The events of one model in a group: one row of the journal."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.events: list[Event] = []
        self.jobs: list[tuple[Job, Sequence[int]]] = []
        self.starts: list[int] = []

    def take(self, job: Job, places: Sequence[int]) -> None:
        """These of a job's events, which are new."""
        self.jobs.append((job, places))
        self.starts.append(len(self.events))
        whole = len(places) == len(job.events)
        self.events += job.events if whole else [job.events[place] for place in places]

    def number(self, first: int, at: float) -> Row:
        """Numbers from `first` on, and the row."""
        for (job, places), start in zip(self.jobs, self.starts, strict=True):
            job.fresh = len(places)
            for number, place in enumerate(places, first + start):
                job.numbers[place] = number
        return Row(first, first + len(self.events) - 1, self.name, LEARN, at, encode(self.events))

    def apply(self, hosted: Hosted, row: Row, strict: bool = False) -> None:
        """Learn what is durable now."""
        refused = hosted.apply(self.events, [row.at] * len(self.events), strict)
        hosted.event = row.last
        for place, reason in refused.items():
            key = self.events[place].key
            if key is not None:
                hosted.turned_away.append((key, row.first + place))
            which = bisect_right(self.starts, place) - 1
            job, places = self.jobs[which]
            job.refused[str(places[place - self.starts[which]])] = reason
        for job, _ in self.jobs:
            job.rounds = hosted.tallies.rounds

    def fail(self, error: Exception) -> None:
        """Whoever waits for these is told."""
        for job, _ in self.jobs:
            job.error = error


class Group:
    """Jobs of one commit: what is new of them, by model."""

    def __init__(self, jobs: list[Job], known: Callable[[str, list[str]], dict[str, int]]) -> None:
        self.jobs, self.batches = jobs, dict[str, Batch]()
        self.known = self._looked_up(known)
        self.repeated: list[Job] = []
        for job in jobs:
            job.numbers = [0] * len(job.events)
            places = self._new(job)
            if len(places) < len(job.events):
                self.repeated.append(job)
            if places:
                self.batches.setdefault(job.name, Batch(job.name)).take(job, places)

    def _looked_up(self, known: Callable[[str, list[str]], dict[str, int]]) -> Known:
        asked: dict[str, dict[str, None]] = {}
        for job in self.jobs:
            if keys := job.keys():
                asked.setdefault(job.name, {}).update(dict.fromkeys(keys))
        return {
            (name, key): event
            for name, some in asked.items()
            for key, event in known(name, list(some)).items()
        }

    def _new(self, job: Job) -> Sequence[int]:
        """Places of the events whose keys were not met."""
        if not job.keys():
            return range(len(job.events))
        places = []
        for place, event in enumerate(job.events):
            if event.key is not None:
                if (job.name, event.key) in self.known:
                    continue
                self.known[job.name, event.key] = 0
            places.append(place)
        return places

    def rows(self, last: int, at: float) -> tuple[list[Row], list[Key]]:
        """What is written, numbered after `last`."""
        rows, keys = [], []
        for batch in self.batches.values():
            row = batch.number(last + 1, at)
            for number, event in enumerate(batch.events, row.first):
                if event.key is not None:
                    keys.append(Key(batch.name, event.key, number))
                    self.known[batch.name, event.key] = number
            rows.append(row)
            last = row.last
        for job in self.repeated:  # keys met before have their first event
            for place, event in enumerate(job.events):
                if not job.numbers[place] and event.key is not None:
                    job.numbers[place] = self.known[job.name, event.key]
        return rows, keys


def acknowledge(jobs: Sequence[Job]) -> None:
    """Everybody is told; those of one loop by one call."""
    loops: dict[AbstractEventLoop, list[Job]] = {}
    for job in jobs:
        if job.loop is None:
            job.settle()
        else:
            loops.setdefault(job.loop, []).append(job)
    for loop, some in loops.items():
        with suppress(RuntimeError):  # (the loop is closed: nobody waits)
            loop.call_soon_threadsafe(_settle, some)


def _settle(jobs: list[Job]) -> None:
    for job in jobs:
        job.settle()
