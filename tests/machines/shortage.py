"""No memory at a random moment of a learning call: nothing has happened.

Every function of NumPy that makes an array for a model fails at its n-th call, for every n.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from unittest import mock

import numpy as np

from onmargin.features import slots
from onmargin.learn.spaces import arrays

MAKERS = ("zeros", "empty", "full", "array", "concatenate", "arange", "ones", "zeros_like")


class Shortage:
    """Counts what is made; fails once, at the `at`-th."""

    def __init__(self, at: int) -> None:
        self.at, self.made = at, 0

    def wrapped(self, make: Callable[..., Any]) -> Callable[..., Any]:
        def limited(*args: Any, **kwargs: Any) -> Any:
            self.made += 1
            if self.made == self.at:
                raise MemoryError(f"array number {self.at}")
            return make(*args, **kwargs)

        return limited


@contextmanager
def shortage(at: int) -> Iterator[Shortage]:
    """The `at`-th array that is made meanwhile is one too many."""
    limit = Shortage(at)
    with mock.patch.multiple(np, **{name: limit.wrapped(getattr(np, name)) for name in MAKERS}):
        with mock.patch.object(arrays, "aligned", limit.wrapped(arrays.aligned)):
            with mock.patch.object(slots.Packer, "_reserve", limit.wrapped(slots.Packer._reserve)):
                yield limit
