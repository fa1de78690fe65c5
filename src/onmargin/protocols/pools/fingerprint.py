"""A table that is to stay as it is: checked once, and known again by its fingerprint."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator

import numpy as np
import scipy.sparse as sp

from ...errors import BadInput
from ...interface.tables import Table, bad_row
from ...interface.targets.missing import indexable, rows_of

BLOCK = 2**20  # values that are looked at at once


def checked_table(X: object) -> Table:
    """An array of floats, a CSR matrix, or a frame of numbers; finite."""
    table = indexable(X)
    if len(getattr(table, "shape", ())) != 2 or not table.shape[0] or not table.shape[1]:
        raise BadInput(
            f"X has shape {getattr(table, 'shape', ())}; wanted rows and columns, at least one of each"
        )
    if isinstance(table, np.ndarray) and table.dtype not in (np.float32, np.float64):
        table = _floats(table)
    names = list(table.columns) if hasattr(table, "columns") else []
    for first, values in _pieces(table):
        finite = np.isfinite(values)
        if not finite.all():
            place = first + int(np.argmin(finite))  # among all values, row by row
            row = int(np.searchsorted(table.indptr, place, "right")) - 1 if sp.issparse(table) else 0
            row = row if sp.issparse(table) else place // table.shape[1]
            bad = table if sp.issparse(table) else _floats(rows_of(table, np.arange(row + 1)))
            raise bad_row(bad, row, names, "there is no pool")
    return table


def _floats(values: object) -> np.ndarray:
    try:
        return np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise BadInput("X cannot be read as numbers; wanted a table of numbers; encode texts first") from None


def _pieces(table: Table) -> Iterator[tuple[int, np.ndarray]]:
    """The values of a table, row by row (of a matrix: those it stores); where each piece begins."""
    if sp.issparse(table):
        for first in range(0, len(table.data), BLOCK):
            yield first, table.data[first : first + BLOCK]
        return
    width = table.shape[1]
    for first in range(0, table.shape[0], max(1, BLOCK // width)):
        some = slice(first, first + max(1, BLOCK // width))
        rows = (
            table[some] if isinstance(table, np.ndarray) else rows_of(table, np.arange(table.shape[0])[some])
        )
        yield first * width, _floats(rows).ravel()


def fingerprint(table: Table) -> str:
    """Of all values in their places and the names of columns; not of the precision they are held in."""
    names = [str(name) for name in table.columns] if hasattr(table, "columns") else []
    digest = hashlib.sha256(repr((tuple(table.shape), sp.issparse(table), names)).encode())
    for numbers in (table.indptr, table.indices) if sp.issparse(table) else ():
        for first in range(0, len(numbers), BLOCK):
            digest.update(numbers[first : first + BLOCK].astype(np.int64).tobytes())
    for _, values in _pieces(table):
        digest.update(values.astype(np.float64, copy=False).tobytes())
    return digest.hexdigest()
