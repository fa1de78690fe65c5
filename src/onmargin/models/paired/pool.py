"""Rows that rounds to come may be drawn from, with their labels: copies, in the form they came in."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from ...compiled.rows import Dense, Rows, Sparse
from ...kernels.sides import Entries, gathered
from ..kernel.vectors import Grown
from ..layout import (
    MOST_ROUNDS,
    Arrays,
    Facts,
    Layout,
    Misfit,
    Wanted,
    check_starts,
    count,
    csr,
    indices,
    lines,
)

SLACK = 256  # rows nobody holds any more that may lie about


class Pool:
    """Rows with marks (1 for every label it has), a weight and a number each; slots are line numbers."""

    weighted = True  # may a row weigh other than 1?

    def __init__(self, labels: int) -> None:
        self.kind, self.width = "", 0
        self.weighted = False
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
        """Copy these rows of a table; no weights are weights of 1."""
        sparse = isinstance(rows, Sparse)
        if not self.kind:
            self._begin(sparse, 0 if sparse else rows.values.shape[1])
        if self.kind == "dense" and sparse:
            self._to_sparse()
        self.marks.append(marks)
        self.weights.append(weights if weights.size else np.ones(len(which)))
        self.weighted |= bool(weights.size)
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
        """Entries that nobody else holds."""
        if not len(self.values):
            self.values = Grown(np.asarray(parts["values"], np.float64))
            self.indices = Grown(np.asarray(parts["indices"], np.uint32))
        else:
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

    @staticmethod
    def layout(kind: str, width: object, labels: int, facts: Facts, arrays: Arrays) -> Layout:
        """The arrays that a file must hold, of rows with so many labels."""
        prefix, known = "pairing.pool.", max(int(facts["known"]), 1)
        rows = lines(arrays, f"{prefix}ids")
        wide = count("width of the pool", width, 0, known if kind == "dense" else 0)
        wanted = {
            f"{prefix}marks": indices((rows, labels), 2, kind="int8"),
            f"{prefix}weights": Wanted((rows,), least=0.0),
            f"{prefix}ids": indices((rows,), facts.get("rows", MOST_ROUNDS)),
        }
        if kind == "dense":
            wanted[f"{prefix}lines"] = Wanted((rows, wide))
        elif kind == "sparse":
            wanted |= csr(prefix, arrays, rows, known, ("float64",), "uint32")
        elif kind or rows:
            raise Misfit("its pool has rows of no kind")
        return wanted

    @classmethod
    def restored(cls, kind: str, width: int, arrays: Arrays, labels: int) -> Pool:
        """The rows of a file, with so many labels; its arrays fit the layout."""
        pool = cls(labels)
        if kind:
            pool._begin(kind == "sparse", width)
        for name in list(pool.arrays()):
            setattr(pool, name, Grown(arrays[f"pairing.pool.{name}"].copy()))
        pool.weighted = bool((pool.weights.view != 1.0).any())
        if kind == "sparse":
            check_starts(pool.starts.view, len(pool.values))
        return pool

    def sharing(self) -> Pool:
        """The same rows in the same places: what one of the two takes on, the other does not see."""
        twin = object.__new__(Pool)
        twin.__dict__.update({n: v.sharing() if isinstance(v, Grown) else v for n, v in vars(self).items()})
        return twin

    def copy(self) -> Pool:
        """The same rows in arrays of their own."""
        twin = object.__new__(Pool)
        twin.__dict__.update({n: v.copy() if isinstance(v, Grown) else v for n, v in vars(self).items()})
        return twin


def _locked(array: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """A view (or a copy, of another type) that compiled code cannot write to."""
    view = array.astype(dtype, copy=False).view()
    view.flags.writeable = False
    return view
