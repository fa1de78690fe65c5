"""Reading ahead: threads make the next blocks while the caller learns from this one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import Future
from queue import Empty, Full, Queue
from threading import Event, Lock, Thread
from typing import Generic, TypeVar

Given = TypeVar("Given")
Made = TypeVar("Made")

PATIENCE = 0.1  # seconds between two looks whether the other side is still there


class _Readers(Generic[Given, Made]):
    """Threads that take what is given in turn, and work on it at once; `made` has the order of the taking."""

    def __init__(
        self, given: Iterator[Given], work: Callable[[Given], Made], depth: int, threads: int
    ) -> None:
        self.given, self.work, self.turn = given, work, Lock()
        self.made: Queue[Future[Made] | None] = Queue(depth)  # None: that was all
        self.left, self.ended = Event(), False
        self.threads = [
            Thread(target=self._run, name="onmargin reads ahead", daemon=True) for _ in range(threads)
        ]

    def _run(self) -> None:
        while (taken := self._taken()) is not None:
            value, slot = taken
            try:
                slot.set_result(self.work(value))
            except BaseException as error:  # the caller's to see
                slot.set_exception(error)
            del value, taken  # (while this thread waits its memory may serve others)

    def _taken(self) -> tuple[Given, Future[Made]] | None:
        """The next value, and where its result is waited for; None: there is none, or nobody wants it."""
        slot: Future[Made] = Future()
        with self.turn:
            if self.ended or self.left.is_set():
                return None
            try:
                value = next(self.given)
            except StopIteration:
                self.ended = True
                self._put(None)
                return None
            except BaseException as error:  # the caller's to see
                self.ended = True
                slot.set_exception(error)
                self._put(slot)
                return None
            return (value, slot) if self._put(slot) else None

    def _put(self, slot: Future[Made] | None) -> bool:
        """False: the caller has left."""
        while not self.left.is_set():
            try:
                self.made.put(slot, timeout=PATIENCE)
                return True
            except Full:
                continue
        return False

    def take(self) -> Future[Made] | None:
        """The next; waits in steps, so that Ctrl-C is heard."""
        while True:
            try:
                return self.made.get(timeout=PATIENCE)
            except Empty:
                continue


def overlapped(
    given: Iterator[Given], work: Callable[[Given], Made], depth: int = 2, threads: int = 1
) -> Iterator[Made]:
    """work(value) of all values, in order, by threads that are up to `depth` ahead; errors are raised here.

    Values are taken by one thread at a time. Compiled parsers let go of the interpreter, so all sides run at
    once. When the caller leaves the loop the threads end with what they are at.
    """
    readers = _Readers(given, work, depth, threads)
    for thread in readers.threads:
        thread.start()
    try:
        while (slot := readers.take()) is not None:
            yield slot.result()
    finally:
        readers.left.set()
        for thread in readers.threads:
            thread.join()
        close = getattr(given, "close", None)
        if close is not None:
            close()


def itself(value: Made) -> Made:
    """No work: to take a value is all of it."""
    return value
