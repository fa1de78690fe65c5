"""onmargin learn: from a file or a pipe to a model, with the error so far while it reads."""

from __future__ import annotations

import os
import shlex
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated

import typer

from .output import Json, json_line, remark, writing
from .parameters import told_apart

if TYPE_CHECKING:
    from types import FrameType

    from ..protocols.record import Record
    from ..protocols.requests import Request
    from ..protocols.training import Moment, Training
    from ..results.certificate import Certificate
    from ..results.confusion import Confusion
    from ..results.progress import Progress
    from ..results.tally import Line

HELP = """Learn from DATA and say the progressive error: each row is answered before it is learned.

DATA: paths, globs, folders, - for standard input, tcp:// redis:// nats:// addresses, or a set's name.

Any other --name value is a parameter of the algorithm (-C 0.1, --average true), of the format
(--target price, --text body) or of its features (--bits 20, --ngram-range 1,2)."""


MANY = 20  # whole numbers that may be no classes
FEW = 1000  # numbers that say nothing yet of how well they are learned


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
    on_error: Annotated[str, typer.Option(help="At a bad line: stop, or skip and count it.")] = "stop",
    report: Annotated[str | None, typer.Option(help="Write a page with curve, confusions, features.")] = None,
    certify: Annotated[
        bool, typer.Option("--certify", help="Say what theorems bound: the data are read twice more.")
    ] = False,
    as_json: Json = False,
) -> None:
    from ..protocols.requests import Request

    paths, parameters = told_apart(context, data)
    request = Request(
        paths, algorithm, task, format, parameters, passes, save, start, resume, checkpoint_every, follow,
        on_error, cache, shlex.join(["onmargin", *sys.argv[1:]]),
    )  # fmt: skip
    out = _Printed(as_json, to_stderr=save == "-", keeps=save is not None or report is not None)
    if save == "-":
        _learn_into_pipe(request, test, table, report, out, certify)
    else:
        _learn(request, test, table, report, out, certify)


learn.__doc__ = HELP


class _Printed:
    """Results on standard output; beside a model that goes there, on standard error."""

    def __init__(self, as_json: bool, to_stderr: bool, keeps: bool = False) -> None:
        self.as_json, self.file = as_json, sys.stderr if to_stderr else sys.stdout
        self._headed, self._keeps = False, keeps

    def result(self, text: str, facts: dict[str, object]) -> None:
        with self._heard():
            if self.as_json:
                json_line(facts, self.file)
            else:
                print(text, file=self.file, flush=True)

    def line(self, line: Line, word: str) -> None:
        with self._heard():
            self._put(line, word)

    @contextmanager
    def _heard(self) -> Iterator[None]:
        """Where the reader has enough (`| head`) learning goes on for what is to be kept."""
        try:
            yield
        except BrokenPipeError:
            if not self._keeps:
                raise
            os.dup2(os.open(os.devnull, os.O_WRONLY), self.file.fileno())

    def _put(self, line: Line, word: str) -> None:
        if self.as_json:
            json_line({"event": "so_far", **line._asdict()}, self.file)
            return
        if not self._headed:
            self._headed = True
            print(
                f"{'average':<9} {'since':<9} {'example':>12} {'current':>14} {'current':>14} {'current':>8}",
                file=self.file,
            )
            print(
                f"{word:<9} {'last':<9} {'counter':>12} {'label':>14} {'predict':>14} {'features':>8}",
                file=self.file,
            )
        label, guess = brief(line.label), brief(line.guess)
        print(
            f"{line.average:<9.6f} {line.since_last:<9.6f} {line.examples:>12} {label:>14} {guess:>14} "
            f"{line.features:>8}",
            file=self.file, flush=True,
        )  # fmt: skip


def brief(label: object) -> str:
    """A label, a number or a set of labels for a narrow column."""
    if isinstance(label, tuple):
        text = ",".join(map(brief, label)) or "-"
    elif isinstance(label, float):
        text = str(int(label)) if label == int(label) and abs(label) < 1e12 else f"{label:.4f}"
    else:
        text = "-" if label is None else str(label)
    return text if len(text) <= 14 else f"{text[:13]}…"


def _learn_into_pipe(
    request: Request, test: str | None, table: bool, report: str | None, out: _Printed, certify: bool
) -> None:
    """The model goes to standard output, so that `onmargin predict -` can read it."""
    import tempfile

    if request.resume:
        from ..errors import BadInput

        raise BadInput("--resume goes on with a file; give --save FILE.onm")
    with tempfile.TemporaryDirectory() as folder:
        request.save = os.path.join(folder, "model.onm")
        _learn(request, test, table, report, out, certify, says_saved=False)
        with open(request.save, "rb") as file:
            sys.stdout.buffer.write(file.read())
        sys.stdout.buffer.flush()


