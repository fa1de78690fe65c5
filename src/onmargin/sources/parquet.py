"""Parquet files, row group by row group, through pyarrow."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import replace

import numpy as np

from ..errors import BadFile, BadInput, shown
from .blocks import ROWS, Block, Features, Rows, Source, height
from .default_features import default_features, read_whole
from .reading.arrow import arrow
from .reading.columns import Column, Found, Roles, TableReader
from .reading.line_format import Refusals
from .reading.lists import Lists, lists_in
from .reading.opening import STDIN, Lines, One, Paths, every_file, name_of


class ParquetFiles:
    """The tables of files, one file after the other."""

    live = False

    def __init__(
        self,
        paths: Paths,
        roles: Roles,
        on_error: str = "stop",
        batch: int = ROWS,
        lists: Lists | None = None,
    ) -> None:
        self.files, self.batch, self.refusals = every_file(paths), batch, Refusals(on_error)
        self.roles, self.lists = roles, lists
        self.reader = TableReader(roles, lists)
        on_disk = [file for file in self.files if isinstance(file, str) and file != STDIN]
        self.again = len(on_disk) == len(self.files)
        self.bytes_read = 0
        self.bytes_total: int | None = sum(map(os.path.getsize, on_disk)) if self.again else None
        self.groups: range | None = None  # of the one file, those to be read; None: all

    @property
    def settled(self) -> bool:
        """Is all known that the first rows tell of the others?"""
        return self.roles.target is None or self.reader.words.settled

    def at(self, path: str, groups: range, batch: int, columns: int | None = None) -> ParquetFiles:
        """The same at work on row groups of one file, read as what was read so far has shown."""
        lists = self.lists if self.lists is None or columns is None else replace(self.lists, columns=columns)
        twin = ParquetFiles([path], self.roles, "skip" if self.refusals.skips else "stop", batch, lists)
        twin.reader.words, twin.groups = deepcopy(self.reader.words), groups
        return twin

    @property
    def skipped(self) -> int:
        """Bad rows left out since the beginning."""
        return self.refusals.count

    def key(self) -> str | None:
        """What decides the rows, for a cache; None: something that is no file."""
        files = Lines(self.files).key()
        which = "" if self.groups is None else f" {self.groups}"
        options = f"{self.roles!r} {self.lists!r} {self.refusals.skips}"
        return None if files is None else f"parquet {options} {files}{which}"

    def pieces(self) -> Iterator[Block]:
        """A block for each batch of rows."""
        self.bytes_read = 0
        self.refusals.begun()
        for file in self.files:
            yield from self._file(file)

    def _found(self, columns: list[str], name: str) -> Found:
        try:
            if len(set(columns)) < len(columns):
                raise BadInput(f"two columns have one name among {shown(columns, 100)}; wanted each once")
            found = self.roles.found(columns)
            if self.lists is not None:  # they alone are the features
                found.rest = [self.lists.indices, self.lists.values]
                if not {*found.rest} <= {*columns}:
                    raise BadInput(f"wanted columns {shown(found.rest)}; there are {shown(columns, 100)}")
            return found
        except BadInput as error:
            raise BadInput(f"{name}: {error}") from None

    def _file(self, file: One) -> Iterator[Block]:
        pa, parquet = arrow(), arrow("parquet")
        name, before = name_of(file), self.bytes_read
        with read_as_parquet(name):
            with parquet.ParquetFile(_whole(file), page_checksum_verification=True) as opened:
                found = self._found(opened.schema_arrow.names, name)
                sizes = [opened.metadata.row_group(group).num_rows for group in range(opened.num_row_groups)]
                groups = range(len(sizes)) if self.groups is None else self.groups
                done, count = sum(sizes[: groups.start]), max(1, opened.metadata.num_rows)
                size = os.path.getsize(file) if isinstance(file, str) and file != STDIN else 0
                columns = found.needed if self.lists is None else [*found.own, *found.rest]
                for batch in opened.iter_batches(self.batch, row_groups=list(groups), columns=columns):
                    batch.validate(full=True)  # (texts that are none, offsets that lead nowhere)
                    table, start = pa.Table.from_batches([batch]), done

                    def tell(row: int, column: str, value: object, wanted: str, start: int = start) -> None:
                        self.refusals.told(
                            BadFile(
                                f"{name}, row {start + row + 1}, column {shown(column)}: {shown(value, 40)}; "
                                f"wanted {wanted}"
                            )
                        )

                    block = self.reader.block(table, found, tell)
                    done += batch.num_rows
                    self.bytes_read = before + size * done // count
                    if height(block.rows):
                        yield block


def group_bytes(path: str) -> list[int]:
    """Bytes of each row group of a file, unpacked."""
    with read_as_parquet(path), arrow("parquet").ParquetFile(path) as opened:
        metadata = opened.metadata
        return [metadata.row_group(group).total_byte_size for group in range(metadata.num_row_groups)]


@contextmanager
def read_as_parquet(name: str) -> Iterator[None]:
    """What pyarrow says of a bad file (names that are no texts, too) comes as one line."""
    try:
        yield
    except (arrow().ArrowException, OSError, UnicodeDecodeError) as error:
        why = (str(error).splitlines() or [type(error).__name__])[0]
        raise BadFile(f"cannot read {shown(name, 200)} as Parquet: {why}") from None


def _lists(paths: Paths, indices: str | None, values: str | None, columns: int | None) -> Lists | None:
    """The columns of sparse rows, by the first file; None: there are none."""
    first = every_file(paths)[0]
    if not isinstance(first, str) or first == STDIN:  # (it can be read only once: they must be named)
        named = [name for name in (indices, values) if name not in ("auto", None)]
        return Lists(named[0], named[1], columns) if len(named) == 2 else None
    with read_as_parquet(first):
        schema = arrow("parquet").read_schema(first)
    names = lists_in(schema.names, schema.types, indices, values)
    if names is None and columns is not None:
        raise BadInput(f"columns={shown(columns)} is for sparse rows, and {first} has no lists of indices")
    return None if names is None else Lists(*names, columns)


def _whole(file: One) -> str | io.BytesIO:
    """A path; what cannot be read from the end is held in memory."""
    if isinstance(file, str) and file != STDIN:
        return file
    return io.BytesIO((sys.stdin.buffer if isinstance(file, str) else file).read())


def stream(
    paths: Paths,
    *,
    rows: int = ROWS,
    target: Column | None = "auto",
    weight: Column | None = None,
    group: Column | None = None,
    id: Column | None = None,
    text: Column | None = None,
    labels: str = "auto",
    indices: str | None = "auto",
    values: str | None = "auto",
    columns: int | None = None,
    features: Features | str | None = "auto",
    on_error: str = "stop",
) -> Source:
    """Blocks of Parquet files.

    target, weight, group, id, text : columns, by name or place; with `text` that one alone is the features.
    target : "auto" is the column called label, target, y or class; None: there is none.
    labels : "text", "number", or "auto": by the first block.
    indices, values : columns of lists that are sparse rows, the places (from 0) and the numbers there; they
        alone are the features. "auto": those called indices and values, if they hold lists.
    columns : how many sparse rows have; None: as many as the widest so far.
    features : "auto" (`Table`; `Text` with `text`; nothing for sparse rows), None (raw), or anything with
        `transform`.
    """
    lists = _lists(paths, indices, values, columns) if text is None else None
    made = ParquetFiles(paths, Roles(target, weight, group, id, text, labels), on_error, rows, lists)
    chosen = (
        None if lists is not None and features == "auto" else default_features(features, text is not None)
    )
    return Source(made, rows=rows, features=chosen, columns=columns or 0)


def read(
    paths: Paths,
    *,
    target: Column | None = "auto",
    text: Column | None = None,
    labels: str = "auto",
    columns: int | None = None,
    features: Features | str | None = "auto",
    on_error: str = "stop",
) -> tuple[Rows, np.ndarray]:
    """All of it: (X, y)."""
    source = stream(
        paths, rows=1 << 16, target=target, text=text, labels=labels, columns=columns, features=features,
        on_error=on_error,
    )  # fmt: skip
    return read_whole(source)
