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

from .base import Kernel, made
from .simple import *  # noqa: F403 (a kernel is one class and its name there)
from .simple import __all__ as _simple
from .simple import named

__all__ = ["Kernel", "made", "named", *_simple]
