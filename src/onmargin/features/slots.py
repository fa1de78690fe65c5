"""Names of features as slots of the weights, and dicts packed into one reserved sparse row."""

from __future__ import annotations

import math
import struct
from collections.abc import Hashable, Iterable, Mapping
from operator import mul
from typing import Any

import numpy as np

from ..compiled.rows import Sparse
from ..errors import BadInput, BadType
from .tables import read_only

Slots = dict[Hashable, int]
"""name -> slot, in order of appearance. (A plain dict: look-ups in a subclass are slower.)"""


def add_names(slots: Slots, names: Iterable[Hashable]) -> None:
    """Give each new name the next slot."""
    for name in names:
        slots.setdefault(name, len(slots))


class Packer:
    """One reserved sparse row, refilled for every dict.

    Names as last time: only the values are packed. `struct` writes a dict's values into a bytearray
    several times faster than assigning a list to a NumPy slice; the arrays are views of it.
    """

    def __init__(self, slots: Slots, bias: float) -> None:
        self.slots, self.bias = slots, bias
        self._reserve(32)

    def _reserve(self, room: int) -> None:
        self.values, self.places = bytearray(8 * room), bytearray(8 + 4 * room)
        numbers = np.frombuffer(self.values)
        bounds = np.frombuffer(self.places, np.int32, 2)
        indices = np.frombuffer(self.places, np.uint32, room, 8)
        self.rows = Sparse(read_only(numbers), read_only(indices), read_only(bounds), self.bias)
        # n values; and the row's end with n slots, right after its start (always 0)
        self.formats = [
            (struct.Struct(f"{n}d").pack_into, struct.Struct(f"i{n}I").pack_into) for n in range(room + 1)
        ]
        self.write = self.formats[0][0]
        self.names: tuple[Hashable, ...] | None = None

    def pack(self, x: Mapping[Hashable, Any]) -> list[Hashable] | None:
        """Fill the row; names without a slot are left out and returned."""
        if not isinstance(x, Mapping):
            self.refuse(x)
        names = tuple(x)
        try:
            if names == self.names:
                self.write(self.values, 0, *x.values())
                return None
            new = self.rename(x, names)
            if new:
                self.leave_out(x, names)
            return new
        except struct.error:
            self.refuse(x)
            raise

    def rename(self, x: Mapping[Hashable, Any], names: tuple[Hashable, ...]) -> list[Hashable] | None:
        """Fill the row with other names than last time, or say which have no slot."""
        count = len(names)
        if count >= len(self.formats):
            self._reserve(2 * count)
        write, place = self.formats[count]
        self.names = None  # until all is written: a value may yet be refused
        try:
            place(self.places, 4, count, *map(self.slots.__getitem__, names))
        except KeyError:
            return [name for name in names if name not in self.slots]
        write(self.values, 0, *x.values())
        self.write, self.names = write, names
        return None

    def leave_out(self, x: Mapping[Hashable, Any], names: tuple[Hashable, ...]) -> None:
        """Fill the row with the names that have a slot."""
        slots = self.slots
        known = [name for name in names if name in slots]
        write, place = self.formats[len(known)]
        place(self.places, 4, len(known), *[slots[name] for name in known])
        write(self.values, 0, *[x[name] for name in known])

    @staticmethod
    def is_fine(x: Mapping[Hashable, Any]) -> bool:
        """Are all values numbers, and the squared length finite?"""
        values = list(x.values())
        try:
            return math.isfinite(sum(map(mul, values, values)))
        except (TypeError, OverflowError):
            return False

    def refuse(self, x: Mapping[Hashable, Any]) -> None:
        """Raise if a value of x is not a finite number, or its squared length is not."""
        if not isinstance(x, Mapping):
            raise BadType(f"got {type(x).__name__}; wanted a dict of feature names and numbers")
        total = 0.0
        for name, value in x.items():
            try:
                (number,) = struct.unpack("d", struct.pack("d", value))
            except struct.error:
                kind = type(value).__name__
                hint = "encode it (one-hot, hash) or drop it"
                raise BadInput(f"feature {name!r} is {value!r} ({kind}); wanted a number; {hint}") from None
            if not math.isfinite(number):
                raise BadInput(
                    f"feature {name!r} is {number}; wanted a finite number; nothing was learned; "
                    "impute or drop it"
                )
            total += number * number
        if not math.isfinite(total):
            raise BadInput(
                "the values are too large: the squared length overflows; nothing was learned; scale them"
            )
