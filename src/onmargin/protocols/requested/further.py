"""Further rows for a model: read as those that it has learned from, with their labels or without."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from inspect import signature

import numpy as np

from ...errors import BadFile, BadInput, shown
from ...features.texts import Texts
from ...sources.blocks import Source
from ...sources.by_name import format_of, module_of, open_source
from .naming import SETS
from .reading import TABLES, Reading, feature_options, is_set, source_options

TAB = 9


def read_alike(
    data: str, format: str | None, learned: str, options: Mapping[str, object]
) -> tuple[str | None, dict[str, object]]:
    """The format and options of further rows with their labels, for a model of rows in the format `learned`.

    A set by its name has no options; an ending that is known goes before what was learned.
    """
    if format is None and is_set(data):
        return None, {}
    if format is None:
        try:
            format = format_of(data)
        except BadInput:
            if learned == "set":
                raise
            format = learned
    own = [*source_options(format), *feature_options(format, "text" in options)]
    alike = format == learned or (format in TABLES and learned in TABLES)
    return format, {
        name: value for name, value in options.items() if alike and name in own and name != "columns"
    }


def unlabelled(format: str, options: Mapping[str, object]) -> dict[str, object]:
    """Options that read rows without looking for targets, where the format can."""
    own = source_options(format)
    kept = {
        name: value for name, value in options.items() if name in own and name not in ("labels", "target")
    }
    if "target" in own:
        kept["target"] = None
    if "labelled" in own:
        kept["labelled"] = False
    if "features" in signature(module_of(format).stream).parameters:
        kept["features"] = None
    return kept


def after_tabs(texts: Texts) -> Texts:
    """Of `label<TAB>text` the text; of a line without a tab all of it."""
    tabs = np.flatnonzero(texts.buffer == TAB)
    if not len(tabs):
        return texts
    place = np.searchsorted(tabs, texts.starts)
    first = np.r_[tabs, np.iinfo(np.int64).max][place]
    return Texts(texts.buffer, np.where(first < texts.stops, first + 1, texts.starts), texts.stops)


def to_be_answered(
    data: Sequence[str],
    notes: Mapping[str, object] | None,
    format: str | None = None,
    options: Mapping[str, object] | None = None,
    on_error: str = "stop",
) -> Source:
    """Raw rows for a model, read as those that it learned from (`notes` of its file), targets apart.

    A format that is not known by the ending is that of the notes.
    """
    if not data:
        raise BadInput("got no data; wanted a path, a glob or '-' for standard input")
    if format is None and len(data) == 1 and is_set(data[0]):
        return Reading(data).source
    learned, read = notes or {}, (notes or {}).get("options") or {}
    if not isinstance(read, Mapping):
        raise BadFile(f"the model's record of learning has options {shown(read)}; use another copy")
    found = format
    if found is None:
        try:
            found = format_of(data[0])
        except BadInput:
            if learned.get("format") in (None, "set"):
                raise
            found = str(learned["format"])
    for name in options or {}:
        if name not in source_options(found):
            raise BadInput(f"{found} has no option {shown(name)}; it has {', '.join(source_options(found))}")
    kept = unlabelled(found, read if learned.get("format") in (found, None) else {}) | dict(options or {})
    if learned.get("task") == SETS and found == "svmlight":
        kept["multilabel"] = True
    paths = data[0] if len(data) == 1 else list(data)
    return open_source(paths, found, follow=False, on_error=on_error, **kept)
