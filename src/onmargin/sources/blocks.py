"""Blocks of examples, and a source of them: what every format shares."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from copy import copy
from typing import NamedTuple, Protocol, TypeAlias

import numpy as np
import scipy.sparse as sp

from ..errors import BadInput, extra, require_whole, shown
from .reading.ahead import itself, overlapped
from .reading.gathered import Gathered

# CSR, an array, a frame, a table of pyarrow, texts: whatever has a length or a shape, and can be cut.
Rows: TypeAlias = sp.csr_matrix
# One number or label a row; a list of tuples where a row has several labels.
Targets: TypeAlias = np.ndarray | list[tuple[float, ...]]

ROWS = 8192  # in a block, unless told
PIECES = 4  # read ahead for each block: they are smaller
LARGE = 8 << 20  # bytes from which on what is read whole is read by threads


class Block(NamedTuple):
    """Some examples in a row; the last three are None where the format has none."""

    rows: Rows
    targets: Targets | None
    weights: np.ndarray | None = None
    groups: np.ndarray | None = None
    ids: np.ndarray | None = None


class Features(Protocol):
    """What makes rows of raw ones (`om.features`); with `partial_fit` too, it learns from them first."""

    def transform(self, rows: Rows) -> Rows:
        """Rows to learn from."""
        ...


class Format(Protocol):
    """One format at work: pieces of any size, from the beginning each time they are asked for.

    again : can it be read more than once? (standard input, a socket: no)
    live : does more come later? Then what there is goes out at once.
    skipped : bad lines left out since the beginning.
    bytes_read, bytes_total : of the files as they lie on the disk; None where nobody knows.
    """

    @property
    def again(self) -> bool: ...

    @property
    def live(self) -> bool: ...

    @property
    def skipped(self) -> int: ...

    @property
    def files(self) -> Sequence[object]:
        """What it reads: names of files, or what is open."""
        ...

    def key(self) -> str | None:
        """What decides the rows, files and options, for a cache; None: something that is no file."""
        ...

    @property
    def bytes_read(self) -> int: ...

    @property
    def bytes_total(self) -> int | None: ...

    def pieces(self) -> Iterator[Block]:
        """Blocks of any size, in order."""
        ...


class Source:
    """Blocks of `rows` examples (the last has fewer), in bounded memory; they never get narrower.

    columns : columns of the widest block so far, or those given: then no block is narrower or wider.
    seen : examples given since the beginning.
    features : what made the rows of raw ones, or None; `learns`: it learns from each block before that.
    """

    def __init__(
        self, format: Format, *, rows: int = ROWS, features: Features | None = None, columns: int = 0
    ) -> None:
        require_whole("rows", rows)
        self.format, self.rows, self.features = format, int(rows), features
        self.depth = 0  # blocks read ahead
        self.columns, self.learns = columns, True
        self._fixed = columns
        self.seen = 0

    @property
    def again(self) -> bool:
        """Can it be read more than once?"""
        return self.format.again

    @property
    def live(self) -> bool:
        """Does more come later?"""
        return self.format.live

    @property
    def skipped(self) -> int:
        """Bad lines left out since the beginning."""
        return self.format.skipped

    @property
    def bytes_read(self) -> int:
        """Of the files as they lie on the disk."""
        return self.format.bytes_read

    @property
    def bytes_total(self) -> int | None:
        """None where nobody knows (a pipe)."""
        return self.format.bytes_total

    def __iter__(self) -> Iterator[Block]:
        return self.blocks()

    def blocks(self, first: int = 0) -> Iterator[Block]:
        """Blocks from the beginning, without the first so many examples (they are read, and not given)."""
        self.seen = first
        plain = self.features is None  # parsing ahead, joining here: all threads have something to do
        pieces = self._pieces_ahead(PIECES * self.depth) if self.depth and plain else self.format.pieces()
        made: Iterator[Block] = map(self._made, regrouped(pieces, self.rows, first, self.live))
        if self.depth and not plain:
            made = overlapped(made, itself, self.depth)
        for block in made:
            self.seen += height(block.rows)
            yield block

    def _pieces_ahead(self, depth: int) -> Iterator[Block]:
        """Pieces by a thread, or by several where the format knows how."""
        own = getattr(self.format, "pieces_ahead", None)
        return overlapped(self.format.pieces(), itself, depth) if own is None else own(depth)

    def ahead(self, blocks: int = 2) -> Source:
        """The same, read by a thread that is up to so many blocks ahead: reading and learning overlap.

        Where the format can, two threads parse.
        """
        require_whole("blocks", blocks)
        twin = copy(self)
        twin.depth = int(blocks)
        return twin

    def cached(self, path: str | os.PathLike[str] | None = None) -> Source:
        """The same, kept in a file (None: beside the first of its files), which later passes map into memory.

        It is made anew when the files, their time or the options have changed, or when it is damaged. What
        learns from rows before it makes others (`features` with partial_fit) is not kept.
        """
        try:
            from .cache import Cache
        except ImportError:
            raise extra("pyarrow", "files") from None
        twin = copy(self)
        twin.format = Cache(self, path)
        return twin

    def _made(self, block: Block) -> Block:
        rows = block.rows
        if self.features is not None and not getattr(self.format, "made", False):
            learn = getattr(self.features, "partial_fit", None)
            if learn is not None and self.learns:
                learn(rows)
            rows = self.features.transform(rows)
        if sp.issparse(rows):
            self.columns = max(self.columns, rows.shape[1])
            rows = as_wide(rows, self.columns)
        elif len(getattr(rows, "shape", ())) == 2:
            self.columns = max(self.columns, rows.shape[1])
        return block._replace(rows=rows)

    def glance(self) -> tuple[np.ndarray | None, int]:
        """All labels there are, in order (None: there are none), and how many columns: all of it is read."""
        labels: list[np.ndarray] = []
        columns = 0
        for piece in self.format.pieces():
            if isinstance(piece.targets, np.ndarray):
                found = piece.targets
                labels.append(np.unique(found) if found.ndim == 1 else found[:1])
                if len(labels) > 100:
                    labels = _merged(labels)
            if self.features is None and len(getattr(piece.rows, "shape", ())) == 2:
                columns = max(columns, piece.rows.shape[1])
        return (_merged(labels)[0] if labels else None), columns

    def whole(self) -> Block:
        """All that there is, as one block."""
        as_they_come = self.features is None and not self.depth
        blocks: list[Block] = []
        gathered = Gathered()
        large = (self.bytes_total or 0) > LARGE
        pieces = self._pieces_ahead(PIECES) if large else self.format.pieces()
        for piece in pieces if as_they_come else self.blocks():
            if sp.issparse(piece.rows):
                gathered.add(piece.rows, self.bytes_read / self.bytes_total if self.bytes_total else 0.0)
                piece = piece._replace(rows=None)
            blocks.append(piece)
        if not blocks:
            raise BadInput("the source holds no example")
        block = joined(blocks)
        if gathered.starts:
            block = block._replace(rows=csr(*gathered.arrays()))
        self.seen = height(block.rows)
        return self._made(block) if as_they_come else block


def is_source(value: object) -> bool:
    """Is it something that gives blocks?"""
    return callable(getattr(value, "blocks", None)) and hasattr(value, "again")


def require_on_error(on_error: str) -> None:
    """Refuse all but the two there are."""
    if on_error not in ("stop", "skip"):
        raise BadInput(f"on_error={shown(on_error)}; wanted 'stop' or 'skip'")


def _merged(labels: list[np.ndarray]) -> list[np.ndarray]:
    """Distinct labels; of indicator matrices, one row."""
    return labels[:1] if labels[0].ndim == 2 else [np.unique(np.concatenate(labels))]


# ---- cutting and joining


def regrouped(pieces: Iterable[Block], rows: int, first: int = 0, at_once: bool = False) -> Iterator[Block]:
    """Pieces of any size as blocks of `rows`, without the first so many; `at_once`: none waits for more."""
    waiting: list[Block] = []
    count = 0
    for piece in pieces:
        size = height(piece.rows)
        start = min(first, size)
        first -= start
        while start < size:
            stop = min(size, start + rows - count)
            waiting.append(cut(piece, start, stop))
            count, start = count + stop - start, stop
            if count == rows:
                yield joined(waiting)
                waiting, count = [], 0
        if at_once and count:
            yield joined(waiting)
            waiting, count = [], 0
    if count:
        yield joined(waiting)


def height(rows: Rows) -> int:
    """How many rows."""
    shape = getattr(rows, "shape", None)
    return int(shape[0]) if shape else len(rows)


def cut(block: Block, start: int, stop: int) -> Block:
    """Examples start to stop - 1 of a block (views where that can be)."""
    if start == 0 and stop == height(block.rows):
        return block
    return Block(*(None if part is None else _cut(part, start, stop) for part in block))


def joined(blocks: list[Block]) -> Block:
    """Blocks one after the other as one."""
    if len(blocks) == 1:
        return blocks[0]
    return Block(*(None if parts[0] is None else _joined(list(parts)) for parts in zip(*blocks, strict=True)))


def as_wide(rows: sp.csr_matrix, columns: int) -> sp.csr_matrix:
    """The same rows with so many columns (no fewer than they have)."""
    return rows if rows.shape[1] == columns else csr(rows.data, rows.indices, rows.indptr, columns)


def csr(values: np.ndarray, indices: np.ndarray, starts: np.ndarray, columns: int) -> sp.csr_matrix:
    """A matrix of these very arrays: SciPy's constructor looks at all of them, and they are known."""
    made = sp.csr_matrix((len(starts) - 1, columns), dtype=values.dtype)
    made.data, made.indices, made.indptr = values, indices, starts
    made.has_sorted_indices = made.has_canonical_format = True
    return made


