"""Columns of frames, Arrow tables, arrays and lists of dicts, read as numbers, words or texts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain, islice
from numbers import Real
from types import NoneType
from typing import NamedTuple, cast

import numpy as np

from ..errors import BadInput, BadType, shown

NUMBER, CATEGORY, TEXT, DROP = "number", "category", "text", "drop"
KINDS = (NUMBER, CATEGORY, TEXT, DROP)
LOOKED_AT = 1000  # values that tell what a column is
MANY_WORDS = 3  # a text has as many, a category fewer
ARROW_NESTED = ("list", "large_list", "fixed_size_list", "struct", "map")
ARROW_NUMBERS = ("int", "uint", "float", "double", "halffloat", "decimal")
NESTED = (list, tuple, set, dict, bytes, np.ndarray)
PLAIN = (str, bool, np.bool_, Real)


class Words(NamedTuple):
    """A column of categories: distinct words, and the number of each row's (-1: missing)."""

    codes: np.ndarray
    words: list[str]


class Columns:
    """Raw rows by column: one door to all that rows may lie in.

    Missing are None, NaN, Arrow's and polars' null, pandas' NA, and keys that a dict does not have.
    """

    def __init__(self, X: object) -> None:
        self.rows, taken = _taken(X)
        self.columns = {str(name): column for name, column in taken.items()}
        if len(self.columns) != len(taken):
            raise BadInput(f"two columns have the same name; got {shown(list(taken))}")
        self.of_dicts = isinstance(X, list | tuple)

    def kind(self, name: str) -> str:
        """What a column seems to be: numbers, words (a few different ones, or short) or texts."""
        column = self.columns[name]
        numbers = _as_numbers(column)
        if numbers is not None:
            return NUMBER
        values = [*islice((value for value in _listed(column) if not _is_missing(value)), LOOKED_AT)]
        for value in values:
            if not isinstance(value, PLAIN):
                raise BadInput(
                    f"column {name!r} has {shown(value)} ({type(value).__name__}); wanted numbers or "
                    f"strings; convert it, or give kinds={{{name!r}: 'category'}} or 'drop'"
                )
        if values and all(
            isinstance(value, Real) and not isinstance(value, bool | np.bool_) for value in values
        ):
            return NUMBER
        texts = sum(isinstance(value, str) and len(value.split()) >= MANY_WORDS for value in values)
        return TEXT if 2 * texts > len(values) else CATEGORY

    def numbers(self, name: str) -> np.ndarray:
        """A column as float64, NaN where a number is missing; what is infinite or no number is refused."""
        column = self._column(name)
        made = None if column is None else _as_numbers(column)
        if column is None:
            return np.full(self.rows, np.nan)
        if made is None:
            values = _listed(column)
            made = _quick_numbers(values)
        if made is None:
            made = np.array([_number(value, name, row) for row, value in enumerate(values)], float)
        wrong = np.isinf(made)
        if wrong.any():
            row = int(wrong.argmax())
            raise BadInput(f"row {row}, column {name!r} is {made[row]}; wanted a finite number, or none")
        return made

    def words(self, name: str) -> Words:
        """A column as words: strings as they are, numbers and truths as Python writes them (3.0 as 3)."""
        column = self._column(name)
        if column is None:
            return Words(np.full(self.rows, -1), [])
        coded = _coded(column)
        if coded is None:
            rows = _listed(column)
            coded = _quick_codes(rows)
        if coded is None:
            index: dict[object, int] = {}
            codes = np.fromiter((_enter(index, value, name, row) for row, value in enumerate(rows)), np.int64)
            coded = codes, list(index)
        codes, values = coded
        index = {}
        merged = [
            -1 if _is_missing(value) else index.setdefault(_word(value), len(index)) for value in values
        ]
        return Words(np.array([*merged, -1], np.int64)[codes], cast(list[str], list(index)))

    def texts(self, name: str) -> list[str]:
        """A column as texts; empty where one is missing."""
        column = self._column(name)
        found = [] if column is None else [*_listed(column)]
        made = ["" if _is_missing(value) else value for value in found] or [""] * self.rows
        for row, value in enumerate(made):
            if not isinstance(value, str):
                raise BadInput(f"row {row}, column {name!r} is {shown(value)}; wanted a text")
        return cast(list[str], made)

    def _column(self, name: str) -> object:
        """None where dicts have no such key."""
        if name not in self.columns and not self.of_dicts:
            raise BadInput(f"the column {name!r} is not there; got {shown(list(self.columns), 100)}")
        return self.columns.get(name)


# ---- what rows lie in


def _taken(X: object) -> tuple[int, dict[object, object]]:
    """How many rows, and the columns by name."""
    family = type(X).__module__.partition(".")[0]
    if family in ("pandas", "polars", "pyarrow") and hasattr(X, "columns"):
        names = list(getattr(X, "column_names", X.columns))
        if len(set(names)) != len(names):
            raise BadInput(f"two columns have the same name; got {shown(names)}")
        columns = _call(X, "get_columns") if family == "polars" else X.columns
        if family == "pandas":
            columns = [column for _, column in cast(Iterable[tuple[object, object]], _call(X, "items"))]
        return len(cast(Sequence[object], X)), dict(zip(names, cast(Iterable[object], columns), strict=True))
    if isinstance(X, np.ndarray):
        if X.ndim != 2:
            raise BadInput(f"got an array of {X.ndim} dimensions; wanted 2, rows and columns")
        return len(X), {f"x{at}": X[:, at] for at in range(X.shape[1])}
    if isinstance(X, list | tuple):
        return len(X), _of_dicts(X)
    hint = "wrap it in a list" if isinstance(X, Mapping) else "make it one"
    raise BadType(f"got {shown(X)}; wanted a frame of pandas, polars or Arrow, or a list of dicts; {hint}")


