"""pyarrow where it is installed, and one clear line where it is not."""

from __future__ import annotations

from types import ModuleType

from ...errors import extra


def arrow(module: str = "") -> ModuleType:
    """pyarrow, or a module of it."""
    from importlib import import_module

    try:
        return import_module(f"pyarrow.{module}" if module else "pyarrow")
    except ImportError:
        raise extra("pyarrow", "files") from None
