"""Start and memory, each measured in a fresh process.

Bytecode is written and warm, as after an installation; so is the compile cache.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from typing import NamedTuple

from .datasets import ROOT

BARE = "pass"
IMPORT = "import onmargin"
FIRST_USE = """
import json, time
began = time.perf_counter()
import sklearn.base, numba
base = time.perf_counter()
from onmargin import PassiveAggressiveClassifier
PassiveAggressiveClassifier()
print(json.dumps([time.perf_counter() - base, base - began]))
"""
FIRST_LESSON = """
import json, time
import numpy as np
from onmargin import PassiveAggressiveClassifier
rng = np.random.default_rng(0)
X, y = rng.normal(size=(100, 20)), rng.integers({classes}, size=100)
model = PassiveAggressiveClassifier()
began = time.perf_counter()
model.partial_fit(X, y, classes=range({classes}))
print(json.dumps([time.perf_counter() - began]))
"""
MEMORY = """
import json, tracemalloc
import numpy as np, scipy.sparse as sp
import onmargin as om
rng = np.random.default_rng(0)
rows, columns, per_row = {rows}, {columns}, {per_row}
y = rng.integers({classes}, size=rows)
if per_row:
    steps = rng.integers(1, columns // per_row, size=(rows, per_row))
    starts = np.arange(0, rows * per_row + 1, per_row, dtype=np.int32)
    X = sp.csr_matrix((rng.random(rows * per_row), steps.cumsum(1).ravel().astype(np.int32), starts),
                      shape=(rows, columns))
    size = X.data.nbytes + X.indices.nbytes + X.indptr.nbytes
else:
    X = rng.random((rows, columns))
    size = X.nbytes
classes = np.unique(y)
learn = lambda X, y: {call}
learn(X[:100], np.r_[classes, y[len(classes):100]])
tracemalloc.start()
learn(X, y)
print(json.dumps([tracemalloc.get_traced_memory()[1], size]))
"""
PARTIAL_FIT = "om.PassiveAggressiveClassifier().partial_fit(X, y, classes=classes)"
PROGRESSIVE = "om.progressive(om.PassiveAggressiveClassifier(), X, y, trace='sums')"
SHUFFLED = "om.PassiveAggressiveClassifier(max_iter=1, tol=None, shuffle=True).fit(X, y)"


class Bound(NamedTuple):
    """A number that must stay below its limit."""

    title: str
    value: float
    limit: float
    unit: str
    note: str


def run(code: str) -> tuple[float, list[float]]:
    """A fresh interpreter: wall-clock seconds, and the list of numbers it printed."""
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    began = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, cwd=ROOT, capture_output=True, text=True
    )
    seconds = time.perf_counter() - began
    if done.returncode:
        raise SystemExit(f"a fresh process failed:\n{done.stderr}")
    return seconds, json.loads(done.stdout) if done.stdout else []


def _import_time(repetitions: int) -> Bound:
    run(IMPORT)
    pairs = [(run(BARE)[0], run(IMPORT)[0]) for _ in range(repetitions)]
    bare = statistics.median(pair[0] for pair in pairs)
    whole = statistics.median(pair[1] for pair in pairs)
    note = f"bare Python {bare:.3f} s, with the import {whole:.3f} s"
    return Bound("import onmargin, over bare Python", whole - bare, 0.3, "s", note)


def _first_use(repetitions: int) -> Bound:
    run(FIRST_USE)
    times = [run(FIRST_USE)[1] for _ in range(repetitions)]
    over, base = (statistics.median(column) for column in zip(*times, strict=True))
    note = f"`import sklearn.base, numba` takes {base:.2f} s in the same process"
    return Bound("first use of an estimator class", over, 0.15, "s", note)


def _first_lesson(classes: int) -> Callable[[int], Bound]:
    def measure(repetitions: int) -> Bound:
        code = FIRST_LESSON.format(classes=classes)
        run(code)
        seconds = statistics.median(run(code)[1][0] for _ in range(repetitions))
        title = f"first partial_fit, {classes} classes"
        return Bound(title, seconds, 0.5, "s", "an existing instance, compile cache warm")

    return measure


def _memory(title: str, call: str, shape: dict[str, int]) -> Callable[[int], Bound]:
    def measure(repetitions: int) -> Bound:
        rows = shape["rows"] if repetitions >= 5 else shape["rows"] // 10
        _, (peak, size) = run(MEMORY.format(call=call, **{**shape, "rows": rows}))
        note = f"{peak / 2**20:.1f} MiB beside an X of {size / 2**20:.0f} MiB (a copy would be 100 %)"
        return Bound(title, 100 * peak / size, 10.0, "% of X", note)

    return measure


SPARSE = {"rows": 200_000, "columns": 47_000, "per_row": 75, "classes": 2}
DENSE = {"rows": 60_000, "columns": 784, "per_row": 0, "classes": 10}
MEASURES = (
    _import_time,
    _first_use,
    _first_lesson(2),
    _first_lesson(10),
    _memory("memory of progressive, CSR", PROGRESSIVE, SPARSE),
    _memory("memory of partial_fit, dense", PARTIAL_FIT, DENSE),
    _memory("memory of fit with shuffling, dense", SHUFFLED, DENSE),
)


def bounds(repetitions: int) -> Iterator[Bound]:
    """Every measure of start and memory in turn."""
    for measure in MEASURES:
        yield measure(repetitions)
