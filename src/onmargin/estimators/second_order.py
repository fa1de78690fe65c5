"""Second-order learners: weights that know how sure they are."""

from __future__ import annotations

from typing import Any

from scipy.special import ndtri

from ..errors import BadInput
from .classifier import LinearClassifier
from .parameters import require_positive


class _SecondOrder(LinearClassifier):
    """Shared by the three: a diagonal or a full covariance."""

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if self.covariance not in ("diag", "full"):
            raise BadInput(f"covariance={self.covariance!r}; wanted 'diag' or 'full'")


class AROW(_SecondOrder):
    """Adaptive regularisation of weights: each weight has a variance, sure weights move little.

    With v = x' Sigma x and margin m < 1: beta = 1 / (v + r), mu += (1 - m) beta y Sigma x,
    Sigma -= beta Sigma x x' Sigma. Several classes: the true one against its best rival, a Sigma each.

    Parameters
    ----------
    r : how slowly it becomes sure. A sample weight h acts as r / h.
    covariance : "diag" (O(nonzeros) a round) or "full" (O(d^2)).

    Reference: Crammer, Kulesza & Dredze 2009.

    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> AROW(random_state=0).fit(X, y).score(X, y) > 0.9
    True
    """

    def __init__(
        self, *, r: float = 1.0, covariance: str = "diag", fit_intercept: bool = True,
        intercept_scaling: float = 1.0, average: bool = False, max_iter: int = 20,
        tol: float | None = 1e-3, n_iter_no_change: int = 2, shuffle: bool = True,
        random_state: Any = None, classes: Any = None, class_weight: Any = None,
        warm_start: bool = False, verbose: int = 0, dtype: str = "float64", growing: bool = False,
    ) -> None:  # fmt: skip
        self.r, self.covariance = r, covariance
        self.fit_intercept, self.intercept_scaling = fit_intercept, intercept_scaling
        self.average, self.max_iter, self.tol = average, max_iter, tol
        self.n_iter_no_change, self.shuffle, self.random_state = n_iter_no_change, shuffle, random_state
        self.classes, self.class_weight, self.warm_start = classes, class_weight, warm_start
        self.verbose, self.dtype, self.growing = verbose, dtype, growing

    def _recipe_name(self) -> str:
        return f"arow_{self.covariance}.{self._problem()}"

    def _choices(self) -> dict[str, Any]:
        return {"C": 0.5 / self.r}


class SoftConfidenceWeighted(_SecondOrder):
    """Confidence-weighted learning with a soft margin: CW, SCW-I and SCW-II.

    A step is made where phi sqrt(v) > m, phi being the normal quantile of `confidence`; it is the
    smallest change of the Gaussian N(mu, Sigma) that puts the example right with that probability.

    Parameters
    ----------
    confidence : the probability asked for, above 1/2.
    C : the longest step (scw1) or the price of squared slack (scw2); cw has none.
    form : "scw1", "scw2" or "cw".
    covariance : "diag" or "full".

    `sample_weight` and `class_weight` multiply C (no effect on form="cw").

    References: Dredze, Crammer & Pereira 2008; Wang, Zhao & Hoi 2012.

    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> SoftConfidenceWeighted(random_state=0).fit(X, y).score(X, y) > 0.9
    True
    """

    def __init__(
        self, *, confidence: float = 0.9, C: float = 1.0, form: str = "scw1", covariance: str = "diag",
        fit_intercept: bool = True, intercept_scaling: float = 1.0, average: bool = False,
        max_iter: int = 20, tol: float | None = 1e-3, n_iter_no_change: int = 2, shuffle: bool = True,
        random_state: Any = None, classes: Any = None, class_weight: Any = None,
        warm_start: bool = False, verbose: int = 0, dtype: str = "float64", growing: bool = False,
    ) -> None:  # fmt: skip
        self.confidence, self.C, self.form, self.covariance = confidence, C, form, covariance
        self.fit_intercept, self.intercept_scaling = fit_intercept, intercept_scaling
        self.average, self.max_iter, self.tol = average, max_iter, tol
        self.n_iter_no_change, self.shuffle, self.random_state = n_iter_no_change, shuffle, random_state
        self.classes, self.class_weight, self.warm_start = classes, class_weight, warm_start
        self.verbose, self.dtype, self.growing = verbose, dtype, growing

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if self.form not in ("scw1", "scw2", "cw"):
            raise BadInput(f"form={self.form!r}; wanted 'scw1', 'scw2' or 'cw'")
        require_positive("confidence", self.confidence, False, False)
        if not 0.5 < self.confidence < 1:
            raise BadInput(f"confidence={self.confidence!r}; wanted a probability above 0.5 and below 1")

    def _recipe_name(self) -> str:
        return f"{self.form}_{self.covariance}.{self._problem()}"

    def _choices(self) -> dict[str, Any]:
        return {"C": self.C, "phi": float(ndtri(self.confidence))}


class SecondOrderPerceptron(_SecondOrder):
    """The Perceptron in coordinates whitened by its own mistakes.

    P = (aI + sum of x x' over mistakes)^-1, theta = sum of y x over mistakes; the score counts the
    row at hand as if it had been seen, <P theta, x> / (1 + x'Px). `coef_` is P theta, so
    `decision_function` has its sign but is smaller by that factor. Several classes: one against all.

    Parameters
    ----------
    a : the ridge it starts from.
    covariance : "diag" (only the diagonal of P is kept) or "full".

    Reference: Cesa-Bianchi, Conconi & Gentile 2005.

    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> SecondOrderPerceptron(covariance="full", random_state=0).fit(X, y).score(X, y) > 0.8
    True
    """

    _bars = "zero"

    def __init__(
        self, *, a: float = 1.0, covariance: str = "diag", fit_intercept: bool = True,
        intercept_scaling: float = 1.0, average: bool = False, max_iter: int = 20,
        tol: float | None = 1e-3, n_iter_no_change: int = 2, shuffle: bool = True,
        random_state: Any = None, classes: Any = None, class_weight: Any = None,
        warm_start: bool = False, verbose: int = 0, dtype: str = "float64", growing: bool = False,
    ) -> None:  # fmt: skip
        self.a, self.covariance = a, covariance
        self.fit_intercept, self.intercept_scaling = fit_intercept, intercept_scaling
        self.average, self.max_iter, self.tol = average, max_iter, tol
        self.n_iter_no_change, self.shuffle, self.random_state = n_iter_no_change, shuffle, random_state
        self.classes, self.class_weight, self.warm_start = classes, class_weight, warm_start
        self.verbose, self.dtype, self.growing = verbose, dtype, growing

    def _recipe_name(self) -> str:
        return f"sop_{self.covariance}.{self._problem()}"

    def _choices(self) -> dict[str, Any]:
        return {"margin": 0.0}
