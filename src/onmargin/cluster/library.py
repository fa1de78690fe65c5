"""Dask and distributed, whose types are not told, and names for their things and for a user's."""

from __future__ import annotations

from importlib import import_module
from typing import Any, TypeAlias

Value: TypeAlias = Any
"""Whatever a user gives, or a task returns: data of many kinds, labels, parameters."""
Client: TypeAlias = Value
Future: TypeAlias = Value
Task: TypeAlias = Value
"""Something delayed."""

dask: Value = import_module("dask")
delayed_kind: Value = import_module("dask.delayed").Delayed
distributed: Value = import_module("distributed")
