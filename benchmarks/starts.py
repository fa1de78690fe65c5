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

from .contest import START, Result, line
from .datasets import ROOT

BARE = "pass"
IMPORT = "import onmargin"
FIRST_USE = """
import json, time
import numpy as np
began = time.perf_counter()
import sklearn.base, numba
base = time.perf_counter()
from onmargin import {name}
model = {name}()
made = time.perf_counter()
X, y = np.random.default_rng(0).normal(size=(100, 20)), np.arange(100) % {classes}
model.partial_fit(X, y, classes=np.arange({classes}))
print(json.dumps([time.perf_counter() - base, made - base, base - began]))
"""
BY_HAND = """
import json, time
import numpy as np
import sklearn.base, numba
base = time.perf_counter()
from benchmarks.limits.dense import pa1
pa1(np.ones((100, 20)), np.ones(100), np.zeros(21), 1.0)
print(json.dumps([time.perf_counter() - base]))
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


def _result(
    title: str, values: list[float], hold: float, unit: str, note: str, limit: float | None = None
) -> Result:
    """A number that is to stay below `hold`: the median."""
    value = statistics.median(values)
    return Result(
        line(START, title, "", hold=hold), "starts", note, value, min(values), max(values), limit, unit
    )


def _import_time(repetitions: int) -> Result:
    run(IMPORT)
    pairs = [(run(BARE)[0], run(IMPORT)[0]) for _ in range(repetitions)]
    bare, whole = (statistics.median(column) for column in zip(*pairs, strict=True))
    note = f"bare Python {bare:.3f} s, with the import {whole:.3f} s"
    return _result("import onmargin", [whole - bare for bare, whole in pairs], 0.3, "s", note)


def _first_use(title: str, name: str, classes: int) -> Callable[[int], Result]:
    """Import, construction and a first `partial_fit`, after `import sklearn.base, numba`."""

    def measure(repetitions: int) -> Result:
        code = FIRST_USE.format(name=name, classes=classes)
        run(code)
        run(BY_HAND)
        times, limits = [], []
        for _ in range(repetitions):
            times.append(run(code)[1])
            limits.append(run(BY_HAND)[1][0])
        whole, made, base = zip(*times, strict=True)
        note = (
            f"{title}: of it {statistics.median(made):.2f} s up to the instance; before it "
            f"`import sklearn.base, numba` takes {statistics.median(base):.2f} s"
        )
        return _result(title, list(whole), 0.15, "s", note, statistics.median(limits))

    return measure


def _memory(title: str, call: str, shape: dict[str, int]) -> Callable[[int], Result]:
    def measure(repetitions: int) -> Result:
        rows = shape["rows"] if repetitions >= 5 else shape["rows"] // 10
        _, (peak, size) = run(MEMORY.format(call=call, **{**shape, "rows": rows}))
        note = f"{title}: {peak / 2**20:.1f} MiB beside an X of {size / 2**20:.0f} MiB"
        return _result(title, [100 * peak / size], 10.0, "% of X", note)

    return measure


SPARSE = {"rows": 200_000, "columns": 47_000, "per_row": 68, "classes": 2}
DENSE = {"rows": 60_000, "columns": 784, "per_row": 0, "classes": 10}
PA = "PassiveAggressiveClassifier"
MEASURES = (
    _import_time,
    _first_use("first use, 2 classes", PA, 2),
    _first_use("first use, 10 classes", PA, 10),
    _first_use("first use, Pegasos", "Pegasos", 2),
    _memory("memory, progressive, CSR", PROGRESSIVE, SPARSE),
    _memory("memory, partial_fit", PARTIAL_FIT, DENSE),
    _memory("memory, shuffled fit", SHUFFLED, DENSE),
)


def measured(repetitions: int) -> Iterator[Result]:
    """Every measure of start and memory in turn."""
    for measure in MEASURES:
        yield measure(repetitions)
