"""Values to try, as they are typed: `1e-4..1e2:32`, `0.1,1,10`, `pa1,pa2`."""

from __future__ import annotations

import math

import numpy as np

from ...errors import BadInput, shown

MOST = 10_000  # values of a range


def spread(value: object) -> list[object]:
    """The values to try: a range `a..b:n` (n values, even in their logarithms), the parts of a list, or one.

    >>> from onmargin.protocols.requested.ranges import spread
    >>> spread("0.01..100:5"), spread(("pa1", "pa2")), spread((0, "0.1..10:3")), spread(1)
    ([0.01, 0.1, 1.0, 10.0, 100.0], ['pa1', 'pa2'], [0, 0.1, 1.0, 10.0], [1])
    """
    if isinstance(value, tuple | list):
        return [one for part in value for one in spread(part)]
    return _range(value) if isinstance(value, str) and ".." in value else [value]


def _range(text: str) -> list[object]:
    ends, colon, count = text.partition(":")
    first, _, last = ends.partition("..")
    try:
        low, high, steps = float(first), float(last), int(count)
    except ValueError:
        raise BadInput(f"{shown(text)} is no range; wanted first..last:count, as in 1e-4..1e2:32") from None
    if not (0 < low < math.inf and 0 < high < math.inf and 2 <= steps <= MOST):
        raise BadInput(
            f"{shown(text)}: a range goes by logarithms; wanted first and last above 0, and a count of 2 to "
            f"{MOST:,}"
        )
    values = np.geomspace(low, high, steps)
    nice = [float(f"{value:.6g}") for value in values]  # 0.1, not 0.09999999999999998
    nice[0], nice[-1] = low, high
    return list(nice)
