"""The journal in SQLite: WAL, synchronous FULL; one file, one process."""

from __future__ import annotations

import errno
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from pathlib import Path

from ...errors import BadFile
from ..refusals import CannotRead
from .journal import CREATE, LEARN, UNDO, Key, Row, Undo, checked, mark_of, undos_in

TABLES = """
CREATE TABLE IF NOT EXISTS rows (
    first INTEGER PRIMARY KEY, last INTEGER NOT NULL, model TEXT NOT NULL, kind TEXT NOT NULL,
    at REAL NOT NULL, payload BLOB NOT NULL, mark INTEGER NOT NULL);
CREATE INDEX IF NOT EXISTS by_model ON rows (model, first);
CREATE TABLE IF NOT EXISTS keys (
    model TEXT NOT NULL, key TEXT NOT NULL, event INTEGER NOT NULL, PRIMARY KEY (model, key)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS floors (model TEXT PRIMARY KEY, event INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS probes (place INTEGER PRIMARY KEY, at REAL);
"""
COLUMNS = "first, last, model, kind, at, payload, mark"
MANY = 500  # keys looked up at once
FORMAT = 1


class SqliteJournal:
    """`connection` is the writer's; every reading opens its own."""

    def __init__(self, path: Path) -> None:
        self.path, self._files = path, dict[Path, int]()
        with damage(path), ExitStack() as opened:
            self.connection = self._open()
            opened.callback(self.connection.close)
            (format,) = self.connection.execute("PRAGMA user_version").fetchone()
            if format not in (0, FORMAT):
                raise BadFile(f"{path} has format {format}; this version reads {FORMAT}; update onmargin")
            self.connection.executescript(TABLES)
            self.connection.execute(f"PRAGMA user_version = {FORMAT}")
            # (not quick_check: a row that an index has lost would be left out in silence)
            (fine,) = self.connection.execute("PRAGMA integrity_check(1)").fetchone()
            if fine != "ok":
                raise BadFile(f"{path} is damaged ({fine[:100]}); restore a copy of it")
            opened.pop_all()
        self._files = {one: _node(one) for one in (path, path.with_name(f"{path.name}-wal"))}

    def _open(self) -> sqlite3.Connection:
        made = sqlite3.connect(self.path, isolation_level=None, check_same_thread=False, timeout=10.0)
        try:
            made.execute("PRAGMA journal_mode = WAL")
            made.execute("PRAGMA synchronous = FULL")
            made.execute("PRAGMA wal_autocheckpoint = 4000")
        except sqlite3.Error:
            made.close()
            raise
        return made

    def append(self, rows: Sequence[Row], keys: Sequence[Key], freed: Sequence[Key] = ()) -> None:
        """One transaction, flushed."""
        with self._transaction() as connection:
            connection.executemany(
                f"INSERT INTO rows ({COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?)",
                [(*row, mark_of(row)) for row in rows],
            )
            if keys:
                connection.executemany("INSERT INTO keys (model, key, event) VALUES (?, ?, ?)", keys)
            if freed:
                connection.executemany("DELETE FROM keys WHERE model = ? AND key = ? AND event = ?", freed)

    def probe(self) -> None:
        """A row that is written again and again."""
        with self._transaction() as connection:
            connection.execute("INSERT OR REPLACE INTO probes VALUES (1, julianday())")

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        connection = self.connection
        self._look()
        try:
            connection.execute("BEGIN IMMEDIATE")
            yield connection
            connection.execute("COMMIT")
        except sqlite3.Error as error:
            with suppress(sqlite3.Error):
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
            raise OSError(errno.EIO, f"the journal cannot be written ({error})", str(self.path)) from None
        except BaseException:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            raise
        self._look()

    def _look(self) -> None:
        """A file that was removed can be written, and nobody will ever read it."""
        for path, node in self._files.items():
            if _node(path) != node:
                self._files[path] = -1  # (from now on: what was written in between is not known)
                raise OSError(
                    errno.EIO, f"{path.name} was removed or replaced under the server; restart it", str(path)
                )

    def known(self, model: str, keys: Sequence[str]) -> dict[str, int]:
        """In the order of the index."""
        found: dict[str, int] = {}
        for start in range(0, len(keys), MANY):
            some = keys[start : start + MANY]
            marks = ", ".join("?" * len(some))
            query = f"SELECT key, event FROM keys WHERE model = ? AND key IN ({marks})"
            found.update(self.connection.execute(query, (model, *some)).fetchall())
        return found

    def rows(self, model: str, after: int = 0) -> Iterator[Row]:
        """A row may begin at or before the event and end after it."""
        query = f"SELECT {COLUMNS} FROM rows WHERE model = ? AND kind = ? AND last > ? ORDER BY first"
        with damage(self.path), closing(self._open()) as connection:
            for *row, mark in connection.execute(query, (model, LEARN, after)):
                yield checked(Row(*row), mark)

    def creations(self) -> list[Row]:
        """In their order."""
        return self._of_kind(CREATE)

    def undos(self, model: str) -> list[Undo]:
        """In their order."""
        return undos_in(self._of_kind(UNDO), model)

    def _of_kind(self, kind: str) -> list[Row]:
        query = f"SELECT {COLUMNS} FROM rows WHERE kind = ? ORDER BY first"
        with damage(self.path), closing(self._open()) as connection:
            return [checked(Row(*row), mark) for *row, mark in connection.execute(query, (kind,))]

    def last(self) -> int:
        """0 for an empty one; compacted events count."""
        with damage(self.path):
            (found,) = self.connection.execute(
                "SELECT max(coalesce((SELECT max(last) FROM rows), 0), "
                "coalesce((SELECT max(event) FROM floors), 0))"
            ).fetchone()
        return int(found)

    def settled(self) -> int:
        """What failed was rolled back."""
        self._look()
        return self.last()

    def floor(self, model: str) -> int:
        """0: everything is there."""
        with closing(self._open()) as connection:
            found = connection.execute("SELECT event FROM floors WHERE model = ?", (model,)).fetchone()
        return 0 if found is None else int(found[0])

    def compact(self, model: str, event: int) -> None:
        """Rows that end at or before it."""
        with self._transaction() as connection:
            connection.execute("INSERT OR REPLACE INTO floors VALUES (?, ?)", (model, event))
            connection.execute(
                "DELETE FROM rows WHERE model = ? AND kind = ? AND last <= ?", (model, LEARN, event)
            )
            connection.execute("DELETE FROM keys WHERE model = ? AND event <= ?", (model, event))

    def size(self) -> int:
        """Payloads alone."""
        (found,) = self.connection.execute("SELECT coalesce(sum(length(payload)), 0) FROM rows").fetchone()
        return int(found)

    def before(self, model: str, at: float) -> int:
        """By the clock of their writing, which never goes back."""
        query = "SELECT coalesce(max(last), 0) FROM rows WHERE model = ? AND kind = ? AND at < ?"
        return int(self.connection.execute(query, (model, LEARN, at)).fetchone()[0])

    def close(self) -> None:
        """What is in the log goes into the file."""
        self.connection.close()


def _node(path: Path) -> int:
    try:
        return path.stat().st_ino
    except OSError:
        return 0


@contextmanager
def damage(path: Path) -> Iterator[None]:
    """A file that is none of SQLite's, or no longer, in one line."""
    try:
        yield
    except sqlite3.DatabaseError as error:
        raise CannotRead(f"{path} cannot be read ({error}); restore a copy of it") from None
