"""The trace of a classifier's rounds: guesses back to labels, scores to decisions."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..learn.vocabulary import TRACED
from .labels import Labels
from .watched import Watched


class LabelTrace(Watched):
    """What `om.progressive` asks of a classifier."""

    _kind = "labels"
    _labels: Labels | None
    _bars: str
    _apart = False  # one against all: the margin is the smallest of y_k s_k

    def _bar(self, scores: np.ndarray) -> Any:
        """What a label's score must exceed to be in the set."""
        if self._bars == "dummy":
            return scores[:, -1:]
        return float(self._fitted().memory[0]) if self._bars == "running" else 0.0  # type: ignore[attr-defined]

    def _guess_of(self, scores: np.ndarray) -> float:
        if self._has_sets():
            return float(self._bar(scores[None, :])) if self._bars != "dummy" else float(scores[-1])
        if len(scores) == 1:
            return 1.0 if scores[0] >= 0 else -1.0
        return float(scores.argmax())

    def _is_wrong(self, scores: np.ndarray, guess: float, target: Any) -> bool:
        if self._has_sets():
            return bool(((scores[: len(target)] > guess) != (target > 0.5)).any())
        return bool(guess != target)

    def _traced(self, whole: np.ndarray, start: Any) -> tuple[np.ndarray, np.ndarray]:
        labels = self._labels
        assert labels is not None
        guess, scores = whole[:, 0], whole[:, TRACED:]
        if labels.sets:
            decisions = scores[:, : len(labels.known)] - guess[:, None]
            return decisions, (decisions > 0).astype(int)
        codes = guess if scores.shape[1] > 1 else np.where(guess > 0, len(labels.known) - 1.0, 0.0)
        answered = np.isfinite(guess)
        names = labels.array
        predictions = names[np.where(answered, codes, 0).astype(int)]
        if not answered.all():  # before any label the answer is None
            predictions = predictions.astype(object)
            predictions[~answered] = None
        return (scores[:, 0] if scores.shape[1] == 1 else scores), predictions

    def _losses_of(self, scores: np.ndarray, y: Any) -> np.ndarray:
        """Losses of y s, of the margin over the best rival, or of the lowest relevant label's."""
        labels, required = self._labels, self._required()
        assert labels is not None
        if self._apart and scores.shape[1] > 1:
            table = np.asarray(y) if labels.sets else np.eye(scores.shape[1])[labels.codes(np.asarray(y))]
            own = table > 0
            return self._loss_values(np.where(own, scores, -scores).min(axis=1), required)
        if labels.sets:
            low = np.where(np.asarray(y) > 0, scores, np.inf).min(axis=1)
            high = np.where(np.asarray(y) > 0, -np.inf, scores).max(axis=1)
            margins, demanded = low - high, np.isfinite(low - high)
            return np.where(demanded, self._loss_values(np.where(demanded, margins, 0.0), required), 0.0)
        codes = labels.codes(np.asarray(y))
        if scores.shape[1] == 1:
            return self._loss_values((2.0 * codes - 1.0) * scores[:, 0], required)
        own = scores[np.arange(len(codes)), codes]
        others = scores.copy()
        others[np.arange(len(codes)), codes] = -np.inf
        return self._loss_values(own - others.max(axis=1), required)

    def _required(self) -> float:
        """The margin asked for."""
        return float(getattr(self, "margin", 1.0))

    def _loss_values(self, margins: np.ndarray, required: float) -> np.ndarray:
        """What the loss makes of margins: the hinge, for most."""
        return np.asarray(np.maximum(0.0, required - margins))
