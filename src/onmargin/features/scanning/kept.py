"""Machine code of loops over bytes, kept on disk under a fingerprint of its own.

The fingerprint of learners covers `compiled` and `learn` alone, so that they are not compiled anew for these.
A loop that is kept here has that of the files in the folders it names; no part may come from elsewhere.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from types import FunctionType

import numpy as np
from numba import njit

from ...compiled.parts import LOOP, PACKAGE, MachineCode, Part, plain

SCANNING = "features/scanning"
to_disk: Callable[[FunctionType], object] = MachineCode
compiled: Part = njit


_marks: dict[str, set[str]] = {}  # by the folder of machine code


@cache
def text_of(*folders: str) -> str:
    """Eight hex digits of the source files in these folders of the package, and of the compiler's options."""
    digest = hashlib.sha256(repr(sorted((name, str(value)) for name, value in _options())).encode())
    for folder in folders:
        for path in sorted((PACKAGE / folder).glob("*.py")):
            digest.update(path.relative_to(PACKAGE).as_posix().encode())
            digest.update(path.read_bytes())
    return digest.hexdigest()[:8]


def _options() -> list[tuple[str, object]]:
    return [(name, sorted(value) if isinstance(value, set) else value) for name, value in LOOP.items()]


def kept_for(*folders: str, options: Mapping[str, object] = LOOP) -> Callable[[Part], Part]:
    """A decorator: compile a loop at its first call, and keep it beside its source."""
    mark = text_of(SCANNING, *(folder for folder in folders if folder != SCANNING))

    def keep(loop: Part) -> Part:
        source = plain(loop)
        name = f"{source.__name__}_{mark}"
        named = FunctionType(source.__code__, source.__globals__, name, source.__defaults__)
        named.__qualname__, named.__module__, named.__doc__ = name, source.__module__, source.__doc__
        made = compiled(**options)(named)
        if hasattr(made, "py_func"):
            made._cache = to_disk(made.py_func)
            _marks.setdefault(str(made.stats.cache_path), set()).add(mark)
        else:  # Numba is switched off: whole numbers that wrap around are meant to
            made = np.errstate(over="ignore")(made)
        result: Part = made
        return result

    return keep


kept: Callable[[Part], Part] = kept_for(SCANNING)


def clear_stale() -> int:
    """Remove machine code of other fingerprints, where loops that were loaded keep theirs; how many files."""
    removed = 0
    for path in [path for folder in _marks for path in Path(folder).glob("*.nb[ic]")]:
        found = re.search(r"_([0-9a-f]{8})-", path.name)
        if found and found[1] not in _marks[str(path.parent)]:
            path.unlink(missing_ok=True)
            removed += 1
    return removed
