"""One sparse row against the vectors kept: its sums, its answer, and a round of it that is taken back whole.

Blocks of rows go through matrix products, tile by tile (`products`); one row alone would spend all its time
on getting ready for them. Here arrays stay bound to compiled code. Gaussians of sparse vectors only.
"""

from __future__ import annotations

import numpy as np

from ..compiled.one_row import exponents, gaussians, weighed
from ..compiled.pairs import sparse_squares
from ..compiled.parts import Part, bound
from ..compiled.rows import Sparse
from ..kernels.base import LIMITS
from ..kernels.simple import RBF
from ..learn.kernel_spaces.expansion import Expansion, Prepared
from ..learn.kernel_spaces.table import EXPANSIONS
from ..learn.spaces.ball import size as unit_size
from ..learn.vocabulary import BATCH, NO_ORDER, NO_TRACE, NONE, Examples
from .kernel import KernelModel
from .kernel_forms import Bounded, Unbounded
from .vectors import Grown, Vectors


def can_answer(model: object) -> bool:
    """Are its scores sums of Gaussians over sparse vectors, which are kept in float64, near the origin?"""
    if not isinstance(model, KernelModel) or type(model) not in (Unbounded, Bounded):
        return False
    kept, kernels = model.kept, model.form.kernels
    if kept.kind != "sparse" or model.form.direct or model.row.space.size is unit_size:
        return False
    return len(kernels) == 1 and type(kernels[0]) is RBF and kept.values.buffer.dtype == np.float64


def can_learn(model: KernelModel) -> bool:
    """Does a round but add its vector, with a coefficient?"""
    added = any(model.row.space is EXPANSIONS[use] for use in ("plain", "shrunk"))
    return added and model.asking is None and model.hyper.numbers[BATCH] <= 1.0


class Comparer:
    """Sums over the vectors kept, of one row after the other, in one precision."""

    def __init__(self, model: KernelModel, dtype: np.dtype) -> None:
        kept, kernel = model.kept, model.form.kernels[0]
        assert isinstance(kernel, RBF)
        self.kept, self.gamma, self.far = kept, kernel.width, LIMITS[dtype] / kernel.width
        self.line = np.zeros(max(model.start.slots, kept.width) + 1, dtype)
        self.usual = dtype == kept.dtype
        self.squares = kept.squares if self.usual else squares_of(kept)
        self.sums = np.zeros((model.width, 1))
        self.vectors: tuple[np.ndarray, ...] = ()
        self.entry: Part | None = None

    def take(self, values: np.ndarray) -> None:
        """A vector of these values was kept."""
        if not self.usual:
            self.squares.count = len(self.kept) - 1  # (a round that was taken back may have left one)
            one = np.empty(1)
            sparse_squares(values, np.array([0, len(values)]), one)
            self.squares.append(one)

    def _bind(self, rows: Sparse, coefficients: np.ndarray) -> None:
        """The arrays as they are now, and compiled code for their types."""
        kept = self.kept
        values = kept.ready if self.usual else kept.values
        lines = values.buffer, kept.indices.buffer.view(np.uint32), kept.starts.buffer, self.squares.buffer
        self.source = (values.buffer, kept.starts.buffer, self.squares.buffer)
        self.vectors, self.table = lines, np.empty((len(self.squares.buffer), 1), self.line.dtype)
        if self.entry is None:
            given = (lines, 0, rows, self.line, self.far, self.gamma, self.table)
            if self.line.dtype == np.float32:
                self.entry = bound(gaussians, (*given, coefficients, self.sums))
            else:
                self.entry = bound(exponents, given)
                self.weigh = bound(weighed, (self.table, 0, coefficients, self.sums))

    def add_up(self, rows: Sparse, coefficients: np.ndarray) -> float:
        """`sums` of a row; its squared length, or a number below 0: it must go the long way."""
        kept, squares = self.kept, self.squares.buffer
        values = (kept.ready if self.usual else kept.values).buffer
        if not self.vectors or self.source[0] is not values or self.source[2] is not squares \
                or self.source[1] is not kept.starts.buffer:  # fmt: skip
            self._bind(rows, coefficients)
        count, entry = len(coefficients), self.entry
        assert entry is not None
        given = (self.vectors, count, rows, self.line, self.far, self.gamma, self.table)
        if self.line.dtype == np.float32:
            return float(entry(*given, coefficients, self.sums))
        own = float(entry(*given))
        if own >= 0.0:
            some = self.table[:count]
            np.exp(some, out=some)
            self.weigh(self.table, count, coefficients, self.sums)
        return own


def squares_of(kept: Vectors) -> Grown:
    """|x|^2 of the vectors as they came."""
    found = np.empty(len(kept))
    sparse_squares(kept.values.view, kept.starts.view, found)
    return Grown(found)


