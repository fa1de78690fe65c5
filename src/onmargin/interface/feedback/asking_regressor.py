"""Regressors that ask: the labels are numbers."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.utils import RegressorTags
from sklearn.utils.validation import column_or_1d

from ...errors import BadInput
from ..guard import changes
from ..runs.watch import Wanted
from ..tables import Table
from ..targets.labels import is_missing, label_array
from .asks import AsksForLabels, Inside


class AskingRegressor(AsksForLabels):
    """Around a regressor."""

    river_base = "Regressor"
    kind = "numbers"
    _counts_mistakes = False
    score = RegressorMixin.score

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.estimator_type, tags.target_tags.required = "regressor", True
        tags.regressor_tags = RegressorTags(poor_score=True)  # (targets beyond 1 are cut)
        return tags

    def _read(self, y: object, X: Table) -> tuple[np.ndarray, np.ndarray]:
        return numbers_of(y, X.shape[0] if getattr(X, "ndim", 2) else 0)

    def _ready(
        self, inner: Inside, labels: np.ndarray, there: np.ndarray, wanted: Wanted
    ) -> tuple[np.ndarray, np.ndarray, Wanted]:
        if wanted.classes is not None:
            raise BadInput(f"classes= are for labels; {type(self).__name__} learns numbers")
        return np.where(there, labels, 0.0), there, wanted

    def _some_label(self, inner: Inside, classes: object) -> list[object]:
        return [0.0]

    @changes
    def partial_fit(self, X: object, y: object, sample_weight: object = None) -> Self:
        """Learn the rows that have a number, in order; rows without one (NaN, None) are skipped."""
        self._learn_answers(X, y, None, sample_weight)
        return self


def numbers_of(y: object, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Numbers (NaN where there is none), and which are there: not None, nor NaN."""
    if y is None:
        raise BadInput("fit requires y to be passed, but the target y is None")
    given = label_array(y)
    if given.ndim == 2 and given.shape[1] == 1:
        given = column_or_1d(given, warn=True)
    if given.shape != (count,):
        raise BadInput(f"got {count} rows and numbers of shape {given.shape}; wanted one a row")
    if given.dtype.kind == "c":
        raise BadInput("Complex data not supported; wanted real numbers")
    there = np.ones(count, bool)
    if given.dtype.kind == "O":
        there = np.array([not is_missing(value) for value in given.tolist()], bool)
    numbers = np.full(count, np.nan)
    try:
        numbers[there] = np.asarray(given[there], dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise BadInput("y cannot be read as numbers; wanted one per row (None or NaN: not known)") from None
    return numbers, ~np.isnan(numbers)
