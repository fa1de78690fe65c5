"""Kernel Perceptrons with bounded memory: Projectron, RBP, Forgetron, Stoptron."""

from __future__ import annotations

import numpy as np

from ..errors import BadInput
from ..interface.classifier import Classifier
from ..interface.parameters.fields import (
    Averaged,
    Budget,
    KernelParameters,
    Labelled,
    Linear,
    flag,
    from_zero,
    group,
    learner,
    plain,
    precision,
)
from ..interface.support import KernelForm
from ..models.weights import Numbers


@group
class _Kernelled(Linear, Labelled, KernelParameters, Budget):
    """Always in kernel form; no constant coordinate unless asked for."""

    kernel: object = plain(default="rbf", lasting=True)
    fit_intercept: bool = flag(default=False, lasting=True)
    dtype: str | None = precision(default=None)


@group
class _Dropping(_Kernelled):
    """A budget that is kept by dropping vectors."""

    budget: object = plain(default=100, lasting=True)


class KernelPerceptron(KernelForm, Classifier):
    """A Perceptron that is always spelled in vectors; `_family` is its row."""

    _projects = True  # bounded, in any case
    _solves = False  # a Gram matrix: values are wanted in float64; where vectors are dropped float32 will do
    _keeps_square = False

    @property
    def _family(self) -> str:
        """Its rows of the table."""
        raise NotImplementedError

    def _check_parameters(self) -> None:
        if self.budget is None and self._family not in ("projectron", "projectron_plus"):
            raise BadInput("budget=None; wanted a number of vectors, or text such as '64MB'")
        if self.kernel is None:
            raise BadInput(
                f"kernel=None; {type(self).__name__} wants a kernel; 'linear' is the plain product"
            )
        super()._check_parameters()

    def row(self, problem: str) -> str:
        """projectron.binary, rbp.top, ..."""
        return f"{self._family}.{problem}"

    def _kernel_row(self) -> str:
        return self.row(self._problem())

    def numbers(self) -> Numbers:
        """A margin of 0 is asked for."""
        return {"margin": 0.0}

    def _precision(self) -> str:
        given = getattr(self, "dtype", None)
        return super()._precision() if self._solves else "float32" if given is None else np.dtype(given).name


@learner
class Projectron(KernelPerceptron, _Kernelled, Averaged):
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

    tolerance: float = from_zero(default=0.1, lasting=True)
    plus: bool = flag(default=False, lasting=True)

    _solves = True
    _keeps_square = True

    @property
    def _family(self) -> str:
        return "projectron_plus" if self.plus else "projectron"

    def numbers(self) -> Numbers:
        """The margin asked for, and how near is near."""
        return {"margin": 1.0 if self.plus else 0.0, "tolerance": self.tolerance}


@learner
class RandomBudgetPerceptron(KernelPerceptron, _Dropping):
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

    _draws = True

    @property
    def _family(self) -> str:
        return "rbp"


@learner
class Forgetron(KernelPerceptron, _Dropping):
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

    _keeps_square = True

    @property
    def _family(self) -> str:
        return "forgetron"


@learner
class Stoptron(KernelPerceptron, _Dropping, Averaged):
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

    @property
    def _family(self) -> str:
        return "stoptron"
