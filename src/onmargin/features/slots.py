"""Names of features as slots of the weights, and dicts packed into one reserved sparse row."""

from __future__ import annotations

import math
import struct
from collections.abc import Hashable, Iterable, Mapping
from itertools import repeat
from operator import mul
from typing import Any

import numpy as np

from ..compiled.rows import Sparse
from ..errors import BadInput, BadType, Diverged
from .tables import read_only


class Slots(dict[Hashable, int]):
    """name -> slot, in order of appearance.

    Looking up a new name gives it the next slot and notes it in `fresh`, so that a refused example
    can give its names back. `get` and `in` take nothing in.
    """

    def __init__(self, names: Iterable[Hashable] = ()) -> None:
        super().__init__()
        self.fresh: list[Hashable] = []
        for name in names:
            self[name]
        self.fresh.clear()

    def __missing__(self, name: Hashable) -> int:
        slot = self[name] = len(self)
        self.fresh.append(name)
        return slot

    def give_back(self) -> None:
        """Forget the names taken in since `fresh` was cleared."""
        for name in self.fresh:
            del self[name]
        self.fresh.clear()


class Packer:
    """One reserved sparse row, refilled for every dict.

    Names as last time: only the values are packed. `struct` writes a dict's values into a bytearray
    several times faster than assigning a list to a NumPy slice; the arrays are views of it. Names
    without a slot go to the `blank` slot, which no example moves (-1: they are left out).
    """

    def __init__(self, slots: Slots, bias: float) -> None:
        self.slots, self.bias, self.blank = slots, bias, 0
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
        self.held: tuple[Any, ...] | None = None

    def rewrite(self, held: tuple[Any, ...]) -> None:
        """The same names with other values; values that are there already are not written again.

        learn_one mostly follows predict_one on the same dict: its values are the same objects.
        """
        if held != self.held:
            self.held = None  # until all is written
            self.write(self.values, 0, *held)
            self.held = held

    def take(self, x: Mapping[Hashable, Any], names: tuple[Hashable, ...]) -> None:
        """Fill the row to learn from it; new names get a slot."""
        place = self._format(len(names))
        place(self.places, 4, len(names), *map(self.slots.__getitem__, names))
        self.rewrite(tuple(x.values()))
        self.names = names

    def ask(self, x: Mapping[Hashable, Any], names: tuple[Hashable, ...]) -> bool:
        """Fill the row to answer it; did every name have a slot?"""
        place = self._format(len(names))
        try:
            place(self.places, 4, len(names), *map(self.slots.get, names))
        except struct.error:  # None: a name without a slot
            self._ask_without(x, names)
            return False
        self.rewrite(tuple(x.values()))
        self.names = names
        return True

    def _ask_without(self, x: Mapping[Hashable, Any], names: tuple[Hashable, ...]) -> None:
        """Names without a slot go to the blank one, or are left out where there is none."""
        if self.blank < 0:
            names = tuple(name for name in names if name in self.slots)
            x = {name: x[name] for name in names}
        place = self._format(len(names))
        place(self.places, 4, len(names), *map(self.slots.get, names, repeat(self.blank)))
        self.rewrite(tuple(x.values()))

    def _format(self, count: int) -> Any:
        """Ready to write a row of so many entries."""
        if count >= len(self.formats):
            self._reserve(2 * count)
        self.names = self.held = None  # until all is written: a value may yet be refused
        self.write, place = self.formats[count]
        return place

    @staticmethod
    def is_fine(x: Mapping[Hashable, Any]) -> bool:
        """Are all values numbers, and the squared length finite?"""
        values = list(x.values())
        try:
            return math.isfinite(sum(map(mul, values, values)))
        except (TypeError, OverflowError):
            return False

    def check(self, x: Mapping[Hashable, Any]) -> None:
        """Raise if x cannot be learned from or answered."""
        if not isinstance(x, Mapping) or not self.is_fine(x):
            self.refuse(x)

    def refuse(self, x: Mapping[Hashable, Any]) -> None:
        """Say which value of x is not a finite number, or that its squared length is not."""
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
        if math.isfinite(total):
            raise Diverged(
                "the loss is not finite: the steps feed on themselves; nothing was learned; lower rate="
            )
        raise BadInput(
            "the values are too large: a squared length overflows; nothing was learned; scale them"
        )
