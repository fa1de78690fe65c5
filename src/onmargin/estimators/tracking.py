"""Perceptrons that follow a moving target."""

from __future__ import annotations

from typing import Any

from .classifier import LinearClassifier
from .parameters import require_positive


class _Tracker(LinearClassifier):
    """A Perceptron whose old mistakes weigh less."""

    _family = ""
    _has_lanes = False

    def _recipe_name(self) -> str:
        return f"{self._family}.{self._problem()}"


class ShiftingPerceptron(_Tracker):
    """A Perceptron that forgets as it errs: on mistake k, w = (1 - l) w + l y x with l = lam / (lam + k).

    Old mistakes fade the faster the larger lam is. Several classes: the true one against its best rival.

    Parameters
    ----------
    lam : how fast it forgets; 1 is the plain mean of all mistakes.

    Reference: Cavallanti, Cesa-Bianchi & Gentile 2007.

    >>> import onmargin as om
    >>> X, y, _ = om.datasets.ellipses(2000, seed=0)
    >>> om.progressive(om.ShiftingPerceptron(lam=2.0), X, y).error_rate < 0.1
    True
    """

    _family = "shifting"

    def __init__(
        self, *, lam: float = 1.0, fit_intercept: bool = True, intercept_scaling: float = 1.0,
        max_iter: int = 20, tol: float | None = 1e-3, n_iter_no_change: int = 2, shuffle: bool = True,
        random_state: Any = None, classes: Any = None, class_weight: Any = None,
        warm_start: bool = False, verbose: int = 0, dtype: str = "float64", growing: bool = False,
    ) -> None:  # fmt: skip
        self.lam = lam
        self.fit_intercept, self.intercept_scaling = fit_intercept, intercept_scaling
        self.max_iter, self.tol = max_iter, tol
        self.n_iter_no_change, self.shuffle, self.random_state = n_iter_no_change, shuffle, random_state
        self.classes, self.class_weight, self.warm_start = classes, class_weight, warm_start
        self.verbose, self.dtype, self.growing = verbose, dtype, growing

    def _check_parameters(self) -> None:
        super()._check_parameters()
        require_positive("lam", self.lam, False, False)

    def _choices(self) -> dict[str, Any]:
        return {"margin": 0.0, "lam": self.lam}


class ProjectedPerceptron(_Tracker):
    """A Perceptron kept in a ball: w = the point with |w| <= radius nearest to w + rate y x, on a mistake.

    For every sequence u_1, u_2, ... in the ball, P the length of its path, R = max |x|: mistakes times
    (1 - rate R^2 / 2) are at most sum of u_t's hinge losses over them + (|u_1|^2 + 4 radius P) / (2 rate).

    Parameters
    ----------
    radius : of the ball; a small one forgets fast.
    rate : length of a step; below 2 / R^2 for the bound.

    Reference: Herbster & Warmuth 2001; Kivinen, Smola & Williamson 2004.

    >>> import onmargin as om
    >>> X, y, _ = om.datasets.ellipses(2000, seed=0)
    >>> om.progressive(om.ProjectedPerceptron(radius=5.0), X, y).error_rate < 0.1
    True
    """

    _family = "projected"

    def __init__(
        self, *, radius: float = 1.0, rate: float = 1.0, fit_intercept: bool = True,
        intercept_scaling: float = 1.0, max_iter: int = 20, tol: float | None = 1e-3,
        n_iter_no_change: int = 2, shuffle: bool = True, random_state: Any = None, classes: Any = None,
        class_weight: Any = None, warm_start: bool = False, verbose: int = 0, dtype: str = "float64",
        growing: bool = False,
    ) -> None:  # fmt: skip
        self.radius, self.rate = radius, rate
        self.fit_intercept, self.intercept_scaling = fit_intercept, intercept_scaling
        self.max_iter, self.tol = max_iter, tol
        self.n_iter_no_change, self.shuffle, self.random_state = n_iter_no_change, shuffle, random_state
        self.classes, self.class_weight, self.warm_start = classes, class_weight, warm_start
        self.verbose, self.dtype, self.growing = verbose, dtype, growing

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = True  # a ball of radius 1 is for rows of length 1
        return tags

    def _check_parameters(self) -> None:
        super()._check_parameters()
        require_positive("radius", self.radius, False, False)

    def _choices(self) -> dict[str, Any]:
        return {"margin": 0.0, "radius": self.radius, "rate": self.rate}
