"""Examples as rows: raw texts and tables made numbers, names of features as columns and slots.

What users call loads on first use: learners need none of it.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .namespaces import Namespaces
    from .table import Table
    from .text import Text

__all__ = ["Namespaces", "Table", "Text"]
_HOMES = {"Namespaces": "namespaces", "Table": "table", "Text": "text"}


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"om.features has no {name!r}; it has {', '.join(__all__)}")
    globals()[name] = made = getattr(import_module(f".{_HOMES[name]}", __name__), name)
    return made


def __dir__() -> list[str]:
    return sorted(__all__)
