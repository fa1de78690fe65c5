"""Small calls and questions: partial_fit of a few rows at a time, predict of a large table."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from threadpoolctl import ThreadpoolController

from .contest import LIMIT, SKLEARN, Contestant, Work, line
from .datasets import Table, dense_stream, sparse_stream
from .limits import dense, sparse
from .passes import ours, signs, theirs

SIZES = (1, 10, 100)


def _learned(make: Callable[[], Any], table: Table, size: int, calls: int) -> Contestant:
    """So many calls; the first, which says what classes there are, is off the clock."""
    blocks = [(table.X[i : i + size], table.y[i : i + size]) for i in range(0, size * calls, size)]
    fresh = table.X[:200], table.y[:200]

    def run(model: Any) -> Any:
        for X, y in blocks:
            model.partial_fit(X, y)
        return model

    def accuracy(model: Any) -> float:
        return float(model.score(table.X[-2_000:], table.y[-2_000:]))

    return Contestant(run, accuracy, lambda: make().partial_fit(*fresh, classes=[0, 1]))


def _by_hand(table: Table, size: int, calls: int) -> Contestant:
    """The compiled loop called with the same arrays."""
    spans = range(0, size * calls, size)
    blocks = [(_arrays(table.X[i : i + size]), signs(table.y[i : i + size])) for i in spans]
    loop = dense.pa1 if isinstance(table.X, np.ndarray) else sparse.pa1

    def run(weights: np.ndarray) -> None:
        for arrays, targets in blocks:
            loop(*arrays, targets, weights, 1.0)

    return Contestant(run, lambda _: 1.0, lambda: np.zeros(table.X.shape[1] + 1))


def _arrays(X: Any) -> tuple[np.ndarray, ...]:
    return (X,) if isinstance(X, np.ndarray) else sparse.arrays(X)


def small(quick: bool) -> Work:
    """1, 10 and 100 rows at a time, dense and sparse."""
    calls = 50 if quick else 200
    rows = max(SIZES) * calls + 2_000
    tables = {"dense": _separable(rows), "CSR": sparse_stream(rows)}
    contestants, lines = {}, []
    for size in SIZES:
        for form, table in tables.items():
            name, peer, limit = f"{size}, {form}", f"scikit-learn, {size}, {form}", f"by hand, {size}, {form}"
            contestants[name] = _learned(ours, table, size, calls)
            contestants[peer] = _learned(theirs, table, size, calls)
            contestants[limit] = _by_hand(table, size, calls)
            rows_word = "row" if size == 1 else "rows"
            title = f"partial_fit, {size} {rows_word}, {form}"
            lines.append(line(SKLEARN, title, name, peer, 1.5, 3.0, limit))
    data = f"{calls} calls; {'; '.join(table.origin for table in tables.values())}"
    return Work("calls", data, contestants, lines, repetitions=9, least=0.55)


def _separable(rows: int, columns: int = 20) -> Table:
    table = dense_stream(rows, 0.0, columns, 2)
    return table._replace(y=(table.X[:, :5].sum(1) > 2.5).astype(int))


def predict(quick: bool) -> Work:
    """Answers for 200,000 sparse rows; threads as the library takes them, at most two."""
    table = sparse_stream(20_000 if quick else 200_000)
    some = table.X[:20_000], table.y[:20_000]
    arrays, count = sparse.arrays(table.X), len(table.y)
    ends, controller = [0, count // 2, count], ThreadpoolController()  # (it looks for libraries: 3 ms a time)

    def asked(make: Callable[[], Any], threads: int, scores: bool = False) -> Contestant:
        fitted = make().partial_fit(*some, classes=[0, 1])
        ask = fitted.decision_function if scores else fitted.predict

        def run(_: None) -> np.ndarray:
            with controller.limit(limits=threads):
                return np.asarray(ask(table.X))

        return Contestant(run, lambda answers: float(np.mean((answers > 0) == (table.y > 0))))

    def by_hand(_: None) -> np.ndarray:
        out = np.empty(count)
        with ThreadPoolExecutor(2) as pool:
            list(pool.map(lambda i: sparse.scores(*arrays, weights, out, ends[i], ends[i + 1]), (0, 1)))
        return out

    fitted = ours().partial_fit(*some, classes=[0, 1])
    weights = np.r_[fitted.coef_.ravel(), fitted.intercept_]
    contestants = {
        "predict": asked(ours, 2),
        "one thread": asked(ours, 1),
        "by hand": Contestant(by_hand, lambda out: float(np.mean((out > 0) == (table.y > 0)))),
        "decision_function": asked(theirs, 2, scores=True),
        "scikit-learn's predict": asked(theirs, 2),
    }
    lines = [
        line(LIMIT, "predict, threads / by hand", "predict", "by hand", 1.33, 1.15),
        line(SKLEARN, "predict / decision_function", "predict", "decision_function", 1.0, 1.5, "by hand"),
        line(SKLEARN, "  in one thread", "one thread", "decision_function"),
        line(SKLEARN, "  predict, both", "predict", "scikit-learn's predict"),
    ]
    return Work("predict", table.origin, contestants, lines, repetitions=11)
