"""Memory for text and for rows of it: what nobody holds any more serves again.

New memory is given page by page, each of them cleared: that takes a fifth of the time of parsing, and more in
several threads. Who holds an array, or a part of one, is known by Python's count of references.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Sequence

import numpy as np

from ..parsing import svmlight as lines

MOST_BUFFERS = 8  # kept of one file
MOST_ROOMS = 64


class Buffers:
    """For the bytes of chunks."""

    def __init__(self, size: int) -> None:
        self.size, self.kept = size, list[bytearray]()

    def free(self, least: int = 0) -> bytearray:
        """One of at least so many bytes, which are whatever they were."""
        for place in range(len(self.kept)):
            if len(self.kept[place]) >= least and holders(self.kept, place) == UNHELD:
                return self.kept[place]
        made = bytearray(self.size if least <= self.size else 2 * least)
        if len(self.kept) < MOST_BUFFERS:
            self.kept.append(made)
        return made


class Rooms:
    """For the rows of chunks: three arrays go out with a block, the others are each thread's own.

    Threads may ask at once; a thread is done with a chunk before it asks for another.
    """

    def __init__(self) -> None:
        self.kept: list[list[np.ndarray]] = []  # starts, indices, values: those taken last come first
        self.own: dict[int, list[np.ndarray]] = {}
        self.lock = threading.Lock()

    def of(self, size: int) -> lines.Room:
        """Room for the rows of so many bytes: an entry takes 4 bytes or more, a row or a label 2."""
        entries, rows = size // 4 + 1, size // 2 + 2
        with self.lock:
            own = self.own.get(threading.get_ident())
            if own is None or len(own[0]) < rows:
                own = self.own[threading.get_ident()] = own_arrays(entries, rows)
            return lines.Room(*self._out(entries, rows), *own)

    def _out(self, entries: int, rows: int) -> list[np.ndarray]:
        for place, arrays in enumerate(self.kept):
            if len(arrays[0]) >= rows and all(holders(arrays, part) == UNHELD for part in range(3)):
                self.kept.insert(0, self.kept.pop(place))
                return arrays
        made = out_arrays(entries, rows)
        if len(self.kept) < MOST_ROOMS:
            self.kept.insert(0, made)
        return made


def out_arrays(entries: int, rows: int) -> list[np.ndarray]:
    """Starts, indices, values."""
    starts = np.empty(rows, np.int32)
    starts[0] = 0
    return [starts, np.empty(entries, np.int32), np.empty(entries)]


def own_arrays(entries: int, rows: int) -> list[np.ndarray]:
    """The rest of a room."""
    return [
        np.empty(rows), np.zeros(rows, np.int32), np.empty(rows, np.int64), np.empty(rows, np.int64),
        np.empty((entries + rows, 3), np.int64), np.empty(rows, np.int64),
    ]  # fmt: skip


def holders(kept: Sequence[object], place: int) -> int:
    """How many hold one of them, the list and this call among them. (Parts of an array hold the array.)"""
    return sys.getrefcount(kept[place])


UNHELD = holders([bytearray()], 0)  # where only the list does
