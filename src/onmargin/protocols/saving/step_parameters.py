"""What the parameters of known steps may be, in a pipeline that is saved and in a file: no function."""

from __future__ import annotations

import codecs
import math
import re
from collections.abc import Callable, Mapping
from numbers import Integral, Real
from typing import NamedTuple, cast

import numpy as np

from ...errors import BadInput, shown
from ...models.layout import MOST_PLACES

MOST_LETTERS = 10_000  # characters of a pattern


class Limit(NamedTuple):
    """Is it one of the values that can be kept? In words."""

    fits: Callable[[object], bool]
    wanted: str


def _options(*options: str | None) -> Limit:
    return Limit(
        lambda value: (value is None or type(value) is str) and value in options,
        f"one of {', '.join(map(repr, options))}",
    )


def _is_whole(value: object, least: int = 1, most: int = MOST_PLACES) -> bool:
    return isinstance(value, Integral) and not isinstance(value, bool) and least <= int(value) <= most


def _is_share(value: object) -> bool:
    return isinstance(value, Real) and not isinstance(value, Integral) and 0.0 <= float(value) <= 1.0


def is_words(value: object) -> bool:
    """A collection of texts?"""
    return isinstance(value, list | tuple | set | frozenset) and all(type(word) is str for word in value)


def is_vocabulary(value: object) -> bool:
    """Words that stand for the columns 0 .. n - 1, each for one."""
    if not isinstance(value, dict) or not all(type(word) is str for word in value):
        return False
    columns = list(value.values())
    return all(_is_whole(one, 0) for one in columns) and sorted(columns) == list(range(len(columns)))


def _is_pattern(value: object) -> bool:
    if type(value) is not str or len(value) > MOST_LETTERS:
        return False
    try:
        return re.compile(value).groups <= 1
    except (re.error, RecursionError, OverflowError):
        return False


def _is_encoding(value: object) -> bool:
    try:
        return type(value) is str and len(value) <= 50 and bool(codecs.lookup(value))
    except (LookupError, ValueError):
        return False


def _is_dtype(value: object) -> bool:
    try:
        dtype = np.dtype(cast(str, value))
    except TypeError:
        return False
    return value is not None and dtype.kind in "biuf" and dtype.itemsize <= 8


def _is_pair(value: object, fits: Callable[[object], bool], strictly: bool) -> bool:
    if not isinstance(value, tuple | list) or len(value) != 2 or not all(map(fits, value)):
        return False
    return bool(value[0] < value[1] or (not strictly and value[0] == value[1]))


def _is_finite(value: object) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool) and math.isfinite(float(value))


FLAG = Limit(lambda value: isinstance(value, bool | np.bool_), "True or False")
NO_FUNCTION = Limit(lambda value: value is None, "None: functions cannot be saved")
FREQUENCY = Limit(lambda value: _is_whole(value) or _is_share(value), "a count or a share")
LIMITS: dict[str, Limit] = {
    **dict.fromkeys(
        ("lowercase", "binary", "use_idf", "smooth_idf", "sublinear_tf", "alternate_sign", "with_mean",
         "with_std", "copy", "clip"),
        FLAG,
    ),
    "input": _options("content", "filename", "file"),
    "encoding": Limit(_is_encoding, "the name of an encoding"),
    "decode_error": _options("strict", "ignore", "replace"),
    "strip_accents": _options("ascii", "unicode", None),
    "preprocessor": NO_FUNCTION,
    "tokenizer": NO_FUNCTION,
    "analyzer": _options("word", "char", "char_wb"),
    "stop_words": Limit(
        lambda value: value is None or value == "english" or is_words(value), "None, 'english' or words"
    ),
    "token_pattern": Limit(
        lambda value: value is None or _is_pattern(value), "a regular expression with at most one group"
    ),
    "ngram_range": Limit(lambda value: _is_pair(value, _is_whole, False), "two whole numbers, in order"),
    "max_df": FREQUENCY,
    "min_df": FREQUENCY,
    "max_features": Limit(lambda value: value is None or _is_whole(value), "None or a whole number"),
    "vocabulary": Limit(
        lambda value: value is None or is_words(value) or is_vocabulary(value),
        "None, words, or a dict of words and columns",
    ),
    "dtype": Limit(_is_dtype, "a type of numbers"),
    "norm": _options("l1", "l2", "max", None),
    "n_features": Limit(_is_whole, "a whole number"),
    "feature_range": Limit(lambda value: _is_pair(value, _is_finite, True), "two finite numbers, in order"),
}  # fmt: skip


def check_parameters(step: str, kind: type, parameters: Mapping[str, object]) -> None:
    """Refuse what a file cannot hold, by its name."""
    for name, value in parameters.items():
        limit = LIMITS.get(name)
        if limit is None or not limit.fits(value):
            wanted = "no such parameter" if limit is None else limit.wanted
            raise BadInput(
                f"the step {step!r} ({kind.__name__}) has {name}={shown(value)}, which cannot be saved; "
                f"wanted {wanted}"
            )
