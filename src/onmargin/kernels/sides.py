"""A block of vectors as kernels read them: as they came, in the kernel's precision, transposed."""

from __future__ import annotations

from functools import cached_property
from typing import TypeAlias, TypedDict, TypeGuard, Unpack

import numpy as np
import scipy.sparse as sp
from numpy.typing import DTypeLike

from ..compiled.entries import copy_entries
from ..compiled.pairs import dense_squares, sparse_squares
from ..compiled.rows import Rows, Sparse
from ..features.matrices import UNSIGNED, read_only

Csr: TypeAlias = sp.csr_matrix
Table: TypeAlias = np.ndarray | Csr  # vectors as they came, one to a line


class Entries(TypedDict):
    """Rows of a CSR matrix: stored entries, their columns, and where each row begins."""

    values: np.ndarray
    indices: np.ndarray
    starts: np.ndarray


class Known(TypedDict, total=False):
    """What need not be found any more about a `Side`."""

    values: np.ndarray
    indices: np.ndarray
    starts: np.ndarray
    ready: np.ndarray
    squares: np.ndarray
    sparse: bool
    width: int
    direct: bool


def is_sparse(table: object) -> TypeGuard[Csr]:
    """Is it a sparse matrix of SciPy's?"""
    return bool(sp.issparse(table))


class Side:
    """Some vectors: raw as they came, and ready (in the kernel's precision, less a shift).

    `ids` are the row numbers of a precomputed kernel's rows; `shift` is for distances only, which it
    does not change but for the digits it saves. What is known of them already may be given.
    """

    direct = False  # distances are summed entry by entry: the rows lie far from the origin

    def __init__(
        self,
        raw: Table | None,
        ids: np.ndarray,
        dtype: DTypeLike,
        shift: np.ndarray | None = None,
        **known: Unpack[Known],
    ) -> None:
        self.ids, self.shift = ids, shift
        self.dtype: np.dtype = np.dtype(dtype)
        self.__dict__.update(known)  # in place of what would be found on first use
        if raw is not None:
            self.__dict__.update(raw=raw, width=raw.shape[1])

    def __len__(self) -> int:
        return len(self.ids)

    @cached_property
    def width(self) -> int:
        """Columns, as far as they are known."""
        return int(self.indices.max(initial=-1)) + 1

    @cached_property
    def raw(self) -> Table:
        """The vectors as they came: an array, or a CSR matrix."""
        return self.table(self.width)

    def table(self, width: int) -> Table:
        """The same with so many columns at least, where they are sparse."""
        if not self.sparse:
            return self.raw
        shape = (len(self), max(width, self.width))
        return sp.csr_matrix((self.values, self.indices, self.starts), shape=shape)

    @cached_property
    def sparse(self) -> bool:
        """Is it a CSR matrix?"""
        return is_sparse(self.raw)

    @property
    def _csr(self) -> Csr:
        return self.raw

    def dense(self) -> np.ndarray:
        """The vectors as an array."""
        return self.raw.toarray() if is_sparse(self.raw) else self.raw

    @cached_property
    def values(self) -> np.ndarray:
        """Stored entries of a CSR matrix."""
        return np.asarray(self._csr.data)

    @cached_property
    def indices(self) -> np.ndarray:
        """Columns of the stored entries."""
        return np.asarray(self._csr.indices)

    @cached_property
    def starts(self) -> np.ndarray:
        """Where each row's entries begin."""
        return np.asarray(self._csr.indptr)

    @cached_property
    def ready(self) -> np.ndarray:
        """The vectors in the kernel's precision: an array, or the stored entries."""
        if self.sparse and self.values.dtype == self.dtype:
            return self.values
        with np.errstate(over="ignore", invalid="ignore"):  # what does not fit is found by its square
            if self.sparse:
                return np.asarray(self.values, self.dtype)
            if self.shift is not None:
                return np.asarray(np.subtract(self.raw, self.shift, dtype=np.float64), self.dtype)
            return np.ascontiguousarray(self.raw, self.dtype)

    @cached_property
    def squares(self) -> np.ndarray:
        """|x|^2 of the ready form, in float64."""
        out = np.empty(len(self))
        if self.sparse:
            sparse_squares(self.ready, self.starts, out)
        else:
            dense_squares(self.ready, out)
        return out

    @cached_property
    def finite(self) -> np.ndarray:
        """Which rows can be learned from."""
        return np.asarray(np.isfinite(self.squares))

    @cached_property
    def columns(self) -> np.ndarray:
        """Columns that a row of a CSR block has."""
        mark = np.zeros(int(self.indices.max(initial=-1)) + 1, bool)
        mark[self.indices] = True
        return np.flatnonzero(mark)

    @cached_property
    def across(self) -> np.ndarray:
        """(columns, rows): the block lying across, only the columns it has."""
        if not self.sparse:
            return np.ascontiguousarray(self.ready.T)
        table = np.zeros((len(self.columns), len(self)), self.dtype)
        lines = np.repeat(np.arange(len(self)), np.diff(self.starts))
        table[self.places[self.indices], lines] = self.ready
        return table

    @cached_property
    def places(self) -> np.ndarray:
        """Where each column lies in `across`, -1 for those it has not; the last: for all further ones."""
        places = np.full(int(self.columns.max(initial=-1)) + 2, -1, np.int32)
        places[self.columns] = np.arange(len(self.columns))
        return places

    def prime(self) -> None:
        """Find what threads would otherwise find at once."""
        if self.width:
            self.across, self.squares  # noqa: B018
            if self.sparse:
                self.places  # noqa: B018

    def beyond(self, length: float) -> Side | None:
        """Those whose squared length is above this, as they came, in float64; None: there are none."""
        if length not in self._beyond:
            rows = np.flatnonzero(self.squares > length)
            self._beyond[length] = self._as_they_came(rows) if len(rows) else None
        return self._beyond[length]

    @cached_property
    def _beyond(self) -> dict[float, Side | None]:
        return {}

    def _as_they_came(self, rows: np.ndarray) -> Side:
        """Some of them in float64, without a shift; `ids` are their numbers among these."""
        if not self.sparse:
            return Side(self.raw[rows], rows, np.float64)
        parts = gathered(self.values, self.indices, self.starts, rows)
        return Side(None, rows, np.float64, sparse=True, width=self.width, direct=True, **parts)

    def some(self, rows: np.ndarray) -> Side:
        """A part of them."""
        ids = self.ids[rows]
        if self.sparse:
            parts = gathered(self.values, self.indices, self.starts, rows)
            return Side(None, ids, self.dtype, sparse=True, width=self.width, **parts)
        known: Known = {"ready": self.ready[rows], "squares": self.squares[rows]} if self.width else {}
        return Side(self.raw[rows], ids, self.dtype, self.shift, **known)

    def view(self, columns: np.ndarray) -> Side:
        """The same vectors, of some columns."""
        return Side(self.table(int(columns.max()) + 1)[:, columns], self.ids, self.dtype)


