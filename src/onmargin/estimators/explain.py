"""Which features speak, by name, as a frame."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..errors import BadInput, extra


class Explained:
    """`top_features` and `explain` of a linear learner."""

    def _feature_names(self) -> list[Any]:
        me: Any = self
        if me._slots is not None:
            return list(me._slots)
        return list(range(me.n_features_in_))

    def _output_names(self) -> list[Any]:
        """What each row of `coef_` speaks for."""
        me: Any = self
        labels = getattr(me, "_labels", None)
        if labels is None:
            return ["prediction"]
        return list(labels.known) if labels.outputs > 1 or labels.sets else [labels.known[-1]]

    def top_features(self, k: int = 10) -> Any:
        """The k heaviest features of every output: columns class, feature, weight."""
        me: Any = self
        names, rows = self._feature_names(), []
        for label, weights in zip(self._output_names(), me.coef_, strict=True):
            heaviest = np.argsort(-np.abs(weights), kind="stable")[:k]
            rows += [(label, names[j], float(weights[j])) for j in heaviest]
        return frame_of(rows, ["class", "feature", "weight"])

    def explain(self, x: Any, k: int | None = None) -> Any:
        """What each feature of one example adds to each score: weight times value.

        Columns class, feature, value, weight, contribution; the constant coordinate is the row
        "(intercept)". The contributions of a class add up to its linear score.
        """
        me: Any = self
        names, values = self._one_example(x)
        coefficients, intercepts = me.coef_, me.intercept_
        known = {name: j for j, name in enumerate(self._feature_names())}
        rows = []
        for label, weights, intercept in zip(self._output_names(), coefficients, intercepts, strict=True):
            spoken = [
                (label, name, value, float(weights[known[name]]), float(weights[known[name]]) * value)
                for name, value in zip(names, values, strict=True)
                if name in known and value
            ]
            spoken.append((label, "(intercept)", 1.0, float(intercept), float(intercept)))
            spoken.sort(key=lambda row: -abs(row[4]))
            rows += spoken[:k]
        return frame_of(rows, ["class", "feature", "value", "weight", "contribution"])

    def _one_example(self, x: Any) -> tuple[list[Any], list[float]]:
        if isinstance(x, Mapping):
            return list(x), [float(value) for value in x.values()]
        if hasattr(x, "columns"):
            if len(x) != 1:
                raise BadInput(f"got {len(x)} rows; wanted one example")
            columns, known = list(x.columns), self._feature_names()
            named = any(name in known for name in columns) or len(columns) != len(known)
            return (columns if named else known), np.asarray(x, float).ravel().tolist()
        row = x.toarray().ravel() if sp.issparse(x) else np.asarray(x, float).ravel()
        names = self._feature_names()
        if len(row) != len(names):
            raise BadInput(f"got {len(row)} numbers; wanted one example with {len(names)} features")
        return names, row.tolist()


def frame_of(rows: list[tuple[Any, ...]], columns: list[str]) -> Any:
    try:
        import pandas as pd
    except ImportError:
        raise extra("pandas", "frames") from None
    return pd.DataFrame(rows, columns=columns)
