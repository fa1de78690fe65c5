"""Classifiers that ask: the labels are classes, known, announced, or found among those that are there."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self, cast

import numpy as np
from sklearn.base import ClassifierMixin

from ...errors import BadInput, shown
from ..classifier import Classifier
from ..dicts.streams import Example
from ..guard import alone, answers, changes
from ..runs.watch import Wanted
from ..tables import Table
from ..targets.labels import check_label, distinct, shortened
from ..targets.missing import are_known, filled, known_labels, labels_of
from ..targets.shares import EVEN, Decision, Share, Sides
from .asks import AsksForLabels, Inside


class AskingClassifier(ClassifierMixin, AsksForLabels):  # type: ignore[misc]
    """Around a classifier."""

    river_base = "Classifier"
    kind = "labels"

    def _read(self, y: object, X: Table) -> tuple[np.ndarray, np.ndarray]:
        return labels_of(y, X)

    def _ready(
        self, inner: Inside, labels: np.ndarray, there: np.ndarray, wanted: Wanted
    ) -> tuple[np.ndarray, np.ndarray, Wanted]:
        learner, classes = cast(Classifier, inner), wanted.classes
        open_ended, announced = bool(learner.growing), learner.classes
        untold = classes is None and announced is None
        if learner._model is None and untold and there.any() and not open_ended:
            classes = distinct(labels[there])
            for label in classes:
                check_label(label)
            if len(classes) < 2:
                raise BadInput(f"all labels are one class, {shortened(classes)}; wanted at least two classes")
        if open_ended and learner._labels is None and untold:
            raise BadInput(
                "growing=True takes labels as they come, but only those asked for are read; give classes="
            )
        known = known_labels(learner._labels, announced if classes is None else classes)
        if known is not None:
            there = there & are_known(known, labels)
        _refuse_weights(getattr(learner, "class_weight", None))
        return filled(labels, there, known or [0]), there, wanted._replace(classes=classes)

    def _some_label(self, inner: Inside, classes: object) -> list[object]:
        learner = cast(Classifier, inner)
        known = known_labels(learner._labels, learner.classes if classes is None else classes)
        if known is None:
            raise BadInput("no row has a label, and no classes are announced; give classes=")
        return known[:1]

    def _can_answer(self, inner: Inside) -> bool:
        labels = cast(Classifier, inner)._labels
        return inner._model is not None and labels is not None and bool(labels.known)

    @changes
    def partial_fit(self, X: object, y: object, classes: object = None, sample_weight: object = None) -> Self:
        """Learn the rows that have a label, in order; rows without one (NaN, None) are skipped."""
        self._learn_answers(X, y, classes, sample_weight)
        return self

    def _classifier(self) -> Classifier:
        return cast(Classifier, self._answering())

    @property
    def classes_(self) -> np.ndarray:
        """The labels known, in order."""
        return self._classifier().classes_

    @answers
    def decision_function(self, X: object) -> np.ndarray:
        """The learner's scores."""
        return self._classifier().decision_function(X)

    @alone
    def predict_proba_one(self, x: Example) -> Share | Sides:
        """The learner's score, squashed; before any label {}, or (two classes only) even shares."""
        inner = cast(Classifier, self.inside())
        return inner.predict_proba_one(x) or ({} if self._multiclass else dict(EVEN))

    @alone
    def decide_one(self, x: Example) -> Decision:
        """The learner's answer, and the score of each label."""
        return cast(Classifier, self.inside()).decide_one(x)

    @alone
    def decide_each(self, examples: Sequence[Example]) -> list[Decision]:
        """The same for several dicts."""
        return cast(Classifier, self.inside()).decide_each(examples)


def _refuse_weights(given: object) -> None:
    """Class weights that would look at labels nobody asked for."""
    if given == "balanced" or (isinstance(given, dict) and not all(w > 0 for w in given.values())):
        raise BadInput(
            f"class_weight={shown(given)} looks at labels that are not asked for; wanted weights above 0"
        )
