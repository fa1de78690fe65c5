"""Tests with two forms: `make test` plays the short one, `make soak` (ONMARGIN_SOAK=1) the long one."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import pytest

SOAKING = os.environ.get("ONMARGIN_SOAK") == "1"


def soaked(test: Callable[..., Any]) -> Callable[..., Any]:
    """A test that `make soak` plays as well, with other numbers."""
    return pytest.mark.soak(test) if SOAKING else test


def either(short: int, long: int) -> int:
    """How many rounds, seeds or examples."""
    return long if SOAKING else short
