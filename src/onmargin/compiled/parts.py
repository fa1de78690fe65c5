"""Parts and how they become machine code: the only file that knows Numba's caching.

A *part* is a small pure function. A *loop* is written once, with its roles imported under role
names; `specialise` binds other parts to those names and compiles the result under a name of its
own, so that Numba's disk cache can tell the combinations apart.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from functools import cache
from pathlib import Path
from types import CellType, FunctionType
from typing import Any

import numpy as np
from numba import njit, typeof, types
from numba.core.caching import FunctionCache
from numba.extending import register_jitable

from .fingerprints import Fingerprint
from .inlined import INLINED

# No reference counting (allocation in a loop becomes a compile error), no GIL, IEEE NaN and
# infinity kept, so that a finiteness test means what it says. Sums stay in order: given leave to
# reassociate, LLVM turns sparse sums into hardware gathers, several times slower than plain loads
# on processors with the gather mitigation. Sums over contiguous entries get REASSOCIATED.
OPTIONS: dict[str, Any] = {
    "_nrt": False,
    "nogil": True,
    "error_model": "numpy",
    "fastmath": {"contract", "nsz", "arcp"},
}
LOOP: dict[str, Any] = {"no_cfunc_wrapper": True, **OPTIONS}
BRIEF = {**LOOP, "nogil": False}  # of one row: letting others run takes longer than the row
REASSOCIATED = {**OPTIONS, "fastmath": OPTIONS["fastmath"] | {"reassoc"}}

Part = Callable[..., Any]

part: Callable[[Part], Part] = njit(forceinline=True, **INLINED, **OPTIONS)

# A part that stays a call: it is long, and called from several places.
routine: Callable[[Part], Part] = njit(**INLINED, **OPTIONS)

# A part that sums over contiguous entries, in whatever order is fastest.
summing: Callable[[Part], Part] = njit(forceinline=True, **INLINED, **REASSOCIATED)

# A formula of a few scalars that both the loop and plain Python call: it stays a Python function.
formula: Callable[[Part], Part] = register_jitable(**OPTIONS)

FOLDERS = ("compiled", "learn")  # where all that is compiled lies: the only source files in a fingerprint
OURS = tuple(f"onmargin.{folder}." for folder in FOLDERS)
PACKAGE = Path(__file__).parent.parent
MOST_WORDS = (
    100  # characters of the parts' names in a loop's: a file is called so, and the fingerprint tells all
)

_specialised: dict[str, Part] = {}
_known: dict[Any, Part] = {}
_bound: dict[Any, Part] = {}


def plain(function: Part) -> FunctionType:
    """The Python function behind a part (itself where Numba is switched off)."""
    python: Any = getattr(function, "py_func", function)
    return python  # type: ignore[no-any-return]


def specialise(loop: Part, options: dict[str, Any] = LOOP, /, **roles: Part) -> Part:
    """Compile `loop` with each role name bound to the given part (memoised by name).

    A loop is compiled with the same options wherever it is.
    """
    known = (loop, *roles.items())  # our own parts do not change; what a user's sees may
    if known in _known:
        return _known[known]
    words = "_".join(part.__name__ for part in roles.values())[:MOST_WORDS]
    name = f"{loop.__name__}_{words}_{fingerprint(loop, *roles.values())}"
    if name not in _specialised:
        source = plain(loop)
        bound = FunctionType(source.__code__, {**source.__globals__, **roles}, name)
        bound.__qualname__, bound.__module__ = name, source.__module__
        _specialised[name] = _kept_on_disk(njit(**options)(bound))
    if all(map(_is_ours, map(plain, (loop, *roles.values())))):
        _known[known] = _specialised[name]
    return _specialised[name]


class MachineCode(FunctionCache):
    """Numba's cache of a loop, that reads machine code without getting ready to compile.

    Numba loads the types and the code of all that it can compile before it reads any: most of a first use.
    What lies on the disk is linked with nothing of it, and a compilation gets ready by itself.
    """

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """What lies there for a signature; None: it is compiled."""
        with self._guard_against_spurious_io_errors():
            return self._load_overload(sig, target_context)


def _kept_on_disk(loop: Any) -> Part:
    if hasattr(loop, "py_func"):  # (not where Numba is switched off)
        loop._cache = MachineCode(loop.py_func)
    made: Part = loop
    return made


def compose(function: Part, name: str, **roles: Part) -> Part:
    """A part whose role names are bound to the given parts; `name` tells the results apart.

    Where a role is a user's function its fingerprint belongs into the name.
    """
    source = plain(function)
    bound = FunctionType(source.__code__, {**source.__globals__, **roles}, name)
    bound.__qualname__, bound.__module__, bound.__doc__ = name, source.__module__, source.__doc__
    return part(bound)


def guarded(function: Part) -> Part:
    """A user's function as a part that raises IndexError where it would leave an array, and so its helpers.

    All are compiled anew, of what they see now: a helper that Numba has compiled keeps what it saw then.
    """
    return _guarded(function, {})


def _guarded(function: Part, made: dict[int, Part]) -> Part:
    source, given = plain(function), getattr(function, "targetoptions", {})
    if _is_ours(source):
        return function
    if id(source) not in made:
        scope = dict(source.__globals__)
        cells = tuple(CellType() for _ in source.__closure__ or ())
        twin = FunctionType(source.__code__, scope, source.__name__, source.__defaults__, cells)
        twin.__kwdefaults__, twin.__module__ = source.__kwdefaults__, source.__module__
        options = OPTIONS | {name: given[name] for name in ("fastmath", "error_model") if name in given}
        made[id(source)] = njit(forceinline=not made, boundscheck=True, **INLINED, **options)(twin)
        for name in {*source.__code__.co_names} & {*scope}:
            scope[name] = _guarded_helper(scope[name], made)
        for mine, theirs in zip(cells, source.__closure__ or (), strict=True):
            if theirs != CellType():  # (an empty one has no contents)
                mine.cell_contents = _guarded_helper(theirs.cell_contents, made)
    return made[id(source)]


def _guarded_helper(value: Any, made: dict[int, Part]) -> Any:
    return _guarded(value, made) if isinstance(getattr(value, "py_func", None), FunctionType) else value


def fingerprint(*parts: Part) -> str:
    """Hex digits that change whenever what the parts compute may have changed.

    Our own parts are covered by the text of every file under `compiled` and `learn`; a user's
    part by all that it can see (`fingerprints`).
    """
    return f"{own_sources()}_{digits(*parts)[:8]}"


def digits(*parts: Part) -> str:
    """What is known of the parts beside our own source files, as hex digits."""
    digest = hashlib.sha256()
    for part in parts:
        function = plain(part)
        lines = [f"{function.__module__}.{function.__qualname__}"]
        if not _is_ours(function):
            lines += Fingerprint(part, OURS).lines
        digest.update("\0".join(lines).encode())
    return digest.hexdigest()


def _is_ours(function: Part) -> bool:
    return (function.__module__ or "").startswith(OURS)


@cache
def own_sources() -> str:
    """The first part of every fingerprint: our own source files."""
    digest = hashlib.sha256()
    for folder in FOLDERS:
        for path in sorted((PACKAGE / folder).rglob("*.py")):
            digest.update(path.relative_to(PACKAGE).as_posix().encode())
            digest.update(path.read_bytes())
    return digest.hexdigest()[:8]


def cache_folders() -> list[Path]:
    """Where Numba keeps the machine code of our loops: one folder for each folder of source files."""
    sources = {path.parent: path for folder in FOLDERS for path in sorted((PACKAGE / folder).rglob("*.py"))}
    return [_cache_of(path) for path in sources.values()]


def _cache_of(source: Path) -> Path:
    """What Numba says of a function that lies in this file."""

    def probe() -> None:
        pass

    there = FunctionType(probe.__code__.replace(co_filename=str(source)), {"__name__": __name__}, "probe")
    return Path(str(njit(cache=True)(there).stats.cache_path))


def bound(function: Part, arguments: tuple[Any, ...]) -> Part:
    """The machine code of a specialisation for these very types, without the dispatcher.

    The dispatcher looks at every argument (some microseconds); the entry point does not, so it must
    only ever be called with the types it was bound for.
    """
    if not hasattr(function, "overloads"):  # Numba is switched off
        return function
    key = (function, _kind(arguments))
    if key not in _bound:
        signature = tuple(each if isinstance(each, types.Type) else typeof(each) for each in arguments)
        if signature not in function.overloads:
            function.compile(signature)  # type: ignore[attr-defined]
        _bound[key] = function.overloads[signature].entry_point
    return _bound[key]


def _kind(value: Any) -> Any:
    """What decides Numba's type of a value, found faster than Numba finds the type."""
    if isinstance(value, tuple):
        return (type(value), *map(_kind, value))
    if isinstance(value, np.ndarray):
        flags = value.flags
        return value.dtype, value.ndim, flags.c_contiguous, flags.f_contiguous, flags.writeable, flags.aligned
    return type(value)
