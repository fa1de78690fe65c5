"""The journal: rows of events in one order, each durable when `append` returns."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple, Protocol

import msgspec

from ..refusals import CannotRead

CREATE, LEARN, UNDO = "create", "learn", "undo"


class Row(NamedTuple):
    """Events `first` to `last` of a model, written at one moment; `payload` is msgpack."""

    first: int
    last: int
    model: str
    kind: str
    at: float
    payload: bytes


class Key(NamedTuple):
    """The first event of a key that a caller gave."""

    model: str
    key: str
    event: int


class Undo(NamedTuple):
    """An event that says that another one shall not have been."""

    event: int
    target: int


class Journal(Protocol):
    """What SQLite and PostgreSQL are to us. One thread appends; reading has connections of its own."""

    def append(self, rows: Sequence[Row], keys: Sequence[Key], freed: Sequence[Key] = ()) -> None:
        """All of it durable, or none of it and an OSError; `freed` are keys that may come again."""

    def probe(self) -> None:
        """Write something durable; an OSError where that cannot be done."""

    def known(self, model: str, keys: Sequence[str]) -> dict[str, int]:
        """Those keys that were met, and their events."""

    def rows(self, model: str, after: int = 0) -> Iterator[Row]:
        """What was learned after an event, in order."""

    def creations(self) -> list[Row]:
        """The rows that made models."""

    def undos(self, model: str) -> list[Undo]:
        """What was taken back."""

    def last(self) -> int:
        """The number of the last event there is."""

    def settled(self) -> int:
        """The same when nothing is under way, also after an append that failed; an OSError: not known."""

    def floor(self, model: str) -> int:
        """What lies at or before this event was compacted."""

    def compact(self, model: str, event: int) -> None:
        """Forget what was learned at or before an event, and its keys."""

    def size(self) -> int:
        """Bytes of all payloads."""

    def before(self, model: str, at: float) -> int:
        """The last event that was learned before a moment (0: none)."""

    def close(self) -> None:
        """Let go of it."""


def open_journal(folder: Path, url: str | None) -> Journal:
    """SQLite in the folder, or PostgreSQL where a URL says so."""
    if url is None:
        from .sqlite_journal import SqliteJournal

        return SqliteJournal(folder / "journal.sqlite")
    if url.startswith(("postgres://", "postgresql://")):
        from .postgres_journal import PostgresJournal

        return PostgresJournal(url)
    from ...errors import BadInput

    raise BadInput(f"journal={url!r}; wanted a URL that begins with postgresql://, or none")


def undos_in(rows: Iterable[Row], model: str) -> list[Undo]:
    """What these rows take back of a model."""
    return [
        Undo(row.first, msgspec.msgpack.decode(row.payload, type=int)) for row in rows if row.model == model
    ]


def mark_of(row: Row) -> int:
    """A checksum over all of a row."""
    head = f"{row.first} {row.last} {row.model} {row.kind} {row.at!r} "
    return zlib.crc32(row.payload, zlib.crc32(head.encode()))


def checked(row: Row, mark: int) -> Row:
    """The row, if it is as it was written."""
    if mark_of(row) != mark:
        raise CannotRead(
            f"the journal is damaged at event {row.first} of model {row.model!r}; restore a copy of it"
        )
    return row
