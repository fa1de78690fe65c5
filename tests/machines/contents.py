"""What `om.save` would write of a model, to be compared byte for byte."""

from __future__ import annotations

import json
from typing import Any
from unittest import mock

import numpy as np

import onmargin as om
from onmargin.errors import BadInput
from onmargin.protocols.saving import container

SCRATCH = ("notes", "reach", "point", "spans")  # nothing of these outlives a round
Content = dict[str, Any]


def content(model: Any) -> Content:
    """Facts as text, arrays as their type, shape and bytes."""
    written: Content = {}

    def keep(path: object, facts: dict[str, Any], arrays: dict[str, np.ndarray]) -> None:
        for name, value in facts.items():
            written[name] = json.dumps(container.encode(value), sort_keys=True)
        for name, array in arrays.items():
            if name not in SCRATCH:
                written[f"array {name}"] = (
                    array.dtype.str,
                    array.shape,
                    (array + 0).tobytes(),
                )  # -0.0 is 0.0

    with mock.patch.object(container, "write", keep):
        try:
            om.save(model, "never written")
        except BadInput as refusal:  # (a sampler whose parameters make no sense)
            written["refused"] = str(refusal)
    return written


def differences(first: Content, second: Content) -> list[str]:
    """What is not the same, each in a short line."""
    return [
        f"{name}: {_shown(first.get(name))} != {_shown(second.get(name))}"
        for name in sorted({*first, *second})
        if first.get(name) != second.get(name)
    ]


def not_finite(written: Content) -> list[str]:
    """Arrays with an entry that is no finite number."""
    return [
        name
        for name, value in written.items()
        if isinstance(value, tuple) and not np.isfinite(_array(value)).all()
    ]


def _array(value: tuple[str, tuple[int, ...], bytes]) -> np.ndarray:
    return np.frombuffer(value[2], value[0]).reshape(value[1])


def _shown(value: Any) -> str:
    if isinstance(value, tuple):
        array = _array(value)
        return f"{array.shape} {array.ravel()[:12].tolist()}"
    return str(value)[:160]
