"""A dict read by compiled code through Python's C functions: names to slots, values to numbers.

`pack` is a Python function and machine code of the same meaning. The latter reads a dict in a third of the
time that Python takes to list its names, to compare them and to hand its values over. It calls nothing that
could run a user's code (no `__hash__`, `__eq__` or `__float__` but those of Python's own kinds, of which all
names must be too), so nothing it borrows can go away, and Ctrl-C comes before it or after it.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Hashable, Iterable
from functools import cache
from typing import Any

import numpy as np
from llvmlite import ir
from numba import config, types
from numba.core.datamodel import models
from numba.core.datamodel.registry import register_default
from numba.extending import NativeValue, intrinsic, unbox

from .parts import BRIEF, Part, bound, part, specialise

REFUSED = -1  # in place of the entries of a row: it must go the long way
ASKING = -1  # in place of the room for names: none of them gets a slot

# Places of a packer's state. The first three are where Python writes an entry of the dict.
CURSOR, NAME, VALUE = 0, 1, 2
FILLED = 3  # entries of the row whose slots stand there; -1: nobody's
STRANGERS = 4  # those of them that have no slot of their own
STAND_IN = 5  # the slot that stands for it; -1: there is none
PLAIN = 6  # 1: all names that have a slot are plain
KINDS = 7  # addresses of types from here on: numbers, then `str`, then `tuple`

NUMBERS = (float, int, bool, np.float64, np.float32, np.int64, np.int32)
NAMES = (str, int, bool, float)
_TYPE = object.__basicsize__ - ctypes.sizeof(ctypes.c_void_p)  # where an object has the address of its type
_TEXT, _SEVERAL = KINDS + len(NUMBERS), KINDS + len(NUMBERS) + 1
_CONFIG: Any = config  # (its names are made at run time)


def is_plain(name: Hashable) -> bool:
    """Is it text, a number, or a tuple of such?"""
    return type(name) in NAMES or (type(name) is tuple and all(type(each) in NAMES for each in name))


def are_plain(names: Iterable[Hashable]) -> bool:
    """Are all of them?"""
    return {*NAMES}.issuperset(map(type, names)) or all(map(is_plain, names))


def new_state(names: Iterable[Hashable]) -> np.ndarray:
    """Of a packer whose row is nobody's."""
    kinds = [id(kind) for kind in (*NUMBERS, str, tuple)]
    return np.array([0, 0, 0, -1, 0, -1, are_plain(names), *kinds], np.int64)


def pack(x, slots, held, values, places, state, room):
    """Fill the row from a dict; its entries, or REFUSED: part of it was done.

    `held` has the names whose slots the row has, in a list. `places` are 0, the entries and their slots. New
    names get the next slots below `room`; ASKING: they stand at the stand-in.
    """
    names, known = [*x], len(slots)
    learns, standing = room >= 0, state[STAND_IN]
    if (
        not state[PLAIN]
        or len(names) > values.size
        or not all(type(value) in NUMBERS for value in x.values())
    ):
        return REFUSED
    same = state[FILLED] == len(names) and all(map(_is, names, held[0]))
    strangers = state[STRANGERS] if same else 0
    if not same or (learns and strangers):
        state[FILLED], strangers, held[0] = -1, 0, names
        for j, name in enumerate(names):
            if not is_plain(name):
                return REFUSED
            slot = slots.get(name)
            if slot is None and learns and known < room:
                slots[name] = slot = known
                known += 1
            elif slot is None and not learns and standing >= 0:
                slot, strangers = standing, strangers + 1
            elif slot is None:
                return REFUSED
            places[2 + j] = slot
    try:
        values[: len(names)] = [*map(float, x.values())]
    except OverflowError:
        return REFUSED
    places[1], state[STRANGERS], state[FILLED] = len(names), strangers, len(names)
    return len(names)


def _is(one, other):
    return one is other


class Object(types.Type):
    """Numba's name for a Python object that is handed through."""

    def __init__(self) -> None:
        super().__init__(name="PythonObject")


_WORD = ir.IntType(8 * ctypes.sizeof(ctypes.c_void_p))


@register_default(Object)
class _ObjectModel(models.PrimitiveModel):
    def __init__(self, dmm, fe_type):
        super().__init__(dmm, fe_type, _WORD)


@unbox(Object)
def _hand_over(kind, given, within):
    return NativeValue(within.builder.ptrtoint(given, _WORD))


@intrinsic
def _address(typingctx, given):
    return types.intp(given), lambda context, builder, signature, args: args[0]


@intrinsic
def _type_of(typingctx, address):
    """The address of an object's type."""

    def codegen(context, builder, signature, args):
        place = builder.add(args[0], ir.Constant(_WORD, _TYPE))
        return builder.load(builder.inttoptr(place, _WORD.as_pointer()))

    return types.intp(types.intp), codegen


