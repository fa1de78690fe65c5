"""What commands print: JSON lines for programs; tables, lines and a live bar for people."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, TextIO

import typer

if TYPE_CHECKING:
    from rich.console import Console

Json = Annotated[bool, typer.Option("--json", help="Print JSON lines instead of text.")]


def json_line(facts: Mapping[str, object], file: TextIO | None = None) -> None:
    """One fact sheet as a line for programs, at once."""
    out = sys.stdout if file is None else file
    try:
        text = json.dumps(facts, default=_plain, allow_nan=False)
    except ValueError:  # JSON has no NaN
        text = json.dumps(_finite(facts), default=str, allow_nan=False)
    out.write(text + "\n")
    out.flush()


def remark(text: str) -> None:
    """A line beside the results, on the standard error; nothing where nobody looks."""
    if sys.stderr.isatty():
        console(stderr=True).print(text, style="dim", markup=False, soft_wrap=True)


def _plain(value: object) -> object:
    """NumPy's numbers and arrays as JSON has them."""
    return value.tolist() if hasattr(value, "tolist") else str(value)


def _finite(value: object) -> object:
    """The same with null for numbers that are not finite."""
    plain = value.tolist() if hasattr(value, "tolist") else value
    if isinstance(plain, Mapping):
        return {str(name): _finite(one) for name, one in plain.items()}
    if isinstance(plain, list | tuple):
        return [_finite(one) for one in plain]
    return None if isinstance(plain, float) and not math.isfinite(plain) else plain


def console(stderr: bool = False) -> Console:
    """Where people read; no colour where it is no terminal or NO_COLOR is set."""
    try:
        from rich.console import Console
    except ImportError:
        from ..errors import extra

        raise extra("rich", "cli") from None
    return Console(stderr=stderr, highlight=False)


def table(headings: Sequence[str], rows: Iterable[Sequence[str]], words: int = 1, title: str = "") -> None:
    """A table for a log of 80 columns: its first `words` columns to the left, numbers to the right.

    What is first is what one types: it is never cut; other words are folded where there is no room.
    """
    from rich.table import Table
    from rich.text import Text

    drawn = Table(title=title or None)
    for number, heading in enumerate(headings):
        drawn.add_column(
            heading, justify="left" if number < words else "right",
            no_wrap=number == 0 or number >= words, overflow="fold",
        )  # fmt: skip
    for row in rows:
        drawn.add_row(*map(Text, row))  # (as it stands: a name may look like rich's markup)
    console().print(drawn)


@contextmanager
def writing(path: str) -> Iterator[None]:
    """An error of writing names the file."""
    try:
        yield
    except OSError as error:
        error.filename = error.filename or path
        raise


@contextmanager
def progress() -> Iterator[Callable[[str, int, int], None]]:
    """A live bar on the standard error, as a function (what, done, total); nothing where nobody looks."""
    out = console(stderr=True)
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description:<36}"), BarColumn(), TimeElapsedColumn())
    with Progress(*columns, console=out, transient=True, disable=not out.is_terminal) as bar:
        line = bar.add_task("", total=1)

        def tell(what: str, done: int, total: int) -> None:
            new = what != bar.tasks[0].description  # shown at once: the bar's own clock may not come round
            bar.update(line, description=what, completed=done, total=total, refresh=new)

        yield tell
