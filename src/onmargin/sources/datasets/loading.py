"""How the files of real sets become arrays, matrices and texts."""

from __future__ import annotations

import gzip
from collections.abc import Iterator, Sequence

import numpy as np
import scipy.sparse as sp

from ..blocks import Block, Rows, Source
from ..real import folder, opened
from .catalogue import LABELS, RANKS, VIEWS, Entry

Parts = tuple[Rows, np.ndarray, np.ndarray | None]


class Held:
    """Arrays in memory as a format: one piece."""

    again, live, skipped, bytes_read = True, False, 0, 0
    bytes_total: int | None = None
    files: Sequence[object] = ()

    def __init__(self, X: Rows, y: np.ndarray, groups: np.ndarray | None = None) -> None:
        self.block = Block(X, y, None, groups)

    def key(self) -> str | None:
        """None: it is no file."""
        return None

    def pieces(self) -> Iterator[Block]:
        """All of it."""
        yield self.block


def stream_part(entry: Entry, files: Sequence[str], rows: int) -> Source:
    """Blocks of the files themselves where their format can be streamed; else of what they hold."""
    from .. import csv, jsonl, svmlight, text

    paths = [str(folder() / file) for file in files]
    if entry.reads == "svmlight":
        return svmlight.stream(paths, rows=rows, columns=entry.columns)
    if entry.reads == "null":
        return svmlight.stream(paths, rows=rows, columns=entry.columns, null=float("nan"))
    if entry.reads == "labels":
        return svmlight.stream(
            paths,
            rows=rows,
            columns=entry.columns,
            multilabel=True,
            labels=[float(k) for k in range(entry.classes)],
        )
    if entry.reads == "text":
        return text.stream(paths, rows=rows)
    if entry.reads == "jsonl":
        return jsonl.stream(paths, rows=rows, text="text", target="label")
    if entry.reads in ("csv", "plain csv", "abalone"):
        return csv.stream(paths, rows=rows, target=-1, header=entry.reads == "csv")
    return Source(Held(*load_part(entry, files)), rows=rows)


def load_part(entry: Entry, files: Sequence[str]) -> Parts:
    """Rows, targets, and the groups of ranking."""
    if entry.reads in ("svmlight", "null", "labels", "query"):
        return _svmlight(entry, files)
    return READERS[entry.reads](files)


def _svmlight(entry: Entry, files: Sequence[str]) -> Parts:
    from .. import svmlight

    paths = [str(folder() / file) for file in files if not file.endswith(".query")]
    labels = [float(k) for k in range(entry.classes)] if entry.task == LABELS else None
    null = float("nan") if entry.reads == "null" else None
    read = svmlight.read(
        paths, columns=entry.columns, multilabel=labels is not None, labels=labels, null=null
    )
    X, y = _dense_where_full(read[0]), np.asarray(read[1])
    if entry.task != RANKS:
        return X, y.astype(np.int64), None
    if entry.reads == "query":
        sizes = np.loadtxt(folder() / files[1], dtype=np.int64)
        return X, y.astype(np.int64), np.repeat(np.arange(len(sizes)), sizes)
    return X, y.astype(np.int64), read[2]


def _dense_where_full(X: sp.csr_matrix) -> Rows:
    """An array where more than half of the entries are there."""
    return X.toarray() if 2 * X.nnz > X.shape[0] * X.shape[1] else X


def _usps(files: Sequence[str]) -> Parts:
    with opened(files[0]) as stream:
        table = np.loadtxt(stream)
    return table[:, 1:], table[:, 0].astype(np.int64), None


def _idx(files: Sequence[str]) -> Parts:
    """Bytes after a head of 16 and of 8."""
    images, labels = (gzip.decompress((folder() / file).read_bytes()) for file in files)
    y = np.frombuffer(labels, np.uint8, offset=8).astype(np.int64)
    return np.frombuffer(images, np.uint8, offset=16).reshape(len(y), -1), y, None


def _texts(files: Sequence[str]) -> Parts:
    from .. import text

    X, y = text.read([str(folder() / file) for file in files], features=None)
    return list(X), y, None


def _json_texts(files: Sequence[str]) -> Parts:
    from .. import jsonl

    X, y = jsonl.read([str(folder() / file) for file in files], text="text", target="label", features=None)
    return list(X), y, None


def _table(files: Sequence[str]) -> Parts:
    """A header, the class last."""
    with opened(files[0]) as stream:
        table = np.loadtxt(stream, delimiter=",", skiprows=1)
    return table[:, :-1], table[:, -1].astype(np.int64), None


def _numbers(files: Sequence[str]) -> Parts:
    """No header, the target last."""
    with opened(files[0]) as stream:
        table = np.loadtxt(stream, delimiter=",")
    return table[:, :-1], table[:, -1], None


def _abalone(files: Sequence[str]) -> Parts:
    with opened(files[0]) as stream:
        lines = [line.decode().strip().split(",") for line in stream]
    X = np.array(
        [[*(sex == line[0] for sex in "MFI"), *map(float, line[1:-1])] for line in lines], np.float64
    )
    return X, np.array([float(line[-1]) for line in lines]), None


def _views(files: Sequence[str]) -> Parts:
    assert len(files) == len(VIEWS)
    parts = [_table([file]) for file in files]
    return np.hstack([X for X, _, _ in parts]), parts[0][1], None


READERS = {
    "usps": _usps, "idx": _idx, "text": _texts, "jsonl": _json_texts, "csv": _table, "plain csv": _numbers,
    "abalone": _abalone, "views": _views,
}  # fmt: skip
