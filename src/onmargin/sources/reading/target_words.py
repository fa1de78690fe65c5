"""Targets written as words: numbers where the first block has only numbers, else labels as they stand."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

import numpy as np

from ...errors import BadInput, shown

KINDS = ("auto", "number", "text")
NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
EXACT = 1 << 53  # from here on whole numbers may share a float64: such labels stay texts
MOST_KNOWN = 1 << 16  # words remembered: labels come again and again


class TargetWords:
    """Turns words into targets; what the first block showed (`kind`) stays so."""

    def __init__(self, kind: str = "auto") -> None:
        if kind not in KINDS:
            raise BadInput(f"labels={shown(kind)}; wanted one of {', '.join(map(repr, KINDS))}")
        self.kind = kind
        self._known: dict[str, float] = {}

    def __getstate__(self) -> dict[str, object]:
        return {"kind": self.kind, "_known": {}}

    @property
    def settled(self) -> bool:
        """Is it known what they are?"""
        return self.kind != "auto"

    @property
    def wanted(self) -> str:
        """What a bad word should have been."""
        return "a number, as in the lines before" if self.kind == "number" else "a label"

    def settle(self, words: Sequence[str]) -> None:
        """What kind they are, if that is not known yet and these tell."""
        if self.kind == "auto" and len(words):
            self.kind = "number" if all(math.isfinite(self._number(word)) for word in words) else "text"

    def made(self, words: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
        """Targets (float64, or objects that are texts), and which words are bad."""
        self.settle(words)
        if self.kind == "text":
            targets = np.empty(len(words), object)
            targets[:] = words
            return targets, np.array([not word for word in words], bool)
        numbers = np.array([self._number(word) for word in words], np.float64)
        return numbers, ~np.isfinite(numbers)

    def _number(self, word: str) -> float:
        """NaN where it is none, or a whole one that float64 does not hold."""
        found = self._known.get(word)
        if found is None:
            stripped = word.strip()
            found = float(stripped) if NUMBER.fullmatch(stripped, 0) and stripped.isascii() else math.nan
            if abs(found) >= EXACT and stripped.lstrip("+-").isdigit():
                found = math.nan
            if len(self._known) < MOST_KNOWN:
                self._known[word] = found
        return found
