"""Blocks kept in a file of Arrow's, which later passes map into memory instead of parsing text."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from copy import copy
from glob import escape
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import uuid4

import numpy as np
import pyarrow as pa
import scipy.sparse as sp

from ..errors import BadFile, BadInput
from ..features.matrices import read_only
from .blocks import Block, Rows, Targets, csr
from .parsing.digests import digest
from .parsing.words import U

if TYPE_CHECKING:
    from .blocks import Source

VERSION = 1
ENDING, DRAFT = ".onmargin-cache", ".tmp"
OLD = 86_400.0  # seconds after which nobody writes a draft any more


class Damaged(Exception):
    """The file is not what was written, or was written of something else."""


class Cache:
    """A format that writes what a source gives on the first pass, and reads that file on all others."""

    made = True  # features have been applied
    live = False

    def __init__(self, source: Source, path: str | os.PathLike[str] | None = None) -> None:
        key = source.format.key()
        if path is None and key is None:
            raise BadInput("what is no file has no place for a cache; tell where: path=")
        learns = getattr(source.features, "partial_fit", None) is not None
        if learns and not getattr(source.features, "is_fixed", False):
            name = type(source.features).__name__
            raise BadInput(f"{name} learns from rows while it makes others; a cache would keep them for good")
        self.source, self.format = copy(source), source.format
        self.source.depth = 0
        self.own_key = f"{VERSION} {uuid4() if key is None else key} {source.features!r} {source.rows}"
        self.path = Path(f"{source.format.files[0]}{ENDING}" if path is None else path)
        self.skipped, self._read = 0, 0
        self._total: int | None = None  # of the cache, once it is read from

    @property
    def files(self) -> Sequence[object]:
        """Those of the source."""
        return self.format.files

    def key(self) -> str | None:
        """That of the source."""
        return self.format.key()

    @property
    def again(self) -> bool:
        """Files can be read again; a stream too, once it is kept."""
        return self.format.again or self.path.exists()

    @property
    def bytes_read(self) -> int:
        """Of the files, or of the cache."""
        return self.format.bytes_read if self._total is None else self._read

    @property
    def bytes_total(self) -> int | None:
        """Of the files, or of the cache."""
        return self.format.bytes_total if self._total is None else self._total

    def pieces(self) -> Iterator[Block]:
        """From the file where it is what it should be; from the source, and into the file, where not."""
        given = 0
        try:
            kept = Kept(self.path, self.own_key)
            self.skipped, self._total = kept.skipped, kept.size
            for number in range(kept.count):
                block = kept.block(number)
                self._read = kept.size * (number + 1) // kept.count
                yield block
                given += 1
        except Damaged:
            self._total = None
            yield from self._written(given)

    def _written(self, skip: int) -> Iterator[Block]:
        """Blocks of the source, without the first so many; only a file with all of them gets its name."""
        rough = self.path.with_name(f"{self.path.name}.{uuid4().hex}{DRAFT}")
        _swept(self.path)
        batch, sink, writer = None, None, None
        try:
            for number, block in enumerate(self.source.blocks()):
                batch = batch_of(block)
                if writer is None:
                    sink = _created(rough)
                    writer = pa.ipc.new_file(sink, batch.schema)
                width = block.rows.shape[1]
                _write(writer, batch, {"columns": str(width), "digest": str(digest_of(batch))}, self.path)
                self.skipped = self.source.skipped
                if number >= skip:
                    yield block
            if writer is not None and sink is not None and batch is not None:
                end = json.dumps({"key": self.own_key, "skipped": self.skipped})
                _write(writer, batch.slice(0, 0), {"end": end}, self.path)
                with _written(self.path):
                    writer.close()
                    sink.close()
                    os.replace(rough, self.path)
                writer = sink = None
        finally:
            for opened in (writer, sink):
                if opened is not None:
                    with suppress(OSError):  # (what had no room before has none now)
                        opened.close()
            with suppress(OSError):
                rough.unlink()


class Kept:
    """A cache that was written to its end, of this key."""

    def __init__(self, path: Path, key: str) -> None:
        try:
            self.reader = pa.ipc.open_file(pa.memory_map(str(path)))
            self.count, self.size = self.reader.num_record_batches - 1, path.stat().st_size
            notes = self.reader.get_batch_with_custom_metadata(self.count)[1]
            end = json.loads(notes[b"end"])
            self.skipped = int(end["skipped"])
        except (OSError, ValueError, LookupError, TypeError, pa.ArrowException) as error:
            raise Damaged from error
        if end["key"] != key:
            raise Damaged

    def block(self, number: int) -> Block:
        """One block, its arrays those of the file."""
        try:
            batch, notes = self.reader.get_batch_with_custom_metadata(number)
            columns, told = int(notes[b"columns"]), int(notes[b"digest"])
            if digest_of(batch) != told:
                raise Damaged
        except (OSError, ValueError, LookupError, TypeError, pa.ArrowException) as error:
            raise Damaged from error
        return block_of(batch, columns)


# ---- blocks and batches


def batch_of(block: Block) -> pa.RecordBatch:
    """A block as Arrow has it: lists of indices and values, and a column for each of the others."""
    rows, arrays = block.rows, dict[str, pa.Array]()
    if sp.issparse(rows):
        starts = pa.array(rows.indptr.astype(np.int32, copy=False))
        arrays["indices"] = pa.ListArray.from_arrays(
            starts, pa.array(rows.indices.astype(np.int32, copy=False))
        )
        arrays["values"] = pa.ListArray.from_arrays(starts, pa.array(rows.data))
    elif isinstance(rows, np.ndarray) and rows.ndim == 2 and rows.shape[1]:
        arrays["rows"] = pa.FixedSizeListArray.from_arrays(pa.array(rows.ravel()), rows.shape[1])
    else:
        raise BadInput(f"rows that are {type(rows).__name__} are not cached; wanted CSR or an array")
    for name, part in zip(block._fields[1:], block[1:], strict=True):
        if isinstance(part, np.ndarray) and part.ndim == 2:
            arrays[name] = pa.FixedSizeListArray.from_arrays(pa.array(part.ravel()), part.shape[1])
        elif part is not None:
            arrays[name] = pa.array([list(one) for one in part] if isinstance(part, list) else part)
    return pa.RecordBatch.from_pydict(arrays)


def block_of(batch: pa.RecordBatch, columns: int) -> Block:
    """The block that became this batch."""
    parts: dict[str, Rows] = {
        name: _part(batch.column(name)) for name in batch.schema.names if name in Block._fields
    }
    if "rows" not in parts:
        indices, values = batch.column("indices"), batch.column("values")
        starts = indices.offsets.to_numpy()
        parts["rows"] = csr(values.values.to_numpy(), indices.values.to_numpy(), starts, columns)
    return Block(**{"targets": None} | parts)


def _part(column: pa.Array) -> Rows | Targets:
    if pa.types.is_fixed_size_list(column.type):
        return column.values.to_numpy().reshape(-1, column.type.list_size)
    if pa.types.is_list(column.type):
        return [tuple(one) for one in column.to_pylist()]
    if pa.types.is_primitive(column.type):
        return column.to_numpy()
    return np.array(column.to_pylist())


def digest_of(batch: pa.RecordBatch) -> int:
    """Of all numbers and texts in it."""
    found = int(batch.num_rows)
    for column in batch.columns:
        found = _digest_of(column, found)
    return found


def _digest_of(column: pa.Array, seed: int) -> int:
    if pa.types.is_fixed_size_list(column.type):
        return _digest_of(column.values, seed)
    if pa.types.is_list(column.type):
        return _digest_of(column.values, _digest_of(column.offsets, seed))
    if pa.types.is_primitive(column.type):
        array = column.to_numpy()
    else:
        array = np.frombuffer("\0".join(map(str, column.to_pylist())).encode(), np.uint8)
    return int(digest(read_only(np.ascontiguousarray(array).view(np.uint8)), U(seed)))


# ---- files


@contextmanager
def _written(path: Path) -> Iterator[None]:
    """What cannot be written is told in one line."""
    try:
        yield
    except OSError as error:
        raise BadFile(f"cannot write the cache {path}: {error.strerror or error}") from None


def _created(path: Path) -> pa.NativeFile:
    with _written(path):
        return pa.OSFile(str(path), "wb")


def _write(
    writer: pa.ipc.RecordBatchFileWriter, batch: pa.RecordBatch, notes: dict[str, str], path: Path
) -> None:
    with _written(path):
        writer.write_batch(batch, custom_metadata=notes)


def _swept(path: Path) -> None:
    """Drafts of processes that were killed are removed after a day."""
    for draft in path.parent.glob(f"{escape(path.name)}.*{DRAFT}"):
        with suppress(OSError):
            if time.time() - draft.stat().st_mtime > OLD:
                draft.unlink()
