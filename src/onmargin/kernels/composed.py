"""Kernels made of others: sums, products, multiples, normalised ones, and those that see some columns."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from .base import Kernel, Pair, above_zero
from .sides import Side


class Sum(Kernel):
    """k1 + k2"""

    parts: tuple[Kernel, Kernel]

    def __repr__(self) -> str:
        return f"{self.parts[0]!r} + {self.parts[1]!r}"

    def __init__(self, first: Kernel, second: Kernel) -> None:
        self.parts = (first, second)
        self.threads = first.threads and second.threads
        self.shifts = first.shifts and second.shifts
        self.safe = first.safe and second.safe

    @property
    def sharpness(self) -> float:
        """That of the sharper one."""
        return max(self.parts[0].sharpness, self.parts[1].sharpness)

    def _both(self, pair: Pair) -> tuple[np.ndarray, np.ndarray]:
        pair.room = None  # both may want the products
        return self.parts[0].table(pair), self.parts[1].table(pair)

    def table(self, pair: Pair) -> np.ndarray:
        first, second = self._both(pair)
        return np.asarray(first + second)

    def diagonal(self, side: Side) -> np.ndarray:
        return np.asarray(self.parts[0].diagonal(side) + self.parts[1].diagonal(side))

    def check(self, side: Side) -> None:
        for part in self.parts:
            part.check(side)

    def with_gamma(self, gamma: float) -> Kernel:
        return type(self)(self.parts[0].with_gamma(gamma), self.parts[1].with_gamma(gamma))


class Product(Sum):
    """k1 k2"""

    def __repr__(self) -> str:
        return f"({self.parts[0]!r}) * ({self.parts[1]!r})"

    def table(self, pair: Pair) -> np.ndarray:
        first, second = self._both(pair)
        return np.asarray(first * second)

    def diagonal(self, side: Side) -> np.ndarray:
        return np.asarray(self.parts[0].diagonal(side) * self.parts[1].diagonal(side))


class _Of(Kernel):
    """A kernel made of one other."""

    def __init__(self, inner: Kernel) -> None:
        self.inner, self.parts = inner, (inner,)
        self.threads, self.shifts, self.safe = inner.threads, inner.shifts, inner.safe

    @property
    def sharpness(self) -> float:
        """The other's."""
        return self.inner.sharpness

    def check(self, side: Side) -> None:
        self.inner.check(side)

    def with_gamma(self, gamma: float) -> Kernel:
        return self._of(self.inner.with_gamma(gamma))

    def _of(self, inner: Kernel) -> Kernel:
        """The same of another kernel."""
        return type(self)(inner)


class Scaled(_Of):
    """c k, c > 0"""

    def __repr__(self) -> str:
        return f"{self.factor!r} * ({self.inner!r})"

    def __init__(self, inner: Kernel, factor: float) -> None:
        super().__init__(inner)
        self.factor = above_zero("the factor of a kernel", factor)
        self.parts = (inner, self.factor)

    def _of(self, inner: Kernel) -> Kernel:
        return Scaled(inner, self.factor)

    def table(self, pair: Pair) -> np.ndarray:
        return np.asarray(self.inner.table(pair) * pair.right.dtype.type(self.factor))

    def diagonal(self, side: Side) -> np.ndarray:
        return np.asarray(self.inner.diagonal(side) * self.factor)


class Normalized(_Of):
    """k(a, b) / sqrt(k(a, a) k(b, b)); a vector with k(a, a) = 0 is the zero vector."""

    def __repr__(self) -> str:
        return f"({self.inner!r}).normalized()"

    def table(self, pair: Pair) -> np.ndarray:
        left, right = (_inverse_roots(self.inner.diagonal(side)) for side in (pair.left, pair.right))
        kind = pair.right.dtype.type
        return np.asarray(self.inner.table(pair) * left[:, None].astype(kind) * right.astype(kind))

    def diagonal(self, side: Side) -> np.ndarray:
        return (self.inner.diagonal(side) > 0).astype(float)


class Columns(_Of):
    """A kernel that sees some columns only (a view)."""

    def __repr__(self) -> str:
        return f"{self.inner!r} on columns {self.parts[1]}"

    def __init__(self, inner: Kernel, columns: ArrayLike) -> None:
        super().__init__(inner)
        self.columns = np.asarray(columns, np.int64)
        self.shifts, self.parts = False, (inner, tuple(self.columns.tolist()))

    def _of(self, inner: Kernel) -> Kernel:
        return Columns(inner, self.columns)

    def table(self, pair: Pair) -> np.ndarray:
        return self.inner.table(pair.view(self.parts[1], self.columns))

    def diagonal(self, side: Side) -> np.ndarray:
        return self.inner.diagonal(side.view(self.columns))

    def check(self, side: Side) -> None:
        self.inner.check(side.view(self.columns))


def _inverse_roots(diagonal: np.ndarray) -> np.ndarray:
    above = diagonal > 0
    return np.divide(1.0, np.sqrt(np.where(above, diagonal, 1.0)), out=np.zeros(len(diagonal)), where=above)
