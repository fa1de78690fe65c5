"""A quick start: what scikit-learn loads for itself and no command needs is loaded when it is asked for."""

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


class Later(ModuleType):
    """Stands for a module until something in it is asked for."""

    def __getattr__(self, name: str) -> object:
        if name.startswith("__") and name != "__path__":  # (a module's own; its folder is asked for imports)
            raise AttributeError(name)
        if sys.modules.get(self.__name__) is self:
            del sys.modules[self.__name__]
        self.__dict__.update(import_module(self.__name__).__dict__)
        return self.__dict__[name] if name in self.__dict__ else getattr(import_module(self.__name__), name)


def load_scikit_learn() -> None:
    """scikit-learn's base in a third of the time. For programs, not for a library: placeholders stay."""
    if "sklearn.base" in sys.modules:
        return
    sys.modules.setdefault(LATER, Later(LATER))
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
