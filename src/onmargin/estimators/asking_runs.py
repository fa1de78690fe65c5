"""The whole protocol of a learner that asks: score, ask by the rule, read only what was asked for."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import BadInput
from ..learn.vocabulary import SHOWN
from ..results.progress import Progress, Totals
from .asking_state import AskingState
from .label_tables import are_known, indexable, known_labels, labels_of, rows_of
from .labels import check_label, distinct
from .missing import filled
from .tables import checked_weights
from .watched import checked_chance

PIECE = 1 << 20  # rows at a time, where no line per round is kept


class AskingRuns(AskingState):
    """`fit`, and what `om.progressive` asks for."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        """Go over the rows once (shuffled, where the learner shuffles) and ask by the rule.

        Labels of rows that are not asked for are not read; they may be missing.
        """
        before = {name: self.__dict__.get(name) for name in ("estimator_", "n_iter_")}
        try:
            if self.random_state is not None:
                self._entropy = None
            inner, X = self._inner(fresh=True), indexable(X)
            labels, there = labels_of(y, X)
            weights = checked_weights(sample_weight, len(labels)) if sample_weight is not None else None
            if weights is not None and not weights.any():
                raise BadInput("sample_weight is zero everywhere; wanted at least one weight above 0")
            order = np.arange(len(labels))
            if (
                inner.shuffle and getattr(inner, "kernel", None) != "precomputed"
            ):  # whose rows are columns too
                order = self._generator(3).permutation(len(labels))
                X, weights = rows_of(X, order), None if weights is None else weights[order]
            self._run(X, labels[order], there[order], weights, None, None, False, False, None)
            self.n_iter_ = 1
        except BaseException:
            for name, value in before.items():
                if value is None:
                    self.__dict__.pop(name, None)
                else:
                    self.__dict__[name] = value
            raise
        return self

    def _progress(
        self, X: Any, y: Any, *, sample_weight: Any, chance: Any, classes: Any, judged: bool, full: bool,
        every: int | None, delay: int,
    ) -> Progress:  # fmt: skip
        if delay:
            raise BadInput("delay= is not for learners that ask: a label comes when it is asked for")
        X = indexable(X)
        labels, there = labels_of(y, X)
        weights = None if sample_weight is None else checked_weights(sample_weight, len(labels))
        return self._run(X, labels, there, weights, chance, classes, judged, full, every)

    def _run(
        self, X: Any, labels: np.ndarray, there: np.ndarray, weights: Any, chance: Any, classes: Any,
        judged: bool, full: bool, every: int | None,
    ) -> Progress:  # fmt: skip
        """Test-then-ask-then-train, a long piece of the stream at a time where no trace is kept."""
        inner = self._inner()
        open_ended = getattr(inner, "growing", False)
        if (
            inner._model is None
            and classes is None
            and inner.classes is None
            and there.any()
            and not open_ended
        ):
            classes = distinct(labels[there])
            for label in classes:
                check_label(label)
            if len(classes) < 2:
                raise BadInput(f"all labels are one class, {classes}; wanted at least two classes")
        if open_ended and inner._labels is None and classes is None and inner.classes is None:
            raise BadInput(
                "growing=True takes labels as they come, but only those asked for are read; give classes="
            )
        known = known_labels(inner, classes)
        if known is not None:
            there = there & are_known(known, labels)
        answers = filled(labels, there, known or [0])
        self._refuse_weights(inner)
        if chance is not None:
            chance = checked_chance(chance, len(labels))
        before = dict(inner.__dict__)
        if inner._model is not None:
            before["_model"] = inner._model.copy()
        if inner._asked_before is not None:
            before["_asked_before"] = inner._asked_before.copy()
        inner._asks = True
        try:
            run = self._pieces(
                inner, X, answers, there, weights, chance, classes, judged, full, every, labels
            )
        except BaseException:
            inner.__dict__.clear()
            inner.__dict__.update(before, _stream=None)
            raise
        finally:
            inner._asks = False
            if inner._model is not None:
                inner._model.asks = False
        return run

    def _refuse_weights(self, inner: Any) -> None:
        """Class weights that would look at labels nobody asked for."""
        given = getattr(inner, "class_weight", None)
        if given == "balanced" or (isinstance(given, dict) and not all(w > 0 for w in given.values())):
            raise BadInput(
                f"class_weight={given!r} looks at labels that are not asked for; wanted weights above 0"
            )

    def _pieces(
        self, inner: Any, X: Any, y: np.ndarray, there: np.ndarray, weights: Any, chance: Any,
        classes: Any, judged: bool, full: bool, every: int | None, labels: np.ndarray,
    ) -> Progress:  # fmt: skip
        count, sums, curve, whole = len(y), np.zeros(5), [], None
        step = count if full else PIECE
        for first in range(0, max(count, 1), step):
            some = slice(first, min(first + step, count))
            rows = X if step >= count else rows_of(X, np.arange(some.start, some.stop))
            mine = None if weights is None else weights[some]
            luck = self._luck_of(mine, some.stop - some.start) if chance is None else chance[some]
            run = inner._progress(
                rows, y[some], sample_weight=mine, chance=luck, classes=classes if first == 0 else None,
                judged=judged, full=True, every=every, delay=0,
            )  # fmt: skip
            asked = np.asarray(run.queried, bool)
            unanswered = asked & ~there[some]
            if unanswered.any():
                row = first + int(np.argmax(unanswered))
                raise BadInput(
                    f"row {row} was asked for and has no label; drop such rows, or use partial_fit, which "
                    "takes what is there"
                )
            counted = there[some] & (np.ones(len(asked), bool) if mine is None else mine > 0)
            wrong = np.asarray(run.predictions)[counted] != labels[some][counted]
            rounds = int(counted.sum())
            sums += (rounds, int(np.sum(wrong)), run.totals.errors, run.totals.updates, run.totals.loss)
            curve.append((int(sums[0]), int(sums[1]), float(sums[4])))
            whole = run, counted
        assert whole is not None
        rounds, mistakes, errors, updates = (int(value) for value in sums[:4])
        totals = Totals(rounds, mistakes, errors, updates, float(sums[4]))
        if not full:
            return Progress(self, totals, labels, X, curve=curve)
        run, counted = whole
        lines = {name: getattr(run, name) for name in ("scores", "predictions", "losses", "steps", "queried")}
        return Progress(self, totals, labels, run.X, lines | {"counted": counted}, curve, "labels", every)

    def _luck_of(self, weights: np.ndarray | None, count: int) -> np.ndarray:
        """A coin for every row that is seen."""
        shown = int(self._numbers()[SHOWN])
        if weights is None:
            return self._coins(shown, count)
        luck, seen = np.zeros(count), weights > 0
        luck[seen] = self._coins(shown, int(seen.sum()))
        return luck
