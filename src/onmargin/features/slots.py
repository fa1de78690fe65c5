"""Names of features as slots of the weights, and dicts packed into one reserved sparse row."""

from __future__ import annotations

import math
import struct
from collections.abc import Hashable, Iterable, Mapping
from typing import Any

import numpy as np

from ..compiled.rows import Sparse
from ..errors import BadInput, BadType
from .tables import read_only


class Slots(dict[Hashable, int]):
    """name -> slot, in order of appearance."""

    def add(self, names: Iterable[Hashable]) -> None:
        """Give each new name the next slot."""
        for name in names:
            self.setdefault(name, len(self))


class Packer:
    """One reserved sparse row, refilled for every dict.

    Names as last time: only the values are packed. `struct` writes a dict's values into the buffer
    three times faster than assigning a list to a NumPy slice.
    """

    def __init__(self, slots: Slots, bias: float) -> None:
        self.slots, self.bias = slots, bias
        self.names: tuple[Hashable, ...] = ()
        self._reserve(32)

    def _reserve(self, room: int) -> None:
        self.values, self.indices = np.zeros(room), np.zeros(room, np.uint32)
        self.bounds = np.zeros(2, np.int32)
        self.rows = Sparse(read_only(self.values), read_only(self.indices), read_only(self.bounds), self.bias)
        self.formats = [(struct.Struct(f"{n}d"), struct.Struct(f"{n}I")) for n in range(room + 1)]
        self.pack_values = self.formats[0][0].pack_into
        self.names = ()

    def pack(self, x: Mapping[Hashable, Any]) -> list[Hashable] | None:
        """Fill the row; names without a slot are left out and returned."""
        names = tuple(x)
        if names == self.names:
            try:
                self.pack_values(self.values, 0, *x.values())
            except struct.error:
                self._explain(x)
            return None
        return self._pack_names(x, names)

    def _pack_names(self, x: Mapping[Hashable, Any], names: tuple[Hashable, ...]) -> list[Hashable] | None:
        slots, values = self.slots, x.values()
        new: list[Hashable] | None = None
        try:
            found = [slots[name] for name in names]
        except KeyError:
            new = [name for name in names if name not in slots]
            known = [name for name in names if name in slots]
            found, values = [slots[name] for name in known], [x[name] for name in known]  # type: ignore[assignment]
        count = len(found)
        if count >= len(self.formats):
            self._reserve(2 * count)
        write_values, write_slots = self.formats[count]
        try:
            write_values.pack_into(self.values, 0, *values)
        except struct.error:
            self._explain(x)
        write_slots.pack_into(self.indices, 0, *found)
        self.bounds[1] = count
        self.pack_values = write_values.pack_into
        self.names = () if new else names
        return new

    def refuse(self, x: Mapping[Hashable, Any]) -> None:
        """Raise if a value of x is not a finite number, or its squared length is not."""
        if not isinstance(x, Mapping):
            raise BadType(f"got {type(x).__name__}; wanted a dict of feature names and numbers")
        self._explain(x)

    def _explain(self, x: Mapping[Hashable, Any]) -> None:
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
