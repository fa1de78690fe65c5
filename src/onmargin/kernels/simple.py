"""The kernels by name: linear, rbf, poly, sigmoid, laplacian, chi2, a user's function, precomputed."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from ..compiled.pairs import chi, city, to_exponents, to_gaussians
from ..compiled.parts import Part
from ..errors import BadInput, require_whole, shown
from ..features.matrices import canonical
from .base import BadRow, Kernel, Pair, finite, made, positive
from .sides import Side, Table, is_sparse

__all__ = [
    "NAMED", "RBF", "ChiSquared", "Laplacian", "Linear", "Polynomial", "Precomputed", "Sigmoid", "chi2",
    "laplacian", "linear", "poly", "rbf", "sigmoid",
]  # fmt: skip


NOTHING = 50.0  # e^-50 adds nothing to a score


class Linear(Kernel):
    """<a, b>"""

    name = "linear"

    safe = True

    def table(self, pair: Pair) -> np.ndarray:
        return pair.products()

    def diagonal(self, side: Side) -> np.ndarray:
        return side.squares


class _WithGamma(Kernel):
    """Kernels with a width; None: given by the learner."""

    def __init__(self, gamma: float | None = None) -> None:
        self.gamma = positive("gamma", gamma)
        self.parts = (self.gamma,)

    @property
    def width(self) -> float:
        """gamma as it is used."""
        return 1.0 if self.gamma is None else self.gamma

    @property
    def sharpness(self) -> float:
        """gamma, of distances."""
        return self.width if self.shifts else 0.0

    def with_gamma(self, gamma: float) -> Kernel:
        return self if self.gamma is not None else self._of(gamma)

    def _of(self, gamma: float) -> Kernel:
        """The same of this width."""
        return type(self)(gamma)


class RBF(_WithGamma):
    """exp(-gamma |a - b|^2), the distance from norms and one matrix product."""

    name = "rbf"

    shifts, safe = True, True

    def table(self, pair: Pair) -> np.ndarray:
        if pair.direct():
            gaps = pair.distances(np.ones((len(pair.left), len(pair.right)), bool))
            return np.asarray(np.exp(np.multiply(gaps, -self.width, out=gaps), out=gaps))
        values, far = self._from_products(pair), pair.far(self.width)
        if far is not None:
            self._sharpen(values, pair, far)
        return values

    def _sharpen(self, values: np.ndarray, pair: Pair, far: Pair) -> None:
        """Far pairs anew, entry by entry, but for those so far apart that all digits are 0 anyway."""
        lengths = pair.left.squares[far.left.ids].max() + pair.right.squares[far.right.ids].max()
        blur = 8 * np.finfo(values.dtype).eps * self.width * lengths  # how wrong an exponent may be
        places = np.ix_(far.left.ids, far.right.ids)
        coarse = values[places]
        wanted = coarse >= np.exp(-NOTHING - blur)
        if wanted.any():
            values[places] = np.where(wanted, np.exp(-self.width * far.distances(wanted)), coarse)

    def _from_products(self, pair: Pair) -> np.ndarray:
        kind, sole = pair.right.dtype.type, pair.room is not None
        values = pair.products() if sole else pair.products().copy()
        squares = pair.left.squares.astype(kind), pair.right.squares.astype(kind)
        if kind is np.float32:
            to_gaussians(values, *squares, kind(self.width))
            return values
        to_exponents(values, *squares, kind(self.width))
        return np.asarray(np.exp(values, out=values))


class Polynomial(_WithGamma):
    """(gamma <a, b> + coef0)^degree"""

    def __repr__(self) -> str:
        gamma = "" if self.gamma is None else f", gamma={self.gamma!r}"
        return f"poly(degree={self.degree}{gamma}, coef0={self.coef0!r})"

    def __init__(self, gamma: float | None = None, degree: int = 3, coef0: float = 0.0) -> None:
        super().__init__(gamma)
        require_whole("degree", degree)
        self.degree, self.coef0 = int(degree), finite("coef0", coef0)
        self.parts = (self.gamma, self.degree, self.coef0)

    def _of(self, gamma: float) -> Kernel:
        return Polynomial(gamma, self.degree, self.coef0)

    def table(self, pair: Pair) -> np.ndarray:
        kind = pair.right.dtype.type
        return np.asarray((kind(self.width) * pair.products() + kind(self.coef0)) ** self.degree)

    def diagonal(self, side: Side) -> np.ndarray:
        return np.asarray((self.width * side.squares + self.coef0) ** self.degree)


class Sigmoid(_WithGamma):
    """tanh(gamma <a, b> + coef0); not positive definite: refused where k(x, x) < 0."""

    name = "sigmoid"

    def __init__(self, gamma: float | None = None, coef0: float = 0.0) -> None:
        super().__init__(gamma)
        self.coef0 = finite("coef0", coef0)
        self.parts = (self.gamma, self.coef0)

    def _of(self, gamma: float) -> Kernel:
        return Sigmoid(gamma, self.coef0)

    def table(self, pair: Pair) -> np.ndarray:
        kind = pair.right.dtype.type
        return np.asarray(np.tanh(kind(self.width) * pair.products() + kind(self.coef0)))

    def diagonal(self, side: Side) -> np.ndarray:
        return np.asarray(np.tanh(self.width * side.squares + self.coef0))


class Laplacian(_WithGamma):
    """exp(-gamma |a - b|_1)"""

    name = "laplacian"

    term: Part = staticmethod(city)
    safe, shifts = True, True

    def table(self, pair: Pair) -> np.ndarray:
        far = pair.far(self.width) if pair.right.dtype == np.float32 else None  # (in float64 it is exact)
        if far is None:
            return self._summed(pair)
        values = self._summed(pair)
        values[np.ix_(far.left.ids, far.right.ids)] = self._summed(far)
        return values

    def _summed(self, pair: Pair) -> np.ndarray:
        values = pair.sums(self.term)
        np.maximum(values, 0, out=values)  # sums of what entries change may fall below, by rounding
        values *= -pair.right.dtype.type(self.width)
        return np.asarray(np.exp(values, out=values))


class ChiSquared(Laplacian):
    """exp(-gamma sum (a - b)^2 / (a + b)), for values of at least 0."""

    name = "chi2"

    term: Part = staticmethod(chi)
    safe, shifts = False, False

    def check(self, side: Side) -> None:
        values = side.raw.data if is_sparse(side.raw) else side.raw
        if values.size and values.min() < 0:
            row = int(np.argmax(side.dense().min(axis=1) < 0))
            raise BadRow(row, "has a value below 0; the chi2 kernel wants values of at least 0")


class Own(Kernel):
    """A user's function k(A, B), which returns the matrix of values."""

    name = "own"

    threads = False

    def __init__(self, function: Callable[..., object]) -> None:
        self.function = function
        self.parts = (function,)

    def __repr__(self) -> str:
        return str(getattr(self.function, "__name__", repr(self.function)))

    def table(self, pair: Pair) -> np.ndarray:
        shape, width = (len(pair.left), len(pair.right)), max(pair.left.width, pair.right.width)
        return self._asked(pair.left.table(width), pair.right.table(width), shape).astype(pair.right.dtype)

    def diagonal(self, side: Side) -> np.ndarray:
        return np.concatenate(
            [np.diag(self._asked(some, some, (some.shape[0],) * 2)) for some in _slices(side.raw, 64)]
        )

    def _asked(self, A: Table, B: Table, shape: tuple[int, int]) -> np.ndarray:
        name = getattr(self.function, "__name__", type(self.function).__name__)
        try:
            found = self.function(A, B)
            values = np.asarray(canonical(found).toarray() if is_sparse(found) else found, float)
        except (TypeError, ValueError) as error:
            reason = " ".join(str(error).split())[:100]
            raise BadInput(f"the kernel {shown(name)} failed ({reason}); wanted k(A, B)") from None
        if values.shape != shape:
            raise BadInput(f"the kernel {shown(name)} returned shape {values.shape}; wanted {shape}, k(A, B)")
        if not np.isfinite(values).all():
            raise BadInput(f"the kernel {shown(name)} returned NaN or infinity; nothing was learned; mend it")
        return values


class Precomputed(Kernel):
    """Values given as a table: row i, column j is k(x_i, x_j), columns in training order."""

    name = "precomputed"

    def __init__(self, first: int = 0) -> None:
        self.first = first
        self.parts = (first,)

    def table(self, pair: Pair) -> np.ndarray:
        return np.ascontiguousarray(pair.right.raw[:, self.first + pair.left.ids].T, pair.right.dtype)

    def diagonal(self, side: Side) -> np.ndarray:
        return np.asarray(side.raw[np.arange(len(side)), self.first + side.ids], float)


def _slices(raw: Table, size: int) -> Iterator[Table]:
    for first in range(0, raw.shape[0], size):
        yield raw[first : first + size]


# ---- by name, and by function

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
    raise BadInput(
        f"kernel={shown(kernel)}; wanted one of {', '.join(NAMED)}, a function k(A, B), or om.kernels"
    )


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
