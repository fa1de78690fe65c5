"""Progressive validation from a learner's side: play a table with a watcher, sum it up."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from ..errors import BadInput
from ..learn.vocabulary import TRACED
from ..models.weights import Model
from ..results.progress import Progress, Totals
from ..results.trace import Watcher
from .labels import in_order, listed
from .lessons import BLOCK, NONE, Block, Lesson, Sums


class Watched:
    """What `om.progressive` asks of a learner."""

    _kind = "numbers"

    def _known_labels(self) -> list[Any]:
        """Labels known at this moment: met, or announced."""
        labels = getattr(self, "_labels", None)
        if labels is not None:
            return list(labels.known)
        announced = getattr(self, "classes", None)
        return [] if announced is None else in_order(listed(announced))

    def _has_sets(self) -> bool:
        labels = getattr(self, "_labels", None)
        return labels is not None and bool(labels.sets)

    def _guess_of(self, scores: np.ndarray) -> float:
        """What `decide` makes of one line of scores."""
        return float(scores[0])

    def _is_wrong(self, scores: np.ndarray, guess: float, target: Any) -> bool:
        """What `wrong` makes of it."""
        return False

    def _traced(self, whole: np.ndarray, start: Any) -> tuple[np.ndarray, np.ndarray]:
        """decision_function and predictions of every round."""
        scores = whole[:, TRACED]
        return scores, scores

    def _trace_start(self, model: Model) -> Any:
        """What `_traced` must know of the model before the first round."""
        return None

    def _losses_of(self, scores: np.ndarray, y: Any) -> np.ndarray:
        """The losses a comparator with these scores would have suffered."""
        raise BadInput(f"{type(self).__name__} has no linear comparator")

    def _progress(
        self, X: Any, y: Any, *, sample_weight: Any, chance: Any, classes: Any, judged: bool,
        full: bool, every: int | None, delay: int,
    ) -> Progress:  # fmt: skip
        me: Any = self
        with me._all_or_nothing():
            table = me._table(X, reset=me._model is None, learning=True)
            y = me._read_y(y, table.shape[0])
            if me._model is None and classes is None and not getattr(me, "growing", False):
                me._adopt(y, False)
            else:
                me._adopt_stream(y, classes)
            if me._model is None:
                me._model = me._new_model(table.shape[1])
                me._check_start(me._model)
            lesson = me._lesson(table, y, sample_weight)
            luck = checked_chance(chance, lesson.count)
            model = me._learning_copy(table, lesson)
            me._refresh(model)
            me._fit_in(model, table)
            model.open(lesson.count)
            start = self._trace_start(model)
            watcher = Watcher(lesson.count, full, self._has_sets())
            if delay:
                sums = self._late(table, model, lesson, watcher, delay, judged)
            elif judged and model.row.space.mean is None:
                raise BadInput("scored_by='model' is for linear scores; a ball has none")
            else:
                sums = me._play(
                    table, model, lesson, watcher=watcher, chance=luck, judged=judged, size=every or BLOCK
                )
            me._model, me._stream = model, None
        totals = Totals(sums.rounds, sums.mistakes, sums.errors, sums.updates, sums.loss)
        return self._summary(watcher, lesson.count, totals, y, table, start, every)

    def _late(self, X: Any, model: Model, lesson: Lesson, watcher: Watcher, delay: Any, judged: bool) -> Sums:
        """Labels `delay` rounds late: row t is answered when the rows up to t - delay - 1 are learned.

        Losses and steps of labels are those of the moment of learning; of numbers, the answers'.
        """
        me: Any = self
        if not isinstance(delay, int | np.integer) or delay < 0:
            raise BadInput(f"delay={delay!r}; wanted a whole number of rounds")
        if getattr(me, "growing", False) and not me._labels_are_closed():
            raise BadInput("delay= wants the classes announced; give classes=, or set growing=False")
        me._model = model
        cut = me._cutter(model, lesson, False)
        answers = np.zeros((lesson.count, model.start.outputs))
        guesses, sums, lines, targets = np.zeros(lesson.count), Sums(), [], []
        for position in range(lesson.count + delay):
            if position < lesson.count:
                row = me._rows(X[[position]])
                answers[position] = model.scores(row, 1, judged)[0][0]
                guesses[position] = self._guess_of(answers[position])
            late = position - delay
            if late >= 0:
                ((part, target, weights),) = cut(Block(late, 1, np.array([late])))
                targets.append(target[0])
                lines.append(me._play_one(X, model, lesson, part, target, weights, sums))
        if self._kind == "numbers" and lesson.y is not None:
            for line, loss in zip(lines, self._losses_of(answers, lesson.y), strict=True):
                line[1] = loss if line[3] else 0.0
            sums.loss = float(sum(line[1] for line in lines))
        for number, line in enumerate(lines):
            line[0], line[TRACED:] = guesses[number], answers[number]
            table = watcher.table(number, 1, model.start.outputs, self._known_labels())
            if table.size:
                table[...] = line
        sums.mistakes = sum(
            self._is_wrong(answers[t], guesses[t], targets[t]) for t in range(lesson.count) if lines[t][3]
        )
        watcher.curve.append((sums.rounds, sums.mistakes, sums.loss))
        return sums

    def _labels_are_closed(self) -> bool:
        labels = getattr(self, "_labels", None)
        return labels is not None and bool(labels.closed)

    def _summary(
        self, watcher: Watcher, count: int, totals: Totals, y: Any, X: Any, start: Any = None,
        every: int | None = None,
    ) -> Progress:  # fmt: skip
        watcher.settle(count)
        if not watcher.full:
            return Progress(self, totals, y, X, curve=watcher.curve, kind=self._kind)
        whole = watcher.whole[:count]
        scores, predictions = self._traced(whole, start)
        lines = {
            "scores": scores, "predictions": predictions, "losses": whole[:, 1].copy(),
            "steps": whole[:, 2].copy(), "queried": whole[:, 3] > 0,
        }  # fmt: skip
        truths = y.toarray() if sp.issparse(y) else y
        truths = _truths(truths, self._known_labels() if self._has_sets() else None)
        return Progress(self, totals, truths, X, lines, watcher.curve, self._kind, every)


def _truths(y: Any, labels: list[Any] | None) -> Any:
    """Labels of an iterable as an array; sets as an indicator matrix."""
    if not isinstance(y, list):
        return y
    if labels is not None:
        return np.array([[int(bool(row.get(label))) for label in labels] for row in y])
    array = np.array(y) if len({type(value) for value in y}) == 1 else np.empty(0)
    if array.shape != (len(y),):
        array = np.empty(len(y), object)
        array[:] = y
    return array


def checked_chance(chance: Any, count: int) -> np.ndarray:
    """One uniform per round; empty where none are given."""
    if chance is None:
        return NONE
    try:
        array = np.ascontiguousarray(chance, dtype=np.float64)
    except (TypeError, ValueError):
        array = np.zeros(0)
    if array.shape != (count,) or not ((array >= 0) & (array < 1)).all():
        raise BadInput(f"chance wants {count} uniforms in [0, 1), one per round")
    return array
