"""Names of features as slots of the weights, and dicts packed into one reserved sparse row."""

from __future__ import annotations

import math
import struct
from collections.abc import Hashable, Iterable, Mapping
from functools import partial
from operator import mul
from typing import Any

import numpy as np

from ..compiled.dicts import FILLED, PLAIN, STAND_IN, are_plain, new_state, packing
from ..compiled.rows import Sparse
from ..errors import BadInput, BadType, Diverged, shown
from .matrices import read_only

Example = Mapping[Hashable, Any]

SHORT = 512  # entries up to which a format is kept ready
NO_NUMBER = (struct.error, TypeError, ValueError, OverflowError)  # what `struct` says of a value


class Slots(dict[Hashable, int]):
    """name -> slot, in order of appearance.

    `add` gives a new name the next slot; `give_back` takes the last ones back, so that a refused
    example can return its names.
    """

    def __init__(self, names: Iterable[Hashable] = ()) -> None:
        super().__init__()
        for name in names:
            self.add(name)

    def add(self, name: Hashable) -> int:
        """Its slot, the next one where it has none yet."""
        return self.setdefault(name, len(self))

    def after(self, known: int) -> list[Hashable]:
        """The names from slot `known` on."""
        return [name for name, _ in zip(reversed(self), range(len(self) - known), strict=False)][::-1]

    def give_back(self, known: int) -> None:
        """Forget the names from slot `known` on."""
        while len(self) > known:
            self.popitem()


class Packer:
    """One reserved sparse row, refilled for every dict.

    A plain dict is packed by `pack` (see `compiled.dicts`): where its names are those of last time, only the
    values are written. Any other is packed by `struct`, which writes a dict's values into a bytearray several
    times faster than assigning a list to a NumPy slice; the arrays are views of it. Names without a slot go
    to the `blank` slot, which no example moves (-1: they are left out).
    """

    def __init__(self, slots: Slots, bias: float) -> None:
        self.slots, self.bias, self.blank = slots, bias, 0
        self.state, self.held = new_state(slots), [list[Hashable]()]
        self._reserve(32)

    def _reserve(self, room: int) -> None:
        values, places = bytearray(8 * room), bytearray(8 + 4 * room)
        numbers = np.frombuffer(values)
        bounds = np.frombuffer(places, np.int32, 2)
        indices = np.frombuffer(places, np.uint32, room, 8)
        self.rows = Sparse(read_only(numbers), read_only(indices), read_only(bounds), self.bias)
        state = self.state.copy()
        self.state[PLAIN] = 0  # whoever still has the row there was
        self.values, self.places, self.room, self.state = values, places, room, state
        self.given = self.slots, self.held, np.frombuffer(values), np.frombuffer(places, np.uint32), state
        self.formats: dict[int, tuple[Any, Any]] = {}
        self.forget()

    def use_constant(self, bias: float) -> None:
        """The constant coordinate's value from now on."""
        self.bias, self.rows = bias, self.rows._replace(bias=bias)

    def pack(self, x: Example, room: int) -> bool:
        """Fill the row from a dict, new names in slots below `room`; False: `take` or `ask` for it."""
        return bool(packing()(x, *self.given, room) >= 0)

    def take(self, x: Example, names: list[Hashable]) -> None:
        """Fill the row to learn from it; new names get a slot."""
        write, place = self._format(len(names))
        if not are_plain(names):
            self.state[PLAIN] = 0
        place(self.places, 4, len(names), *map(self.slots.add, names))
        write(*x.values())

    def ask(self, x: Example, names: list[Hashable]) -> bool:
        """Fill the row to answer it; did every name have a slot?"""
        write, place = self._format(len(names))
        try:
            place(self.places, 4, len(names), *map(self.slots.get, names))
        except struct.error:  # None: a name without a slot
            self._ask_without(x, names)
            return False
        write(*x.values())
        return True

    def leave_unmet(self, slot: int) -> None:
        """The slot that no name has, from now on, for names that `pack` does not know (-1: none)."""
        self.state[STAND_IN] = slot
        self.forget()

    def forget(self) -> None:
        """The row is nobody's: names have lost their slots, or were refused."""
        self.state[FILLED] = -1

    def _ask_without(self, x: Example, names: list[Hashable]) -> None:
        """Names without a slot share the blank one, as long as all of them; or are left out."""
        self.check(x)
        values = [x[name] for name in names if name in self.slots]
        places = [self.slots[name] for name in names if name in self.slots]
        if self.blank >= 0:
            values.append(math.hypot(*(x[name] for name in names if name not in self.slots)))
            places.append(self.blank)
        write, place = self._format(len(places))
        place(self.places, 4, len(places), *places)
        write(*values)

    def _format(self, count: int) -> tuple[Any, Any]:
        """Ready to write a row of so many entries."""
        if count > self.room:
            self._reserve(count + count // 4)
        self.forget()
        found = self.formats.get(count)
        if found is None:  # n values; and the row's end with n slots, right after its start (always 0)
            values = partial(struct.Struct(f"{count}d").pack_into, self.values, 0)
            found = values, struct.Struct(f"i{count}I").pack_into
            if count <= SHORT:
                self.formats[count] = found
        return found

    @staticmethod
    def is_fine(x: Example) -> bool:
        """Are all values numbers, and the squared length finite?"""
        try:
            packed = struct.pack(f"{len(x)}d", *x.values())
        except NO_NUMBER:
            return False
        values = struct.unpack(f"{len(x)}d", packed)
        return math.isfinite(sum(map(mul, values, values)))

    def check(self, x: Example) -> None:
        """Raise if x cannot be learned from or answered."""
        if not isinstance(x, Mapping) or not self.is_fine(x):
            self.refuse(x)

    def refuse(self, x: Example) -> None:
        """Say which value of x is not a finite number, or that its squared length is not."""
        if not isinstance(x, Mapping):
            raise BadType(f"got {type(x).__name__}; wanted a dict of feature names and numbers")
        total = 0.0
        for name, value in x.items():
            try:
                (number,) = struct.unpack("d", struct.pack("d", value))
            except NO_NUMBER:
                kind = type(value).__name__
                hint = "encode it (one-hot, hash) or drop it"
                raise BadInput(
                    f"feature {shown(name)} is {shown(value)} ({kind}); wanted a number; {hint}"
                ) from None
            if not math.isfinite(number):
                raise BadInput(
                    f"feature {shown(name)} is {number}; wanted a finite number; nothing was learned; "
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
