"""A word on the terminal while our loops are compiled, if that takes longer than a second.

Numba tells its listeners when it begins and ends to compile; what it finds on disk it does not compile.
"""

from __future__ import annotations

import multiprocessing
import os
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from threading import Lock, Timer
from typing import Protocol

from numba.core import event

from ..compiled.parts import OURS

AFTER = 1.0  # seconds of compiling before the word
APART = 10.0  # seconds without any after which it may be said again
WORD = "onmargin: compiling ... (once; kept for later runs)\n"

register: Callable[[str, object], None] = event.register


class Happening(Protocol):
    """What Numba says of a compilation: that it begins, or that it ends."""

    is_start: bool
    data: dict[str, object] | None


class CompilingWord:
    """Says it once for compilations that follow one another, when they took `AFTER` seconds together."""

    def __init__(self) -> None:
        self.process, self.lock = os.getpid(), Lock()
        self.open = 0  # compilations begun and not ended: a loop compiles its parts
        self.timer: Timer | None = None
        self.said, self.spent, self.began, self.ended = False, 0.0, 0.0, -APART

    def notify(self, happening: Happening) -> None:
        """Numba's call, from whichever thread compiles."""
        if os.getpid() != self.process or not _is_ours(happening):  # (a fork has our lock as it was)
            return
        with self.lock:
            if happening.is_start:
                self.open += 1
                if self.open == 1:
                    self._begin(time.monotonic())
            elif self.open:
                self.open -= 1
                if not self.open:
                    self._end(time.monotonic())

    def _begin(self, now: float) -> None:
        if now - self.ended > APART:
            self.said, self.spent = False, 0.0
        self.began = now
        if not self.said and may_speak():
            self.timer = Timer(max(0.0, AFTER - self.spent), self._speak)
            self.timer.daemon = True
            with suppress(RuntimeError):  # no more threads: then without a word
                self.timer.start()

    def _end(self, now: float) -> None:
        self.spent, self.ended = self.spent + now - self.began, now
        if self.timer is not None:
            self.timer.cancel()
            self.timer = None

    def _speak(self) -> None:
        with self.lock:
            wanted = self.open and not self.said and may_speak()
            self.said = self.said or bool(wanted)
        if wanted:  # (without the lock: a terminal may hold its writers up, and nobody waits for us)
            with suppress(OSError, ValueError):  # it has gone
                sys.stderr.write(new_line() + WORD)
                sys.stderr.flush()


def may_speak() -> bool:
    """Is stderr a terminal that nobody (a live bar, a capture) has taken over, and are we no worker?"""
    worker = multiprocessing.parent_process() is not None
    if worker or multiprocessing.current_process().name != "MainProcess":
        return False
    try:
        own = sys.__stderr__
        return own is not None and own is sys.stderr and own.isatty()
    except ValueError:  # it is closed
        return False


def new_line() -> str:
    """What brings the cursor to the beginning of a line that holds nothing, wherever it stands.

    As many blanks as a line is wide end on the same line if they began at its start, else on the next.
    """
    try:
        width = os.get_terminal_size(sys.stderr.fileno()).columns
    except OSError:
        width = 0
    return f"{' ' * width}\r" if width else "\n"


def _is_ours(happening: Happening) -> bool:
    function = getattr((happening.data or {}).get("dispatcher"), "py_func", None)
    return str(getattr(function, "__module__", "")).startswith(OURS)


def listen() -> None:
    """From now on; called once, by the table of all loops."""
    event.Listener.register(CompilingWord)
    register("numba:compile", CompilingWord())
