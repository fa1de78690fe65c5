"""What rounds in place write over, so that it can be put back."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..compiled.rows import Rows, Sparse
from ..learn.spaces.arrays import LEDGER, MARK, ROWS, SLOT, Space


class Journal:
    """The entries of a Space's arrays at the slots of some rows, as they were."""

    def __init__(self, space: Space, arrays: Any, rows: Rows, count: int) -> None:
        self.kept: list[tuple[np.ndarray, Any, np.ndarray]] = []
        assert isinstance(rows, Sparse)
        slots = rows.indices[rows.starts[0] : rows.starts[count]]
        for field, array in zip(space.fields.values(), arrays, strict=True):
            if field.follows:  # (may be written anywhere: it is made again)
                self.kept.append((array, slice(None), np.zeros(())))
            elif field.kind in (SLOT, MARK) and array.size and not field.scratch:
                self._keep(array, slots)
                self._keep(array, slice(len(array) - 1, None))  # the constant coordinate
            elif field.kind in (LEDGER, ROWS):
                self._keep(array, slice(None))

    def _keep(self, array: np.ndarray, where: Any) -> None:
        entries = array[where]
        self.kept.append((array, where, entries.copy() if isinstance(where, slice) else entries))

    def undo(self) -> None:
        """As it was. (A slot that is there twice is put back twice.)"""
        for array, where, entries in self.kept:
            array[where] = entries


def pays(space: Space, arrays: Any, hyper: Any, clock: int, rows: Rows, entries: int) -> bool:
    """Is it less to keep what a pass over rows may write over than to copy so many entries?"""
    if not isinstance(rows, Sparse) or not space.local(arrays, hyper, clock, len(rows.starts) - 1):
        return False
    width = arrays.weights.shape[1] if arrays.weights.ndim == 2 else 1
    return 4 * rows.values.size * width < entries
