"""Budgets as memory: "64MB" in vectors."""

from __future__ import annotations

import math
import re

from ..errors import BadInput

UNITS = {"": 1, "B": 1, "KB": 1e3, "MB": 1e6, "GB": 1e9, "KIB": 2**10, "MIB": 2**20, "GIB": 2**30}


def bytes_of(text: str) -> float:
    """ "64MB" is 64e6; "1GiB" 2^30."""
    found = re.fullmatch(r"\s*([0-9]+(?:\.[0-9]+)?)\s*([A-Za-z]*)\s*", text)
    if found is None or found[2].upper() not in UNITS:
        raise BadInput(f"budget={text!r}; wanted a number of vectors, or text such as '64MB'")
    return float(found[1]) * UNITS[found[2].upper()]


def vectors_for(text: str, each: float, square: bool) -> int:
    """How many vectors of so many bytes fit, with 8 n^2 bytes for their matrix where one is kept."""
    total = bytes_of(text)
    count = (math.sqrt(each * each + 32.0 * total) - each) / 16.0 if square else total / each
    if count < 1:
        raise BadInput(
            f"budget={text!r} is too small for one vector ({each + 8 * square:.0f} bytes); raise it"
        )
    return int(count)
