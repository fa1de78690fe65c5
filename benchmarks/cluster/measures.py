"""Epochs measured: the bare loop in one process, and one and two workers, with what they move and hold."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import onmargin as om
from onmargin.cluster import run
from onmargin.cluster.connecting import connected

LABELS = (-1, 1)


class Place(NamedTuple):
    """What is learned: rows in a folder, with so many columns, cut into so many parts."""

    folder: Path
    rows: int
    columns: int
    parts: int


class Measured(NamedTuple):
    """An epoch: seconds, bytes that models took to workers and between them, peaks of memory in bytes.

    work : CPU seconds of the client, and of a worker on average: what the epoch takes where cores are free.
    """

    place: Place
    workers: int  # 0: the bare loop
    seconds: float
    work: float
    moved: int = 0
    worker_peak: int = 0
    client_peak: int = 0
    error: float = float("nan")


def learner() -> om.PassiveAggressiveClassifier:
    """The same for all: 8 bytes a column."""
    return om.PassiveAggressiveClassifier(C=0.01, average=False, random_state=1)


def model_bytes(columns: int) -> int:
    """Of its weights."""
    return 8 * (columns + 1)


def peak() -> int:
    """Of this process, in bytes. (What getrusage says begins with the peak of whoever started it.)"""
    with open("/proc/self/status") as file:
        return 1024 * next(int(line.split()[1]) for line in file if line.startswith("VmHWM"))


def forget_peak() -> None:
    """From now on."""
    Path("/proc/self/clear_refs").write_text("5")


def transferred(dask_worker: Any) -> int:
    """Bytes that a worker has sent to others so far."""
    return int(dask_worker.transfer_outgoing_bytes_total)


def bare(place: Place) -> Measured:
    """One process, every block answered before it is learned; nothing read ahead, as on a worker."""
    model, wrong = learner(), 0
    first = next(iter(om.sources.parquet.stream(place.folder, columns=place.columns)))
    om.progressive(learner(), first.rows, first.targets, trace="sums")  # (compiled)
    began, worked = time.perf_counter(), time.process_time()
    for block in om.sources.parquet.stream(place.folder, columns=place.columns):
        wrong += om.progressive(model, block.rows, block.targets, trace="sums").mistakes
    work = time.process_time() - worked
    return Measured(place, 0, time.perf_counter() - began, work, error=wrong / place.rows)


def on_workers(place: Place, workers: int, epochs: int = 2) -> Measured:
    """The last of some epochs; the first brings every worker its machine code."""
    forget_peak()
    with connected(f"local:{workers}") as client:
        counts: list[tuple[float, float, float]] = []

        def tell(moment: Any) -> None:
            if moment.line is not None and moment.epoch >= epochs - 1:
                sent, worked = client.run(transferred), client.run(time.process_time)
                counts.append((sum(sent.values()), sum(worked.values()) / workers, time.process_time()))

        found = run(
            learner(), str(place.folder), client=client, epochs=epochs, classes=LABELS, shuffle=False,
            sample=0, parts=place.parts, columns=place.columns, tell=tell,
        )  # fmt: skip
        peaks = client.run(peak)
    epoch = found.report.epochs[-1]
    sent, worked, here = (after - before for before, after in zip(*counts, strict=True))
    handed_in_and_out = 2 * model_bytes(place.columns)  # the client gives the mixed model, and gets the next
    return Measured(
        place, workers, epoch.seconds, worked + here, int(sent) + handed_in_and_out, max(peaks.values()),
        peak(), found.report.error,
    )  # fmt: skip


def bandwidth(size: int = 64 << 20) -> float:
    """Bytes a second between two workers here: an array made on one is asked for by the other."""
    with connected("local:2") as client:
        one, other = list(client.nthreads())
        taken = []
        for number in range(3):
            made = client.submit(np.full, size, number, np.uint8, workers=[one], pure=False)
            client.submit(len, made, workers=[one], pure=False).result()
            began = time.perf_counter()
            client.submit(len, made, workers=[other], pure=False).result()
            taken.append(time.perf_counter() - began)
    return size / min(taken)


def cores() -> int:
    """Of this machine."""
    return os.cpu_count() or 1
