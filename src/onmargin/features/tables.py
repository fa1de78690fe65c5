"""Tables of numbers as Rows: read-only views, never a copy."""

from __future__ import annotations

from typing import Any

import scipy.sparse as sp

from ..compiled.rows import Dense, Rows, Sparse
from .matrices import UNSIGNED, read_only


def to_rows(X: Any, bias: float) -> Rows:
    """Rows of a float32 or float64 array, or of a CSR matrix that `canonical` has seen."""
    if not sp.issparse(X):
        return Dense(read_only(X), bias)
    indices = X.indices.view(UNSIGNED[X.indices.dtype.itemsize])
    return Sparse(read_only(X.data), read_only(indices), read_only(X.indptr), bias)


def entries(rows: Rows) -> int:
    """How many stored numbers."""
    return int(rows.values.size)
