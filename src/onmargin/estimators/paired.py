"""Learning from one example of each class at a time."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from ..compiled.checks import first_not_finite
from ..errors import BadInput, require_whole
from ..learn.spaces.arrays import Start
from ..models.paired import Paired, PairedModel
from ..models.paired_kernel import PairedKernel
from ..models.pairing import Given
from ..models.weights import Model
from .classifier import LinearClassifier, _dense
from .explain import frame_of
from .gambling import Gambler
from .lessons import Lesson, blocks
from .paired_rows import all_pairs, checked_rounds, random_rounds, seen_rounds
from .paired_stream import PairedStream
from .support import Support

RULES = ("correct_mistakes", "dca", "sequential", "auc", "max_violators")
SAMPLERS = ("reservoir", "recent", "pairs")
MOST = 10_000_000  # examples of a class that are kept


class PairedClassifier(Gambler, Support, LinearClassifier):
    """Passive-Aggressive rounds of one example per class, so that a rare class counts as a common one.

    min 1/2 |w - w_t|^2 + C sum_j c_j slack_j  s.t.  y_j <w, x_j> >= margin - slack_j, over the examples j of
    a round: the one that has come and one of every other class, drawn from what the stream has left in
    their reservoirs. Several classes, and the labels of a set, have a row of weights each, whose round has
    weights of 1 / (number of examples) on either side.

    Parameters
    ----------
    rule : "correct_mistakes" (one joint step on all whose loss is above 0), "dca" (the exact solution),
        "sequential" (one example after the other), "max_violators" (the worst of each side), "auc" (the
        difference of the sides, whose scores are to lie 2 apart: it orders the classes, and `threshold_`
        follows the middle between them).
    C : the longest step; small for noisy labels.
    margin : None is 1, and 2 for "auc" (1 is Keshet et al.'s form).
    reservoir : how many examples of each class are kept.
    sampler : "reservoir" (every example of the past is as likely), "recent" (the last ones), "pairs" (`fit`
        draws from the whole table; streams keep a reservoir).
    kernel, gamma, degree, coef0 : the kernel form; see `om.kernels`.

    Draws come from `random_state`, or from `chance=` of `om.progressive`: a uniform a round, from which all
    draws of that round follow. `sample_weight` multiplies c_j.

    Reference: Keshet et al. (draft); Crammer et al. 2006; Vitter 1985 (reservoirs).

    >>> import numpy as np
    >>> from sklearn.metrics import balanced_accuracy_score
    >>> rng = np.random.default_rng(0)
    >>> y = np.where(rng.random(3000) < 0.02, 1, -1)
    >>> X = rng.normal(0.5 + 0.35 * y[:, None], 1.0, (3000, 10))
    >>> model = PairedClassifier(C=0.01, average=True, random_state=0).fit(X, y)
    >>> bool(balanced_accuracy_score(y, model.predict(X)) > 0.8)
    True
    """

    class_weight = None  # rounds are balanced by themselves
    budget = None
    _may_be_none = ("margin",)
    _has_lanes = False
    _bars = "zero"
    _apart = True

    def __init__(
        self, *, rule: str = "correct_mistakes", C: float = 1.0, margin: float | None = None,
        reservoir: int = 100, sampler: str = "reservoir", fit_intercept: bool = True,
        intercept_scaling: float = 1.0, average: bool = False, max_iter: int = 20,
        tol: float | None = 1e-3, n_iter_no_change: int = 2, shuffle: bool = True,
        random_state: Any = None, classes: Any = None, warm_start: bool = False, verbose: int = 0,
        dtype: str | None = None, growing: bool = False, kernel: Any = None, gamma: Any = "scale",
        degree: int = 3, coef0: float = 0.0,
    ) -> None:  # fmt: skip
        self.rule, self.C, self.margin, self.reservoir, self.sampler = rule, C, margin, reservoir, sampler
        self.fit_intercept, self.intercept_scaling = fit_intercept, intercept_scaling
        self.average, self.max_iter, self.tol = average, max_iter, tol
        self.n_iter_no_change, self.shuffle, self.random_state = n_iter_no_change, shuffle, random_state
        self.classes, self.warm_start, self.verbose = classes, warm_start, verbose
        self.dtype, self.growing = dtype, growing
        self.kernel, self.gamma, self.degree, self.coef0 = kernel, gamma, degree, coef0

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if self.rule not in RULES:
            raise BadInput(f"rule={self.rule!r}; wanted one of {', '.join(map(repr, RULES))}")
        if self.sampler not in SAMPLERS:
            raise BadInput(f"sampler={self.sampler!r}; wanted one of {', '.join(map(repr, SAMPLERS))}")
        require_whole("reservoir", self.reservoir)
        if self.reservoir > MOST:
            raise BadInput(f"reservoir={self.reservoir!r}; wanted at most {MOST:,} examples of each class")

    # ---- the model

    def _recipe_name(self) -> str:
        return f"pa1.{self._problem()}"  # for its Space and its answers

    def _required(self) -> float:
        return float(self.margin) if self.margin is not None else 2.0 if self.rule == "auc" else 1.0

    def _choices(self) -> dict[str, Any]:
        chosen = {"C": self.C, "margin": self._required(), "rule": self.rule, "sampler": self.sampler}
        return chosen | {"reservoir": int(self.reservoir), "sets": self._sets()}

    def _made_model(self, start: Start) -> Model:
        if self._in_kernel:
            return super()._made_model(start)
        return PairedModel(self._recipe(), start, self._all_choices())

    def _model_kind(self) -> Any:
        return PairedKernel

    def _new_stream(self, model: Model, slots: Any) -> Any:
        if isinstance(model, PairedModel):
            return PairedStream(self, model, slots)
        return super()._new_stream(model, slots)

    def _rows(self, X: Any) -> Any:
        """Arrays row by row, as those that are kept."""
        return super()._rows(X if sp.issparse(X) else np.ascontiguousarray(X))

    def _paired(self) -> Paired:
        model = self._fitted()
        assert isinstance(model, Paired)
        return model

    @property
    def _is_stochastic(self) -> bool:
        return True

    # ---- learning

    def fit(  # type: ignore[override]
        self, X: Any, y: Any, rounds: Any = None, coef_init: Any = None, intercept_init: Any = None,
        sample_weight: Any = None,
    ) -> Any:  # fmt: skip
        """Learn from scratch in at most `max_iter` passes (`warm_start`: go on from here).

        rounds : None (as `sampler` says), or row numbers, one round per line (an array, or lists of any
            lengths), gone over in this order; "all": every pair of a positive and a negative row.
        """
        self._asked = rounds
        try:
            return self._fit(X, y, coef_init, intercept_init, sample_weight)
        finally:
            del self._asked

    def _run_passes(self, X: Any, model: Model, lesson: Lesson) -> None:
        asked: Any = self.__dict__.get("_asked")
        assert isinstance(model, Paired)
        if asked is None and self.sampler != "pairs":
            super()._run_passes(X, model, lesson)
            return
        bad = first_not_finite(lesson.rows, lesson.count)  # also rows that no round may have
        if bad < lesson.count:
            raise self._not_finite(X, bad)
        marks = self._marks(model, lesson)
        if isinstance(asked, str):
            asked = all_pairs(asked, marks, model.pairing.sets)
        self._planned = None
        if asked is not None:
            self._planned = seen_rounds(checked_rounds(asked, lesson.count), lesson.weights)
        self._all_marks = marks, lesson.weights
        try:
            super()._run_passes(X, model, lesson)
        finally:
            model.pairing.given = None
            del self._planned, self._all_marks
        self._leave_behind(model, lesson)

    def _row_order(self, generator: np.random.Generator, count: int, model: Model) -> np.ndarray:
        """Of rounds that are known in advance, the first member of each."""
        if "_all_marks" not in self.__dict__:
            return super()._row_order(generator, count, model)
        assert isinstance(model, Paired)
        marks, weights = self._all_marks
        members, starts = self._planned or random_rounds(generator, marks, weights, model.pairing.sets)
        model.pairing.given = Given(members, starts, marks, weights, members)
        return np.asarray(members[starts[:-1]])

    def _marks(self, model: Paired, lesson: Lesson) -> np.ndarray:
        """Of all rows: 1 for the labels each has."""
        labels = self._labels
        assert labels is not None
        parts = [
            model.pairing.marks_of(_dense(some) if labels.sets else labels.targets(labels.codes(some)))
            for some in (block.take(lesson.y) for block in blocks(lesson.count))
        ]
        return np.concatenate(parts)

    def _leave_behind(self, model: Paired, lesson: Lesson) -> None:
        """Reservoirs of the table's rows, for a stream that goes on from here."""
        luck = self._generator(7).random(lesson.count)
        cut = self._cutter(model, lesson, True)
        for block in blocks(lesson.count):
            for part, targets, weights in cut(block):
                model.remember(lesson.rows, part.first, part.count, targets, weights, part.take(luck))

    # ---- answers

    @property
    def threshold_(self) -> Any:
        """rule="auc": the running middle between the sides' scores, one per output; otherwise 0."""
        middles = self._paired().middles()
        return float(middles[0]) if len(middles) == 1 else middles.copy()

    @property
    def intercept_(self) -> np.ndarray:
        """What every score has added: the constant coordinate's share, less the thresholds."""
        return np.asarray(super().intercept_ - self._paired().middles())

    def explain(self, x: Any, k: int | None = None) -> Any:
        """What each feature (or support vector) adds to each score, and the threshold takes away."""
        found = super().explain(x, k)
        if not self._in_kernel or self.rule != "auc":
            return found
        lines = [
            (label, -1, float("nan"), float("nan"), -float(middle))
            for label, middle in zip(self._output_names(), self._paired().middles(), strict=True)
        ]
        return frame_of([*found.itertuples(index=False, name=None), *lines], list(found.columns))

    def _losses_of(self, scores: np.ndarray, y: Any) -> np.ndarray:
        if self.rule == "auc":
            raise BadInput("rule='auc' has losses of pairs, which a comparator's scores do not show")
        return super()._losses_of(scores, y)
