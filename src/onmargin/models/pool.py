"""Rows that rounds to come may be drawn from, with their labels: copies, in the form they came in."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from ..compiled.rows import Dense, Rows, Sparse
from ..kernels.sides import Entries, gathered
from .vectors import Grown

SLACK = 256  # rows nobody holds any more that may lie about


class Pool:
    """Rows with marks (1 for every label it has), a weight and a number each; slots are line numbers."""

    def __init__(self, labels: int) -> None:
        self.kind, self.width = "", 0
        self.marks, self.weights = Grown(np.zeros((0, labels), np.int8)), Grown(np.zeros(0))
        self.ids = Grown(np.zeros(0, np.int64))

    def __len__(self) -> int:
        return len(self.ids)

    def _begin(self, sparse: bool, width: int) -> None:
        self.kind, self.width = "sparse" if sparse else "dense", width
        if sparse:
            self.values, self.indices = Grown(np.zeros(0)), Grown(np.zeros(0, np.uint32))
            self.starts = Grown(np.zeros(1, np.int64))
        else:
            self.lines = Grown(np.zeros((0, width)))

    def take(
        self, rows: Rows, which: np.ndarray, marks: np.ndarray, weights: np.ndarray, ids: np.ndarray
    ) -> None:
        """Copy these rows of a table."""
        sparse = isinstance(rows, Sparse)
        if not self.kind:
            self._begin(sparse, 0 if sparse else rows.values.shape[1])
        if self.kind == "dense" and sparse:
            self._to_sparse()
        self.marks.append(marks)
        self.weights.append(weights)
        self.ids.append(ids)
        if isinstance(rows, Sparse):
            self._append(gathered(rows.values, rows.indices, rows.starts.astype(np.int64), which))
        elif self.kind == "sparse":
            table = sp.csr_matrix(rows.values[which])
            self._append({"values": table.data, "indices": table.indices, "starts": table.indptr})
        else:
            self._widen(rows.values.shape[1])
            lines = np.zeros((len(which), self.width))
            lines[:, : rows.values.shape[1]] = rows.values[which]
            self.lines.append(lines)

    def _append(self, parts: Entries) -> None:
        self.values.append(parts["values"])
        self.indices.append(parts["indices"])
        self.starts.append(parts["starts"][1:] + self.starts.view[-1])

    def _widen(self, width: int) -> None:
        if width > self.width:
            self.lines = Grown(np.pad(self.lines.view, ((0, 0), (0, width - self.width))))
            self.width = width

    def _to_sparse(self) -> None:
        table = sp.csr_matrix(self.lines.view)
        del self.lines
        self._begin(True, 0)
        self._append({"values": table.data, "indices": table.indices, "starts": table.indptr})

    def rows_like(self, rows: Rows) -> Rows:
        """The rows as the loop reads them, of the very type of a table's."""
        if isinstance(rows, Sparse):
            values = _locked(self.values.view, rows.values.dtype)
            indices = _locked(self.indices.view, rows.indices.dtype)
            return Sparse(values, indices, _locked(self.starts.view, rows.starts.dtype), rows.bias)
        if self.kind == "dense":
            return Dense(_locked(self.lines.view, rows.values.dtype), rows.bias)
        parts = self.values.view, self.indices.view.view(np.int32), self.starts.view
        table = sp.csr_matrix(parts, shape=(len(self), rows.values.shape[1]))
        return Dense(_locked(table.toarray(), rows.values.dtype), rows.bias)

    def tidy(self, slots: np.ndarray, most: int) -> None:
        """Let go of rows that no slot names, once there are many; `slots` are renumbered."""
        if len(self) <= 2 * most + SLACK:
            return
        held = slots >= 0
        live, numbers = np.unique(slots[held], return_inverse=True)
        slots[held] = numbers
        for name in ("marks", "weights", "ids"):
            setattr(self, name, Grown(getattr(self, name).view[live]))
        if self.kind == "dense":
            self.lines = Grown(self.lines.view[live])
        else:
            parts = gathered(self.values.view, self.indices.view, self.starts.view, live)
            self._begin(True, 0)
            self._append(parts)

    def mark_anew(self, marks: np.ndarray) -> None:
        """Other labels for all rows."""
        self.marks = Grown(marks)

    @property
    def entries(self) -> int:
        """How many numbers are kept."""
        return sum(grown.view.size for grown in vars(self).values() if isinstance(grown, Grown))

    def arrays(self) -> dict[str, np.ndarray]:
        """What a file must hold."""
        return {name: grown.view for name, grown in vars(self).items() if isinstance(grown, Grown)}

    @classmethod
    def restored(cls, kind: str, width: int, arrays: dict[str, np.ndarray], labels: int) -> Pool:
        """The rows of a file, with so many labels; what does not fit is refused."""
        pool = cls(labels)
        if kind:
            pool._begin(kind == "sparse", width)
        for name in list(pool.arrays()):
            like, array = getattr(pool, name).buffer, arrays[name]
            if array.dtype != like.dtype or array.shape[1:] != like.shape[1:]:
                raise ValueError(f"the array {name!r} of its pool has the wrong shape")
            if not np.isfinite(array).all():
                raise ValueError(f"the array {name!r} of its pool is not finite")
            setattr(pool, name, Grown(array.copy()))
        count = len(pool)
        if (
            not np.isin(pool.marks.view, (0, 1)).all()
            or (pool.weights.view < 0).any()
            or (count and not kind)
        ):
            raise ValueError("the marks or weights of its pool are no such")
        lines = {len(pool.marks), len(pool.weights)} | ({len(pool.lines)} if kind == "dense" else set())
        sparse = kind == "sparse" and not _is_csr(pool, count)
        if lines != {count} or sparse:
            raise ValueError("the arrays of its pool do not fit each other")
        return pool

    @property
    def columns(self) -> int:
        """How many columns its rows need."""
        if self.kind == "sparse":
            return int(self.indices.view.max(initial=0)) + 1
        return self.width

    def copy(self) -> Pool:
        """The same rows in arrays of their own."""
        twin = object.__new__(Pool)
        twin.__dict__.update({n: v.copy() if isinstance(v, Grown) else v for n, v in vars(self).items()})
        return twin


def _is_csr(pool: Pool, count: int) -> bool:
    starts = pool.starts.view
    rising = len(starts) == count + 1 and starts[0] == 0 and bool((np.diff(starts) >= 0).all())
    return rising and starts[-1] == len(pool.values) == len(pool.indices)


def _locked(array: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """A view (or a copy, of another type) that compiled code cannot write to."""
    view = array.astype(dtype, copy=False).view()
    view.flags.writeable = False
    return view
