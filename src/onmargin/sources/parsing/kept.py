"""How a parser becomes machine code that is kept on disk, exact, under the text of this folder."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar, cast

from numba import njit

from ...compiled.inlined import INLINED
from ...features.scanning.kept import kept_for

FOLDER = "sources/parsing"
# Numbers are read to the last bit, so no arithmetic may be rearranged; nothing is allocated.
STRICT = {"_nrt": False, "nogil": True, "error_model": "numpy"}

_compile = cast("Callable[..., Callable[[object], Callable[..., object]]]", njit)

Function = TypeVar("Function", bound=Callable[..., object])


def part(function: Function) -> Function:
    """A piece of a parser, inlined into it."""
    return cast("Function", _compile(forceinline=True, **INLINED, **STRICT)(function))


def kept(function: Function) -> Function:
    """The function as machine code, compiled on first use and kept on disk until this folder changes."""
    return cast("Function", kept_for(FOLDER, options={"no_cfunc_wrapper": True, **STRICT})(function))
