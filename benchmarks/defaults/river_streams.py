"""River's linear models with their default settings: dicts, test, then train."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from .jobs import Answers
from .sets import CLASSES, Part, Set

MOST = 5_000_000  # entries times models: a Python loop over each


def absent() -> str:
    """Why it does not compete; empty where it does."""
    return (
        "" if importlib.util.find_spec("river") else "river is not installed (pip install 'onmargin[bench]')"
    )


class RiverModel(NamedTuple):
    """A class of `river.linear_model`; more than two classes: one against the rest."""

    name: str
    kind: str = CLASSES

    def settings(self) -> str:
        """As it comes."""
        return "as it comes"

    def takes(self, job: str, data: Set) -> bool:
        """What a loop in Python gets through in seconds; it has no fit of several passes."""
        if job == "fit" or data.kind != self.kind or absent():
            return False
        classes = len(np.unique(data.y)) if data.kind == CLASSES else 1
        entries = data.X.nnz if sp.issparse(data.X) else data.X.size
        return bool(entries * (classes if classes > 2 else 1) <= MOST)

    def _model(self, labels: np.ndarray) -> Any:
        from river import linear_model, multiclass

        model = getattr(linear_model, self.name)()
        return multiclass.OneVsRestClassifier(model) if len(labels) > 2 else model

    def answers(self, job: str, data: Set, part: Part, seed: int) -> Answers:
        """One pass; labels of two classes become False and True, as River's loops expect."""
        labels = np.unique(part.y) if data.kind == CLASSES else np.empty(0)
        targets = part.y.tolist() if len(labels) != 2 else (part.y == labels[1]).tolist()
        model, said = self._model(labels), []
        for x, target in zip(_dicts(part.X), targets, strict=True):
            if job == "online":
                said.append(model.predict_one(x))
            model.learn_one(x, target)
        if job != "online":
            said = [model.predict_one(x) for x in _dicts(part.X_test)]
        return Answers(_labels(said, labels))


def _labels(said: list[Any], labels: np.ndarray) -> np.ndarray:
    if not len(labels):
        return np.array(said, float)
    if len(labels) == 2:
        return np.asarray(labels[np.array([bool(one) for one in said], int)])
    return np.array([labels[0] if one is None else one for one in said])


def _dicts(X: Any) -> Iterator[dict[int, float]]:
    X = sp.csr_matrix(X)
    ends, columns, values = X.indptr.tolist(), X.indices.tolist(), X.data.tolist()
    for first, last in zip(ends, ends[1:], strict=False):
        yield dict(zip(columns[first:last], values[first:last], strict=True))
