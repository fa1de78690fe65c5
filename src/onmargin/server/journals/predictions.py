"""Predictions that may get a late label: kept in files that nobody waits for, found by their id.

A request is a record; requests are numbered one after the other, so that of each only its place in the file
is kept in memory. Files are begun anew when they are large or old, and go as a whole.
"""

from __future__ import annotations

import secrets
import struct
import time
import zlib
from array import array
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from threading import Lock
from typing import BinaryIO, NamedTuple

from ..settings import MEGABYTE, Settings

HEAD = struct.Struct("<QdHII")  # number, moment, bytes of the name, bytes of the body, checksum
LOST = 2**64 - 1
PARTS = 4  # files among which what is kept is shared out
MOST_PENDING = 32 * MEGABYTE


class Record(NamedTuple):
    """A request: which model was asked, and the body as it came."""

    model: str
    at: float
    body: bytes


class Segment:
    """One file: where each record is, from a first number on."""

    def __init__(self, path: Path, first: int) -> None:
        self.path, self.first, self.places = path, first, array("Q")
        self.size, self.newest = 0, 0.0

    def note(self, number: int, place: int, at: float) -> None:
        """Numbers left out in between were lost, unless they come late."""
        while self.first + len(self.places) <= number:
            self.places.append(LOST)
        if number >= self.first:
            self.places[number - self.first] = place
        self.newest = max(self.newest, at)


class Predictions:
    """`note` from the thread that answers, `flush` from the one that writes."""

    def __init__(self, folder: Path, settings: Settings) -> None:
        self.folder, self.settings = folder, settings
        self.start, self.number = secrets.token_hex(4), 0
        self.lock = Lock()
        self.pending: deque[tuple[int, Record]] = deque()
        self.waiting = 0  # bytes
        self.segments: dict[str, list[Segment]] = {}
        self.file: BinaryIO | None = None
        self.begun = 0.0
        self.off = not settings.prediction_hours or not settings.prediction_megabytes
        folder.mkdir(parents=True, exist_ok=True)
        for path in sorted(folder.glob("*.log")):
            self._scan(path)

    # ---- answering

    def next(self) -> int:
        """The number of a request."""
        with self.lock:
            self.number += 1
            return self.number

    def note(self, number: int, model: str, body: Callable[[], bytes]) -> None:
        """It will be in a file soon; of too much that waits the oldest is lost."""
        if self.off:
            return
        record = Record(model, time.time(), body())
        with self.lock:
            self.pending.append((number, record))
            self.waiting += len(record.body)
            while self.waiting > MOST_PENDING:
                self.waiting -= len(self.pending.popleft()[1].body)

    def find(self, id: str) -> tuple[Record, int] | None:
        """The request of an id, and the place of the example in it."""
        parts = id.split("-")
        if len(parts) != 3 or not all(part.isalnum() and part.isascii() for part in parts):
            return None
        start, at_most = parts[0], 16
        try:
            number, place = int(parts[1][:at_most], 16), int(parts[2][:at_most])
        except ValueError:
            return None
        if id != f"{start}-{number:x}-{place}":  # one prediction, one id: a label counts once
            return None
        found = None
        with self.lock:
            if start == self.start:
                found = next((record for known, record in self.pending if known == number), None)
            segments = list(self.segments.get(start, ()))
        for segment in () if found is not None else segments:
            if segment.first <= number < segment.first + len(segment.places):
                found = self._read(segment, number)
        too_old = found is not None and time.time() - found.at > self.settings.prediction_hours * 3600
        return None if found is None or too_old else (found, place)

    def _read(self, segment: Segment, number: int) -> Record | None:
        place = segment.places[number - segment.first]
        if place == LOST:
            return None
        try:
            with open(segment.path, "rb") as file:
                file.seek(place)
                found = _record(file)
        except OSError:
            return None
        return found[1] if found is not None and found[0] == number else None

    # ---- writing

    def flush(self) -> None:
        """What waits goes to the file; where it cannot, it is lost, and nobody waits for it."""
        with self.lock:
            some = list(self.pending)
        if not some:
            return
        try:
            segment = self._segment(some[0][0])
            parts, place = [], segment.size
            noted = []
            for number, record in some:
                name = record.model.encode()
                mark = zlib.crc32(record.body, zlib.crc32(name, number & 0xFFFFFFFF))
                whole = HEAD.pack(number, record.at, len(name), len(record.body), mark) + name + record.body
                noted.append((number, place, record.at))
                place += len(whole)
                parts.append(whole)
            assert self.file is not None
            self.file.write(b"".join(parts))
            self.file.flush()
            segment.size = place
            with self.lock:
                for one in noted:
                    segment.note(*one)
        except OSError:
            self._close()  # (another file is begun when there is room)
        finally:
            with self.lock:
                for done in some:
                    if self.pending and self.pending[0] is done:
                        self.waiting -= len(self.pending.popleft()[1].body)

    def _segment(self, number: int) -> Segment:
        mine = self.segments.setdefault(self.start, [])
        limit = self.settings.prediction_megabytes * MEGABYTE / PARTS
        span = self.settings.prediction_hours * 3600 / PARTS
        if self.file is None or mine[-1].size > limit or time.time() - self.begun > span:
            self._close()
            self.drop()
            path = self.folder / f"{self.start}-{number:016x}.log"
            self.file, self.begun = open(path, "wb"), time.time()  # noqa: SIM115
            mine.append(Segment(path, number))
        return mine[-1]

    def drop(self) -> None:
        """Files that are too old, and the oldest of too many."""
        with self.lock:
            every = sorted(
                (one for some in self.segments.values() for one in some), key=lambda one: one.newest
            )
            total = sum(one.size for one in every)
            most = self.settings.prediction_megabytes * MEGABYTE * (PARTS - 1) / PARTS
            for one in every:
                old = time.time() - one.newest > self.settings.prediction_hours * 3600
                if old or total > most:
                    total -= one.size
                    one.path.unlink(missing_ok=True)
                    for some in self.segments.values():
                        if one in some:
                            some.remove(one)

    def _scan(self, path: Path) -> None:
        """The records of a file that are whole."""
        start, _, first = path.stem.partition("-")
        try:
            segment = Segment(path, int(first, 16))
            with open(path, "rb") as file:
                while (record := _record(file)) is not None:
                    number, found = record
                    segment.note(number, segment.size, found.at)
                    segment.size = file.tell()
        except (OSError, ValueError):
            return
        self.segments.setdefault(start, []).append(segment)

    def _close(self) -> None:
        file, self.file = self.file, None
        if file is not None:
            with suppress(OSError):  # (what it could not write it tries once more)
                file.close()

    def close(self) -> None:
        """All that waits is written."""
        self.flush()
        self._close()


def _record(file: BinaryIO) -> tuple[int, Record] | None:
    """The record at the place of the file and its number; None where it is not whole."""
    head = file.read(HEAD.size)
    if len(head) < HEAD.size:
        return None
    number, at, names, length, mark = HEAD.unpack(head)
    name, body = file.read(names), file.read(length)
    whole = len(name) == names and len(body) == length
    if not whole or zlib.crc32(body, zlib.crc32(name, number & 0xFFFFFFFF)) != mark:
        return None
    return number, Record(name.decode(errors="replace"), at, body)
