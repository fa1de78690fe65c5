"""What pipelines ask of a step that makes rows of raw data, and that may learn from them as they come."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Self

from sklearn.base import BaseEstimator, TransformerMixin, clone

State = dict[str, object]


class FeatureStep(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """A transformer of scikit-learn's kind, online: `partial_fit` goes on, `fit` begins anew.

    A child has `partial_fit`, `transform`, `width`, `state` and `from_state`, and names what it has found
    with a `_` at the end; `transform` may be called before the first data.
    """

    def partial_fit(self, X: object, y: object = None) -> Self:
        """Learn from some more raw rows."""
        raise NotImplementedError

    def transform(self, X: object) -> object:
        """Raw rows as rows of numbers."""
        raise NotImplementedError

    def fit(self, X: object, y: object = None) -> Self:
        """Forget, and learn from these raw rows alone."""
        fresh = clone(self).partial_fit(X, y)
        for name in [name for name in vars(self) if name.endswith("_")]:
            delattr(self, name)
        for name, held in vars(fresh).items():
            if name.endswith("_"):
                setattr(self, name, held)
        return self

    def partial_fit_transform(self, X: object, y: object = None) -> object:
        """Learn from some more raw rows, then make rows of them."""
        return self.partial_fit(X, y).transform(X)

    def fit_transform(self, X: object, y: object = None, **given: object) -> object:
        """Forget, learn from these raw rows alone, and make rows of them."""
        return self.fit(X, y).transform(X)

    def state(self) -> State:
        """Parameters and all that it has found: plain values, names, arrays, and dicts of them."""
        raise NotImplementedError

    @classmethod
    def from_state(cls, state: Mapping[str, object]) -> Self:
        """The same again; raises BadInput where something does not fit."""
        raise NotImplementedError

    def width(self) -> int | None:
        """How many columns come out of it; None where that is not known."""
        return None

    def __sklearn_is_fitted__(self) -> bool:
        return True
