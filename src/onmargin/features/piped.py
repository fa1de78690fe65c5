"""Is it one of scikit-learn's Pipelines? Asked without loading them, which takes long."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, TypeGuard

if TYPE_CHECKING:
    from sklearn.pipeline import Pipeline


def is_pipeline(model: object) -> TypeGuard[Pipeline]:
    """Only where their module is loaded can there be one."""
    loaded = sys.modules.get("sklearn.pipeline")
    return loaded is not None and isinstance(model, loaded.Pipeline)


def last_step(model: object) -> Any:
    """What stands at the end of a Pipeline; anything else stands by itself."""
    return model.steps[-1][1] if is_pipeline(model) else model


def piped(features: object, model: object) -> Pipeline:
    """Features, then the model, under the names that files have."""
    from sklearn.pipeline import Pipeline

    return Pipeline([("features", features), ("model", model)])
