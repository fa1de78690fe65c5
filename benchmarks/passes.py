"""One pass over a table: PA-I beside scikit-learn's in row order, and beside a loop written by hand."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.linear_model import SGDClassifier

import onmargin as om

from .contest import LIMIT, SKLEARN, Contestant, Work, line
from .datasets import Table, class_stream, dense_stream, mnist, sparse_stream
from .limits import classes, sparse

EXACT: dict[str, Any] = {"average": False, "intercept_scaling": 1.0}  # the paper's round, and no more
CLASSES = 10


def ours(**options: Any) -> Any:
    """Our PA-I."""
    return om.PassiveAggressiveClassifier(C=1.0, **EXACT, **options)


def theirs(**options: Any) -> Any:
    """scikit-learn's PA-I in row order: it would shuffle the rows of every `partial_fit`."""
    return SGDClassifier(
        loss="hinge", penalty=None, learning_rate="pa1", eta0=1.0, shuffle=False, random_state=0, **options
    )


def learner(make: Callable[..., Any], X: Any, y: np.ndarray, **options: Any) -> Contestant:
    """partial_fit of a fresh learner; judged on rows of the same table."""
    labels = np.unique(y)
    judged = slice(-10_000, None)
    return Contestant(
        lambda model: model.partial_fit(X, y, classes=labels),
        lambda model: float(model.score(X[judged], y[judged])),
        lambda: make(**options),
    )


def signs(y: np.ndarray) -> np.ndarray:
    """Labels 0 and 1 as -1.0 and +1.0."""
    return np.where(y > 0, 1.0, -1.0)


def by_hand(table: Table, X: Any, dtype: type = np.float64) -> Contestant:
    """PA-I as one loop, four partial sums; judged by its online error."""
    arrays, targets, size = sparse.arrays(X), signs(table.y), X.shape[1] + 1
    return Contestant(
        lambda _: sparse.pa1(*arrays, targets, np.zeros(size, dtype), 1.0),
        lambda mistakes: 1.0 - mistakes / len(targets),
    )


def _progressive(X: Any, y: np.ndarray, trace: str = "sums", **options: Any) -> Contestant:
    """The public call with the online error; judged by that error."""
    return Contestant(
        lambda model: om.progressive(model, X, y, trace=trace),
        lambda run: 1.0 - float(run.error_rate),
        lambda: ours(**options),
    )


def binary(quick: bool) -> Work:
    """Two classes, 200k x 47k, 68 nonzeros a row, in both precisions."""
    table = sparse_stream(20_000 if quick else 200_000)
    single = table.X.astype(np.float32)
    contestants = {
        "partial_fit": learner(ours, table.X, table.y),
        "progressive": _progressive(table.X, table.y),
        "full trace": _progressive(table.X, table.y, "full"),
        "float32": _progressive(single, table.y, dtype="float32"),
        "by hand": by_hand(table, table.X),
        "by hand, float32": by_hand(table, single, np.float32),
        "scikit-learn": learner(theirs, table.X, table.y),
        "scikit-learn, float32": learner(theirs, single, table.y),
    }
    lines = [
        line(LIMIT, "sparse PA-I / loop by hand", "partial_fit", "by hand", 1.3, 1.15),
        line(SKLEARN, "sparse PA-I, progressive", "progressive", "scikit-learn", 1.5, 1.8, "by hand"),
        line(SKLEARN, "  partial_fit", "partial_fit", "scikit-learn", limit="by hand"),
        line(SKLEARN, "  progressive, full trace", "full trace", "scikit-learn", limit="by hand"),
        line(SKLEARN, "  float32, both", "float32", "scikit-learn, float32", 1.8, 2.2, "by hand, float32"),
    ]
    return Work("binary", table.origin, contestants, lines, repetitions=15)


