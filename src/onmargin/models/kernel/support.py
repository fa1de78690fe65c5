"""The support of a kernel learner: its kernels, the vectors kept, and rows made comparable to them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import DTypeLike

from ...compiled.rows import Rows
from ...errors import BadInput
from ...kernels.base import FAR, BadRow, Kernel
from ...kernels.sides import Side, Table, columns_of, is_sparse, side_of
from ...kernels.simple import Linear, Precomputed
from .products import BLOCK, Evaluator
from .vectors import Vectors


class Form(NamedTuple):
    """What a kernel learner evaluates: kernels, the bias as a constant, the precision."""

    kernels: tuple[Kernel, ...]
    constant: float
    dtype: str
    direct: bool = False  # sparse rows lie far from the origin

    @property
    def sharpness(self) -> float:
        """How fast the kernels fall."""
        return max(kernel.sharpness for kernel in self.kernels)

    @property
    def precomputed(self) -> bool:
        """Rows are values of the kernel, not vectors."""
        return any(isinstance(kernel, Precomputed) for kernel in self.kernels)

    @property
    def shifts(self) -> bool:
        """Only distances are asked for."""
        return all(kernel.shifts for kernel in self.kernels)

    @property
    def safe(self) -> bool:
        """They take every row, and no k(x, x) is below 0."""
        return all(kernel.safe for kernel in self.kernels)

    @property
    def linear(self) -> bool:
        """Coefficients can be spelled as weights."""
        return len(self.kernels) == 1 and isinstance(self.kernels[0], Linear)


class Support:
    """The x_i of sum_i c_i k(x_i, .) and the kernels; whoever holds it has the coefficients."""

    def __init__(self, form: Form, vectors: Vectors | None = None) -> None:
        self.form = form
        self.vectors = Vectors(form.dtype) if vectors is None else vectors

    def copy(self) -> Support:
        """The same with vectors of its own."""
        return Support(self.form, self.vectors.copy())

    def as_wide_as(self, rows: Rows) -> Support:
        """Itself, or a copy with the columns of a table that it never met: distances count them."""
        if self.vectors.kind != "dense" or columns_of(rows) <= self.vectors.width:
            return self
        wide = self.copy()
        wide.vectors.widen(columns_of(rows))
        return wide

    def table(self, width: int) -> Table:
        """The vectors, in the form they came in, of so many columns (precomputed kernels: none)."""
        table = self.vectors.table()
        if is_sparse(table):
            table = table.copy()
            table.resize(table.shape[0], width)
            return table
        missing = max(width - table.shape[1], 0) if table.shape[1] else 0
        return np.pad(table, ((0, 0), (0, missing)))

    def evaluator(self, threads: int = 1) -> Evaluator:
        """The kernels at work."""
        return Evaluator(self.form.kernels, self.form.constant, threads)

    def side(
        self, rows: Rows, which: np.ndarray, ids: np.ndarray, features: int, dtype: DTypeLike | None = None
    ) -> Side:
        """Rows of a table, in the form of what is kept; at least so many features are known."""
        return self.vectors.like(self._as_they_came(rows, which, ids, features, dtype))

    def side_to_learn(self, rows: Rows, which: np.ndarray, ids: np.ndarray, features: int) -> Side:
        """The same to be learned from: the first give what is kept its form and its origin."""
        vectors, side = self.vectors, self._as_they_came(rows, which, ids, features)
        if not vectors.kind:
            vectors.begin(side, self.form.precomputed)
            if self.form.shifts and not side.sparse:
                vectors.shift_to(np.median(side.dense(), axis=0))  # one strange row does not move it
        side = vectors.like(side)
        if side.shift is not None and self._lies_far(side.squares):
            vectors.shift_to(np.median(side.dense(), axis=0))  # the stream has moved away
            side = Side(side.raw, side.ids, side.dtype, vectors.shift, sparse=False)
        return side

    def _as_they_came(
        self, rows: Rows, which: np.ndarray, ids: np.ndarray, features: int, dtype: DTypeLike | None = None
    ) -> Side:
        known = max(features, self.vectors.width)
        side = side_of(rows, which, ids, known, self.vectors.dtype if dtype is None else dtype)
        side.direct = self.form.direct
        return side

    def _lies_far(self, squares: np.ndarray) -> bool:
        """Most rows of the block, that is; one alone is no reason to move."""
        far = FAR / max(self.form.sharpness, 1e-300)
        return bool(squares.mean() > far and np.median(squares) > far)

    def check(self, side: Side, rows: np.ndarray, done: str) -> None:
        """Refuse rows that a kernel is not made for, by their numbers in the table."""
        try:
            for kernel in self.form.kernels:
                kernel.check(side)
        except BadRow as error:
            raise BadInput(f"row {rows[error.row]} {error.reason}; {done}") from None

    def checked_lengths(self, evaluator: Evaluator, side: Side, rows: np.ndarray) -> np.ndarray:
        """(kernels, rows) k(x, x), none of which may be negative."""
        self.check(side, rows, "nothing was learned")
        with np.errstate(over="ignore", invalid="ignore"):
            own = evaluator.diagonals(side) - evaluator.constant
            own[:, ~side.finite] = np.nan  # the loop stops there
        if (own < 0).any():
            worst = int(np.argmax((own < 0).any(axis=0)))
            raise BadInput(
                f"row {rows[worst]} has k(x, x) = {own[:, worst].min():.3g}, below 0: the kernel is not "
                "positive on this data; nothing was learned; choose another kernel"
            )
        return own + evaluator.constant

    def check_one(self, rows: Rows, number: int, features: int) -> None:
        """Refuse a table's one row (with this number among all) that the kernels cannot take."""
        one = np.zeros(1, np.int64)
        side = side_of(rows, one, one, features, self.form.dtype)
        if not np.isfinite(self.checked_lengths(self.evaluator(), side, one)).all():
            raise BadInput(
                "the kernel values are not finite; nothing was learned; scale them, or set dtype='float64'"
            )
        if not self.form.safe and len(self.vectors):
            self.values_of_one(rows, number, features)  # a user's function fails now, or not at all

    def values_of_one(self, rows: Rows, number: int, features: int) -> np.ndarray:
        """k(x_i, x) of every vector and a table's one row."""
        wide, one = self.as_wide_as(rows), np.zeros(1, np.int64)
        side = wide.side(rows, one, one + number, features, np.float64)
        wide.check(side, one, "nothing was answered")
        out = np.zeros((1, len(wide.vectors)))
        wide.evaluator().values(wide.vectors, side, out)
        return np.asarray(out[0])

    def squared_length(
        self, evaluator: Evaluator, coefficients: np.ndarray, rows: Rows | None = None
    ) -> float:
        """|w|^2 = sum_i w_i w(x_i), for any coefficients of the vectors kept.

        Precomputed kernels find their values in `rows`, the table they were fitted on.
        """
        vectors = self.vectors
        if self.form.precomputed:
            assert rows is not None
            ids = vectors.ids.view
            values = rows.values[ids][:, ids] + self.form.constant
            return float(np.sum(coefficients * (values @ coefficients)))
        total = 0.0
        for first in range(0, len(vectors), BLOCK):
            stop = min(first + BLOCK, len(vectors))
            sums = evaluator.sums(vectors, vectors.tile(first, stop, vectors.dtype), coefficients)[0]
            total += float(np.sum(coefficients[first:stop] * sums.T))
        return total

    def scores_by_rows(self, rows: Rows, coefficients: np.ndarray) -> np.ndarray:
        """Scores of all rows of a table by sum_i coefficients[i] k(x_i, .) over the same rows."""
        count, width = len(coefficients), self.vectors.width
        every = Vectors(np.float64)
        whole = side_of(rows, np.arange(count), np.arange(count), width, np.float64)
        every.begin(whole, self.form.precomputed)
        every.append(every.like(whole))
        out, evaluator = np.zeros(coefficients.shape), self.evaluator()
        for first in range(0, count, BLOCK):
            which = np.arange(first, min(first + BLOCK, count))
            side = side_of(rows, which, which, width, np.float64)
            sums = evaluator.sums(every, every.like(side), np.ascontiguousarray(coefficients))
            out[which] = sums.sum(axis=0).T  # (of several kernels: with the same coefficients each)
        return out

    def grams(self, rows: Rows, count: int) -> tuple[np.ndarray, np.ndarray]:
        """(kernels, rows, rows) k of all pairs of a table's rows, in float64, and (kernels, rows) k(x, x)."""
        every, which = Vectors(np.float64), np.arange(count)
        whole = side_of(rows, which, which, self.vectors.width, np.float64)
        every.begin(whole, self.form.precomputed)
        side, evaluator = every.like(whole), self.evaluator()
        own = evaluator.diagonals(side)
        return evaluator.grams(side, own), own
