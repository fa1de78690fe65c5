"""The labels of a classifier: which are known, what number each has, how much each weighs."""

from __future__ import annotations

import math
from collections.abc import Collection, Hashable, Iterable, Mapping, Set
from typing import Any

import numpy as np

from ...compiled.checks import find_codes, find_distinct
from ...errors import BadInput, as_float, plain_number, shown
from ...models.layout import Facts, Misfit, count, truth

EXACT = 2.0**53  # whole numbers below are exact as float64; from here on two may be one float
SEVERAL = (
    "a label set a row is given as an indicator matrix of 0 and 1; "
    "sklearn.preprocessing.MultiLabelBinarizer().fit_transform(y) makes one"
)


class Labels:
    """Known labels in order. `sets`: an example may have several; `closed`: no more may come."""

    def __init__(
        self, known: Iterable[Hashable] = (), closed: bool = False, sets: bool = False, apart: bool = False
    ) -> None:
        self.sets, self.closed, self.apart = sets, closed, apart
        self.known: list[Any] = []
        self.counts: list[int] = []  # examples seen of each label, for class_weight="balanced"
        self._set(in_order(list(known)))

    def _set(self, known: list[Any]) -> None:
        counts = dict(zip(self.known, self.counts, strict=True))
        self.known = known
        self.counts = [counts.get(label, 0) for label in known]
        self.index = {label: number for number, label in enumerate(known)}
        self.numbers = _as_numbers(known)

    def take(self, known: list[Any], counts: list[int]) -> None:
        """These labels in this order, so many examples of each."""
        self._set(known)
        self.counts = counts

    def __deepcopy__(self, memo: object) -> Labels:
        """Lists of its own; the labels in them do not change."""
        twin = object.__new__(type(self))
        twin.__dict__.update(self.__dict__)
        twin.known, twin.counts, twin.index = list(self.known), list(self.counts), dict(self.index)
        return twin

    @classmethod
    def restored(cls, kept: Facts, apart: bool) -> Labels:
        """The labels of a file in the order they were, each once."""
        labels = cls((), truth("closed", kept["closed"]), truth("sets", kept["sets"]), apart)
        known, counts = kept["known"], kept["counts"]
        if not isinstance(known, list) or not isinstance(counts, list) or len(known) != len(counts):
            raise Misfit("its labels and their counts do not fit each other")
        labels.take(known, [count("count of a label", number) for number in counts])
        if len(labels.index) != len(known):
            raise Misfit("it has a label twice")
        return labels

    @property
    def array(self) -> np.ndarray:
        """`classes_`"""
        try:
            array = np.array(self.known) if self.known else np.array([], int)
        except ValueError:  # tuples beside other labels
            array = np.empty((0, 0))
        if array.ndim != 1 or [type(v) for v in items(array)] != [type(unwrapped(v)) for v in self.known]:
            array = np.empty(len(self.known), object)
            array[:] = self.known
        return array

    @property
    def outputs(self) -> int:
        """Two classes are one row, more are a row each; a label of a set always has its row.

        `apart`: so do two classes.
        """
        return len(self.known) if self.sets or self.apart or len(self.known) > 2 else 1

    def check(self, label: Hashable) -> None:
        """Raise if the label can be neither found nor taken in."""
        if label in self.index:
            return
        if self.closed:
            raise BadInput(
                f"label {shown(label)} is not among the announced classes {shortened(self.known)}; nothing "
                "was learned; announce it in classes= or leave the set open"
            )
        check_label(label)

    def add(self, label: Hashable) -> list[int]:
        """Take a new label in; where each label now stood before (-1: nowhere)."""
        self.check(label)
        before = self.index
        self._set(in_order([*self.known, unwrapped(label)]))
        return [before.get(known, -1) for known in self.known]

    def codes(self, y: np.ndarray) -> np.ndarray:
        """The number of each label of a block, -1 where it is unknown."""
        if self.numbers is not None and y.dtype.kind in "biuf":
            codes = np.empty(len(y), np.int64)
            find_codes(y.astype(np.float64, copy=False), self.numbers, codes)
            return codes
        get = self.index.get
        return np.array([get(label, -1) for label in items(y)], np.int64)

    def knows_all(self, y: np.ndarray) -> bool:
        """Are these whole numbers, and classes such without a gap? Then two tell; False: look at each."""
        numbers = self.numbers
        if numbers is None or y.dtype.kind not in "biu" or not len(y):
            return False
        if numbers[0] % 1.0 or (numbers[1:] - numbers[:-1] != 1.0).any():
            return False
        return bool(numbers[0] <= y.min() and y.max() <= numbers[-1])

    def targets(self, codes: np.ndarray) -> np.ndarray:
        """What the loop is told: +1 and -1 for one row, the class number for several."""
        if self.outputs > 1:
            return codes.astype(np.float64)
        if len(self.known) < 2:  # the first label, against anything else
            return np.ones(len(codes))
        return np.asarray(2.0 * codes - 1.0)

    def unknown(self, y: np.ndarray, codes: np.ndarray) -> BadInput:
        """The refusal of the first label that has no number."""
        where = int(np.argmax(codes < 0))
        return BadInput(
            f"row {where} has the label {shown(unwrapped(y[where]))}, which is not among the classes "
            f"{shortened(self.known)}; nothing was learned; announce all classes in the first call"
        )

    def weights(self, codes: np.ndarray, class_weight: Any, seen: np.ndarray | None) -> np.ndarray:
        """Class weights of a block in stream order; empty where all are 1.

        "balanced" is n / (K n_y) with the current example counted; `seen` marks the rows that
        count (all: None).
        """
        if class_weight is None or not self.known:  # (before any label only unseen rounds are played)
            return np.zeros(0)
        if isinstance(class_weight, str):
            return self._balanced(codes, seen)
        each = np.array([float(class_weight.get(label, 1.0)) for label in self.known])
        return np.asarray(each[codes])

    def _balanced(self, codes: np.ndarray, seen: np.ndarray | None) -> np.ndarray:
        number = len(self.known)
        marks = np.zeros((len(codes), number))
        marks[np.arange(len(codes)), codes] = 1.0 if seen is None else seen
        running = np.cumsum(marks, axis=0) + np.array(self.counts, float)
        self.counts = [int(count) for count in running[-1]] if len(codes) else self.counts
        own = running[np.arange(len(codes)), codes]
        return np.asarray(running.sum(axis=1) / (number * np.maximum(own, 1.0)))

    def fitted_weights(self, codes: np.ndarray, class_weight: Any) -> Any:
        """ "balanced" over the rows that are seen, as a dict: n / (K n_k)."""
        if not isinstance(class_weight, str):
            return class_weight
        codes = codes[codes >= 0]
        counts = np.bincount(codes, minlength=len(self.known))
        each = len(codes) / (len(self.known) * np.maximum(counts, 1))
        return dict(zip(self.known, each.tolist(), strict=True))


