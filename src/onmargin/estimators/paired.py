"""Learning from one example of each class at a time."""

from __future__ import annotations

from typing import Any, NamedTuple, Self, cast

import numpy as np
import scipy.sparse as sp

from ..compiled.checks import first_not_finite
from ..compiled.rows import Rows
from ..errors import BadInput, shown
from ..interface.classifier import Classifier
from ..interface.dicts.in_place import PairedStream
from ..interface.groups import Rounds
from ..interface.guard import answers, changes
from ..interface.parameters.draws import generator_of
from ..interface.parameters.fields import (
    Averaged,
    Classes,
    KernelParameters,
    Linear,
    above_zero,
    from_zero,
    is_auto,
    learner,
    one_of,
    precision,
    whole,
)
from ..interface.parameters.fixed import Rule, chosen
from ..interface.runs.comparing import Compared
from ..interface.runs.passes import TrainingSet, blocks
from ..interface.runs.rounds import all_pairs, checked_rounds, random_rounds, seen_rounds
from ..interface.support import KernelForm
from ..interface.tables import Table, dense
from ..interface.weights import frame_of
from ..models.kernel.model import KernelModel
from ..models.paired.kernel_model import PairedKernel
from ..models.paired.model import Paired, PairedModel
from ..models.paired.pairing import LONGER, MANY, RIVALS, Given
from ..models.weights import Model, Numbers

RULES = ("correct_mistakes", "dca", "sequential", "auc", "max_violators")
MOST = 10_000_000  # examples of a class that are kept


class Planned(NamedTuple):
    """Rounds of a fit that are known in advance, or drawn anew each pass (None)."""

    rounds: Rounds | None
    marks: np.ndarray  # of all rows: 1 for the labels each has
    weights: np.ndarray


def short(length: float) -> float:
    """C by the length of a row: a tenth of the step that would meet a margin of 1."""
    return 0.1 / length / length


SHORT_STEPS = Rule(short, short, before=1.0)


