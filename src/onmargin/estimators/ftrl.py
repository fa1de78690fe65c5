"""Follow the regularised leader: any loss x any regulariser x any step."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import expit
from sklearn.utils.metaestimators import available_if

from .classifier import LinearClassifier
from .regressor import LinearRegressor
from .regularized import OF_LABELS, OF_NUMBERS, Regularized


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
        horizon: float | None = None,
    ) -> None:  # fmt: skip
        self.loss, self.regularizer, self.step, self.rate, self.C = loss, regularizer, step, rate, C
        self.p, self.groups, self.l1, self.radius, self.signed = p, groups, l1, radius, signed
        self.adagrad_delta, self.coin_epsilon = adagrad_delta, coin_epsilon
        self.fit_intercept, self.intercept_scaling = fit_intercept, intercept_scaling
        self.average, self.max_iter, self.tol = average, max_iter, tol
        self.n_iter_no_change, self.shuffle, self.random_state = n_iter_no_change, shuffle, random_state
        self.classes, self.class_weight, self.warm_start = classes, class_weight, warm_start
        self.verbose, self.dtype, self.growing, self.horizon = verbose, dtype, growing, horizon

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
        growing: bool = False, horizon: float | None = None,
    ) -> None:  # fmt: skip
        self.loss, self.epsilon, self.regularizer = loss, epsilon, regularizer
        self.step, self.rate, self.C = step, rate, C
        self.p, self.groups, self.l1, self.radius, self.signed = p, groups, l1, radius, signed
        self.adagrad_delta, self.coin_epsilon = adagrad_delta, coin_epsilon
        self.fit_intercept, self.intercept_scaling = fit_intercept, intercept_scaling
        self.average, self.max_iter, self.tol = average, max_iter, tol
        self.n_iter_no_change, self.shuffle, self.random_state = n_iter_no_change, shuffle, random_state
        self.warm_start, self.verbose, self.dtype, self.growing = warm_start, verbose, dtype, growing
        self.horizon = horizon

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.regressor_tags.poor_score = True  # a constant rate of 1 is for rows of length 1
        return tags

    def _problem(self) -> str:
        return "regression"

    def _losses_of(self, scores: np.ndarray, y: Any) -> np.ndarray:
        required = -float(self.epsilon) if self._loss_name == "epsilon_insensitive" else 0.0
        return self._loss_values(-np.abs(scores[:, 0] - y), required)