def _dense_by_hand(table: Table) -> Contestant:
    """Dense rows by hand."""
    X, y, slots = table.X, table.y, table.X.shape[1] + 8  # (each class begins a cache line)

    def run(_: None) -> int:
        weights = classes.aligned(CLASSES, slots).reshape(CLASSES, slots)
        return int(classes.top_dense(X, y, weights, np.zeros(16), 1.0))

    return Contestant(run, lambda updates: updates > 0)


def _sparse_by_hand(table: Table, X: Any) -> Contestant:
    """The same of sparse rows."""
    arrays, y, size = sparse.arrays(X), table.y, X.shape[1] + 1

    def run(_: None) -> int:
        return int(classes.top_sparse(*arrays, y, classes.aligned(size, 16), np.zeros(16), CLASSES, 1.0))

    return Contestant(run, lambda updates: updates > 0)


def dense(quick: bool) -> Work:
    """Ten classes, 784 columns: MNIST (mostly zeros), no zeros, half of them zeros."""
    rows = 4_000 if quick else 20_000
    tables = {
        "MNIST": mnist(rows),
        "no zeros": dense_stream(rows, 0.0),
        "half zeros": dense_stream(rows, 0.5),
    }
    targets = {"MNIST": 12.0, "no zeros": 9.0, "half zeros": 9.0}
    contestants, lines = {}, []
    for name, table in tables.items():
        contestants[name] = learner(ours, table.X, table.y)
        contestants[f"scikit-learn, {name}"] = learner(theirs, table.X, table.y)
        contestants[f"by hand, {name}"] = _dense_by_hand(table)
        title = f"dense 784 x 10: {name}"
        limit = f"by hand, {name}"
        lines.append(line(SKLEARN, title, name, f"scikit-learn, {name}", targets[name], 16.0, limit))
    data = f"{tables['MNIST'].origin}; {tables['no zeros'].origin}, labels at random, zeros at random"
    return Work("dense", data, contestants, lines, least=0.05)


def csr(quick: bool) -> Work:
    """MNIST as CSR."""
    table = mnist(4_000 if quick else 20_000)
    X = sp.csr_matrix(table.X)
    contestants = {
        "CSR": learner(ours, X, table.y),
        "scikit-learn": learner(theirs, X, table.y),
        "by hand": _sparse_by_hand(table, X),
    }
    lines = [
        line(SKLEARN, "MNIST as CSR", "CSR", "scikit-learn", 6.0, 10.0, "by hand"),
        line(LIMIT, "MNIST as CSR / loop by hand", "CSR", "by hand", 1.33, 1.15),
    ]
    return Work("csr", f"{table.origin}, as CSR", contestants, lines, repetitions=40)


def _gathered(table: Table, width: int) -> Contestant:
    """The weights of every nonzero read once."""
    arrays, flat = sparse.arrays(table.X), classes.aligned(table.X.shape[1] + 1, width)
    flat.fill(1.0)  # pages of zeros that nobody wrote are all one page
    scores = np.zeros(width)
    return Contestant(lambda _: classes.gather(*arrays, flat, width, scores), lambda _: 1.0)


def many(quick: bool) -> Work:
    """A hundred and a thousand classes, sparse rows: beside the bytes that scores must touch."""
    part = 4 if quick else 1
    tables = {
        100: class_stream(20_000 // part, 100, 47_000),
        1_000: class_stream(8_000 // part, 1_000, 20_000),
    }
    contestants, lines = {}, []
    for count, table in tables.items():
        contestants[f"{count}"] = learner(ours, table.X, table.y)
        contestants[f"scikit-learn, {count}"] = learner(theirs, table.X, table.y)
        contestants[f"gather, {count}"] = _gathered(table, -(-count // 32) * 32)
        lines.append(line(LIMIT, f"{count:,} classes / bare gather", f"{count}", f"gather, {count}"))
        title = f"sparse, {count:,} classes"
        lines.append(line(SKLEARN, title, f"{count}", f"scikit-learn, {count}", limit=f"gather, {count}"))
    data = "; ".join(table.origin for table in tables.values())
    return Work("many", data, contestants, lines, repetitions=5, least=0.3)
