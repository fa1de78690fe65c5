"""Tables of numbers as Rows: read-only views, never a copy."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from ..compiled.checks import is_canonical
from ..compiled.rows import Dense, Rows, Sparse
from ..errors import BadInput

UNSIGNED = {4: np.uint32, 8: np.uint64}


def read_only(array: np.ndarray) -> np.ndarray:
    """A view that compiled code cannot write to; one type for writable and mapped input."""
    view = np.asarray(array).view()
    view.flags.writeable = False
    return view


def to_rows(X: Any, bias: float) -> Rows:
    """Rows of a float32 or float64 array or CSR matrix."""
    if not sp.issparse(X):
        return Dense(read_only(X), bias)
    X = canonical(X)
    indices = X.indices.view(UNSIGNED[X.indices.dtype.itemsize])
    return Sparse(read_only(X.data), read_only(indices), read_only(X.indptr), bias)


def canonical(X: Any) -> Any:
    """The CSR matrix itself, or a copy with sorted, summed entries; never changes the caller's."""
    if len(X.indptr) != X.shape[0] + 1 or len(X.data) != len(X.indices):
        raise BadInput(
            f"the CSR matrix is malformed: {len(X.indptr)} row bounds for {X.shape[0]} rows, "
            f"{len(X.indices)} indices for {len(X.data)} values; build it anew"
        )
    indices = read_only(X.indices.view(UNSIGNED[X.indices.dtype.itemsize]))
    if is_canonical(indices, read_only(X.indptr), indices.dtype.type(X.shape[1])):
        return X
    try:
        X = sp.csr_matrix((X.data, X.indices, X.indptr), shape=X.shape, copy=True)
        X.check_format(full_check=True)
    except ValueError as error:
        raise BadInput(f"the CSR matrix is malformed ({error}); build it anew") from None
    X.sum_duplicates()
    return X


def entries(rows: Rows) -> int:
    """How many stored numbers."""
    return int(rows.values.size)