def is_missing(label: object) -> bool:
    """Is this no label? (NaN is not equal to itself; so are NaT and pandas' NA.)"""
    if label is None:
        return True
    try:
        return bool(label != label)
    except (TypeError, ValueError, ArithmeticError):
        return type(label).__name__ == "NAType"


def check_label(label: object) -> None:
    """Raise for what is no class: None, NaN, NaT, NA, fractions, complex numbers."""
    if isinstance(label, float | np.floating) and math.isfinite(label) and label != int(label):
        raise BadInput(
            f"Unknown label type: continuous. {shown(label)} is a fraction, no class; use a regressor, or "
            "announce it in classes="
        )
    bad = is_missing(label) or isinstance(label, complex | np.complexfloating)
    if bad or isinstance(label, float | np.floating) and not math.isfinite(label):
        raise BadInput(
            f"got the label {shown(label)}; wanted a text, a whole number or a bool; nothing was learned"
        )


def checked_class_weight(given: Any, known: Collection[Any] | None) -> Any:
    """None, "balanced" or {label: weight}; `known`: all labels there are (None: others may still come)."""
    if given is None or (isinstance(given, str) and given == "balanced"):
        return given
    if not isinstance(given, dict):
        raise BadInput(f"class_weight={shown(given)}; wanted None, 'balanced' or a dict of labels")
    if not all(isinstance(w, bool) or 0 <= as_float(plain_number(w)) < math.inf for w in given.values()):
        raise BadInput(f"class_weight={shown(given)}; wanted finite weights of at least 0")
    strange = [] if known is None else [label for label in given if label not in known]
    if known is not None and strange:
        raise BadInput(
            f"class_weight names {shown(strange[0])}, which is not among the classes "
            f"{shortened(list(known)[:7])}; leave it out, or announce it in classes="
        )
    return given


