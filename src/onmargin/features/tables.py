"""Tables of numbers as Rows: read-only views; a table that lies column by column is copied."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from ..compiled.rows import Dense, Rows, Sparse
from .matrices import UNSIGNED, read_only

WIDE = 64  # columns from which on a row is long


def to_rows(X: Any, bias: float) -> Rows:
    """Rows of a float32 or float64 array, or of a CSR matrix that `canonical` has seen.

    A frame lies column by column, one row of it does not: both must be summed in one order.
    """
    if not sp.issparse(X):
        return Dense(read_only(np.ascontiguousarray(X)), bias)
    indices = X.indices.view(UNSIGNED[X.indices.dtype.itemsize])
    return Sparse(read_only(X.data), read_only(indices), read_only(X.indptr), bias)


def is_wide(rows: Rows) -> bool:
    """Is it a table of long rows?"""
    return isinstance(rows, Dense) and rows.values.shape[1] >= WIDE


def squared_lengths(rows: Rows, count: int) -> np.ndarray:
    """|x|^2 of rows 0 .. count - 1, with the constant coordinate; not finite where one is to be refused."""
    with np.errstate(over="ignore"):
        if isinstance(rows, Sparse):
            used = np.square(rows.values[: rows.starts[count]], dtype=float)
            sums = np.add.reduceat(np.r_[used, 0.0], rows.starts[:count])
            return np.where(np.diff(rows.starts[: count + 1]) > 0, sums, 0.0) + rows.bias**2
        return np.asarray(np.square(rows.values[:count], dtype=float).sum(axis=1) + rows.bias**2)


def entries(rows: Rows) -> int:
    """How many stored numbers."""
    return int(rows.values.size)
