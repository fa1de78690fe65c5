"""Learners whose rows come in groups: the documents of a query, the candidates of a decision."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning

from ..compiled.checks import first_not_finite
from ..errors import BadInput
from ..learn.spaces.arrays import Start
from ..learn.vocabulary import Examples
from ..models.paired import PairedModel
from ..models.pairing import Given
from ..models.weights import Model
from .explain import Explained
from .gambling import Gambler
from .lessons import NONE, Line, Passes, Sums
from .linear import LinearWeights
from .paired_rows import Rounds
from .tables import checked_weights

SIDES = np.array([[0], [1]], np.int8)  # marks of the worse and of the better members
STRETCH = 4096  # rounds at a time


class Grouped(Gambler, LinearWeights, Explained):
    """One row of weights, learned from rounds within groups. A subclass says what a round is."""

    def _rounds(self, groups: np.ndarray, truth: np.ndarray, order: np.ndarray, model: Model) -> Any:
        """Rounds of a pass over the groups in this order: ((members, starts), which are better)."""
        raise NotImplementedError

    def _read_truth(self, y: Any, groups: np.ndarray, count: int) -> np.ndarray:
        """One number per row, checked; `count` groups."""
        raise NotImplementedError

    # ---- the model

    def _recipe_name(self) -> str:
        return "pa1.binary"  # for its Space and its answers

    def _made_model(self, start: Start) -> Model:
        return PairedModel(self._recipe(), start, self._all_choices())

    def _rows(self, X: Any) -> Any:
        return super()._rows(X if sp.issparse(X) else np.ascontiguousarray(X))

    # ---- learning

    def _learn_groups(self, X: Any, y: Any, qid: Any, fresh: bool, passes: bool) -> Any:
        with self._all_or_nothing():
            if fresh:
                self._model = self._slots = None
                if self.random_state is not None:
                    self._entropy = None
            X = self._table(X, reset=self._model is None, learning=True)
            groups, count = read_groups(qid, X.shape[0])
            truth = self._read_truth(y, groups, count)
            model = self._new_model(X.shape[1]) if self._model is None else self._model.copy()
            self._check_start(model)
            self._fit_in(model, X)
            self._refresh(model)
            self._model = model
            bad = first_not_finite(self._rows(X), X.shape[0])
            if bad < X.shape[0]:
                raise self._not_finite(X, bad)
            if passes:
                self._run_passes(X, model, groups, truth, count)
            else:
                self._pass(X, model, groups, truth, np.arange(count))
        return self

    def _run_passes(self, X: Any, model: Model, groups: np.ndarray, truth: np.ndarray, count: int) -> None:
        generator = self._generator(3)
        line = Line(count * self.max_iter, bool(self.verbose), False)

        def order(number: int) -> np.ndarray:
            return generator.permutation(count) if self.shuffle else np.arange(count)

        def play(number: int, order: np.ndarray) -> float:
            sums = self._pass(X, model, groups, truth, order)
            line.show(f"pass {number}", number * count, sums)
            line.passed = number, sums
            return sums.mean_loss

        passes = Passes(self.max_iter, self.tol, self.n_iter_no_change, order)
        self.n_iter_, falling = passes.run(play)
        line.end(count)
        if falling:
            warnings.warn(
                f"the mean online loss was still falling after max_iter={self.max_iter} passes; raise "
                "max_iter, or set tol=None to run exactly that many",
                ConvergenceWarning,
                stacklevel=4,
            )

    def _pass(self, X: Any, model: Any, groups: np.ndarray, truth: np.ndarray, order: np.ndarray) -> Sums:
        """All groups once."""
        (members, starts), better = self._rounds(groups, truth, order, model)
        rows, sums = self._rows(X), Sums()
        lines = better.astype(np.int64)
        model.pairing.given = Given(members, starts, SIDES, NONE, lines)
        for first in range(0, len(starts) - 1, STRETCH):
            count = min(STRETCH, len(starts) - 1 - first)
            heads = starts[first : first + count]
            examples = Examples(rows, lines[heads] - 0.5, NONE, NONE, members[heads])
            before = model.clock
            sums.add(model.learn(examples, first, count), before)
        model.pairing.given = None
        return sums

    def decision_function(self, X: Any) -> np.ndarray:
        """The score of every row, by the average where one is kept."""
        return np.asarray(self._scores(X)[:, 0])


def read_groups(qid: Any, rows: int) -> tuple[np.ndarray, int]:
    """Group numbers in order of appearance, and how many there are. Rows of a group need not lie together."""
    if qid is None:
        return np.zeros(rows, np.int64), 1
    given = np.asarray(qid)
    if given.shape != (rows,):
        raise BadInput(f"qid has shape {given.shape}; wanted ({rows},), one group a row")
    if given.dtype.kind == "f" and not np.isfinite(given).all():
        where = int(np.argmax(~np.isfinite(given)))
        raise BadInput(f"qid of row {where} is {given[where]}; wanted a number or a text for every row")
    if given.dtype.kind in "OMm" and any(value != value for value in given):
        raise BadInput("qid has NaN or a missing date; wanted a number or a text for every row")
    try:
        _, first, codes = np.unique(given, return_index=True, return_inverse=True)
    except TypeError:
        raise BadInput("qid mixes kinds that cannot be compared; wanted numbers, or texts") from None
    numbers = np.empty(len(first), np.int64)
    numbers[np.argsort(first)] = np.arange(len(first))
    return numbers[codes], len(first)


def weights_of_groups(weights: Any, groups: np.ndarray) -> np.ndarray:
    """What each group weighs: the mean over its rows."""
    each = np.bincount(groups, checked_weights(weights, len(groups))) / np.bincount(groups)
    if not each.any():
        raise BadInput("sample_weight is zero everywhere; wanted at least one weight above 0")
    return np.asarray(each)


def no_rounds() -> tuple[Rounds, np.ndarray]:
    """A pass without a round."""
    return (np.zeros(0, np.int64), np.zeros(1, np.int64)), np.zeros(0, bool)
