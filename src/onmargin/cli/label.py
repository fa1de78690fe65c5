"""onmargin label: a person at a terminal answers what the learner asks for."""

from __future__ import annotations

import shutil
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TextIO

import typer

from .keyboard import Keyboard
from .output import Json, json_line, writing
from .parameters import told_apart

if TYPE_CHECKING:
    from types import FrameType

    from ..interface.tables import Table
    from ..protocols.pools.labelling import Labelling
    from ..protocols.pools.pool import Pool
    from ..protocols.pools.showing import Shower

HERE = ("model", "labels", "rule", "seed", "as_json")  # of the terminal alone
HELP = """Label rows in the terminal, or in a browser: the learner asks for those most worth it.

Answer with the key shown beside a label, u to undo, s to skip, q to quit, + for a label not seen before; from
a pipe, with a key, a label or a command a line. Quit at any time: the state goes on where it was.

With --web a server of this machine shows the rows as pages, for any number of people at once; --save is its
folder then. Stop it with Ctrl-C: every answer is kept.

Any other --name value is a parameter of the algorithm, of the format (--target, --text), of its features."""


def label(
    context: typer.Context,
    data: Annotated[list[str], typer.Argument(help="Rows to be labelled.", metavar="DATA")],
    save: Annotated[str, typer.Option(help="The state: written after every answer; if it is there, go on.")],
    model: Annotated[str | None, typer.Option(help="At the end, write the learned model here.")] = None,
    labels: Annotated[
        str | None, typer.Option(help="At the end, write lines 'row TAB label' here; the first row is 0.")
    ] = None,
    classes: Annotated[str | None, typer.Option(help="All labels, as in ham,spam. [any word]")] = None,
    algorithm: Annotated[
        str | None, typer.Option(help="A family or a row of 'onmargin algorithms'. [arow]")
    ] = None,
    rule: Annotated[str, typer.Option(help="What to ask for: margin (doubtful rows) or random.")] = "margin",
    seed: Annotated[int, typer.Option(help="For the choice of the first rows.")] = 0,
    format: Annotated[
        str | None, typer.Option(help="svmlight, vw, csv, jsonl, parquet or text. [by the ending]")
    ] = None,
    on_error: Annotated[str, typer.Option(help="At a bad line: stop, or skip and count it.")] = "stop",
    web: Annotated[bool, typer.Option("--web", help="Label in a browser; --save is a folder.")] = False,
    port: Annotated[int, typer.Option(help="Of --web, on this machine alone; 0: any that is free.")] = 8000,
    as_json: Json = False,
) -> None:
    from ..errors import BadInput
    from ..protocols.pools.labelling import Labelling
    from ..protocols.pools.showing import raw_rows
    from ..protocols.requested.requests import Request
    from ..protocols.saving.files import save as write

    paths, given = told_apart(context, data)
    if len(paths) != 1 or paths[0] == "-":
        raise BadInput(
            f"got {', '.join(paths) or 'no data'}; wanted one path or set (answers have standard input)"
        )
    own, options = Request(paths, algorithm, None, format, given).shared_out(algorithm)
    if web:
        _only_here(context)
        _in_browser(
            paths[0], save, algorithm or "arow", own, _announced(classes), format, options, on_error, port
        )
        return
    rows = raw_rows(paths[0], format=format, options=options, on_error=on_error)
    pool = _pool(rows.X, Path(save), algorithm or "arow", classes, rule, seed, own)
    asked = Labelling(pool, rows.X)
    try:
        with _stopped_by_sigterm():
            ended = _ask(asked, rows.shower, save, as_json)
    except (KeyboardInterrupt, typer.Exit):
        if Path(save).exists():
            print(f"\nstopped; every answer is in {save}", file=sys.stderr)
        raise
    pool.save(save)
    facts: dict[str, object] = {
        "answered": len(pool.labels), "skipped": len(pool.skipped),
        "left": rows.X.shape[0] - len(pool.labels) - len(pool.skipped),
        "ended": ended, "saved": save, "advice": pool.advice.reason,
    }  # fmt: skip
    if labels is not None:
        pairs = zip(pool.rows.tolist(), pool.labels.tolist(), strict=True)
        with writing(labels):
            Path(labels).write_text("".join(f"{row}\t{name}\n" for row, name in pairs), encoding="utf-8")
        facts["labels"] = labels
    if model is not None and len(set(pool.labels.tolist())) > 1:
        write(rows.whole(pool.refit()), model)
        facts["model"] = model
    if as_json:
        json_line(facts)
        return
    print(
        "{answered:,} answered, {skipped:,} skipped, {left:,} left; state: {saved}\n{advice}".format(**facts)
    )
    if model is not None:
        print(f"model: {model}" if "model" in facts else "no model yet: it wants labels of two classes")


label.__doc__ = HELP


