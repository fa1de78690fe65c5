"""Decimal numbers in bytes: exact where one division or product decides, else left to Python's float."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numba import njit

from ...compiled.inlined import INLINED
from ...compiled.parts import OPTIONS, Part

# Read; right in form, but Python's float must round it; no number, or 1e100 and more.
GOOD, LONG, BAD = 0, 1, 2
EXACT = 1 << 53
POWERS = np.array([float(f"1e{power}") for power in range(23)])  # all of them exact
LARGEST = 100  # powers of ten: no product of two is infinite

# No arithmetic may be rearranged here.
strict: Callable[[Part], Part] = njit(**INLINED, **(OPTIONS | {"fastmath": False}))


@strict
def decimal(buffer: np.ndarray, start: int, stop: int) -> tuple[float, int]:
    """The number in buffer[start:stop] and GOOD, LONG or BAD; nan, inf and what is not below 1e100 are none.

    With a mantissa m <= 2^53 and a power 10^e, |e| <= 22, both are exact and so m * 10^e or m / 10^-e is
    rounded once, which is what float() gives (Clinger 1990).
    """
    at = start
    negative = False
    if at < stop and (buffer[at] == 45 or buffer[at] == 43):  # - +
        negative = buffer[at] == 45
        at += 1
    mantissa, power = np.int64(0), np.int64(0)
    digits, whole, long = 0, 0, False
    while at < stop and 48 <= buffer[at] <= 57:
        long = long or bool(mantissa > EXACT)
        if not long:
            mantissa = 10 * mantissa + (np.int64(buffer[at]) - 48)
        whole += 1 if mantissa > 0 else 0
        digits += 1
        at += 1
    if at < stop and buffer[at] == 46:  # .
        at += 1
        while at < stop and 48 <= buffer[at] <= 57:
            long = long or bool(mantissa > EXACT)
            if not long:
                mantissa = 10 * mantissa + (np.int64(buffer[at]) - 48)
                power -= 1
            whole -= 1 if mantissa == 0 else 0
            digits += 1
            at += 1
    if digits == 0:
        return 0.0, BAD
    given = np.int64(0)
    if at < stop and (buffer[at] == 101 or buffer[at] == 69):  # e E
        at += 1
        down = False
        if at < stop and (buffer[at] == 45 or buffer[at] == 43):
            down = buffer[at] == 45
            at += 1
        first = at
        while at < stop and 48 <= buffer[at] <= 57:
            given = 10 * given + (np.int64(buffer[at]) - 48) if given < 100_000_000 else given
            at += 1
        if at == first:
            return 0.0, BAD
        given = -given if down else given
        power += given
    if at != stop:
        return 0.0, BAD
    if mantissa == 0:
        return (-0.0 if negative else 0.0), GOOD
    if whole + given > LARGEST:
        return 0.0, BAD
    if long or mantissa > EXACT or power < -22 or power > 22:
        return 0.0, LONG
    value = mantissa * POWERS[power] if power >= 0 else mantissa / POWERS[-power]
    return (-value if negative else value), GOOD
