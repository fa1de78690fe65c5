"""svmlight and LIBSVM text: `label [qid:number] index:value ... # comment`, a line an example."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from copy import copy
from typing import NamedTuple, cast

import numpy as np

from ..errors import BadFile, BadInput, require_whole, shown
from ..features.matrices import read_only
from .blocks import ROWS as BLOCK
from .blocks import Block, Rows, Source, Targets, csr, require_on_error
from .parsing import svmlight as lines
from .reading.ahead import overlapped
from .reading.memory import Rooms
from .reading.opening import NEWLINE, Chunk, Chunks, Lines, Paths

CHUNK = 2 << 20  # bytes
WIDEST = lines.LAST_INDEX + 1  # columns


class IndexZero(BadFile):
    """An index 0 where the indices seemed to begin with 1."""


class Svmlight:
    """The format at work; see `stream` for its parameters."""

    def __init__(
        self, paths: Paths | Chunks, *, columns: int | None = None, zero_based: bool | str = "auto",
        multilabel: bool = False, labels: Sequence[float] | None = None, null: float | None = None,
        dtype: str = "float64", on_error: str = "stop",
    ) -> None:  # fmt: skip
        require_on_error(on_error)
        if columns is not None:
            require_whole("columns", columns)
        if zero_based not in (True, False, "auto"):
            raise BadInput(f"zero_based={shown(zero_based)}; wanted True, False or 'auto'")
        if dtype not in ("float64", "float32"):
            raise BadInput(f"dtype={shown(dtype)}; wanted 'float64' or 'float32'")
        if labels is not None and not multilabel:
            raise BadInput("labels= is for several labels a line; give multilabel=True too")
        self.chunks = chunks_of(paths)
        self.begins = None if zero_based == "auto" else int(not zero_based)  # the first index, once known
        self.grouped = lines.UNKNOWN  # do lines have a qid?
        self._before = self.begins, self.grouped  # what is known before the first line
        self.again, self.live, self.skipped = self.chunks.again, self.chunks.live, 0
        self.columns, self.zero_based, self.multilabel = columns, zero_based, multilabel
        self.labels = None if labels is None else {float(label): at for at, label in enumerate(labels)}
        self.null, self.dtype, self.on_error = null, dtype, on_error

    @property
    def bytes_read(self) -> int:
        """Of the files as they lie on the disk."""
        return self.chunks.bytes_read

    @property
    def bytes_total(self) -> int | None:
        """None where nobody knows (a pipe)."""
        return self.chunks.bytes_total

    @property
    def files(self) -> Sequence[object]:
        """What it reads."""
        return self.chunks.files

    def key(self) -> str | None:
        """What decides the rows, for a cache; None: something that is no file."""
        options = (self.columns, self.zero_based, self.multilabel, self.labels, self.null, self.dtype)
        files = self.chunks.key()
        return None if files is None else f"svmlight {options!r} {self.on_error} {files}"

    @property
    def settled(self) -> bool:
        """Is all known that the first rows tell of the others?"""
        return self.begins is not None and self.grouped != lines.UNKNOWN

    def at(self, chunks: Chunks, columns: int | None = None) -> Svmlight:
        """The same at work on other chunks, read as what was read so far has shown."""
        twin = copy(self)
        twin.chunks, twin._before, twin.skipped = chunks, (self.begins, self.grouped), 0
        twin.columns = self.columns if columns is None else columns
        return twin

    def pieces(self) -> Iterator[Block]:
        """The rows of every chunk."""
        return self.pieces_ahead(0)

    def pieces_ahead(self, depth: int) -> Iterator[Block]:
        """The same, parsed by two threads that are up to so many chunks ahead (0: here)."""
        self.skipped, (self.begins, self.grouped) = 0, self._before
        chunks, rooms = iter(self.chunks), Rooms()
        for chunk in chunks:
            yield from self._told(self._first(chunk, rooms).parsed())
            if depth and self.settled:
                break

        def parsed(chunk: Chunk) -> Parsed:
            return self._desk(chunk, rooms).parsed()

        if depth:
            for found in overlapped(chunks, parsed, depth, 2):
                yield from self._told(found)

    def _told(self, found: Parsed) -> Iterator[Block]:
        """What a chunk has shown, and its rows if there are some."""
        self.grouped = found.grouped
        self.skipped += found.skipped
        if found.block is not None:
            yield found.block

    def _desk(self, chunk: Chunk, rooms: Rooms) -> Desk:
        """A chunk where all is known that others tell of it."""
        return Desk(self, chunk, rooms.of(len(chunk.text)), cast("int", self.begins), self.grouped)

    def _first(self, chunk: Chunk, rooms: Rooms) -> Desk:
        """Rows until it is known where indices begin."""
        if self.begins is not None:
            return self._desk(chunk, rooms)
        desk = Desk(self, chunk, rooms.of(len(chunk.text)), 0, self.grouped, unclear=True)
        lowest = min(desk.lowest, 1)
        if desk.lowest < WIDEST:
            self.begins = lowest
        if desk.width - lowest > (self.columns or WIDEST):
            return Desk(
                self, chunk, rooms.of(len(chunk.text)), lowest, self.grouped
            )  # refuses what is too wide
        desk.begin_with(lowest)
        return desk


class Parsed(NamedTuple):
    """What became of a chunk: its rows (None: it has none), bad lines left out, do lines have a qid?"""

    block: Block | None
    skipped: int
    grouped: int


class Desk:
    """One chunk being parsed: the arrays that rows go to, and what Python does for the parser."""

    def __init__(
        self,
        format: Svmlight,
        chunk: Chunk,
        room: lines.Room,
        lowest: int,
        grouped: int,
        unclear: bool = False,
    ) -> None:
        self.format, self.chunk, self.room = format, chunk, room
        self.text = read_only(chunk.text)
        self.bad: set[int] = set()  # rows, where bad lines are skipped
        self.skipped = 0  # lines
        columns = format.columns if format.columns is not None and not unclear else WIDEST
        null = format.null
        rules = lines.Rules(
            lowest, columns, format.multilabel, null is not None, 0.0 if null is None else float(null)
        )
        state = np.zeros(10, np.int64)
        state[lines.LOWEST], state[lines.GROUPED] = WIDEST, grouped
        while (error := lines.parse_lines(self.text, state, self.room, rules)) != lines.DONE:
            self._refuse(int(state[lines.AT]), int(state[lines.LENGTH]), error)
            state[lines.AT] = next_line(chunk.text, int(state[lines.AT]))
        self.rows, self.entries = int(state[lines.ROWS]), int(state[lines.ENTRIES])
        self.width, self.labels = int(state[lines.WIDTH]), int(state[lines.LABELS])
        self.lowest, self.grouped = int(state[lines.LOWEST]), int(state[lines.GROUPED])
        self._read_later(int(state[lines.LATER]))
        if state[lines.TANGLED]:
            self._untangle()

    def begin_with(self, lowest: int) -> None:
        """The rows were read as if indices began with 0; they begin with this."""
        if lowest:
            self.room.indices[: self.entries] -= lowest
            self.width = max(self.width - lowest, 0)

    def _refuse(self, at: int, length: int, error: int) -> None:
        """Stop, or count the line."""
        unclear = error == lines.TOO_LOW and self.format.zero_based == "auto"
        if self.format.on_error == "skip" and not unclear:
            self.skipped += 1
            return
        wanted = lines.WANTED[error]
        if error == lines.TOO_WIDE:
            wanted = f"an index within the {self.format.columns} columns"
        refusal = self.chunk.refusal(at, length, wanted)
        raise IndexZero(f"{refusal}, as on the lines before") if unclear else refusal

    def _refuse_row(self, row: int, at: int, length: int, wanted: str) -> None:
        """Stop, or leave the row out."""
        if self.format.on_error == "stop":
            raise self.chunk.refusal(at, length, wanted)
        if row not in self.bad:
            self.bad.add(row)
            self.skipped += 1

    def _read_later(self, count: int) -> None:
        """Numbers of many digits: Python reads them exactly."""
        for place, start, stop in self.room.later[:count].tolist():
            value = float(self.text[start:stop].tobytes())
            starts, at = (self.room.target_starts, -1 - place) if place < 0 else (self.room.starts, place)
            if math.isinf(value):
                row = int(np.searchsorted(starts[1 : self.rows + 1], at, side="right"))
                self._refuse_row(row, start, stop - start, lines.WANTED[lines.TOO_LARGE])
                value = 0.0
            (self.room.targets if place < 0 else self.room.values)[at] = value

    def _untangle(self) -> None:
        """Indices in order; one that comes twice is refused."""
        room = self.room
        made = csr(
            room.values[: self.entries], room.indices[: self.entries], room.starts[: self.rows + 1], WIDEST
        )
        made.has_sorted_indices = made.has_canonical_format = False
        made.sort_indices()
        twice = np.flatnonzero(made.indices[1:] == made.indices[:-1]) + 1
        twice = np.setdiff1d(twice, made.indptr)
        for row in np.unique(np.searchsorted(made.indptr, twice, side="right") - 1).tolist():
            at = int(room.lines[row])
            length = next_line(self.chunk.text, at) - at - 1
            self._refuse_row(row, at, length, "every index of a line only once")
        room.values[: self.entries], room.indices[: self.entries] = made.data, made.indices

    def parsed(self) -> Parsed:
        """All of it; the chunk is needed no more."""
        block = self._block() if self.rows else None
        return Parsed(block, self.skipped, self.grouped)

    def _block(self) -> Block:
        """The rows of the chunk: parts of its arrays."""
        room, rows = self.room, self.rows
        targets = self._targets()
        groups = room.groups[:rows].copy() if self.grouped == lines.WITH else None
        values = room.values[: self.entries]
        if self.format.dtype == "float32":
            values = self._single(values)
        columns = self.format.columns or self.width
        X = csr(values, room.indices[: self.entries], room.starts[: rows + 1], columns)
        if self.bad:
            keep = np.setdiff1d(np.arange(rows), list(self.bad))
            X, groups = X[keep], None if groups is None else groups[keep]
            targets = targets[keep] if isinstance(targets, np.ndarray) else [targets[row] for row in keep]
        return Block(X, targets, None, groups)

    def _single(self, values: np.ndarray) -> np.ndarray:
        """As float32; what is beyond it is refused."""
        with np.errstate(over="ignore"):
            single = values.astype(np.float32)
        for at in np.flatnonzero(np.isinf(single)).tolist():
            row = int(np.searchsorted(self.room.starts[1 : self.rows + 1], at, side="right"))
            line = int(self.room.lines[row])
            length = next_line(self.chunk.text, line) - line - 1
            self._refuse_row(row, line, length, "numbers within float32")
        return single

    def _targets(self) -> Targets:
        room, rows = self.room, self.rows
        if not self.format.multilabel:
            return room.targets[:rows].copy()
        bounds, flat = room.target_starts[: rows + 1].tolist(), room.targets[: self.labels].tolist()
        sets = [tuple(sorted(flat[a:b])) for a, b in zip(bounds[:-1], bounds[1:], strict=True)]
        if self.format.labels is None:
            return sets
        table = np.zeros((rows, len(self.format.labels)), np.int64)
        for row, own in enumerate(sets):
            for label in own:
                if label not in self.format.labels:
                    at = int(room.lines[row])
                    self._refuse_row(row, at, 20, f"labels of labels=, and {label:g} is none")
                    continue
                table[row, self.format.labels[label]] = 1
        return table


def next_line(text: np.ndarray, at: int) -> int:
    """Where the line after this place begins; every line ends with a newline."""
    rest = text[at:]
    step = 256
    while not (found := np.flatnonzero(rest[:step] == NEWLINE)).size:
        step *= 16
    return at + int(found[0]) + 1


def chunks_of(paths: Paths | Chunks) -> Chunks:
    """Files as chunks; what gives chunks already is taken as it is."""
    given = hasattr(paths, "live") and hasattr(paths, "bytes_total")
    return cast("Chunks", paths) if given else Lines(cast("Paths", paths), size=CHUNK)


def stream(
    paths: Paths | Chunks, *, rows: int = BLOCK, columns: int | None = None, zero_based: bool | str = "auto",
    multilabel: bool = False, labels: Sequence[float] | None = None, null: float | None = None,
    dtype: str = "float64", on_error: str = "stop",
) -> Source:  # fmt: skip
    """Blocks of `rows` examples in bounded memory: CSR, a number a row, and groups where lines have a qid.

    paths : a path, a glob, a folder, "-" for standard input, an open file, or a list of them; gz, xz, bz2 and
        zst are unpacked.
    columns : how many there are; a line with more is wrong. None: as many as the widest row so far has.
    zero_based : do indices begin with 0? "auto": if the first 2 MiB have an index 0 (a later one is refused).
    multilabel : lines begin with any number of labels, `1,3`; targets are tuples, or with `labels` a matrix
        of 0 and 1 with a column for each of these.
    null : what the value NULL stands for; None: it is no number.
    on_error : "stop" at a wrong line, or "skip" it; `skipped` counts them.

    Numbers are Python's float() of their text, to the last bit. What is not finite is wrong, and so is an
    index twice in a line; indices may be in any order.

    >>> import io, onmargin as om
    >>> text = io.BytesIO(b"+1 qid:7 1:0.5 3:2  # a comment\\n-1 qid:8 2:1\\n")
    >>> for block in om.sources.svmlight.stream(text):
    ...     print(block.rows.toarray(), block.targets, block.groups)
    [[0.5 0.  2. ]
     [0.  1.  0. ]] [ 1. -1.] [7 8]
    """
    format = Svmlight(
        paths, columns=columns, zero_based=zero_based, multilabel=multilabel, labels=labels, null=null,
        dtype=dtype, on_error=on_error,
    )  # fmt: skip
    return Source(format, rows=rows, columns=columns or 0)


def is_zero_based(paths: Paths, multilabel: bool = False) -> bool:
    """Do indices begin with 0? As `stream` finds it, of files that can be read again."""
    format = Svmlight(paths, multilabel=multilabel, null=0.0, on_error="skip")
    next(format.pieces(), None)
    return format.begins == 0


def read(
    paths: Paths | Chunks, *, columns: int | None = None, zero_based: bool | str = "auto",
    multilabel: bool = False, labels: Sequence[float] | None = None, null: float | None = None,
    dtype: str = "float64", on_error: str = "stop",
) -> tuple[Rows, ...]:  # fmt: skip
    """All of it: (X, y), or (X, y, qid) where lines have a qid; see `stream`.

    zero_based : "auto": if there is an index 0 anywhere (as in scikit-learn).
    """

    def source(zero_based: bool | str) -> Source:
        return stream(
            paths, columns=columns, zero_based=zero_based, multilabel=multilabel, labels=labels, null=null,
            dtype=dtype, on_error=on_error,
        )  # fmt: skip

    first = source(zero_based)
    try:
        whole = first.whole()
    except IndexZero:
        if not first.again:
            raise
        whole = source(True).whole()
    return (whole.rows, whole.targets) if whole.groups is None else (whole.rows, whole.targets, whole.groups)
