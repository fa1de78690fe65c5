"""Learners whose rows come in groups: the documents of a query, the candidates of a decision."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self, cast

import numpy as np
import scipy.sparse as sp

from ..compiled.checks import first_not_finite
from ..compiled.rows import Rows
from ..errors import BadInput
from ..learn.vocabulary import NONE, Examples
from ..models.means import take_mean
from ..models.paired.model import PairedModel
from ..models.paired.pairing import Given
from ..models.weights import Model
from ..results.progress import Progress, Totals
from .guard import answers, changes
from .learner import Learner
from .parameters.draws import generator_of
from .runs.passes import Sums, run_passes
from .tables import Table, checked_weights

SIDES = np.array([[0], [1]], np.int8)  # marks of the worse and of the better members
STRETCH = 4096  # rounds at a time

Rounds = tuple[np.ndarray, np.ndarray]
"""Row numbers, and where each round begins (one more than there are rounds)."""


class Grouped(Learner):
    """One row of weights, learned from rounds within groups. A subclass says what a round is."""

    _draws = True
    _counts_mistakes = False
    _has_lanes = False
    _linear_model = PairedModel
    _rules = {}  # noqa: RUF012 (the constant coordinate cancels: its value is 1)

    def _rounds(
        self, groups: np.ndarray, truth: np.ndarray, order: np.ndarray, model: Model
    ) -> tuple[Rounds, np.ndarray]:
        """Rounds of a pass over the groups in this order, and which members are better."""
        raise NotImplementedError

    def _read_truth(self, y: object, groups: np.ndarray, count: int) -> np.ndarray:
        """One number per row, checked; `count` groups."""
        raise NotImplementedError

    @property
    def kind(self) -> str:
        """What it learns: "ranks"."""
        return "ranks"

    def row(self, problem: str) -> str:
        """For its Space and its answers."""
        return "pa1.binary"

    def _rows(self, X: Table) -> Rows:
        return super()._rows(X if sp.issparse(X) else np.ascontiguousarray(X))

    # ---- learning

    @changes
    def _learn_groups(self, X: Any, y: Any, qid: Any, fresh: bool, passes: bool) -> Self:
        if fresh:
            self._forget()
        X, model, groups, truth, count = self._ready(X, y, qid, passes)
        if passes:
            self._pass_often(X, model, groups, truth, count)
            if self._averages_fits:
                take_mean(model)
        else:
            self._pass(X, model, groups, truth, np.arange(count))
        return self

    @changes
    def watch_groups(self, X: object, y: object, qid: object, judged: bool) -> Progress:
        """Answer each group, then learn it, in order of appearance: as `partial_fit` of one after the other.

        judged : answers are the averages'. The run's rounds are the model's; its scores have a line per row.
        """
        table, model, groups, truth, count = self._ready(X, y, qid, False)
        order = np.argsort(groups, kind="stable")
        ends = np.cumsum(np.bincount(groups, minlength=count))
        scores, sums, skipped = np.zeros(len(groups)), np.zeros(4), 0
        for rows in np.split(order, ends[:-1]):
            some = table[rows]
            scores[rows] = model.scores(self._rows(some), len(rows), judged)[0][:, 0]
            done = self._pass(some, model, np.zeros(len(rows), np.int64), truth[rows], np.arange(1))
            sums += done.rounds, done.errors, done.updates, done.loss
            skipped += getattr(self, "n_skipped_", 0)
        if skipped:
            self.n_skipped_ = skipped
        rounds, errors, updates = map(int, sums[:3])
        counted = np.ones(len(groups), bool)
        lines = {"scores": scores, "predictions": scores, "counted": counted, "queried": counted}
        totals = Totals(rounds, 0, errors, updates, float(sums[3]))
        run = Progress(self._original(), totals, truth, table, lines, kind=self.kind)
        run.groups = groups
        return run

    def _ready(
        self, X: Any, y: object, qid: object, fitting: bool
    ) -> tuple[Table, PairedModel, np.ndarray, np.ndarray, int]:
        """Table, model (a copy to learn on), groups, truths and how many groups; all checked."""
        X = self._table(X, reset=self._model is None, learning=True)
        groups, count = read_groups(qid, X.shape[0])
        truth = self._read_truth(y, groups, count)
        model = self._new_model(X.shape[1], fitting=fitting) if self._model is None else self._model.copy()
        self._form().check_start(model)
        self._fit_in(model, X)
        self._refresh(model, fitting=fitting)
        self._model = model
        bad = first_not_finite(self._rows(X), X.shape[0])
        if bad < X.shape[0]:
            raise self._bad_row(X, bad)
        return X, cast(PairedModel, model), groups, truth, count

    def _pass_often(
        self, X: Table, model: PairedModel, groups: np.ndarray, truth: np.ndarray, count: int
    ) -> None:
        generator = generator_of(self, 3)

        def order() -> np.ndarray:
            return generator.permutation(count) if getattr(self, "shuffle", True) else np.arange(count)

        def play(order: np.ndarray, show: Callable[[int, Sums], None]) -> Sums:
            sums = self._pass(X, model, groups, truth, order)
            show(count, sums)
            return sums

        self.n_iter_ = run_passes(count, self._stopping(), order, play)

    def _pass(
        self, X: Table, model: PairedModel, groups: np.ndarray, truth: np.ndarray, order: np.ndarray
    ) -> Sums:
        """All groups once."""
        (members, starts), better = self._rounds(groups, truth, order, model)
        rows, sums = self._rows(X), Sums()
        lines = better.astype(np.int64)
        with model.given(Given(members, starts, SIDES, NONE, lines)):
            for first in range(0, len(starts) - 1, STRETCH):
                count = min(STRETCH, len(starts) - 1 - first)
                heads = starts[first : first + count]
                examples = Examples(rows, lines[heads] - 0.5, NONE, NONE, members[heads])
                before = model.clock
                sums.add(model.learn(examples, first, count), before)
        return sums

    # ---- answers

    @answers
    def decision_function(self, X: object) -> np.ndarray:
        """The score of every row, by the average where one is kept."""
        return np.asarray(self._scores(X)[:, 0])


def read_groups(qid: object, rows: int) -> tuple[np.ndarray, int]:
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


def weights_of_groups(weights: object, groups: np.ndarray) -> np.ndarray:
    """What each group weighs: the mean over its rows."""
    each = np.bincount(groups, checked_weights(weights, len(groups))) / np.bincount(groups)
    if not each.any():
        raise BadInput("sample_weight is zero everywhere; wanted at least one weight above 0")
    return np.asarray(each)


def no_rounds() -> tuple[Rounds, np.ndarray]:
    """A pass without a round."""
    return (np.zeros(0, np.int64), np.zeros(1, np.int64)), np.zeros(0, bool)
