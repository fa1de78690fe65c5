"""A learner on its way between machines: whole, or as the few numbers that differ from a base."""

from __future__ import annotations

import pickle
from typing import NamedTuple

import numpy as np

from .library import Value

WORD = np.dtype(np.uint64)  # what is compared: eight bytes at a time, whatever they mean


class Change(NamedTuple):
    """The words of an array that are others than in the base, and where they lie."""

    places: np.ndarray
    words: np.ndarray


class Parcel(NamedTuple):
    """A pickle without its arrays, and these in the order it wants them.

    An array is its bytes, or a `Change` of the base's: few rows change few weights of a large model.
    """

    head: bytes
    arrays: list[np.ndarray | Change]

    @property
    def size(self) -> int:
        """Bytes on the way."""
        return len(self.head) + sum(
            part.nbytes if isinstance(part, np.ndarray) else part.places.nbytes + part.words.nbytes
            for part in self.arrays
        )


def packed(learner: object, base: Parcel | None = None) -> Parcel:
    """A learner as a parcel; `base` is a whole one, which whoever unpacks it must have too."""
    found: list[pickle.PickleBuffer] = []
    head = pickle.dumps(learner, protocol=5, buffer_callback=found.append)
    arrays = [np.frombuffer(buffer.raw(), np.uint8) for buffer in found]
    if base is None or len(base.arrays) != len(arrays):
        return Parcel(head, [array.copy() for array in arrays])
    return Parcel(head, [_less(array, was) for array, was in zip(arrays, base.arrays, strict=True)])


def unpacked(parcel: Parcel, base: Parcel | None = None) -> Value:
    """The learner again, bit for bit, in arrays of its own."""
    arrays = [
        part.copy() if isinstance(part, np.ndarray) else _with(part, base, number)
        for number, part in enumerate(parcel.arrays)
    ]
    return pickle.loads(parcel.head, buffers=arrays)


def _less(array: np.ndarray, was: np.ndarray | Change) -> np.ndarray | Change:
    """What differs, where that is less."""
    if not isinstance(was, np.ndarray) or len(was) != len(array) or len(array) % WORD.itemsize:
        return array.copy()
    words = array.view(WORD)
    places = np.flatnonzero(words != was.view(WORD))
    small = places.astype(np.uint32 if len(words) < 2**32 else np.uint64)
    if small.nbytes + places.size * WORD.itemsize >= array.nbytes:
        return array.copy()
    return Change(small, words[places])


def _with(change: Change, base: Parcel | None, number: int) -> np.ndarray:
    was = None if base is None else base.arrays[number]
    assert isinstance(was, np.ndarray), "a parcel of changes needs the whole one that it was made beside"
    array = was.copy()
    array.view(WORD)[change.places] = change.words
    return array
