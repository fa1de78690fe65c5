"""The class Kernel, and Pair: kept vectors against a block of rows, whose kernel values it fills in."""

from __future__ import annotations

import math
from collections.abc import Hashable

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike

from ..compiled.pairs import dense_gaps, sparse_distances, sparse_gaps, sparse_products, summed
from ..compiled.parts import Part
from ..errors import BadInput, as_float, shown
from ..features.matrices import canonical
from .sides import Csr, Side, Table, is_sparse

DIRECT = 2048  # columns of a block up to which distances are summed column by column

FAR = 30.0  # gamma |x|^2 from which on float32 cannot tell near vectors apart
LIMITS = {np.dtype(np.float32): FAR, np.dtype(np.float64): 1e5}  # beyond: distances are summed entry by entry


class Pair:
    """Kept vectors on the left, rows of a block on the right; products are found once for all kernels."""

    def __init__(self, left: Side, right: Side, room: np.ndarray | None = None) -> None:
        self.left, self.right, self.room = left, right, room
        self.held: np.ndarray | None = None
        self.views: dict[Hashable, Pair] = {}

    def empty(self) -> np.ndarray:
        """A table to fill."""
        return np.empty((len(self.left), len(self.right)), self.right.dtype)

    def products(self) -> np.ndarray:
        """<a, b> of all pairs; not to be written to, other kernels may want it."""
        if self.held is None:
            out = self.empty() if self.room is None else self.room[: len(self.left), : len(self.right)]
            left, right = self.left, self.right
            if left.sparse:
                sparse_products(left.ready, left.indices, left.starts, right.places, right.across, out)
            else:
                np.matmul(left.ready, right.across, out=out)
            self.held = out
        return self.held

    def far(self, gamma: float) -> Pair | None:
        """Those pairs of which both lie far from the origin, beside the width; None: there are none.

        Whether a pair is one of them does not depend on the others: blocks may be cut anywhere.
        """
        length = LIMITS[self.right.dtype] / gamma
        left = self.left.beyond(length)
        right = self.right.beyond(length) if left is not None else None
        return None if left is None or right is None else Pair(left, right)

    def direct(self) -> bool:
        """Are distances summed entry by entry because most rows lie far from the origin?"""
        right = self.right
        few = right.direct and right.dtype == np.float64 and len(right.columns) <= DIRECT
        return self.left.sparse and few

    def distances(self, wanted: np.ndarray) -> np.ndarray:
        """|a - b|^2 of those that are wanted, entry by entry: no digits are lost far from the origin."""
        left, right, out = self.left, self.right, np.zeros(wanted.shape, self.right.dtype)
        if not left.sparse:
            dense_gaps(left.ready, right.ready, wanted, out)
            return out
        entries, columns = (left.ready, left.indices, left.starts), len(right.columns)
        if columns <= DIRECT and np.count_nonzero(wanted) > out.size / 8:
            sparse_distances(*entries, right.places, right.across, np.zeros(columns, bool), out)
        else:
            theirs = right.ready, right.indices, right.starts
            room = np.zeros(columns), np.zeros(columns, np.int64)
            sparse_gaps(*entries, *theirs, right.places, *room, wanted, out)
        return out

    def sums(self, term: Part) -> np.ndarray:
        """sum over columns of term(a, b) of all pairs."""
        left, right, out = self.left, self.right, self.empty()
        if left.sparse:
            base = np.abs(right.across).sum(axis=0)
            entries = left.ready, left.indices, left.starts
            summed(term, True)(*entries, right.places, right.across, base, out)
        else:
            summed(term, False)(left.ready, right.across, out)
        return out

    def view(self, name: Hashable, columns: np.ndarray) -> Pair:
        """The same pairs, seen by some columns only."""
        if name not in self.views:
            self.views[name] = Pair(self.left.view(columns), self.right.view(columns))
        return self.views[name]


