"""One pass over a table: PA-I against scikit-learn's.

scikit-learn shuffles the rows of every `partial_fit` unless told otherwise; ours learns them in
order. The targets are against its defaults; the same work in the same order stands beside it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.linear_model import SGDClassifier

import onmargin as om

from .contest import Contestant, Versus, Work
from .datasets import Table, mnist, sparse_stream


def ours(**options: Any) -> Any:
    """Our PA-I."""
    return om.PassiveAggressiveClassifier(C=1.0, **options)


def theirs(**options: Any) -> Any:
    """scikit-learn's PA-I."""
    return SGDClassifier(loss="hinge", penalty=None, learning_rate="pa1", eta0=1.0, random_state=0, **options)


def _learner(make: Any, X: Any, y: np.ndarray, **options: Any) -> Contestant:
    """partial_fit of a fresh learner; judged on rows of the same table."""
    classes = np.unique(y)
    judged = slice(-10_000, None)
    return Contestant(
        lambda model: model.partial_fit(X, y, classes=classes),
        lambda model: float(model.score(X[judged], y[judged])),
        lambda: make(**options),
    )


def _progressive(table: Table) -> Contestant:
    """The public call with the online error; judged by that error."""
    return Contestant(
        lambda model: om.progressive(model, table.X, table.y, trace="sums"),
        lambda run: 1.0 - float(run.error_rate),
        ours,
    )


def sparse(quick: bool) -> Work:
    """Binary, 200k x 47k, 75 nonzeros a row."""
    table = sparse_stream(20_000 if quick else 200_000)
    single = table.X.astype(np.float32)
    contestants = {
        "progressive": _progressive(table),
        "partial_fit": _learner(ours, table.X, table.y),
        "float32": _learner(ours, single, table.y, dtype="float32"),
        "scikit-learn": _learner(theirs, table.X, table.y),
        "scikit-learn, shuffle=False": _learner(theirs, table.X, table.y, shuffle=False),
    }
    lines = [
        Versus("sparse binary, progressive", "progressive", "scikit-learn", 1.8, 2.3),
        Versus("  peer in row order", "progressive", "scikit-learn, shuffle=False"),
        Versus("  partial_fit", "partial_fit", "scikit-learn"),
        Versus("  partial_fit, float32", "float32", "scikit-learn"),
    ]
    return Work("sparse", table.origin, contestants, lines, repetitions=15)


def dense(quick: bool) -> Work:
    """MNIST as a dense table."""
    table = mnist(6_000 if quick else 60_000)
    contestants = {
        "dense": _learner(ours, table.X, table.y),
        "scikit-learn": _learner(theirs, table.X, table.y),
        "scikit-learn, shuffle=False": _learner(theirs, table.X, table.y, shuffle=False),
    }
    lines = [
        Versus("dense multiclass", "dense", "scikit-learn", 10.0, 18.0),
        Versus("  peer in row order", "dense", "scikit-learn, shuffle=False"),
    ]
    return Work("dense", table.origin, contestants, lines)


def csr(quick: bool) -> Work:
    """MNIST as CSR."""
    table = mnist(6_000 if quick else 60_000)
    X = sp.csr_matrix(table.X)
    contestants = {
        "CSR": _learner(ours, X, table.y),
        "scikit-learn": _learner(theirs, X, table.y),
        "scikit-learn, dense": _learner(theirs, table.X, table.y),
        "scikit-learn, shuffle=False": _learner(theirs, X, table.y, shuffle=False),
    }
    lines = [
        Versus("CSR multiclass", "CSR", "scikit-learn", 6.0, 10.0),
        Versus("  peer in row order", "CSR", "scikit-learn, shuffle=False"),
        Versus("  peer on the dense table", "CSR", "scikit-learn, dense"),
    ]
    return Work("csr", f"{table.origin}, as CSR", contestants, lines)
