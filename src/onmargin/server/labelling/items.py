"""Items for people to label: a text, named values, or numbers; and the table a pool chooses from."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from sklearn.feature_extraction import FeatureHasher

from ...errors import BadInput, shown
from ...features.matrices import canonical
from ...features.text import Text
from ...interface.tables import Table

Content = str | dict[str, object] | list[float]
BITS = 18  # 2^18 columns for texts and for names
WIDEST = 5000  # columns up to which named numbers are a plain table
SIDES = {28 * 28: 28, 16 * 16: 16, 8 * 8: 8, 32 * 32: 32, 20 * 20: 20}  # pixels of a square image: its side


class New(NamedTuple):
    """An item that comes; the same key twice is one item."""

    x: object
    about: Mapping[str, object] = {}
    key: str | None = None


class Item(NamedTuple):
    """What is to be labelled, by its number; `about` is what else its file said of it (kept, not learned)."""

    number: int
    x: Content
    about: Mapping[str, object] = {}
    key: str | None = None

    @property
    def side(self) -> int | None:
        """Where the numbers are a square grey image: how many pixels a side has."""
        values = numbers_of(self.x)
        side = None if values is None else SIDES.get(len(values))
        return side if side is not None and values is not None and _is_grey(values) else None


def numbers_of(x: Content) -> list[float] | None:
    """The numbers, where it is nothing but numbers, in their order."""
    values = list(x.values()) if isinstance(x, dict) else x
    if isinstance(values, str):
        return None
    found = [float(value) for value in values if isinstance(value, int | float) and _is_number(value)]
    return found if len(found) == len(values) else None


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _is_grey(values: Sequence[float]) -> bool:
    """Within what grey values are written in: 0 to 255, 0 to 16, 0 to 1 or -1 to 1; and not all alike."""
    low, high = min(values), max(values)
    return low < high and -1.0 <= low and high <= 255.0 and (low >= 0.0 or high <= 1.0)


def checked(x: object) -> Content:
    """An example as it came from a file or a request; refused in one line where it is none."""
    if isinstance(x, str):
        if not x.strip():
            raise BadInput("an item has an empty text; leave it out")
        return _whole(x)
    if isinstance(x, dict) and x:
        wrong = next((k for k, v in x.items() if not _is_number(v) and not isinstance(v, str | bool)), None)
        if wrong is None:
            return {
                _whole(str(name)): _whole(value) if isinstance(value, str) else value
                for name, value in x.items()
            }
        raise BadInput(
            f"field {shown(wrong)} is {shown(x[wrong])}; wanted a finite number, a text or a truth"
        )
    if isinstance(x, list) and x and all(_is_number(value) for value in x):
        return [float(value) for value in x]
    raise BadInput(f"item {shown(x)}; wanted a text, an object of names and values, or a list of numbers")


def _whole(text: str) -> str:
    """Text that can be written down: half of a character (a lone surrogate) cannot."""
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise BadInput(f"the text has half of a character at {error.start}; decode it again") from None
    return text


def table_of(items: Sequence[Item]) -> Table:
    """One row an item, as a pool wants them: texts and odd names hashed, numbers as they are."""
    examples = [item.x for item in items]
    if any(isinstance(x, str) for x in examples):
        texts = [as_text(x) for x in examples]
        return canonical(Text(bits=BITS).transform(texts))
    rows = [numbers_of(x) for x in examples]
    names = {tuple(x) if isinstance(x, dict) else len(x) for x in examples}
    if len(names) == 1 and all(row is not None and len(row) <= WIDEST for row in rows):
        return np.array(rows, float)
    named = [x if isinstance(x, dict) else _by_place(x) for x in examples]
    hashed = FeatureHasher(1 << BITS, alternate_sign=False).transform(
        [
            {name: float(value) if isinstance(value, bool) else value for name, value in x.items()}
            for x in named
        ]
    )
    return canonical(hashed)


def as_numbers(x: Content) -> dict[str, float] | list[float]:
    """For a model that learns from numbers: a word becomes the feature `name=word` with value 1."""
    if isinstance(x, str):
        raise BadInput(
            "the item is a text, and the model learns from numbers; make one with features of texts"
        )
    if isinstance(x, list):
        return x
    named: dict[str, float] = {}
    for name, value in x.items():
        if isinstance(value, str):
            named[f"{name}={value}"] = 1.0
        elif isinstance(value, int | float):
            named[name] = float(value)
    return named


def as_text(x: Content) -> str:
    """For a model that learns from texts: a text as it is, names and values one after the other."""
    if isinstance(x, str):
        return x
    named = x if isinstance(x, dict) else _by_place(x)
    return " ".join(f"{name} {value}" for name, value in named.items())


def _by_place(x: Content) -> dict[str, object]:
    assert isinstance(x, list)
    return {str(place): value for place, value in enumerate(x)}
