"""Passive-Aggressive regression."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.utils.validation import check_consistent_length, column_or_1d

from ..errors import BadInput
from .explain import Explained
from .linear import LinearWeights
from .numbers import NumberLearner
from .passive_aggressive import check_step
from .support import Support


class LinearRegressor(RegressorMixin, LinearWeights, Explained, NumberLearner):  # type: ignore[misc]
    """A number for a row."""

    _river_base = "MiniBatchRegressor"

    def fit(
        self, X: Any, y: Any, coef_init: Any = None, intercept_init: Any = None, sample_weight: Any = None
    ) -> Any:
        """Learn from scratch in at most `max_iter` passes (`warm_start`: go on from here)."""
        return self._fit(X, y, coef_init, intercept_init, sample_weight)

    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        """Learn from these rows, in order, each once."""
        return self._partial_fit(X, y, None, sample_weight)

    def _read_y(self, y: Any, count: int) -> np.ndarray:
        if y is None:
            raise BadInput(f"{type(self).__name__} requires y to be passed, but the target y is None")
        try:
            y = np.asarray(y)
            if y.dtype.kind == "c":
                raise TypeError("Complex data not supported")
            numbers = np.asarray(column_or_1d(y, warn=True), dtype=np.float64)
        except (TypeError, ValueError) as error:
            reason = " ".join(str(error).split())
            raise BadInput(f"y cannot be read as numbers ({reason}); wanted one per row") from None
        check_consistent_length(np.empty((count, 0)), numbers)
        if not np.isfinite(numbers).all():
            where = int(np.argmax(~np.isfinite(numbers)))
            raise BadInput(f"y of row {where} is NaN or infinity (Input contains NaN); drop the row")
        return numbers

    def predict(self, X: Any) -> np.ndarray:
        """<w, x> of each row."""
        return self._scores(X)[:, 0]

    def _decisions(self, scores: np.ndarray) -> np.ndarray:
        return scores[:, 0]

    def _losses_of(self, scores: np.ndarray, y: Any) -> np.ndarray:
        return np.asarray(np.maximum(0.0, np.abs(scores[:, 0] - y) - self.epsilon))

    def learn_one(self, x: Mapping[Hashable, Any], y: float, w: float = 1.0) -> None:
        """One example: a dict of numbers, its target, and its weight."""
        if self._is_unseen(x, y, w):
            return
        stream, weight = self._ready_round(x, y, w)
        stream.learn(x, weight)

    def predict_one(self, x: Mapping[Hashable, Any]) -> float:
        """<w, x>; 0 before any example."""
        stream = self._stream
        if stream is None:
            if self._model is None:
                return 0.0
            stream = self._open()
        return float(stream.scores(x)[0, 0])


class PassiveAggressiveRegressor(Support, LinearRegressor):
    """Leave the model alone when the prediction is within epsilon; otherwise move as little as possible.

    loss = [|y - <w, x>| - epsilon]_+, a step of min(C, loss / |x|^2) towards y (PA-I).

    Parameters
    ----------
    C : aggressiveness, the longest step (PA-I) or the price of squared slack (PA-II).
    step : "pa", "pa1" or "pa2".
    epsilon : errors up to here cost nothing.
    horizon : None, or how many rounds are remembered: w is multiplied by 1 - 1 / horizon every round.
    kernel, gamma, degree, coef0, budget : the kernel form, |x|^2 being k(x, x); see `om.kernels`.

    `sample_weight` multiplies C (no effect on step="pa").

    Reference: Crammer et al. 2006, section 5.

    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.preprocessing import scale
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = PassiveAggressiveRegressor(average=True, random_state=0).fit(scale(X), y)
    >>> model.score(scale(X), y) > 0.4
    True
    """

    def __init__(
        self, *, C: float = 1.0, step: str = "pa1", epsilon: float = 0.1, fit_intercept: bool = True,
        intercept_scaling: float = 1.0, average: bool = False, max_iter: int = 20,
        tol: float | None = 1e-3, n_iter_no_change: int = 2, shuffle: bool = True,
        random_state: Any = None, warm_start: bool = False, verbose: int = 0, dtype: str | None = None,
        growing: bool = False, horizon: float | None = None,
        kernel: Any = None, gamma: Any = "scale", degree: int = 3, coef0: float = 0.0, budget: Any = None,
    ) -> None:  # fmt: skip
        self.C, self.step, self.epsilon = C, step, epsilon
        self.fit_intercept, self.intercept_scaling = fit_intercept, intercept_scaling
        self.average, self.max_iter, self.tol = average, max_iter, tol
        self.n_iter_no_change, self.shuffle, self.random_state = n_iter_no_change, shuffle, random_state
        self.warm_start, self.verbose, self.dtype, self.growing = warm_start, verbose, dtype, growing
        self.horizon = horizon
        self.kernel, self.gamma, self.degree, self.coef0, self.budget = kernel, gamma, degree, coef0, budget

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_step(self.step)

    def _recipe_name(self) -> str:
        return f"{self.step}.regression"

    def _choices(self) -> dict[str, Any]:
        return {"C": self.C, "epsilon": self.epsilon}
