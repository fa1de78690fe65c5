"""Columns of a table by their roles: target, weight, group, id, text; all others are features."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from ...errors import BadInput, shown
from ...features.texts import Texts
from ..blocks import Block, Rows
from .lists import Lists
from .target_words import EXACT, TargetWords

Column = str | int  # by name or by place (-1: the last)
USUAL = ("label", "target", "y", "class")  # names of targets


@dataclass(frozen=True)
class Roles:
    """Which column is what; None: there is none. target="auto": a usual name, else `otherwise`."""

    target: Column | None = "auto"
    weight: Column | None = None
    group: Column | None = None
    id: Column | None = None
    text: Column | None = None
    labels: str = "auto"

    def found(self, names: Sequence[str], otherwise: Column | None = None) -> Found:
        """The roles as names of these columns; refused where one does not exist."""
        target = self.target
        if target == "auto":
            target = next((name for name in USUAL if name in names), otherwise)
            if target is None:
                raise BadInput(
                    f"no column is called {', '.join(USUAL)}; the columns are {shown(list(names), 100)}; "
                    "name the target, or None where there is none"
                )
        own = [_name(one, names) for one in (target, self.weight, self.group, self.id, self.text)]
        given = [name for name in own if name is not None]
        if len(set(given)) < len(given):
            raise BadInput(f"one column has two roles among {shown(given)}; wanted a column for each")
        rest = [name for name in names if name not in given]
        return Found(rest, *own)


def _name(column: Column | None, names: Sequence[str]) -> str | None:
    if column is None:
        return None
    if isinstance(column, str):
        if column in names:
            return column
        raise BadInput(f"there is no column {shown(column)}; the columns are {shown(list(names), 100)}")
    if isinstance(column, bool) or not -len(names) <= column < len(names):
        raise BadInput(f"there is no column {shown(column)}; there are {len(names)}, counted from 0")
    return names[column]


@dataclass
class Found:
    """The names of columns by role, and those of the features."""

    rest: list[str]
    target: str | None
    weight: str | None
    group: str | None
    id: str | None
    text: str | None

    @property
    def needed(self) -> list[str] | None:
        """Columns to be read where features are one text; None: all."""
        return None if self.text is None else self.own

    @property
    def own(self) -> list[str]:
        """Columns with a role."""
        every = (self.target, self.weight, self.group, self.id, self.text)
        return [name for name in every if name is not None]


# Told of a bad row: its number in the table, the column's name, what stands there, what was wanted.
Tell = Callable[[int, str, object, str], None]


class TableReader:
    """Tables of pyarrow to blocks; rows with a bad target, weight, group or text are told and left out."""

    def __init__(self, roles: Roles, lists: Lists | None = None) -> None:
        self.roles, self.lists, self.words = roles, lists, TargetWords(roles.labels)

    def block(self, table: Rows, found: Found, tell: Tell) -> Block:
        """The examples of a table."""
        import pyarrow as pa

        bad = np.zeros(table.num_rows, bool)

        def refuse(rows: np.ndarray, name: str, wanted: str) -> None:
            for row in np.flatnonzero(rows & ~bad).tolist():
                tell(row, name, table[name][row].as_py(), wanted)
            bad[rows] = True

        targets = weights = groups = ids = None
        if found.target is not None:
            targets, wrong, wanted = self._targets(table[found.target])
            refuse(wrong, found.target, wanted)
        if found.weight is not None:
            weights = _numbers(table[found.weight])
            refuse(~(np.isfinite(weights) & (weights >= 0)), found.weight, "a weight of at least 0")
        if found.group is not None:
            groups = _plain(table[found.group])
            refuse(_missing(table[found.group]), found.group, "a group")
        if found.id is not None:
            ids = _plain(table[found.id])
        rows = table
        if found.text is not None:
            refuse(_missing(table[found.text]), found.text, "a text")
            rows = texts_of(table[found.text], found.text)
        elif self.lists is not None:
            rows = self.lists.rows(table, refuse)
        else:
            rows = table.select(found.rest)
            for name in found.rest:
                if pa.types.is_floating(table.schema.field(name).type):
                    refuse(np.isinf(table[name].to_numpy()), name, "a finite number")
        if not bad.any():
            return Block(rows, targets, weights, groups, ids)
        good = ~bad
        kept = rows[np.flatnonzero(good)] if self.lists is not None else rows.take(np.flatnonzero(good))
        return Block(
            kept, *(None if part is None else part[good] for part in (targets, weights, groups, ids))
        )

    def _targets(self, column: Rows) -> tuple[np.ndarray, np.ndarray, str]:
        """Targets, which are bad, and what was wanted there."""
        import pyarrow as pa

        kind = column.type
        if pa.types.is_boolean(kind) or pa.types.is_integer(kind) or pa.types.is_floating(kind):
            if self.words.kind == "text":
                column = column.cast(pa.string())
            else:
                numbers = _numbers(column)
                beyond = pa.types.is_integer(kind) & (np.abs(numbers) >= EXACT)
                if self.words.kind == "number" or not beyond.any():
                    self.words.kind = "number"
                    return numbers, ~np.isfinite(numbers) | beyond, "a finite number, if whole below 2^53"
                column = column.cast(pa.string())
        missing = _missing(column)
        words = ["" if word is None else str(word) for word in column.to_pylist()]
        self.words.settle([word for word, gone in zip(words, missing.tolist(), strict=True) if not gone])
        targets, wrong = self.words.made(words)
        return targets, wrong | missing, self.words.wanted


def _missing(column: Rows) -> np.ndarray:
    return np.asarray(column.is_null().to_numpy(), bool)


def _numbers(column: Rows) -> np.ndarray:
    """float64, NaN where there is none or where it is no number."""
    import pyarrow as pa

    kind = column.type
    if pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_dictionary(kind):
        words = TargetWords("number")
        return words.made(["" if word is None else str(word) for word in column.to_pylist()])[0]
    if pa.types.is_null(kind):
        return np.full(len(column), math.nan)
    try:
        return np.asarray(column.cast(pa.float64(), safe=False).to_numpy(), np.float64)
    except pa.ArrowInvalid:
        raise BadInput(f"a column of {kind} cannot be numbers; name another") from None


def _plain(column: Rows) -> np.ndarray:
    found = column.to_numpy()
    plain = found.dtype.kind in "iu" or found.dtype.kind == "f" and not column.null_count
    return np.asarray(found) if plain else np.array(column.to_pylist(), object)


def texts_of(column: Rows, name: str) -> Texts:
    """The buffer of the column itself where it is one."""
    import pyarrow as pa

    if not (pa.types.is_string(column.type) or pa.types.is_large_string(column.type)):
        raise BadInput(f"the column {shown(name)} is of {column.type}; wanted texts")
    whole = column.combine_chunks() if hasattr(column, "combine_chunks") else column
    if isinstance(whole, pa.ChunkedArray):
        whole = whole.chunk(0) if whole.num_chunks else pa.array([], column.type)
    whole = whole.cast(pa.large_string())
    _, offsets, letters = whole.buffers()
    bounds = (
        np.frombuffer(offsets, np.int64)[whole.offset : whole.offset + len(whole) + 1]
        if offsets
        else np.zeros(1, np.int64)
    )
    buffer = (
        np.frombuffer(letters, np.uint8) if letters is not None and letters.size else np.empty(0, np.uint8)
    )
    return Texts(buffer, bounds[:-1], bounds[1:])
