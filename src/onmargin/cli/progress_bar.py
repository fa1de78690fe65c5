"""The bar of `onmargin learn`: rate, time left, the error so far; nothing where nobody looks."""

from __future__ import annotations

import sys
from types import TracebackType
from typing import TYPE_CHECKING

from .output import console

if TYPE_CHECKING:
    from rich.progress import Progress

    from ..protocols.requested.training import Moment


class Bar:
    """A live line on the standard error; `show` is called after every block."""

    def __init__(self, wanted: bool = True) -> None:
        self._bar: Progress | None = None
        if not wanted or not sys.stderr.isatty():
            return
        out = console(stderr=True)
        if not out.is_terminal:
            return
        from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

        self._bar = Progress(
            TextColumn("{task.description}"), BarColumn(bar_width=None), TaskProgressColumn(),
            TextColumn("{task.fields[said]}"), TimeRemainingColumn(compact=True), console=out, transient=True,
        )  # fmt: skip
        self._line = self._bar.add_task("reading", total=None, said="")

    def __enter__(self) -> Bar:
        if self._bar is not None:
            self._bar.start()
        return self

    def __exit__(self, kind: type | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if self._bar is not None:
            self._bar.stop()

    def show(self, moment: Moment) -> None:
        """How far it is."""
        if self._bar is None:
            return
        record = moment.record
        rate = record.rows / record.seconds if record.seconds > 0 else 0.0
        said = (
            ""
            if not record.rows
            else f"{_short(record.rows)} rows {_short(rate)}/s {record.tally.word} {record.tally.average:.4f}"
        )
        total = None if moment.total is None else moment.total * record.passes
        done = moment.read + record.finished * (moment.total or 0)
        number = min(record.finished + 1, record.passes)  # (what is done after the last pass is of it)
        what = f"pass {number}/{record.passes}" if record.passes > 1 else "learning"
        self._bar.update(self._line, description=what, completed=done, total=total, said=said)


def _short(number: float) -> str:
    """1234567 as 1.23M."""
    for size, letter in ((1e9, "G"), (1e6, "M"), (1e4, "k")):
        if number >= size:
            return f"{number / (1e3 if letter == 'k' else size):.3g}{letter}"
    return f"{number:.0f}"
