"""Sparse rows as two columns of lists: the indices of what is not zero, and the values there."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from types import ModuleType

import numpy as np

from ...errors import BadInput, require_whole, shown
from ..blocks import Rows, csr
from .arrow import arrow

NAMES = ("indices", "values")  # of columns that are taken for such, where they hold lists
WIDEST = 2**31 - 1  # columns

# Told of bad rows: which, the column's name, what was wanted.
Refuse = Callable[[np.ndarray, str, str], None]


@dataclass(frozen=True)
class Lists:
    """The names of the two columns, and how many columns the rows have (None: as many as the widest)."""

    indices: str
    values: str
    columns: int | None = None

    def __post_init__(self) -> None:
        if self.columns is not None:
            require_whole("columns", self.columns)

    def rows(self, table: Rows, refuse: Refuse) -> Rows:
        """CSR of a table, in order; rows that cannot be are told, and are empty."""
        indices, starts, gone = _flat(table[self.indices], self.indices)
        values, others, missing = _flat(table[self.values], self.values)
        if indices.dtype.kind not in "iu":
            raise BadInput(f"the column {shown(self.indices)} holds {indices.dtype}; wanted whole numbers")
        refuse(gone, self.indices, "a list of indices")
        refuse(missing, self.values, "a list of values")
        lengths = np.diff(starts)
        unlike = lengths != np.diff(others)
        refuse(unlike, self.values, "as many values as indices")
        if unlike.any() or gone.any() or missing.any():
            good = ~(unlike | gone | missing)
            indices, values = indices[np.repeat(good, lengths)], values[np.repeat(good, np.diff(others))]
            lengths = np.where(good, lengths, 0)
            starts = np.r_[0, np.cumsum(lengths)]
        wide = self.columns or WIDEST
        row_of_each = np.repeat(np.arange(len(lengths)), lengths)
        outside = np.bincount(row_of_each[(indices < 0) | (indices >= wide)], minlength=len(lengths)) > 0
        refuse(outside, self.indices, f"indices from 0 to {wide - 1}")
        values = np.asarray(values, np.float64)
        endless = np.bincount(row_of_each[~np.isfinite(values)], minlength=len(lengths)) > 0
        refuse(endless, self.values, "finite numbers")
        indices = np.where(outside[row_of_each], 0, indices) if outside.any() else indices
        made = csr(values, indices.astype(np.int32), starts.astype(np.int32), wide)
        before = np.r_[False, (indices[1:] <= indices[:-1]) & (row_of_each[1:] == row_of_each[:-1])]
        if before.any():
            made.data = made.data.copy()
            made.has_sorted_indices = made.has_canonical_format = False
            made.sort_indices()
            again = np.r_[False, (np.diff(made.indices) == 0) & (np.diff(row_of_each) == 0)]
            twice = np.bincount(row_of_each[again], minlength=len(lengths)) > 0
            refuse(twice & ~outside, self.indices, "every index only once")
        width = self.columns or (int(made.indices.max()) + 1 if made.nnz else 0)
        return csr(made.data, made.indices, made.indptr, width)


def lists_in(
    names: list[str], kinds: list[object], indices: str | None, values: str | None
) -> tuple[str, str] | None:
    """The columns of such rows: those that are named; by "auto" those of the usual names, if they fit."""
    if indices is None or values is None:
        return None
    types = arrow("types")
    both = (NAMES[0] if indices == "auto" else indices, NAMES[1] if values == "auto" else values)
    for name in both:
        if name not in names or not _is_list(types, kinds[names.index(name)]):
            if indices == values == "auto":
                return None
            raise BadInput(f"there is no column {shown(name)} of lists; the columns are {shown(names, 100)}")
    return both


def _is_list(types: ModuleType, kind: object) -> bool:
    return bool(types.is_list(kind) or types.is_large_list(kind))


def _flat(column: Rows, name: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The entries of a column of lists, where each list begins and ends, and which are missing."""
    whole = column.combine_chunks()
    if hasattr(whole, "num_chunks"):
        whole = whole.chunk(0)
    starts = whole.offsets.to_numpy().astype(np.int64)
    entries = whole.values.slice(int(starts[0]), int(starts[-1] - starts[0]))
    gone = np.asarray(whole.is_null().to_numpy(zero_copy_only=False), bool)
    flat = entries.to_numpy(zero_copy_only=False)
    if entries.null_count and flat.dtype.kind != "f":
        raise BadInput(f"the column {shown(name)} holds lists with nulls in them; wanted numbers")
    if flat.dtype.kind not in "iuf":
        raise BadInput(f"the column {shown(name)} holds lists of {flat.dtype}; wanted numbers")
    return flat, starts - starts[0], gone
