"""Answers of a person: single keys in a terminal, lines from a pipe."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TextIO

try:
    import termios
    import tty
except ImportError:  # no such terminals here: lines
    KEYS_WORK = False
else:
    KEYS_WORK = True

ESCAPE, BACKSPACE, END = "\x1b", "\x7f", "\x04"


class Keyboard:
    """Where answers come from."""

    def __init__(self, stream: TextIO | None = None) -> None:
        self.stream = stream or sys.stdin
        self.by_key = KEYS_WORK and self.stream.isatty()

    def word(self) -> str:
        """The next key, or line; empty at the end of what there is."""
        if not self.by_key:
            return self.stream.readline()
        with self._keys() as fd:
            key = os.read(fd, 64).decode("utf-8", "replace")
        if key == BACKSPACE:
            return "u"
        if key in (END, ""):
            return ""
        return "?" if key.startswith(ESCAPE) else key[0]  # (an arrow is several bytes)

    def line(self) -> str:
        """A whole line, with what the terminal does for it."""
        return self.stream.readline().strip()

    @contextmanager
    def _keys(self) -> Iterator[int]:
        """Keys come at once and unseen; the terminal is as it was afterwards."""
        fd = self.stream.fileno()
        before = termios.tcgetattr(fd)
        try:
            tty.setcbreak(fd)
            yield fd
        finally:
            termios.tcsetattr(fd, termios.TCSADRAIN, before)
