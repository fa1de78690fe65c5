"""A model's file in words and numbers: what it is, on what it was trained, what it has learned."""

from __future__ import annotations

import os
from typing import NamedTuple, cast

import numpy as np

from ...errors import BadInput, OnmarginError
from ...features.hashing import Names
from ...features.piped import is_pipeline, last_step
from ...interface.feedback.asks import AsksForLabels
from ...interface.learner import Learner
from ..saving.files import load, notes_of
from .record import first_column
from .speaking import top_features

HIDDEN = ("growing", "classes", "random_state", "verbose")


class Weight(NamedTuple):
    """A feature that speaks for an output."""

    output: object
    feature: object
    weight: float


class Portrait:
    """What can be said of a model: `facts` by name, and the heaviest features of every output (`top`).

    path : a file of `om.save` or `onmargin learn`. k : features for each output.
    """

    def __init__(self, path: str | os.PathLike[str], k: int = 10) -> None:
        if k < 0:
            raise BadInput(f"top={k}; wanted a number of features, 0 or more")
        self.path = os.fspath(path)
        self.whole = load(path)
        self.notes = notes_of(path)
        inside = last_step(self.whole)
        self.asks = inside if isinstance(inside, AsksForLabels) else None
        self.learner = cast("Learner", inside.inside() if isinstance(inside, AsksForLabels) else inside)
        self.shown = inside
        self.top = self._top(k)

    def facts(self) -> dict[str, object]:
        """Plain values by name, those that the model has."""
        learner = self.learner
        found: dict[str, object] = {"model": type(self.shown).__name__, "parameters": self.parameters}
        if is_pipeline(self.whole):
            found["steps"] = self.steps
        if getattr(learner, "_model", None) is None:
            return found | {"rounds": 0, "bytes": os.path.getsize(self.path)}
        classes = getattr(learner, "classes_", None)
        found |= {"rounds": int(learner.t_), "features": int(learner.n_features_in_)}
        if classes is not None:
            found["classes"] = np.asarray(classes).tolist()
        weights = self._weights()
        if weights is not None:
            found |= {
                "norm": float(np.linalg.norm(weights)), "nonzero": int(np.count_nonzero(weights)),
                "weights": int(weights.size), "intercept": np.ravel(learner.intercept_).tolist(),
            }  # fmt: skip
        elif hasattr(learner, "n_support_"):
            found["support_vectors"] = int(np.sum(np.asarray(learner.n_support_)))
        names = self._names()
        if names is not None:
            found |= {"names": len(names), "collisions": names.collisions}
        return found | {"bytes": os.path.getsize(self.path)}

    def trained(self) -> dict[str, object]:
        """When and on what, as the file says; empty where it does not."""
        notes = self.notes or {}
        kept = (
            "data", "format", "task", "algorithm", "command", "begun", "ended", "seconds", "rows", "passes",
            "finished", "skipped", "earlier", "versions",
        )  # fmt: skip
        return {name: notes[name] for name in kept if name in notes}

    @property
    def steps(self) -> list[str]:
        """What makes its rows, in words."""
        return [repr(step) for _, step in self.whole.steps[:-1]] if is_pipeline(self.whole) else []

    @property
    def parameters(self) -> dict[str, object]:
        """Those that are not as usual."""
        changed = type(self.shown)
        given = self.shown.get_params(deep=False)
        try:
            usual = changed().get_params(deep=False)
        except (TypeError, OnmarginError):  # one without which it cannot be made
            usual = {}
        return {
            name: value if isinstance(value, str | int | float | bool | None) else str(value)
            for name, value in given.items()
            if name not in HIDDEN and (name not in usual or str(usual[name]) != str(value))
        }

    def _weights(self) -> np.ndarray | None:
        try:
            return np.asarray(self.learner.coef_)
        except (AttributeError, OnmarginError):  # kernels, balls
            return None

    def _names(self) -> Names | None:
        """The table of hashed names, where a step has one."""
        steps = self.whole.steps[:-1] if is_pipeline(self.whole) else []
        return next((step.names_ for _, step in steps if hasattr(step, "names_")), None)

    def _top(self, k: int) -> list[Weight]:
        if not k or getattr(self.learner, "_model", None) is None or self._weights() is None:
            return []
        try:
            frame = top_features(self.whole, k)
        except (AttributeError, OnmarginError):
            return []
        lines = zip(frame["class"], map(_plain, frame["feature"]), frame["weight"], strict=True)
        first = first_column((self.notes or {}).get("options"))
        return [
            Weight(_plain(a), b + first if isinstance(b, int) else b, float(c))
            for a, b, c in lines
            if c != 0.0
        ]


def _plain(value: object) -> object:
    return value.item() if isinstance(value, np.generic) else value
