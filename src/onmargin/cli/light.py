"""A quick start: what scikit-learn loads for itself waits until somebody asks for it."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import wraps
from importlib import import_module
from types import ModuleType
from typing import ParamSpec, cast

LATER = "scipy.stats"  # a third of the time that scikit-learn takes to load
HIDDEN = "pandas"  # another third; it is only looked for, and whoever needs it imports it


_P = ParamSpec("_P")


def later(name: str) -> ModuleType:
    """What stands for a module until something in it is asked for."""
    module = ModuleType(name)

    def get(wanted: str) -> object:
        if wanted.startswith("__") and wanted != "__path__":  # (its own; its folder is asked for by imports)
            raise AttributeError(wanted)
        if sys.modules.get(name) is module:
            del sys.modules[name]
        loaded = import_module(name)
        vars(module).update({key: value for key, value in vars(loaded).items() if key != "__getattr__"})
        return getattr(loaded, wanted)

    vars(module)["__getattr__"] = get
    return module


def load_scikit_learn() -> None:
    """scikit-learn's base in a third of the time. For programs, not for a library: placeholders stay."""
    if "sklearn.base" in sys.modules:
        return
    sys.modules.setdefault(LATER, later(LATER))
    hides = HIDDEN not in sys.modules
    if hides:
        cast("dict[str, ModuleType | None]", sys.modules)[HIDDEN] = (
            None  # (Python's sign for "not to be had")
        )
    try:
        import_module("sklearn.base")
    finally:
        if hides:
            del sys.modules[HIDDEN]


def lightly(command: Callable[_P, None]) -> Callable[_P, None]:
    """The same command, which needs learners, started that way."""

    @wraps(command)
    def started(*given: _P.args, **named: _P.kwargs) -> None:
        load_scikit_learn()
        command(*given, **named)

    return started
