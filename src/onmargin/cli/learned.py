"""What a run of `onmargin learn` came to: said in lines or JSON, judged on a test set, on a page."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from .output import json_line, remark, writing

if TYPE_CHECKING:
    from ..protocols.requested.reading import Reading
    from ..protocols.requested.record import Record
    from ..protocols.requested.requests import Request
    from ..results.certificate import Certificate
    from ..results.confusion import Confusion
    from ..results.report import ByEpoch
    from ..results.tally import Line

MANY = 20  # whole numbers that may be no classes
FEW = 1000  # numbers that say nothing yet of how well they are learned


class Printed:
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


def say(
    model: object, record: Record, request: Request, out: Printed, says_saved: bool = True, runs: int = 0
) -> None:
    """What it came to; `runs` of rows with one label, where they were counted."""
    tally = record.tally
    facts: dict[str, object] = {
        "event": "learned", "data": record.data, "format": record.format, "task": record.task,
        "algorithm": record.algorithm, "model": type(model).__name__, "rows": record.rows,
        "passes": record.finished, "whole": record.is_whole, tally.word: tally.average,
        "examples": tally.count,
        "mistakes": tally.mistakes, "updates": tally.updates, "skipped": record.skipped,
        "unlabelled": record.unlabelled, "seconds": round(record.seconds, 3),
        "saved": request.save if says_saved else None,
    }  # fmt: skip
    passes = f"{record.finished} pass{'' if record.finished == 1 else 'es'}"
    done = passes if record.is_whole else f"stopped in pass {record.finished + 1} of {record.passes}"
    lines = [f"{', '.join(record.data)}: {record.task}, {record.algorithm} ({type(model).__name__})"]
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
    labels = list(getattr(model, "classes_", ()))
    found = request.task is None and record.task == "classes" and record.format != "set"
    if found and len(labels) > MANY and isinstance(labels[0], float):
        sys.stderr.write(
            f"onmargin: warning: {len(labels)} different numbers were taken for classes; if they measure "
            "something, give --task numbers\n"
        )
    if record.task == "classes" and labels and runs == len(labels) and record.rows >= FEW:
        sys.stderr.write(
            f"onmargin: warning: the rows are sorted by their labels, in {runs} runs, so this error "
            "says little: each row is answered like the one before it; shuffle the lines, as shuf does\n"
        )
    if tally.average > tally.baseline and tally.count >= FEW:
        size = f"{abs(tally.level) / tally.count:.1g}"
        sys.stderr.write(
            f"onmargin: warning: always answering the mean so far has mae {tally.baseline:.4f}: steps are "
            f"small beside targets of about {size}; try --algorithm pa, --algorithm ftrl --rate {size}, or "
            "other units\n"
        )


def require_page(path: str) -> None:
    """Refuse a place where no page can be written, before anything is learned: the model might be lost."""
    import tempfile
    from importlib.util import find_spec
    from pathlib import Path

    from ..errors import BadInput, extra

    page = Path(os.path.realpath(path))
    if page.is_dir():
        raise BadInput(f"the report {path} is a folder; wanted the path of a file, such as report.html in it")
    if find_spec("matplotlib") is None:
        raise extra("matplotlib", "plots")
    if page.exists() and not page.is_file():  # a device, a named pipe
        return
    there = next(folder for folder in page.parents if folder.exists())  # (those below are made)
    try:
        tempfile.TemporaryFile(dir=there).close()
    except OSError as error:
        raise BadInput(
            f"the report {path} cannot be written ({error.strerror}); give another --report"
        ) from None


def to_judge(test: str, record: Record, reading: Reading, request: Request) -> Reading:
    """The rows of another file, opened before anything is learned: what cannot be read is told by then."""
    from ..protocols.requested.further import read_alike
    from ..protocols.requested.reading import Reading

    format, options = read_alike(test, request.format, record.format, record.options)
    labels = reading.labels
    if labels is not None and format == "svmlight":
        options["labels"] = labels
    return Reading([test], format=format, task=record.task, options=options, on_error=request.on_error)


def judge(whole: object, rows: Reading, out: Printed) -> dict[str, float]:
    """Rows answered and not learned: how good the answers were, said and given back."""
    from ..protocols.requested.answering import judged

    test, found = rows.data[0], judged(whole, rows.peeked.blocks())
    said = ", ".join(f"{name} {value:.4f}" for name, value in found.items() if name != "rows")
    out.result(
        f"test {test}: {int(found['rows']):,} rows, {said}", {"event": "tested", "data": test, **found}
    )
    return found


def write_page(
    path: str,
    model: object,
    whole: object,
    record: Record,
    tested: tuple[str, dict[str, float]] | None,
    confusion: Confusion | None = None,
    certificate: Certificate | None = None,
    more: dict[str, object] | None = None,
    epochs: ByEpoch | None = None,
) -> None:
    """A page with curve, confusions and features; `tested`: on which set, and how good the answers were."""
    from ..protocols.requested.record import first_column
    from ..results import report as pages

    progress = record.tally.progress(model)
    facts: dict[str, object] = {
        "data": ", ".join(record.data),
        "task": record.task,
        "rows": record.rows,
        "passes": record.finished,
    }
    if record.tally.word != "error":
        facts[f"online {record.tally.word}"] = record.tally.average
    if tested is not None:
        facts[f"test {tested[0]}"] = tested[1]
    first = first_column(record.options)
    with writing(path):
        pages.write(
            path, progress, whole, record.command, facts | (more or {}), confusion, certificate, first, epochs
        )
    remark(f"report: {path}")
