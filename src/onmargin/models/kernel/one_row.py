"""One sparse row against the vectors kept: its answer, and a round of it that is taken back whole.

Blocks of rows go through matrix products, tile by tile (`products`); one row alone would spend all its time
on getting ready for them. Here arrays stay bound to compiled code. Gaussians of sparse vectors only.
"""

from __future__ import annotations

from typing import TypeGuard

import numpy as np

from ...compiled.one_row import exponents, gaussians, weighed
from ...compiled.one_row import keep as keep_row
from ...compiled.pairs import sparse_squares
from ...compiled.parts import Part, bound
from ...compiled.rows import Sparse
from ...kernels.base import LIMITS
from ...kernels.simple import RBF
from ...learn.kernel_spaces.expansion import Expansion, Prepared
from ...learn.kernel_spaces.table import EXPANSIONS
from ...learn.spaces.ball import size as unit_size
from ...learn.vocabulary import BATCH, NO_ORDER, NO_TRACE, NONE, Examples
from .forms import Bounded, Unbounded
from .model import KernelModel
from .vectors import Grown, Vectors


def can_answer(model: object) -> TypeGuard[KernelModel]:
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
        self.source: tuple[np.ndarray, ...] = (NONE, NONE, NONE)  # what they were made of
        self.entry: Part | None = None

    def _bind(self, rows: Sparse, coefficients: np.ndarray) -> None:
        """The arrays as they are now, and compiled code for their types."""
        kept = self.kept
        values = kept.ready if self.usual else kept.values
        lines = values.buffer, kept.indices.buffer.view(np.uint32), kept.starts.buffer, self.squares.buffer
        source = (values.buffer, kept.starts.buffer, self.squares.buffer)
        self.vectors, self.table = lines, np.empty((len(self.squares.buffer), 1), self.line.dtype)
        if self.entry is None:
            given = (lines, 0, rows, self.line, self.far, self.gamma, self.table)
            if self.line.dtype == np.float32:
                self.entry = bound(gaussians, (*given, coefficients, self.sums))
            else:
                self.weigh = bound(weighed, (self.table, 0, coefficients, self.sums))
                self.entry = bound(exponents, given)
        self.source = source  # last: Ctrl-C before it, and all is bound again

    def add_up(self, rows: Sparse, coefficients: np.ndarray) -> float:
        """`sums` of a row; its squared length, or a number below 0: it must go the long way."""
        kept, squares = self.kept, self.squares.buffer
        values = (kept.ready if self.usual else kept.values).buffer
        first, second, third = self.source
        if first is not values or second is not kept.starts.buffer or third is not squares:
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
        self.plain = model.row.space is EXPANSIONS["plain"] and not model.start.average
        self.share: np.ndarray | None = None  # of the coefficients as they are
        self.keep: Part | None = None
        self.lines: tuple[tuple[np.ndarray, ...], ...] = ()
        self.room = 0, 0  # vectors and entries that there is room for
        if self.learns:
            self._bind()

    def _bind(self) -> None:
        """What the loop is handed: a block of one row, of which the sums change."""
        model, width = self._unbounded(), self.model.width
        own = np.full(1, 1.0 + model.constant)
        block = Prepared(np.zeros((width, 1)), np.zeros((0, 0)), own.reshape(1, 1), own, np.ones(1, np.int64))
        dated = np.zeros((1 if model.start.average else 0, width))
        self.frozen = block.frozen
        self.space = Expansion(np.zeros((1, width)), dated, model.ledger, np.zeros(2))
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
        if self.learns and self.plain:
            coefficients = self._unbounded().coefficients.view
        else:
            weights = model.mean_weights() if model.start.average else model.weights()
            coefficients, self.share = np.ascontiguousarray(weights), None
        if self.exact.add_up(rows, coefficients) < 0.0:
            return None
        return np.asarray((self.exact.sums + self._share(coefficients))[: model.start.outputs].T)

    def _share(self, coefficients: np.ndarray) -> np.ndarray:
        """What the constant adds to every sum."""
        share = self.share
        if share is None:
            share = (self.model.constant * np.add.reduce(coefficients))[:, None]
            if self.plain:
                self.share = share
        return share

    def play(self, rows: Sparse, target: float, known: int) -> bool:
        """A round of weight 1 on a row of so many known features; False, and nothing changed: the long way.

        What stops it before the clock moves on (Ctrl-C, no memory) leaves the model as it was.
        """
        model = self._unbounded()
        coefficients, (weights, drift, _, _) = model.coefficients.view, self.space
        square = self.usual.add_up(rows, coefficients)
        if square < 0.0:
            return False
        np.add(self.usual.sums, self._share(coefficients), out=self.frozen)
        self.target[0] = target
        weights.fill(0.0)
        drift.fill(0.0)
        clock, before = model.clock, Undo(model)
        try:
            model.features = known
            done = self.entry(*self._given())
            if not done[1]:
                before.undo()
                return False
            kept = len(model.kept) if done[5] and np.count_nonzero(weights) else -1
            model.offset, model.rows, model.places = model.rows, model.rows + 1, np.array((kept,))
            if kept >= 0:
                self.share = None
                self._keep(rows, square, known)
            model.clock = done[0]
        except BaseException:
            if model.clock == clock:
                before.undo()
            raise
        return True

    def _keep(self, rows: Sparse, square: float, known: int) -> None:
        """The row as a vector, with what was added for it."""
        model, lines = self._unbounded(), self.lines
        kept, stop = model.kept, int(rows.starts[1])
        count, at = len(kept), len(kept.values)
        if count + 2 > self.room[0] or at + stop > self.room[1]:
            self._make_room(stop)
            lines = self.lines
        given = (*lines, count, at, model.offset, square, rows, self.space.weights, self.space.drift)
        if self.keep is None:
            self.keep = bound(keep_row, given)
        self.keep(*given)
        kept.width = max(kept.width, known)
        self.exact.squares.count = count  # (where it is another than that of the vectors)
        for grown in self.by_vector:
            grown.count = count + 1
        for grown in self.by_entry:
            grown.count = at + stop
        kept.starts.count = count + 2

    def _make_room(self, entries: int) -> None:
        """In all arrays, for one more vector of so many entries."""
        model, kept = self._unbounded(), self.model.kept
        self.exact.squares.count = len(kept)
        self.by_vector = kept.ids, kept.squares, self.exact.squares, model.coefficients, model.drifts
        self.by_entry = kept.values, kept.ready, kept.indices
        for grown in (*self.by_vector, kept.starts):
            grown.reserve(1)
        for grown in self.by_entry:
            grown.reserve(entries)
        ids, squares, exact, coefficients, drifts = (grown.buffer for grown in self.by_vector)
        by_entry = tuple(grown.buffer for grown in self.by_entry)
        self.lines = (ids, squares, exact, kept.starts.buffer, coefficients, drifts), by_entry
        self.room = min(map(len, self.lines[0])), min(map(len, by_entry))


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
