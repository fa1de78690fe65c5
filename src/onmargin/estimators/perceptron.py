"""The Perceptron."""

from __future__ import annotations

import numpy as np

from ..errors import BadInput
from ..interface.classifier import Classifier
from ..interface.parameters.draws import generator_of
from ..interface.parameters.fields import (
    Averaged,
    Budget,
    Horizon,
    KernelParameters,
    Labelled,
    Linear,
    above_zero,
    learner,
    one_of,
    precision,
)
from ..interface.support import KernelForm
from ..models.weights import Model, Numbers


@learner
class Perceptron(KernelForm, Classifier, Linear, Averaged, Labelled, Horizon, KernelParameters, Budget):
    """Learn from mistakes only: w += e y x where y <w, x> <= 0.

    For every u with U = |u|, R = max |x| and L the hinge losses of u over the mistakes, the number
    of mistakes is at most (UR + sqrt(U^2 R^2 + 4L))^2 / 4, whatever the order of the examples
    (with `init="zero"`). Several classes: the true class against its best rival (`update="top"`) or
    against all that score at least as high (`"uniform"`); label sets: the lowest relevant label
    against the highest irrelevant one.

    Parameters
    ----------
    rate : length e of a step (2 rho of the papers); with a zero start it changes no prediction.
    update : "top" or "uniform", for several classes.
    init : "zero", or "random" for standard normal weights.
    horizon : None, or how many rounds are remembered: w is multiplied by 1 - 1 / horizon every round. In
        kernel form a vector is dropped when its coefficient is below 1e-12 of the largest, or is the least
        and `budget` has no room.
    kernel, gamma, degree, coef0, budget : the kernel form, w = sum_i alpha_i k(x_i, .); see `om.kernels`.

    References: Rosenblatt 1958; Novikoff 1962; Crammer & Singer 2003.

    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> Perceptron(random_state=0, average=True, tol=None).fit(X, y).score(X, y) > 0.9
    True
    """

    rate: float = above_zero(default=1.0)
    update: str = one_of("top", "uniform", default="top")
    init: str = one_of("zero", "random", default="zero", lasting=True)
    dtype: str | None = precision(default=None)

    variants = ({}, {"kernel": "rbf"}, {"kernel": "rbf", "budget": 10})

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if self.init == "random" and self._in_kernel:
            raise BadInput("init='random' draws weights, which a kernel learner has not; set init='zero'")

    def row(self, problem: str) -> str:
        """perceptron.binary, perceptron.top, ..."""
        return f"perceptron.{self.update if problem == 'top' else problem}"

    def numbers(self) -> Numbers:
        """The length of a step; a margin of 0 is asked for."""
        return {"rate": self.rate, "margin": 0.0}

    def _begin(self, model: Model, known: int) -> None:
        """A random start is drawn slot by slot, so that it is the same however the slots came."""
        if self.init == "random":
            slots, outputs = model.start.slots - 1, model.start.outputs
            draws = generator_of(self, 1).standard_normal((slots, outputs))
            constant: np.ndarray | None = None
            if known == 0 and self.fit_intercept:
                constant = generator_of(self, 2).standard_normal(outputs)
            model.set_slots(known, draws[known:], constant)

    @property
    def _has_blank(self) -> bool:
        return self.init == "zero"  # a random start has no slot that stands for all
