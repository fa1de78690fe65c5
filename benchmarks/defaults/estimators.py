"""Contestants with scikit-learn's interface: ours and scikit-learn's, made by an expression."""

from __future__ import annotations

import math
import zlib
from collections.abc import Callable
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
import sklearn
import sklearn.linear_model
import sklearn.svm
from sklearn.base import is_regressor
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Normalizer, StandardScaler

import onmargin as om

from .jobs import Answers
from .sets import CLASSES, LABEL_SETS, NUMBERS, QUERIES, Part, Set

SHARE = 100  # scikit-learn's streams come in blocks of at most a hundredth of the rows seen: a call is slow


def facts(X: Any, y: np.ndarray) -> dict[str, float]:
    """Numbers of the rows that an expression may use."""
    squares = sp.csr_matrix(X).power(2)
    lengths = np.sqrt(np.asarray(squares.sum(axis=1)).ravel())
    return {
        "length": float(np.median(lengths)),  # |x|
        "first": float(lengths[0]),
        "longest": float(lengths.max()),
        "typical": _alike(squares),
        "first_typical": _alike(squares[np.flatnonzero(lengths)[:1]]),  # what a stream knows of it
        "spread": float(np.abs(y - np.median(y)).mean()),  # of the targets
        "n": float(len(y)),
        "d": float(X.shape[1]),
    }


def _alike(squares: Any) -> float:
    """|x|^2, were all columns like the median entry: long columns and long rows do not count for more."""
    entries = squares.data[squares.data > 0.0]
    return float(np.median(np.diff(squares.indptr)) * np.median(entries)) if len(entries) else 1.0


def names() -> dict[str, Any]:
    """What an expression may say: everything of ours, scikit-learn's linear models, NumPy."""
    known: dict[str, Any] = {"om": om, "np": np, "sklearn": sklearn, "make_pipeline": make_pipeline}
    known |= {"StandardScaler": StandardScaler, "Normalizer": Normalizer}
    for module in (sklearn.svm, sklearn.linear_model):
        known |= {name: getattr(module, name) for name in module.__all__}
    return known | {name: getattr(om, name) for name in om.__all__ if name[0].isupper()}


def _of_ours(model: Any) -> bool:
    return type(model).__module__.startswith("onmargin.")


def kind_of(model: Any) -> str:
    """Which sets it is for by default."""
    if isinstance(model, om.PairedRanker):
        return QUERIES
    if is_regressor(model):
        return NUMBERS
    return CLASSES


class Made(NamedTuple):
    """A contestant made by evaluating an expression for every set (a developer's own: it is trusted)."""

    expression: str
    jobs: tuple[str, ...] = ("fit", "last", "online")
    kinds: tuple[str, ...] = (CLASSES, LABEL_SETS, NUMBERS, QUERIES)
    most: float = math.inf  # columns times classes that it gets through in seconds

    def model(self, X: Any, y: np.ndarray, seed: int) -> Any:
        """A fresh one."""
        model = eval(self.expression, names() | facts(X, y))
        own = {
            key for key, value in model.get_params().items() if key.endswith("random_state") and value is None
        }
        return model.set_params(**dict.fromkeys(own, seed))

    def settings(self) -> str:
        """Of all parameters."""
        return _mark(self.expression)

    def takes(self, job: str, data: Set) -> bool:
        """Rankers fit; label sets are not judged row by row."""
        if job not in self.jobs or data.kind not in self.kinds:
            return False
        if self.most < math.inf and data.X.shape[1] * len(np.unique(data.y)) > self.most:
            return False
        if job == "online":
            return data.kind in (CLASSES, NUMBERS)
        if job == "last" and data.kind == LABEL_SETS:
            return _of_ours(evaluated(self.expression)())  # one against the rest has no such `partial_fit`
        return job == "fit" or data.kind != QUERIES

    def answers(self, job: str, data: Set, part: Part, seed: int) -> Answers:
        """The job."""
        model = self.model(part.X, part.y, seed)
        if data.kind == LABEL_SETS and not _of_ours(model):
            model = OneVsRestClassifier(model)
        if job == "online":
            return _online(model, data, part)
        if job == "fit":
            _fit(model, data, part)
        else:
            model.partial_fit(part.X, part.y, **_classes(model, data, part))
        return Answers(model.predict(part.X_test), _scores(model, part.X_test))


def _fit(model: Any, data: Set, part: Part) -> None:
    if data.kind == QUERIES and isinstance(model, om.PairedRanker):
        model.fit(part.X, part.y, qid=part.qid)
    else:
        model.fit(part.X, part.y)


def _classes(model: Any, data: Set, part: Part) -> dict[str, Any]:
    """`partial_fit` wants to know all classes; ours finds the labels of an indicator matrix."""
    if data.kind == CLASSES or (data.kind == LABEL_SETS and not _of_ours(model)):
        labels = np.unique(part.y) if data.kind == CLASSES else np.arange(part.y.shape[1])
        return {"classes": labels}
    return {}


def _scores(model: Any, X: Any) -> np.ndarray | None:
    scores = model.decision_function(X) if hasattr(model, "decision_function") else None
    return scores if scores is None or np.ndim(scores) == 1 else None


def _online(model: Any, data: Set, part: Part) -> Answers:
    if _of_ours(model):
        classes = np.unique(part.y) if data.kind == CLASSES else None
        run = om.progressive(model, part.X, part.y, classes=classes)
        scores = np.asarray(run.scores)
        return Answers(np.asarray(run.predictions), scores if scores.ndim == 1 else None)
    said = np.empty(len(part.y), part.y.dtype)
    said[:] = part.y.flat[0]  # nothing is known of the first row: the benefit of the doubt
    known, start = _classes(model, data, part), 0
    while start < len(part.y):
        stop = min(start + max(1, start // SHARE), len(part.y))
        rows = part.X[start:stop]
        if start:
            said[start:stop] = model.predict(rows)
        model.partial_fit(rows, part.y[start:stop], **(known if not start else {}))
        start = stop
    return Answers(said)


def evaluated(expression: str) -> Callable[[], Any]:
    """The expression's model for two made-up rows: whether it can be read at all, and what kind it is."""
    X = np.eye(2)
    return lambda: Made(expression).model(X, np.array([0, 1]), 0)


@lru_cache
def _mark(expression: str) -> str:
    known = evaluated(expression)().get_params()
    plain = sorted((name, repr(value)) for name, value in known.items() if not hasattr(value, "get_params"))
    return f"{zlib.crc32(repr(plain).encode()):08x}"
