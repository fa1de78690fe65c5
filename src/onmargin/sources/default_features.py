"""The features of a format where none were chosen."""

from __future__ import annotations

from ..errors import BadInput, shown
from .blocks import Features


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
