"""Kernel Perceptrons with bounded memory: Projectron, RBP, Forgetron, Stoptron."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import BadInput
from .classifier import LinearClassifier
from .gambling import Gambler
from .parameters import require_positive
from .support import Support


class _KernelPerceptron(Support, LinearClassifier):
    """A Perceptron that is always spelled in vectors."""

    _projects = True  # bounded, in any case
    _family = ""

    def _check_parameters(self) -> None:
        if self.kernel is None:
            raise BadInput(
                f"kernel=None; {type(self).__name__} wants a kernel; 'linear' is the plain product"
            )
        super()._check_parameters()

    def _recipe_name(self) -> str:
        return f"{self._family}.{self._problem()}"

    def _kernel_row(self) -> str:
        return self._recipe_name()

    def _choices(self) -> dict[str, Any]:
        return {"margin": 0.0}


class Projectron(_KernelPerceptron):
    """The kernel Perceptron with a small support: what is near the span of its vectors is projected on it.

    On a mistake with delta the distance of phi(x) from the span of the vectors kept: where delta <= tolerance
    the update is y P phi(x), which changes their coefficients only; otherwise x is kept too. On a bounded
    set the support stays finite; with q = 1 - tolerance |u| > 0 the number of mistakes is at most
    ((UR + sqrt(U^2 R^2 + 4 q L)) / (2q))^2. Several classes and label sets share one support.

    Parameters
    ----------
    tolerance : largest distance (a norm) that is projected away; 0: only what lies in the span.
    plus : Projectron++, which learns from margin errors too where their projection is worth it.
    budget : None, a number of vectors or "64MB": when it is used up, everything is projected.
    kernel, gamma, degree, coef0 : see `om.kernels`.

    Reference: Orabona, Keshet & Caputo 2009.

    >>> from sklearn.datasets import make_moons
    >>> X, y = make_moons(500, noise=0.1, random_state=0)
    >>> model = Projectron(gamma=2.0, random_state=0).fit(X, y)
    >>> model.score(X, y) > 0.95, model.n_support_ < 60
    (True, True)
    """

    def __init__(
        self, *, tolerance: float = 0.1, plus: bool = False, kernel: Any = "rbf", gamma: Any = "scale",
        degree: int = 3, coef0: float = 0.0, budget: Any = None, fit_intercept: bool = False,
        intercept_scaling: float = 1.0, average: bool = False, max_iter: int = 20,
        tol: float | None = 1e-3, n_iter_no_change: int = 2, shuffle: bool = True,
        random_state: Any = None, classes: Any = None, class_weight: Any = None,
        warm_start: bool = False, verbose: int = 0, dtype: str | None = None, growing: bool = False,
    ) -> None:  # fmt: skip
        self.tolerance, self.plus, self.kernel, self.gamma = tolerance, plus, kernel, gamma
        self.degree, self.coef0, self.budget = degree, coef0, budget
        self.fit_intercept, self.intercept_scaling = fit_intercept, intercept_scaling
        self.average, self.max_iter, self.tol = average, max_iter, tol
        self.n_iter_no_change, self.shuffle, self.random_state = n_iter_no_change, shuffle, random_state
        self.classes, self.class_weight, self.warm_start = classes, class_weight, warm_start
        self.verbose, self.dtype, self.growing = verbose, dtype, growing

    def _check_parameters(self) -> None:
        super()._check_parameters()
        require_positive("tolerance", self.tolerance, True, False)

    @property
    def _family(self) -> str:  # type: ignore[override]
        return "projectron_plus" if self.plus else "projectron"

    def _choices(self) -> dict[str, Any]:
        return {"margin": 1.0 if self.plus else 0.0, "tolerance": self.tolerance}


class _Dropping(_KernelPerceptron):
    """Budgets that are kept by dropping vectors."""

    def __init__(
        self, *, budget: Any = 100, kernel: Any = "rbf", gamma: Any = "scale", degree: int = 3,
        coef0: float = 0.0, fit_intercept: bool = False, intercept_scaling: float = 1.0,
        max_iter: int = 20, tol: float | None = 1e-3, n_iter_no_change: int = 2, shuffle: bool = True,
        random_state: Any = None, classes: Any = None, class_weight: Any = None,
        warm_start: bool = False, verbose: int = 0, dtype: str | None = None, growing: bool = False,
    ) -> None:  # fmt: skip
        self.budget, self.kernel, self.gamma, self.degree, self.coef0 = budget, kernel, gamma, degree, coef0
        self.fit_intercept, self.intercept_scaling = fit_intercept, intercept_scaling
        self.max_iter, self.tol, self.n_iter_no_change = max_iter, tol, n_iter_no_change
        self.shuffle, self.random_state, self.classes = shuffle, random_state, classes
        self.class_weight, self.warm_start, self.verbose = class_weight, warm_start, verbose
        self.dtype, self.growing = dtype, growing

    def _check_parameters(self) -> None:
        if self.budget is None:
            raise BadInput("budget=None; wanted a number of vectors, or text such as '64MB'")
        super()._check_parameters()

    def _precision(self) -> str:
        return "float32" if self.dtype is None else np.dtype(self.dtype).name

    def _has_square(self) -> bool:
        return False


class RandomBudgetPerceptron(Gambler, _Dropping):
    """The kernel Perceptron with a budget: where it is used up, a vector drawn at random makes room.

    The newcomer takes the slot floor(u B), u being the round's uniform: from `random_state`, or given as
    `chance=` to `om.progressive`. An average would need the vectors dropped, so there is none.

    Parameters
    ----------
    budget : a number of vectors, or text such as "64MB".
    kernel, gamma, degree, coef0 : see `om.kernels`.

    Reference: Cavallanti, Cesa-Bianchi & Gentile 2007.

    >>> from sklearn.datasets import make_moons
    >>> X, y = make_moons(500, noise=0.1, random_state=0)
    >>> model = RandomBudgetPerceptron(budget=30, gamma=2.0, random_state=0).fit(X, y)
    >>> model.score(X, y) > 0.9, model.n_support_ <= 30
    (True, True)
    """

    _family = "rbp"


class Forgetron(_Dropping):
    """The kernel Perceptron with a budget: all is shrunk just so far that the oldest vector can be dropped.

    The self-tuned Forgetron. For k(x, x) <= 1, a budget B of at least 83 and |u| <= sqrt((B + 1) / ln(B + 1))
    / 4 it makes at most 2 |u|^2 + 4 (sum of u's hinge losses) mistakes. An average would need the vectors
    dropped, so there is none.

    Parameters
    ----------
    budget : a number of vectors, or text such as "64MB".
    kernel, gamma, degree, coef0 : see `om.kernels`.

    Reference: Dekel, Shalev-Shwartz & Singer 2008.

    >>> from sklearn.datasets import make_moons
    >>> X, y = make_moons(500, noise=0.1, random_state=0)
    >>> model = Forgetron(budget=30, gamma=2.0, random_state=0).fit(X, y)
    >>> model.score(X, y) > 0.9, model.n_support_ <= 30
    (True, True)
    """

    _family = "forgetron"

    def _has_square(self) -> bool:
        return True


class Stoptron(_Dropping):
    """The kernel Perceptron that stops learning when its budget is used up: a baseline.

    Parameters
    ----------
    budget : a number of vectors, or text such as "64MB".
    average : predict with the mean of the hypotheses that predicted.
    kernel, gamma, degree, coef0 : see `om.kernels`.

    >>> from sklearn.datasets import make_moons
    >>> X, y = make_moons(500, noise=0.1, random_state=0)
    >>> Stoptron(budget=10, gamma=2.0, random_state=0).fit(X, y).n_support_
    10
    """

    _family = "stoptron"

    def __init__(
        self, *, budget: Any = 100, kernel: Any = "rbf", gamma: Any = "scale", degree: int = 3,
        coef0: float = 0.0, fit_intercept: bool = False, intercept_scaling: float = 1.0,
        average: bool = False, max_iter: int = 20, tol: float | None = 1e-3, n_iter_no_change: int = 2,
        shuffle: bool = True, random_state: Any = None, classes: Any = None, class_weight: Any = None,
        warm_start: bool = False, verbose: int = 0, dtype: str | None = None, growing: bool = False,
    ) -> None:  # fmt: skip
        super().__init__(
            budget=budget, kernel=kernel, gamma=gamma, degree=degree, coef0=coef0,
            fit_intercept=fit_intercept, intercept_scaling=intercept_scaling, max_iter=max_iter, tol=tol,
            n_iter_no_change=n_iter_no_change, shuffle=shuffle, random_state=random_state, classes=classes,
            class_weight=class_weight, warm_start=warm_start, verbose=verbose, dtype=dtype, growing=growing,
        )  # fmt: skip
        self.average = average
