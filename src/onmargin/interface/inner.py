"""What a learner around another shows of it."""

from __future__ import annotations

from typing import Any

from .guard import NOBODY


class Inner:
    """An attribute of the learner inside."""

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, owner: Any, kind: type) -> Any:
        if owner is None:
            return self
        if "estimator_" not in owner.__dict__:
            raise AttributeError(f"{kind.__name__} has no {self.name!r} (yet)")
        with (owner._guard or NOBODY).lock:  # it learns by calls of its owner, which wait for no other
            return getattr(owner.estimator_, self.name)


class Beside(Inner):
    """What is kept beside the model of the learner inside, so that one assignment replaces both."""

    def __get__(self, owner: Any, kind: type) -> Any:
        if owner is not None and not hasattr(owner.__dict__.get("estimator_"), f"_{self.name}"):
            raise AttributeError(f"{kind.__name__} has no {self.name!r} (yet)")
        return self if owner is None else getattr(owner.estimator_, f"_{self.name}")

    def __set__(self, owner: Any, value: object) -> None:
        setattr(owner.estimator_, f"_{self.name}", value)
