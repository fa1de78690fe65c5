"""Regressors: a number for a row."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import RegressorMixin

from .dicts import Example, is_unseen, learn_many, open_stream, predict_many, ready_round
from .learner import Learner


class Regressor(RegressorMixin, Learner):  # type: ignore[misc]
    """A number for a row."""

    river_base = "MiniBatchRegressor"
    epsilon: float = 0.0
    _counts_mistakes = False

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
        if not is_unseen(self, x, y, w):
            stream, weight = ready_round(self, x, y, w)
            stream.learn(x, weight)

    def learn_many(self, X: object, y: object = None, w: object = None) -> None:
        """Learn a frame's rows in order: equal to the loop of `learn_one`."""
        learn_many(self, X, y, w)

    def predict(self, X: object) -> np.ndarray:
        """<w, x> of each row."""
        return self._scores(X)[:, 0]

    def predict_one(self, x: Example) -> float:
        """<w, x>; 0 before any example."""
        stream = self._stream
        if stream is None:
            if self._model is None:
                return 0.0
            stream = open_stream(self)
        return float(stream.scores(x)[0, 0])

    def predict_many(self, X: object) -> Any:
        """A frame's answers as a series."""
        return predict_many(self, X, self.predict_one, self.predict)

    def _losses_of(self, scores: np.ndarray, y: object) -> np.ndarray:
        return np.asarray(np.maximum(0.0, np.abs(scores[:, 0] - y) - self.epsilon))
