"""Files in parts that others read: byte ranges of whole lines, row groups, whole packed files."""

from __future__ import annotations

import os
from collections.abc import Iterator
from copy import copy
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import cast

import numpy as np

from ..errors import BadFile, BadInput, require_whole, shown
from .blocks import ROWS, Block, Source
from .by_name import format_of, streamed
from .csv import CSVLines
from .parquet import ParquetFiles, group_bytes
from .reading.line_format import LineFormat, Refusals
from .reading.opening import Chunks, LineRange, Lines, Paths, every_file, is_packed, line_starts
from .svmlight import Svmlight

BYTES = 64 << 20  # in a part, unless told
BEGINNING = 4 << 20  # bytes that tell of the others, where there are bad lines among them


@dataclass(frozen=True)
class Part:
    """A part of a file: small, to be sent to whoever reads it. `str` names it.

    start, stop : bytes, or row groups (`is_grouped`). size : bytes of the file when it was split.
    pattern : the source of all parts, with what its first rows have told of the others.
    """

    file: str
    start: int
    stop: int
    size: int
    pattern: Source
    is_grouped: bool = False
    columns: int | None = None

    def __str__(self) -> str:
        if self.is_grouped:
            first, last = self.start, self.stop - 1
            return f"{self.file}, row group" + (f" {first}" if first == last else f"s {first} to {last}")
        whole = (self.start, self.stop) == (0, self.size)
        return self.file if whole else f"{self.file}, bytes {self.start} to {self.stop - 1}"

    def __repr__(self) -> str:
        return f"<part {self}>"

    def blocks(self, rows: int = ROWS) -> Iterator[Block]:
        """Its examples, in blocks of so many."""
        return self.source(rows).blocks()

    def source(self, rows: int = ROWS) -> Source:
        """Its examples as a source of their own, which counts what it skips."""
        self._check_same()
        made = Source(
            self._format(rows), rows=rows, features=self.pattern.features,
            columns=self.columns or self.pattern.columns,
        )  # fmt: skip
        made.learns = False
        return made

    def glance(self) -> tuple[np.ndarray | None, int]:
        """All labels in it, in order (None: there are none), and how many columns: all of it is read."""
        labels, columns = self.source().glance()
        if self.pattern.features is not None:
            first = next(self.blocks(), None)
            columns = 0 if first is None else first.rows.shape[1]
        return labels, columns

    def as_wide(self, columns: int) -> Part:
        """The same with so many columns in every block; a row with more is wrong."""
        return replace(self, columns=columns)

    def _check_same(self) -> None:
        try:
            size = os.path.getsize(self.file)
        except OSError as error:
            raise BadFile(f"cannot read {self}: {error.strerror}") from None
        if size != self.size:
            raise BadFile(
                f"{shown(self.file, 200)} had {self.size} bytes when it was split and has {size} now; split "
                "it again"
            )

    def _format(self, rows: int) -> Svmlight | LineFormat | ParquetFiles:
        format = self.pattern.format
        if isinstance(format, ParquetFiles):
            return format.at(self.file, range(self.start, self.stop), rows, self.columns)
        if (self.start, self.stop) == (0, self.size):
            chunks: Chunks = Lines([self.file])
        else:
            chunks = LineRange(self.file, self.start, self.stop)
        if isinstance(format, Svmlight):
            return format.at(chunks, self.columns)
        return cast("LineFormat", format).at(chunks)


