"""onmargin predict: a model's answers to a file or a pipe, one a line."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, TextIO

import typer

from .output import Json, json_line, remark, writing
from .parameters import told_apart

if TYPE_CHECKING:
    from ..protocols.requested.answering import Answerer, Answers

HELP = """Answer DATA with MODEL, a line a row: labels, numbers, or sets of labels (1,3).

MODEL: a file of 'onmargin learn' or om.save; - reads it from standard input. Raw data (text, CSV, ...)
are made rows as they were when it learned. Targets in the data are not looked at. Any other --name value is
an option of the format."""


def predict(
    context: typer.Context,
    model: Annotated[str, typer.Argument(help="The model's file.", metavar="MODEL")],
    data: Annotated[list[str], typer.Argument(help="What to answer.", metavar="DATA")],
    scores: Annotated[bool, typer.Option("--scores", help="Scores, one for each class.")] = False,
    probabilities: Annotated[
        bool, typer.Option("--probabilities", help="Probabilities, where the loss gives them.")
    ] = False,
    ranking: Annotated[
        bool, typer.Option("--ranking", help="Labels from the best-scored on; of queries, each row's place.")
    ] = False,
    out: Annotated[str | None, typer.Option(help="A file for the answers.")] = None,
    format: Annotated[
        str | None, typer.Option(help="As for learn. [by the ending, or as it was learned]")
    ] = None,
    on_error: Annotated[str, typer.Option(help="At a bad line: stop, or skip and count it.")] = "stop",
    as_json: Json = False,
) -> None:
    from ..errors import BadInput
    from ..protocols.requested.answering import Answerer
    from ..protocols.requested.further import to_be_answered
    from ..protocols.saving.files import load, notes_of

    paths, options = told_apart(context, data)
    asked = [
        name
        for name, wanted in (("scores", scores), ("probabilities", probabilities), ("ranking", ranking))
        if wanted
    ]
    if len(asked) > 1:
        raise BadInput(f"--{asked[0]} and --{asked[1]}; wanted one of them")
    if model == "-" and "-" in paths:
        raise BadInput("the model and the data cannot both come from standard input")
    with _at_hand(model) as path:
        answerer = Answerer(load(path), asked[0] if asked else "labels")
        notes = notes_of(path)
    source = to_be_answered(paths, notes, format, options, on_error)
    with _file(out) as file:
        for found in answerer.answers(source.blocks()):
            _write(found, answerer, file, as_json)
    if source.skipped:
        remark(f"{source.skipped:,} bad lines were skipped: they have no answer")
    if answerer.cut:
        remark(f"{answerer.cut:,} columns were never learned; they add nothing")


predict.__doc__ = HELP


@contextmanager
def _at_hand(model: str) -> Iterator[str]:
    """The model as a file; from a pipe it is put into one."""
    if model != "-":
        yield model
        return
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "standard input")
        with open(path, "wb") as file:
            file.write(sys.stdin.buffer.read())
        yield path


@contextmanager
def _file(out: str | None) -> Iterator[TextIO]:
    """Standard output, or a file that is there when all is in it."""
    if out is None:
        yield sys.stdout
        return
    target = os.path.realpath(out)
    if os.path.exists(target) and not os.path.isfile(target):  # a device, a named pipe: no place for a draft
        with writing(out), open(target, "w", encoding="utf-8") as file:
            yield file
        return
    draft = f"{target}.{os.getpid()}.part"
    try:
        with writing(out), open(draft, "w", encoding="utf-8") as file:
            yield file
        os.replace(draft, target)
    finally:
        if os.path.exists(draft):
            os.unlink(draft)


def plain(label: object) -> object:
    """A label as it stood in the data: 1, not 1.0; sets with commas."""
    if isinstance(label, tuple):
        return ",".join(str(plain(one)) for one in label)
    if isinstance(label, float) and label == int(label) and abs(label) < 2**53:
        return int(label)
    return label


def _write(found: Answers, answerer: Answerer, file: TextIO, as_json: bool) -> None:
    numbers = not found.names  # a number is said to its last digit
    if as_json:
        _write_json(found, answerer, file, numbers)
        return
    if found.values is None or numbers:
        lines = [repr(label) if numbers else str(plain(label)) for label in found.labels]
    elif answerer.kind == "ranking":
        names = [str(plain(name)) for name in found.names]
        order = (-found.values).argsort(axis=1, kind="stable").tolist()
        table = found.values.tolist()
        lines = [
            "\t".join(f"{names[k]}:{row[k]!r}" for k in best) for best, row in zip(order, table, strict=True)
        ]
    else:
        lines = ["\t".join(map(repr, row)) for row in found.values.tolist()]
    file.write("".join(f"{line}\n" for line in lines))
    file.flush()


def _write_json(found: Answers, answerer: Answerer, file: TextIO, numbers: bool) -> None:
    word = "scores" if answerer.kind == "ranking" else answerer.kind
    names = [str(plain(name)) for name in found.names]
    values = None if found.values is None or numbers else found.values.tolist()
    for row, label in enumerate(found.labels):
        facts: dict[str, object] = {}
        if found.ids is not None and found.ids[row] != "":
            facts["id"] = found.ids[row]
        if numbers:
            place = isinstance(label, int)
            facts["place" if place else "prediction"] = label
            if place and found.values is not None:
                facts["score"] = float(found.values[row, 0])
        else:
            facts["label"] = [plain(one) for one in label] if isinstance(label, tuple) else plain(label)
        if values is not None and len(values[row]) == 1:
            facts["score"] = values[row][0]
        elif values is not None:
            facts[word] = dict(zip(names, values[row], strict=True))
        json_line(facts, file)
