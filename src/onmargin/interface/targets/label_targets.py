"""Labels as targets: one label a row or a set of labels, from y to the loop and back, and in dicts."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils.validation import check_consistent_length, column_or_1d

from ...errors import BadInput, BadType, shown
from ...features.matrices import canonical
from ...learn.vocabulary import NONE, TRACED
from ...models.weights import Model
from ...results.trace import Watcher
from ..dicts.streams import Example
from ..runs.passes import Block, Cutter, Part, TrainingSet, blocks
from ..tables import dense, in_one_line, is_line, weights_product
from .labels import (
    SEVERAL,
    Labels,
    agreed,
    check_label,
    checked_class_weight,
    distinct,
    in_order,
    is_marks,
    items,
    label_array,
    listed,
    shortened,
    unwrapped,
)  # fmt: skip
from .target import Answers, Coder, NumberTargets, column

if TYPE_CHECKING:
    from ..classifier import Classifier
    from ..dicts.streams import Stream
    from ..learner import Learner


class LabelTargets(NumberTargets):
    """One label a row, or a set of labels."""

    kind = "labels"

    def __init__(self, owner: Classifier) -> None:
        super().__init__(owner)
        self.owner = owner

    @property
    def labels(self) -> Labels:
        """Those known."""
        labels = self.owner._labels
        assert labels is not None
        return labels

    @property
    def sets(self) -> bool:
        """Has an example several labels?"""
        return self.owner._labels is not None and self.owner._labels.sets

    # ---- tables

    def read(self, y: Any, count: int) -> Any:
        """Labels as a (n,) array, or a set of labels a row as a (n, labels) table."""
        if is_line(y, count) and y.dtype.kind in "biu":
            return y
        if y is None:
            raise BadInput(f"{type(self.owner).__name__} requires y to be passed, but the target y is None")
        if sp.issparse(y):
            y = sp.csr_matrix(canonical(y))
            if not is_marks(y.data):
                raise BadInput("y has other entries than 0 and 1; wanted an indicator matrix")
        else:
            y = label_array(y)
            if y.ndim == 2 and y.shape[1] > 1:
                if y.dtype.kind not in "biuf" or not is_marks(y):
                    raise BadInput(f"y has several columns; {SEVERAL}")
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
        announced, apart = agreed(self.owner.classes, classes), self.owner._rows_apart
        sets = y.ndim == 2
        if announced is not None:
            return Labels(listed(announced), closed=True, sets=sets, apart=apart)
        known = range(y.shape[1]) if sets else distinct(y)
        for label in known:
            check_label(label)
        return Labels(known, sets=sets, apart=apart)

    def adopt(self, y: object, warm: bool) -> None:
        """The labels of a fit: at least two, all of them known."""
        owner = self.owner
        labels = copy.deepcopy(owner._labels) if warm and owner._labels else self._labels_from(y, None)
        self.check_width(labels, y)
        if not labels.sets and len(labels.known) < 2:
            raise BadInput(
                f"all labels are one class, {shortened(labels.known)}; wanted at least two classes; announce "
                "the other in classes="
            )
        if not labels.sets and not owner.growing:  # (those of a growing model may still come)
            checked_class_weight(owner.class_weight, labels.index)
        if warm or labels.closed:  # otherwise they are the labels of y
            self.refuse_unknown(labels, y)
        owner._labels = labels

    def adopt_stream(self, y: Any, classes: Any) -> None:
        """The labels of a stream: announced with its first call, unless they may grow."""
        owner = self.owner
        if owner._labels is not None:
            labels = copy.deepcopy(owner._labels)
            if classes is not None and Labels(listed(classes)).known != labels.known:
                raise BadInput(
                    f"classes={shown(classes)} is not the same as on the last call to partial_fit, "
                    f"was: {shortened(labels.known)}"
                )
        elif classes is None and owner.classes is None and y.ndim == 1:
            if not owner.growing:
                raise BadInput(
                    "classes must be passed on the first call to partial_fit: all labels that can come, "
                    "or set growing=True"
                )
            labels = Labels(apart=owner._rows_apart)
        else:
            labels = self._labels_from(y, classes)
        self.check_width(labels, y)
        self.refuse_unknown(labels, y)
        owner._labels = labels

    def check_width(self, labels: Labels, y: Any) -> None:
        """Label sets: as many columns as labels."""
        if labels.sets != (y.ndim == 2):
            raise BadInput("sets of labels and single labels cannot be mixed in one model")
        if labels.sets and y.shape[1] != len(labels.known):
            raise BadInput(f"y has {y.shape[1]} columns; wanted {len(labels.known)}, one per label")

    def refuse_unknown(self, labels: Labels, y: Any) -> None:
        """Refuse labels that cannot be taken in, before anything is learned."""
        if labels.sets:
            return
        if self.owner.growing and not labels.closed:
            for label in distinct(y):
                self._check_new(labels, label)
            return
        if labels.knows_all(y):
            return
        for block in blocks(len(y)):
            codes = labels.codes(block.take(y))
            if (codes < 0).any():
                raise labels.unknown(y, np.r_[np.zeros(block.first, int), codes])

    def _check_new(self, labels: Labels, label: object) -> None:
        """Raise if the label can be neither found nor taken in."""
        labels.check(label)
        if label not in labels.index and len(labels.known) >= 2:
            self.owner._refuse_new_class()

    def cutter(self, model: Model, data: TrainingSet, whole: bool, watcher: Watcher | None = None) -> Cutter:
        """Blocks cut where a new label appears; `whole`: "balanced" is counted over all of y."""
        labels, weighting = self.labels, self.weighting()
        if whole and weighting == "balanced":
            seen = data.y[data.weights > 0] if data.weights.size else data.y
            weighting = labels.fitted_weights(labels.codes(seen), weighting)
        return partial(self._parts, model, labels, data, weighting, watcher)

    def _parts(
        self, model: Model, labels: Labels, data: TrainingSet, weighting: Any, watcher: Watcher | None,
        block: Block,
    ) -> Iterator[Part]:  # fmt: skip
        y = block.take(data.y)
        own = block.take(data.weights) if data.weights.size else NONE
        if labels.sets:
            yield block, dense(y), own
            return
        start = 0
        while start < block.size:
            codes = labels.codes(y[start:])
            if own.size:  # a round that is not seen brings no label
                codes[(codes < 0) & (own[start:] <= 0)] = 0
            unknown = np.flatnonzero(codes < 0)
            new_label = bool(unknown.size and unknown[0] == 0)
            if new_label:
                if watcher is not None:
                    watcher.meet(block.first + start, labels.known)
                self.admit(model, labels, unwrapped(y[start]))
                codes = labels.codes(y[start : start + 1])
                stop = start + 1
            else:
                stop = start + (int(unknown[0]) if unknown.size else len(codes))
                codes = codes[: stop - start]
            part = Block(block.first + start, stop - start, block.order[start:stop], new_label)
            mine = own[start:stop] if own.size else NONE
            by_class = labels.weights(codes, weighting, mine > 0 if mine.size else None)
            yield part, labels.targets(codes), weights_product(mine, by_class)
            start = stop

    def admit(self, model: Model, labels: Labels, label: object) -> None:
        """A new label: the model takes on the shape it needs, its decisions unchanged."""
        before = len(labels.known)
        sources = labels.add(label)
        self.owner._labels = labels
        if labels.sets:
            dummy = [before] if self.owner._set_rule == "dummy" else []
            model.rearrange(len(sources) + len(dummy), sources + dummy)
        elif before == 1 and sources[0] == 0:
            model.turn()  # the first label was the positive side; it sorts first
        elif before == 2:
            halves = (sources.index(0), sources.index(1))
            model.split(self.owner._table_row(), 3, halves)
        elif before > 2:
            model.rearrange(len(sources), sources)

    def weighting(self) -> Any:
        """`class_weight`, checked; a label it names must be one of the announced."""
        announced = self.owner.classes is not None if self.owner._labels is None else self.closed
        weighting = checked_class_weight(self.owner.class_weight, self.known() if announced else None)
        if weighting is not None and self.sets:
            raise BadInput("class_weight does not apply to sets of labels; use sample_weight")
        return weighting

    # ---- what is known

    def known(self) -> list[Any]:
        """Labels known at this moment: met, or announced."""
        if self.owner._labels is not None:
            return list(self.owner._labels.known)
        announced = self.owner.classes
        return [] if announced is None else in_order(listed(announced))

    @property
    def closed(self) -> bool:
        """May no more labels come?"""
        return self.owner._labels is not None and self.owner._labels.closed

    def outputs(self) -> tuple[int, bool]:
        """One row for two classes, a row each for more, a row a label for sets (and one for a dummy)."""
        labels = self.owner._labels
        if labels is None:
            return 1, False
        dummy = labels.sets and self.owner._set_rule == "dummy"
        return labels.outputs + dummy, labels.sets or labels.outputs > 1

    def output_names(self) -> list[Any]:
        """What each row of `coef_` speaks for."""
        labels = self._some_labels()
        return list(labels.known) if labels.outputs > 1 or labels.sets else [labels.known[-1]]

    def spoken(self, table: np.ndarray) -> np.ndarray:
        """Of a dummy label, the others' rows less its own."""
        return table[:-1] - table[-1:] if self.owner._set_rule == "dummy" and self.sets else table

    def bar(self, model: Model) -> float:
        """The running threshold of label sets."""
        return model.threshold if self.owner._set_rule == "running" and self.sets else 0.0

    def forget(self) -> None:
        """No label is known."""
        self.owner._labels = None

    def share(self, other: Learner) -> None:
        """The other's labels."""
        labels = self.owner._labels = getattr(other, "_labels", None)
        if labels is not None and not labels.sets:
            checked_class_weight(self.owner.class_weight, labels.index)

    def own(self) -> None:
        """A copy of the labels, to be taken on in place of those the call began with."""
        self.owner._labels = copy.deepcopy(self.owner._labels)

    def state(self) -> Any:
        """The labels known, examples of each, whether more may come."""
        labels = self.owner._labels
        if labels is None:
            return None
        return {
            "known": labels.known, "counts": labels.counts, "closed": labels.closed, "sets": labels.sets
        }  # fmt: skip

    def restore(self, kept: Any) -> None:
        """The labels in the order they were."""
        if kept is not None:
            self.owner._labels = Labels.restored(kept, self.owner._rows_apart)

    def _some_labels(self) -> Labels:
        """Those known; of a model that grows there may be none yet."""
        if not self.labels.known:
            raise BadInput("no label was seen yet; learn from an example of a weight above 0 first")
        return self.labels

    # ---- answers and traces

    def _bar_of(self, scores: np.ndarray) -> Any:
        """What a label's score must exceed to be in the set."""
        if self.owner._set_rule == "dummy":
            return scores[:, -1:]
        return self.bar(self.owner._fitted())

    def decisions(self, scores: np.ndarray) -> np.ndarray:
        """(n,) for two classes, (n, K) for more and for sets."""
        if self.sets:
            return np.asarray(scores[:, : len(self.labels.known)] - self._bar_of(scores))
        return scores[:, 0] if scores.shape[1] == 1 else scores

    def named(self, decisions: np.ndarray) -> np.ndarray:
        """The label of each row, or the set of labels as a row of 0 and 1."""
        if self.sets:
            return (decisions > 0).astype(int)
        labels = self._some_labels()
        if decisions.ndim == 1:
            codes = (decisions >= 0).astype(int) if len(labels.known) > 1 else np.zeros(len(decisions), int)
        else:
            codes = decisions.argmax(axis=1)
        return np.asarray(labels.array[codes])

    def named_one(self, scores: np.ndarray) -> Any:
        """The label of one example (or {label: bool})."""
        labels = self.labels
        if labels.sets:
            return dict(zip(labels.known, (self.decisions(scores)[0] > 0).tolist(), strict=True))
        if scores.shape[1] == 1:
            return labels.known[-1 if scores[0, 0] >= 0.0 else 0]
        return labels.known[int(scores[0].argmax())]

    def guess_of(self, scores: np.ndarray) -> float:
        """What `decide` makes of one line of scores."""
        if self.sets:
            return float(scores[-1] if self.owner._set_rule == "dummy" else self._bar_of(scores[None, :]))
        if len(scores) == 1:
            return 1.0 if scores[0] >= 0 else -1.0
        return float(scores.argmax())

    def is_wrong(self, scores: np.ndarray, guess: float, target: Any) -> bool:
        """What `wrong` makes of it."""
        if self.sets:
            return bool(((scores[: len(target)] > guess) != (target > 0.5)).any())
        return bool(guess != target)

    def traced(self, whole: np.ndarray, start: Any) -> tuple[np.ndarray, np.ndarray]:
        """decision_function and predictions of every round; before any label the answer is None."""
        labels = self.labels
        guess, scores = whole[:, 0], whole[:, TRACED:]
        if labels.sets:
            decisions = scores[:, : len(labels.known)] - guess[:, None]
            return decisions, (decisions > 0).astype(int)
        codes = guess if scores.shape[1] > 1 else np.where(guess > 0, len(labels.known) - 1.0, 0.0)
        answered = np.isfinite(guess)
        known = labels.array if labels.known else np.array([None])
        predictions = known[np.where(answered, codes, 0).astype(int)]
        if not answered.all():
            predictions = predictions.astype(object)
            predictions[~answered] = None
        return (scores[:, 0] if scores.shape[1] == 1 else scores), predictions

    def truths(self, y: Any) -> Any:
        """Labels of an iterable as an array; sets as an indicator matrix."""
        if sp.issparse(y):
            return y.toarray()
        if not isinstance(y, list):
            return y
        if self.sets:
            return np.array([[int(bool(row.get(label))) for label in self.labels.known] for row in y])
        return column(y)

    def margins(self, scores: np.ndarray, y: object) -> tuple[np.ndarray, np.ndarray]:
        """The margin of every row (y s; over the best rival; the lowest relevant label's); is one asked?"""
        labels, several = self.labels, scores.shape[1] > 1
        y = np.asarray(y)
        if self.owner._one_against_all and several:
            table = y if labels.sets else np.eye(scores.shape[1])[labels.codes(y)]
            margins = np.where(table > 0, scores, -scores).min(axis=1)
        elif labels.sets:
            low = np.where(y > 0, scores, np.inf).min(axis=1)
            margins = low - np.where(y > 0, -np.inf, scores).max(axis=1)
            asked = np.isfinite(margins)
            return np.where(asked, margins, 0.0), asked
        elif several:
            codes, others = labels.codes(y), scores.copy()
            rows = np.arange(len(codes))
            others[rows, codes] = -np.inf
            margins = scores[rows, codes] - others.max(axis=1)
        else:
            margins = (2.0 * labels.codes(y) - 1.0) * scores[:, 0]
        return margins, np.ones(len(margins), bool)

    # ---- dicts

    def begin(self, y: object) -> None:
        """The labels announced; sets, where the first answer is one."""
        announced = self.owner.classes
        known = () if announced is None else listed(announced)
        self.owner._labels = Labels(
            known, closed=announced is not None, sets=isinstance(y, Mapping), apart=self.owner._rows_apart
        )

    def check_alone(self, y: object) -> None:
        """What a label may be depends on those known."""

    def check(self, y: Any) -> None:
        """Raise if y is no label, or one that cannot be taken in."""
        labels = self.labels
        if isinstance(y, Mapping) != labels.sets:
            wanted = "a dict of labels and bools" if labels.sets else "one label"
            raise BadType(f"got {shown(y)}; this model learns from {wanted}")
        try:
            for label in y if labels.sets else [y]:
                self._check_new(labels, label)
        except TypeError:
            wanted = "a text, a number or a bool (of a set of labels: a dict {label: bool})"
            raise BadType(f"the label is {shown(y)}; wanted {wanted}") from None

    def room(self) -> np.ndarray:
        """Room for one target: a number, or a row of 0 and 1 for a set of labels."""
        return np.zeros((1, len(self.labels.known))) if self.sets else np.zeros(1)

    def coded(self) -> dict[Any, float] | None:
        """What each label means to the loop; None where the target is a set of labels."""
        labels = self.labels
        targets = labels.targets(np.arange(len(labels.known))).tolist()
        return None if labels.sets else dict(zip(labels.known, targets, strict=True))

    def coder(self, coded: dict[Any, float] | None) -> Coder:
        """A label that is known."""
        return None if coded is None else coded.get

    def answers(self) -> Answers:
        """Guesses of the loop as labels; None for sets, and before any label."""
        labels = self.labels
        if labels.sets or not labels.known:
            return None
        if labels.outputs == 1:
            return {1.0: labels.known[-1], -1.0: labels.known[0]}
        return {float(number): label for number, label in enumerate(labels.known)}

    def put(self, stream: Stream, x: Example, y: Any, weight: float, weighting: Any) -> float:
        """The target in its place, new labels taken in; what the example weighs with its class."""
        labels = self.labels
        for label in y if labels.sets else (y,):
            if label not in labels.index:  # the model takes on another shape, the example is packed again
                self.admit(stream.model, labels, label)
                stream.bind()
                stream.take(x)
        if labels.sets:
            stream.target[0] = [float(bool(y.get(label))) for label in labels.known]
            return weight
        stream.target[0] = (stream.coded or {})[y]
        if weighting is not None:
            code = np.array([labels.index[y]])
            weight *= float(labels.weights(code, weighting, np.array([weight > 0]))[0])
        return weight

    def read_many(self, y: Any, count: int) -> Any:
        """One label a row; new ones are checked before any is learned."""
        if self.sets:
            raise BadInput("learn_many takes one label a row; use learn_one for sets of labels")
        for label in dict.fromkeys(items(y)):
            self.check(label)
        return y
