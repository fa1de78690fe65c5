"""The journal of a model for other programs: lines of JSON, or a Parquet file."""

from __future__ import annotations

import io
from collections.abc import Iterator
from itertools import chain

import msgspec

from ..errors import BadInput, extra, shown
from .journals.past import Past, decode
from .plain import Json

PIECE = 2**16  # bytes that are sent at once, about
FORMATS = {"jsonl": "application/x-ndjson", "parquet": "application/vnd.apache.parquet"}


def records(past: Past, name: str) -> Iterator[Json]:
    """Every example that is kept, in order; those taken back are marked."""
    undone = {undo.target: undo.event for undo in past.journal.undos(name)}
    for row in past.journal.rows(name):
        for number, event in enumerate(decode(row.payload), row.first):
            kind = "text" if isinstance(event.row, str) else "x"
            yield {
                "event": number, "at": row.at, kind: event.row, "y": event.y, "key": event.key, "w": event.w,
                "undone": undone.get(number),
            }  # fmt: skip


def exported(past: Past, name: str, format: str) -> Iterator[bytes]:
    """The file, piece by piece."""
    if format == "jsonl":
        pieces = _lines(past, name)
        return chain([next(pieces, b"")], pieces)  # (a journal that cannot be read is told before it begins)
    if format == "parquet":
        return iter([_parquet(past, name)])
    raise BadInput(f"format={shown(format)}; wanted one of {', '.join(FORMATS)}")


def _lines(past: Past, name: str) -> Iterator[bytes]:
    """Some hundred lines a piece: each piece costs its way through a thread."""
    encode, piece, size = msgspec.json.encode, list[bytes](), 0
    for record in records(past, name):
        piece.append(encode(record))
        size += len(piece[-1])
        if size >= PIECE:
            yield b"\n".join(piece) + b"\n"
            piece, size = [], 0
    if piece:
        yield b"\n".join(piece) + b"\n"


def _parquet(past: Past, name: str) -> bytes:
    """Examples and labels as JSON in columns of text: they are of every kind."""
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError:
        raise extra("pyarrow", "files") from None
    schema = pa.schema([
        ("event", pa.int64()), ("at", pa.float64()), ("example", pa.string()), ("y", pa.string()),
        ("key", pa.string()), ("w", pa.float64()), ("undone", pa.int64()),
    ])  # fmt: skip
    out, some = io.BytesIO(), list[Json]()
    with pq.ParquetWriter(out, schema) as writer:
        for record in records(past, name):
            example = {kind: record.pop(kind) for kind in ("x", "text") if kind in record}
            texts = {"example": example, "y": record["y"]}
            some.append(record | {k: msgspec.json.encode(v).decode() for k, v in texts.items()})
            if len(some) >= 10_000:
                writer.write_table(pa.Table.from_pylist(some, schema))
                some = []
        writer.write_table(pa.Table.from_pylist(some, schema))
    return out.getvalue()
