"""Learners that decide which labels they want: questions, a person's answers, and their own."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any

import numpy as np
from sklearn.utils import check_array

from ..errors import BadInput
from ..features.slots import Packer, Slots
from ..learn.queries import ask_rows
from ..learn.vocabulary import ASKED, SHOWN
from ..results.progress import Progress, Totals
from .asking import lengths_of, sureness
from .asking_runs import AskingRuns
from .label_tables import indexable, known_labels, labels_of, rows_of
from .missing import is_missing
from .tables import checked_weights, in_one_line


class AsksForLabels(AskingRuns):
    """`partial_fit` and `learn_one` take labels that are there; `query` says what to ask for."""

    # ---- a person's answers

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Any:
        """Learn the rows that have a label, in order; rows without one (NaN, None) are skipped."""
        inner, X = self._inner(), indexable(X)
        labels, there = labels_of(y, X)
        if there.all():
            inner.partial_fit(X, labels, classes=classes, sample_weight=sample_weight)
            return self
        weights = None if sample_weight is None else checked_weights(sample_weight, len(labels))
        known = known_labels(inner, classes)
        kept = np.flatnonzero(there)
        if len(kept):
            weights = None if weights is None else weights[kept]
            answers = _typed(labels[kept])
            inner.partial_fit(rows_of(X, kept), answers, classes=classes, sample_weight=weights)
        elif inner._model is None:
            if known is None:
                raise BadInput("no row has a label, and no classes are announced; give classes=")
            inner.partial_fit(rows_of(X, np.arange(1)), known[:1], classes=classes, sample_weight=[0.0])
        return self

    def query(self, X: Any) -> np.ndarray:
        """Which rows to ask a label for; counted, as the rule says. Nothing else changes."""
        inner, X = self._inner(), indexable(X)
        if inner._model is None:
            with in_one_line():
                check_array(X, accept_sparse="csr", estimator=self, input_name="X")
            return self._ask_blindly(X.shape[0])
        inner._check_lasting()
        table = inner._table(X, reset=False)
        return self._ask(inner, inner._rows(table), table.shape[0], table)

    def query_one(self, x: Mapping[Hashable, Any]) -> bool:
        """Ask for the label of this example?"""
        inner = self._inner()
        if inner._model is None or not inner._labels.known:
            Packer(Slots(), 1.0).check(x)
            return bool(self._ask_blindly(1)[0])
        stream = inner._stream or inner._open()
        return bool(self._ask(inner, stream.row_for(x), 1, None)[0])

    def _ask_blindly(self, count: int) -> np.ndarray:
        """Before there is a model all rows are as doubtful as can be."""
        return self._rule_on(np.zeros(count), np.zeros(count))

    def _ask(self, inner: Any, rows: Any, count: int, table: Any) -> np.ndarray:
        scores, done = inner._model.scores(rows, count, False)
        if done < count:
            raise (
                BadInput("the example has values that are not finite; nothing was asked")
                if (table is None)
                else inner._not_finite(table, done, "nothing was asked")
            )
        return self._rule_on(sureness(scores), lengths_of(inner._model, rows, count))

    def _rule_on(self, sure: np.ndarray, lengths: np.ndarray) -> np.ndarray:
        numbers = self._numbers()
        asks = np.zeros(len(sure), bool)
        ask_rows(numbers, sure, lengths, self._coins(int(numbers[SHOWN]), len(sure)), asks)
        return asks

    @property
    def n_queries_(self) -> int:
        """Labels asked for so far."""
        return int(self._numbers()[ASKED])

    def learn_one(self, x: Mapping[Hashable, Any], y: Any, w: float = 1.0) -> None:
        """One example with its label; None or NaN: nothing is learned."""
        inner = self._inner()
        if is_missing(y):
            Packer(Slots(), 1.0).check(x)
            return
        inner.learn_one(x, y, w)

    # ---- answers: the learner's

    @property
    def classes_(self) -> np.ndarray:
        """The labels known, in order."""
        return np.asarray(self._answering().classes_)

    def _answering(self) -> Any:
        inner = self.__dict__.get("estimator_")
        if inner is None:
            inner = self._inner()
        inner._fitted()
        return inner

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or not name.endswith("_") or "estimator_" not in self.__dict__:
            raise AttributeError(f"{type(self).__name__} has no {name!r} (yet)")
        return getattr(self.estimator_, name)  # coef_, t_, n_features_in_, ...

    def predict(self, X: Any) -> np.ndarray:
        """The label of each row."""
        return np.asarray(self._answering().predict(X))

    def decision_function(self, X: Any) -> np.ndarray:
        """The learner's scores."""
        return np.asarray(self._answering().decision_function(X))

    def predict_one(self, x: Mapping[Hashable, Any]) -> Any:
        """The label; None before any."""
        return self._inner().predict_one(x)

    def _known_labels(self) -> list[Any]:
        return list(self._inner()._known_labels())

    def _play_dicts(self, examples: Any, judged: bool, full: bool, every: int | None) -> Progress:
        """An iterable of (x, y) or (x, y, weight), one after the other; weight 0 leaves no line."""
        lines: dict[str, list[Any]] = {"scores": [], "predictions": [], "queried": [], "counted": []}
        truths: list[Any] = []
        mistakes = 0
        for example in examples:
            x, y, weight = example if len(example) == 3 else (*example, 1.0)
            if weight == 0:
                continue
            answer, asked = self.predict_one(x), self.query_one(x)
            there = not is_missing(y)
            if asked and not there:
                raise BadInput(
                    f"round {len(truths)} was asked for and has no label; give one, or leave it out"
                )
            if asked:
                self.learn_one(x, y, weight)
            mistakes += there and answer != y
            truths.append(y)
            for name, value in zip(lines, (np.nan, answer, asked, there), strict=True):
                lines[name].append(value)
        if not truths:
            raise BadInput("the iterable is empty; wanted pairs (x, y)")
        count, counted = len(truths), np.array(lines["counted"], bool)
        totals = Totals(int(counted.sum()), mistakes, 0, int(sum(lines["queried"])), 0.0)
        if not full:
            return Progress(self, totals, None, curve=[(totals.rounds, mistakes, 0.0)])
        nothing = {"losses": np.zeros(count), "steps": np.zeros(count)}
        objects = {
            name: _objects(values) for name, values in (("predictions", lines["predictions"]), ("y", truths))
        }
        kept = {
            "scores": np.array(lines["scores"]),
            "predictions": objects["predictions"],
            "counted": counted,
        }
        kept |= {"queried": np.array(lines["queried"], bool), **nothing}
        return Progress(self, totals, objects["y"], None, kept, [], "labels", every)


def _typed(labels: np.ndarray) -> np.ndarray:
    """An object array of one kind of labels as an array of that kind."""
    if labels.dtype != object or len({type(label) for label in labels}) != 1:
        return labels
    return np.array(labels.tolist())


def _objects(values: list[Any]) -> np.ndarray:
    array = np.empty(len(values), object)
    array[:] = values
    return array