def _cut(part: Rows, start: int, stop: int) -> Rows:
    if sp.issparse(part):
        first, last = part.indptr[start], part.indptr[stop]
        starts = part.indptr[start : stop + 1] - first
        return csr(part.data[first:last], part.indices[first:last], starts, part.shape[1])
    if hasattr(part, "iloc"):  # a frame
        return part.iloc[start:stop]
    if hasattr(part, "num_rows"):  # a table of pyarrow
        return part.slice(start, stop - start)
    return part[start:stop]


def _joined(parts: list[Rows]) -> Rows:
    """Parts of one kind; a kind of its own has a class method `joined`."""
    first = parts[0]
    if sp.issparse(first):
        return _stacked(parts)
    if isinstance(first, np.ndarray):
        kinds = {part.dtype.kind for part in parts}
        if len(kinds) > 1 and not kinds <= set("biuf"):  # numbers do not become texts
            parts = [part.astype(object) for part in parts]
        return np.concatenate(parts)
    if isinstance(first, list):
        return [value for part in parts for value in part]
    if hasattr(first, "iloc"):
        import pandas as pd

        return pd.concat(parts, ignore_index=True)
    if hasattr(first, "num_rows"):
        return _stacked_tables(parts)
    return type(first).joined(parts)


def _stacked(parts: list[sp.csr_matrix]) -> sp.csr_matrix:
    entries = sum(int(part.indptr[-1]) for part in parts)
    wide = np.int64 if entries >= 2**31 or any(part.indptr.dtype == np.int64 for part in parts) else np.int32
    starts = np.empty(1 + sum(part.shape[0] for part in parts), wide)
    starts[0], row, before = 0, 1, 0
    for part in parts:
        np.add(part.indptr[1:], before, out=starts[row : row + part.shape[0]], casting="unsafe")
        row, before = row + part.shape[0], before + int(part.indptr[-1])
    indices = np.concatenate([part.indices for part in parts], dtype=wide)
    columns = max(part.shape[1] for part in parts)
    return csr(np.concatenate([part.data for part in parts]), indices, starts, columns)


def _stacked_tables(parts: list[Rows]) -> Rows:
    """Tables of pyarrow; whole numbers of one file and fractions of another are numbers."""
    import pyarrow as pa

    try:
        return pa.concat_tables(parts, promote_options="permissive")
    except pa.ArrowException:
        names = parts[0].schema.names
        types = {name: {str(part.schema.field(name).type) for part in parts} for name in names}
        other = {name: sorted(found) for name, found in types.items() if len(found) > 1}
        raise BadInput(
            f"a column has several types in the files: {shown(other, 200)}; wanted one, or one file at a time"
        ) from None
