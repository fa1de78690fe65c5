"""Learners that decide which labels they want: questions, a person's answers, and their own."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any

import numpy as np

from ..errors import BadInput
from ..features.slots import Packer, Slots
from ..learn.queries import ask_rows
from ..learn.vocabulary import ASKED, SHOWN
from .asking import lengths_of, sureness
from .asking_runs import AskingRuns
from .label_tables import indexable, known_labels, labels_of, rows_of
from .missing import is_missing


class AsksForLabels(AskingRuns):
    """`partial_fit` and `learn_one` take labels that are there; `query` says what to ask for."""

    # ---- a person's answers

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Any:
        """Learn the rows that have a label, in order; rows without one (NaN, None) are skipped."""
        inner, X = self._inner(), indexable(X)
        labels, there = labels_of(y, X)
        if there.all():
            inner.partial_fit(X, labels, classes=classes, sample_weight=sample_weight)
        else:
            known = known_labels(inner, classes)
            if not there.any() and (inner._model is None and known is None):
                raise BadInput("no row has a label, and no classes are announced; give classes=")
            kept = np.flatnonzero(there)
            if len(kept):
                weights = None if sample_weight is None else np.asarray(sample_weight)[kept]
                inner.partial_fit(rows_of(X, kept), labels[kept], classes=classes, sample_weight=weights)
        return self

    def query(self, X: Any) -> np.ndarray:
        """Which rows to ask a label for; counted, as the rule says. Nothing else changes."""
        inner, X = self._inner(), indexable(X)
        if inner._model is None:
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
