"""The public classes, one family a file: docstring, parameters, the row of the table, its numbers."""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules

from ..interface.parameters.fields import LEARNERS


def every() -> dict[str, type]:
    """All learners by name, the one inside BBQ among them; their modules are loaded."""
    for module in iter_modules(__path__):
        import_module(f"{__name__}.{module.name}")
    return LEARNERS
