"""onmargin learn: from a file or a pipe to a model, with the error so far while it reads."""

from __future__ import annotations

import os
import shlex
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated

import typer

from .learned import Printed, judge, require_page, say, to_judge, write_page
from .output import Json, remark
from .parameters import told_apart

if TYPE_CHECKING:
    from types import FrameType

    from ..protocols.requested.requests import Request
    from ..protocols.requested.training import Moment, Training
    from ..results.certificate import Certificate
    from ..results.confusion import Confusion
    from ..results.progress import Progress

HELP = """Learn from DATA and say the progressive error: each row is answered before it is learned.

DATA: paths, globs, folders, - for standard input, tcp:// redis:// nats:// addresses, or a set's name.

Any other --name value is a parameter of the algorithm (-C 0.1, --average true), of the format
(--target price, --text body) or of its features (--bits 20, --ngram-range 1,2)."""


def learn(
    context: typer.Context,
    data: Annotated[list[str], typer.Argument(help="What to learn from.", metavar="DATA")],
    algorithm: Annotated[
        str | None,
        typer.Option(help="A family (arow, pa1, ...) or a row of 'onmargin algorithms'. [best for the task]"),
    ] = None,
    task: Annotated[
        str | None, typer.Option(help="classes, numbers, sets, queries or points. [found from the labels]")
    ] = None,
    format: Annotated[
        str | None, typer.Option(help="svmlight, vw, csv, jsonl, parquet or text. [by the ending]")
    ] = None,
    passes: Annotated[int, typer.Option(min=1, help="How often to go over the data.")] = 1,
    test: Annotated[str | None, typer.Option(help="Data to be answered at the end.")] = None,
    save: Annotated[
        str | None, typer.Option(help="Where to keep the model (.onm; - is standard output).")
    ] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with --save where it was stopped.")] = False,
    start: Annotated[str | None, typer.Option(help="A model to begin with.")] = None,
    checkpoint_every: Annotated[int | None, typer.Option(min=1, help="Save after so many rows.")] = None,
    table: Annotated[bool, typer.Option("--table", help="A line at every power of two.")] = False,
    follow: Annotated[bool, typer.Option("--follow", help="Wait for more: the file grows.")] = False,
    cache: Annotated[
        bool, typer.Option("--cache", help="Keep the rows beside the data for later passes.")
    ] = False,
    on_error: Annotated[
        str,
        typer.Option(help="At a bad line: stop, or skip and count it; on a cluster, parts too."),
    ] = "stop",
    report: Annotated[str | None, typer.Option(help="Write a page with curve, confusions, features.")] = None,
    certify: Annotated[
        bool, typer.Option("--certify", help="Say what theorems bound: the data are read twice more.")
    ] = False,
    cluster: Annotated[
        str | None,
        typer.Option(help="Learn on a Dask cluster: its scheduler's ADDRESS, or local[:N] for N processes."),
    ] = None,
    parts: Annotated[
        int | None,
        typer.Option(
            min=1, help="On a cluster: parts to cut the data into, a file is at least one. [of 64 MiB]"
        ),
    ] = None,
    mixing: Annotated[
        str, typer.Option(help="On a cluster: weigh parts uniform, by updates or by examples.")
    ] = "uniform",
    mix_every: Annotated[
        int | None, typer.Option(min=1, help="On a cluster: mix within a pass too, after so many blocks.")
    ] = None,
    as_json: Json = False,
) -> None:
    from ..protocols.requested.requests import Request

    paths, parameters = told_apart(context, data)
    request = Request(
        paths, algorithm, task, format, parameters, passes, save, start, resume, checkpoint_every, follow,
        on_error, cache, shlex.join(["onmargin", *sys.argv[1:]]),
    )  # fmt: skip
    out = Printed(as_json, to_stderr=save == "-", keeps=save is not None or report is not None)
    if report is not None:
        require_page(report)
    if cluster is None:
        _refuse_apart(parts, mixing, mix_every)

        def begin(says_saved: bool) -> None:
            _learn(request, test, table, report, out, certify, says_saved)
    else:
        from .learn_apart import Apart, learn_apart, refuse

        refuse(table, certify)

        def begin(says_saved: bool) -> None:
            learn_apart(request, Apart(cluster, parts, mixing, mix_every), test, report, out, says_saved)

    if save == "-":
        _learn_into_pipe(request, begin)
    else:
        begin(True)


