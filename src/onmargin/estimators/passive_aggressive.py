"""The Passive-Aggressive family for classes and label sets."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import BadInput
from .classifier import LinearClassifier
from .support import Support

STEPS = ("pa", "pa1", "pa2")


def check_step(step: str) -> None:
    """One of the three step rules."""
    if step not in STEPS:
        raise BadInput(f"step={step!r}; wanted 'pa', 'pa1' or 'pa2'")


class PassiveAggressiveClassifier(Support, LinearClassifier):
    """Leave the model alone when the margin is met; otherwise move it as little as possible.

    w_{t+1} = argmin 1/2 |w - w_t|^2 + C slack  s.t.  y <w, x> >= 1 - slack: a step of
    min(C, loss / |x|^2) along y x (PA-I). Several classes are learned natively, the true class
    against its best rival; label sets by the lowest relevant label against the highest irrelevant.

    Parameters
    ----------
    C : aggressiveness, the longest step (PA-I) or the price of squared slack (PA-II); small for
        noisy labels; inf is the hard margin.
    step : "pa" (no cap), "pa1" or "pa2".
    margin : the margin asked for.
    update : "top" (the best rival) or "all" (every violated class at once: MIRA).
    multilabel : "ranking" (a running threshold cuts the set) or "calibrated" (a dummy label does).
    cost : (K, K) costs of answering the column where the row is true; the margin asked for is their
        square root. `cost_update`: "max_loss" or "prediction".
    average : predict with the mean of the weights that predicted.
    horizon : None, or how many rounds are remembered: w is multiplied by 1 - 1 / horizon every round.
    kernel, gamma, degree, coef0, budget : the kernel form, |x|^2 being k(x, x); see `om.kernels`.

    `sample_weight` and `class_weight` multiply C (they have no effect on step="pa").

    Reference: Crammer, Dekel, Keshet, Shalev-Shwartz & Singer 2006.

    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import scale
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = PassiveAggressiveClassifier(C=0.01, random_state=0).fit(scale(X), y)
    >>> model.score(scale(X), y) > 0.95
    True
    """

    def __init__(
        self, *, C: float = 1.0, step: str = "pa1", margin: float = 1.0, update: str = "top",
        multilabel: str = "ranking", cost: Any = None, cost_update: str = "max_loss",
        fit_intercept: bool = True, intercept_scaling: float = 1.0, average: bool = False,
        max_iter: int = 20, tol: float | None = 1e-3, n_iter_no_change: int = 2, shuffle: bool = True,
        random_state: Any = None, classes: Any = None, class_weight: Any = None,
        warm_start: bool = False, verbose: int = 0, dtype: str | None = None, growing: bool = False,
        horizon: float | None = None, kernel: Any = None, gamma: Any = "scale", degree: int = 3,
        coef0: float = 0.0, budget: Any = None,
    ) -> None:  # fmt: skip
        self.C, self.step, self.margin, self.update = C, step, margin, update
        self.multilabel, self.cost, self.cost_update = multilabel, cost, cost_update
        self.fit_intercept, self.intercept_scaling = fit_intercept, intercept_scaling
        self.average, self.max_iter, self.tol = average, max_iter, tol
        self.n_iter_no_change, self.shuffle, self.random_state = n_iter_no_change, shuffle, random_state
        self.classes, self.class_weight, self.warm_start = classes, class_weight, warm_start
        self.verbose, self.dtype, self.growing, self.horizon = verbose, dtype, growing, horizon
        self.kernel, self.gamma, self.degree, self.coef0, self.budget = kernel, gamma, degree, coef0, budget

    @property
    def _bars(self) -> str:  # type: ignore[override]
        return "dummy" if self.multilabel == "calibrated" else "running"

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_step(self.step)
        if self.update not in ("top", "all"):
            raise BadInput(f"update={self.update!r}; wanted 'top' or 'all'")
        if self.multilabel not in ("ranking", "calibrated"):
            raise BadInput(f"multilabel={self.multilabel!r}; wanted 'ranking' or 'calibrated'")
        if self.cost_update not in ("max_loss", "prediction"):
            raise BadInput(f"cost_update={self.cost_update!r}; wanted 'max_loss' or 'prediction'")
        if self.cost is not None:
            self._check_cost()

    def _check_cost(self) -> None:
        try:
            cost = np.asarray(self.cost, float)
        except (TypeError, ValueError):
            raise BadInput(f"cost={self.cost!r}; wanted a square matrix of numbers") from None
        known = 0 if self._labels is None else len(self._labels.known)
        if self._sets():
            raise BadInput("cost= is for one label per example; leave it out for sets of labels")
        if self.update == "all":
            raise BadInput("cost= and update='all' do not go together; choose one")
        if cost.shape != (known, known):
            raise BadInput(
                f"cost has shape {cost.shape}; wanted ({known}, {known}), one row a class; streams need "
                "classes= announced"
            )
        if not np.isfinite(cost).all() or (cost < 0).any() or np.diag(cost).any():
            raise BadInput("cost wants finite numbers of at least 0 with a diagonal of 0")

    def _check_open(self) -> None:
        if self.cost is not None:
            raise BadInput("a new class came, but cost= has no row for it; announce all classes=")

    def _recipe_name(self) -> str:
        problem = self._problem()
        if problem == "labels":
            if self.update == "all":
                raise BadInput(
                    "every rival at once (MIRA, update='all') is for one label per example; for sets "
                    "use PassiveAggressiveClassifier(update='top')"
                )
            return f"{self.step}.{'calibrated' if self.multilabel == 'calibrated' else 'labels'}"
        if self.cost is not None:
            return f"{self.step}.{'binary_' if problem == 'binary' else ''}{self.cost_update}"
        if problem == "top" and self.update == "all":
            return f"{self.step}.all"
        return f"{self.step}.{problem}"

    def _choices(self) -> dict[str, Any]:
        choices: dict[str, Any] = {"C": self.C, "margin": self.margin}
        if self.cost is not None:
            choices["cost"] = np.sqrt(np.asarray(self.cost, float))
        return choices


class MIRA(PassiveAggressiveClassifier):
    """Passive-Aggressive with every violated class at once (`update="all"`).

    min 1/2 |W - W_t|^2 + C slack  s.t.  s_y - s_q >= margin - slack for all q != y, solved exactly
    in O(K log K) a round. `margin=0, C=1` from given weights is Crammer & Singer's MIRA (2003).

    Parameters
    ----------
    C : the longest step, over all classes together.
    margin : the margin asked for.

    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> MIRA(random_state=0, average=True).fit(X, y).score(X, y) > 0.9
    True
    """

    step, update, multilabel, cost, cost_update = "pa1", "all", "ranking", None, "max_loss"

    def __init__(
        self, *, C: float = 1.0, margin: float = 1.0, fit_intercept: bool = True,
        intercept_scaling: float = 1.0, average: bool = False, max_iter: int = 20,
        tol: float | None = 1e-3, n_iter_no_change: int = 2, shuffle: bool = True,
        random_state: Any = None, classes: Any = None, class_weight: Any = None,
        warm_start: bool = False, verbose: int = 0, dtype: str | None = None, growing: bool = False,
        horizon: float | None = None, kernel: Any = None, gamma: Any = "scale", degree: int = 3,
        coef0: float = 0.0, budget: Any = None,
    ) -> None:  # fmt: skip
        self.C, self.margin = C, margin
        self.fit_intercept, self.intercept_scaling = fit_intercept, intercept_scaling
        self.average, self.max_iter, self.tol = average, max_iter, tol
        self.n_iter_no_change, self.shuffle, self.random_state = n_iter_no_change, shuffle, random_state
        self.classes, self.class_weight, self.warm_start = classes, class_weight, warm_start
        self.verbose, self.dtype, self.growing, self.horizon = verbose, dtype, growing, horizon
        self.kernel, self.gamma, self.degree, self.coef0, self.budget = kernel, gamma, degree, coef0, budget

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = False
        return tags
