"""How a table reaches a learner: arrays, CSR matrices and frames, checked."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils import check_array
from sklearn.utils.validation import _get_feature_names, validate_data

from ..compiled.rows import Rows
from ..errors import BadInput, BadType, Diverged
from ..features.slots import Slots
from ..features.tables import to_rows
from ..models.weights import Model
from .lessons import NONE, Lesson

DTYPES = [np.float64, np.float32]


class TakesTables:
    """A table's columns are the learner's slots, by number or by name."""

    _model: Model | None
    _slots: Slots | None
    _by_name: bool
    _width: int
    _bias: float
    _may_diverge = True

    def _table(self, X: Any, *, reset: bool, learning: bool = False) -> Any:
        """A checked float array or CSR matrix whose columns are slots."""
        growing = getattr(self, "growing", False) and not reset and self._model is not None
        if not reset and (self._by_name or (growing and self._slots and hasattr(X, "columns"))):
            if learning and hasattr(X, "columns"):
                return self._named_table(X)  # type: ignore[attr-defined]
            return self._by_columns(X)
        options: dict[str, Any] = {"accept_sparse": "csr", "dtype": DTYPES, "ensure_all_finite": False}
        with in_one_line():
            if growing and _width_of(X) != self._width:
                return check_array(X, estimator=self, input_name="X", **options)
            return validate_data(self, X, reset=reset, **options)

    def _by_columns(self, X: Any) -> Any:
        """A frame for a model that knows its features by name; columns it does not know are 0."""
        names = _get_feature_names(X)
        slots = self._slots or Slots()
        if names is None and hasattr(X, "columns"):
            names = np.array(list(X.columns), object)
        if names is None and self._width:  # fitted on arrays: its names are column numbers
            names = np.arange(np.shape(X)[1]).astype(object)
            X = X.toarray() if sp.issparse(X) else X
        if names is None:
            raise BadInput(
                f"got {type(X).__name__} without column names; this model learned from dicts; give "
                "dicts or a frame with names"
            )
        values = np.asarray(X, dtype=np.float64)
        known = [j for j, name in enumerate(names.tolist()) if name in slots]
        self._miss_columns([name for name in names.tolist() if name not in slots])
        into = np.array([slots[names[j]] for j in known], np.int32)
        table = sp.csr_matrix(values[:, known])
        return sp.csr_matrix(
            (table.data, into[table.indices], table.indptr), shape=(len(values), max(len(slots), 1))
        )

    def _miss_columns(self, names: list[Any]) -> None:
        """What to do about columns never met: to a linear score they add nothing."""

    def _rows(self, X: Any) -> Rows:
        return to_rows(X, self._bias)

    def _lesson(self, X: Any, y: Any, sample_weight: Any) -> Lesson:
        weights = checked_weights(sample_weight, X.shape[0])
        return Lesson(self._rows(X), X.shape[0], y, weights)

    def _not_finite(
        self, X: Any, row: int, done: str = "nothing was learned", names: list[Any] | None = None
    ) -> BadInput:
        """The line for a row that cannot be used."""
        values = X[[row]].toarray()[0] if sp.issparse(X) else np.asarray(X[row])
        bad = np.flatnonzero(~np.isfinite(values))
        with np.errstate(over="ignore"):
            length = float(np.sum(np.square(values, dtype=np.float64)))
        if not bad.size and math.isfinite(length) and self._may_diverge:
            return Diverged(
                f"the loss at row {row} is not finite: the steps feed on themselves; {done}; lower rate=, or "
                "scale the values"
            )
        if not bad.size:
            return BadInput(f"row {row} is too large: its squared length overflows; {done}; scale the values")
        names = list(self._slots or ()) if names is None else names
        column = repr(names[bad[0]]) if bad[0] < len(names) else int(bad[0])
        kind = "NaN" if math.isnan(values[bad[0]]) else "infinity"
        return BadInput(f"row {row} has a {kind} in column {column}; {done}; impute or drop it")


def _width_of(X: Any) -> int:
    shape = getattr(X, "shape", None)
    return int(shape[1]) if shape is not None and len(shape) == 2 else -1


@contextmanager
def in_one_line() -> Iterator[None]:
    """scikit-learn's refusals, without their line breaks."""
    try:
        yield
    except (TypeError, ValueError) as error:
        if "\n" not in str(error):
            raise
        kind = BadType if isinstance(error, TypeError) else BadInput
        line = " ".join(str(error).split())
        raise kind(line if len(line) < 160 else f"{line[:150]} ...") from None


def checked_weights(weights: Any, count: int) -> np.ndarray:
    """Sample weights as float64; empty where there are none."""
    if weights is None:
        return NONE
    try:
        array = np.asarray(weights, dtype=np.float64)
    except (TypeError, ValueError):
        raise BadInput("sample_weight cannot be read as numbers; wanted one weight per row") from None
    if array.ndim == 0:
        array = np.full(count, float(array))
    if array.shape != (count,):
        raise BadInput(f"sample_weight has shape {array.shape}; wanted ({count},), one per row")
    if not np.isfinite(array).all() or (array < 0).any():
        where = int(np.argmax(~(np.isfinite(array) & (array >= 0))))
        raise BadInput(f"sample_weight[{where}] is {array[where]}; wanted finite numbers of at least 0")
    return array
