"""Comparisons that run as plain Python, in another process: to compile them all would take minutes.

A module collects functions that return pairs (found, wanted) in a `Comparisons`. Run as a program it
writes all pairs, and its test compares them, function by function:
`NUMBA_DISABLE_JIT=1 python -m tests.learn.test_kernel_identities FILE`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.testing import assert_allclose

from .once import as_plain_python

Pairs = Iterable[tuple[Any, Any]]


class Comparisons:
    """Functions by name, with what they are called with and how near their pairs must be."""

    def __init__(self, module: str) -> None:
        self.module = module
        self.entries: dict[str, tuple[Callable[..., Pairs], tuple[Any, ...], float]] = {}

    def each(self, *cases: Any, near: float = 1e-9) -> Callable[..., Any]:
        """Collect a function, to be called with each of these (nothing: once, without)."""

        def collect(function: Callable[..., Pairs]) -> Callable[..., Pairs]:
            for case in cases or ((),):
                arguments = case if isinstance(case, tuple) else (case,)
                words = " ".join(map(str, (function.__name__, *arguments)))
                assert words not in self.entries
                self.entries[words] = function, arguments, near
            return function

        return collect

    def write(self, path: str) -> None:
        """The program: find all pairs."""
        found: dict[str, Any] = {}
        for name, (function, arguments, _) in self.entries.items():
            for number, (value, wanted) in enumerate(function(*arguments)):
                found[f"{name}/{number}/found"], found[f"{name}/{number}/wanted"] = value, wanted
        np.savez(path, **found)

    def run(self, path: Path) -> dict[str, np.ndarray]:
        """Start the program (once, however many workers ask), read what it wrote."""
        self.path = as_plain_python(self.module, path)
        with np.load(self.path) as file:
            return dict(file)

    def compare(self, name: str, written: dict[str, np.ndarray]) -> None:
        """All pairs of one function agree, and there are some."""
        near, number = self.entries[name][2], 0
        while f"{name}/{number}/found" in written:
            found, wanted = (written[f"{name}/{number}/{which}"] for which in ("found", "wanted"))
            assert found.shape == wanted.shape, f"pair {number}"
            assert_allclose(found, wanted, rtol=near, atol=near, err_msg=f"pair {number}")
            number += 1
        assert number > 0
