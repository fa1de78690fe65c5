"""Reading ahead: a thread makes the next blocks while the caller learns from this one."""

from __future__ import annotations

from collections.abc import Iterator
from queue import Empty, Full, Queue
from threading import Event, Thread
from typing import Generic, TypeVar

Some = TypeVar("Some")

PATIENCE = 0.1  # seconds between two looks whether the other side is still there


class _Reader(Generic[Some]):
    """The thread, what it has made (None: that was all), and what stopped it."""

    def __init__(self, given: Iterator[Some], depth: int) -> None:
        self.given, self.made = given, Queue[Some | None](depth)
        self.left, self.error = Event(), list[BaseException]()
        self.thread = Thread(target=self._run, name="onmargin reads ahead", daemon=True)

    def _run(self) -> None:
        try:
            for value in self.given:
                if not self._put(value):
                    return
        except BaseException as error:  # the caller's to see
            self.error.append(error)
        finally:
            close = getattr(self.given, "close", None)
            if close is not None:
                close()
            self._put(None)

    def _put(self, value: Some | None) -> bool:
        """False: the caller has left."""
        while not self.left.is_set():
            try:
                self.made.put(value, timeout=PATIENCE)
                return True
            except Full:
                continue
        return False

    def take(self) -> Some | None:
        """The next; waits in steps, so that Ctrl-C is heard."""
        while True:
            try:
                return self.made.get(timeout=PATIENCE)
            except Empty:
                continue


def overlapped(given: Iterator[Some], depth: int = 2) -> Iterator[Some]:
    """The same values, made by a thread that is up to `depth` of them ahead; its error is raised here.

    Compiled parsers let go of the interpreter, so both sides run at once. When the caller leaves the loop the
    thread ends with the value it is at.
    """
    reader = _Reader(given, depth)
    reader.thread.start()
    try:
        while (value := reader.take()) is not None:
            yield value
    finally:
        reader.left.set()
        reader.thread.join()
    if reader.error:
        raise reader.error[0]
