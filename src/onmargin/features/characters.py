"""Kinds and lower case of characters, as Python has them."""

from __future__ import annotations

import re
import sys
from functools import cache

import numpy as np

from .matrices import read_only
from .scanning.tokens import SPACE, WORD


@cache
def kinds(all_of_them: bool) -> np.ndarray:
    r"""The kind of every character (False: of ASCII): WORD where \w matches, SPACE where \s does."""
    letters = "".join(map(chr, range(sys.maxunicode + 1 if all_of_them else 128)))
    made = np.zeros(len(letters), np.uint8)
    for pattern, kind in ((r"\w+", WORD), (r"\s+", SPACE)):
        for run in re.finditer(pattern, letters):
            made[run.start() : run.end()] = kind
    return read_only(made)


@cache
def letters(lowercase: bool, within_words: bool) -> np.ndarray:
    """What is written for each ASCII character; `within_words`: 0 for those that are in no word."""
    plain = bytes(range(128)).decode("ascii")
    made = np.frombuffer((plain.lower() if lowercase else plain).encode("ascii"), np.uint8)
    return read_only(np.where(kinds(False) == WORD, made, np.uint8(0)) if within_words else made)
