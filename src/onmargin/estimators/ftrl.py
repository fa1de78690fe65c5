"""Follow the regularised leader: any loss x any regulariser x any step."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy.special import expit
from sklearn.utils.metaestimators import available_if

from ..compiled.parts import plain
from ..errors import BadInput
from ..learn.algorithms import LOSSES, STEPS
from ..learn.model import Model
from .classifier import LinearClassifier
from .parameters import require_positive
from .regressor import LinearRegressor

ALIASES = {"log_loss": "logistic", "squared_error": "squared"}
NAMES = ("l2", "pnorm", "group", "entropic", "adagrad", "coin")
OF_LABELS = ("perceptron", "hinge", "squared_hinge", "logistic", "exponential", "squared")
OF_NUMBERS = ("epsilon_insensitive", "squared")


NOT_SPARSE = "the average of sparse weights is not sparse: set l1=0 or average=False"


def check_p(p: Any) -> None:
    """Above 1 and at most 2, or None."""
    if p is not None:
        require_positive("p", p, False, False)
        if not 1 < p <= 2:
            raise BadInput(f"p={p!r}; wanted a number above 1, and at most 2")


class Regularized:
    """What a regulariser and a step make of the parameters, for classes and for numbers."""

    _allowed: tuple[str, ...]
    _kinds: str

    @property
    def _loss_name(self) -> str:
        loss: str = self.loss  # type: ignore[attr-defined]
        return ALIASES.get(loss, loss)

    @property
    def _space_name(self) -> str:
        me: Any = self
        if me.l1 > 0:
            return "soft"
        return "simplex" if me.regularizer == "entropic" and not me.signed else me.regularizer

    def _check_parameters(self) -> None:
        super()._check_parameters()  # type: ignore[misc]
        me: Any = self
        for name in ("radius", "adagrad_delta", "coin_epsilon"):
            require_positive(name, getattr(self, name), False, False)
        require_positive("l1", me.l1, True, False)
        check_p(me.p)
        if self._loss_name not in self._allowed:
            wanted = ", ".join(map(repr, self._allowed))
            raise BadInput(f"loss={me.loss!r}; wanted one of {wanted} for {self._kinds}")
        if me.regularizer not in NAMES:
            raise BadInput(f"regularizer={me.regularizer!r}; wanted one of {', '.join(map(repr, NAMES))}")
        if me.step not in STEPS:
            raise BadInput(f"step={me.step!r}; wanted one of {', '.join(map(repr, STEPS))}")
        self._check_together()

    def _check_together(self) -> None:
        """Refuse parts that do not fit."""
        me: Any = self
        if me.step.startswith("pa") and (me.regularizer != "l2" or me.l1 > 0):
            raise BadInput(
                f"step={me.step!r} measures in Euclidean length and leaves no room for a threshold; use "
                "regularizer='l2' with l1=0, or step='constant'"
            )
        if me.step.startswith("pa") and self._loss_name == "perceptron":
            raise BadInput(
                f"loss='perceptron' with step={me.step!r} never leaves 0, where its loss is 0; use 'hinge'"
            )
        if me.l1 > 0 and me.regularizer not in ("l2", "adagrad"):
            raise BadInput(
                f"l1= cuts coordinates one by one; regularizer={me.regularizer!r} binds them together; use "
                "'l2' or 'adagrad'"
            )
        if me.l1 > 0 and me.average:
            raise BadInput(NOT_SPARSE)
        labels = getattr(self, "_labels", None)
        if self._space_name == "simplex" and labels is not None and len(labels.known) < 2 and not labels.sets:
            raise BadInput("signed=False has weights of one sign; announce the classes (classes=) first")
        if me.groups is not None and me.regularizer != "group":
            raise BadInput(f"groups= is for regularizer='group'; got {me.regularizer!r}; leave it out")

    def _recipe_name(self) -> str:
        me: Any = self
        step = "unit" if me.regularizer == "coin" else me.step
        step = "constant" if step == "unit" else step
        return f"ftrl_{self._space_name}.{me._problem()}:{self._loss_name}:{step}"

    def _wants(self) -> tuple[str, ...]:
        me: Any = self
        if me.regularizer == "group":
            return ("norms",) if me.groups is None else ("norms", "groups")
        return ("adagrad",) if me.l1 > 0 and me.regularizer == "adagrad" else ()

    @property
    def p_(self) -> float:
        """p of the p-norm and group norm: given, or from the number of coordinates at the start."""
        me: Any = self
        q = float(me._fitted().choices["q"])
        return q / (q - 1)

    def _dual_exponent(self) -> float:
        """q: given by p, kept from the start, or max(2, 2 ln d) for d coordinates."""
        me: Any = self
        if me.p is not None:
            return float(me.p) / (float(me.p) - 1) if me.p < 2 else 2.0
        if me._model is not None and me._model.clock:
            return float(me._model.choices["q"])
        outputs, _ = me._outputs()
        known = len(me._slots) if me._by_name and me._slots is not None else me._width
        many = known if me.groups is None else len(set(np.asarray(me.groups).tolist()))
        across = 1 if me.regularizer == "group" else outputs
        return max(2.0, 2 * math.log(max((many + (me._bias != 0)) * across, 1)))

    def _choices(self) -> dict[str, Any]:
        me: Any = self
        free = me.regularizer == "coin" or me.step == "unit"
        choices = {
            "C": me.C, "rate": 1.0 if free else me.rate, "l1": me.l1,
            "decay": 0.5 if me.step == "sqrt" and not me.regularizer == "coin" else 0.0,
            "epsilon": me.epsilon if self._loss_name == "epsilon_insensitive" else 0.0,
        }  # fmt: skip
        if me.regularizer in ("pnorm", "group"):
            q = self._dual_exponent()
            choices |= {"q": q, "scale": 1.0 / (q - 1.0)}
        elif me.regularizer == "entropic":
            choices["scale"] = me.radius
        elif me.regularizer in ("adagrad", "coin"):
            choices["delta"] = me.adagrad_delta if me.regularizer == "adagrad" else me.coin_epsilon
        return choices

    def _begin(self, model: Model, known: int) -> None:
        me: Any = self
        if me.regularizer == "group" and me.groups is not None:
            groups = np.asarray(me.groups)
            if groups.shape != (me._width,) or me._by_name:
                raise BadInput(
                    f"groups has shape {groups.shape}; wanted ({me._width},), a number per column of an array"
                )
            _, numbers = np.unique(groups, return_inverse=True)
            model.space.group[: len(numbers)] = numbers
            model.space.group[-1] = len(model.space.group) - 1

    def _widen(self, model: Model, slots: int) -> None:
        me: Any = self
        if me.regularizer == "group" and me.groups is not None and slots > len(me.groups):
            raise BadInput(f"groups= has {len(me.groups)} columns and a new feature came; set groups=None")
        super()._widen(model, slots)  # type: ignore[misc]

    def _fix(self, model: Model) -> None:
        """Dicts: the first example says how many features there are."""
        model.choose(model.recipe, self._choices())

    @property
    def _has_blank(self) -> bool:
        return self._space_name != "simplex"  # there a weight at its start is not 0

    def _set_weights(self, model: Model, coef: Any, intercept: Any) -> None:
        me: Any = self
        if (coef is not None or intercept is not None) and self._space_name != "l2":
            raise BadInput(f"regularizer={me.regularizer!r} starts where it must; leave coef_init out")
        super()._set_weights(model, coef, intercept)  # type: ignore[misc]

    def _loss_values(self, margins: np.ndarray, required: float) -> np.ndarray:
        loss = plain(LOSSES[self._loss_name])
        return np.array([loss(float(margin), required)[0] for margin in margins])


class FTRLClassifier(Regularized, LinearClassifier):  # type: ignore[override]
    """theta -= eta z, w = grad g*(theta): any loss x any regulariser x any step.

    z is the gradient of the loss at w. Several classes: the loss of the true class's margin over its
    best rival; label sets: of the lowest relevant label's over the highest irrelevant one.

    Parameters
    ----------
    loss : "perceptron", "hinge", "squared_hinge", "logistic", "exponential" or "squared".
    regularizer : "l2"; "pnorm" (|w|_p^2 / 2a, a = p - 1); "group" (the same over groups of columns,
        a row of all classes' weights each); "entropic" (exponentiated gradient); "adagrad" (dual
        averaging); "coin" (no rate to choose; gradients over the largest so far).
    step : "constant" (`rate`), "sqrt" (rate / sqrt(t)), "unit" (1), or "pa", "pa1", "pa2" (`C`; l2 only:
        the step that meets the loss's tangent).
    p : of "pnorm" and "group", above 1 and at most 2; None: q = max(2, 2 ln d).
    groups : "group": a number per column; None: every column is a group. The intercept is its own.
    l1 : soft threshold of "l2" and "adagrad" (dual averaging), times the sum of the rates.
    radius, signed : "entropic": |w|_1 <= radius with signs (EG+-), or the simplex of that size.
    adagrad_delta, coin_epsilon : AdaGrad's offset; coin betting's first wealth.

    Cost O(nonzeros) a round; with `average`, "pnorm", "group" and "entropic" cost O(d) an update.
    `sample_weight` multiplies the gradient (PA steps: C). With dicts the entropic regulariser lives
    on the features met so far, and p=None counts those of the first example.

    References: Shalev-Shwartz 2007; Orabona, Crammer & Cesa-Bianchi 2015; Orabona & Pal 2016.

    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import scale
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = FTRLClassifier(loss="logistic", regularizer="coin", random_state=0).fit(scale(X), y)
    >>> model.score(scale(X), y) > 0.95
    True
    """

    _allowed, _kinds = OF_LABELS, "classes"
    epsilon = 0.0

    def __init__(
        self, *, loss: str = "hinge", regularizer: str = "l2", step: str = "constant", rate: float = 1.0,
        C: float = 1.0, p: float | None = None, groups: Any = None, l1: float = 0.0, radius: float = 1.0,
        signed: bool = True, adagrad_delta: float = 1.0, coin_epsilon: float = 1.0,
        fit_intercept: bool = True, intercept_scaling: float = 1.0, average: bool = False,
        max_iter: int = 20, tol: float | None = 1e-3, n_iter_no_change: int = 2, shuffle: bool = True,
        random_state: Any = None, classes: Any = None, class_weight: Any = None,
        warm_start: bool = False, verbose: int = 0, dtype: str = "float64", growing: bool = False,
    ) -> None:  # fmt: skip
        self.loss, self.regularizer, self.step, self.rate, self.C = loss, regularizer, step, rate, C
        self.p, self.groups, self.l1, self.radius, self.signed = p, groups, l1, radius, signed
        self.adagrad_delta, self.coin_epsilon = adagrad_delta, coin_epsilon
        self.fit_intercept, self.intercept_scaling = fit_intercept, intercept_scaling
        self.average, self.max_iter, self.tol = average, max_iter, tol
        self.n_iter_no_change, self.shuffle, self.random_state = n_iter_no_change, shuffle, random_state
        self.classes, self.class_weight, self.warm_start = classes, class_weight, warm_start
        self.verbose, self.dtype, self.growing = verbose, dtype, growing

    def _check_probabilities(self) -> bool:
        labels = self._labels
        several = labels is not None and (labels.sets or len(labels.known) > 2)
        if self._loss_name != "logistic" or several:
            raise AttributeError("predict_proba is there for loss='logistic' and two classes")
        return True

    @available_if(_check_probabilities)  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> np.ndarray:
        """1 / (1 + e^-s) for `classes_[1]`; two classes and the logistic loss only."""
        positive = expit(self.decision_function(X))
        return np.asarray(np.c_[1 - positive, positive])

    def predict_proba_one(self, x: Any) -> dict[Any, float]:
        """The same for one dict."""
        if self._loss_name != "logistic" or (self._labels is not None and self._outputs()[0] > 1):
            raise NotImplementedError("predict_proba_one is there for loss='logistic' and two classes")
        if self._model is None or self._labels is None or not self._labels.known:
            return {}
        positive = float(expit((self._stream or self._open()).scores(x)[0, 0]))
        known = self._labels.known
        return {known[0]: 1.0} if len(known) == 1 else {known[0]: 1 - positive, known[1]: positive}


class FTRLRegressor(Regularized, LinearRegressor):  # type: ignore[override]
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

    _allowed, _kinds = OF_NUMBERS, "numbers"

    def __init__(
        self, *, loss: str = "epsilon_insensitive", epsilon: float = 0.1, regularizer: str = "l2",
        step: str = "constant", rate: float = 1.0, C: float = 1.0, p: float | None = None,
        groups: Any = None, l1: float = 0.0, radius: float = 1.0, signed: bool = True,
        adagrad_delta: float = 1.0, coin_epsilon: float = 1.0, fit_intercept: bool = True,
        intercept_scaling: float = 1.0, average: bool = False, max_iter: int = 20,
        tol: float | None = 1e-3, n_iter_no_change: int = 2, shuffle: bool = True,
        random_state: Any = None, warm_start: bool = False, verbose: int = 0, dtype: str = "float64",
        growing: bool = False,
    ) -> None:  # fmt: skip
        self.loss, self.epsilon, self.regularizer = loss, epsilon, regularizer
        self.step, self.rate, self.C = step, rate, C
        self.p, self.groups, self.l1, self.radius, self.signed = p, groups, l1, radius, signed
        self.adagrad_delta, self.coin_epsilon = adagrad_delta, coin_epsilon
        self.fit_intercept, self.intercept_scaling = fit_intercept, intercept_scaling
        self.average, self.max_iter, self.tol = average, max_iter, tol
        self.n_iter_no_change, self.shuffle, self.random_state = n_iter_no_change, shuffle, random_state
        self.warm_start, self.verbose, self.dtype, self.growing = warm_start, verbose, dtype, growing

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.regressor_tags.poor_score = True  # a constant rate of 1 is for rows of length 1
        return tags

    def _problem(self) -> str:
        return "regression"

    def _losses_of(self, scores: np.ndarray, y: Any) -> np.ndarray:
        required = -float(self.epsilon) if self._loss_name == "epsilon_insensitive" else 0.0
        return self._loss_values(-np.abs(scores[:, 0] - y), required)
