"""Regressors: a number for a row."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import RegressorMixin

from ..models.asking import Asking
from .dicts.streams import Example, learn_many, learn_one, open_stream, predict_many
from .guard import alone, answers, changes, in_place
from .learner import Learner
from .parameters.fixed import NUMBERS
from .runs.passes import Stopping


class Regressor(RegressorMixin, Learner):  # type: ignore[misc]
    """A number for a row."""

    river_base = "MiniBatchRegressor"
    epsilon: float = 0.0
    _counts_mistakes = False
    _rules = {"intercept_scaling": NUMBERS}  # noqa: RUF012 (never changed)

    def fit(
        self,
        X: object,
        y: object,
        coef_init: object = None,
        intercept_init: object = None,
        sample_weight: object = None,
    ) -> Self:
        """Learn from scratch in at most `max_iter` passes (`warm_start`: go on from here)."""
        return self._fit(X, y, coef_init, intercept_init, sample_weight)

    def partial_fit(self, X: object, y: object, sample_weight: object = None) -> Self:
        """Learn from these rows, in order, each once."""
        return self._partial_fit(X, y, None, sample_weight)

    def learn_one(self, x: Example, y: float, w: float = 1.0) -> None:
        """One example: a dict of numbers, its target, and its weight."""
        stream = self._stream
        if stream is None or w != 1.0 or not stream.learn_fast(x, y):
            self._learn_one(x, y, w)

    @in_place
    def _learn_one(self, x: Example, y: object, w: float, asking: Asking | None = None) -> None:
        learn_one(self, x, y, w, asking)

    @changes
    def learn_many(self, X: object, y: object = None, w: object = None) -> None:
        """Learn a frame's rows in order: equal to the loop of `learn_one`."""
        learn_many(self, X, y, w)

    @answers
    def predict(self, X: object) -> np.ndarray:
        """<w, x> of each row."""
        return self._scores(X)[:, 0]

    def predict_one(self, x: Example) -> float:
        """<w, x>; 0 before any example."""
        stream = self._stream
        return self._predict_one(x) if stream is None else stream.answer(x)

    @alone
    def _predict_one(self, x: Example) -> float:
        if self._model is None:
            return 0.0
        answer: float = (self._stream or open_stream(self)).answer(x)
        return answer

    @answers
    def predict_many(self, X: object) -> Any:
        """A frame's answers as a series."""
        return predict_many(self, X, self.predict_one, self.predict)

    def _stopping(self) -> Stopping:
        return super()._stopping()._replace(advice="standardise X and y (TransformedTargetRegressor), ")

    def _losses_of(self, scores: np.ndarray, y: object) -> np.ndarray:
        return np.asarray(np.maximum(0.0, np.abs(scores[:, 0] - y) - self.epsilon))
