"""Classifiers: labels in, labels out; two classes, several, or sets of labels."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import ClassifierMixin
from sklearn.utils.validation import check_consistent_length, column_or_1d

from ..errors import BadInput
from ..models.weights import Model
from .explain import Explained
from .fitting import Fitted
from .label_dicts import LabelDicts
from .label_trace import LabelTrace
from .labels import Labels, check_label, distinct, label_array, listed
from .lessons import NONE, Block, Cutter, Lesson, blocks
from .linear import LinearWeights
from .tables import in_one_line


class LinearClassifier(ClassifierMixin, LinearWeights, Explained, LabelDicts, LabelTrace, Fitted):  # type: ignore[misc]
    """A row of weights for two classes, a row each for more, a row a label for sets."""

    _labels: Labels | None = None
    _bars = "running"  # how a set is cut out of the ranking: "running", "dummy" or "zero"

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        return tags

    # ---- labels

    @property
    def classes_(self) -> np.ndarray:
        """The labels known, in order."""
        if self._labels is None:
            raise AttributeError("classes_ is known after the first example")
        return self._labels.array

    def _problem(self) -> str:
        """binary, top or labels: what the labels known make of it."""
        if self._labels is not None and self._labels.sets:
            return "labels"
        return "binary" if self._labels is None or self._labels.outputs == 1 else "top"

    def _outputs(self) -> tuple[int, bool]:
        if self._labels is None:
            return 1, False
        dummy = self._labels.sets and self._bars == "dummy"
        return self._labels.outputs + dummy, self._labels.sets or self._labels.outputs > 1

    def _read_y(self, y: Any, count: int) -> Any:
        """Labels as a (n,) array, or a set of labels a row as a (n, labels) table."""
        if y is None:
            raise BadInput(f"{type(self).__name__} requires y to be passed, but the target y is None")
        if sp.issparse(y):
            y = sp.csr_matrix(y)
            if not np.isin(y.data, (0, 1)).all():
                raise BadInput("y has other entries than 0 and 1; wanted an indicator matrix")
        else:
            y = label_array(y)
            if y.ndim == 2 and y.shape[1] > 1:
                if y.dtype.kind not in "biuf" or not np.isin(y, (0, 1)).all():
                    raise BadInput("y has several columns; wanted an indicator matrix of 0 and 1")
            else:
                with in_one_line():
                    y = column_or_1d(y, warn=True)
        check_consistent_length(np.empty((count, 0)), y)
        if not sp.issparse(y) and y.dtype.kind == "f" and not np.isfinite(y).all():
            where = int(np.argmax(~np.isfinite(y.reshape(count, -1)).all(axis=1)))
            raise BadInput(f"y of row {where} is NaN or infinity (Input contains NaN); drop the row")
        return y

    def _labels_from(self, y: Any, classes: Any) -> Labels:
        """The labels a fit starts from: announced, or those of y."""
        announced = self.classes if classes is None else classes
        sets = y.ndim == 2
        if announced is not None:
            labels = Labels(listed(announced), closed=True, sets=sets, apart=self._rows_apart)
        else:
            known = range(y.shape[1]) if sets else distinct(y)
            for label in known:
                check_label(label)
            labels = Labels(known, sets=sets, apart=self._rows_apart)
        return labels

    def _check_width(self, labels: Labels, y: Any) -> None:
        """Label sets: as many columns as labels."""
        if labels.sets != (y.ndim == 2):
            raise BadInput("sets of labels and single labels cannot be mixed in one model")
        if labels.sets and y.shape[1] != len(labels.known):
            raise BadInput(f"y has {y.shape[1]} columns; wanted {len(labels.known)}, one per label")

    def _admit(self, model: Model, labels: Labels, label: Any) -> None:
        """A new label: the model takes on the shape it needs, its decisions unchanged."""
        before = len(labels.known)
        sources = labels.add(label)
        self._labels = labels
        if labels.sets:
            dummy = [before] if self._bars == "dummy" else []
            model.rearrange(len(sources) + len(dummy), sources + dummy)
        elif before == 1 and sources[0] == 0:
            model.turn()  # the first label was the positive side; it sorts first
        elif before == 2:
            halves = (sources.index(0), sources.index(1))
            model.split(self._recipe(), 3, halves)
        elif before > 2:
            model.rearrange(len(sources), sources)

    def _check_new(self, labels: Labels, label: Any) -> None:
        """Raise if the label can be neither found nor taken in."""
        labels.check(label)
        if label not in labels.index and len(labels.known) >= 2:
            self._check_open()

    def _check_open(self) -> None:
        """Refuse what cannot grow (a cost matrix has its size)."""

    # ---- learning

    def fit(
        self, X: Any, y: Any, coef_init: Any = None, intercept_init: Any = None, sample_weight: Any = None
    ) -> Any:
        """Learn from scratch in at most `max_iter` passes (`warm_start`: go on from here).

        `coef_init` and `intercept_init` are the weights to start from.
        """
        return self._fit(X, y, coef_init, intercept_init, sample_weight)

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Any:
        """Learn from these rows, in order, each once. The first call announces all classes."""
        return self._partial_fit(X, y, classes, sample_weight)

    def _adopt(self, y: Any, warm: bool) -> None:
        labels = copy.deepcopy(self._labels) if warm and self._labels else self._labels_from(y, None)
        self._check_width(labels, y)
        if not labels.sets and len(labels.known) < 2:
            raise BadInput(
                f"all labels are one class, {labels.known}; wanted at least two classes; announce the other "
                "in classes="
            )
        if warm or labels.closed:  # otherwise they are the labels of y
            self._refuse_unknown(labels, y)
        self._labels = labels

    def _adopt_stream(self, y: Any, classes: Any) -> None:
        if self._labels is not None:
            labels = copy.deepcopy(self._labels)
            if classes is not None and Labels(listed(classes)).known != labels.known:
                raise BadInput(
                    f"classes={classes!r} is not the same as on the last call to partial_fit, "
                    f"was: {labels.known}"
                )
        elif classes is None and self.classes is None and y.ndim == 1:
            if not self.growing:
                raise BadInput(
                    "classes must be passed on the first call to partial_fit: all labels that can come, "
                    "or set growing=True"
                )
            labels = Labels(apart=self._rows_apart)
        else:
            labels = self._labels_from(y, classes)
        self._check_width(labels, y)
        self._refuse_unknown(labels, y)
        self._labels = labels

    def _refuse_unknown(self, labels: Labels, y: Any) -> None:
        """Refuse labels that cannot be taken in, before anything is learned."""
        if labels.sets:
            return
        if self.growing and not labels.closed:
            for label in distinct(y):
                self._check_new(labels, label)
            return
        for block in blocks(len(y)):
            codes = labels.codes(block.take(y))
            if (codes < 0).any():
                raise labels.unknown(y, np.r_[np.zeros(block.first, int), codes])

    def _cutter(self, model: Model, lesson: Lesson, whole: bool, watcher: Any = None) -> Cutter:
        labels = self._labels
        assert labels is not None
        weighting = self._weighting()
        if whole and weighting == "balanced":
            seen = lesson.y[lesson.weights > 0] if lesson.weights.size else lesson.y
            weighting = labels.fitted_weights(labels.codes(seen), weighting)
        return partial(self._stretches, model, labels, lesson, weighting, watcher)

    def _stretches(
        self, model: Model, labels: Labels, lesson: Lesson, weighting: Any, watcher: Any, block: Block
    ) -> Iterator[tuple[Block, np.ndarray, np.ndarray]]:
        """The block cut where a new label appears; each part with its targets and weights."""
        y = block.take(lesson.y)
        own = block.take(lesson.weights) if lesson.weights.size else NONE
        if labels.sets:
            yield block, _dense(y), own
            return
        start = 0
        while start < block.count:
            codes = labels.codes(y[start:])
            if own.size:  # a round that is not seen brings no label
                codes[(codes < 0) & (own[start:] <= 0)] = 0
            unknown = np.flatnonzero(codes < 0)
            surprise = bool(unknown.size and unknown[0] == 0)
            if surprise:
                if watcher:
                    watcher.meet(block.first + start, labels.known)
                self._admit(model, labels, _plain(y[start]))
                codes = labels.codes(y[start : start + 1])
                stop = start + 1
            else:
                stop = start + (int(unknown[0]) if unknown.size else len(codes))
                codes = codes[: stop - start]
            part = Block(block.first + start, stop - start, block.order[start:stop], surprise)
            mine = own[start:stop] if own.size else NONE
            by_class = labels.weights(codes, weighting, mine > 0 if mine.size else None)
            yield part, labels.targets(codes), _product(mine, by_class)
            start = stop

    def _weighting(self) -> Any:
        """`class_weight`, checked."""
        weighting = self.class_weight
        if weighting is None or weighting == "balanced" or isinstance(weighting, dict):
            if isinstance(weighting, dict) and not all(_is_weight(w) for w in weighting.values()):
                raise BadInput(f"class_weight={weighting!r}; wanted finite weights of at least 0")
            if weighting is not None and self._labels is not None and self._labels.sets:
                raise BadInput("class_weight does not apply to sets of labels; use sample_weight")
            return weighting
        raise BadInput(f"class_weight={weighting!r}; wanted None, 'balanced' or a dict of labels")

    # ---- answers

    def decision_function(self, X: Any) -> np.ndarray:
        """(n,) for two classes: positive means `classes_[1]`; (n, K) for more and for sets."""
        scores = self._scores(X)
        return self._decisions(scores)

    def _decisions(self, scores: np.ndarray) -> np.ndarray:
        labels = self._labels
        assert labels is not None
        if labels.sets:
            return np.asarray(scores[:, : len(labels.known)] - self._bar(scores))
        return scores[:, 0] if scores.shape[1] == 1 else scores

    @property
    def threshold_(self) -> float:
        """Label sets: the running threshold (0 where none is kept)."""
        return float(self._fitted().memory[0])

    def predict(self, X: Any) -> np.ndarray:
        """The label of each row, or the set of labels as a row of 0 and 1."""
        return self._named(self.decision_function(X))

    def _named(self, decisions: np.ndarray) -> np.ndarray:
        labels = self._labels
        assert labels is not None
        if labels.sets:
            return (decisions > 0).astype(int)
        if decisions.ndim == 1:
            codes = (decisions >= 0).astype(int) if len(labels.known) > 1 else np.zeros(len(decisions), int)
        else:
            codes = decisions.argmax(axis=1)
        return np.asarray(labels.array[codes])


def _is_weight(value: Any) -> bool:
    return isinstance(value, int | float | np.number) and bool(0 <= value < np.inf)


def _dense(y: Any) -> np.ndarray:
    table = y.toarray() if sp.issparse(y) else y
    return np.ascontiguousarray(table, dtype=np.float64)


def _plain(label: Any) -> Any:
    return label.item() if isinstance(label, np.generic) else label


def _product(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    if not first.size or not second.size:
        return np.ascontiguousarray(first if first.size else second)
    return np.asarray(first * second)
