"""What can go wrong, in one line: what was given, what was wanted, what to do."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Mapping
from itertools import islice
from numbers import Integral
from typing import Any, Self

import numpy as np

LARGEST = 2**63 - 1  # of a whole number that is a count


class OnmarginError(Exception):
    """Any refusal of this library; the model is as it was before the call."""


class BadInput(OnmarginError, ValueError):
    """A value that cannot be learned from or answered."""


class Diverged(BadInput):
    """Steps that feed on themselves: the loss is no longer finite."""


class BadType(OnmarginError, TypeError):
    """An argument of the wrong kind."""


class BadFile(OnmarginError, ValueError):
    """A file that is damaged, foreign, or from a later version."""


class NoFile(BadFile, FileNotFoundError):
    """A file, or the folder for one, that does not exist."""

    def __new__(cls, *args: object) -> Self:
        """Asked for by name, as what brings one from another process does, it would be ValueError's."""
        return FileNotFoundError.__new__(cls, *args)


class ClusterError(OnmarginError, RuntimeError):
    """A cluster that cannot go on: its scheduler, its workers, or a partition that they cannot read."""


class MissingExtra(OnmarginError, ImportError):
    """An optional package that is not installed."""


def extra(package: str, name: str) -> MissingExtra:
    """The line for a missing optional package."""
    return MissingExtra(f"this needs {package}, which is not installed; pip install onmargin[{name}]")


def require_whole(name: str, value: Any, least: int = 1) -> None:
    """A whole number of at least so much."""
    number = int(value) if isinstance(value, Integral) and not isinstance(value, bool) else least - 1
    if not least <= number <= LARGEST:
        most = f", and at most {LARGEST:.3g}" if number > LARGEST else ""
        raise BadInput(f"{name}={shown(value)}; wanted a whole number of at least {least}{most}")


def as_float(value: Any) -> float:
    """A number as the loop has it; whole numbers beyond its range are infinite, what is none is NaN."""
    if isinstance(value, bool) or not isinstance(value, int | float | np.number):
        return float("nan")
    try:
        return float(value)
    except OverflowError:
        return float("inf") if value > 0 else -float("inf")


# ---- a user's values in a message


def plain_number(value: Any) -> Any:
    """NumPy's numbers, bools and texts as Python's; all else as it is."""
    single = isinstance(value, np.number | np.bool_ | np.str_) and not isinstance(value, np.timedelta64)
    return value.item() if single else value


def shown(value: object, most: int = 60) -> str:
    """A user's value on one line of at most so many characters, whatever it is and however large."""
    try:
        text = _brief(value, most, 3)
    except Exception:  # a repr of the user's own that fails
        text = f"<{type(value).__name__}>"
    if "\n" in text:
        text = " ".join(text.split())
    return text if len(text) <= most else f"{text[: most - 4]} ..."


def _brief(value: Any, most: int, depth: int) -> str:
    """repr, of the beginning only where that is longer than the line."""
    value = plain_number(value)
    if isinstance(value, str | bytes | bytearray):
        return repr(value[: most + 1])
    if isinstance(value, int) and value.bit_length() > 4 * most:
        return f"<a whole number of {int(value.bit_length() * 0.30103) + 1} digits>"
    if isinstance(value, np.ndarray):
        small = value.size <= most and value.dtype.names is None
        return f"array({_brief(value.tolist(), most, depth)})" if small else f"<array of {value.shape}>"
    ends = _ENDS.get(type(value))
    if ends is None:
        return repr(value)
    if not depth:
        return f"{ends[0]}...{ends[1]}"
    parts = [_brief(part, most, depth - 1) for part in islice(value, most // 2)]
    if isinstance(value, Mapping):
        of = (_brief(value[key], most, depth - 1) for key in islice(value, most // 2))
        parts = [f"{key}: {held}" for key, held in zip(parts, of, strict=True)]
    if len(parts) < len(value):
        parts.append("...")
    comma = "," if isinstance(value, tuple) and len(value) == 1 else ""
    return f"{ends[0]}{', '.join(parts)}{comma}{ends[1]}" if parts else repr(value)


_ENDS: dict[type, tuple[str, str]] = {
    list: ("[", "]"), tuple: ("(", ")"), dict: ("{", "}"), set: ("{", "}"),
    frozenset: ("frozenset({", "})"),
}  # fmt: skip


def warn(text: str, category: type[Warning]) -> None:
    """Warn, pointing at whoever called the library."""
    frame, depth = sys._getframe(1), 2
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith("onmargin."):
        frame, depth = frame.f_back, depth + 1
    warnings.warn(text, category, stacklevel=depth)
