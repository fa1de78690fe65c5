"""Perceptrons that follow a moving target."""

from __future__ import annotations

from ..interface.classifier import Classifier
from ..interface.parameters.fields import (
    Budget,
    KernelParameters,
    Labelled,
    Linear,
    above_zero,
    is_auto,
    learner,
)
from ..interface.parameters.fixed import CLASSES, Rule, chosen
from ..interface.support import KernelForm
from ..models.weights import Numbers

STEPS = Rule(lambda length: 1000.0 * length, lambda length: 1000.0 * length, before=1000.0)


@learner
class ShiftingPerceptron(KernelForm, Classifier, Linear, Labelled, KernelParameters, Budget):
    """A Perceptron that forgets as it errs: on mistake k, w = (1 - l) w + l y x with l = lam / (lam + k).

    Old mistakes fade the faster the larger lam is. Several classes: the true one against its best rival.

    Parameters
    ----------
    lam : how fast it forgets; 1 is the plain mean of all mistakes.
    kernel, gamma, degree, coef0, budget : the kernel form (see `om.kernels`), in which coefficients fade: a
        vector is dropped when its coefficient is below 1e-12 of the largest, or is the least and `budget` has
        no room.

    Reference: Cavallanti, Cesa-Bianchi & Gentile 2007.

    >>> import onmargin as om
    >>> X, y, _ = om.datasets.ellipses(2000, seed=0)
    >>> om.progressive(om.ShiftingPerceptron(lam=2.0), X, y).error_rate < 0.1
    True
    """

    lam: float = above_zero(default=1.0, lasting=True)

    _has_lanes = False
    _projects = True  # bounded, in any case
    _keeps_square = False

    def row(self, problem: str) -> str:
        """shifting.binary, ..."""
        return f"shifting.{problem}"

    def _kernel_row(self) -> str:
        return f"kernel_shifting.{self._problem()}"

    def numbers(self) -> Numbers:
        """How fast it forgets."""
        return {"margin": 0.0, "lam": self.lam}


@learner
class ProjectedPerceptron(Classifier, Linear, Labelled):
    """A Perceptron kept in a ball: w = the point with |w| <= radius nearest to w + rate y x, on a mistake.

    For every sequence u_1, u_2, ... in the ball, P the length of its path, R = max |x|: mistakes times
    (1 - rate R^2 / 2) are at most sum of u_t's hinge losses over them + (|u_1|^2 + 4 radius P) / (2 rate).

    Parameters
    ----------
    radius : of the ball; a small one forgets fast. "auto" (`radius_`): 1,000 steps along the median row in
        `fit`, along the first row in streams.
    rate : length of a step; below 2 / R^2 for the bound.

    Reference: Herbster & Warmuth 2001; Kivinen, Smola & Williamson 2004.

    >>> import onmargin as om
    >>> X, y, _ = om.datasets.ellipses(2000, seed=0)
    >>> om.progressive(om.ProjectedPerceptron(radius=5.0), X, y).error_rate < 0.1
    True
    """

    radius: float | str = above_zero(default="auto", lasting=True, auto=True)
    rate: float = above_zero(default=1.0)

    _has_lanes = False
    _rules = {"intercept_scaling": CLASSES, "radius": STEPS}  # noqa: RUF012 (never changed)

    @property
    def radius_(self) -> float:
        """The radius as it is used."""
        self._fitted()
        return float(self.numbers()["radius"])

    def row(self, problem: str) -> str:
        """projected.binary, ..."""
        return f"projected.{problem}"

    def numbers(self) -> Numbers:
        """The ball, and the length of a step."""
        steps = self.rate if is_auto(self.radius) else 1.0
        return {"margin": 0.0, "radius": steps * chosen(self, "radius"), "rate": self.rate}