class BoundSupport:
    """A kernel model bound to compiled code, for one sparse row at a time."""

    def __init__(self, model: KernelModel, target: np.ndarray) -> None:
        self.model, self.target = model, target
        self.exact = self.usual = Comparer(model, np.dtype(np.float64))
        if model.kept.dtype != np.float64:
            self.usual = Comparer(model, model.kept.dtype)
        self.learns = can_learn(model)
        if self.learns:
            self._bind()

    def _bind(self) -> None:
        """What the loop is handed: a block of one row, of which the sums change."""
        model, width = self._unbounded(), self.model.width
        own = np.full(1, 1.0 + model.constant)
        block = Prepared(np.zeros((width, 1)), np.zeros((0, 0)), own.reshape(1, 1), own, np.ones(1, np.int64))
        dated = np.zeros((1 if model.start.average else 0, width))
        self.frozen, self.space = block.frozen, Expansion(np.zeros((1, width)), dated, model.ledger, np.zeros(2))
        self.examples = Examples(block, self.target, NONE, NONE, NO_ORDER)
        self.entry = bound(model.played().learner(), self._given())

    def _unbounded(self) -> Unbounded:
        assert isinstance(self.model, Unbounded)
        return self.model

    def _given(self) -> tuple[object, ...]:
        model = self.model
        return self.examples, self.space, model.hyper, model.clock, model.desk, NO_TRACE, 0, 0, 1

    def scores(self, rows: Sparse) -> np.ndarray | None:
        """(1, outputs), by the average where one is kept; None: it goes the long way."""
        model = self.model
        weights = model.mean_weights() if model.start.average else model.weights()
        coefficients = np.ascontiguousarray(weights)
        if self.exact.add_up(rows, coefficients) < 0.0:
            return None
        return np.asarray(self._summed(self.exact, coefficients)[: model.start.outputs].T)

    def _summed(self, comparer: Comparer, coefficients: np.ndarray) -> np.ndarray:
        """What the comparer has added up, and the constant's share."""
        constant = self.model.constant
        if not constant:
            return comparer.sums
        return np.asarray(comparer.sums + (constant * np.add.reduce(coefficients))[:, None])

    def play(self, rows: Sparse, target: float, known: int) -> bool:
        """A round of weight 1 on a row of so many known features; False, and nothing changed: the long way.

        What stops it before the clock moves on (Ctrl-C, no memory) leaves the model as it was.
        """
        model = self._unbounded()
        coefficients, usual = model.coefficients.view, self.usual
        square = usual.add_up(rows, coefficients)
        if square < 0.0:
            return False
        self.frozen[...] = self._summed(usual, coefficients)
        self.target[0], self.space.weights[...], self.space.drift[...] = target, 0.0, 0.0
        clock, before = model.clock, Undo(model)
        try:
            model.features = known
            done = self.entry(*self._given())
            if not done[1]:
                before.undo()
                return False
            model.offset, model.rows = model.rows, model.rows + 1
            model.places = np.full(1, -1, np.int64)
            if done[5] and self.space.weights.any():
                self._keep(model, rows, square, known)
            model.clock = done[0]
        except BaseException:
            if model.clock == clock:
                before.undo()
            raise
        return True

    def _keep(self, model: Unbounded, rows: Sparse, square: float, known: int) -> None:
        """The row as a vector, with what was added for it."""
        kept, stop = model.kept, rows.starts[1]
        values = rows.values[:stop]
        model.places[0] = len(kept)
        kept.width = max(kept.width, known)
        kept.ids.append(np.array([model.offset]))
        kept.squares.append(np.array([square]))
        kept.values.append(values)
        kept.ready.append(values)
        kept.indices.append(rows.indices[:stop])
        kept.starts.append(kept.starts.view[-1:] + stop)
        model.coefficients.append(self.space.weights)
        model.drifts.append(self.space.drift if self.space.drift.size else np.zeros_like(self.space.weights))
        self.exact.take(values)


class Undo:
    """A model before a round that only takes vectors on, at the ends of arrays."""

    def __init__(self, model: Unbounded) -> None:
        kept = model.kept
        self.model, self.numbers = model, model.hyper.numbers.copy()
        self.rows = model.offset, model.rows, model.places, kept.width
        self.count, self.entries = len(kept), len(kept.values)

    def undo(self) -> None:
        """As it was."""
        model, kept = self.model, self.model.kept
        model.hyper.numbers[...] = self.numbers
        model.offset, model.rows, model.places, kept.width = self.rows
        for lines in (kept.ids, kept.squares, model.coefficients, model.drifts):
            lines.count = self.count
        for entries in (kept.values, kept.ready, kept.indices):
            entries.count = self.entries
        kept.starts.count = self.count + 1
