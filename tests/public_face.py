"""Every public name with its signature and defaults; `python -m tests.public_face` writes the snapshot.

Parameters are listed by name, so that their order in a file does not matter (what may be given by position is
marked with its place). A later change of the public face is made here on purpose, and seen in the diff.
"""

from __future__ import annotations

import dataclasses
import inspect
import json
import types
from pathlib import Path
from typing import Any

import onmargin as om

SNAPSHOT = Path(__file__).with_suffix(".json")


def signature(function: Any) -> dict[str, str]:
    """name -> default ("required" where there is none), with its place where it may be given by position."""
    found = {}
    for place, (name, one) in enumerate(inspect.signature(function).parameters.items()):
        default = "required" if one.default is one.empty else repr(one.default)
        by_place = one.kind in (one.POSITIONAL_ONLY, one.POSITIONAL_OR_KEYWORD)
        mark = {one.VAR_POSITIONAL: "*", one.VAR_KEYWORD: "**"}.get(one.kind, "")
        found[mark + name] = default if mark else f"{default} at {place}" if by_place else default
    return dict(sorted(found.items()))


def face_of_class(cls: type) -> dict[str, Any]:
    """Constructor, methods, properties."""
    found: dict[str, Any] = {}
    fields = {field.name for field in dataclasses.fields(cls)} if dataclasses.is_dataclass(cls) else set()
    for name in sorted(set(dir(cls)) - fields):
        value = inspect.getattr_static(cls, name)
        if name.startswith("_") and name != "__init__":
            continue
        if name in ("set_fit_request", "set_partial_fit_request", "set_score_request"):
            found[name] = "scikit-learn's metadata routing"
        elif isinstance(value, property) or hasattr(value, "__set_name__") and not callable(value):
            found[name] = "attribute"
        elif isinstance(value, classmethod | staticmethod):
            found[name] = signature(value.__func__)
        elif callable(getattr(cls, name, None)) and inspect.isfunction(value):
            found[name] = signature(value)
        elif not callable(value):
            found[name] = "attribute"
    return found


def face() -> dict[str, Any]:
    """All of it."""
    found: dict[str, Any] = {}
    for name in om.__all__:
        value = getattr(om, name)
        if isinstance(value, types.ModuleType):
            names = [n for n in dir(value) if not n.startswith("_")]
            public = [
                n
                for n in names
                if callable(getattr(value, n))
                and (getattr(value, n).__module__ or "").startswith(value.__name__)
            ]
            found[name] = {
                n: face_of_class(getattr(value, n))
                if isinstance(getattr(value, n), type)
                else signature(getattr(value, n))
                for n in sorted(public)
            }
        elif isinstance(value, type):
            found[name] = face_of_class(value)
        elif callable(value):
            found[name] = signature(value)
    return found


if __name__ == "__main__":
    SNAPSHOT.write_text(json.dumps(face(), indent=1, sort_keys=True) + "\n")
