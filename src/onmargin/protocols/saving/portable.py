"""Parameters as a file can hold them: a recipe by the names of its parts, a prior by its numbers.

A user's functions do not go into the file: their names and what their source says (comments and
layout apart) do, and `om.load(path, parts={name: function})` brings them back.
"""

from __future__ import annotations

import ast
import hashlib
import inspect
import re
import textwrap
from typing import Any

import numpy as np

from ...compiled.parts import plain
from ...errors import BadInput, shown
from ...interface.parameters.priors import Prior
from ...kernels import composed, simple
from ...kernels.base import Kernel
from ...models.recipe import Recipe

KERNELS: dict[str, type[Kernel]] = {
    name: kind
    for module in (simple, composed)
    for name, kind in vars(module).items()
    if isinstance(kind, type) and issubclass(kind, Kernel) and not name.startswith("_")
}


class MissingParts(BadInput):
    """A user's function that must be brought along, and was not."""


def packed(value: Any) -> Any:
    """A parameter for the file."""
    if isinstance(value, Recipe):
        given = {role: _name(part) for role, part in value.given.items()}
        _refuse_namesakes(value)
        marks = {name: source_mark(function) for name, function in value.own_functions().items()}
        return {"recipe": given, "own": value.own, "functions": marks}
    if isinstance(value, Kernel):
        return {"kernel": type(value).__name__, "parts": [packed(part) for part in value.parts]}
    if isinstance(value, slice):
        return {"slice": (value.start, value.stop, value.step)}
    if callable(value) and not isinstance(value, type):
        if not inspect.isfunction(plain(value)):
            raise BadInput(
                f"{shown(value)} cannot be saved; wanted a kernel by name, of om.kernels, or a function"
            )
        return {"function": plain(value).__name__, "mark": source_mark(value)}
    if isinstance(value, tuple | list):
        return type(value)(packed(item) for item in value)
    if isinstance(value, Prior) or hasattr(value, "coef_"):
        return {"prior": dict(vars(Prior(value)))}
    return value


def unpacked(value: Any, parts: dict[str, object] | None) -> Any:
    """The parameter that `packed` was given; functions are looked up in `parts`."""
    if isinstance(value, dict) and set(value) == {"prior"}:
        return Prior.restored(**value["prior"])
    if isinstance(value, dict) and set(value) == {"kernel", "parts"}:
        return KERNELS[value["kernel"]](*(unpacked(part, parts) for part in value["parts"]))
    if isinstance(value, dict) and set(value) == {"slice"}:
        return slice(*value["slice"])
    if isinstance(value, dict) and set(value) == {"function", "mark"}:
        return _found(value["function"], value["mark"], parts)
    if isinstance(value, tuple | list):
        return type(value)(unpacked(item, parts) for item in value)
    if not (isinstance(value, dict) and "recipe" in value and "functions" in value):
        return value
    for name, mark in value["functions"].items():
        _found(name, mark, parts)
    given = {role: _part(part, parts or {}) for role, part in value["recipe"].items()}
    return Recipe(**given, own=value["own"])


def _found(name: str, mark: str, parts: dict[str, Any] | None) -> Any:
    """A user's function, brought along."""
    if name not in (parts or {}):
        raise MissingParts(f"the model has the function {name!r}; give it as parts={{{name!r}: ...}}")
    if not inspect.isfunction(plain((parts or {})[name])) or source_mark((parts or {})[name]) != mark:
        raise MissingParts(f"parts[{name!r}] is not the function that the model was saved with")
    return (parts or {})[name]


def source_mark(function: Any, above: tuple[Any, ...] = ()) -> str:
    """Hex digits of what a function's source says, and of the values it sees from outside.

    `above` are the functions that led here: one that calls itself is not followed round and round.
    """
    python = plain(function)
    if python in above:
        return python.__qualname__
    try:
        text = ast.dump(ast.parse(textwrap.dedent(inspect.getsource(python))))
    except (OSError, TypeError, SyntaxError):  # no source: the bytecode then
        text = python.__code__.co_code.hex() + repr(python.__code__.co_consts)
    seen = inspect.getclosurevars(python)
    for name, value in sorted({**seen.globals, **seen.nonlocals}.items()):
        called = inspect.isfunction(plain(value))
        outside = source_mark(value, (*above, python)) if called else _outside(value)
        text += "" if inspect.ismodule(value) else f"; {name} = {outside}"
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _outside(value: Any) -> str:
    """A value that a function sees: its digits; of other things their kind, for their place says nothing."""
    plain_kinds = (bool, int, float, complex, str, bytes, tuple, frozenset, type(None), np.generic)
    if isinstance(value, plain_kinds):
        return repr(value)
    if isinstance(value, np.ndarray):
        return hashlib.sha256(value.tobytes()).hexdigest()
    if isinstance(value, list | set | dict):
        return re.sub(r" at 0x[0-9a-f]+", "", repr(value))
    return f"{type(value).__module__}.{type(value).__qualname__}"


def _refuse_namesakes(recipe: Recipe) -> None:
    """Functions come back by their names."""
    parts = [
        part for given in recipe.given.values() for part in (given if type(given) is tuple else (given,))
    ]
    named = recipe.own_functions()
    for part in parts:
        if callable(part) and named[plain(part).__name__] is not part:
            raise BadInput(f"two functions of the recipe are called {plain(part).__name__!r}; rename one")


def _name(part: Any) -> Any:
    if isinstance(part, str):
        return part
    if type(part) is tuple and all(isinstance(p, str) or callable(p) for p in part):
        return tuple(map(_name, part))
    if callable(part):
        return ("function", plain(part).__name__)
    raise BadInput(f"a recipe with {part!r} cannot be saved; wanted names and functions")


def _part(part: Any, parts: dict[str, Any]) -> Any:
    if isinstance(part, str):
        return part
    if part[0] == "function":
        return parts[part[1]]
    return tuple(_part(one, parts) for one in part)