learn.__doc__ = HELP


def _refuse_apart(parts: int | None, mixing: str, mix_every: int | None) -> None:
    """Options of a cluster where there is none."""
    given = {"--parts": parts, "--mixing": None if mixing == "uniform" else mixing, "--mix-every": mix_every}
    for name, value in given.items():
        if value is not None:
            from ..errors import BadInput

            raise BadInput(
                f"{name} is for a cluster; give --cluster ADDRESS or --cluster local:2, or leave it out"
            )


def _learn_into_pipe(request: Request, begin: Callable[[bool], None]) -> None:
    """The model goes to standard output, so that `onmargin predict -` can read it."""
    import tempfile

    if request.resume:
        from ..errors import BadInput

        raise BadInput("--resume goes on with a file; give --save FILE.onm")
    with tempfile.TemporaryDirectory() as folder:
        request.save = os.path.join(folder, "model.onm")
        begin(False)
        with open(request.save, "rb") as file:
            sys.stdout.buffer.write(file.read())
        sys.stdout.buffer.flush()


def _learn(
    request: Request,
    test: str | None,
    table: bool,
    report: str | None,
    out: Printed,
    certify: bool,
    says_saved: bool,
) -> None:
    from .progress_bar import Bar

    confusion: Confusion | None = None
    if report is not None:
        from ..results.confusion import Confusion

        confusion = Confusion()
    bar = Bar(not table)

    def tell(moment: Moment) -> None:
        for line in moment.lines if table else ():
            out.line(line, moment.record.tally.word)
        bar.show(moment)

    def seen(run: Progress) -> None:
        if confusion is not None:
            _count(confusion, run)

    training = request.training(traced=table or report is not None, seen=seen, tell=tell)
    if certify:
        from ..protocols.requested.certifying import require_again

        require_again(training)
    record = training.record
    found = "given" if request.task else "found from the labels"
    remark(f"{record.task}, {found}; {record.algorithm}: {training.model}")
    if record.rows:
        remark(f"resumed after {record.rows:,} rows")
        _say_in_sequence(request.save)
    rows = None if test is None else to_judge(test, record, training.reading, request)
    with bar, _signals(training) as caught:
        training.run()
    say(training.model, record, request, out, says_saved, training.runs)
    if caught:
        where = (
            f"saved to {request.save}"
            if says_saved and request.save
            else "nothing was saved (--save FILE.onm keeps it)"
        )
        again = "; --resume goes on" if request.save and says_saved else ""
        sys.stderr.write(f"onmargin: stopped after {record.rows:,} rows, {where}{again}\n")
        raise typer.Exit(128 + caught[0])
    tested = None if rows is None else judge(training.whole, rows, out)
    certificate = _certify(training, out) if certify else None
    if report is not None:
        said = None if tested is None or test is None else (test, tested)
        write_page(report, training.model, training.whole, record, said, confusion, certificate)


def _say_in_sequence(save: str | None) -> None:
    """A file of a cluster that is gone on with by one machine: another algorithm from here on."""
    from ..protocols.saving.files import notes_of

    if save is not None and "cluster" in (notes_of(save) or {}):
        sys.stderr.write(
            f"onmargin: {save} was learned on a cluster; it goes on in sequence (there: --cluster ADDRESS)\n"
        )


def _certify(training: Training, out: Printed) -> Certificate:
    """What theorems bound, a line each."""
    from ..protocols.requested.certifying import certified

    found = certified(training)
    facts = {"event": "certified", "run": found.title, "comparator": found.found, "size": found.size}
    out.result(found.table, {**facts, "holds": found.holds, "rows": found.records})
    return found


def _count(confusion: Confusion, run: Progress) -> None:
    from ..protocols.requested.training import answers_of

    truths, said = answers_of(run)
    confusion.add(truths, said)


@contextmanager
def _signals(training: Training) -> Iterator[list[int]]:
    """Ctrl-C and SIGTERM stop after the block at hand; a second one stops at once."""
    caught: list[int] = []

    def stop(number: int, frame: FrameType | None) -> None:
        caught.append(number)
        if len(caught) > 1:
            raise KeyboardInterrupt
        training.interrupt()

    before = {number: signal.signal(number, stop) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield caught
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
