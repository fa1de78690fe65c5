"""CSV and TSV through pyarrow, chunk by chunk; a bad line is found and told by its place."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import compress

import numpy as np

from ..errors import BadFile, BadInput, shown
from .blocks import ROWS, Block, Features, Rows, Source
from .default_features import default_features, read_whole
from .reading.arrow import arrow
from .reading.columns import Column, Found, Roles, TableReader
from .reading.line_format import LineFormat, Refusals
from .reading.opening import Chunk, Chunks, Paths
from .reading.target_words import EXACT, NUMBER

QUOTE, NEWLINE, RETURN = 34, 10, 13
NO_VALUE = ("", "NA", "N/A", "NaN", "nan", "null", "NULL", "None", "?")
KINDS = ("number", "text")
SAMPLE = 1000  # values that tell what a column holds
LONGEST_VALUE = 1 << 26  # bytes of one value that goes over lines


class CSVLines:
    """Reads lines of values; what the first chunk shows of each column (number or text) stays so.

    header : the first line of every file has names; else columns are called "0", "1", ...
    newlines : values in quotes may go over lines.
    """

    def __init__(
        self,
        roles: Roles,
        *,
        delimiter: str = "auto",
        header: bool = True,
        newlines: bool = False,
        types: Mapping[str, str] | None = None,
    ) -> None:
        if delimiter != "auto" and (len(delimiter) != 1 or delimiter in '"\r\n' or not delimiter.isascii()):
            raise BadInput(f"delimiter={shown(delimiter)}; wanted one character, like ',' or a tab")
        wrong = [kind for kind in (types or {}).values() if kind not in KINDS]
        if wrong:
            raise BadInput(f"types has {shown(wrong[0])}; wanted 'number' or 'text'")
        self.roles, self.header, self.newlines = roles, header, newlines
        self.delimiter, self.types = delimiter, dict(types or {})
        self.key = f"csv {roles!r} {delimiter!r} {header} {newlines} {self.types}"
        self.reader = TableReader(roles)
        self.names: list[str] = []
        self.kinds: dict[str, str] = {}
        self.columns: Found | None = None

    @property
    def settled(self) -> bool:
        """Is it known what the columns and the targets are?"""
        known = self.columns is not None and (self.columns.target is None or self.reader.words.settled)
        return known and bool(self.kinds)

    # ---- chunks

    def blocks(self, chunks: Iterable[Chunk], refuse: Refusals) -> Iterator[Block]:
        """A block a chunk; the header of each file is read and compared (a range within one has none)."""
        file: str | None = None
        for chunk in self._closed(chunks):
            if chunk.file != file:
                file = chunk.file
                chunk = chunk if chunk.origin else self._begun(chunk)
            block = self._block(chunk, refuse) if len(chunk.text) else None
            if block is not None:
                yield block

    def _closed(self, chunks: Iterable[Chunk]) -> Iterator[Chunk]:
        """Chunks in which every quote is closed, where values may go over lines."""
        waiting: Chunk | None = None
        for chunk in chunks:
            if waiting is not None and waiting.file != chunk.file:
                raise self._open(waiting)
            if waiting is not None:
                chunk = waiting._replace(text=np.concatenate([waiting.text, chunk.text]))
            waiting = None
            if self.newlines and np.count_nonzero(chunk.text == QUOTE) % 2:
                if len(chunk.text) > LONGEST_VALUE:
                    raise self._open(chunk)
                waiting = chunk
            else:
                yield chunk
        if waiting is not None:
            raise self._open(waiting)

    def _open(self, chunk: Chunk) -> BadFile:
        last = int(np.flatnonzero(chunk.text == QUOTE)[-1])
        return chunk.refusal(last, 40, "a quote that closes this one")

    def _begun(self, chunk: Chunk) -> Chunk:
        """Without its header; names are those of the first file."""
        if self.delimiter == "auto":
            stem = chunk.file.lower().removesuffix(".gz").removesuffix(".xz").removesuffix(".bz2")
            self.delimiter = "\t" if stem.removesuffix(".zst").endswith((".tsv", ".tab")) else ","
        end = int(np.flatnonzero(chunk.text == NEWLINE)[0]) + 1
        first = self._values(chunk.text[:end].tobytes())
        if first is None:
            raise chunk.refusal(0, end, "names of columns in UTF-8" if self.header else "values in UTF-8")
        names = (
            [name.strip() for name in first] if self.header else [str(place) for place in range(len(first))]
        )
        if self.names and names != self.names:
            raise chunk.refusal(0, end - 1, f"the columns of the first file, {shown(self.names, 100)}")
        if len(set(names)) < len(names) or "" in names or not names:
            raise chunk.refusal(
                0, end - 1, "a name of its own for each column (header=False: there are none)"
            )
        self.names = names
        try:
            self.columns = self.roles.found(names, otherwise=-1)
        except BadInput as error:
            raise BadInput(f"{chunk.file}, line {chunk.first_line}: {error}") from None
        return chunk._replace(text=chunk.text[end:], line=chunk.line + 1) if self.header else chunk

    def _values(self, line: bytes) -> list[str] | None:
        """The values of one line; None where it cannot be read."""
        try:
            return next(csv.reader([line.decode().rstrip("\r\n")], delimiter=self.delimiter, strict=True), [])
        except (UnicodeDecodeError, csv.Error):
            return None

    # ---- one chunk

    def _block(self, chunk: Chunk, refuse: Refusals) -> Block | None:
        """None where no line of it is good."""
        assert self.columns is not None
        arrow_error = arrow().ArrowInvalid
        lines = None
        try:
            if not self.newlines and (self._has_open_quote(chunk.text) or _has_bare_return(chunk.text)):
                raise arrow_error("a quote or a return within lines")
            table = self._table(chunk.text)
        except arrow_error as error:
            if self.newlines:
                raise self._unread(chunk, error) from None
            lines = self._without_bad(chunk, refuse)
            if not lines.starts:
                return None
            try:
                table = self._table(lines.text())
            except arrow_error as error:
                raise self._unread(chunk, error) from None
            if table.num_rows != len(lines.starts):
                raise self._unread(chunk, "lines that are several rows") from None
        return self.reader.block(table, self.columns, _Telling(self, chunk, lines, refuse).tell)

    def _unread(self, chunk: Chunk, error: object) -> BadFile:
        found = shown(str(error).splitlines()[0], 200)
        return BadFile(f"{chunk.file}, from line {chunk.first_line} on: {found}")

    def _has_open_quote(self, text: np.ndarray) -> bool:
        quotes = np.flatnonzero(text == QUOTE)
        if not len(quotes):
            return False
        line_of_each = np.searchsorted(np.flatnonzero(text == NEWLINE), quotes)
        return bool((np.bincount(line_of_each) % 2).any())

    def _table(self, text: np.ndarray) -> Rows:
        pa = arrow()
        if not self.kinds:
            self.kinds = self._kinds_of(self._parsed(text, None))
        needed = self.columns.needed if self.columns else None
        types = {"number": pa.float64(), "text": pa.string()}
        return self._parsed(text, {name: types[self.kinds[name]] for name in needed or self.names}, needed)

    def _parsed(
        self, text: np.ndarray, types: Mapping[str, object] | None, needed: Sequence[str] | None = None
    ) -> Rows:
        pa, pacsv = arrow(), arrow("csv")
        return pacsv.read_csv(
            pa.py_buffer(np.ascontiguousarray(text)),
            pacsv.ReadOptions(use_threads=False, column_names=self.names, block_size=len(text) + 1),
            pacsv.ParseOptions(delimiter=self.delimiter, newlines_in_values=self.newlines),
            pacsv.ConvertOptions(
                column_types=types, include_columns=needed, null_values=NO_VALUE, timestamp_parsers=[],
                strings_can_be_null=True,
            ),
        )  # fmt: skip

    def _kinds_of(self, table: Rows) -> dict[str, str]:
        """number or text, by the first chunk; a column without a value is taken for numbers."""
        unknown = set(self.types) - set(self.names)
        if unknown:
            raise BadInput(
                f"types names {shown(sorted(unknown)[0])}; the columns are {shown(self.names, 100)}"
            )
        types = arrow("types")
        made = {}
        for name, kind in zip(self.names, table.schema.types, strict=True):
            is_number = types.is_integer(kind) or types.is_floating(kind) or types.is_null(kind)
            if not is_number and types.is_string(kind):
                is_number = _mostly_numbers(table[name].slice(0, SAMPLE).to_pylist())
            if types.is_integer(kind) and self._names_things(name):  # labels that differ are to stay apart
                is_number = not (np.abs(table[name].drop_null().to_numpy()) >= EXACT).any()
            made[name] = self.types.get(name, "number" if is_number else "text")
        return made

    def _names_things(self, name: str) -> bool:
        """Are its values labels, groups or ids?"""
        return self.columns is not None and name in (self.columns.target, self.columns.group, self.columns.id)

    # ---- bad lines

    def _without_bad(self, chunk: Chunk, refuse: Refusals) -> _Lines:
        """The good lines of a chunk; the others are told."""
        lines = _Lines(chunk.text)
        if not self.kinds:  # of the lines that have a value for each column
            whole = [len(self._values(line) or ()) == len(self.names) for line in lines.each()]
            good = lines.only(whole)
            self.kinds = self._kinds_of(self._parsed(good.text(), None)) if len(good.starts) else {}
        return lines.only(
            [
                self._is_good(chunk, refuse, start, line)
                for start, line in zip(lines.starts, lines.each(), strict=True)
            ]
        )

    def _is_good(self, chunk: Chunk, refuse: Refusals, start: int, line: bytes) -> bool:
        values = self._values(line)
        if values is None:
            refuse(
                chunk,
                start,
                len(line),
                "UTF-8, every quote closed in its line (newlines=True: later) and no return within it",
            )
            return False
        if len(values) != len(self.names):
            refuse(chunk, start, len(line), f"{len(self.names)} values, found {len(values)}")
            return False
        needed = self.columns.needed if self.columns else None
        for place, (name, value) in enumerate(zip(self.names, values, strict=True)):
            if needed is not None and name not in needed:
                continue
            if self.kinds.get(name) == "number" and value not in NO_VALUE and not _is_number(value):
                wanted = f"a finite number in {shown(name)}, as before (types={{{name!r}: 'text'}}: a text)"
                refuse(chunk, start + self.offset(line, place), len(value), wanted)
                return False
        return True

    def offset(self, line: bytes, place: int) -> int:
        """Where the value of this place begins."""
        at, quoted = 0, False
        for here, letter in enumerate(line):
            if place == 0:
                return at
            quoted ^= letter == QUOTE
            if letter == ord(self.delimiter) and not quoted:
                place, at = place - 1, here + 1
        return at


def _has_bare_return(text: np.ndarray) -> bool:
    """A return that ends no line: pyarrow would take it for an end."""
    returns = np.flatnonzero(text == RETURN)
    return bool((text[returns + 1] != NEWLINE).any())


def _mostly_numbers(values: list[str | None]) -> bool:
    """At least nine of ten: then the others are mistakes, and told."""
    there = [_is_number(value) for value in values if value is not None]
    return bool(there) and sum(there) >= 0.9 * len(there)


def _is_number(value: str) -> bool:
    stripped = value.strip(" \t")
    return bool(NUMBER.fullmatch(stripped)) and stripped.isascii() and abs(float(stripped)) < float("inf")


class _Telling:
    """Tells of bad values in rows of a table, by the line that each row was."""

    def __init__(self, format: CSVLines, chunk: Chunk, lines: _Lines | None, refuse: Refusals) -> None:
        self.format, self.chunk, self.lines, self.refuse = format, chunk, lines, refuse

    def tell(self, row: int, name: str, value: object, wanted: str) -> None:
        """A bad value; where rows go over lines its line is not known."""
        chunk = self.chunk
        if self.format.newlines:
            place = f"{chunk.file}, row {row + 1} from line {chunk.first_line} on, column {shown(name)}"
            self.refuse.told(BadFile(f"{place}: {shown(value, 40)}; wanted {wanted}"))
            return
        if self.lines is None:
            self.lines = _Lines(chunk.text)
        line = self.lines.line(row)
        offset = self.format.offset(line, self.format.names.index(name))
        self.refuse(chunk, self.lines.starts[row] + offset, len(line.rstrip()) - offset, wanted)


class _Lines:
    """The lines of a chunk that are not blank."""

    def __init__(
        self, text: np.ndarray, starts: list[int] | None = None, stops: list[int] | None = None
    ) -> None:
        self.whole = text
        if starts is None or stops is None:
            ends = np.flatnonzero(text == NEWLINE) + 1
            begins = np.r_[0, ends[:-1]] if len(ends) else ends
            blank = (ends - begins == 1) | ((ends - begins == 2) & (text[begins] == 13))
            starts, stops = begins[~blank].tolist(), ends[~blank].tolist()
        self.starts, self.stops = starts, stops

    def line(self, row: int) -> bytes:
        """With its newline."""
        return bytes(self.whole[self.starts[row] : self.stops[row]])

    def each(self) -> Iterator[bytes]:
        """All of them."""
        return map(self.line, range(len(self.starts)))

    def only(self, chosen: Sequence[bool]) -> _Lines:
        """Those where it is True."""
        return _Lines(self.whole, list(compress(self.starts, chosen)), list(compress(self.stops, chosen)))

    def text(self) -> np.ndarray:
        """One after the other."""
        return np.frombuffer(b"".join(self.each()), np.uint8)


def stream(
    paths: Paths | Chunks,
    *,
    rows: int = ROWS,
    target: Column | None = "auto",
    weight: Column | None = None,
    group: Column | None = None,
    id: Column | None = None,
    text: Column | None = None,
    labels: str = "auto",
    delimiter: str = "auto",
    header: bool = True,
    newlines: bool = False,
    types: Mapping[str, str] | None = None,
    features: Features | str | None = "auto",
    on_error: str = "stop",
) -> Source:
    """Blocks of CSV or TSV.

    target, weight, group, id, text : columns, by name or place; with `text` that one alone is the features.
    target : "auto" is the column called label, target, y or class, else the last one; None: there is none.
    labels : "text", "number", or "auto": by the first block.
    delimiter : "auto" is a tab for .tsv, else a comma.
    header, newlines, types : see `CSVLines`; types={"zip": "text"} where the first chunk misleads.
    features : "auto" (`Table`; `Text` with `text`), None (raw), or anything with `transform`.
    """
    parser = CSVLines(
        Roles(target, weight, group, id, text, labels),
        delimiter=delimiter, header=header, newlines=newlines, types=types,
    )  # fmt: skip
    made = default_features(features, text is not None)
    return Source(LineFormat(paths, parser, on_error), rows=rows, features=made)


def read(
    paths: Paths | Chunks,
    *,
    target: Column | None = "auto",
    text: Column | None = None,
    labels: str = "auto",
    delimiter: str = "auto",
    header: bool = True,
    newlines: bool = False,
    types: Mapping[str, str] | None = None,
    features: Features | str | None = "auto",
    on_error: str = "stop",
) -> tuple[Rows, np.ndarray]:
    """All of it: (X, y)."""
    source = stream(
        paths, rows=1 << 16, target=target, text=text, labels=labels, delimiter=delimiter, header=header,
        newlines=newlines, types=types, features=features, on_error=on_error,
    )  # fmt: skip
    return read_whole(source)
