"""Real sets in the folder that ONMARGIN_DATA names (default ../shared/data)."""

from __future__ import annotations

import gzip
import lzma
import os
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from ..errors import BadInput


class Split(NamedTuple):
    """Rows and labels to learn from, and to test on."""

    X: Any
    y: np.ndarray
    X_test: Any
    y_test: np.ndarray


def folder() -> Path:
    """Where real sets are looked for."""
    return Path(os.environ.get("ONMARGIN_DATA") or Path("..") / "shared" / "data")


def opened(name: str) -> Any:
    """A packed file of the folder."""
    path = folder() / name
    if not path.exists():
        raise BadInput(f"{name} is not in {folder()}; set ONMARGIN_DATA to the folder that has it")
    return (lzma if name.endswith(".xz") else gzip).open(path)


def svmlight(name: str, columns: int, **options: Any) -> tuple[Any, ...]:
    """A LIBSVM or LETOR text."""
    from sklearn.datasets import load_svmlight_file

    with opened(name) as stream:
        read: tuple[Any, ...] = load_svmlight_file(stream, n_features=columns, **options)
        return read


def usps() -> Split:
    """Handwritten digits, 16 x 16 grey values in [-1, 1]."""
    tables = []
    for part in ("train", "test"):
        with opened(f"usps/zip.{part}.gz") as stream:
            tables.append(np.loadtxt(stream))
    train, test = tables
    return Split(train[:, 1:], train[:, 0].astype(int), test[:, 1:], test[:, 0].astype(int))


def mq2008() -> list[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """The five parts of LETOR's MQ2008: features, relevance, query."""
    parts = [svmlight(f"mq2008/S{number}.txt.xz", 46, query_id=True) for number in range(1, 6)]
    return [(X.toarray(), y, qid) for X, y, qid in parts]


def reuters() -> Split:
    """Reuters-21578, 90 topics (ModApte): word counts, and an indicator matrix of topics."""
    found = []
    for part in ("train", "test"):
        X, topics = svmlight(f"reuters21578/r90_counts.{part}.svm.gz", 10_176, multilabel=True)
        y = np.zeros((X.shape[0], 90), int)
        for row, own in enumerate(topics):
            y[row, np.asarray(own, int)] = 1
        found += [sp.csr_matrix(X), y]
    return Split(*found)


def news20() -> Split:
    """20 Newsgroups by date: word counts, and the group."""
    (X, y), (X_test, y_test) = (
        svmlight(f"news20/news20_counts.{part}.svm.xz", 130_107) for part in ("train", "test")
    )
    return Split(X, y.astype(int), X_test, y_test.astype(int))


def adult() -> Split:
    """Adult (a9a): 123 binary features, labels -1 and +1."""
    (X, y), (X_test, y_test) = (svmlight(f"a9a/{name}.gz", 123) for name in ("a9a", "a9a.t"))
    return Split(X, y.astype(int), X_test, y_test.astype(int))


SMALL = {
    "ionosphere": 34, "sonar": 60, "diabetes": 8, "breast_cancer_wisconsin": 9, "german.numer": 24,
    "heart": 13, "spambase": 57,
}  # fmt: skip


def small(name: str) -> tuple[np.ndarray, np.ndarray]:
    """One of the small sets of two classes, as an array."""
    X, y = svmlight(f"small/{name}.gz", SMALL[name])
    return X.toarray(), y.astype(int)
