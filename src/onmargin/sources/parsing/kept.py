"""How a parser becomes machine code that is kept on disk: named after the text of this folder."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from functools import cache
from pathlib import Path
from types import FunctionType
from typing import TypeVar, cast

from numba import njit

from ...compiled.inlined import INLINED
from ...compiled.parts import MachineCode

# Numbers are read to the last bit, so no arithmetic may be rearranged; nothing is allocated.
STRICT = {"_nrt": False, "nogil": True, "error_model": "numpy"}
FOLDER = Path(__file__).parent

_compile = cast("Callable[..., Callable[[object], Callable[..., object]]]", njit)
_code_on_disk: Callable[[object], object] = MachineCode

Function = TypeVar("Function", bound=Callable[..., object])

_kept: dict[object, Callable[..., object]] = {}


def part(function: Function) -> Function:
    """A piece of a parser, inlined into it."""
    return cast("Function", _compile(forceinline=True, **INLINED, **STRICT)(function))


def kept(function: Function) -> Function:
    """The function as machine code, compiled on first use and kept on disk until this folder changes."""
    if function not in _kept:
        python = cast("FunctionType", function)
        name = f"{python.__name__}_{own_text()}_{'0' * 8}"
        made = FunctionType(python.__code__, python.__globals__, name)
        made.__qualname__, made.__module__ = name, python.__module__
        compiled = _compile(no_cfunc_wrapper=True, **STRICT)(made)
        if hasattr(compiled, "py_func"):  # (not where Numba is switched off)
            vars(compiled)["_cache"] = _code_on_disk(compiled.py_func)
        _kept[function] = compiled
    return cast("Function", _kept[function])


def cache_folder() -> Path:
    """Where the machine code of this folder lies."""
    path: str = vars(_compile(cache=True)(_anything))["_cache"].cache_path
    return Path(path)


def _anything() -> None:
    """Numba says of it where its code would lie."""


@cache
def own_text() -> str:
    """Hex digits of every file in this folder."""
    digest = hashlib.sha256()
    for path in sorted(FOLDER.glob("*.py")):
        digest.update(path.name.encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()[:8]
