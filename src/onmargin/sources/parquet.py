"""Parquet files, row group by row group, through pyarrow."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Iterator

import numpy as np

from ..errors import BadFile, BadInput, shown
from .arrow import arrow
from .blocks import ROWS, Block, Features, Rows, Source, height
from .columns import Column, Found, Roles, TableReader
from .default_features import default_features, read_whole
from .line_format import Refusals
from .opening import STDIN, Lines, One, Paths, every_file, name_of


class ParquetFiles:
    """The tables of files, one file after the other."""

    live = False

    def __init__(self, paths: Paths, roles: Roles, on_error: str = "stop", batch: int = ROWS) -> None:
        self.files, self.batch, self.refusals = every_file(paths), batch, Refusals(on_error)
        self.roles = roles
        self.reader = TableReader(roles)
        on_disk = [file for file in self.files if isinstance(file, str) and file != STDIN]
        self.again = len(on_disk) == len(self.files)
        self.bytes_read = 0
        self.bytes_total: int | None = sum(map(os.path.getsize, on_disk)) if self.again else None

    @property
    def skipped(self) -> int:
        """Bad rows left out since the beginning."""
        return self.refusals.count

    def key(self) -> str | None:
        """What decides the rows, for a cache; None: something that is no file."""
        files = Lines(self.files).key()
        return None if files is None else f"parquet {self.roles!r} {self.refusals.skips} {files}"

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
            return self.roles.found(columns)
        except BadInput as error:
            raise BadInput(f"{name}: {error}") from None

    def _file(self, file: One) -> Iterator[Block]:
        pa, parquet = arrow(), arrow("parquet")
        name, before = name_of(file), self.bytes_read
        try:
            with parquet.ParquetFile(_whole(file), page_checksum_verification=True) as opened:
                found = self._found(opened.schema_arrow.names, name)
                done, count = 0, max(1, opened.metadata.num_rows)
                size = os.path.getsize(file) if isinstance(file, str) and file != STDIN else 0
                for batch in opened.iter_batches(self.batch, columns=found.needed):
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
        except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
            raise BadFile(
                f"cannot read {shown(name, 200)} as Parquet: {str(error).splitlines()[0]}"
            ) from None


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
    features: Features | str | None = "auto",
    on_error: str = "stop",
) -> Source:
    """Blocks of Parquet files.

    target, weight, group, id, text : columns, by name or place; with `text` that one alone is the features.
    target : "auto" is the column called label, target, y or class; None: there is none.
    labels : "text", "number", or "auto": by the first block.
    features : "auto" (`Table`; `Text` with `text`), None (raw), or anything with `transform`.
    """
    made = ParquetFiles(paths, Roles(target, weight, group, id, text, labels), on_error, rows)
    return Source(made, rows=rows, features=default_features(features, text is not None))


def read(
    paths: Paths,
    *,
    target: Column | None = "auto",
    text: Column | None = None,
    labels: str = "auto",
    features: Features | str | None = "auto",
    on_error: str = "stop",
) -> tuple[Rows, np.ndarray]:
    """All of it: (X, y)."""
    source = stream(
        paths, rows=1 << 16, target=target, text=text, labels=labels, features=features, on_error=on_error
    )
    return read_whole(source)