def columns_of(rows: Rows) -> int:
    """How many columns a table has, as far as its entries say."""
    if not isinstance(rows, Sparse):
        return int(rows.values.shape[1])
    return int(rows.indices[: rows.starts[-1]].max(initial=0)) + 1


def side_of(rows: Rows, which: np.ndarray, ids: np.ndarray, width: int, dtype: DTypeLike) -> Side:
    """Rows of a table, of which at least so many columns are known."""
    together = len(which) == 1 or (
        bool(len(which)) and which[-1] - which[0] == len(which) - 1 and bool((np.diff(which) == 1).all())
    )
    if not isinstance(rows, Sparse):
        some = slice(int(which[0]), int(which[-1]) + 1) if together else which
        return Side(rows.values[some], ids, dtype, sparse=False)
    indices = rows.indices.view(f"i{rows.indices.itemsize}")
    if together:
        starts = rows.starts[which[0] : which[-1] + 2]
        span = slice(starts[0], starts[-1])
        parts: Entries = {
            "values": rows.values[span],
            "indices": indices[span],
            "starts": starts - starts[0],
        }
    else:
        parts = gathered(rows.values, indices, rows.starts, which)
    width = max(width, int(parts["indices"].max(initial=-1)) + 1)
    return Side(None, ids, dtype, sparse=True, width=width, **parts)


def gathered(values: np.ndarray, indices: np.ndarray, starts: np.ndarray, rows: np.ndarray) -> Entries:
    """Some rows of a CSR matrix."""
    if len(rows) == 1:
        first, stop = starts[rows[0]], starts[rows[0] + 1]
        return {
            "values": values[first:stop].copy(),
            "indices": indices[first:stop].copy(),
            "starts": np.array([0, stop - first], starts.dtype),
        }
    ends = np.cumsum(starts[rows + 1] - starts[rows], dtype=np.int64)
    count, unsigned = int(ends[-1]) if len(ends) else 0, UNSIGNED[indices.itemsize]
    parts: Entries = {
        "values": np.empty(count, values.dtype),
        "indices": np.empty(count, indices.dtype),
        "starts": np.r_[0, ends],
    }
    bounds, chosen = read_only(np.asarray(starts, np.int64)), read_only(np.asarray(rows, np.int64))
    given = read_only(values), read_only(indices.view(unsigned))
    copy_entries(*given, bounds, chosen, ends, parts["values"], parts["indices"].view(unsigned))
    return parts
