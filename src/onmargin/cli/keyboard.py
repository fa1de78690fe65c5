"""Answers of a person: single keys in a terminal, lines from a pipe."""

from __future__ import annotations

import os
import sys
from typing import Self, TextIO

try:
    import termios
    import tty
except ImportError:  # no such terminals here: lines
    KEYS_WORK = False
else:
    KEYS_WORK = True

ESCAPE, BACKSPACE, END = "\x1b", "\x7f", "\x04"


class Keyboard:
    """Where answers come from. As a context: keys come at once and unseen, until it ends."""

    def __init__(self, stream: TextIO | None = None) -> None:
        self.stream = stream or sys.stdin
        self.by_key = KEYS_WORK and self.stream.isatty()
        self._typed = ""  # ahead of the questions

    def __enter__(self) -> Self:
        if self.by_key:
            self._before = termios.tcgetattr(self.stream.fileno())
            tty.setcbreak(
                self.stream.fileno(), termios.TCSADRAIN
            )  # (what was typed already is not thrown away)
        return self

    def __exit__(self, *error: object) -> None:
        if self.by_key:
            termios.tcsetattr(self.stream.fileno(), termios.TCSADRAIN, self._before)

    def word(self) -> str:
        """The next key, or line; empty at the end of what there is."""
        if not self.by_key:
            return self.stream.readline()
        if not self._typed:
            self._typed = os.read(self.stream.fileno(), 1024).decode("utf-8", "replace")
        if self._typed.startswith(ESCAPE):  # an arrow is several bytes: no key of ours
            self._typed = ""
            return "?"
        key, self._typed = self._typed[:1], self._typed[1:]
        return {BACKSPACE: "u", END: ""}.get(key, key)

    def line(self) -> str:
        """A whole line, with what the terminal does for it."""
        self.__exit__()
        try:
            return self.stream.readline().strip()
        finally:
            self.__enter__()
