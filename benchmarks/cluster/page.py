"""docs/cluster_costs.md: what was measured, the model of cost, where one machine is faster, a prediction."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from textwrap import fill

from .costs import Costs, fitted
from .measures import Measured, Place, bandwidth, bare, cores, model_bytes, on_workers
from .rows import PER_ROW, written

GIB, MIB = 1 << 30, 1 << 20
NETWORK = 10e9 / 8  # bytes a second of a common network of machines
HUGE, MANY = 10**12, 1000  # examples and workers of the prediction


def places(folder: Path, quick: bool) -> tuple[Place, list[Place]]:
    """The large one, and smaller ones that tell the terms apart."""
    large = 1_000_000 if quick else 10_000_000
    small = 100_000 if quick else 400_000
    shapes = [(large, 1 << 20, 16), (large // 10, 1 << 20, 16), (small, 1 << 14, 16), (small, 1 << 14, 64),
              (small, 1 << 22, 4)]  # fmt: skip
    made = [
        Place(written(folder, rows, columns, 16), rows, columns, parts) for rows, columns, parts in shapes
    ]
    return made[0], made[1:]


def measured(folder: Path, quick: bool, tell: Callable[[str], None]) -> tuple[list[Measured], float]:
    """Everything, the large one last."""
    tell("making the data")
    large, others = places(folder, quick)
    tell("bandwidth between two workers")
    found, speed = list[Measured](), bandwidth()
    for place in (*others, large):
        for workers in (0, 1, 2):
            tell(f"{place.rows:,} rows, {place.columns:,} columns, {workers or 'no'} worker(s)")
            found.append(on_workers(place, workers) if workers else bare(place))
    return found, speed


def text(found: list[Measured], speed: float) -> str:
    """The page."""
    costs, told = fitted(found)
    large = found[-3:]
    alone, one, two = large
    size = model_bytes(alone.place.columns)
    packed = sum(file.stat().st_size for file in alone.place.folder.iterdir())
    rows = alone.place.rows
    return "\n".join(
        [
            "# What a cluster costs",
            "",
            _said(
                f"Written by `python -m benchmarks --only cluster` on {cores()} cores of one machine;",
                "workers are processes on it, which share memory and disk with whatever else runs there.",
                f"PA-I on sparse rows from Parquet, {PER_ROW} nonzeros each; every row is answered before it",
                "is learned. CPU s: of the client, and of a worker on average; that is what an epoch takes",
                "where every worker has a core of its own (s/epoch is more where other programs run",
                "meanwhile).",
            ),
            "",
            *_table(found, told),
            "",
            _said(
                f"**Overhead.** An epoch of {rows:,} rows took the bare loop {alone.seconds:.1f} s,",
                f"one worker {one.seconds:.1f} s, two workers {two.seconds:.1f} s;",
                f"in CPU seconds {alone.work:.1f}, {one.work:.1f}",
                f"({100 * (one.work / alone.work - 1):+.0f} %), {two.work:.1f}.",
            ),
            "",
            _said(
                f"**Memory.** The files hold {packed / GIB:.1f} GiB packed,",
                f"{rows * PER_ROW * 12 / GIB:.1f} GiB as CSR; no worker held more than",
                f"{max(one.worker_peak, two.worker_peak) / MIB:.0f} MiB,",
                f"the client {two.client_peak / MIB:.0f} MiB.",
            ),
            "",
            _said(
                "**Bytes moved** in an epoch, by the workers' own counters (asked through the scheduler) and",
                f"the client's two copies of the model: {one.moved / MIB:.1f} MiB with one worker,",
                f"{two.moved / MIB:.1f} MiB with two; the model has {size / MIB:.1f} MiB. Rows do not count.",
                "What workers sent is counted; the client's two copies are computed from the model's size.",
            ),
            "",
            "## The model",
            "",
            "    T = a + b P/w + r n/w + c m P/w + m (1 + log4 P) / B",
            "",
            _said(
                "n rows, w workers, P parts, m bytes of the model, B bytes per second between machines.",
                "Fitted to CPU s (least squares of relative errors, no term negative):",
            ),
            "",
            f"    a = {costs.start:.3f} s an epoch",
            f"    b = {1000 * costs.per_part:.1f} ms a part",
            f"    r = {1e6 * costs.per_row:.2f} us a row (bare loop: {1e6 * costs.bare_row:.2f} us)",
            f"    c = {1e9 * costs.per_byte:.2f} ns a byte of the model and part",
            f"    B = {speed / MIB:.0f} MiB/s between two workers here",
            "",
            *_crossover(costs),
            "",
            *_prediction(costs),
            "",
        ]
    )


def _said(*words: str) -> str:
    """A paragraph in lines of a page."""
    return fill(" ".join(words), 116, break_long_words=False, break_on_hyphens=False)


def _table(found: list[Measured], told: list[float]) -> list[str]:
    lines = [
        "| rows | columns | parts | workers | s/epoch | CPU s | model | MiB moved | error |",
        "|" + "---:|" * 9,
    ]
    guesses = iter(told)
    for one in found:
        place = one.place
        what = f"| {place.rows:,} | {place.columns:,} |"
        if one.workers:
            lines.append(
                f"{what} {place.parts} | {one.workers} | {one.seconds:.2f} | {one.work:.2f} | "
                f"{next(guesses):.2f} | {one.moved / MIB:.1f} | {one.error:.4f} |"
            )
        else:
            lines.append(
                f"{what} - | bare loop | {one.seconds:.2f} | {one.work:.2f} | - | - | {one.error:.4f} |"
            )
    return lines


def _crossover(costs: Costs) -> list[str]:
    lines = [
        "## Where one machine is faster",
        "",
        "Rows from which an epoch on w workers (a part each, 10 Gbit/s) is faster than the bare loop:",
        "",
        "| model | 2 workers | 8 workers | 100 workers |",
        "|---|---:|---:|---:|",
    ]
    for columns in (1 << 14, 1 << 20, 1 << 24):
        rows = [costs.crossover(workers, model_bytes(columns), NETWORK) for workers in (2, 8, 100)]
        cells = ["never" if math.isinf(one) else f"{_round(one):,}" for one in rows]
        lines.append(f"| {model_bytes(columns) / MIB:.1f} MiB | {' | '.join(cells)} |")
    return [*lines, "", "And one machine needs fewer epochs: mixing is not as good as learning in sequence."]


def _prediction(costs: Costs) -> list[str]:
    size, parts = model_bytes(1 << 24), 4 * MANY
    seconds = costs.seconds(HUGE, MANY, parts, size, NETWORK)
    rows = costs.per_row * HUGE / MANY
    return [
        "## A prediction, not a measurement",
        "",
        _said(
            f"10^12 examples on 1,000 workers, 4,000 parts, 2^24 columns ({size / MIB:.0f} MiB), 10 Gbit/s:",
            f"{seconds:,.0f} s an epoch ({seconds / 3600:.1f} h), of which {rows:,.0f} s is reading and",
            f"learning rows; one machine: {costs.alone(HUGE) / 86400:.0f} days. It supposes that storage",
            "feeds every worker as fast as this disk did, that no worker waits for another, and that the",
            "scheduler hands out 4,000 tasks in no time. Nothing beyond two workers was measured here.",
        ),
    ]


def _round(rows: float) -> int:
    """Two digits."""
    digits = max(0, int(math.log10(max(rows, 1))) - 1)
    return int(round(rows / 10**digits) * 10**digits)