def split(
    paths: Paths,
    *,
    format: str | None = None,
    parts: int | None = None,
    bytes_per_part: int = BYTES,
    strict: bool = True,
    **options: object,
) -> list[Part]:
    """Files as a list of parts, in order, which together hold the same rows, each read where it is asked for.

    paths : a path, a glob, a folder, or a list of them. format, options : those of `open_source`.
    parts : about so many in all (a file is at least one); None: one for every `bytes_per_part`.

    Files of lines are cut where lines end, Parquet between row groups (by their unpacked size). A packed
    file is one part, and so is CSV whose values may go over lines (newlines=True). Only the beginning is
    read: what it tells (do indices begin with 0? which columns are numbers? are labels numbers?) holds in
    every part, and `features` learn from the first block alone. What cannot be read there is an error
    now; strict=False: it is told by the part it is in, when that is read. Parts of svmlight are as wide as
    their widest row: give `columns`, or take the most that `Part.glance` finds, for `Part.as_wide`.

    >>> import onmargin as om, tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "rows.svm"
    >>> _ = path.write_text("1 1:2\\n-1 2:1\\n1 1:3\\n")
    >>> for part in om.sources.split(path, parts=2, columns=2):
    ...     print(part.start, part.stop, [block.rows.toarray().tolist() for block in part.blocks()])
    0 13 [[[2.0, 0.0], [0.0, 1.0]]]
    13 19 [[[3.0, 0.0]]]
    """
    require_whole("bytes_per_part", bytes_per_part)
    if parts is not None:
        require_whole("parts", parts)
    if "rows" in options:
        raise BadInput("rows= is told to Part.blocks(rows=...)")
    files = [os.path.abspath(file) if isinstance(file, str) else file for file in every_file(paths)]
    for file in files:
        if not isinstance(file, str) or not os.path.isfile(file):
            raise BadInput(f"{shown(file)} cannot be split: it is no file that can be read again")
    named = cast("list[str]", files)
    format = format_of(named[0]) if format is None else format
    try:
        pattern = _begun(streamed(named, format, dict(options)), named[0])
    except (BadFile, BadInput) as error:
        if strict:
            raise
        pattern = _begun_despite(error, named, format, dict(options))
    sizes = {file: _sizes(file, pattern, strict) for file in named}
    if parts is not None:
        bytes_per_part = max(1, -(-sum(map(sum, sizes.values())) // parts))
    return [
        Part(file, start, stop, os.path.getsize(file), pattern, isinstance(pattern.format, ParquetFiles))
        for file in named
        for start, stop in _ranges(file, sizes[file], bytes_per_part, pattern)
    ]


def _begun(source: Source, first: str) -> Source:
    """The source after so much of it was read that the rest can be read alike; features have learned."""
    format = cast("Svmlight | LineFormat | ParquetFiles", source.format)
    learn = getattr(source.features, "partial_fit", None)
    for block in format.pieces():
        if learn is not None:
            learn(block.rows)
            learn = None
        if format.settled:
            break
    made = copy(source)  # (with one file: it goes out with every part)
    made.format = (
        format.at(first, range(0), ROWS) if isinstance(format, ParquetFiles) else format.at(Lines([first]))
    )
    return made


def _begun_despite(
    error: BadFile | BadInput, files: list[str], format: str, options: dict[str, object]
) -> Source:
    """What the beginning tells without its bad lines, or that of the first file that can be read.

    Each is in a part that others read, who stop at it or leave it out. Nothing good there: the error.
    """
    for file in files:
        chunks = [file] if format == "parquet" or is_packed(file) else _beginning(file)
        try:
            source = streamed(chunks, format, {**options, "on_error": "skip"})
            pattern = _begun(source, file)
        except (BadFile, BadInput):
            continue
        made = cast("Svmlight | LineFormat | ParquetFiles", pattern.format)
        if made.settled:
            on_error = str(options.get("on_error", "stop"))
            if isinstance(made, Svmlight):
                made.on_error = on_error
            else:
                made.refusals = Refusals(on_error)
            return pattern
    raise error


def _beginning(file: str) -> LineRange:
    """Its first lines: where none of them is good, the others need not be looked at."""
    return LineRange(file, 0, *line_starts(file, [min(BEGINNING, os.path.getsize(file))]))


def _sizes(file: str, pattern: Source, strict: bool) -> list[int]:
    """Bytes of what is not to be cut; a file of lines can be cut anywhere, one that is bad nowhere."""
    if not isinstance(pattern.format, ParquetFiles):
        return [os.path.getsize(file)]
    try:
        return group_bytes(file)
    except BadFile:
        if strict:
            raise
        return [os.path.getsize(file)]  # (who reads it says what is wrong)


def _ranges(file: str, sizes: list[int], bytes_per_part: int, pattern: Source) -> list[tuple[int, int]]:
    """Where the parts of a file begin and end, in bytes or row groups; nothing of an empty file."""
    total = sum(sizes)
    count = max(1, round(total / bytes_per_part))
    wanted = [total * number // count for number in range(1, count)]
    if isinstance(pattern.format, ParquetFiles):
        ends = np.cumsum(sizes)
        cuts, last = [int(np.abs(ends - place).argmin()) + 1 for place in wanted], len(sizes)
    else:
        cuts, last = [] if _is_whole(file, pattern) else line_starts(file, wanted), total
    bounds = sorted({0, *cuts, last})
    return list(pairwise(bounds))


def _is_whole(file: str, pattern: Source) -> bool:
    """Can it only be read from the beginning?"""
    parser = getattr(pattern.format, "parser", None)
    return is_packed(file) or isinstance(parser, CSVLines) and parser.newlines
