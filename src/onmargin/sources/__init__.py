"""Where examples come from: a module for each format, with `read(path)` and `stream(path)`.

Formats load on first use: learners know blocks, and need no parser.
"""

from __future__ import annotations

from importlib import import_module
from types import ModuleType

FORMATS = ("svmlight",)


def __getattr__(name: str) -> ModuleType:
    if name in FORMATS:
        return import_module(f".{name}", __name__)
    raise AttributeError(f"om.sources has no {name!r}; there are {', '.join(FORMATS)}")


def __dir__() -> list[str]:
    return sorted({*globals(), *FORMATS})
