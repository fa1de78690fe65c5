"""Tables whose labels may be missing, and what is known of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils import _safe_indexing

from ..errors import BadInput
from .labels import Labels, listed
from .missing import split_missing


def indexable(X: Any) -> Any:
    """A table whose rows can be taken: an array, CSR or a frame."""
    if sp.issparse(X):
        return X.tocsr()
    if hasattr(X, "iloc") or hasattr(X, "with_columns"):
        return X
    table = np.asarray(X)
    if table.dtype.kind == "c":
        raise BadInput("Complex data not supported; wanted real numbers")
    return table


def rows_of(X: Any, which: np.ndarray) -> Any:
    """Some rows of a table."""
    return _safe_indexing(X, which)


def labels_of(y: Any, X: Any) -> tuple[np.ndarray, np.ndarray]:
    """Labels, and which are there."""
    if y is None:
        raise BadInput("fit requires y to be passed, but the target y is None")
    return split_missing(y, X.shape[0] if getattr(X, "ndim", 2) else 0)


def known_labels(inner: Any, classes: Any) -> list[Any] | None:
    """Labels that can be learned; None: any."""
    if inner._labels is not None and inner._labels.known:
        known: list[Any] = inner._labels.known
        return known
    announced = inner.classes if classes is None else classes
    return None if announced is None else Labels(listed(announced)).known


def are_known(known: list[Any], labels: np.ndarray) -> np.ndarray:
    """Which labels are among the known."""
    return np.asarray(Labels(known).codes(labels) >= 0)
