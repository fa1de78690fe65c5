"""The journal in PostgreSQL: the same tables, one server at a time by an advisory lock."""

from __future__ import annotations

import errno
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from ...errors import BadFile, extra
from ..plain import Plain
from ..refusals import CannotRead
from .journal import CREATE, LEARN, UNDO, Key, Row, Undo, checked, mark_of, undos_in

TABLES = (
    """CREATE TABLE IF NOT EXISTS onmargin_rows (
        first BIGINT PRIMARY KEY, last BIGINT NOT NULL, model TEXT NOT NULL, kind TEXT NOT NULL,
        at DOUBLE PRECISION NOT NULL, payload BYTEA NOT NULL, mark BIGINT NOT NULL)""",
    "CREATE INDEX IF NOT EXISTS onmargin_by_model ON onmargin_rows (model, first)",
    """CREATE TABLE IF NOT EXISTS onmargin_keys (
        model TEXT NOT NULL, key TEXT NOT NULL, event BIGINT NOT NULL, PRIMARY KEY (model, key))""",
    "CREATE TABLE IF NOT EXISTS onmargin_floors (model TEXT PRIMARY KEY, event BIGINT NOT NULL)",
    "CREATE TABLE IF NOT EXISTS onmargin_probes (place INTEGER PRIMARY KEY, at TIMESTAMPTZ)",
)
COLUMNS = "first, last, model, kind, at, payload, mark"
LOCK = 0x6F6E6D67  # "onmg"
CHUNK = 1000  # rows that are fetched at a time
WAITS = 10  # seconds for a connection, unless the URL says connect_timeout


