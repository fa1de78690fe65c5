"""Steps of our own (om.features) in the file of a Pipeline: their state, and arrays beside the others.

A step says what it is in plain values (`state`) and makes itself of them again (`from_state`), comparing all
of it first; this file only moves arrays out of those values and back.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ... import features
from ...features.steps import FeatureStep
from ...models.layout import Misfit

ARRAY = {"array": True}  # in the place of one
OWN = tuple(features.__all__)
"""The names of the steps there are."""


def is_own(step: object) -> bool:
    """One of these, and not a child of theirs?"""
    return type(step).__name__ in OWN and type(step) is getattr(features, type(step).__name__)


def state_without_arrays(step: FeatureStep, prefix: str, arrays: dict[str, np.ndarray]) -> object:
    """What a step says of itself; its arrays go to the others."""
    return _lifted(step.state(), prefix, arrays)


def _lifted(value: object, path: str, arrays: dict[str, np.ndarray]) -> object:
    if isinstance(value, np.ndarray):
        arrays[path] = value
        return dict(ARRAY)
    if isinstance(value, Mapping):
        return {name: _lifted(held, f"{path}.{name}", arrays) for name, held in value.items()}
    return value


def step_of(name: object, state: object, prefix: str, arrays: dict[str, np.ndarray]) -> FeatureStep:
    """The step that a file tells of; its arrays are taken out of the others."""
    whole = _put_back(state, prefix, arrays)
    if not isinstance(whole, Mapping) or not isinstance(name, str) or name not in OWN:
        raise Misfit(f"its step {name!r} says nothing of itself")
    kind: type[FeatureStep] = getattr(features, name)
    return kind.from_state(whole)


def _put_back(value: object, path: str, arrays: dict[str, np.ndarray]) -> object:
    if value == ARRAY:
        if path not in arrays:
            raise Misfit(f"the array {path!r} is missing")
        return arrays.pop(path)
    if isinstance(value, dict):
        return {name: _put_back(held, f"{path}.{name}", arrays) for name, held in value.items()}
    return value