def _call(thing: object, method: str, *given: object, **named: object) -> object:
    """A method of another library's object."""
    made: object = getattr(thing, method)(*given, **named)
    return made


def _of_dicts(rows: Sequence[object]) -> dict[object, object]:
    if not set(map(type, rows)) <= {dict}:
        for row, x in enumerate(rows):
            if not isinstance(x, Mapping):
                raise BadType(f"row {row} is {shown(x)}; wanted a dict of names and values")
    given = cast(Sequence[Mapping[object, object]], rows)
    names = dict.fromkeys(chain.from_iterable(dict.fromkeys(map(tuple, given))))
    return {name: [x.get(name) for x in given] for name in names}


def _listed(column: object) -> list[object]:
    for way in ("to_pylist", "to_list", "tolist"):
        if hasattr(column, way):
            return cast(list[object], _call(column, way))
    return cast(list[object], column)


def _as_numbers(column: object) -> np.ndarray | None:
    """Of a type that holds numbers alone; None: it must be looked at."""
    kind = getattr(column, "dtype", getattr(column, "type", None))
    if hasattr(column, "dictionary_encode"):  # Arrow
        if not str(kind).startswith(ARROW_NUMBERS):
            return None
        return np.asarray(
            _call(_call(_one_piece(column), "cast", "float64"), "to_numpy", zero_copy_only=False)
        )
    if hasattr(kind, "is_numeric"):  # polars
        return (
            np.asarray(_call(_call(column, "cast", float), "to_numpy")) if _call(kind, "is_numeric") else None
        )
    if getattr(kind, "kind", "") not in ("i", "u", "f"):
        return None
    if hasattr(column, "to_numpy"):  # pandas
        return np.asarray(_call(column, "to_numpy", dtype=np.float64, na_value=np.nan))
    return np.asarray(column, np.float64)


def _one_piece(column: object) -> object:
    """A column of Arrow's that may be in chunks."""
    return _call(column, "combine_chunks") if hasattr(column, "combine_chunks") else column


def _coded(column: object) -> tuple[np.ndarray, list[object]] | None:
    """Codes and values where the column has them, or makes them fast: -1 is missing."""
    if hasattr(column, "dictionary_encode"):  # Arrow
        if str(getattr(column, "type", "")).startswith(ARROW_NESTED):
            return None
        packed = _one_piece(column)
        packed = packed if hasattr(packed, "dictionary") else _call(packed, "dictionary_encode")
        numbers = _call(getattr(packed, "indices", None), "fill_null", -1)
        codes = np.asarray(_call(numbers, "to_numpy", zero_copy_only=False)).astype(np.int64)
        return codes, _listed(getattr(packed, "dictionary", None))
    categories = getattr(column, "cat", None) if hasattr(column, "iloc") else None  # pandas
    if categories is not None:
        return np.asarray(categories.codes).astype(np.int64), _listed(categories.categories)
    return None


def _quick_numbers(values: list[object]) -> np.ndarray | None:
    """Of Python's numbers and None alone."""
    if not set(map(type, values)) <= {int, float, NoneType}:
        return None
    try:
        return np.array(values, np.float64)
    except OverflowError:  # of a whole number
        return None


def _quick_codes(values: list[object]) -> tuple[np.ndarray, list[object]] | None:
    """Of strings, fractions and None: types of which no two values are equal and differently written."""
    if not set(map(type, values)) <= {str, float, NoneType}:
        return None
    index = {value: code for code, value in enumerate(dict.fromkeys(values))}
    return np.fromiter(map(index.__getitem__, values), np.int64, len(values)), list(index)


# ---- single values


def _is_missing(value: object) -> bool:
    """None, NaN, pandas' NA and NaT."""
    if value is None:
        return True
    if isinstance(value, str):
        return False
    if type(value).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(value, float | np.floating) and bool(value != value)


def _number(value: object, name: str, row: int) -> float:
    if _is_missing(value):
        return float("nan")
    if not isinstance(value, Real | np.bool_):
        raise BadInput(f"row {row}, column {name!r} is {shown(value)}; wanted a number, or none")
    try:
        return float(value)
    except OverflowError:
        return float("inf")


def _enter(index: dict[object, int], value: object, name: str, row: int) -> int:
    """The number of a value; 1, 1.0 and True have one each."""
    if type(value) is not str:
        if _is_missing(value):
            return -1
        if isinstance(value, NESTED):
            raise BadInput(f"row {row}, column {name!r} is {shown(value)}; wanted a word or a number")
        value = _word(value)
    return index.setdefault(value, len(index))


def _word(value: object) -> str:
    if isinstance(value, float | np.floating) and float(value).is_integer():
        return str(int(value))
    return str(value)
