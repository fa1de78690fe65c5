"""The limits: each algorithm by hand as one Numba loop, with no checks, no names and no choices.

They are what a pass could take on this machine; `python -m benchmarks` times them in the same run.
"""

from __future__ import annotations

from typing import Any

# As the library compiles its own loops: no reference counting, sums in the order they are written.
LOOP: dict[str, Any] = {
    "cache": True,
    "nogil": True,
    "_nrt": False,
    "error_model": "numpy",
    "fastmath": {"contract", "nsz", "arcp"},
}
SUMS: dict[str, Any] = {**LOOP, "fastmath": {"contract", "nsz", "arcp", "reassoc"}}  # contiguous entries only
