"""onmargin learn --cluster: the same options and reports, learned by the workers of a Dask cluster."""

from __future__ import annotations

import logging
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

import typer

from .learned import Printed, judge, say, to_judge, write_page
from .output import remark

if TYPE_CHECKING:
    from types import FrameType

    from ..cluster.report import Report
    from ..cluster.training import ClusterTraining
    from ..protocols.requested.requests import Request

WORDS = ("distributed", "asyncio", "tornado")  # who log beside our one line


def refuse(table: bool, certify: bool) -> None:
    """What is said of one stream alone."""
    from ..errors import BadInput

    if table or certify:
        given, why = ("--table", "its lines are") if table else ("--certify", "theorems are")
        raise BadInput(f"{given}: {why} of one stream, and a cluster has several; leave it out")


class Apart(NamedTuple):
    """Where others learn, from how many parts, and how often and in which shares these become one."""

    address: str
    parts: int | None
    mixing: str
    every: int | None


def learn_apart(
    request: Request,
    apart: Apart,
    test: str | None,
    report: str | None,
    out: Printed,
    says_saved: bool,
) -> None:
    """Connect, learn, say what it came to and what going parallel has cost."""
    from ..cluster.connecting import connected
    from ..cluster.training import ClusterTraining
    from .progress_bar import Bar

    for name in [*WORDS, *logging.Logger.manager.loggerDict]:  # (Dask gives many of its own a level each)
        if name.partition(".")[0] in WORDS:
            logging.getLogger(name).setLevel(logging.CRITICAL)
    with _stopped(request, says_saved) as stopped, connected(apart.address) as client:
        with Bar() as bar:
            training = stopped.training = ClusterTraining(
                request, client, parts=apart.parts, mixing=apart.mixing, mix_every=apart.every, tell=bar.show
            )
            record = training.record
            workers = len(client.nthreads())
            found = "given" if request.task else "found from the labels"
            remark(f"{record.task}, {found}; {record.algorithm}: {training.model}")
            remark(f"{_many(len(training.parts), 'part')} on {_many(workers, 'worker')} at {apart.address}")
            if not workers:
                sys.stderr.write(
                    f"onmargin: no worker is there yet, one is waited for: dask worker {apart.address}\n"
                )
            if record.rows:
                remark(f"resumed after {_many(record.finished, 'epoch')}")
            rows = None if test is None else to_judge(test, record, training.reading, request)
            training.run()
        say(training.model, record, request, out, says_saved, training.runs)
        assert training.report is not None
        parts = _many(len(training.parts), "part")
        shares = "in equal shares" if apart.mixing == "uniform" else f"by {apart.mixing}"
        facts = {"event": "cluster", "cluster": apart.address, **_facts(training.report)}
        out.result(f"learned in {parts}, mixed {shares}\n{training.report}", facts)
        whole = training.whole
        tested = None if rows is None else judge(whole, rows, out)
        if report is not None:
            said = None if tested is None or test is None else (test, tested)
            more: dict[str, object] = {
                "parts": len(training.parts), "workers": workers, "mixing": apart.mixing,
            }  # fmt: skip
            write_page(report, training.model, whole, record, said, more=more, epochs=training.report)


def _facts(report: Report) -> dict[str, object]:
    """A report for programs."""
    return {
        "parts": len(report.partitions),
        "mixing": report.mixing,
        "skipped_parts": report.skipped,
        "epochs": [
            {**epoch.sums._asdict(), "epoch": epoch.number, "seconds": round(epoch.seconds, 3),
             "bytes": epoch.bytes_mixed}
            for epoch in report.epochs
        ],
        "workers": {name: sums._asdict() for name, sums in report.by_worker().items()},
        "sample": None if report.sample is None else report.sample._asdict(),
    }  # fmt: skip


def _many(count: int, word: str) -> str:
    return f"{count:,} {word}{'' if count == 1 else 's'}"


class _Stop:
    """The training that Ctrl-C stops; there is none before workers are there."""

    training: ClusterTraining | None = None


@contextmanager
def _stopped(request: Request, says_saved: bool) -> Iterator[_Stop]:
    """Ctrl-C and SIGTERM stop at once; what is kept is the last epoch."""
    found, caught = _Stop(), list[int]()

    def stop(number: int, frame: FrameType | None) -> None:
        caught.append(number)
        raise KeyboardInterrupt

    before = {number: signal.signal(number, stop) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield found
    except KeyboardInterrupt:
        epochs = 0 if found.training is None else found.training.record.finished
        begun = found.training is not None and found.training.report is not None
        kept = begun and request.save is not None and says_saved
        where = f"saved to {request.save}; --resume goes on" if kept else "nothing was saved"
        more = "" if request.save or not epochs else " (--save FILE.onm keeps every epoch)"
        sys.stderr.write(f"onmargin: stopped after {_many(epochs, 'epoch')}, {where}{more}\n")
        raise typer.Exit(128 + caught[0]) from None
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
