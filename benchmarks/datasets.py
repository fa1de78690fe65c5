"""What is learned: sparse and dense streams, MNIST, Adult, dicts of numbers, bags of words.

All streams are drawn from a fixed seed, with labels from a hidden linear rule and some noise.
"""

from __future__ import annotations

import gzip
import os
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn.datasets import load_svmlight_file

ROOT = Path(__file__).parent.parent
Round = tuple[dict[str, float], bool]


class Table(NamedTuple):
    """Rows, labels, and where they come from."""

    X: Any
    y: np.ndarray
    origin: str


def sparse_stream(rows: int, columns: int = 47_000, per_row: int = 68) -> Table:
    """CSR rows with distinct Zipf features; labels 0 and 1.

    The rule is on frequent features and the rows are long beside the bias, so that a good learner
    errs on about an eighth of the stream, and ours and scikit-learn's learn nearly the same model.
    """
    rng = np.random.default_rng(1)
    names = rng.permutation(columns)  # frequent features lie anywhere, as in a real vocabulary
    indices = np.concatenate([_distinct(rng, n, columns, per_row) for n in _chunks(rows)])
    values = rng.gamma(2.0, size=indices.shape)
    rule = rng.normal(size=columns) * (rng.random(columns) < 0.3) * (np.arange(columns) < 500)
    scores = np.einsum("ij,ij->i", values, rule[indices])
    y = (scores > np.median(scores)) ^ (rng.random(rows) < 0.02)
    indices = names[indices]
    order = indices.argsort(axis=1)
    indices, values = (np.take_along_axis(table, order, axis=1) for table in (indices, values))
    starts = np.arange(0, rows * per_row + 1, per_row, dtype=np.int32)
    X = sp.csr_matrix((values.ravel(), indices.ravel().astype(np.int32), starts), shape=(rows, columns))
    return Table(X, y.astype(np.int64), f"generated, {rows:,} x {columns:,}, {per_row} nonzeros a row")


def _chunks(rows: int, size: int = 10_000) -> list[int]:
    return [min(size, rows - first) for first in range(0, rows, size)]


def _distinct(rng: np.random.Generator, rows: int, columns: int, per_row: int) -> np.ndarray:
    """(rows, per_row) ranks by Zipf's law, no rank twice in a row."""
    drawn = np.sort(zipf(rng, (rows, 3 * per_row), columns), axis=1)
    lot = rng.random(drawn.shape)
    lot[:, 1:][drawn[:, 1:] == drawn[:, :-1]] = 2.0  # a repeat comes last
    chosen = lot.argpartition(per_row, axis=1)[:, :per_row]
    if np.take_along_axis(lot, chosen, axis=1).max() > 1.0:
        raise ValueError(f"too few distinct features for {per_row} a row; draw more")
    return np.take_along_axis(drawn, chosen, axis=1)


def zipf(rng: np.random.Generator, shape: Any, size: int) -> np.ndarray:
    """Ranks 0 .. size - 1, rank k drawn with probability proportional to 1 / (k + 1)."""
    cumulated = np.cumsum(1.0 / np.arange(1, size + 1))
    return np.searchsorted(cumulated, rng.random(shape) * cumulated[-1])


def class_stream(rows: int, classes: int, columns: int, per_row: int = 68) -> Table:
    """CSR rows of many classes: four entries from the eight columns of the class, the rest by Zipf's law."""
    own, told = 8, 4
    rng = np.random.default_rng(8)
    y = rng.integers(classes, size=rows)
    first = rng.permuted(np.tile(np.arange(own), (rows, 1)), axis=1)[:, :told]
    rest = _distinct(rng, rows, columns - own * classes, per_row - told) + own * classes
    indices = np.sort(rng.permutation(columns)[np.hstack([own * y[:, None] + first, rest])], axis=1)
    starts = np.arange(0, rows * per_row + 1, per_row, dtype=np.int32)
    values = rng.gamma(2.0, size=indices.size)
    X = sp.csr_matrix((values, indices.ravel().astype(np.int32), starts), shape=(rows, columns))
    y = np.where(rng.random(rows) < 0.2, rng.integers(classes, size=rows), y)
    return Table(X, y, f"generated, {rows:,} x {columns:,}, {per_row} nonzeros a row, {classes:,} classes")


