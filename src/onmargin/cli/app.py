"""The program `onmargin`: its commands, its settings file, its exit codes. Help imports nothing heavy."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Sequence
from contextlib import suppress
from io import TextIOWrapper
from pathlib import Path
from typing import Annotated

import typer

from .. import __version__
from . import algorithms, data, demo, label, learn, predict, reproduce, serve, show, sweep, warm
from .light import collect_late, lightly
from .parameters import ANY

SETTINGS = Path("onmargin.toml")
USAGE, INTERRUPTED = 2, 130  # exit codes

app = typer.Typer(
    name="onmargin", no_args_is_help=False, rich_markup_mode=None, pretty_exceptions_enable=False
)
app.command("learn", context_settings=ANY)(lightly(learn.learn))
app.command("predict", context_settings=ANY)(lightly(predict.predict))
app.command("show")(lightly(show.show))
app.command("sweep", context_settings=ANY)(lightly(sweep.sweep))
app.command("label", context_settings=ANY)(lightly(label.label))
app.command("serve")(lightly(serve.serve))
app.add_typer(data.app, name="data")
app.command("algorithms")(algorithms.algorithms)
app.command("warm")(lightly(warm.warm))
app.command("reproduce")(reproduce.reproduce)
app.command("demo")(lightly(demo.demo))


def _version(wanted: bool) -> None:
    if wanted:
        print(f"onmargin {__version__}")
        raise typer.Exit


@app.callback()
def _top(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Online learning with a margin, from files, pipes and people."""


def settings() -> dict[str, object]:
    """Options of each command from onmargin.toml in this folder, by their names on the command line."""
    if not SETTINGS.is_file():
        return {}
    import tomllib

    try:
        read = tomllib.loads(SETTINGS.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise typer.BadParameter(f"{SETTINGS}: {error}") from None
    except RecursionError:
        raise typer.BadParameter(f"{SETTINGS}: values within values, too deep") from None
    return _options_of(typer.main.get_command(app), read, "")


def _options_of(command: object, given: dict[str, object], path: str) -> dict[str, object]:
    """By the names that parameters have; tables are commands. What a command does not know is refused."""
    inside: dict[str, object] = getattr(command, "commands", {})
    names = {
        word.lstrip("-").replace("-", "_"): option.name
        for option in getattr(command, "params", ())
        for word in option.opts
        if path
    }
    found: dict[str, object] = {}
    for name, value in given.items():
        plain = name.replace("-", "_")
        if name in inside and isinstance(value, dict):
            found[name] = _options_of(inside[name], value, f"{path}{name}.")
        elif inside:
            raise typer.BadParameter(
                f"{SETTINGS}: [{path}{name}] is no command; wanted one of {', '.join(inside)}"
            )
        elif plain in names and not isinstance(value, str | int | float) and plain != "data":
            given_one = f"{SETTINGS}: [{path[:-1]}] {name} = {str(value)[:60]}"
            raise typer.BadParameter(f"{given_one}; wanted a text, a number, true or false")
        elif plain in names or getattr(command, "context_settings", {}).get("ignore_unknown_options"):
            found[names.get(plain, plain)] = value
        else:
            raise typer.BadParameter(
                f"{SETTINGS}: [{path[:-1]}] has no option {name!r}; wanted one of {', '.join(names)}"
            )
    return found


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; the exit code. As the program itself (no arguments given) it ends there and then."""
    if arguments is not None:
        return _run(arguments)
    collect_late()
    code = _run(sys.argv[1:])
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):  # (closed, or nobody reads it any more)
            stream.flush()
    os._exit(code)  # modules are not taken apart one by one: that takes as long as to learn from 50 MB


def _run(given: Sequence[str]) -> int:
    sys.stdout = sys.stdout or open(os.devnull, "w")  # noqa: SIM115 (closed by whoever started it: `>&-`)
    sys.stderr = sys.stderr or open(os.devnull, "w")  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):  # a name that is no text is shown, and ends nothing
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    try:
        command = typer.main.get_command(app)
        with warnings.catch_warnings():
            warnings.showwarning = _warned
            done = command.main(
                list(given),
                prog_name="onmargin",
                standalone_mode=False,
                default_map=settings() if given else {},
            )
        sys.stdout.flush()
        return int(done or 0)
    except (KeyboardInterrupt, typer.Abort):
        return INTERRUPTED
    except BrokenPipeError:  # whoever read our output has enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except Exception as error:
        line = _line(error)
        if line is None:
            raise
        sys.stderr.write(f"onmargin: {line}\n")
        return USAGE


def _warned(message: Warning | str, *_: object, **__: object) -> None:
    """A warning is a line, and not where in our source it arose."""
    sys.stderr.write(f"onmargin: warning: {' '.join(str(message).split())}\n")


def _line(error: Exception) -> str | None:
    """What to say about a refusal; None: it is a flaw of ours."""
    from ..errors import OnmarginError

    if isinstance(error, typer.TyperException):
        told = getattr(error, "format_message", lambda: str(error))()
        return f"{' '.join(told.split()).rstrip('.')}; try 'onmargin --help'"
    if isinstance(error, OnmarginError):
        return str(error)
    if isinstance(error, OSError):
        return f"{error.filename or 'output'}: {error.strerror}"
    return None


if __name__ == "__main__":
    sys.exit(main())
