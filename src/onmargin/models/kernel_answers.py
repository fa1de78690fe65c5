"""Answers of a kernel learner: sums over the vectors kept, a block of rows at a time."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from ..compiled.checks import first_not_finite
from ..errors import BadInput
from ..kernels.base import BadRow
from ..kernels.sides import Side, columns_of, side_of
from ..learn.spaces.ball import size as unit_size
from .kernel_state import KernelState
from .products import BLOCK, Evaluator, sharing
from .vectors import Vectors

FAR = 30.0  # gamma |x|^2 from which on float32 cannot tell near vectors apart


class KernelAnswers(KernelState):
    """Scores, lengths, and rows in the form of what is kept."""

    def _side(self, rows: Any, which: np.ndarray, dtype: Any = None, learning: bool = False) -> Side:
        """Rows of a table, in the form of what is kept; the first to be learned from give that form."""
        ids, known = self.offset + which, max(int(self.live[0]), self.kept.width)
        side = side_of(rows, which, ids, known, dtype or self.kept.dtype)
        side.direct = self.form.direct
        if not self.kept.kind and learning:
            self.kept.begin(side, self.form.precomputed)
            if self.form.shifts and not side.sparse:
                self.kept.shift_to(np.median(side.raw, axis=0))  # one strange row does not move it
        side = self.kept.like(side)
        if learning and side.shift is not None and self._lies_far(side.squares):
            self.kept.shift_to(np.median(side.raw, axis=0))  # the stream has moved away
            side = Side(side.raw, side.ids, side.dtype, self.kept.shift, sparse=False)
        return side

    def _lies_far(self, squares: np.ndarray) -> bool:
        """Most rows of the block, that is; one alone is no reason to move."""
        far = FAR / max(self.form.sharpness, 1e-300)
        return bool(squares.mean() > far and np.median(squares) > far)

    def _checked_lengths(self, evaluator: Evaluator, side: Side, rows: np.ndarray) -> np.ndarray:
        """(kernels, rows) k(x, x), none of which may be negative."""
        self._check_side(side, rows, "nothing was learned")
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

    def _check_side(self, side: Side, rows: np.ndarray, done: str) -> None:
        """Refuse rows that a kernel is not made for, by their numbers in the table."""
        try:
            for kernel in self.form.kernels:
                kernel.check(side)
        except BadRow as error:
            raise BadInput(f"row {rows[error.row]} {error.reason}; {done}") from None

    def scores(self, rows: Any, count: int, averaged: bool) -> tuple[np.ndarray, int]:
        """Scores of rows 0 .. count - 1, and how many rows were finite from the first on.

        Few rows are answered in float64: it costs little, and then an answer does not depend, in its last
        digits, on the rows it is asked with.
        """
        dtype = np.dtype(np.float64) if count <= BLOCK else None
        out = np.zeros((count, self.start.outputs))
        done = first_not_finite(rows, count)
        if done < count:
            return out, done
        wide = self._as_wide_as(rows)
        if wide is not self:
            return wide.scores(rows, count, averaged)
        coefficients = np.ascontiguousarray(self.mean_weights() if averaged else self.weights())
        with sharing(len(self.kept)) as threads, np.errstate(over="ignore", invalid="ignore"):
            evaluator = self.evaluator(threads)
            centre = None
            if self.row.space.size is unit_size:  # a ball
                centre = self.squared_length(evaluator, coefficients) + self.omega(averaged) ** 2
            for first in range(0, count, BLOCK):
                some = slice(first, min(first + BLOCK, count))
                which = np.arange(some.start, some.stop)
                side = self._side(rows, which, dtype)
                self._check_side(side, which, "nothing was predicted")
                out[some] = self._block_scores(evaluator, side, coefficients, centre)
        return out, count

    def _as_wide_as(self, rows: Any) -> Self:
        """Itself, or a copy with columns never met: distances count them, and an answer changes nothing."""
        if self.kept.kind != "dense" or columns_of(rows) <= self.kept.width:
            return self
        wide = self.copy()
        wide.kept.widen(columns_of(rows))
        return wide

    def _block_scores(
        self, evaluator: Evaluator, side: Side, coefficients: np.ndarray, centre: float | None
    ) -> np.ndarray:
        """Sums over the vectors kept; of a ball with a centre of this squared length, minus the distance."""
        sums = evaluator.sums(self.kept, side, coefficients)[0]
        if centre is None:
            return np.asarray(sums[: self.start.outputs].T)
        gaps = centre - 2.0 * sums[0] + evaluator.diagonals(side)[0]
        return np.asarray(-np.sqrt(np.maximum(gaps, 0.0)))[:, None]

    def squared_length(self, evaluator: Evaluator, coefficients: np.ndarray, rows: Any = None) -> float:
        """|w|^2 = sum_i w_i w(x_i), for any coefficients of the vectors kept.

        Precomputed kernels find their values in `rows`, the table they were fitted on.
        """
        if self.form.precomputed:
            ids = self.kept.ids.view - self.offset
            values = rows.values[ids][:, ids] + self.form.constant
            return float(np.sum(coefficients * (values @ coefficients)))
        total = 0.0
        for first in range(0, len(self.kept), BLOCK):
            stop = min(first + BLOCK, len(self.kept))
            tile = self.kept.tile(first, stop, self.kept.dtype)
            sums = evaluator.sums(self.kept, tile, coefficients)[0]
            total += float(np.sum(coefficients[first:stop] * sums.T))
        return total

    def own_lengths(self, rows: Any, count: int) -> np.ndarray:
        """k(x, x) of rows."""
        return np.asarray(self.evaluator().diagonals(self._side(rows, np.arange(count)))[0])

    def evaluator(self, threads: int = 1) -> Evaluator:
        """The kernels at work."""
        return Evaluator(self.form.kernels, self.form.constant, threads)

    def scores_of(self, rows: Any, coefficients: np.ndarray) -> np.ndarray:
        """Scores of all rows of a table by sum_i coefficients[i] k(x_i, .) over the same rows."""
        count = len(coefficients)
        every = Vectors(np.float64)
        whole = side_of(rows, np.arange(count), np.arange(count), self.kept.width, np.float64)
        every.begin(whole, self.form.precomputed)
        every.append(every.like(whole))
        out, evaluator = np.zeros(coefficients.shape), self.evaluator()
        for first in range(0, count, BLOCK):
            which = np.arange(first, min(first + BLOCK, count))
            side = side_of(rows, which, which, self.kept.width, np.float64)
            out[which] = evaluator.sums(every, every.like(side), np.ascontiguousarray(coefficients))[0].T
        return out

    def values_of(self, rows: Any) -> np.ndarray:
        """k(x_i, x) of every vector kept and one row."""
        wide = self._as_wide_as(rows)
        if wide is not self:
            return wide.values_of(rows)
        out, side = np.zeros((1, len(self.kept))), self._side(rows, np.arange(1), np.dtype(np.float64))
        self._check_side(side, np.zeros(1, int), "nothing was answered")
        self.evaluator().values(self.kept, side, out)
        return np.asarray(out[0])

    def check_rows(self, rows: Any) -> None:
        """Refuse one row that the kernels cannot take."""
        one = np.zeros(1, np.int64)
        side = side_of(rows, one, one, int(self.live[0]), self.form.dtype)
        own = self._checked_lengths(self.evaluator(), side, one)
        if not np.isfinite(own).all():
            raise BadInput(
                "the kernel values are not finite; nothing was learned; scale them, or set dtype='float64'"
            )
        if not all(kernel.safe for kernel in self.form.kernels) and len(self.kept):
            self.values_of(rows)  # a function of the user's fails now, or not at all
