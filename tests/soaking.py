"""Tests with two forms: `make test` plays the short one, `make soak` (ONMARGIN_SOAK=1) the long one.

`@uncompiled` (or `pytestmark = uncompiled`) is of the same kind: such tests are about formulas, or about the
Python around the loops, and compiling what they alone use would take minutes. `make test` runs them as plain
Python, in a run of its own with NUMBA_DISABLE_JIT=1; `make soak`, and `pytest FILE`, as machine code.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from typing import Any

import pytest

SOAKING = os.environ.get("ONMARGIN_SOAK") == "1"
uncompiled = pytest.mark.uncompiled


def mostly_uncompiled(cases: Iterable[Any], *compiled: Any) -> list[Any]:
    """Cases of a test of which `make test` compiles these alone; it plays the others as plain Python."""
    return [case if case in compiled else pytest.param(case, marks=uncompiled) for case in cases]


def soaked(test: Callable[..., Any]) -> Callable[..., Any]:
    """A test that `make soak` plays as well, with other numbers."""
    return pytest.mark.soak(test) if SOAKING else test


def either(short: int, long: int) -> int:
    """How many rounds, seeds or examples."""
    return long if SOAKING else short
