"""Many texts in one buffer of bytes: what loops without Python objects read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import repeat
from typing import overload

import numpy as np

from ..errors import BadInput, BadType, shown
from .matrices import read_only


class Texts(Sequence[str]):
    """A sequence of texts that lie, as UTF-8, in one buffer: text i is buffer[starts[i]:stops[i]].

    buffer : uint8 array (or bytes); starts, stops : where each text begins and ends. Texts may lie in any
    order, leave gaps (line ends, labels) and overlap. Nothing is copied; what is not UTF-8 is found when a
    text is read.

    >>> from onmargin.features.texts import Texts
    >>> texts = Texts.of(["cheap pills", "Größe"])
    >>> len(texts), texts[1], texts.buffer.size
    (2, 'Größe', 18)
    >>> list(texts[:1])
    ['cheap pills']
    """

    def __init__(
        self, buffer: np.ndarray | bytes | bytearray | memoryview, starts: object, stops: object
    ) -> None:
        self.buffer = np.frombuffer(buffer, np.uint8) if not isinstance(buffer, np.ndarray) else buffer
        if self.buffer.dtype != np.uint8 or self.buffer.ndim != 1:
            raise BadType(
                f"the buffer is a {self.buffer.ndim}-dimensional array of {self.buffer.dtype}; wanted bytes "
                "in a line (uint8)"
            )
        self.buffer = read_only(np.ascontiguousarray(self.buffer))
        self.starts, self.stops = (
            read_only(np.ascontiguousarray(bounds, np.int64)) for bounds in (starts, stops)
        )
        if self.starts.ndim != 1 or self.starts.shape != self.stops.shape:
            raise BadInput(
                f"{self.starts.size} starts for {self.stops.size} stops; wanted one of each a text"
            )
        wrong = (self.starts < 0) | (self.stops < self.starts) | (self.stops > self.buffer.size)
        if wrong.any():
            at = int(wrong.argmax())
            raise BadInput(
                f"text {at} is [{self.starts[at]}:{self.stops[at]}] of {self.buffer.size} bytes; wanted "
                "0 <= start <= stop <= size"
            )

    @classmethod
    def of(cls, texts: Iterable[str]) -> Texts:
        """Of strings, copied into one buffer; itself where it is one already."""
        if isinstance(texts, Texts):
            return texts
        given = _listed(texts)
        try:
            whole = "".join(given)
        except TypeError:
            at = next(at for at, text in enumerate(given) if not isinstance(text, str))
            raise BadType(f"text {at} is {shown(given[at])}; wanted a string") from None
        if whole.isascii():
            return cls._one_after_the_other(whole.encode("ascii"), map(len, given), len(given))
        parts = _encoded(given)
        return cls._one_after_the_other(b"".join(parts), map(len, parts), len(parts))

    @classmethod
    def _one_after_the_other(cls, packed: bytes, lengths: Iterable[int], count: int) -> Texts:
        stops = np.cumsum(np.fromiter(lengths, np.int64, count))
        return cls(packed, np.r_[0, stops[:-1]] if count else stops, stops)

    def __len__(self) -> int:
        return int(self.starts.size)

    @overload
    def __getitem__(self, at: int) -> str: ...

    @overload
    def __getitem__(self, at: slice) -> Texts: ...

    def __getitem__(self, at: int | slice) -> str | Texts:
        if isinstance(at, slice):
            return Texts(self.buffer, self.starts[at], self.stops[at])
        where = range(len(self))[at]
        piece = self.buffer[self.starts[where] : self.stops[where]].tobytes()
        try:
            return piece.decode()
        except UnicodeDecodeError as flaw:
            raise BadInput(
                f"text {where} is not UTF-8: byte {piece[flaw.start]:#04x} at {flaw.start} of "
                f"{shown(piece[max(0, flaw.start - 10) :], 40)}; decode it first"
            ) from None

    def __iter__(self) -> Iterator[str]:
        return map(self.__getitem__, range(len(self)))

    def strings(self) -> list[str]:
        """All of them, several times faster than one by one."""
        if not len(self):
            return []
        first = int(self.starts.min())
        raw = self.buffer[first : int(self.stops.max())].tobytes()
        bounds = zip((self.starts - first).tolist(), (self.stops - first).tolist(), strict=True)
        if raw.isascii():
            whole = raw.decode("ascii")
            return [whole[start:stop] for start, stop in bounds]
        try:
            return [raw[start:stop].decode() for start, stop in bounds]
        except UnicodeDecodeError:
            return list(self)  # says which

    def take(self, rows: object) -> Texts:
        """The texts of these numbers, or where this mask is True; the buffer is shared."""
        numbers = np.asarray(rows)
        return Texts(self.buffer, self.starts[numbers], self.stops[numbers])

    def packed(self) -> Texts:
        """The same texts one after the other in a buffer of their own, nothing between them."""
        stops = np.cumsum(self.stops - self.starts)
        starts = np.r_[0, stops[:-1]] if len(stops) else stops
        if len(stops) and np.array_equal(self.starts[1:], self.stops[:-1]):
            return Texts(self.buffer[self.starts[0] : self.stops[-1]].copy(), starts, stops)
        view = self.buffer.data
        pieces = b"".join(map(view.__getitem__, map(slice, self.starts.tolist(), self.stops.tolist())))
        return Texts(pieces, starts, stops)

    @classmethod
    def joined(cls, parts: Sequence[Texts]) -> Texts:
        """The texts of several, one after the other, in a buffer of their own."""
        packed = [part.packed() for part in parts]
        sizes = np.concatenate([part.stops - part.starts for part in packed])
        stops = np.cumsum(sizes)
        return cls(np.concatenate([part.buffer for part in packed]), stops - sizes, stops)


def _listed(texts: Iterable[str]) -> Sequence[str]:
    if isinstance(texts, str | bytes):
        raise BadType(f"got one text, {shown(texts)}; wanted a list of texts")
    if isinstance(texts, list | tuple):
        return texts
    if isinstance(texts, np.ndarray):
        if texts.ndim != 1:
            raise BadInput(f"got an array of {texts.ndim} dimensions; wanted texts in a line")
        made: list[str] = texts.tolist()
        return made
    try:
        return list(texts)
    except TypeError:
        raise BadType(f"got {shown(texts)}; wanted a list of texts") from None


def _encoded(texts: Sequence[str]) -> list[bytes]:
    try:
        return list(map(str.encode, texts, repeat("utf-8")))
    except UnicodeEncodeError as flaw:
        at = next(at for at, text in enumerate(texts) if text == flaw.object)
        raise BadInput(
            f"text {at} has {flaw.object[flaw.start]!a} at {flaw.start}, half of a character; decode it again"
        ) from None
