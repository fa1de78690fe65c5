"""Sparse rows in Parquet, as many as wanted: 30 of `columns`, labels of a hidden rule with some noise."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

PER_ROW = 30
GROUP = 1 << 16  # rows of a row group
NOISE = 0.05  # of labels
SKEW = 4  # the larger, the more often a few columns come


def written(folder: Path, rows: int, columns: int, files: int = 4) -> Path:
    """A folder of Parquet files, made once; each file's rows come from a seed of its own."""
    made = folder / f"{rows}x{columns}"
    done = made / ".done"
    if done.exists():
        return made
    made.mkdir(parents=True, exist_ok=True)
    for number in range(files):
        _file(
            made / f"{number}.parquet", number, rows * (number + 1) // files - rows * number // files, columns
        )
    done.touch()
    return made


def _file(path: Path, seed: int, rows: int, columns: int) -> None:
    schema = pa.schema(
        {"label": pa.int8(), "indices": pa.list_(pa.int32()), "values": pa.list_(pa.float32())}
    )
    rng = np.random.default_rng([7, seed])
    with pq.ParquetWriter(path, schema, use_dictionary=False, compression="zstd") as writer:
        for first in range(0, rows, GROUP):
            writer.write_table(_table(rng, min(GROUP, rows - first), columns, schema))


def _table(rng: np.random.Generator, rows: int, columns: int, schema: pa.Schema) -> pa.Table:
    """Each of the 30 has a stretch of columns of its own, so that indices are in order and differ."""
    width = columns // PER_ROW
    place = (width * rng.random((rows, PER_ROW), np.float32) ** SKEW).astype(np.int32)
    indices = np.minimum(place, width - 1) + (np.arange(PER_ROW) * width).astype(np.int32)
    values = rng.standard_exponential((rows, PER_ROW), np.float32)
    scores = (values * rule(indices)).sum(axis=1)
    labels = np.where((scores > 0) ^ (rng.random(rows) < NOISE), 1, -1).astype(np.int8)
    starts = np.arange(0, rows * PER_ROW + 1, PER_ROW, dtype=np.int32)
    lists = [pa.ListArray.from_arrays(starts, pa.array(part.ravel())) for part in (indices, values)]
    return pa.table([pa.array(labels), *lists], schema=schema)


def rule(indices: np.ndarray) -> np.ndarray:
    """The hidden weight of each column: +1 or -1 by a hash of its number, the same in every file."""
    mixed = indices.astype(np.uint32) * np.uint32(2654435761)
    return np.where(mixed >> np.uint32(31), np.float32(1), np.float32(-1))
