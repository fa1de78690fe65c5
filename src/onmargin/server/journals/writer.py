"""The one thread that writes: it makes a group of what waits durable, applies it, and acknowledges it."""

from __future__ import annotations

import logging
import time
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from contextlib import suppress
from threading import Condition, Thread

from ...errors import OnmarginError
from ..hosted import Hosted
from ..plain import Plain
from ..refusals import CannotWrite, NotApplied, TooBusy
from .groups import Batch, Group, Job, acknowledge
from .journal import Key, Row
from .past import Past

log = logging.getLogger("onmargin.server")
GROUP = 20_000  # examples of one commit, about
LINGER = 0.002  # seconds that a group waits for those who came with the last one
IDLE = 0.05  # seconds between two looks at what nobody waits for


class Call:
    """Something else that only this thread may do, between two groups."""

    __slots__ = ("do", "future", "since")

    def __init__(self, do: Callable[[], Plain]) -> None:
        self.do, self.future, self.since = do, Future[Plain](), time.monotonic()


class Writer:
    """`begin` starts it; `submit` and `call` are for any thread; `stop` ends it when nothing waits any more.

    `learned` is called after every batch and `idle` between groups, both in this thread.
    """

    def __init__(
        self, past: Past, models: dict[str, Hosted], last: int, clock: Callable[[], float] = time.time
    ) -> None:
        self.past, self.journal, self.settings = past, past.journal, past.settings
        self.models, self.last = models, last
        self.clock, self.at = clock, 0.0
        self.waiting = self.heavy = 0  # examples, those at work included; bytes of their requests
        self.trouble: str | None = None  # why the journal cannot be written
        self.behind: dict[str, str] = {}  # models that have not applied what is durable, and why
        self._doubt = False  # the journal may have more than we know of
        self.learned: Callable[[Hosted, int], None] = lambda hosted, count: None
        self.idle: Callable[[], None] = lambda: None
        self.commits = self.written = 0
        self._jobs: deque[Job | Call] = deque()
        self._ready = Condition()
        self._stopping, self._came = False, 1
        self._thread = Thread(target=self._run, name="onmargin-writer", daemon=True)

    def begin(self) -> None:
        """From now on."""
        for hosted in self.models.values():
            self._free(hosted)
        self._thread.start()

    def moment(self) -> float:
        """Now; it never goes back, whatever the clock does."""
        self.at = max(self.at, self.clock())
        return self.at

    # ---- any thread

    def submit(self, job: Job) -> None:
        """Let it wait for the next group; refused where too much waits already."""
        with self._ready:
            if self._stopping:
                raise CannotWrite("the server is stopping; nothing was learned")
            if job.name in self.behind:
                raise CannotWrite(f"{job.name!r} cannot learn ({self.behind[job.name]}); nothing was learned")
            if self.waiting and self.waiting + len(job.events) > self.settings.most_waiting:
                raise TooBusy(f"{self.waiting} examples wait for the journal; come back in a moment")
            if self.heavy and self.heavy + job.size > self.settings.most_waiting_bytes:
                raise TooBusy(f"{self.heavy} bytes wait for the journal; come back in a moment")
            self.waiting += len(job.events)
            self.heavy += job.size
            self._jobs.append(job)
            self._ready.notify()

    def call(self, do: Callable[[], Plain]) -> Future[Plain]:
        """Do it between two groups."""
        made = Call(do)
        with self._ready:
            if self._stopping:
                raise CannotWrite("the server is stopping; nothing was done")
            self._jobs.append(made)
            self._ready.notify()
        return made.future

    def lag(self) -> float:
        """Seconds that the oldest one waits."""
        with suppress(IndexError):
            return time.monotonic() - self._jobs[0].since
        return 0.0

    def stop(self) -> None:
        """When all that waits is done."""
        with self._ready:
            self._stopping = True
            self._ready.notify()
        if self._thread.is_alive():
            self._thread.join()

    # ---- the thread

    def _run(self) -> None:
        while True:
            with self._ready:
                if not self._jobs and not self._stopping:
                    self._ready.wait(IDLE)
                if self._jobs and isinstance(self._jobs[0], Job):
                    self._linger()
                found = self._take()
                stops = self._stopping and not self._jobs
            if isinstance(found, Call):
                self._do(found)
            elif found:
                self._commit(found)
            try:
                self.idle()
            except Exception as error:  # housekeeping: whoever learns does not depend on it
                log.error("housekeeping failed", exc_info=error)
            if stops and not found:
                return

    def _linger(self) -> None:
        """Those who were answered together come again together: one flush for all of them."""
        until = time.monotonic() + LINGER
        while len(self._jobs) < self._came and not self._stopping:
            left = until - time.monotonic()
            if left <= 0 or not self._ready.wait(left):
                break

    def _take(self) -> list[Job] | Call:
        """The jobs of a group, or a call that is next."""
        jobs: list[Job] = []
        size = 0
        while self._jobs and size < GROUP:
            first = self._jobs[0]
            if isinstance(first, Call):
                if jobs:
                    break
                self._jobs.popleft()
                return first
            self._jobs.popleft()
            jobs.append(first)
            size += len(first.events)
        if jobs:
            self._came = len(jobs)
        return jobs

    def _do(self, call: Call) -> None:
        if not call.future.set_running_or_notify_cancel():  # (from now on it cannot be cancelled)
            return
        try:
            call.future.set_result(call.do())
        except Exception as error:
            call.future.set_exception(refusal(error))

    def _commit(self, jobs: list[Job]) -> None:
        """Validated before; durable, applied, acknowledged. What fails before that changes nothing."""
        try:
            group = Group(jobs, self.journal.known)
            rows, keys = group.rows(self.last, self.moment())
            if rows:
                self.append(rows, keys)
        except Exception as error:
            log.warning("a group of %d requests was refused: %s", len(jobs), refusal(error))
            for job in jobs:
                job.error = refusal(error)
        else:
            for row, batch in zip(rows, group.batches.values(), strict=True):
                self._apply(row, batch)
            for job in group.repeated:
                job.rounds = self.models[job.name].tallies.rounds
        with self._ready:
            self.waiting -= sum(len(job.events) for job in jobs)
            self.heavy -= sum(job.size for job in jobs)
        acknowledge(jobs)

    def _apply(self, row: Row, batch: Batch) -> None:
        """Learn what is durable, whatever happens: a model that stops half way is made anew by a replay."""
        try:
            if batch.name in self.behind:
                raise CannotWrite(self.behind[batch.name])
            batch.apply(self.models[batch.name], row, strict=True)
        except Exception as error:
            log.error("%s stopped half way; it is made anew", batch.name, exc_info=error)
            try:
                fresh = self.past.before(batch.name, row.first)
                batch.apply(fresh, row)
                self.takes(fresh)
            except Exception as again:
                self.behind[batch.name] = " ".join(f"{type(again).__name__}: {again}".split())[:200]
                log.error("%s could not be made anew", batch.name, exc_info=again)
                batch.fail(
                    NotApplied(f"durable, not applied yet ({self.behind[batch.name]}): do not send it again")
                )
                return
        self._free(self.models[batch.name])
        try:
            self.learned(self.models[batch.name], len(batch.events))
        except Exception as error:  # housekeeping
            log.error("after learning", exc_info=error)

    def _free(self, hosted: Hosted) -> None:
        """What was refused has changed nothing: its key counts when it comes again, put right."""
        if not hosted.turned_away:
            return
        try:
            self.journal.append([], [], [Key(hosted.name, *one) for one in hosted.turned_away])
            hosted.turned_away = []
        except OSError as error:
            log.warning("keys of examples that were refused are not free yet: %s", refusal(error))

    def takes(self, fresh: Hosted) -> None:
        """A model that a replay made is the one at work now."""
        self.models[fresh.name] = fresh
        self.behind.pop(fresh.name, None)

    def append(self, rows: Sequence[Row], keys: Sequence[Key], freed: Sequence[Key] = ()) -> None:
        """Durable when it returns; health turns bad where it cannot be."""
        if self._doubt and self.catch_up():
            raise CannotWrite("the journal had more than was known; nothing was learned, send it again")
        try:
            self.journal.append(rows, keys, freed)
        except OSError as error:
            self.trouble, self._doubt = error.strerror or str(error), True
            try:  # an answer may be lost after all was written
                there = self.journal.settled()
            except (OSError, OnmarginError):
                said = "it may have been written; send it again with its key"
                raise CannotWrite(f"{self.trouble}; {said}") from None
            self._doubt = False
            if there != rows[-1].last:
                raise CannotWrite(f"{self.trouble}; nothing was learned") from None
        self.trouble = None
        self.last = rows[-1].last
        self.commits += 1
        self.written += sum(row.last - row.first + 1 for row in rows)

    def catch_up(self) -> bool:
        """After doubt: what the journal has beyond what we know is applied; was there something?"""
        try:
            last = self.journal.settled()
            more = last != self.last
            if more:
                for row in self.journal.creations():
                    self.takes(self.past.present(row.model)[0])
        except (OSError, OnmarginError) as error:
            raise CannotWrite(f"the journal cannot be read ({error}); nothing was learned") from None
        self.last, self._doubt = last, False
        return more

    def probe(self) -> None:
        """After trouble: is it over?"""
        try:
            self.journal.probe()
            if self._doubt:
                self.catch_up()
            self.trouble = None
        except (OSError, CannotWrite) as error:
            self.trouble = getattr(error, "strerror", None) or str(error)
        for name in list(self.behind):
            with suppress(Exception):  # (as before)
                self.takes(self.past.present(name)[0])


def refusal(error: Exception) -> Exception:
    """A refusal as it is; whatever else, as trouble of ours."""
    if isinstance(error, OnmarginError):
        return error
    said = error.strerror if isinstance(error, OSError) else None
    return CannotWrite(said or f"{type(error).__name__}: {error}")