@learner
class PairedClassifier(KernelForm, Classifier, Linear, Averaged, Classes, KernelParameters):
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
    C : the longest step; small for noisy labels. "auto" (`C_`): 0.1 / |x|^2 of the median row in `fit`, of
        the first row in streams; four times that in rounds of rivals, for a class is in few of them.
    margin : None is 1, and 2 for "auc" (1 is Keshet et al.'s form).
    reservoir : how many examples of each class are kept.
    sampler : "reservoir" (every example of the past is as likely), "recent" (the last ones), "pairs" (`fit`
        draws from the whole table; streams keep a reservoir).
    rivals : of how many other classes a round has an example: those that the one that has come scores highest
        in and does not have, as far as it is within their margin; classes outside the round do not move.
        None: of every other class. "auto": 4 where there are more than 10 classes, otherwise None. (It
        counts where reservoirs are drawn from.)
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

    rule: str = one_of(*RULES, default=RULES[0], listed=True)
    C: float | str = above_zero(default="auto", inf=True, auto=True)
    margin: float | None = from_zero(default=None, none=True)
    reservoir: int = whole(default=1000, lasting=True)
    sampler: str = one_of("reservoir", "recent", "pairs", default="reservoir", listed=True, lasting=True)
    rivals: int | str | None = whole(default="auto", none=True, auto=True)
    dtype: str | None = precision(default=None)

    variants = ({}, {"kernel": "rbf"})
    class_weight = None  # rounds are balanced by themselves
    budget = None
    _has_lanes = False
    _draws = True
    _stream_kind = PairedStream
    _linear_model = PairedModel
    _rules = {"C": SHORT_STEPS}  # noqa: RUF012 (the constant coordinate cancels: its value is 1)

    @property
    def C_(self) -> float:  # noqa: N802 (as scikit-learn names what was found)
        """C as it is used (1 until a row has fixed it)."""
        return cast(Paired, self._fitted()).longest_step

    @property
    def _one_against_all(self) -> bool:
        return True

    @property
    def _set_rule(self) -> str:
        return "zero"

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if self.reservoir > MOST:
            raise BadInput(
                f"reservoir={shown(self.reservoir)}; wanted at most {MOST:,} examples of each class"
            )

    # ---- the model

    def row(self, problem: str) -> str:
        """For its Space and its answers."""
        return f"pa1.{problem}"

    def _required(self) -> float:
        return float(self.margin) if self.margin is not None else 2.0 if self.rule == "auc" else 1.0

    def numbers(self) -> Numbers:
        """C, the margin, the rule, the reservoirs."""
        taken = {
            "C": chosen(self, "C"),
            "margin": self._required(),
            "rule": self.rule,
            "sampler": self.sampler,
        }
        auto = is_auto(self.rivals)
        taken |= {"rivals": RIVALS if auto else int(self.rivals or 0), "many": MANY if auto else 0}
        taken["longer"] = LONGER if is_auto(self.C) and self.sampler != "pairs" else 1.0
        return taken | {"reservoir": int(self.reservoir), "sets": self._targets().sets}

    def _model_kind(self) -> type[KernelModel]:
        return PairedKernel

    def _rows(self, X: Table) -> Rows:
        """Arrays row by row, as those that are kept."""
        return super()._rows(X if sp.issparse(X) else np.ascontiguousarray(X))

    @property
    def _is_stochastic(self) -> bool:
        return True

    # ---- learning

    def fit(  # type: ignore[override]
        self, X: object, y: object, rounds: object = None, coef_init: object = None,
        intercept_init: object = None, sample_weight: object = None,
    ) -> Self:  # fmt: skip
        """Learn from scratch in at most `max_iter` passes (`warm_start`: go on from here).

        rounds : None (as `sampler` says), or row numbers, one round per line (an array, or lists of any
            lengths), gone over in this order; "all": every pair of a positive and a negative row.
        """
        return self._fit_rounds(X, y, rounds, coef_init, intercept_init, sample_weight)

    @changes
    def _fit_rounds(self, X: object, y: object, rounds: object, *more: object) -> Self:
        self._asked = rounds
        self._fit(X, y, *more)
        del self._asked
        return self

    def _run_passes(self, X: Table, model: Model, data: TrainingSet) -> None:
        asked = self.__dict__.get("_asked")  # the rounds that a fit was given
        if asked is None and self.sampler != "pairs":
            super()._run_passes(X, model, data)
            return
        bad = first_not_finite(data.rows, data.size)  # also rows that no round may have
        if bad < data.size:
            raise self._bad_row(X, bad)
        paired = cast(Paired, model)
        marks = self._marks(paired, data)
        if isinstance(asked, str):
            asked = all_pairs(asked, marks, paired.pairing.sets)
        planned = None
        if asked is not None:
            planned = seen_rounds(checked_rounds(asked, data.size), data.weights)
        self._plan = Planned(planned, marks, data.weights)
        try:
            super()._run_passes(X, model, data)
        finally:
            paired.pairing.given = None
            del self._plan
        self._leave_behind(paired, data)

    def _row_order(self, generator: np.random.Generator, count: int, model: Model) -> np.ndarray:
        """Of rounds that are known in advance, the first member of each."""
        if "_plan" not in self.__dict__:
            return super()._row_order(generator, count, model)
        rounds, marks, weights = self._plan
        pairing = cast(Paired, model).pairing
        members, starts = rounds or random_rounds(generator, marks, weights, pairing.sets)
        pairing.given = Given(members, starts, marks, weights, members)
        return np.asarray(members[starts[:-1]])

    def _marks(self, model: Paired, data: TrainingSet) -> np.ndarray:
        """Of all rows: 1 for the labels each has."""
        labels = self._targets().labels
        parts = [
            model.pairing.marks_of(dense(some) if labels.sets else labels.targets(labels.codes(some)))
            for some in (block.take(data.y) for block in blocks(data.size))
        ]
        return np.concatenate(parts)

    def _leave_behind(self, model: Paired, data: TrainingSet) -> None:
        """Reservoirs of the table's rows, for a stream that goes on from here."""
        luck = generator_of(self, 7).random(data.size)
        cut = self._targets().cutter(model, data, True)
        for block in blocks(data.size):
            for part, targets, weights in cut(block):
                model.remember(data.rows, part.first, part.size, targets, weights, part.take(luck))

    # ---- answers

    @property
    @answers
    def threshold_(self) -> Any:
        """rule="auc": the running middle between the sides' scores, one per output; otherwise 0."""
        middles = self._fitted().thresholds
        return float(middles[0]) if len(middles) == 1 else middles.copy()

    @property
    @answers
    def intercept_(self) -> np.ndarray:
        """What every score has added: the constant coordinate's share, less the thresholds."""
        return np.asarray(super().intercept_ - self._fitted().thresholds)

    @answers
    def explain(self, x: object, k: int | None = None, feature_names: object = None) -> Any:
        """What each feature (or support vector) adds to each score, and the threshold takes away."""
        found = super().explain(x, k, feature_names)
        if not self._in_kernel or self.rule != "auc":
            return found
        names, middles = self._targets().output_names(), self._fitted().thresholds
        lines = [
            (label, -1, float("nan"), float("nan"), -float(middle))
            for label, middle in zip(names, middles, strict=True)
        ]
        return frame_of([*found.itertuples(index=False, name=None), *lines], list(found.columns))

    def _compared(self, X: Table, y: object, comparator: object) -> Compared:
        """Another hypothesis beside a run's rows; its losses are those of single examples, for "auc" too."""
        judge = super()._losses_of
        return self._form().compared(X, comparator, lambda scores: judge(scores, y))

    def _losses_of(self, scores: np.ndarray, y: object) -> np.ndarray:
        if self.rule == "auc":
            raise BadInput("rule='auc' has losses of pairs, which a comparator's scores do not show")
        return super()._losses_of(scores, y)
