"""Dicts with labels: learn_one(x, label) or learn_one(x, {label: bool})."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any

import numpy as np

from ..errors import BadInput, BadType
from .dicts import DictFace
from .labels import Labels, listed
from .stream import Stream


class LabelDicts(DictFace):
    """The dict face of classifiers."""

    _river_base = "MiniBatchClassifier"
    _labels: Labels | None
    _stream: Any
    _rows_apart = False  # two classes have a row each

    def learn_one(self, x: Mapping[Hashable, Any], y: Any, w: float = 1.0) -> None:
        """One example: a dict of numbers, its label (or {label: bool}), and its weight."""
        stream = self._stream
        if stream is not None and stream.quick and w == 1.0 and stream.learn_fast(x, y):
            return
        if self._is_unseen(x, y, w):
            return
        stream, weight = self._ready_round(x, y, w)
        stream.learn(x, weight)

    def _ready_round(self, x: Mapping[Hashable, Any], y: Any, w: float) -> tuple[Stream, float]:
        """The stream with example and target in place, and what the example weighs."""
        weight = 1.0 if w == 1.0 else self._weigh(w)
        weighting = None if self.class_weight is None else self._weighting()  # type: ignore[attr-defined]
        stream = self._ready(x, y)
        labels = self._labels
        assert labels is not None
        for label in y if labels.sets else (y,):
            if label not in labels.index:
                self._meet(stream, x, label)
        if labels.sets:
            stream.target[0] = [float(bool(y.get(label))) for label in labels.known]
            return stream, weight
        stream.target[0] = (stream.coded or {})[y]
        if weighting is not None:
            code = np.array([labels.index[y]])
            weight *= float(labels.weights(code, weighting, np.array([weight > 0]))[0])
        return stream, weight

    def _coded(self) -> dict[Any, float] | None:
        labels = self._labels
        assert labels is not None
        targets = labels.targets(np.arange(len(labels.known))).tolist()
        return None if labels.sets else dict(zip(labels.known, targets, strict=True))

    def _answers(self) -> dict[float, Any] | None:
        labels = self._labels
        assert labels is not None
        if labels.sets or not labels.known:
            return None
        if labels.outputs == 1:
            return {1.0: labels.known[-1], -1.0: labels.known[0]}
        return {float(number): label for number, label in enumerate(labels.known)}

    def _begin_stream(self, y: Any) -> None:
        sets = isinstance(y, Mapping)
        announced = self.classes  # type: ignore[attr-defined]
        known = () if announced is None else listed(announced)
        self._labels = Labels(known, closed=announced is not None, sets=sets, apart=self._rows_apart)

    def _check_answer(self, y: Any) -> None:
        labels = self._labels
        assert labels is not None
        if isinstance(y, Mapping) != labels.sets:
            wanted = "a dict of labels and bools" if labels.sets else "one label"
            raise BadType(f"got {y!r}; this model learns from {wanted}")
        try:
            for label in y if labels.sets else [y]:
                self._check_new(labels, label)  # type: ignore[attr-defined]
        except TypeError:
            raise BadType(f"the label is {y!r}; wanted a text, a number or a bool") from None

    def _meet(self, stream: Stream, x: Mapping[Hashable, Any], label: Any) -> None:
        """A new label: the model takes on another shape, and the example is packed again."""
        labels = self._labels
        assert labels is not None
        self._admit(stream.model, labels, label)  # type: ignore[attr-defined]
        stream.bind()
        stream.take(x)

    def predict_one(self, x: Mapping[Hashable, Any]) -> Any:
        """The label (or {label: bool}); None before any label."""
        stream = self._stream
        if stream is not None and stream.answers is not None:
            return stream.answers[stream.guess(x)]
        if stream is None:
            if self._model is None or self._labels is None or not self._labels.known:  # type: ignore[attr-defined]
                return None
            stream = self._open()
        labels = self._labels
        assert labels is not None
        scores = stream.scores(x)
        if stream.coded is None:
            above = self._decisions(scores)[0] > 0  # type: ignore[attr-defined]
            return dict(zip(labels.known, above.tolist(), strict=True))
        if scores.shape[1] == 1:
            return labels.known[-1 if scores[0, 0] >= 0.0 else 0]
        return labels.known[int(scores[0].argmax())]

    def _learn_rows(self, table: Any, y: Any, w: Any) -> None:
        """Rows by name, in order; labels may be new."""
        me: Any = self
        labels = me._labels
        if labels.sets:
            raise BadInput("learn_many takes one label a row; use learn_one for sets of labels")
        for label in dict.fromkeys(y.tolist()):
            self._check_answer(label)
        me._model.open(table.shape[0])
        me._play(table, me._model, me._lesson(table, y, w))