def _of_python(name: str, returned: types.Type, *given: types.Type) -> Any:
    return types.ExternalFunction(name, returned(*given))


_A = types.intp  # an address, or a number of entries
_next = _of_python("PyDict_Next", types.int32, _A, _A, _A, _A)
_size = _of_python("PyDict_Size", _A, _A)
_find = _of_python("PyDict_GetItemWithError", _A, _A, _A)
_put = _of_python("PyDict_SetItem", types.int32, _A, _A, _A)
_names = _of_python("PyDict_Keys", _A, _A)
_item = _of_python("PyList_GetItem", _A, _A, _A)
_replace = _of_python("PyList_SetItem", types.int32, _A, _A, _A)
_length = _of_python("PyTuple_Size", _A, _A)
_part_of = _of_python("PyTuple_GetItem", _A, _A, _A)
_number = _of_python("PyFloat_AsDouble", types.float64, _A)
_whole_number = _of_python("PyLong_AsDouble", types.float64, _A)
_slot = _of_python("PyLong_AsLongLong", types.int64, _A)
_made = _of_python("PyLong_FromLongLong", _A, types.int64)
_let_go = _of_python("Py_DecRef", types.void, _A)
_failed = _of_python("PyErr_Occurred", _A)
_forgive = _of_python("PyErr_Clear", types.void)


@part
def _is_plain(name, state):
    kind = _type_of(name)
    if kind == state[_TEXT] or _is_name(kind, state):
        return True
    if kind != state[_SEVERAL]:
        return False
    for j in range(_length(name)):
        kind = _type_of(_part_of(name, j))
        if not (kind == state[_TEXT] or _is_name(kind, state)):
            return False
    return True


@part
def _is_name(kind, state):
    """One of the first kinds of numbers: `float`, `int`, `bool`."""
    return kind == state[KINDS + 1] or kind == state[KINDS] or kind == state[KINDS + 2]


@part
def _is_number(kind, state):
    for j in range(KINDS, _TEXT):
        if kind == state[j]:
            return True
    return False


@part
def _give_slot(slots, name, slot):
    """Was there memory for it?"""
    number = _made(slot)
    done = number != 0 and _put(slots, name, number) == 0
    if number != 0:
        _let_go(number)
    if not done:
        _forgive()
    return done


def _pack(x, slots, held, values, places, state, room):
    row, known_names, holder = _address(x), _address(slots), _address(held)
    count, known, learns, standing = _size(row), _size(known_names), room >= 0, state[STAND_IN]
    if state[PLAIN] == 0 or count > values.size:
        return REFUSED
    names = _item(holder, 0)
    same = state[FILLED] == count and not (learns and state[STRANGERS] > 0)
    strangers = state[STRANGERS] if same else 0
    if not same:
        state[FILLED] = -1
    begin = state.ctypes.data
    j = state[CURSOR] = 0
    while _next(row, begin, begin + 8 * NAME, begin + 8 * VALUE):
        name, value = state[NAME], state[VALUE]
        if same and _item(names, j) != name:  # from the beginning, by name
            same = False
            strangers = j = state[CURSOR] = 0
            state[FILLED] = -1
            continue
        kind = _type_of(value)
        if kind == state[KINDS]:
            values[j] = _number(value)
        elif _is_number(kind, state):
            whole = kind == state[KINDS + 1]
            number = _whole_number(value) if whole else _number(value)
            if number == -1.0 and _failed() != 0:
                _forgive()
                return REFUSED
            values[j] = number
        else:
            return REFUSED
        if not same:
            if not _is_plain(name, state):
                return REFUSED
            slot = _find(known_names, name)
            if slot != 0:
                places[2 + j] = _slot(slot)
            elif learns:
                if known >= room or not _give_slot(known_names, name, known):
                    return REFUSED
                places[2 + j] = known
                known += 1
            elif standing >= 0:
                places[2 + j] = standing
                strangers += 1
            else:
                return REFUSED
        j += 1
    if not same:
        names = _names(row)
        if names == 0:
            _forgive()
            return REFUSED
        _replace(holder, 0, names)
    places[1] = count
    state[STRANGERS] = strangers
    state[FILLED] = count
    return count


def can_compile() -> bool:
    """Is this the Python whose objects are known here, with its lock on?"""
    locked: bool = getattr(sys, "_is_gil_enabled", lambda: True)()
    if _CONFIG.DISABLE_JIT or sys.implementation.name != "cpython" or not locked:
        return False
    return ctypes.c_size_t.from_address(id(1.0) + _TYPE).value == id(float)


@cache
def packing() -> Part:
    """`pack`, by machine code where that is possible."""
    if not can_compile():
        return pack
    kind, state = Object(), new_state(())
    return bound(specialise(_pack, BRIEF), (kind, kind, kind, np.zeros(1), np.zeros(3, np.uint32), state, 0))
