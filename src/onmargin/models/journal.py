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
            if field.kind in (SLOT, MARK) and array.size and not field.scratch:
                self._keep(array, slots)
                self._keep(array, slice(len(array) - 1, None))  # the constant coordinate
            elif field.kind in (LEDGER, ROWS):
                self._keep(array, slice(None))

    def _keep(self, array: np.ndarray, where: Any) -> None:
        self.kept.append((array, where, array[where].copy()))

    def undo(self) -> None:
        """As it was. (A slot that is there twice is put back twice.)"""
        for array, where, entries in self.kept:
            array[where] = entries


def pays(space: Space, arrays: Any, hyper: Any, rows: Rows, entries: int) -> bool:
    """Is it less to keep what rows may write over than to copy so many entries?"""
    return isinstance(rows, Sparse) and space.local(arrays, hyper) and 4 * rows.values.size < entries
