"""What a user's function sees, in full: functions that see the same compute the same.

To Numba all that a function sees (globals, closures, attributes of modules, defaults) is constant, and
machine code outlives the process. So every bit of it counts; what cannot be told faithfully is refused.
"""

from __future__ import annotations

import builtins
import dis
import hashlib
from collections.abc import Iterator
from enum import Enum
from types import BuiltinFunctionType, CellType, CodeType, FunctionType, ModuleType
from typing import Any

import numpy as np
from numba.core.types import Type

from ..errors import BadInput

PLAIN = (type(None), bool, int, float, complex, str, bytes, type(Ellipsis))
LIBRARIES = ("builtins", "math", "cmath", "operator", "numpy", "numba")  # known to the compiler by name
READS_GLOBAL = ("LOAD_GLOBAL", "LOAD_NAME")
READS_ATTRIBUTE = ("LOAD_ATTR", "LOAD_METHOD")


class Fingerprint:
    """Lines about one function; `ours` are the modules whose text is in every fingerprint already."""

    def __init__(self, function: Any, ours: tuple[str, ...]) -> None:
        self.whose = getattr(function, "__name__", repr(function))
        self.ours = ours
        self.seen: dict[int, tuple[int, Any]] = {}  # (the thing too: its id must not go to another)
        self.lines = list(self._function(function, self.whose))

    def _refuse(self, name: str, value: object) -> BadInput:
        return BadInput(
            f"the function {self.whose!r} uses {name!r}, a {type(value).__name__}, and nothing tells when it "
            "changes; use numbers, texts, arrays, tuples of them, or functions"
        )

    def _is_known(self, value: Any) -> bool:
        """Is it told by its name: a library's, or ours?"""
        module = str(getattr(value, "__module__", None) or "")
        return module.partition(".")[0] in LIBRARIES or module.startswith(self.ours)

    # ---- functions

    def _function(self, function: Any, name: str) -> Iterator[str]:
        python = getattr(function, "py_func", function)
        if self._is_known(python):
            yield f"{python.__module__}.{python.__qualname__}"
            return
        if not isinstance(python, FunctionType):
            raise self._refuse(name, function)
        for option, value in sorted(
            getattr(function, "targetoptions", {}).items()
        ):  # fast maths, for example
            yield f"{option} {sorted(value) if isinstance(value, set) else value!r}"
        code = python.__code__
        yield from _code_lines(code)
        attributes = _attributes(code)
        for label, values in (("default", python.__defaults__), ("keyword", python.__kwdefaults__)):
            yield from self._value(values, f"{name}'s {label}s", attributes)
        for free, cell in zip(code.co_freevars, python.__closure__ or (), strict=True):
            yield f"closure {free}"
            if cell != CellType():  # (an empty one has no contents)
                yield from self._value(cell.cell_contents, free, attributes)
        for word in sorted(_names_read(code, READS_GLOBAL)):
            yield f"global {word}"
            if word in python.__globals__:
                yield from self._value(python.__globals__[word], word, attributes)
            elif not hasattr(builtins, word):
                yield "missing"

    # ---- values

    def _value(self, value: Any, name: str, attributes: set[str]) -> Iterator[str]:
        if type(value) in PLAIN:
            yield f"{type(value).__name__} {value!r}"
        elif isinstance(value, np.dtype | Type):
            yield repr(value)
        elif isinstance(value, np.ndarray | np.generic):
            yield from self._numbers(np.asarray(value), type(value).__name__, name)
        elif id(value) in self.seen:
            yield f"seen as {self.seen[id(value)][0]}"
        else:
            self.seen[id(value)] = len(self.seen), value
            yield from self._thing(value, name, attributes)

    def _numbers(self, array: np.ndarray, kind: str, name: str) -> Iterator[str]:
        if array.dtype.hasobject:
            raise self._refuse(name, array)
        flags = array.flags
        yield f"{kind} {array.dtype.descr} {array.shape} {flags.c_contiguous} {flags.f_contiguous}"
        yield hashlib.sha256(array.tobytes()).hexdigest()

    def _thing(self, value: Any, name: str, attributes: set[str]) -> Iterator[str]:
        if isinstance(value, ModuleType):
            yield from self._module(value, name, attributes)
        elif isinstance(value, Enum):
            yield f"{type(value).__qualname__}.{value.name}"
            yield from self._value(value.value, name, attributes)
        elif isinstance(value, tuple | list | set | frozenset | dict):
            yield from self._container(value, name, attributes)
        elif isinstance(value, type):
            yield from self._class(value, name, attributes)
        elif isinstance(value, np.ufunc | BuiltinFunctionType) and getattr(value, "__self__", None) is None:
            yield f"{value!r}"
        elif isinstance(value, BuiltinFunctionType) and isinstance(value.__self__, ModuleType):
            yield f"{value.__self__.__name__}.{value.__qualname__}"
        else:
            yield from self._function(value, name)

    def _module(self, module: ModuleType, name: str, attributes: set[str]) -> Iterator[str]:
        """What the function may read in it; modules in it too."""
        yield f"module {module.__name__}"
        if module.__name__.partition(".")[0] in LIBRARIES or f"{module.__name__}.".startswith(self.ours):
            return
        for word in sorted(attributes):
            if hasattr(module, word):
                yield f"{module.__name__}.{word}"
                yield from self._value(getattr(module, word), f"{name}.{word}", attributes)

    def _container(self, values: Any, name: str, attributes: set[str]) -> Iterator[str]:
        yield f"{type(values).__qualname__} of {len(values)}"
        if isinstance(values, dict):
            values = [part for item in values.items() for part in item]
        parts = [[*self._value(value, name, attributes)] for value in values]
        for lines in sorted(parts) if isinstance(values, set | frozenset) else parts:
            yield from lines

    def _class(self, kind: Any, name: str, attributes: set[str]) -> Iterator[str]:
        """A named tuple, an enumeration, or one that is told by its name."""
        yield f"{kind.__module__}.{kind.__qualname__}"
        if self._is_known(kind):
            return
        if issubclass(kind, Enum):
            yield from self._value([(each.name, each.value) for each in kind], name, attributes)
        elif issubclass(kind, tuple) and hasattr(kind, "_fields"):
            yield from self._value((kind._fields, kind._field_defaults), name, attributes)
        else:
            raise self._refuse(name, kind)


def _code_lines(code: CodeType) -> Iterator[str]:
    yield from (code.co_code.hex(), repr(code.co_names), repr(code.co_varnames), repr(code.co_freevars))
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _code_lines(constant)
        elif isinstance(constant, frozenset):
            yield f"frozenset {sorted(map(repr, constant))}"
        else:
            yield f"{type(constant).__name__} {constant!r}"


def _inner(code: CodeType) -> list[CodeType]:
    return [constant for constant in code.co_consts if isinstance(constant, CodeType)]


def _names_read(code: CodeType, by: tuple[str, ...]) -> set[str]:
    """What these instructions name, in functions within it too."""
    found = {step.argval for step in dis.get_instructions(code) if step.opname in by}
    return found.union(*(_names_read(inner, by) for inner in _inner(code)))


def _attributes(code: CodeType) -> set[str]:
    """Names of attributes it may read (as text: by getattr)."""
    texts = {constant for constant in code.co_consts if isinstance(constant, str) and constant.isidentifier()}
    return _names_read(code, READS_ATTRIBUTE) | texts.union(*map(_attributes, _inner(code)))