class Kernel:
    """k(a, b), of all pairs at once. Kernels can be added, multiplied, scaled and normalised."""

    shifts = False  # a distance: the origin may be moved
    threads = True  # may be asked by two threads at once
    safe = False  # takes any row, and k(x, x) is never below 0
    name = ""
    parts: tuple[object, ...] = ()  # what it is made of by its constructor, and what makes two equal

    @property
    def sharpness(self) -> float:
        """gamma of a Gaussian: how fast it falls with the squared distance."""
        return 0.0

    def table(self, pair: Pair) -> np.ndarray:
        """Values of all pairs, in an array of their own or in the pair's room."""
        raise NotImplementedError

    def diagonal(self, side: Side) -> np.ndarray:
        """k(x, x) of each, in float64."""
        return np.ones(len(side))

    def check(self, side: Side) -> None:
        """Refuse rows that the kernel is not made for."""

    def with_gamma(self, gamma: float) -> Kernel:
        """The same with `gamma` where none was given."""
        return self

    def normalized(self) -> Kernel:
        """k(a, b) / sqrt(k(a, a) k(b, b)); 0 where one of them is 0."""
        from .composed import Normalized

        return Normalized(self)

    def __call__(self, A: ArrayLike | Csr, B: ArrayLike | Csr) -> np.ndarray:
        left, right = sides_of(A, B, self.shifts)
        self.check(left)
        self.check(right)
        return np.array(self.table(Pair(left, right)), float)

    def __add__(self, other: object) -> Kernel:
        from .composed import Sum

        return Sum(self, made(other))

    def __radd__(self, other: object) -> Kernel:
        return self if other == 0 else made(other) + self  # sum([...]) begins with 0

    def __mul__(self, other: object) -> Kernel:
        from .composed import Product, Scaled

        if isinstance(other, int | float | np.number):
            return Scaled(self, float(other))
        return Product(self, made(other))

    __rmul__ = __mul__

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self.parts == other.parts

    def __hash__(self) -> int:
        return hash((type(self), repr(self.parts)))

    def __repr__(self) -> str:
        return f"{self.name}({', '.join(repr(part) for part in self.parts if part is not None)})"


class BadRow(BadInput):
    """A row of a block that the kernel cannot take; the learner says which row of the table it is."""

    def __init__(self, row: int, reason: str) -> None:
        super().__init__(f"row {row} {reason}")
        self.row, self.reason = row, reason


def made(kernel: object) -> Kernel:
    """A kernel as it is, or of a user's function."""
    from .simple import Own

    if isinstance(kernel, Kernel):
        return kernel
    if callable(kernel):
        return Own(kernel)
    raise BadInput(f"got {shown(kernel)}; wanted a kernel of om.kernels or a function k(A, B)")


def sides_of(A: ArrayLike | Csr, B: ArrayLike | Csr, shifts: bool) -> tuple[Side, Side]:
    """Two tables in float64, in one form: CSR where one of them is."""
    sparse = is_sparse(A) or is_sparse(B)
    raws: list[Table] = [
        canonical(sp.csr_matrix(canonical(X))) if sparse else np.atleast_2d(np.asarray(X, float))
        for X in (A, B)
    ]
    if raws[0].shape[1] != raws[1].shape[1]:
        raise BadInput(f"the tables have {raws[0].shape[1]} and {raws[1].shape[1]} columns; wanted as many")
    shift = np.median(raws[0], axis=0) if shifts and not sparse and len(raws[0]) else None
    left, right = (Side(raw, np.arange(raw.shape[0]), np.float64, shift) for raw in raws)
    return left, right


def positive(name: str, value: object) -> float | None:
    """A finite number above 0, or None."""
    return None if value is None else above_zero(name, value)


def above_zero(name: str, value: object) -> float:
    """A finite number above 0."""
    number = as_float(value)
    if not 0 < number < math.inf:
        raise BadInput(f"{name}={shown(value)}; wanted a number above 0")
    return number


def finite(name: str, value: object) -> float:
    """A finite number."""
    number = as_float(value)
    if not math.isfinite(number):
        raise BadInput(f"{name}={shown(value)}; wanted a finite number")
    return number