def _learn(
    request: Request,
    test: str | None,
    table: bool,
    report: str | None,
    out: _Printed,
    certify: bool,
    says_saved: bool = True,
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
        from ..protocols.certifying import require_again

        require_again(training)
    record = training.record
    found = "given" if request.task else "found from the labels"
    remark(f"{record.task}, {found}; {record.algorithm}: {training.model}")
    if record.rows:
        remark(f"resumed after {record.rows:,} rows")
    with bar, _signals(training) as caught:
        training.run()
    _say(training, record, request, out, says_saved)
    if caught:
        where = (
            f"saved to {request.save}"
            if says_saved and request.save
            else "nothing was saved (--save FILE.onm keeps it)"
        )
        again = "; --resume goes on" if request.save and says_saved else ""
        sys.stderr.write(f"onmargin: stopped after {record.rows:,} rows, {where}{again}\n")
        raise typer.Exit(128 + caught[0])
    tested = None if test is None else _judge(training, test, request, out)
    certificate = _certify(training, out) if certify else None
    if report is not None:
        from ..protocols.record import first_column
        from ..results import report as pages

        progress = record.tally.progress(training.model)
        facts: dict[str, object] = {
            "data": ", ".join(record.data),
            "task": record.task,
            "rows": record.rows,
            "passes": record.finished,
        }
        if record.tally.word != "error":
            facts[f"online {record.tally.word}"] = record.tally.average
        if tested is not None:
            facts[f"test {test}"] = tested
        first = first_column(record.options)
        with writing(report):
            pages.write(
                report, progress, training.whole, record.command, facts, confusion, certificate, first
            )
        remark(f"report: {report}")


def _certify(training: Training, out: _Printed) -> Certificate:
    """What theorems bound, a line each."""
    from ..protocols.certifying import certified

    found = certified(training)
    facts = {"event": "certified", "run": found.title, "comparator": found.found, "size": found.size}
    out.result(found.table, {**facts, "holds": found.holds, "rows": found.records})
    return found


def _count(confusion: Confusion, run: Progress) -> None:
    from ..protocols.training import answers_of

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


def _say(training: Training, record: Record, request: Request, out: _Printed, says_saved: bool) -> None:
    """What it came to."""
    tally = record.tally
    facts: dict[str, object] = {
        "event": "learned", "data": record.data, "format": record.format, "task": record.task,
        "algorithm": record.algorithm, "model": type(training.model).__name__, "rows": record.rows,
        "passes": record.finished, "whole": record.is_whole, tally.word: tally.average,
        "examples": tally.count,
        "mistakes": tally.mistakes, "updates": tally.updates, "skipped": record.skipped,
        "unlabelled": record.unlabelled, "seconds": round(record.seconds, 3),
        "saved": request.save if says_saved else None,
    }  # fmt: skip
    passes = f"{record.finished} pass{'' if record.finished == 1 else 'es'}"
    done = passes if record.is_whole else f"stopped in pass {record.finished + 1} of {record.passes}"
    lines = [f"{', '.join(record.data)}: {record.task}, {record.algorithm} ({type(training.model).__name__})"]
    last = " in the last" if record.is_whole and record.finished > 1 else ""
    lines += [
        f"{record.rows:,} rows, {done}: progressive {tally.word} {tally.average:.4f}, "
        f"{tally.updates:,} updates{last}"
    ]
    if len(record.earlier) > 1:
        each = ", ".join(f"{one[tally.word]:.4f}" for one in record.earlier[-5:] if tally.word in one)
        which = "each pass" if len(record.earlier) <= 5 else "the last 5 passes"
        lines.append(f"{tally.word} of {which}: {each}")
    if record.skipped:
        lines.append(f"{record.skipped:,} bad line{'s were' if record.skipped > 1 else ' was'} skipped")
    if record.unlabelled:
        lines.append(f"{record.unlabelled:,} rows had no label")
    if request.save and says_saved:
        lines.append(f"saved {request.save}")
    out.result("\n".join(lines), facts)
    labels = list(getattr(training.model, "classes_", ()))
    found = request.task is None and record.task == "classes" and record.format != "set"
    if found and len(labels) > MANY and isinstance(labels[0], float):
        sys.stderr.write(
            f"onmargin: warning: {len(labels)} different numbers were taken for classes; if they measure "
            "something, give --task numbers\n"
        )
    if tally.average > tally.baseline and tally.count >= FEW:
        size = f"{abs(tally.level) / tally.count:.1g}"
        sys.stderr.write(
            f"onmargin: warning: always answering the mean so far has mae {tally.baseline:.4f}: steps are "
            f"small beside targets of about {size}; try --algorithm pa, --algorithm ftrl --rate {size}, or "
            "other units\n"
        )


def _judge(training: Training, test: str, request: Request, out: _Printed) -> dict[str, float]:
    """The rows of another file, answered and not learned: how good the answers were, said and given back."""
    from ..protocols.answering import judged
    from ..protocols.reading import Reading, read_alike

    record = training.record
    format, options = read_alike(test, request.format, record.format, record.options)
    labels = training.reading.labels
    if labels is not None and format == "svmlight":
        options["labels"] = labels
    reading = Reading([test], format=format, task=record.task, options=options, on_error=request.on_error)
    found = judged(training.whole, reading.peeked.blocks())
    said = ", ".join(f"{name} {value:.4f}" for name, value in found.items() if name != "rows")
    out.result(
        f"test {test}: {int(found['rows']):,} rows, {said}", {"event": "tested", "data": test, **found}
    )
    return found