@contextmanager
def _stopped_by_sigterm() -> Iterator[None]:
    """The terminal is given back as it was; every answer is in the state already."""

    def stop(number: int, frame: FrameType | None) -> None:
        raise typer.Exit(128 + number)

    before = signal.signal(signal.SIGTERM, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _only_here(context: typer.Context) -> None:
    """Options of the terminal are refused with --web: it would go on for hours without them."""
    from ..errors import BadInput

    sources = {name: context.get_parameter_source(name) for name in HERE}
    given = [name for name, source in sources.items() if source is not None and source.name == "COMMANDLINE"]
    for name in given:
        word = name.removeprefix("as_")
        raise BadInput(f"--{word} is not for --web; leave it out (its pages have what there is to download)")


def _in_browser(
    data: str, save: str, algorithm: str, own: dict[str, object], classes: list[object] | None,
    format: str | None, options: dict[str, object], on_error: str, port: int,
) -> None:  # fmt: skip
    """Serve pages of this file until somebody stops it."""
    from ..errors import extra

    try:
        from ..server.labelling.label_file import LabelFile
        from ..server.serving import serve
        from ..server.settings import Settings
    except ImportError as error:
        raise extra((error.name or "a package").partition(".")[0], "server") from None
    found = LabelFile(data, algorithm, own, classes, format, options, on_error)

    def ready(url: str) -> None:
        print(f"label at {url}{found.path} (Ctrl-C stops)", flush=True)

    serve(Path(save), Settings(), "127.0.0.1", port, ready, begin=found.begin)
    print(f"stopped; the state is in {save}")


def _announced(classes: str | None) -> list[object] | None:
    return None if classes is None else [_label(word) for word in classes.split(",") if word]


def _pool(
    X: Table, state: Path, algorithm: str, classes: str | None, rule: str, seed: int, own: dict[str, object]
) -> Pool:
    """As it was saved, or a new one."""
    from ..errors import BadInput
    from ..protocols.pools.pool import Pool
    from ..protocols.requested.naming import named

    announced = None if classes is None else [word for word in classes.split(",") if word]
    if state.exists():
        pool = Pool.load(state, X)
        if announced is not None and [str(name) for name in pool.classes or ()] != announced:
            had = ",".join(map(str, pool.classes or ())) or "none"
            raise BadInput(
                f"--classes {classes}: {state} was begun with {had}; leave it out, or begin another"
            )
        return pool
    learner = named(algorithm, "classes", own).model
    return Pool(
        learner, X, rule=rule, classes=announced and [_label(word) for word in announced], random_state=seed
    )


def _label(word: str) -> object:
    """A number where it is one."""
    from ..protocols.requested.naming import typed

    value = typed(word)
    return value if isinstance(value, int | float) and not isinstance(value, bool) else word


def _ask(asked: Labelling, shower: Shower, save: str, as_json: bool) -> str:
    """Until quit, the end of the answers, or of the rows; which of them it was."""
    out: TextIO = sys.stderr if as_json else sys.stdout
    with Keyboard() as keyboard:
        while asked.row is not None:
            print(_question(asked, shower), file=out, flush=True)
            word = keyboard.word()
            if keyboard.by_key and word == "+":
                print("new label: ", end="", file=out, flush=True)
                word = keyboard.line() or " "
            if not word:
                return "end of input"
            if word.strip() and not _took(asked, word, save, as_json, out):
                return "quit"
    print("every row is answered or skipped", file=out)
    return "all"


def _took(asked: Labelling, word: str, save: str, as_json: bool, out: TextIO) -> bool:
    """Do as the word says, and keep it; is there more to come?"""
    from ..errors import BadInput

    try:
        said = asked.take(word)
    except BadInput as error:
        print(f"  {error}", file=out)
        return True
    if said.what == "quit":
        return False
    asked.pool.save(save)
    if as_json:
        json_line({"what": said.what, "row": said.row, "label": said.label})
    print(f"  {said.what}{'' if said.label is None else f': {said.label}'}", file=out)
    return True


def _question(asked: Labelling, shower: Shower) -> str:
    """The row, what the model thinks of it, and the keys."""
    from ..protocols.pools.showing import WIDTH

    row = asked.row
    assert row is not None
    done = len(asked.pool.labels)
    guess = asked.guess()
    keys = "  ".join(f"[{key}] {name}" for key, name in asked.keys().items())
    closed = asked.pool.classes is not None
    width = min(WIDTH, shutil.get_terminal_size((WIDTH, 1)).columns)
    lines = [f"--- row {row}, {done:,} answered {'-' * 20}"[:width], shower.text(row, width)]
    if guess is not None:
        lines.append(f"guess: {guess[0]} (margin {guess[1]:.2g})")
    lines.append(f"{keys}{'  ' if keys else ''}{'' if closed else '[+] new  '}[u]ndo [s]kip [q]uit")
    return "\n".join(lines)
