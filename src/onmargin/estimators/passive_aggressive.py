"""The Passive-Aggressive family: classes, label sets, numbers."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from ..errors import BadInput, shown
from ..interface.classifier import Classifier
from ..interface.parameters.fields import (
    Averaged,
    Budget,
    Horizon,
    KernelParameters,
    Labelled,
    Linear,
    above_zero,
    from_zero,
    learner,
    one_of,
    plain,
    precision,
)
from ..interface.regressor import Regressor
from ..interface.river import Variants
from ..interface.support import KernelForm
from ..models.weights import Numbers

STEPS: Variants = (
    {"step": "pa"},
    {"step": "pa1"},
    {"step": "pa2"},
)  # to compile ahead with


@learner
class PassiveAggressiveClassifier(
    KernelForm, Classifier, Linear, Averaged, Labelled, Horizon, KernelParameters, Budget
):
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
    multilabel : "calibrated" (a dummy label cuts the set) or "ranking" (a running threshold does).
    cost : (K, K) costs of answering the column where the row is true; the margin asked for is their
        square root. `cost_update`: "max_loss" or "prediction".
    average : "auto" (`fit` ends with the mean of the weights that predicted, streams go on with the last),
        True (that mean in both), "after" (in both, of the weights after each round) or False.
    horizon : None, or how many rounds are remembered: w is multiplied by 1 - 1 / horizon every round.
    kernel, gamma, degree, coef0, budget : the kernel form, |x|^2 being k(x, x); see `om.kernels`.

    `sample_weight` and `class_weight` multiply C, so they act only where steps reach it: lower C (0.01) with
    them. They have no effect on step="pa".

    Reference: Crammer, Dekel, Keshet, Shalev-Shwartz & Singer 2006.

    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import scale
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = PassiveAggressiveClassifier(C=0.01, random_state=0).fit(scale(X), y)
    >>> model.score(scale(X), y) > 0.95
    True
    """

    C: float = above_zero(default=1.0, inf=True)
    step: str = one_of("pa", "pa1", "pa2", default="pa1")
    margin: float = from_zero(default=1.0)
    update: str = one_of("top", "all", default="top")
    multilabel: str = one_of("calibrated", "ranking", default="calibrated", lasting=True)
    cost: object = plain(default=None)
    cost_update: str = one_of("max_loss", "prediction", default="max_loss")
    dtype: str | None = precision(default=None)

    variants: ClassVar[Variants] = (
        *STEPS,
        {"kernel": "rbf"},
        {"kernel": "rbf", "budget": 10},
    )

    @property
    def _set_rule(self) -> str:
        return "dummy" if self.multilabel == "calibrated" else "running"

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if self.cost is not None:
            self._check_cost()

    def _check_cost(self) -> None:
        try:
            cost = np.asarray(self.cost, float)
        except (TypeError, ValueError):
            raise BadInput(f"cost={shown(self.cost)}; wanted a square matrix of numbers") from None
        known = 0 if self._labels is None else len(self._labels.known)
        if self._targets().sets:
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

    def _refuse_new_class(self) -> None:
        if self.cost is not None:
            raise BadInput("a new class came, but cost= has no row for it; announce all classes=")

    def row(self, problem: str) -> str:
        """pa1.binary, pa1.top, pa1.all, pa1.labels, pa1.calibrated, pa1.max_loss, ..."""
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

    def numbers(self) -> Numbers:
        """C, the margin asked for, and the square roots of the costs."""
        numbers: Numbers = {"C": self.C, "margin": self.margin}
        if self.cost is not None:
            numbers["cost"] = np.sqrt(np.asarray(self.cost, float))
        return numbers


@learner
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

    fixed = {"step": "pa1", "update": "all", "multilabel": "ranking", "cost": None, "cost_update": "max_loss"}
    variants: ClassVar[Variants] = ({},)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = False
        return tags


@learner
class PassiveAggressiveRegressor(KernelForm, Regressor, Linear, Averaged, Horizon, KernelParameters, Budget):
    """Leave the model alone when the prediction is within epsilon; otherwise move as little as possible.

    loss = [|y - <w, x>| - epsilon]_+, a step of min(C, loss / |x|^2) towards y (PA-I).

    Parameters
    ----------
    C : aggressiveness, the longest step (PA-I) or the price of squared slack (PA-II).
    step : "pa", "pa1" or "pa2".
    epsilon : errors up to here cost nothing.
    horizon : None, or how many rounds are remembered: w is multiplied by 1 - 1 / horizon every round.
    kernel, gamma, degree, coef0, budget : the kernel form, |x|^2 being k(x, x); see `om.kernels`.

    `sample_weight` multiplies C (no effect on step="pa").

    Reference: Crammer et al. 2006, section 5.

    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.preprocessing import scale
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = PassiveAggressiveRegressor(average=True, random_state=0).fit(scale(X), y)
    >>> model.score(scale(X), y) > 0.4
    True
    """

    C: float = above_zero(default=1.0, inf=True)
    step: str = one_of("pa", "pa1", "pa2", default="pa1")
    epsilon: float = from_zero(default=0.1)
    dtype: str | None = precision(default=None)

    variants = STEPS

    def row(self, problem: str) -> str:
        """pa1.regression, ..."""
        return f"{self.step}.regression"

    def numbers(self) -> Numbers:
        """C, and the error that costs nothing."""
        return {"C": self.C, "epsilon": self.epsilon}
