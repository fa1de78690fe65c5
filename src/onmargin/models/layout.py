"""What the arrays and numbers of a model file must be: compared before anything is built from them.

A model says which arrays it wants (`Model.file_layout`: names, shapes, types, ranges). Sizes follow from what
the learner knows, or are those of arrays in the file itself: so nothing is allocated that the file does not
pay for, and no number that compiled code takes for an index lies outside.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from ..learn.spaces.arrays import Space, Start, is_scratch, shape_of
from ..learn.vocabulary import ASKED, BIASED, FADED, KNOWN, MOVES, SHOWN

MOST_PLACES = 2**31 - 2  # columns and outputs, counted in int32
MOST_ROUNDS = 2**53  # rounds and rows, exact as float64

Facts = Mapping[str, Any]
"""What a file says of a model beside its arrays."""

Arrays = Mapping[str, np.ndarray]


class Misfit(ValueError):
    """Something in a file does not fit the rest of it."""


class Wanted(NamedTuple):
    """One array: its shape, the types it may have, the range of its entries.

    `whole`: entries are whole numbers; `scratch`: they mean nothing, and are not read.
    """

    shape: tuple[int, ...]
    types: tuple[str, ...] = ("float64",)
    least: float = -math.inf
    most: float = math.inf
    whole: bool = False
    scratch: bool = False


Layout = dict[str, Wanted]


def layout_of(space: Space, start: Start) -> Layout:
    """The arrays of a Space of such a start."""
    wanted = {}
    for name, field in space.fields.items():
        if field.follows:
            continue
        shape, dtype = shape_of(field, start)
        most = start.slots - 1 if field.names_slots else math.inf
        least = 0 if field.names_slots else field.least
        wanted[name] = Wanted(shape, (dtype,), least, most, field.names_slots, is_scratch(field))
    return wanted


def indices(shape: tuple[int, ...], below: float, least: float = 0, kind: str = "int64") -> Wanted:
    """An array of whole numbers from `least` to `below` - 1."""
    return Wanted(shape, (kind,), least, below - 1, True)


def check_arrays(wanted: Layout, arrays: Arrays) -> None:
    """Raise `Misfit` unless the arrays are those wanted, and no others."""
    if wanted.keys() != arrays.keys():
        strange = sorted(wanted.keys() ^ arrays.keys())[0]
        raise Misfit(f"the array {strange!r} is {'missing' if strange in wanted else 'not one of its kind'}")
    for name, want in wanted.items():
        _check_array(name, want, arrays[name])


def _check_array(name: str, want: Wanted, array: np.ndarray) -> None:
    if array.shape != want.shape or array.dtype.name not in want.types:
        raise Misfit(
            f"the array {name!r} has the wrong shape or type: {array.dtype.name} {array.shape}, "
            f"wanted {want.types[0]} {want.shape}"
        )
    if want.scratch or not array.size:
        return
    if not np.isfinite(array).all():
        raise Misfit(f"the array {name!r} has entries that are not finite")
    if (want.least > -math.inf or want.most < math.inf) and (
        array.min() < want.least or array.max() > want.most
    ):
        raise Misfit(f"the array {name!r} has entries out of range")
    if want.whole and array.dtype.kind == "f" and (array != np.floor(array)).any():
        raise Misfit(f"the array {name!r} has entries that are no whole numbers")


def row_numbers(name: str, value: object) -> np.ndarray:
    """Numbers of rows, as a file says."""
    if not isinstance(value, np.ndarray) or value.ndim != 1:
        raise Misfit(f"its {name} are no numbers of rows")
    check_arrays({name: indices(value.shape, MOST_ROUNDS)}, {name: value})
    return value


def lines(arrays: Arrays, name: str) -> int:
    """How many lines an array of the file has."""
    if name not in arrays or not arrays[name].ndim:
        raise Misfit(f"the array {name!r} is missing")
    return len(arrays[name])


def count(name: str, value: object, least: int = 0, most: int = MOST_ROUNDS) -> int:
    """A whole number of a file."""
    if type(value) is not int or not least <= value <= most:
        raise Misfit(f"its {name} is no whole number from {least} to {most}")
    return value


def real(name: str, value: object, least: float = 0.0) -> float:
    """A number of a file, infinity among them."""
    if isinstance(value, bool | np.bool_) or not isinstance(value, int | float | np.integer | np.floating):
        raise Misfit(f"its {name} is no number")
    if not float(value) >= least:  # (NaN is not)
        raise Misfit(f"its {name} is no number of at least {least:g}")
    return float(value)


def truth(name: str, value: object) -> bool:
    """True or False, as a file says."""
    if not isinstance(value, bool):
        raise Misfit(f"its {name} is neither True nor False")
    return value


def one_of(name: str, value: object, options: tuple[str, ...]) -> str:
    """One of some words."""
    if not isinstance(value, str) or value not in options:
        raise Misfit(f"its {name} is not one of {', '.join(map(repr, options))}")
    return value


def check_remembered(memory: np.ndarray, known: int) -> None:
    """What the loop remembers beside the arrays of its model, so many features being known."""
    check_counts(memory[SHOWN:FADED])
    if not 0 <= memory[KNOWN] <= known or memory[KNOWN] % 1 or memory[BIASED] not in (0, 1):
        raise Misfit(f"it remembers {memory[KNOWN]:g} features, but knows {known}")


def check_counts(counts: np.ndarray) -> None:
    """What a rule that asks has counted; the logarithm and the longest row are no counts."""
    whole = counts[[ASKED - SHOWN, MOVES - SHOWN, 0]]
    check_arrays({"counts": Wanted(whole.shape, least=0, most=MOST_ROUNDS, whole=True)}, {"counts": whole})


def check_starts(starts: np.ndarray, entries: int) -> None:
    """Where the rows of a CSR matrix begin, each after the one before."""
    if starts[0] != 0 or starts[-1] != entries or (np.diff(starts) < 0).any():
        raise Misfit("the rows it keeps do not lie one after the other")


def csr(prefix: str, arrays: Arrays, rows: int, width: int, types: tuple[str, ...], kind: str) -> Layout:
    """The three arrays of a CSR matrix of so many rows and columns; `kind`: of its indices."""
    entries = lines(arrays, f"{prefix}values")
    return {
        f"{prefix}values": Wanted((entries,), types),
        f"{prefix}indices": indices((entries,), width, kind=kind),
        f"{prefix}starts": indices((rows + 1,), entries + 1),
    }
