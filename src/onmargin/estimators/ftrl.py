"""Follow the regularised leader: any loss x any regulariser x any step."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy import special
from sklearn.utils.metaestimators import available_if

from ..compiled.parts import plain as plain_python
from ..errors import BadInput, shown
from ..interface.classifier import Classifier
from ..interface.guard import answers
from ..interface.learner import Learner
from ..interface.parameters.fields import (
    Averaged,
    Horizon,
    Labelled,
    Linear,
    above_zero,
    flag,
    from_zero,
    group,
    learner,
    one_of,
    plain,
)
from ..interface.parameters.fixed import CLASSES, Rule, chosen
from ..interface.regressor import Regressor
from ..models.table import LOSSES, STEPS
from ..models.weights import Model, Numbers

ALIASES = {"log_loss": "logistic", "squared_error": "squared"}
REGULARIZERS = ("l2", "pnorm", "group", "entropic", "adagrad", "coin")
OF_LABELS = ("perceptron", "hinge", "squared_hinge", "logistic", "exponential", "squared")
OF_NUMBERS = ("epsilon_insensitive", "squared")
NOT_SPARSE = "the average of sparse weights is not sparse: set l1=0 or average=False"


def between_1_and_2(value: float) -> bool:
    """Is it an exponent of a p-norm?"""
    return 1 < value <= 2


@group
class Regularisation:
    """The regulariser, the step, and the numbers they read."""

    regularizer: str = one_of("auto", *REGULARIZERS, default="auto", listed=True, lasting=True)
    step: str = one_of(*STEPS, default="constant", listed=True)
    rate: float | str = above_zero(default="auto", auto=True)
    C: float = above_zero(default=1.0, inf=True)
    p: float | None = above_zero(
        default=None,
        none=True,
        lasting=True,
        also=between_1_and_2,
        wanted="a number above 1, and at most 2",
    )
    groups: object = plain(default=None, lasting=True)
    l1: float = from_zero(default=0.0, lasting=True)
    radius: float = above_zero(default=1.0, lasting=True)
    signed: bool = flag(default=True, lasting=True)
    adagrad_delta: float | str = above_zero(default="auto", lasting=True, auto=True)
    coin_epsilon: float = above_zero(default=1.0, lasting=True)


# In streams AdaGrad's first steps are as long as the first row says, in `fit` later passes mend them.
RATE = Rule(lambda length: 1.0, lambda length: 1.0 / length, before=1.0)
OFFSET = Rule(lambda length: 1.0, lambda length: 1e-6, before=1.0)


class FTRL(Learner):
    """What a regulariser and a step make of the parameters, for classes and for numbers."""

    loss: str
    epsilon: float = 0.0
    regularizer: str
    step: str
    rate: float | str
    C: float
    p: float | None
    groups: Any
    l1: float
    radius: float
    signed: bool
    adagrad_delta: float | str
    coin_epsilon: float
    _allowed: tuple[str, ...]

    @property
    def _loss_name(self) -> str:
        return ALIASES.get(self.loss, self.loss)

    @property
    def regularizer_(self) -> str:
        """The regulariser as it is used: "auto" is "adagrad", and "l2" for what only that can do."""
        if self.regularizer != "auto":
            return self.regularizer
        plain_steps = str(self.step).startswith("pa") or getattr(self, "horizon", None) is not None
        return "l2" if plain_steps else "adagrad"

    @property
    def rate_(self) -> float:
        """The rate as it is used."""
        self._fitted()
        return chosen(self, "rate")

    @property
    def _space_name(self) -> str:
        if self.l1 > 0:
            return "soft"
        return "simplex" if self.regularizer_ == "entropic" and not self.signed else self.regularizer_

    @property
    def _averages_fits(self) -> bool:
        """The mean of sparse weights is not sparse; that of norms that bind all weights costs O(d) a move."""
        return super()._averages_fits and self._space_name in ("l2", "adagrad", "coin")

    @property
    def _has_blank(self) -> bool:
        return self._space_name != "simplex"  # there a weight at its start is not 0

    # ---- checks

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if self._loss_name not in self._allowed:
            kinds = "classes" if self._allowed is OF_LABELS else "numbers"
            wanted = ", ".join(map(repr, self._allowed))
            raise BadInput(f"loss={shown(self.loss)}; wanted one of {wanted} for {kinds}")
        if getattr(self, "horizon", None) is not None and (self.regularizer_ != "l2" or self.l1):
            raise BadInput("horizon= multiplies weights; it is for regularizer='l2' without l1")
        self._check_together()

    def _check_lasting(self) -> None:
        super()._check_lasting()
        if self._model is not None and self._model.row.words()["space"] != self._table_row().words()["space"]:
            raise BadInput(
                f"with step={self.step!r} and horizon={getattr(self, 'horizon', None)!r} regularizer='auto' "
                "is another than learning began with; set them back, or fit anew"
            )

    def _check_together(self) -> None:
        """Refuse parts that do not fit."""
        aggressive = self.step.startswith("pa")
        if aggressive and (self.regularizer_ != "l2" or self.l1 > 0):
            raise BadInput(
                f"step={self.step!r} measures in Euclidean length and leaves no room for a threshold; use "
                "regularizer='l2' with l1=0, or step='constant'"
            )
        if aggressive and self._loss_name == "perceptron":
            raise BadInput(
                f"loss='perceptron' with step={self.step!r} never leaves 0, where its loss is 0; use 'hinge'"
            )
        if self.l1 > 0 and self.regularizer_ not in ("l2", "adagrad"):
            raise BadInput(
                f"l1= cuts coordinates one by one; regularizer={self.regularizer_!r} binds them; use "
                "'l2' or 'adagrad'"
            )
        if self.l1 > 0 and self._averages:
            raise BadInput(NOT_SPARSE)
        labels = getattr(self, "_labels", None)
        if self._space_name == "simplex" and labels is not None and len(labels.known) < 2 and not labels.sets:
            raise BadInput("signed=False has weights of one sign; announce the classes (classes=) first")
        if self.groups is not None and self.regularizer_ != "group":
            raise BadInput(f"groups= is for regularizer='group'; got {self.regularizer_!r}; leave it out")
        if self.groups is not None and np.ndim(self.groups) != 1:
            raise BadInput(f"groups has {np.ndim(self.groups)} dimensions; wanted a number per column")

    # ---- the row and its numbers

    def row(self, problem: str) -> str:
        """ftrl_l2.binary:hinge:constant, ..."""
        step = "constant" if self.regularizer_ == "coin" or self.step == "unit" else self.step
        return f"ftrl_{self._space_name}.{problem}:{self._loss_name}:{step}"

    def _wants(self) -> tuple[str, ...]:
        if self.regularizer_ == "group":
            return ("norms",) if self.groups is None else ("norms", "groups")
        return ("adagrad",) if self.l1 > 0 and self.regularizer_ == "adagrad" else ()

    @property
    def p_(self) -> float:
        """p of the p-norm and group norm: given, or from the number of coordinates at the start."""
        numbers = self._fitted().numbers
        if "q" not in numbers:
            raise AttributeError(f"p_ is of regularizer='pnorm' and 'group', not of {self.regularizer_!r}")
        q = float(numbers["q"])
        return q / (q - 1)

    def _dual_exponent(self) -> float:
        """q: given by p, kept from the start, or max(2, 2 ln d) for d coordinates."""
        if self.p is not None:
            return float(self.p) / (float(self.p) - 1) if self.p < 2 else 2.0
        if self._model is not None and self._model.clock:
            return float(self._model.numbers["q"])
        outputs, _ = self._targets().outputs()
        many = self._columns.known if self.groups is None else len(set(np.asarray(self.groups).tolist()))
        across = 1 if self.regularizer_ == "group" else outputs
        return max(2.0, 2 * math.log(max((many + bool(self.fit_intercept)) * across, 1)))

    def numbers(self) -> Numbers:
        """The rate and its decay, C, the threshold, what the regulariser reads."""
        free = self.regularizer_ == "coin" or self.step == "unit"
        numbers: Numbers = {
            "C": self.C, "rate": 1.0 if free else chosen(self, "rate"), "l1": self.l1,
            "decay": 0.5 if self.step == "sqrt" and not self.regularizer_ == "coin" else 0.0,
            "epsilon": self.epsilon if self._loss_name == "epsilon_insensitive" else 0.0,
        }  # fmt: skip
        if self.regularizer_ in ("pnorm", "group"):
            q = self._dual_exponent()
            numbers |= {"q": q, "scale": 1.0 / (q - 1.0)}
        elif self.regularizer_ == "entropic":
            numbers["scale"] = self.radius
        elif self.regularizer_ in ("adagrad", "coin"):
            offset = chosen(self, "adagrad_delta") if self.regularizer_ == "adagrad" else self.coin_epsilon
            numbers["delta"] = offset
        return numbers

    # ---- where it starts, how it grows

    def _begin(self, model: Model, known: int) -> None:
        if self.regularizer_ == "group" and self.groups is not None:
            groups, width = np.asarray(self.groups), self._columns.width
            if groups.shape != (width,) or self._columns.by_name:
                raise BadInput(
                    f"groups has shape {groups.shape}; wanted ({width},), a number per column of an array"
                )
            model.set_groups(np.unique(groups, return_inverse=True)[1])

    def _widen(self, model: Model, slots: int) -> None:
        if self.regularizer_ == "group" and self.groups is not None and slots > len(self.groups):
            raise BadInput(f"groups= has {len(self.groups)} columns and a new feature came; set groups=None")
        super()._widen(model, slots)

    def _fix_first(self, model: Model) -> None:
        """Dicts: the first example says how many features there are."""
        model.choose(model.row, self._all_numbers())

    def _start_from(self, model: Model, coef: object, intercept: object) -> None:
        if (coef is not None or intercept is not None) and self._space_name != "l2":
            raise BadInput(
                f"regularizer={self.regularizer_!r} starts where it must; leave coef_init out, or set "
                "regularizer='l2'"
            )
        super()._start_from(model, coef, intercept)

    def _loss_values(self, margins: np.ndarray, required: float) -> np.ndarray:
        loss = plain_python(LOSSES[self._loss_name])
        return np.array([loss(float(margin), required)[0] for margin in margins])


EACH_REGULARIZER = tuple({"regularizer": name} for name in REGULARIZERS)  # to compile ahead with


@learner
class FTRLClassifier(FTRL, Classifier, Linear, Averaged, Labelled, Horizon, Regularisation):
    """theta -= eta z, w = grad g*(theta): any loss x any regulariser x any step.

    z is the gradient of the loss at w. Several classes: the loss of the true class's margin over its
    best rival; label sets: of the lowest relevant label's over the highest irrelevant one.

    Parameters
    ----------
    loss : "perceptron", "hinge", "squared_hinge", "logistic", "exponential" or "squared".
    regularizer : "l2"; "pnorm" (|w|_p^2 / 2a, a = p - 1); "group" (the same over groups of columns,
        a row of all classes' weights each); "entropic" (exponentiated gradient); "adagrad" (dual
        averaging); "coin" (no rate to choose; gradients over the largest so far); "auto": "adagrad", but
        "l2" with a PA step or a `horizon` (`regularizer_`).
    step : "constant" (`rate`), "sqrt" (rate / sqrt(t)), "unit" (1), or "pa", "pa1", "pa2" (`C`; l2 only:
        the step that meets the loss's tangent).
    p : of "pnorm" and "group", above 1 and at most 2; None: q = max(2, 2 ln d).
    groups : "group": a number per column; None: every column is a group. The intercept is its own.
    l1 : soft threshold of "l2" and "adagrad" (dual averaging), times the sum of the rates.
    radius, signed : "entropic": |w|_1 <= radius with signs (EG+-), or the simplex of that size.
    adagrad_delta, coin_epsilon : AdaGrad's offset; coin betting's first wealth.
    rate, adagrad_delta : numbers, or "auto": 1; but where the regulariser is left to us too, classifiers
        begin a stream with 1 / |first row| and 1e-6 (`rate_`).

    Cost O(nonzeros) a round; with `average`, "pnorm", "group" and "entropic" cost O(d) an update.
    `sample_weight` multiplies the gradient (PA steps: C). With dicts the entropic regulariser lives
    on the features met so far, and p=None counts those of the first example. A third class met in
    mid-stream changes the decisions of "entropic" and of `l1`; announce all `classes`.

    References: Shalev-Shwartz 2007; Orabona, Crammer & Cesa-Bianchi 2015; Orabona & Pal 2016.

    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import scale
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = FTRLClassifier(loss="logistic", regularizer="coin", tol=None, random_state=0)
    >>> model = model.fit(scale(X), y)
    >>> model.score(scale(X), y) > 0.95
    True
    """

    loss: str = plain(default="hinge")

    _allowed = OF_LABELS

    @property
    def _by_length(self) -> Mapping[str, Rule]:
        adaptive = self.regularizer == "auto" and self.regularizer_ == "adagrad"
        return {"intercept_scaling": CLASSES} | ({"rate": RATE, "adagrad_delta": OFFSET} if adaptive else {})

    variants = EACH_REGULARIZER

    def _check_probabilities(self) -> bool:
        labels = self._labels
        several = labels is not None and (labels.sets or len(labels.known) > 2)
        if self._loss_name != "logistic" or several:
            raise AttributeError("predict_proba is there for loss='logistic' and two classes")
        return True

    @available_if(_check_probabilities)  # type: ignore[untyped-decorator]
    @answers
    def predict_proba(self, X: object) -> np.ndarray:
        """1 / (1 + e^-s) for `classes_[1]`; two classes and the logistic loss only."""
        positive = special.expit(self.decision_function(X))
        return np.asarray(np.c_[1 - positive, positive])


@learner
class FTRLRegressor(FTRL, Regressor, Linear, Averaged, Horizon, Regularisation):
    """`FTRLClassifier`'s recipe for numbers: theta -= eta z, w = grad g*(theta).

    Parameters
    ----------
    loss : "epsilon_insensitive", [|y - s| - epsilon]_+, or "squared", (y - s)^2 / 2.
    epsilon : errors up to here cost nothing (the first loss only).

    All others as for `FTRLClassifier`.

    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.preprocessing import scale
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = FTRLRegressor(regularizer="coin", average=True, random_state=0).fit(scale(X), scale(y))
    >>> model.score(scale(X), scale(y)) > 0.4
    True
    """

    loss: str = plain(default="epsilon_insensitive")
    epsilon: float = from_zero(default=0.1)

    _allowed = OF_NUMBERS

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.regressor_tags.poor_score = True  # a constant rate of 1 is for rows of length 1
        return tags

    def _losses_of(self, scores: np.ndarray, y: object) -> np.ndarray:
        required = -float(self.epsilon) if self._loss_name == "epsilon_insensitive" else 0.0
        return self._loss_values(-np.abs(scores[:, 0] - y), required)