def in_order(labels: list[Any]) -> list[Any]:
    """Without repeats; sorted where labels can be ordered, else in order of appearance."""
    once = list(dict.fromkeys(labels))
    try:
        return sorted(once)
    except TypeError:
        return once


def listed(classes: Any) -> list[Any]:
    """Announced labels as they are, each with its own type; a missing one is none."""
    try:
        labels = [unwrapped(label) for label in items(classes)]
        hash(tuple(labels))
    except TypeError:
        raise BadInput(f"classes={shown(classes)}; wanted a list of labels") from None
    if any(map(is_missing, labels)):
        raise BadInput(f"classes={shown(classes)} has a missing label (None, NaN, NaT, NA); leave it out")
    return labels


def agreed(said: Any, given: Any) -> Any:
    """The labels announced: by the parameter, by the call, or by both alike."""
    if said is None or given is None:
        return said if given is None else given
    if in_order(listed(said)) != in_order(listed(given)):
        raise BadInput(f"classes={shown(given)}, but the parameter says {shown(said)}; say it once")
    return given


def label_array(y: Any) -> np.ndarray:
    """Labels as an array; an object array where a list mixes kinds, so that each keeps its own.

    Numbers of several types are one kind, as NumPy has it, unless whole numbers would lose digits.
    """
    kinds = {type(label) for label in y} if isinstance(y, list | tuple) else set()
    if len(kinds) > 1 and not all(map(_is_number, y)):
        array = as_they_are(y)
        _refuse_sets(array)
        return array
    try:
        array = np.asarray(y)
    except ValueError:  # rows of several lengths
        raise BadInput(f"y has rows of several labels; {SEVERAL}") from None
    if array.dtype.kind == "f" and kinds - {float} and any(map(_is_long, y)):
        return as_they_are(y)
    if array.dtype == object:
        _refuse_sets(array)
    return array


def _refuse_sets(labels: np.ndarray) -> None:
    """What holds several labels is none. (A tuple may be one.)"""
    for kind in {type(label) for label in labels.flat}:
        if issubclass(kind, list | Set | Mapping):
            raise BadInput(f"y has a {kind.__name__} for a label; wanted one label a row; {SEVERAL}")


def is_marks(entries: np.ndarray) -> bool:
    """Are they all 0 or 1? (NumPy's isin takes three times as long.)"""
    return not bool(((entries != 0) & (entries != 1)).any())


def as_they_are(labels: Any) -> np.ndarray:
    """An array of objects."""
    array = np.empty(len(labels), object)
    array[:] = labels
    return array


def _is_number(label: object) -> bool:
    return isinstance(label, bool | int | float | np.number | np.bool_) and not isinstance(
        label, np.timedelta64
    )


def _is_long(label: Any) -> bool:
    """A whole number that a float may not hold."""
    return isinstance(label, int | np.integer) and abs(int(label)) >= EXACT


def distinct(y: np.ndarray) -> list[Any]:
    """The labels of an array, in order."""
    if y.dtype.kind in "biuf" and y.dtype.itemsize <= 8:
        room = np.empty(32)
        numbers = y.astype(np.float64, copy=False)
        count = find_distinct(numbers, room)
        if count >= 0 and np.abs(room[:count]).max(initial=0) < EXACT:
            return list(room[:count].astype(y.dtype).tolist())
    if y.dtype.kind in "biufUSmM":
        return items(np.unique(y))
    return in_order([unwrapped(label) for label in items(y)])


def items(labels: Any) -> list[Any]:
    """Labels one by one, those of NumPy as Python's; dates stay NumPy's, whose units Python has not."""
    if isinstance(labels, np.ndarray) and labels.dtype.kind not in "mM":
        return list(labels.tolist())
    return list(labels)


def unwrapped(label: object) -> Any:
    """A label as it is kept."""
    dated = isinstance(label, np.datetime64 | np.timedelta64)
    return label.item() if isinstance(label, np.generic) and not dated else label


def _as_numbers(known: list[Any]) -> np.ndarray | None:
    if not known or not all(map(_is_number, known)) or any(abs(label) >= EXACT for label in known):
        return None
    return np.array(known, float)


def shortened(known: list[Any]) -> str:
    """The first few labels, for a message."""
    text = ", ".join(shown(label, 30) for label in known[:6])
    return f"[{text}{', ...' if len(known) > 6 else ''}]"