class PostgresJournal:
    """`connection` is the writer's, and holds the lock; when it breaks, the next write makes another."""

    def __init__(self, url: str) -> None:
        try:
            import psycopg
        except ImportError:
            raise extra("psycopg", "postgres") from None
        self._psycopg = psycopg
        try:
            given = psycopg.conninfo.conninfo_to_dict(url)
        except psycopg.Error as error:
            raise BadFile(f"the journal's URL cannot be read ({_line(error)}); check it") from None
        self.url = psycopg.conninfo.make_conninfo(url, **{"connect_timeout": WAITS} | given)
        try:
            self.connection = self._open()
        except psycopg.Error as error:
            raise BadFile(f"PostgreSQL cannot be reached ({_line(error)}); check the URL") from None
        with self._transaction() as connection:
            for table in TABLES:
                connection.execute(table)

    def _open(self) -> Plain:
        made = self._psycopg.connect(self.url, autocommit=True)
        found = made.execute("SELECT pg_try_advisory_lock(%s)", (LOCK,)).fetchone()
        if not found or not found[0]:
            made.close()
            raise BadFile("another server writes to this database; stop it first, or use another one")
        made.execute("SET synchronous_commit = on")
        return made

    @contextmanager
    def _transaction(self) -> Iterator[Plain]:
        try:
            if self.connection.closed:
                self.connection = self._open()
            with self.connection.transaction():
                yield self.connection
        except (self._psycopg.Error, BadFile) as error:
            raise OSError(
                errno.EIO, f"the journal cannot be written ({_line(error)})", "PostgreSQL"
            ) from None

    @contextmanager
    def _reading(self) -> Iterator[Plain]:
        try:
            with self._psycopg.connect(self.url) as connection:
                yield connection
        except self._psycopg.Error as error:
            raise CannotRead(f"the journal cannot be read ({_line(error)})") from None

    def append(self, rows: Sequence[Row], keys: Sequence[Key], freed: Sequence[Key] = ()) -> None:
        """One transaction, flushed."""
        with self._transaction() as connection, connection.cursor() as cursor:
            cursor.executemany(
                f"INSERT INTO onmargin_rows ({COLUMNS}) VALUES (%s, %s, %s, %s, %s, %s, %s)",
                [(*row, mark_of(row)) for row in rows],
            )
            if keys:
                cursor.executemany("INSERT INTO onmargin_keys VALUES (%s, %s, %s)", keys)
            if freed:
                gone = "DELETE FROM onmargin_keys WHERE model = %s AND key = %s AND event = %s"
                cursor.executemany(gone, freed)

    def probe(self) -> None:
        """A row that is written again and again."""
        query = "INSERT INTO onmargin_probes VALUES (1, now()) ON CONFLICT (place) DO UPDATE SET at = now()"
        with self._transaction() as connection:
            connection.execute(query)

    def known(self, model: str, keys: Sequence[str]) -> dict[str, int]:
        """All at once."""
        query = "SELECT key, event FROM onmargin_keys WHERE model = %s AND key = ANY(%s)"
        with self._transaction() as connection:
            return dict(connection.execute(query, (model, list(keys))).fetchall())

    def rows(self, model: str, after: int = 0) -> Iterator[Row]:
        """A row may begin at or before the event and end after it."""
        query = (
            f"SELECT {COLUMNS} FROM onmargin_rows WHERE model = %s AND kind = %s AND last > %s ORDER BY first"
        )
        with self._reading() as connection, connection.cursor(name="replay") as cursor:
            cursor.itersize = CHUNK
            for *row, mark in cursor.execute(query, (model, LEARN, after)):
                yield checked(Row(*row), mark)

    def creations(self) -> list[Row]:
        """In their order."""
        return self._of_kind(CREATE)

    def undos(self, model: str) -> list[Undo]:
        """In their order."""
        return undos_in(self._of_kind(UNDO), model)

    def _of_kind(self, kind: str) -> list[Row]:
        query = f"SELECT {COLUMNS} FROM onmargin_rows WHERE kind = %s ORDER BY first"
        with self._reading() as connection:
            return [checked(Row(*row), mark) for *row, mark in connection.execute(query, (kind,))]

    def last(self) -> int:
        """0 for an empty one; compacted events count."""
        query = """SELECT greatest(coalesce((SELECT max(last) FROM onmargin_rows), 0),
            coalesce((SELECT max(event) FROM onmargin_floors), 0))"""
        with self._reading() as connection:
            return int(connection.execute(query).fetchone()[0])

    def settled(self) -> int:
        """By the connection with the lock: whoever wrote before it is gone."""
        with self._transaction():
            return self.last()

    def floor(self, model: str) -> int:
        """0: everything is there."""
        with self._reading() as connection:
            query = "SELECT event FROM onmargin_floors WHERE model = %s"
            found = connection.execute(query, (model,)).fetchone()
        return 0 if found is None else int(found[0])

    def compact(self, model: str, event: int) -> None:
        """Rows that end at or before it."""
        with self._transaction() as connection:
            connection.execute(
                "INSERT INTO onmargin_floors VALUES (%s, %s) ON CONFLICT (model) DO UPDATE SET event = %s",
                (model, event, event),
            )
            connection.execute(
                "DELETE FROM onmargin_rows WHERE model = %s AND kind = %s AND last <= %s",
                (model, LEARN, event),
            )
            connection.execute("DELETE FROM onmargin_keys WHERE model = %s AND event <= %s", (model, event))

    def size(self) -> int:
        """Payloads alone."""
        with self._reading() as connection:
            query = "SELECT coalesce(sum(length(payload)), 0) FROM onmargin_rows"
            return int(connection.execute(query).fetchone()[0])

    def before(self, model: str, at: float) -> int:
        """By the clock of their writing, which never goes back."""
        query = "SELECT coalesce(max(last), 0) FROM onmargin_rows WHERE model = %s AND kind = %s AND at < %s"
        with self._reading() as connection:
            return int(connection.execute(query, (model, LEARN, at)).fetchone()[0])

    def close(self) -> None:
        """And its lock."""
        self.connection.close()


def _line(error: Exception) -> str:
    return " ".join(str(error).split())[:200]
