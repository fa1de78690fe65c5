"""Rows as a person reads them: a text, the fields of a record, or the largest features."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from typing import NamedTuple, Protocol

import numpy as np
import scipy.sparse as sp

from ...features.piped import piped
from ...features.steps import FeatureStep
from ...features.texts import Texts
from ...sources.blocks import Rows, joined
from ...sources.by_name import format_of, streamed
from ..requested.further import after_tabs, unlabelled
from ..requested.reading import Reading, features_for, is_set, source_options, wide_enough

WIDTH, LINES = 78, 12  # of what is shown of a row
TOP = 10  # features
CONTROLS = {code: " " for code in (*range(32), *range(127, 160))}


class Shower(Protocol):
    """Whoever can say what a row is."""

    def text(self, row: int, width: int = WIDTH) -> str:
        """On some short lines."""
        ...


class ShownTexts(NamedTuple):
    """Texts, folded to the width of a terminal; long ones are cut."""

    texts: Sequence[str]

    def text(self, row: int, width: int = WIDTH) -> str:
        lines = textwrap.wrap(plain(self.texts[row][: 2 * WIDTH * LINES]), width, replace_whitespace=True)
        return "\n".join([*lines[:LINES], *(["..."] if len(lines) > LINES else [])])


class ShownRecords(NamedTuple):
    """Records of a table of pyarrow: a line for each field."""

    table: Rows

    def text(self, row: int, width: int = WIDTH) -> str:
        record = self.table.slice(row, 1).to_pylist()[0]
        known = [
            f"{plain(name)}: {_brief(value, width)}" for name, value in record.items() if value is not None
        ]
        return "\n".join([*known[:LINES], *(["..."] if len(known) > LINES else [])])


def plain(text: str) -> str:
    """Without what a terminal would obey: control characters are blanks."""
    return text.translate(CONTROLS)


def _brief(value: object, width: int) -> str:
    if isinstance(value, float):
        return f"{value:g}"
    text = plain(" ".join(str(value).split()))
    return text if len(text) <= width else f"{text[: width - 3]}..."


class ShownNumbers(NamedTuple):
    """Rows of numbers: the features that are largest, with their names where there are any."""

    X: Rows

    def text(self, row: int, width: int = WIDTH) -> str:
        columns = list(getattr(self.X, "columns", range(self.X.shape[1])))
        if sp.issparse(self.X):
            line = self.X[[row]]
            places, values = line.indices, line.data
        else:
            values = np.asarray(self.X.iloc[row] if hasattr(self.X, "iloc") else self.X[row], float)
            places = np.flatnonzero(values)
            values = values[places]
        largest = np.argsort(-np.abs(values), kind="stable")[:TOP]
        more = f"  ... {len(values):,} in all" if len(values) > TOP else ""
        words = "  ".join(f"{columns[places[at]]}:{values[at]:.4g}" for at in largest)
        return textwrap.fill(plain(words + more), width) or "(an empty row)"


class RawRows(NamedTuple):
    """What a source holds: the table to learn from, what made it, and who can say what a row is."""

    X: Rows
    features: FeatureStep | None
    shower: Shower

    def whole(self, model: object) -> object:
        """The model, behind the features that it needs."""
        return model if self.features is None else piped(self.features, model)


def raw_rows(
    data: str,
    *,
    format: str | None = None,
    options: Mapping[str, object] | None = None,
    on_error: str = "stop",
) -> RawRows:
    """All rows of a file or a set by name, as a table and as they were written; labels are left aside.

    options : of the format's `stream` (`target`: a column that is left out) and of its features.
    """
    given = dict(options or {})
    if format is None and is_set(data):
        reading = Reading([data], options=given)
        raw, features = joined(list(reading.peeked.blocks())).rows, reading.features
    else:
        format = format_of(data) if format is None else format
        own = source_options(format)
        features = features_for(format, {k: v for k, v in given.items() if k not in own}, "text" in given)
        kept = unlabelled(format, given) | ({"target": given["target"]} if "target" in given else {})
        raw = streamed(data, format, {**kept, "on_error": on_error}).whole().rows
    if isinstance(raw, Texts) and format == "text":
        raw = after_tabs(raw)
    if features is None:
        raw = wide_enough(raw)
        return RawRows(raw, None, ShownNumbers(raw))
    X = wide_enough(features.partial_fit(raw).transform(raw))
    return RawRows(X, features, ShownRecords(raw) if hasattr(raw, "num_rows") else ShownTexts(raw))
