"""What can go wrong, in one line: what was given, what was wanted, what to do."""

from __future__ import annotations

import reprlib
import sys
import warnings
from numbers import Integral
from typing import Any


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


class MissingExtra(OnmarginError, ImportError):
    """An optional package that is not installed."""


def extra(package: str, name: str) -> MissingExtra:
    """The line for a missing optional package."""
    return MissingExtra(f"this needs {package}, which is not installed; pip install onmargin[{name}]")


def require_whole(name: str, value: Any) -> None:
    """A whole number of at least 1."""
    if isinstance(value, bool) or not isinstance(value, Integral) or value < 1:
        raise BadInput(f"{name}={value!r}; wanted a whole number of at least 1")


def warn(text: str, category: type[Warning]) -> None:
    """Warn, pointing at whoever called the library."""
    frame, depth = sys._getframe(1), 2
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith("onmargin."):
        frame, depth = frame.f_back, depth + 1
    warnings.warn(text, category, stacklevel=depth)


def shown(value: object, most: int = 60) -> str:
    """A value for a message: one line, cut to a sensible length; never raises."""
    cutter = reprlib.Repr()
    cutter.maxstring = cutter.maxother = cutter.maxlong = most
    try:
        text = " ".join(cutter.repr(value).split())
    except Exception:
        text = f"<{type(value).__name__}>"
    return text if len(text) <= most else f"{text[: most - 4]} ..."
