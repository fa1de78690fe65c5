"""Answers, lazily and partition by partition: by any learner, kernels too."""

from __future__ import annotations

from inspect import signature

import numpy as np

from ..errors import BadInput, shown
from ..features.piped import is_pipeline
from ..features.table import Table
from ..protocols.requested.reading import Settled
from ..sources.blocks import height
from ..sources.by_name import format_of, module_of
from .library import Value, dask
from .mixing import named
from .partitions import (
    Partition,
    Reader,
    are_paths,
    as_frame,
    features_of,
    partitions_of,
    plain,
    refuse_dimensions,
    widened,
)

METHODS = ("predict", "decision_function", "predict_proba")


def predict(
    model: Value, data: Value, *, target: Value = None, method: str = "predict", **options: Value
) -> Value:
    """What a fitted learner answers, computed when it is asked for, where the rows are.

    data : a Dask array, dataframe or bag of dicts: a collection of its kind; a list of delayed blocks, or
        paths (`options` are those of `om.sources.split`): a list of delayed arrays, one for each partition.
        A Pipeline gets the raw rows of files; features= that are given learn nothing here.
    target : a column of the data that is no feature. method : or "decision_function", "predict_proba".
    """
    if method not in METHODS or not hasattr(model, method):
        has = ", ".join(name for name in METHODS if hasattr(model, name))
        raise BadInput(f"method={shown(method)}; wanted a method that {type(model).__name__} has: {has}")
    if hasattr(model, "__sklearn_is_fitted__") and not model.__sklearn_is_fitted__():
        raise BadInput(f"this {type(model).__name__} has learned nothing yet; fit it first")
    kept = dask.delayed(model, pure=False, traverse=False)
    if dask.is_dask_collection(data) and hasattr(data, "chunks"):
        refuse_dimensions(data)
        return _of_array(kept, model, data, method)
    if dask.is_dask_collection(data) and hasattr(data, "map_partitions"):
        frame = hasattr(data, "columns")
        more = {"meta": _meta(model, data, target, method)} if frame else {}
        return data.map_partitions(_answers, kept, method, target, **more)
    from_files = are_paths(data)
    parts = partitions_of(data, target, _read_for(model, data, options) if from_files else options)
    if from_files and isinstance(features_of(parts), Table):
        raise BadInput(
            f"columns are scaled before a learner sees them, and this {type(model).__name__} does not say "
            "how; give the Pipeline that om.cluster.fit has returned, or features= as they were learned"
        )
    return [
        dask.delayed(_of_partition, pure=False)(part.alone(), part.waits or [], kept, method, target)
        for part in parts
    ]


def _read_for(model: Value, data: Value, options: dict[str, Value]) -> dict[str, Value]:
    """Options by which files give what the model takes: raw rows, or those of features given."""
    format = options.get("format") or format_of(data[0] if isinstance(data, list | tuple) else data)
    if "features" not in signature(module_of(format).stream).parameters:
        return options
    given: Value = options.get("features", None if is_pipeline(model) else "auto")
    return {**options, "features": Settled(given) if hasattr(given, "transform") else given}


def _of_array(kept: Value, model: Value, data: Value, method: str) -> Value:
    """Blocks of an array, whole rows each."""
    example = np.asarray(getattr(model, method)(np.zeros((1, data.shape[1]))))
    rows = data.rechunk({1: -1})
    if example.ndim == 1:
        return rows.map_blocks(_answers, model=kept, method=method, dtype=example.dtype, drop_axis=1)
    chunks = (rows.chunks[0], (example.shape[1],))
    return rows.map_blocks(_answers, model=kept, method=method, dtype=example.dtype, chunks=chunks)


def _meta(model: Value, data: Value, target: Value, method: str) -> Value:
    """How the answers of a frame look: a series, or a frame with a column a label."""
    some = data._meta_nonempty.iloc[:1]
    return _answers(some, model, method, target).iloc[:0]


def _answers(rows: Value, model: Value, method: str, target: Value = None) -> Value:
    """On a worker: of a table, or of some dicts."""
    if isinstance(rows, list) or hasattr(rows, "__next__"):
        one = {"predict": "predict_one", "predict_proba": "predict_proba_one"}.get(method)
        if one is None:
            raise BadInput(
                f"method={method!r} is for tables; of dicts there are 'predict' and 'predict_proba'"
            )
        dicts = (x[0] if isinstance(x, tuple | list) else x for x in rows)
        return [getattr(model, one)({name: x[name] for name in x if name != target}) for x in dicts]
    rows = as_frame(rows)
    table = (
        rows.drop(columns=[target], errors="ignore") if target is not None and hasattr(rows, "drop") else rows
    )
    found = getattr(model, method)(plain(table)) if height(table) else _none(model, method, table)
    if not hasattr(rows, "index"):
        return found
    import pandas as pd

    if found.ndim == 1:
        return pd.Series(found, index=rows.index)
    return pd.DataFrame(found, index=rows.index, columns=[str(label) for label in model.classes_])


def _none(model: Value, method: str, table: Value) -> np.ndarray:
    """The answers of no rows."""
    width = table.shape[1]
    example = np.asarray(
        getattr(model, method)(
            plain(
                type(table)(np.zeros((1, width)), columns=table.columns)
                if hasattr(table, "columns")
                else np.zeros((1, width))
            )
        )
    )
    return example[:0]


def _of_partition(part: Partition, computed: Value, model: Value, method: str, target: Value) -> Value:
    """On a worker: of a part of a file, or of a block that was computed."""
    with named(part):
        width, found = getattr(model, "n_features_in_", 0), list[Value]()
        for block in Reader(part, computed, 8192, target):
            rows = block if isinstance(block, list) else widened(block, width).rows
            raw = part.given is not None and is_pipeline(model)
            found.append(getattr(model, method)(rows) if raw else _answers(rows, model, method))
        if not found:
            return np.asarray(getattr(model, method)(np.zeros((1, width))))[:0] if width else np.empty(0)
        return [x for some in found for x in some] if isinstance(found[0], list) else np.concatenate(found)
