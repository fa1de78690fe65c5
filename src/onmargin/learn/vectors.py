"""Vectors as the kernels want them: kept ones, in the input's form, and the rows of a block."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..compiled.pairs import dense_squares, sparse_squares
from ..compiled.rows import Sparse


class Grown:
    """An array that takes lines on at its end; doubles, so that growth is cheap."""

    def __init__(self, array: np.ndarray) -> None:
        self.buffer, self.count = array, len(array)

    def __len__(self) -> int:
        return self.count

    @property
    def view(self) -> np.ndarray:
        """The lines so far."""
        return self.buffer[: self.count]

    def append(self, lines: np.ndarray) -> None:
        """Take lines on."""
        total = self.count + len(lines)
        if total > len(self.buffer):
            room = np.zeros((max(total, 2 * len(self.buffer), 64), *self.buffer.shape[1:]), self.buffer.dtype)
            room[: self.count] = self.view
            self.buffer = room
        self.buffer[self.count : total] = lines
        self.count = total

    def copy(self) -> Grown:
        """The same lines in a place of their own."""
        return Grown(self.view.copy())


class Side:
    """Some vectors: raw as they came, and ready (in the kernel's precision, less a shift).

    `ids` are the row numbers of a precomputed kernel's rows; `shift` is for distances only, which it
    does not change but for the digits it saves. What is known of them already may be given.
    """

    def __init__(
        self, raw: Any, ids: np.ndarray, dtype: Any, shift: Any = None, **known: Any
    ) -> None:  # fmt: skip
        self.ids, self.dtype, self.shift = ids, np.dtype(dtype), shift
        if raw is not None:
            known |= {"raw": raw}
        self.__dict__.update(known)

    def __len__(self) -> int:
        return len(self.ids)

    @cached_property
    def raw(self) -> Any:
        """The vectors as they came: an array, or a CSR matrix."""
        width = int(self.indices.max(initial=-1)) + 1
        return sp.csr_matrix((self.values, self.indices, self.starts), shape=(len(self), width))

    @cached_property
    def sparse(self) -> bool:
        """Is it a CSR matrix?"""
        return bool(sp.issparse(self.raw))

    @cached_property
    def values(self) -> np.ndarray:
        """Stored entries of a CSR matrix."""
        return np.asarray(self.raw.data)

    @cached_property
    def indices(self) -> np.ndarray:
        """Columns of the stored entries."""
        return np.asarray(self.raw.indices)

    @cached_property
    def starts(self) -> np.ndarray:
        """Where each row's entries begin."""
        return np.asarray(self.raw.indptr)

    @cached_property
    def ready(self) -> np.ndarray:
        """The vectors in the kernel's precision: an array, or the stored entries."""
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
        if self.raw.shape[1]:
            self.across, self.squares  # noqa: B018
            if self.sparse:
                self.places  # noqa: B018

    def some(self, rows: np.ndarray) -> Side:
        """A part of them."""
        known = {}
        if not self.sparse and self.raw.shape[1]:
            known = {"ready": self.ready[rows], "squares": self.squares[rows]}
        return Side(self.raw[rows], self.ids[rows], self.dtype, self.shift, **known)

    def view(self, columns: np.ndarray) -> Side:
        """The same vectors, of some columns."""
        return Side(self.raw[:, columns], self.ids, self.dtype)


def picked(rows: Any, which: slice | np.ndarray, width: int) -> Any:
    """Some rows of a table as an array, or as a CSR matrix of so many columns."""
    if not isinstance(rows, Sparse):
        return rows.values[which]
    width = max(width, int(rows.indices[: rows.starts[-1]].max(initial=0)) + 1)
    signed = rows.indices.view(f"i{rows.indices.itemsize}")
    if isinstance(which, slice):
        starts = rows.starts[which.start : which.stop + 1]
        span = slice(starts[0], starts[-1])
        parts = rows.values[span], signed[span], starts - starts[0]
        return sp.csr_matrix(parts, shape=(len(starts) - 1, width))
    whole = sp.csr_matrix((rows.values, signed, rows.starts), shape=(len(rows.starts) - 1, width))
    return whole[which]


class Vectors:
    """Kept vectors, in the form of the first that came: an array, or CSR. Slots are line numbers."""

    def __init__(self, dtype: Any) -> None:
        self.dtype = np.dtype(dtype)
        self.shift: Any = None
        self.ids, self.squares = Grown(np.zeros(0, np.int64)), Grown(np.zeros(0))
        self.kind: str = ""  # "dense", "sparse" or (precomputed: only numbers are kept) "numbers"
        self.width = 0

    def begin(self, first: Side, numbers: bool) -> None:
        """Take on the form of the first vectors seen."""
        self.kind = "numbers" if numbers else "sparse" if first.sparse else "dense"
        self.width = first.raw.shape[1]
        if self.kind == "dense":
            self.raw = Grown(np.zeros((0, self.width), first.raw.dtype))
            self.ready = Grown(np.zeros((0, self.width), self.dtype))
        elif self.kind == "sparse":
            self.values, self.ready = Grown(np.zeros(0, first.raw.dtype)), Grown(np.zeros(0, self.dtype))
            self.indices, self.starts = Grown(np.zeros(0, np.int32)), Grown(np.zeros(1, np.int64))

    def __len__(self) -> int:
        return len(self.ids)

    def like(self, raw: Any, ids: np.ndarray, dtype: Any) -> Side:
        """Rows that came, in the form of those kept; both get as many columns as either has."""
        width = max(self.width, raw.shape[1])
        if self.kind == "dense":
            raw = raw.toarray() if sp.issparse(raw) else raw
            self.widen(width)
            if raw.shape[1] < width:
                raw = np.pad(raw, ((0, 0), (0, width - raw.shape[1])))
        elif self.kind == "sparse":
            raw = sp.csr_matrix(raw)
            raw.resize(raw.shape[0], width)
            self.width = width
        return Side(raw, ids, dtype, self.shift)

    def widen(self, width: int) -> None:
        """More columns, of zeros."""
        if self.kind != "dense" or width <= self.width:
            self.width = max(self.width, width)
            return
        more = ((0, 0), (0, width - self.width))
        if self.shift is not None:
            self.shift = np.pad(self.shift, more[1])
        self.raw, self.ready = Grown(np.pad(self.raw.view, more)), Grown(np.pad(self.ready.view, more))
        self.width = width

    def append(self, side: Side) -> None:
        """Keep these."""
        self.ids.append(side.ids)
        self.squares.append(side.squares if self.kind != "numbers" else np.zeros(len(side)))
        if self.kind == "dense":
            self.raw.append(side.raw)
            self.ready.append(side.ready)
        elif self.kind == "sparse":
            self.values.append(side.values)
            self.ready.append(side.ready)
            self.indices.append(side.indices)
            self.starts.append(side.starts[1:] + self.starts.view[-1])

    def put(self, slots: np.ndarray, side: Side) -> None:
        """Keep these in place of others."""
        self.ids.view[slots] = side.ids
        if self.kind != "numbers":
            self.squares.view[slots] = side.squares
        if self.kind == "dense":
            self.raw.view[slots], self.ready.view[slots] = side.raw, side.ready
        elif self.kind == "sparse":
            order = np.arange(len(self))
            order[slots] = len(self) + np.arange(len(slots))
            table = sp.vstack([self.table(), side.raw], format="csr")[order]
            self.values, self.indices = Grown(table.data), Grown(table.indices.astype(np.int32))
            self.starts, self.ready = (
                Grown(table.indptr.astype(np.int64)),
                Grown(table.data.astype(self.dtype)),
            )

    def table(self) -> Any:
        """The vectors as they came: an array, or a CSR matrix."""
        if self.kind == "dense":
            return self.raw.view
        if self.kind != "sparse":
            return np.zeros((len(self), 0))
        parts = self.values.view, self.indices.view, self.starts.view
        return sp.csr_matrix(parts, shape=(len(self), self.width))

    def tile(self, first: int, stop: int, dtype: Any) -> Side:
        """Vectors first .. stop - 1, ready; in another precision than the usual one they are made so."""
        rows, usual = slice(first, stop), dtype == self.dtype
        ids, squares = self.ids.view[rows], self.squares.view[rows]
        if self.kind == "numbers":
            return Side(np.zeros((len(ids), 0)), ids, dtype)
        if self.kind == "dense":
            made = {"ready": self.ready.view[rows], "squares": squares} if usual else {}
            return Side(self.raw.view[rows], ids, dtype, self.shift, sparse=False, **made)
        starts = self.starts.view[first : stop + 1]
        span = slice(starts[0], starts[-1])
        known: dict[str, Any] = {
            "values": self.values.view[span],
            "indices": self.indices.view[span],
            "sparse": True,
        }
        known["starts"] = (starts - starts[0]).astype(np.int32)
        if usual:
            known |= {"ready": self.ready.view[span], "squares": squares}
        return Side(None, ids, dtype, **known)

    def arrays(self) -> dict[str, np.ndarray]:
        """What a file must hold: the vectors as they came."""
        found = {"ids": self.ids.view}
        if self.shift is not None:
            found["shift"] = self.shift
        if self.kind == "dense":
            found["raw"] = self.raw.view
        elif self.kind == "sparse":
            names = ("values", "indices", "starts")
            found |= {name: getattr(self, name).view for name in names}
        return found

    @classmethod
    def restored(cls, dtype: Any, kind: str, width: int, arrays: dict[str, np.ndarray]) -> Vectors:
        """The vectors of a file."""
        kept = cls(dtype)
        kept.shift = arrays.get("shift")
        raw: Any = np.zeros((len(arrays["ids"]), width))
        if kind == "dense":
            raw = arrays["raw"]
        elif kind == "sparse":
            parts = arrays["values"], arrays["indices"], arrays["starts"]
            raw = sp.csr_matrix(parts, shape=(len(arrays["ids"]), width))
        if kind:
            side = Side(raw, arrays["ids"], dtype, kept.shift)
            kept.begin(side, kind == "numbers")
            kept.append(side)
        return kept

    def copy(self) -> Vectors:
        """The same vectors in arrays of their own."""
        twin = object.__new__(Vectors)
        copied = {n: v.copy() if isinstance(v, Grown) else v for n, v in self.__dict__.items()}
        twin.__dict__.update(copied)
        return twin
