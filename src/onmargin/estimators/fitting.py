"""fit and partial_fit, once for all learners."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from ..errors import BadInput
from ..learn.vocabulary import NO_TRACE, TRACED
from ..models.weights import Model
from .lessons import NO_ORDER, NONE, Cutter, Lesson, Line, NotFinite, Passes, Sums, blocks, learn_block
from .online import OnlineEstimator
from .watched import Watched


class Fitted(Watched, OnlineEstimator):
    """How a table is learned. A subclass says how y is read, kept and cut into targets."""

    _counts_mistakes = True
    _frames = 4  # from a warning of the passes to whoever called fit

    def _read_y(self, y: Any, count: int) -> Any:
        """y as the loop's side wants it."""
        raise NotImplementedError

    def _adopt(self, y: Any, warm: bool) -> None:
        """What must be known of all of y before a fit."""

    def _adopt_stream(self, y: Any, classes: Any) -> None:
        """What must be known before a partial_fit."""

    def _cutter(self, model: Model, lesson: Lesson, whole: bool, watcher: Any = None) -> Cutter:
        """Blocks into targets; `whole`: all of y is there, as in fit."""
        raise NotImplementedError

    def _sweep_in_lanes(self, *arguments: Any) -> Any:
        from .sweeping import sweep_in_lanes

        return sweep_in_lanes(*arguments)

    def _fit(self, X: Any, y: Any, coef: Any, intercept: Any, sample_weight: Any) -> Any:
        me: Any = self
        with self._all_or_nothing():
            warm = self.warm_start and self._model is not None
            if not warm:
                me._forget()
            else:
                self._model = self._fitted().copy()
            X = self._table(X, reset=not warm, learning=True)
            y = self._read_y(y, X.shape[0])
            self._adopt(y, warm)
            model = self._fitted() if warm else self._new_model(X.shape[1])
            self._fit_in(model, X)
            me._set_weights(model, coef, intercept)
            me._check_start(model)
            me._refresh(model)
            self._model = model
            lesson = self._lesson(X, y, sample_weight)
            if lesson.weights.size and not lesson.weights.any():
                raise BadInput("sample_weight is zero everywhere; wanted at least one weight above 0")
            model.open(lesson.count)
            self._run_passes(X, model, lesson)
        return self

    def _partial_fit(self, X: Any, y: Any, classes: Any, sample_weight: Any) -> Any:
        me: Any = self
        with self._all_or_nothing():
            X = self._table(X, reset=self._model is None, learning=True)
            y = self._read_y(y, X.shape[0])
            self._adopt_stream(y, classes)
            if self._model is None:
                self._model = self._new_model(X.shape[1])
                me._check_start(self._model)
            lesson = self._lesson(X, y, sample_weight)
            model = self._learning_copy(X, lesson)
            me._refresh(model)
            self._fit_in(model, X)
            model.open(lesson.count)
            self._play(X, model, lesson)
            self._model = model
            self._stream = None
        return self

    def _play(
        self, X: Any, model: Model, lesson: Lesson, order: np.ndarray = NO_ORDER,
        cut: Cutter | None = None, sums: Sums | None = None, line: Line | None = None,
        number: int = 1, watcher: Any = None, chance: np.ndarray = NONE, judged: bool = False,
        size: int | None = None,
    ) -> Sums:  # fmt: skip
        """One pass; the watcher, if any, is shown every block."""
        me: Any = self
        sums = sums or Sums()
        cut = cut or self._cutter(model, lesson, False, watcher)
        try:
            for block in blocks(len(order) or lesson.count, order, size):
                for part, targets, weights in cut(block):
                    trace = NO_TRACE
                    if watcher:
                        outputs, known = model.start.outputs, me._known_labels()
                        trace = watcher.table(part.first, part.count, outputs, known)
                    luck = part.take(chance) if chance.size else self._luck(model, part.count, weights)
                    before = model.clock
                    tally = learn_block(model, lesson.rows, part, targets, weights, luck, trace, judged)
                    if trace.size and self._kind == "labels" and not known:
                        trace[:, 0] = np.nan  # before any label the answer is None
                    if part.surprise:  # answered without the label it brought
                        tally = tally._replace(mistakes=tally.clock - before)
                    sums.add(tally, before)
                if watcher:
                    watcher.curve.append((sums.rounds, sums.mistakes, sums.loss))
                if line is not None:
                    done = (number - 1) * lesson.count + block.first + block.count
                    line.show(f"pass {number}", done, sums)
        except NotFinite as stop:
            raise self._not_finite(X, stop.args[0]) from None
        return sums

    def _play_one(
        self, X: Any, model: Model, lesson: Lesson, part: Any, targets: np.ndarray,
        weights: np.ndarray, sums: Sums,
    ) -> np.ndarray:  # fmt: skip
        """One round by itself; its line of the trace."""
        trace = np.zeros((1, TRACED + model.start.outputs))
        before, luck = model.clock, self._luck(model, part.count, weights)
        try:
            sums.add(learn_block(model, lesson.rows, part, targets, weights, luck, trace), before)
        except NotFinite as stop:
            raise self._not_finite(X, stop.args[0]) from None
        return np.asarray(trace[0])

    def _row_order(self, generator: np.random.Generator, count: int, model: Model) -> np.ndarray:
        """Row numbers of a pass, or empty: as they come."""
        return generator.permutation(count) if self.shuffle else NO_ORDER

    def _run_passes(self, X: Any, model: Model, lesson: Lesson) -> None:
        """Passes until the mean online loss stops falling."""
        generator = self._generator(3)
        line = Line(lesson.count * self.max_iter, bool(self.verbose), self._counts_mistakes)
        cut = self._cutter(model, lesson, True)

        def play(number: int, order: np.ndarray) -> float:
            sums = self._play(X, model, lesson, order, cut, line=line, number=number)
            line.passed = number, sums
            return sums.mean_loss

        def order(number: int) -> np.ndarray:
            return self._row_order(generator, lesson.count, model)

        passes = Passes(self.max_iter, self.tol, self.n_iter_no_change, order)
        self.n_iter_, falling = passes.run(play)
        line.end(lesson.count)
        if falling:
            warnings.warn(
                f"the mean online loss was still falling after max_iter={self.max_iter} passes; raise "
                "max_iter, or set tol=None to run exactly that many",
                ConvergenceWarning,
                stacklevel=self._frames,
            )
