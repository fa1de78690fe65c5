"""Examples over the wire, checked: dicts of numbers, dense lists, texts; and their labels."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from math import isfinite

import msgspec
from msgspec import UNSET, Struct, UnsetType

from ..errors import BadInput, shown
from .plain import Plain
from .refusals import TooLarge
from .settings import Settings

Row = dict[str, float] | list[float] | str
"""What the journal holds of an example; a text is one of a model with features of its own."""
Label = str | int | float | bool | None | list[str | int | float | bool]

LARGEST = 2**63


class Example(Struct, forbid_unknown_fields=True, gc=False):
    """One example: features by name, a dense list, or a text."""

    x: dict[str, float] | list[float] | UnsetType = UNSET
    text: str | UnsetType = UNSET

    def row(self) -> Row:
        """Whichever of them was given."""
        given = [one for one in (self.x, self.text) if not isinstance(one, UnsetType)]
        if len(given) != 1:
            raise BadInput('an example has either "x" or "text"')
        return given[0]


class Labelled(Example, gc=False):
    """An example with its label; the same `key` twice counts once; `w` is its weight."""

    y: Label = None
    key: str | None = None
    w: float = 1.0


class Late(Struct, forbid_unknown_fields=True):
    """A label for an earlier prediction."""

    id: str
    y: Label


Examples = list[Example] | Example
LabelledOnes = list[Labelled] | Labelled


def read(given: object, kind: Plain) -> Plain:
    """Plain values as one of the kinds above."""
    try:
        return msgspec.convert(given, kind)
    except (msgspec.ValidationError, RecursionError, UnicodeError) as error:
        raise BadInput(told(error)) from None


def told(error: Exception) -> str:
    """What msgspec says, on one line."""
    return " ".join(str(error).split())[:300] or type(error).__name__


def rows_of(examples: Sequence[Example], settings: Settings, text: bool) -> list[Row]:
    """Every example checked: finite, within the limits, and of the model's kind."""
    most = settings.most_features
    if not text:  # the short way: all are small dicts of finite numbers
        rows: list[Plain] = [one.x for one in examples if one.x.__class__ is dict and one.text is UNSET]
        if len(rows) == len(examples) <= settings.most_examples and max(map(len, rows), default=0) <= most:
            if all(map(isfinite, chain.from_iterable([row.values() for row in rows]))):
                return rows
    if len(examples) > settings.most_examples:
        raise TooLarge(f"got {len(examples)} examples at once; wanted at most {settings.most_examples}")
    found: list[Row] = []
    for place, example in enumerate(examples):
        try:
            found.append(_checked(example.row(), settings, text))
        except (BadInput, TooLarge) as error:
            raise type(error)(f"example {place}: {error}" if len(examples) > 1 else str(error)) from None
    return found


def _checked(row: Row, settings: Settings, text: bool) -> Row:
    if isinstance(row, str) is not text:
        wanted = '{"text": "..."}' if text else '{"x": {"name": number, ...}} or {"x": [number, ...]}'
        raise BadInput(f"this model learns from {'texts' if text else 'numbers'}; wanted {wanted}")
    if isinstance(row, str):
        if len(row) > settings.most_text:
            raise TooLarge(f"the text has {len(row)} characters; wanted at most {settings.most_text}")
        return row
    if len(row) > settings.most_features:
        raise TooLarge(f"it has {len(row)} features; wanted at most {settings.most_features}")
    values = row.values() if isinstance(row, dict) else row
    if not all(map(isfinite, values)):
        names = row.items() if isinstance(row, dict) else enumerate(row)
        name = next(name for name, value in names if not isfinite(value))
        raise BadInput(f"feature {shown(name)} is NaN or infinity; nothing was learned")
    return row


def checked_label(label: Plain, task: str) -> Plain:
    """A label as the task takes it, or a refusal."""
    if task == "points":
        if label is not None:
            raise BadInput('this model learns from points without labels; leave "y" out')
        return None
    if task == "sets":
        if not isinstance(label, list):
            raise BadInput(f"y={shown(label)}; wanted the list of its labels")
        return [_plain(one) for one in label]
    if isinstance(label, list) or label is None:
        raise BadInput(f"y={shown(label)}; wanted one {'number' if task == 'numbers' else 'label'}")
    if task == "numbers" and (isinstance(label, str | bool)):
        raise BadInput(f"y={shown(label)}; wanted a number")
    return _plain(label)


def _plain(label: Plain) -> Plain:
    if isinstance(label, str) and len(label) > 1000:
        raise BadInput(f"the label {shown(label)} has {len(label)} characters; wanted at most 1000")
    if isinstance(label, int) and not -LARGEST <= label < LARGEST:
        raise BadInput(f"the label {shown(label)} is too large; wanted a whole number below 2^63")
    if isinstance(label, float) and not isfinite(label):
        raise BadInput("y is NaN or infinity; nothing was learned")
    return label


def checked_weight(weight: float) -> float:
    """A finite number above 0."""
    if not 0.0 < weight < float("inf"):
        raise BadInput(f"w={shown(weight)}; wanted a finite number above 0")
    return weight
