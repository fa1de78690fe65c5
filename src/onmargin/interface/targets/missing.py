"""Tables whose labels may be missing: None, NaN, NaT, and markers such as scikit-activeml's."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import column_or_1d

from ...errors import BadInput, Diverged
from ...features.matrices import canonical
from ..tables import Table, refuse_dask
from .labels import Labels, is_missing, label_array, listed

ROW = re.compile(r"(the loss at |)row (\d+) ")  # how a line begins that names a row


def split_missing(y: object, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Labels as an array, and which are there. Numbers that came as floats because of NaN are whole again."""
    labels = label_array(y)
    if labels.ndim == 2 and labels.shape[1] == 1:
        labels = column_or_1d(labels, warn=True)
    if labels.shape != (count,):
        raise BadInput(f"got {count} rows and labels of shape {labels.shape}; wanted one a row")
    if labels.dtype.kind == "f":
        there = np.isfinite(labels)
    elif labels.dtype.kind == "O":
        there = np.array([not is_missing(label) for label in labels.tolist()], bool)
    elif labels.dtype.kind in "mM":
        there = ~np.isnat(labels)
    else:
        there = np.ones(count, bool)
    if labels.dtype.kind == "f" and not there.all():
        whole = labels[there]
        if (whole == np.round(whole)).all():
            labels = np.where(there, labels, 0.0).astype(np.int64)
    return labels, there


def filled(labels: np.ndarray, there: np.ndarray, known: list[Any]) -> np.ndarray:
    """The same with some known label in place of what is missing or unknown: nobody reads it."""
    if there.all():
        return labels
    out = labels.copy()
    if out.dtype.kind != "O":
        try:
            out[~there] = known[0]
            if out[np.argmin(there)] == known[0]:
                return out
        except (OverflowError, ValueError):
            pass
        out = labels.astype(object)  # their type has no room for it
    for row in np.flatnonzero(~there):
        out[row] = known[0]
    return out


def one_kind(labels: np.ndarray) -> np.ndarray:
    """An object array of one kind of labels as an array of that kind."""
    kinds = {type(label) for label in labels}
    if labels.dtype != object or len(kinds) != 1 or tuple in kinds:  # (of tuples it would be a table)
        return labels
    return np.array(labels.tolist())


def indexable(X: Any, in_one_piece: bool = False) -> Table:
    """A table whose rows can be taken: an array, CSR or a frame. (In one piece: checked by who learns it.)"""
    if sp.issparse(X):
        return X if in_one_piece else canonical(X)
    refuse_dask(X)
    if hasattr(X, "iloc") or hasattr(X, "with_columns"):
        return X
    table = np.asarray(X)
    if table.dtype.kind == "c":
        raise BadInput("Complex data not supported; wanted real numbers")
    return table


def rows_of(X: Table, which: np.ndarray) -> Table:
    """Some rows of a table."""
    return _safe_indexing(X, which)


@contextmanager
def numbered(rows: Sequence[int] | np.ndarray) -> Iterator[None]:
    """Where some rows of a table are refused, the line names the row of the table: for row k, rows[k]."""
    try:
        yield
    except BadInput as error:
        said, kind = str(error), Diverged if isinstance(error, Diverged) else BadInput
        found = ROW.match(said)
        if found is None or int(found[2]) >= len(rows):
            raise
        raise kind(f"{found[1]}row {int(rows[int(found[2])])} {said[found.end() :]}") from None


def labels_of(y: object, X: Table) -> tuple[np.ndarray, np.ndarray]:
    """Labels, and which are there."""
    if y is None:
        raise BadInput("fit requires y to be passed, but the target y is None")
    return split_missing(y, X.shape[0] if getattr(X, "ndim", 2) else 0)


def known_labels(labels: Labels | None, announced: Any) -> list[Any] | None:
    """Labels that can be learned: those known, or else those announced; None: any."""
    if labels is not None and labels.known:
        return labels.known
    return None if announced is None else Labels(listed(announced)).known


def are_known(known: list[Any], labels: np.ndarray) -> np.ndarray:
    """Which labels are among the known."""
    return np.asarray(Labels(known).codes(labels) >= 0)


def told(y: object, X: Table, known: list[object]) -> tuple[np.ndarray, np.ndarray]:
    """Labels, some known one where there is none or another, and which are there."""
    labels, there = labels_of(y, X)
    there = there & are_known(known, labels)
    return filled(labels, there, known), there