def dense_stream(rows: int, zeros: float, columns: int = 784, classes: int = 10) -> Table:
    """Dense rows with zeros at random places and labels at random: nearly every row updates."""
    rng = np.random.default_rng(9)
    X = 0.01 + rng.random((rows, columns))
    X[rng.random(X.shape) < zeros] = 0.0
    return Table(X, rng.integers(classes, size=rows), f"generated, {rows:,} x {columns} x {classes}")


def folder() -> Path:
    """Where real sets are looked for."""
    return Path(os.environ.get("ONMARGIN_DATA") or ROOT.parent / "shared" / "data")


def mnist(rows: int = 60_000) -> Table:
    """Digits as float64 in [0, 1]; where the files are absent, a stand-in of the same shape."""
    images, labels = (folder() / f"mnist/train-{name}-ubyte.gz" for name in ("images-idx3", "labels-idx1"))
    if not images.exists() or not labels.exists():
        return _stand_in(rows)
    with gzip.open(images) as stream:
        X = np.frombuffer(stream.read(), np.uint8, offset=16).reshape(-1, 784)[:rows]
    with gzip.open(labels) as stream:
        y = np.frombuffer(stream.read(), np.uint8, offset=8)[:rows]
    return Table(X / 255.0, y.astype(np.int64), f"MNIST, {len(y):,} x 784 x 10")


def _stand_in(rows: int) -> Table:
    """Ten fixed patterns, four pixels in five dark, with multiplicative noise."""
    rng = np.random.default_rng(2)
    patterns = rng.random((10, 784)) * (rng.random((10, 784)) < 0.3)
    y = rng.integers(10, size=rows)
    X = patterns[y]
    X *= rng.random(X.shape)
    X[rng.random(X.shape) < 0.35] = 0.0
    return Table(X, y, f"MNIST is absent: a generated stand-in, {rows:,} x 784 x 10")


def adult(rows: int, name: str = "a9a") -> Table:
    """The first rows of a9a (or of its test set), dense; where absent, a stand-in of the same shape."""
    path = folder() / "a9a" / f"{name}.gz"
    if path.exists():
        X, y = load_svmlight_file(str(path), n_features=123)
        return Table(X[:rows].toarray(), y[:rows].astype(int), f"{name}, {min(rows, len(y)):,} x 123")
    rng = np.random.default_rng(5 if name == "a9a" else 6)
    X = np.zeros((rows, 123))
    X[np.arange(rows)[:, None], rng.permuted(np.tile(np.arange(123), (rows, 1)), axis=1)[:, :14]] = 1.0
    rule = np.random.default_rng(7).normal(size=(123, 2))
    scores = (X @ rule).prod(axis=1)
    y = np.where((scores > np.quantile(scores, 0.76)) ^ (rng.random(rows) < 0.1), 1, -1)
    return Table(X, y, f"{name} is absent: a generated stand-in, {rows:,} x 123")


def number_dicts(rounds: int, width: int = 10) -> list[Round]:
    """Dicts of the same `width` names, standard normal values."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(rounds, width))
    y = (X @ rng.normal(size=width) > 0) ^ (rng.random(rounds) < 0.05)
    names = [f"x{j}" for j in range(width)]
    return [(dict(zip(names, x, strict=True)), t) for x, t in zip(X.tolist(), y.tolist(), strict=True)]


def word_bags(rounds: int, words: int = 20, vocabulary: int = 20_000) -> list[Round]:
    """Dicts word -> count of about `words` different words, drawn by Zipf's law."""
    rng = np.random.default_rng(4)
    rule = rng.normal(size=vocabulary) * (np.arange(vocabulary) < 500)
    bags: list[Round] = []
    for length in rng.integers(words - 2, words + words // 2, size=rounds):
        ranks, counts = np.unique(zipf(rng, length, vocabulary), return_counts=True)
        label = bool((rule[ranks] * counts).sum() > 0) ^ bool(rng.random() < 0.03)
        shuffled = rng.permutation(len(ranks)).tolist()
        bags.append(({f"word{ranks[i]}": int(counts[i]) for i in shuffled}, label))
    return bags
