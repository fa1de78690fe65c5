"""Classifiers: labels in, labels out; two classes, several, or sets of labels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from sklearn.base import ClassifierMixin

from ..errors import BadInput, shown
from ..models.asking import Asking
from .dicts.streams import Example, learn_many, learn_one, open_stream, predict_many
from .guard import alone, answers, changes, in_place
from .learner import Learner
from .targets.label_targets import LabelTargets
from .targets.labels import Labels, in_order, listed, shortened
from .targets.shares import Decision, Share, Sides, shares, shares_of_one, sides_of_one
from .weights import frame_of


class Classifier(ClassifierMixin, Learner):  # type: ignore[misc]
    """A row of weights for two classes, a row each for more, a row a label for sets."""

    river_base = "MiniBatchClassifier"
    classes: object = None
    class_weight: Any = None
    _labels: Labels | None = None

    @property
    def _rows_apart(self) -> bool:
        """Do two classes have a row each?"""
        return False

    @property
    def _set_rule(self) -> str:
        """How a set is cut out of the ranking: "running", "dummy" or "zero"."""
        return "running"

    @property
    def _one_against_all(self) -> bool:
        """Is the margin the smallest of y_k s_k?"""
        return False

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        return tags

    def _targets(self) -> LabelTargets:
        return LabelTargets(self)

    def _problem(self) -> str:
        """binary, top or labels: what the labels known make of it."""
        if self._labels is not None and self._labels.sets:
            return "labels"
        return "binary" if self._labels is None or self._labels.outputs == 1 else "top"

    @property
    @alone
    def classes_(self) -> np.ndarray:
        """The labels known, in order."""
        if self._labels is None:
            raise AttributeError("classes_ is known after the first example")
        return self._labels.array

    def _check_lasting(self) -> None:
        """Also `classes`: what is said of the labels in mid-stream must be so."""
        super()._check_lasting()
        if self.classes is not None and self._labels is not None:
            if in_order(listed(self.classes)) != self._labels.known:
                begun = f"learning began with {shortened(self._labels.known)}"
                raise BadInput(f"classes={shown(self.classes)}, but {begun}; set it back, or fit anew")

    def _refuse_new_class(self) -> None:
        """Refuse what cannot grow (a cost matrix has its size)."""

    # ---- learning

    def fit(
        self,
        X: object,
        y: object,
        coef_init: object = None,
        intercept_init: object = None,
        sample_weight: object = None,
    ) -> Self:
        """Learn from scratch in at most `max_iter` passes (`warm_start`: go on from here).

        `coef_init` and `intercept_init` are the weights to start from.
        """
        return self._fit(X, y, coef_init, intercept_init, sample_weight)

    def partial_fit(self, X: object, y: object, classes: object = None, sample_weight: object = None) -> Self:
        """Learn from these rows, in order, each once. The first call announces all classes."""
        return self._partial_fit(X, y, classes, sample_weight)

    def learn_one(self, x: Example, y: object, w: float = 1.0) -> None:
        """One example: a dict of numbers, its label (or {label: bool}), and its weight."""
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

    # ---- answers

    @answers
    def decision_function(self, X: object) -> np.ndarray:
        """(n,) for two classes: positive means `classes_[1]`; (n, K) for more and for sets."""
        scores = self._scores(X)
        return self._targets().decisions(scores)

    @answers
    def predict(self, X: object) -> np.ndarray:
        """The label of each row, or the set of labels as a row of 0 and 1."""
        decisions = self.decision_function(X)
        return self._targets().named(decisions)

    def predict_one(self, x: Example) -> Any:
        """The label (or {label: bool}); None before any label."""
        stream = self._stream
        return self._predict_one(x) if stream is None else stream.answer(x)

    @alone
    def _predict_one(self, x: Example) -> Any:
        if self._model is None or self._labels is None or not self._labels.known:
            return None
        return (self._stream or open_stream(self)).answer(x)

    @alone
    def decide_one(self, x: Example) -> Decision:
        """`predict_one`, and the score of each label (of two, one is the other's negative), of one moment."""
        labels, stream = self._labels, self._stream
        if stream is None or labels is None or labels.outputs > 1 or len(labels.known) != 2 or labels.sets:
            return self._decisions((x,))[0]
        answer, (score,) = stream.decided(x)  # the short way of two classes
        return answer, {labels.known[0]: -score, labels.known[1]: score}

    @alone
    def decide_each(self, examples: Sequence[Example]) -> list[Decision]:
        """`decide_one` for several dicts, all of one moment."""
        return self._decisions(examples)

    def _decisions(self, examples: Sequence[Example]) -> list[Decision]:
        labels = self._labels
        if self._model is None or labels is None or not labels.known:
            return [(None, {}) for _ in examples]
        known, decided = labels.known, (self._stream or open_stream(self)).decided
        if labels.outputs > 1 or labels.sets:  # (a dummy label has a score, and no name)
            found = map(decided, examples)
            return [(answer, dict(zip(known, scores, strict=False))) for answer, scores in found]
        low, high = known[0], known[-1]
        if low is high:
            return [(answer, {low: score}) for answer, (score,) in map(decided, examples)]
        return [(answer, {low: -score, high: score}) for answer, (score,) in map(decided, examples)]

    @answers
    def predict_many(self, X: object) -> Any:
        """A frame's answers as a series."""
        return predict_many(self, X, self.predict_one, self.predict)

    @alone
    def predict_proba_one(self, x: Example) -> Share | Sides:
        """The score squashed into a share for each label, the answer first; {} before any label.

        Two classes: 1 / (1 + e^-s); several: e^s_k / sum_j e^s_j; sets: {label: {True: ..., False: ...}},
        a sigmoid each. It orders as the scores do, so that River's ROCAUC, ensembles and model selection
        work; it is *not calibrated* (a margin is no log-odds, the logistic loss apart): for probabilities
        to rely on use CalibratedClassifierCV.
        """
        labels = self._labels
        if self._model is None or labels is None or not labels.known:
            return {}
        scores = (self._stream or open_stream(self)).scores(x)
        if labels.sets:
            return sides_of_one(labels.known, self._targets().decisions(scores)[0].tolist())
        return shares_of_one(labels.known, scores[0].tolist())

    @answers
    def predict_proba_many(self, X: Any) -> Any:
        """The same for a frame's rows, a column for each label in the order of `classes_`; not for sets."""
        if self._labels is not None and self._labels.sets:
            raise BadInput("predict_proba_many is for one label a row; use predict_proba_one for sets")
        known = self.known_labels() if self._model is not None else []
        found = shares(self.decision_function(X), len(known)) if known else np.zeros((len(X), 0))
        return frame_of(found, known, X.index)

    @property
    def threshold_(self) -> Any:
        """Label sets: the running threshold (0 where none is kept)."""
        return self._fitted().threshold

    def _losses_of(self, scores: np.ndarray, y: object) -> np.ndarray:
        """Losses of y s, of the margin over the best rival, or of the lowest relevant label's."""
        targets = self._targets()
        if targets.sets and self._set_rule == "dummy":
            return separations(scores, np.asarray(y) > 0, self._required())
        margins, asked = targets.margins(scores, y)
        return np.where(asked, self._loss_values(margins, self._required()), 0.0)

    def _required(self) -> float:
        """The margin asked for."""
        return float(getattr(self, "margin", 1.0))

    def _loss_values(self, margins: np.ndarray, required: float) -> np.ndarray:
        """What the loss makes of margins: the hinge, for most."""
        return np.asarray(np.maximum(0.0, required - margins))


def separations(scores: np.ndarray, own: np.ndarray, required: float) -> np.ndarray:
    """[m - s_r]_+ + [m + s_q]_+ of scores less the dummy's: the lowest relevant, the highest other label.

    An empty or a full set demands nothing.
    """
    low = np.where(own, scores, np.inf).min(axis=1)
    high = np.where(own, -np.inf, scores).max(axis=1)
    sums = np.maximum(required - low, 0.0) + np.maximum(required + high, 0.0)
    return np.where(np.isfinite(low) & np.isfinite(high), sums, 0.0)
