"""Plain values: what JSON can say, which is also what labels are."""

from __future__ import annotations

from typing import Any

Plain = Any
Json = dict[str, Plain]
