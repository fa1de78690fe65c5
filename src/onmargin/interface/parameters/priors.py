"""A prior for Pegasos: where the weights come from, and whether they fit."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, is_regressor
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from ...errors import BadInput, shown
from ..targets.labels import Labels, shortened


class Prior:
    """Coefficients (K, d), intercepts (K,), the features' names and the labels, where they are known."""

    def __init__(self, given: Any) -> None:
        self.coef: np.ndarray
        self.intercept: np.ndarray
        self.names: list[Any] | None = None
        self.labels: list[Any] | None = None
        if isinstance(given, Prior):
            self.names, self.labels = given.names, given.labels
            coef, intercept = given.coef, given.intercept
        elif isinstance(given, tuple | list) and len(given) == 2 and not hasattr(given, "coef_"):
            coef, intercept = given
        elif hasattr(given, "predict") or hasattr(given, "coef_"):
            coef, intercept = self._of_model(given)
        else:
            raise BadInput(
                f"prior={type(given).__name__}; wanted (coefficients, intercept) or a fitted linear model"
            )
        try:
            self.coef = np.atleast_2d(np.asarray(coef, float))
            intercept = 0.0 if intercept is None else intercept
            self.intercept = np.broadcast_to(np.asarray(intercept, float).ravel(), len(self.coef))
        except (TypeError, ValueError):
            raise BadInput("prior= cannot be read as (coefficients, intercept); wanted numbers") from None
        if self.coef.ndim != 2 or not np.isfinite(self.coef).all() or not np.isfinite(self.intercept).all():
            raise BadInput("prior= wants finite coefficients, a row per output")

    @classmethod
    def restored(cls, coef: Any, intercept: Any, names: Any, labels: Any) -> Prior:
        """The prior of a file, checked as one that is given."""
        prior = cls((coef, intercept))
        for known, count in ((names, prior.coef.shape[1]), (labels, None)):
            if known is not None and (not isinstance(known, list) or count not in (None, len(known))):
                raise BadInput("prior= has names or labels that do not fit its coefficients")
        prior.names, prior.labels = names, labels
        return prior

    def __repr__(self) -> str:
        return f"Prior({len(self.coef)} x {self.coef.shape[1]})"

    def _of_model(self, model: Any) -> tuple[Any, Any]:
        kind = type(model).__name__
        try:
            if isinstance(model, BaseEstimator):
                check_is_fitted(model)
            coef, intercept = model.coef_, getattr(model, "intercept_", 0.0)
        except NotFittedError:
            raise BadInput(
                f"prior= is a {kind} that was never fitted; fit it on the source data first"
            ) from None
        except AttributeError:
            raise BadInput(f"prior= is a {kind} without coef_; wanted a linear model") from None
        if isinstance(model, BaseEstimator) and is_regressor(model):
            raise BadInput(f"prior= is a {kind}, a regressor; wanted a linear classifier")
        classes = getattr(model, "classes_", None)
        self.labels = None if classes is None else list(np.asarray(classes).tolist())
        columns = getattr(model, "_columns", None)
        slots = None if columns is None else columns.slots
        names = getattr(model, "feature_names_in_", None)
        self.names = list(slots) if slots else None if names is None else list(names)
        return coef, intercept

    def rows(self, labels: Labels) -> tuple[np.ndarray, np.ndarray]:
        """Coefficients and intercepts in the order of our outputs."""
        outputs = labels.outputs
        if self.labels is None or labels.sets:
            order = list(range(len(self.coef)))
        elif set(self.labels) != set(labels.known):
            raise BadInput(
                f"prior= knows the classes {shortened(self.labels)}; wanted {shortened(labels.known)}"
            )
        elif outputs == 1:
            if len(self.coef) == 1 and self.labels != labels.known:
                return -self.coef, -self.intercept
            order = [0]
        else:
            order = [self.labels.index(label) for label in labels.known]
        if len(order) != outputs or len(self.coef) != len(order):
            raise BadInput(f"prior= has {len(self.coef)} rows of coefficients; wanted {outputs}")
        return self.coef[order], self.intercept[order]

    def columns(self, coef: np.ndarray, names: list[Any] | None) -> np.ndarray:
        """The coefficients in the order of our features, where both have names."""
        if self.names is None or names is None or self.names == names:
            return coef
        if set(self.names) != set(names):
            strange = next(iter(set(self.names) ^ set(names)))
            raise BadInput(
                f"prior= and the data differ in the feature {shown(strange)}; wanted the same names"
            )
        place = {name: number for number, name in enumerate(self.names)}
        return np.asarray(coef[:, [place[name] for name in names]])
