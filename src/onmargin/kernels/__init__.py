"""Kernels, and what can be built of them: sums, products, multiples, normalised ones.

Learners with a kernel form have `kernel=None` (linear), a name ("linear", "rbf", "poly", "sigmoid",
"laplacian", "chi2", "precomputed"), a function k(A, B) that returns the matrix of values, or one of the
kernels below and what is built of them; `gamma="scale"` (1 / (features x variance), fixed by the first
data), "auto" (1 / features) or a number; `degree`, `coef0`; and `budget=None`, a number of vectors, or text
such as "64MB": when it is used up, what comes is projected on the span of the vectors kept.

A kernel fills a table: one line per kept vector, one column per row of the block (`Pair`). It is
ordinary NumPy and BLAS, never compiled in, so that one compiled loop serves all kernels.

>>> import numpy as np
>>> kernel = 0.5 * rbf(gamma=1.0) + linear()
>>> kernel(np.array([[0.0, 1.0]]), np.array([[0.0, 1.0], [1.0, 1.0]])).round(3)
array([[1.5  , 1.184]])
"""

from __future__ import annotations

from collections.abc import Callable

from ..errors import BadInput
from .base import Kernel, made
from .simple import RBF, ChiSquared, Laplacian, Linear, Polynomial, Precomputed, Sigmoid

NAMED: dict[str, Callable[..., Kernel]] = {
    "linear": lambda gamma, degree, coef0: Linear(),
    "rbf": lambda gamma, degree, coef0: RBF(gamma),
    "poly": lambda gamma, degree, coef0: Polynomial(gamma, degree, coef0),
    "sigmoid": lambda gamma, degree, coef0: Sigmoid(gamma, coef0),
    "laplacian": lambda gamma, degree, coef0: Laplacian(gamma),
    "chi2": lambda gamma, degree, coef0: ChiSquared(gamma),
    "precomputed": lambda gamma, degree, coef0: Precomputed(),
}


def named(kernel: object, gamma: float | None = None, degree: int = 3, coef0: float = 0.0) -> Kernel:
    """A kernel of its name, of a user's function, or as it is."""
    if isinstance(kernel, str) and kernel in NAMED:
        return NAMED[kernel](gamma, degree, coef0)
    if isinstance(kernel, Kernel) or callable(kernel):
        return made(kernel)
    raise BadInput(f"kernel={kernel!r}; wanted one of {', '.join(NAMED)}, a function k(A, B), or om.kernels")


def linear() -> Kernel:
    """<a, b>"""
    return Linear()


def rbf(gamma: float | None = None) -> Kernel:
    """exp(-gamma |a - b|^2); gamma=None is the learner's `gamma`."""
    return RBF(gamma)


def poly(degree: int = 3, gamma: float | None = None, coef0: float = 0.0) -> Kernel:
    """(gamma <a, b> + coef0)^degree"""
    return Polynomial(gamma, degree, coef0)


def sigmoid(gamma: float | None = None, coef0: float = 0.0) -> Kernel:
    """tanh(gamma <a, b> + coef0)"""
    return Sigmoid(gamma, coef0)


def laplacian(gamma: float | None = None) -> Kernel:
    """exp(-gamma |a - b|_1)"""
    return Laplacian(gamma)


def chi2(gamma: float | None = None) -> Kernel:
    """exp(-gamma sum (a - b)^2 / (a + b))"""
    return ChiSquared(gamma)
