"""Data as partitions: what each is called, and how a worker reads it in blocks of examples."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice

import numpy as np
import scipy.sparse as sp

from ..errors import BadInput, shown
from ..interface.tables import checked_weights
from ..sources.blocks import Block, as_wide, height, regrouped
from ..sources.parts import Part, split
from .library import Task, Value, dask, delayed_kind, distributed

WANTED = (
    "Dask arrays (X, y), a Dask dataframe with target=, a Dask bag of (x, y), a list of delayed blocks "
    "(X, y), or paths"
)

Examples = Block | list[tuple[Value, ...]]
"""Some examples in a row: a block of a table, or (x, y) and (x, y, weight) with dicts x."""


class Partition:
    """A part of the data: its number, its name for people, and what a worker makes examples of.

    given : what a worker is sent (a part of a file), or None; `waits` : what is computed there first.
    """

    def __init__(self, number: int, name: str, given: Value = None, waits: Value = None) -> None:
        self.number, self.name, self.given, self.waits = number, name, given, waits

    def __str__(self) -> str:
        return f"partition {self.number} ({self.name})" if self.name else f"partition {self.number}"

    def alone(self) -> Partition:
        """Without what is computed: to be sent along with it."""
        return Partition(self.number, self.name, self.given)


def partitions_of(
    data: Value, target: Value, options: dict[str, Value], strict: bool = True, labelled: bool = True
) -> list[Partition]:
    """The partitions of whatever data may be; what cannot be read by workers is refused in one line."""
    if are_paths(data):
        asked = options if target is None else {**options, "target": target}
        return [Partition(n, str(part), part) for n, part in enumerate(split(data, strict=strict, **asked))]
    if options:
        raise BadInput(f"{', '.join(sorted(options))}= is for paths, which are split here; leave it out")
    parts = list(data) if isinstance(data, list | tuple) else [data]
    if not parts:
        raise BadInput(f"there is no data; wanted {WANTED}")
    if all(callable(getattr(part, "blocks", None)) and not dask.is_dask_collection(part) for part in parts):
        return [Partition(n, str(part), part) for n, part in enumerate(parts)]
    if isinstance(data, list) and all(isinstance(part, delayed_kind | distributed.Future) for part in parts):
        return [Partition(n, "", waits=[part]) for n, part in enumerate(parts)]  # (keys are of this process)
    if not all(dask.is_dask_collection(part) for part in parts) or any(
        isinstance(p, delayed_kind) for p in parts
    ):
        raise BadInput(f"got {shown(type(data).__name__)}; wanted {WANTED}")
    if labelled or len(parts) > 1:
        _refuse_target(parts, target)
    refuse_dimensions(parts[0])
    columns = [_in_parts(part) for part in parts]
    counts = {len(column) for column in columns}
    if len(counts) > 1:
        many = ", ".join(str(len(column)) for column in columns)
        raise BadInput(
            f"X, y (and weights) have {many} partitions; wanted as many each; rechunk them alike "
            "(frames: repartition)"
        )
    return [Partition(n, "", waits=list(pieces)) for n, pieces in enumerate(zip(*columns, strict=True))]


def are_paths(data: Value) -> bool:
    """A path, or a list of some?"""
    some = data if isinstance(data, list | tuple) else [data]
    return bool(some) and all(isinstance(one, str | os.PathLike) for one in some)


def outline(data: Value, partitions: Sequence[Partition]) -> list[str]:
    """What another set would have otherwise: the sizes of files, the shapes and columns of collections."""
    given = [getattr(part.given, "part", part.given) for part in partitions]  # (the shell wraps parts)
    files = {part.file for part in given if isinstance(part, Part)}
    if files:
        return [
            f"{os.path.getsize(file) if os.path.exists(file) else 0} bytes of {file}"
            for file in sorted(files)
        ]
    parts = data if isinstance(data, list | tuple) else [data]
    shapes = [_shape(part) for part in parts if not isinstance(part, delayed_kind | distributed.Future)]
    return [shape for shape in shapes if shape]


def _shape(collection: Value) -> str:
    if hasattr(collection, "chunks"):
        return f"{collection.dtype} {collection.chunks}"
    names = list(getattr(collection, "columns", ()))
    return f"{collection.npartitions} partitions {names}" if hasattr(collection, "npartitions") else ""


def features_of(partitions: Sequence[Partition]) -> Value:
    """What makes rows of numbers of those in files, the same for all; None: they are such."""
    given = partitions[0].given if partitions else None
    return given.pattern.features if isinstance(given, Part) else None


def _refuse_target(parts: Sequence[Value], target: Value) -> None:
    """Labels that are not told, or told twice: a column that stays among X would be learned from."""
    if len(parts) > 3:
        raise BadInput(f"got {len(parts)} collections; wanted X, y and perhaps weights")
    if len(parts) > 1:
        _refuse_twice(target)
        return
    if target is None and hasattr(parts[0], "columns"):
        raise BadInput("a dataframe alone does not tell its labels; give target=COLUMN, or (X, y)")
    if hasattr(parts[0], "chunks"):
        raise BadInput("an array alone has no labels; give (X, y)")
    if hasattr(parts[0], "columns") and target not in list(parts[0].columns):
        raise BadInput(
            f"there is no column {shown(target)}; the columns are {shown(list(parts[0].columns), 100)}"
        )


def _refuse_twice(target: Value) -> None:
    """Of data that come with y."""
    if target is not None:
        raise BadInput(
            f"target={shown(target)} is for data that hold their labels, and y is given; leave one out"
        )


def refuse_dimensions(rows: Value) -> None:
    """Of a Dask array: rows of numbers are a table."""
    if hasattr(rows, "chunks") and rows.ndim != 2:
        raise BadInput(f"an array of {rows.ndim} dimensions; wanted rows of numbers, two dimensions")


def _in_parts(collection: Value) -> list[Task]:
    """A collection as delayed pieces, whole rows each."""
    if getattr(collection, "ndim", 1) == 2 and hasattr(collection, "chunks"):
        collection = collection.rechunk({1: -1})  # (itself, where it is so already)
    pieces = collection.to_delayed()
    return list(np.ravel(np.asarray(pieces, object))) if hasattr(pieces, "ravel") else list(pieces)


# ---- on a worker


class Reader:
    """The examples of one partition, a block at a time; it may be stopped and gone on with."""

    def __init__(self, partition: Partition, computed: Sequence[Value], rows: int, target: Value) -> None:
        self.blocks_read = 0
        if partition.given is not None:
            self._blocks: Iterator[Examples] = map(_framed, partition.given.blocks(rows=rows))
        else:
            self._blocks = _cut(computed, rows, target)

    def skip(self, count: int) -> Reader:
        """Without so many of the blocks to come."""
        for _ in range(count):
            next(self, None)
        return self

    def __iter__(self) -> Reader:
        return self

    def __next__(self) -> Examples:
        block = next(self._blocks)
        self.blocks_read += 1
        return block


def _framed(block: Block) -> Block:
    """Raw columns (features=None) as a frame, which a learner takes by name as a Pipeline does."""
    return block._replace(rows=as_frame(block.rows))


def as_frame(table: Value) -> Value:
    """A table of pyarrow or Polars as one of pandas; any other as it is."""
    return table.to_pandas() if hasattr(table, "to_pandas") else table


def _cut(computed: Sequence[Value], rows: int, target: Value) -> Iterator[Examples]:
    """What was computed, as blocks of examples."""
    found: Value = computed[0] if len(computed) == 1 else tuple(computed)
    if callable(getattr(found, "blocks", None)):
        yield from found.blocks(rows=rows)
        return
    if not isinstance(found, Block | tuple) and not hasattr(found, "shape"):
        if not isinstance(found, Sequence) and not hasattr(found, "__iter__"):
            raise BadInput(f"it is {type(found).__name__}; wanted {WANTED}")
        yield from _pairs(iter(found), rows, target)
        return
    yield from regrouped([_block(found, target)], rows)


def _pairs(examples: Iterator[Value], rows: int, target: Value) -> Iterator[list[tuple[Value, ...]]]:
    """Dicts with their targets, some at a time."""
    while some := list(islice(examples, rows)):
        yield [_pair(example, target) for example in some]


def _pair(example: Value, target: Value) -> tuple[Value, ...]:
    if isinstance(example, Mapping):
        if target is None or target not in example:
            raise BadInput(
                f"example {shown(example)} has no target; wanted (x, y), or target=NAME that it has"
            )
        return {name: value for name, value in example.items() if name != target}, example[target]
    if isinstance(example, tuple | list) and len(example) in (2, 3) and isinstance(example[0], Mapping):
        return tuple(example)
    raise BadInput(f"example {shown(example)}; wanted (x, y) or (x, y, weight) with a dict x")


def _block(found: Value, target: Value) -> Block:
    """A table with its targets and weights."""
    if isinstance(found, Block):
        return found
    if isinstance(found, tuple):
        _refuse_twice(target)
    else:
        found = as_frame(found)
        if target is None:
            return Block(plain(found), None)
        if target not in getattr(found, "columns", ()):
            raise BadInput(f"it has no column {shown(target)}; wanted target= to be one")
        found = (found.drop(columns=[target]), found[target])
    if not 2 <= len(found) <= 3:
        raise BadInput(f"it is a tuple of {len(found)}; wanted (X, y) or (X, y, weights)")
    y, weights = found[1], found[2] if len(found) == 3 else None
    rows = plain(as_frame(found[0]))
    for name, one in (("y", y), ("weights", weights)):
        if one is not None and height(one) != height(rows):
            raise BadInput(f"X has {height(rows)} rows and {name} {height(one)}; wanted one each")
    if weights is not None:
        weights = checked_weights(np.ravel(np.asarray(weights)), height(rows))
    if y is None:
        return Block(rows, None, weights)
    y = y.to_numpy() if hasattr(y, "to_numpy") else y
    y = y if sp.issparse(y) else np.asarray(y)
    y = y.ravel() if y.ndim == 2 and y.shape[1] == 1 and not sp.issparse(y) else y
    return Block(rows, sp.csr_matrix(y) if sp.issparse(y) else y, weights)


def plain(rows: Value) -> Value:
    """A table as learners take it; a frame whose columns are not all called by texts is an array."""
    if sp.issparse(rows):
        return sp.csr_matrix(rows)
    names = names_of(rows)
    if names is None and hasattr(rows, "to_numpy"):
        return rows.to_numpy()
    return rows if names is not None else np.asarray(rows)


def names_of(rows: Value) -> tuple[str, ...] | None:
    """What the columns of a frame are called."""
    columns = list(getattr(rows, "columns", ()))
    return tuple(columns) if columns and all(isinstance(name, str) for name in columns) else None


def widened(block: Block, columns: int) -> Block:
    """A block of sparse rows with so many columns."""
    if sp.issparse(block.rows) and block.rows.shape[1] < columns:
        return block._replace(rows=as_wide(block.rows, columns))
    return block
