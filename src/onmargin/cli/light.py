"""A quick start: what scikit-learn loads for itself waits until somebody asks for it."""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable, Sequence
from functools import wraps
from importlib import import_module
from types import ModuleType
from typing import ParamSpec, cast

# Half of what scikit-learn takes to load, and the functions of each that are taken by name meanwhile.
LATER: dict[str, tuple[str, ...]] = {
    "joblib": ("cpu_count",),
    "numpy.f2py": (),
    "numpy.testing": (),
    "scipy.linalg": (),
    "scipy.sparse.csgraph": ("laplacian",),
    "scipy.sparse.linalg": ("LinearOperator", "cg"),
    "scipy.special": (),
    "scipy.stats": (),
    "sklearn.utils.parallel": ("_get_threadpool_controller",),
}
HIDDEN = "pandas"  # as much again; it is only looked for, and whoever needs it imports it
OBJECTS = 400_000  # more than are made until a command is at work: garbage is not looked for before


_P = ParamSpec("_P")


def later(name: str, functions: Sequence[str], starting: list[str]) -> ModuleType:
    """What stands for a module until something in it is asked for, or one of these functions is called.

    starting : not empty while only these functions are taken.
    """
    module = ModuleType(name)

    def loaded() -> ModuleType:
        if sys.modules.get(name) is module:
            del sys.modules[name]
        return import_module(name)

    def get(wanted: str) -> object:
        # (Names of its own; its folder is asked for by imports from within it, and by those of functions.)
        if wanted.startswith("__") and (wanted != "__path__" or (functions and starting)):
            raise AttributeError(wanted)
        found = loaded()
        vars(module).update({key: value for key, value in vars(found).items() if key != "__getattr__"})
        return getattr(found, wanted)

    def called_later(wanted: str) -> Callable[..., object]:
        def call(*given: object, **named: object) -> object:
            return cast("Callable[..., object]", getattr(loaded(), wanted))(*given, **named)

        return call

    vars(module).update({wanted: called_later(wanted) for wanted in functions})
    vars(module)["__getattr__"] = get
    return module


def load_scikit_learn() -> None:
    """scikit-learn's base in a third of the time. For programs, not for a library: placeholders stay."""
    if "sklearn.base" in sys.modules:
        return
    import_module("numpy")
    starting = ["sklearn.base"]
    for name, functions in LATER.items():
        sys.modules.setdefault(name, later(name, functions, starting))
    _put_in_packages()
    hides = HIDDEN not in sys.modules
    if hides:
        cast("dict[str, ModuleType | None]", sys.modules)[HIDDEN] = (
            None  # (Python's sign for "not to be had")
        )
    try:
        import_module("sklearn.base")
    finally:
        starting.clear()
        _put_in_packages()
        if hides:
            del sys.modules[HIDDEN]


def _put_in_packages() -> None:
    """What an import does: a part is an attribute of its package, if that is loaded."""
    for name in LATER:
        package, _, part = name.rpartition(".")
        if package in sys.modules and part not in vars(sys.modules[package]):
            setattr(sys.modules[package], part, sys.modules[name])


def collect_late() -> None:
    """Modules are no garbage, and to look through them again and again takes a tenth of a start."""
    gc.set_threshold(OBJECTS, *gc.get_threshold()[1:])


def lightly(command: Callable[_P, None]) -> Callable[_P, None]:
    """The same command, which needs learners, started that way."""

    @wraps(command)
    def started(*given: _P.args, **named: _P.kwargs) -> None:
        load_scikit_learn()
        command(*given, **named)

    return started
