"""The weights of a linear learner as its users see them."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import BadInput
from ..learn.spaces.fading import Fading
from ..models.weights import Model


class LinearWeights:
    """`coef_`, `intercept_`, and starting from given ones."""

    _bars = "zero"

    def _table_of_weights(self) -> np.ndarray:
        """(outputs, slots) weights that predict; the constant coordinate last."""
        model: Model = self._fitted()  # type: ignore[attr-defined]
        weights = np.asarray(model.mean_weights(), dtype=model.start.dtype)
        if weights.ndim == 1:
            return weights[None, :]
        table = weights[:, : model.start.outputs].T
        if self._bars == "dummy" and self._sets():
            table = table[:-1] - table[-1:]
        return table

    def _sets(self) -> bool:
        labels = getattr(self, "_labels", None)
        return labels is not None and bool(labels.sets)

    @property
    def coef_(self) -> np.ndarray:
        """Weights of the features: (1, d) for one output, (K, d) for several."""
        table = self._table_of_weights()
        width = self.n_features_in_  # type: ignore[attr-defined]
        return np.ascontiguousarray(table[:, :width])

    @property
    def intercept_(self) -> np.ndarray:
        """Weight of the constant coordinate times its value; for label sets less the threshold."""
        bar = float(self._fitted().memory[0]) if self._sets() and self._bars == "running" else 0.0  # type: ignore[attr-defined]
        return np.asarray(self._table_of_weights()[:, -1] * self._bias - bar)  # type: ignore[attr-defined]

    def _comparator_scores(self, X: Any, comparator: Any) -> np.ndarray:
        """Scores of u = coefficients, or (coefficients, intercept)."""
        coef, intercept = comparator if isinstance(comparator, tuple) else (comparator, 0.0)
        table = np.atleast_2d(np.asarray(coef, float))
        if table.shape != np.shape(self.coef_):
            raise BadInput(f"the comparator has shape {table.shape}; wanted {np.shape(self.coef_)}")
        return np.asarray(np.asarray(X @ table.T) + intercept)

    def _set_weights(self, model: Model, coef: Any, intercept: Any) -> None:
        """Start from given weights."""
        if coef is None and intercept is None:
            return
        outputs, slots, width = model.start.outputs, model.start.slots, self.n_features_in_  # type: ignore[attr-defined]
        settle = model.row.space.settle if isinstance(model.space, Fading) else None
        if settle is not None:  # weights as they are written
            settle(model.space, model.hyper, model.clock)
        before = model.space.weights.copy()
        labels = outputs - (self._bars == "dummy" and self._sets())
        if coef is not None:
            table = np.atleast_2d(np.asarray(coef, float))
            if table.shape != (labels, width):
                raise BadInput(f"coef_init has shape {table.shape}; wanted ({labels}, {width})")
            _write(model, slice(0, width), table)
        if intercept is not None:
            values = np.atleast_1d(np.asarray(intercept, float))
            if values.shape != (labels,):
                raise BadInput(f"intercept_init has shape {values.shape}; wanted ({labels},)")
            if not self._bias and values.any():  # type: ignore[attr-defined]
                raise BadInput("intercept_init was given, but fit_intercept=False; set it to True")
            if self._bias:  # type: ignore[attr-defined]
                _write(model, slice(slots - 1, slots), values[:, None] / self._bias)  # type: ignore[attr-defined]
        if not np.isfinite(model.space.weights).all():
            raise BadInput("coef_init or intercept_init is not finite; wanted finite numbers")
        if settle is not None:
            settle(model.space, model.hyper, model.clock)
        if model.space.drift.size:  # the rounds so far keep their own average
            model.space.drift[...] += model.clock * (model.space.weights - before)
        if hasattr(model.space, "theta"):  # w = P theta
            model.space.theta[...] = model.space.weights / model.space.sigma

    def _check_start(self, model: Model) -> None:
        """A margin of 0 from zero weights would never move."""
        if getattr(self, "margin", 1.0) == 0 and not model.space.weights.any():
            raise BadInput(
                "margin=0 from zero weights never moves; give coef_init, warm_start, or a margin above 0"
            )

    def _refresh(self, model: Model) -> None:
        """Go on with the parameters as they are now."""
        self._check_lasting()  # type: ignore[attr-defined]
        self._check_parameters()  # type: ignore[attr-defined]
        model.choose(self._recipe(), self._all_choices())  # type: ignore[attr-defined]
        model.asks = self._asks  # type: ignore[attr-defined]


def _write(model: Model, slots: slice, table: np.ndarray) -> None:
    weights = model.space.weights
    if weights.ndim == 1:
        weights[slots] = table[0]
    else:
        weights[slots, : table.shape[0]] = table.T
