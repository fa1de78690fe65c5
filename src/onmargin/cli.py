"""The command line: parse, call, print. No logic that a library user could not call."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NoReturn

from . import __version__
from .errors import BadInput, OnmarginError, extra


class _Parser(argparse.ArgumentParser):
    """Wrong usage is one line and exit code 2."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"onmargin: {message}; try 'onmargin --help'\n")


def parser() -> argparse.ArgumentParser:
    """All commands and their options."""
    top = _Parser(prog="onmargin", description="Online learning with a margin.")
    top.add_argument("--version", action="version", version=f"onmargin {__version__}")
    commands = top.add_subparsers(dest="command", required=True, parser_class=_Parser)
    demo = commands.add_parser("demo", help="learn digits and a noisy stream, print a table, draw the curves")
    demo.add_argument("--figure", default="onmargin_demo.png", help="where to write the figure (%(default)s)")
    demo.add_argument("--json", action="store_true", help="print JSON lines instead of a table")
    demo.set_defaults(call=_demo)
    warm = commands.add_parser("warm", help="compile ahead of time; clear machine code of other versions")
    warm.add_argument("--all", action="store_true", help="every learner, for arrays, CSR and dicts (minutes)")
    warm.add_argument("--json", action="store_true", help="print a JSON line instead of text")
    warm.set_defaults(call=_warm)
    return top


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; the exit code."""
    chosen = parser().parse_args(arguments)
    try:
        chosen.call(chosen)
    except OnmarginError as error:
        sys.stderr.write(f"onmargin: {error}\n")
        return 2
    except OSError as error:
        sys.stderr.write(f"onmargin: {error.filename or 'output'}: {error.strerror}\n")
        return 2
    except KeyboardInterrupt:
        return 130
    return 0


@contextmanager
def _progress() -> Iterator[Callable[[str, int, int], None]]:
    """A live bar on the standard error, as a function (what, done, total)."""
    try:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
    except ImportError:
        raise extra("rich", "cli") from None
    columns = (TextColumn("{task.description:<36}"), BarColumn(), TimeElapsedColumn())
    console = Console(stderr=True)
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        line = bar.add_task("", total=1)
        yield lambda what, done, total: bar.update(line, description=what, completed=done, total=total)


def _warm(chosen: Any) -> None:
    with _progress() as tell:
        from . import warm

        removed = warm.clear_stale()
        count = warm.warm(chosen.all, tell)
    facts = {"learners": count, "stale_files_removed": removed}
    print(
        json.dumps(facts) if chosen.json else f"{count} learners are compiled; {removed} stale files removed"
    )


def _demo(chosen: Any) -> None:
    path = Path(chosen.figure)
    if path.suffix not in (".png", ".svg", ".pdf"):
        raise BadInput(f"--figure {chosen.figure}: wanted a name ending in .png, .svg or .pdf")
    with _progress() as tell:
        from . import demo

        rows, runs = demo.run(tell)
        tell("drawing", len(rows), len(rows))
        demo.draw(runs, path)
    if chosen.json:
        for row in rows:
            print(json.dumps(row._asdict()))
        print(json.dumps({"figure": str(path)}))
        return
    from rich.console import Console
    from rich.table import Table

    table = Table(title="Learned online: each example is answered first, then learned, once")
    table.add_column("learner")
    for heading in ("online error", "test error", "updates", "µs/example"):
        table.add_column(heading, justify="right", no_wrap=True)
    for number, row in enumerate(rows):
        if number == 0 or rows[number - 1].data != row.data:
            table.add_section()
            table.add_row(f"[bold]{row.data}[/bold]")
        numbers = (f"{row.online_error:.1%}", f"{row.test_error:.1%}", f"{row.updates:,}")
        table.add_row(f"  {row.learner}", *numbers, f"{row.microseconds:.2f}")
    Console().print(table)
    print(f"learning curves: {path}")


if __name__ == "__main__":
    sys.exit(main())
