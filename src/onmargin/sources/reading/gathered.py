"""CSR piece by piece into one place: memory of what is read whole is written once."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

SPARE = 1.05  # room beyond what the pieces so far let expect


class Gathered:
    """Pieces one after the other; room is made by how much of the file they are."""

    def __init__(self) -> None:
        self.values, self.indices = np.empty(0), np.empty(0, np.int32)
        self.starts: list[np.ndarray] = []  # of each piece, where its rows end
        self.entries = self.columns = 0

    def add(self, rows: sp.csr_matrix, share: float) -> None:
        """One more. share : how much of everything the pieces are by now; 0: nobody knows."""
        first, stop = self.entries, self.entries + len(rows.data)
        if stop > len(self.values) or rows.data.dtype != self.values.dtype:
            room = int(stop * max(SPARE, SPARE / share if share else 2.0))
            kind = np.result_type(self.values, rows.data) if first else rows.data.dtype
            values, indices = np.empty(room, kind), np.empty(room, np.int32)
            values[:first], indices[:first] = self.values[:first], self.indices[:first]
            self.values, self.indices = values, indices
        self.values[first:stop], self.indices[first:stop] = rows.data, rows.indices
        self.starts.append(rows.indptr[1:] + np.int64(first))
        self.entries, self.columns = stop, max(self.columns, rows.shape[1])

    def arrays(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, int]:
        """Values, indices, starts and the number of columns; what was not needed is given back."""
        for array in (self.values, self.indices):
            array.resize(self.entries, refcheck=False)
        wide = np.int64 if self.entries >= 2**31 else np.int32
        starts = np.concatenate([np.zeros(1, np.int64), *self.starts]).astype(wide)
        return self.values, self.indices.astype(wide, copy=False), starts, self.columns
