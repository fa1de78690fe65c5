"""Examples as rows: raw texts and tables made numbers, names of features as columns and slots."""

from __future__ import annotations

from .namespaces import Namespaces
from .table import Table
from .text import Text

__all__ = ["Namespaces", "Table", "Text"]
