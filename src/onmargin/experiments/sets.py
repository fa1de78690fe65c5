"""Real sets as experiments take them: with a test set, or whole."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from ..errors import BadInput
from ..sources.blocks import Source
from ..sources.datasets import load
from ..sources.real import Split


class Whole(NamedTuple):
    """Rows and targets of a set without a test set of its own."""

    X: np.ndarray
    y: np.ndarray


def split(name: str) -> Split:
    """Rows to learn from and to test on, as published."""
    found = load(name)
    if not isinstance(found, Split):
        raise BadInput(f"{name} has no test set of its own; wanted one that has")
    return found


def whole(name: str) -> Whole:
    """All rows, as an array, and their targets."""
    found = load(name)
    if isinstance(found, Source):
        raise BadInput(f"{name} came in blocks; wanted it whole")
    X = found.X
    return Whole(X.toarray() if sp.issparse(X) else np.asarray(X), np.asarray(found.y))


def cut(data: Whole, order: np.ndarray, count: int) -> Split:
    """The first so many rows of an order to learn from, the others to test on."""
    first, rest = order[:count], order[count:]
    return Split(data.X[first], data.y[first], data.X[rest], data.y[rest])
