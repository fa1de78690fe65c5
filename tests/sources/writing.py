"""Small files of every format, packed in every way, whose rows are known."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
import sys
from typing import Any

import numpy as np

WORDS = ["cheap", "pills", "lunch", "noon", "Größe", "a_b", "日本", "x9"]
PACKINGS = ["", ".gz", ".xz", ".bz2", ".zst"]


def rows(count: int = 60, seed: int = 0) -> list[dict[str, Any]]:
    """Rows with a label, a number, a word and a text."""
    draw = np.random.default_rng(seed)
    return [
        {
            "number": float(draw.normal() * 10.0 ** draw.integers(-30, 30)), "word": str(draw.choice(WORDS)),
            "text": " ".join(draw.choice(WORDS, draw.integers(1, 6))),
            "label": ("ham", "spam")[draw.integers(2)],
        }
        for _ in range(count)
    ]  # fmt: skip


def packed(data: bytes, packing: str) -> bytes:
    """As the ending says."""
    if packing == ".zst":
        if sys.version_info >= (3, 14):
            from compression import zstd
        else:
            from backports import zstd

        return zstd.compress(data)
    pack = {"": bytes, ".gz": gzip.compress, ".xz": lzma.compress, ".bz2": bz2.compress}[packing]
    return pack(data)


def quoted(value: object) -> str:
    """A value of CSV."""
    return '"' + str(value).replace('"', '""') + '"' if set(str(value)) & set(',"\n') else str(value)


def csv(given: list[dict[str, Any]], delimiter: str = ",", header: bool = True) -> bytes:
    lines = [list(given[0])] if header else []
    lines += [[quoted(value) for value in row.values()] for row in given]
    return "".join(delimiter.join(line) + "\n" for line in lines).encode()


def jsonl(given: list[dict[str, Any]]) -> bytes:
    return "".join(json.dumps(row, ensure_ascii=bool(at % 2)) + "\n" for at, row in enumerate(given)).encode()


def text(given: list[dict[str, Any]]) -> bytes:
    return "".join(f"{row['label']}\t{row['text']}\n" for row in given).encode()


def vw(given: list[dict[str, Any]]) -> bytes:
    return "".join(
        f"{1 if row['label'] == 'spam' else -1} {at % 3 + 1} row{at}|n number:{row['number']!r} "
        f"|w {row['text']}\n"
        for at, row in enumerate(given)
    ).encode()


def parquet(given: list[dict[str, Any]]) -> bytes:
    import pyarrow as pa
    import pyarrow.parquet as pq

    out = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(given), out, row_group_size=17)
    return out.getvalue()
