"""What people did with items, in the order they did it, and the items themselves: durable, in SQLite."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import RLock
from typing import NamedTuple, cast

from ...errors import BadFile
from .items import Content, Item, New

ANSWER, SKIP, TAKE_BACK = "answer", "skip", "forget"
TABLES = """
create table if not exists items (
  number integer primary key, x text not null, about text not null, key text unique);
create table if not exists acts (
  number integer primary key, item integer not null, what text not null, label text, who text not null,
  at real not null, guess text, settled integer not null, event integer);
create table if not exists leases (item integer primary key, who text not null, until real not null);
create table if not exists settings (name text primary key, value text not null);
create index if not exists unsettled on acts (settled) where settled = 0;
create index if not exists by_item on acts (item);
"""


class Act(NamedTuple):
    """Someone answered, skipped, or took that back.

    settled : the model has learned (or unlearned) of it. event : the number its journal gave to an answer.
    """

    number: int
    item: int
    what: str
    label: object = None
    who: str = ""
    at: float = 0.0
    guess: object = None
    settled: bool = False
    event: int | None = None

    @property
    def key(self) -> str:
        """Under which the model learns of it: the same act twice counts once."""
        return f"label-{self.number}"


class Lease(NamedTuple):
    """An item that somebody is looking at, for some time."""

    item: int
    who: str
    until: float


class Acts:
    """One file of one model: items, acts, leases and settings. A call that returned is on the disk.

    Acts are only ever added. What an item has become is its last act.
    """

    def __init__(self, path: Path) -> None:
        self.path, self._lock = path, RLock()
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            self._file = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
            self._file.execute("pragma journal_mode = wal")
            self._file.execute("pragma synchronous = full")
            self._file.executescript(TABLES)
        except sqlite3.Error as error:
            raise BadFile(f"{path} cannot be used ({error}); move it away, or free the disk") from None

    def close(self) -> None:
        """Nothing more is written."""
        with self._lock:
            self._file.close()

    # ---- items

    def add(self, news: Iterable[New]) -> list[Item]:
        """Items in their order, all or none."""
        with self._lock, self._all_or_none():
            first = self._file.execute("select coalesce(max(number) + 1, 0) from items").fetchone()[0]
            made = [
                Item(number, cast("Content", x), about, key)
                for number, (x, about, key) in enumerate(news, first)
            ]
            lines = [
                (item.number, json.dumps(item.x), json.dumps(dict(item.about)), item.key) for item in made
            ]
            self._file.executemany("insert into items values (?, ?, ?, ?)", lines)
            return made

    def items(self) -> list[Item]:
        """All of them, in their order."""
        with self._lock:
            found = self._file.execute("select number, x, about, key from items order by number").fetchall()
        return [Item(number, json.loads(x), json.loads(about), key) for number, x, about, key in found]

    # ---- acts

    def write(self, acts: Sequence[Act], done: Sequence[int] = ()) -> list[Act]:
        """Put them down, numbered, all or none; leases of the items in `done` end."""
        with self._lock, self._all_or_none():
            first = self._file.execute("select coalesce(max(number) + 1, 0) from acts").fetchone()[0]
            made = [act._replace(number=number) for number, act in enumerate(acts, first)]
            self._file.executemany("insert into acts values (?, ?, ?, ?, ?, ?, ?, ?, ?)", map(_line, made))
            self._file.executemany("delete from leases where item = ?", [(item,) for item in done])
            return made

    def settle(self, events: Mapping[int, int | None]) -> None:
        """The model knows of these acts, by these events."""
        lines = [(event, number) for number, event in events.items()]
        with self._lock, self._all_or_none():
            self._file.executemany("update acts set settled = 1, event = ? where number = ?", lines)

    def before(self, act: Act) -> Act | None:
        """What had been said of its item until then."""
        found = self._acts("where item = ? and number < ?", act.item, act.number)
        return found[-1] if found else None

    def all(self) -> list[Act]:
        """In the order they were done."""
        return self._acts("")

    def unsettled(self) -> list[Act]:
        """Those the model may not know of."""
        return self._acts("where settled = 0")

    def _acts(self, condition: str, *given: object) -> list[Act]:
        text = f"select {', '.join(Act._fields)} from acts {condition} order by number"
        with self._lock:
            found = self._file.execute(text, given).fetchall()
        return [
            Act(number, item, what, json.loads(label), who, at, json.loads(guess), bool(settled), event)
            for number, item, what, label, who, at, guess, settled, event in found
        ]

    # ---- leases and settings

    def lease(self, lease: Lease) -> None:
        """Somebody looks at an item (any more than before)."""
        with self._lock, self._all_or_none():
            self._file.execute("insert or replace into leases values (?, ?, ?)", lease)

    def release(self, items: Iterable[int]) -> None:
        """Nobody looks at these."""
        with self._lock, self._all_or_none():
            self._file.executemany("delete from leases where item = ?", [(item,) for item in items])

    def leases(self) -> list[Lease]:
        """All that were not ended."""
        with self._lock:
            return [Lease(*line) for line in self._file.execute("select item, who, until from leases")]

    def set(self, name: str, value: object) -> None:
        """Keep a setting."""
        with self._lock, self._all_or_none():
            self._file.execute("insert or replace into settings values (?, ?)", (name, json.dumps(value)))

    def setting(self, name: str) -> object:
        """As it was kept; None: it was not."""
        with self._lock:
            found = self._file.execute("select value from settings where name = ?", (name,)).fetchone()
        return None if found is None else json.loads(found[0])

    @contextmanager
    def _all_or_none(self) -> Iterator[None]:
        """Commit where all went well; else nothing has happened, and a full disk is said in one line."""
        try:
            self._file.execute("begin immediate")
            yield
            self._file.execute("commit")
        except BaseException as error:
            if self._file.in_transaction:
                self._file.execute("rollback")
            if isinstance(error, sqlite3.Error):
                raise BadFile(f"{self.path} cannot be written ({error}); nothing was kept") from None
            raise


def _line(act: Act) -> tuple[object, ...]:
    label, guess = json.dumps(act.label), json.dumps(act.guess)
    return (act.number, act.item, act.what, label, act.who, act.at, guess, int(act.settled), act.event)
