"""The features of a format where none were chosen, and all rows of a source made at once."""

from __future__ import annotations

import numpy as np

from ..errors import BadInput, shown
from .blocks import Features, Rows, Source


def default_features(features: Features | str | None, is_text: bool = False) -> Features | None:
    """`Table()`, or `Text()` where the features are one text; anything but "auto" as it is."""
    if not isinstance(features, str):
        return features
    if features != "auto":
        raise BadInput(f"features={shown(features)}; wanted 'auto', None or an object with transform")
    if is_text:
        from ..features.text import Text

        return Text()
    from ..features.table import Table

    made: Features = Table()
    return made


def read_whole(source: Source) -> tuple[Rows, np.ndarray]:
    """All rows and targets; features learn from all rows before they make any."""
    features, source.features = source.features, None
    whole = source.whole()
    rows = whole.rows
    if features is not None:
        learn = getattr(features, "partial_fit", None)
        if learn is not None:
            learn(rows)
        rows = features.transform(rows)
    return rows, np.asarray(whole.targets)
