"""Labels that are not there: None, NaN, NaT, and markers such as scikit-activeml's."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import column_or_1d

from ..errors import BadInput
from .labels import label_array


def is_missing(label: Any) -> bool:
    """Is this no label? (NaN is not equal to itself; so are NaT and pandas' NA.)"""
    if label is None:
        return True
    try:
        return bool(label != label)
    except (TypeError, ValueError):
        return type(label).__name__ == "NAType"


def split_missing(y: Any, count: int) -> tuple[np.ndarray, np.ndarray]:
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
    if out.dtype.kind == "O":
        for row in np.flatnonzero(~there):
            out[row] = known[0]
        return out
    out[~there] = known[0]
    return out
