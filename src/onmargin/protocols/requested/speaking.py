"""Which features speak in a model, by their names, through a Pipeline too."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ...errors import BadInput, shown
from ...features.piped import is_pipeline
from ...interface.feedback.asks import AsksForLabels
from ...interface.learner import Learner

if TYPE_CHECKING:
    import pandas as pd
    from sklearn.pipeline import Pipeline


class Speaker(NamedTuple):
    """A learner, the steps that make its columns (None: they come as they are), and what it calls them."""

    learner: Learner
    steps: Pipeline | None
    names: object


def top_features(model: object, k: int = 10, *, feature_names: object = None) -> pd.DataFrame:
    """The k heaviest features of every output, named as the steps before the learner name them.

    model : a learner of this library, a scikit-learn Pipeline that ends in one, or a search over such
        (`best_estimator_`).
    feature_names : other names, one for each column that reaches the learner.

    Columns class, feature, weight. Where the steps have no names (a HashingVectorizer) columns are numbered.

    >>> from sklearn.feature_extraction.text import CountVectorizer
    >>> from sklearn.pipeline import make_pipeline
    >>> import onmargin as om
    >>> texts, labels = ["cheap pills", "lunch at noon", "cheap offer", "noon"] * 5, ["spam", "ham"] * 10
    >>> model = make_pipeline(CountVectorizer(), om.PassiveAggressiveClassifier(random_state=0))
    >>> om.top_features(model.fit(texts, labels), 2)["feature"].tolist()
    ['noon', 'cheap']
    """
    found = _speaker(model, feature_names)
    frame: pd.DataFrame = found.learner.top_features(k, found.names)
    return frame


def explain(model: object, x: object, k: int | None = None, *, feature_names: object = None) -> pd.DataFrame:
    """What each feature of one example adds to each score; of a Pipeline, x is what its first step takes.

    x : one example: a text, a dict, a row, a frame of one row.
    k : only the k largest contributions of each output.

    Columns class, feature, value, weight, contribution, as the learner's own `explain`.
    """
    found = _speaker(model, feature_names)
    if found.steps is not None:
        x = found.steps.transform(x if _is_batch(x) else [x])
    frame: pd.DataFrame = found.learner.explain(x, k, found.names)
    return frame


def _speaker(model: object, names: object) -> Speaker:
    """The learner inside, however it is wrapped."""
    inside = getattr(model, "best_estimator_", model)
    steps = None
    if is_pipeline(inside):
        steps = inside[:-1] if len(inside) > 1 else None
        inside = inside[-1]
    if isinstance(inside, AsksForLabels):
        inside = inside.inside()
    if not isinstance(inside, Learner):
        raise BadInput(
            f"got {shown(model)}; wanted a learner of this library, or a Pipeline that ends in one"
        )
    if names is None and steps is not None and not hasattr(inside, "feature_names_in_"):
        names = _names_after(steps)
    return Speaker(inside, steps, names)


def _names_after(steps: Pipeline) -> object:
    """What comes out of fitted steps; None where one of them has no names."""
    try:
        return steps.get_feature_names_out()
    except AttributeError:  # a step without names
        return None


def _is_batch(x: object) -> bool:
    """Is this already a table (or a list of texts), not one example?"""
    if isinstance(x, str | bytes | Mapping):
        return False
    if isinstance(x, list | tuple):
        return bool(x) and not isinstance(x[0], int | float | np.number)
    return bool(getattr(x, "ndim", 2) != 1)
