"""Tables as rows: numbers standardised as they come, categories one-hot by name, texts, interactions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Self, cast

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone

from ..errors import BadInput, shown, warn
from .crossing import Factor, Feature, crossed
from .frames import CATEGORY, KINDS, NUMBER, TEXT, Columns
from .hashing import Names, columns, distinct, hashes, require_bits
from .moments import Moments
from .slots import Slots
from .steps import FeatureStep, State
from .text import Text
from .texts import Texts


class Table(FeatureStep):
    r"""Frames (pandas, polars), Arrow tables, 2-D arrays or lists of dicts to rows of numbers.

    kinds : {column: "number", "category", "text" or "drop"}; what is not named is found from the first data:
        types of numbers are numbers; strings of three words or more, in most rows, are texts; other
        strings and truths are categories.
    scale : numbers as (x - mean) / deviation of all that were met so far; False: as they are.
    bits : categories and interactions are hashed to 2^bits columns; None: each gets the next column when it
        is first met (a vocabulary that grows: learners with growing=True follow it).
    interactions : groups of columns, as in [("colour", "size"), ("age", "colour")]: one feature for each
        combination of words, times the product of the numbers.
    text : a `Text` for the columns of texts, each of which gets columns of its own; None: Text().

    A row has, in this order: the numbers and the interactions of numbers alone (a column each), the texts,
    then categories and other interactions by name ("colour=red", "age*colour=red"). Where there are only
    numbers it is an array, otherwise CSR.

    Missing (None, NaN, null, a key that a dict has not) is: of numbers the mean so far (0 when scaled); of
    categories and texts nothing at all; an interaction with something missing is left out. Words never met
    are fine. A column that was not in the first data is left out, with a warning.

    Means and deviations are merged block by block (`Moments`), the same however the blocks were cut; before
    any data numbers pass as they are. `fit` and `partial_fit` learn, `transform` does not.

    >>> import onmargin as om
    >>> rows = [{"age": 20, "colour": "red"}, {"age": 40, "colour": "blue"}, {"age": None, "colour": "red"}]
    >>> table = om.features.Table(bits=None).fit(rows)
    >>> table.get_feature_names_out().tolist()
    ['age', 'colour=red', 'colour=blue']
    >>> table.transform(rows).toarray()
    array([[-1.,  1.,  0.],
           [ 1.,  0.,  1.],
           [ 0.,  1.,  0.]])
    """

    def __init__(
        self,
        *,
        kinds: Mapping[str, str] | None = None,
        scale: bool = True,
        bits: int | None = 18,
        interactions: Sequence[Sequence[str]] = (),
        text: Text | None = None,
    ) -> None:
        self.kinds, self.scale, self.bits, self.interactions = kinds, scale, bits, interactions
        self.text = text

    # ---- learning

    def partial_fit(self, X: object, y: object = None) -> Self:
        """Go on: means and deviations, names, what the texts count."""
        self._check()
        raw = Columns(X)
        if not raw.rows and not hasattr(self, "columns_"):
            return self
        kinds = self._kinds(raw)
        numbers = self._numbers(raw, kinds)
        before = getattr(self, "moments_", None)
        moments = Moments.from_state(
            before.state() if before else Moments(numbers.shape[1]).state(), numbers.shape[1]
        )
        moments.add(numbers, _of(kinds, NUMBER))
        features = self._features(raw, kinds, self._scaled(numbers, moments))
        texts = {name: Texts.of(raw.texts(name)) for name in _of(kinds, TEXT)}
        # all of it was read: from here on nothing is refused
        self._warn_of_others(raw, kinds)
        self.columns_, self.moments_ = kinds, moments
        self.texts_ = getattr(self, "texts_", {name: self._text() for name in texts})
        for name, held in texts.items():
            self.texts_[name].partial_fit(held)
        names = [name for feature in features for name in feature.names]
        if self.bits is None:
            self.vocabulary_ = self._vocabulary()
            for name in names:
                self.vocabulary_.add(name)
        elif self._is_sparse(kinds):
            self.names_ = getattr(self, "names_", None) or Names(int(self.bits))
            self.names_.add(names)
        return self

    def _kinds(self, raw: Columns) -> dict[str, str]:
        """Of every column: as it was at first, as it is given, or as it seems."""
        if hasattr(self, "columns_"):
            known: dict[str, str] = self.columns_
            return known
        given = dict(self.kinds or {})
        found = {name: given[name] if name in given else raw.kind(name) for name in [*raw.columns]}
        found |= {name: kind for name, kind in given.items() if name not in found}
        for name in [name for group in self.interactions for name in group]:
            if found.get(name, TEXT) not in (NUMBER, CATEGORY):
                said = f"is of kind {found[name]!r}" if name in found else "is not there"
                raise BadInput(f"interactions has {name!r}, which {said}; wanted numbers and categories")
        return found

    def _warn_of_others(self, raw: Columns, kinds: Mapping[str, str]) -> None:
        others = [name for name in raw.columns if name not in kinds and name not in self._told()]
        if others:
            self._told().update(others)
            more = f" and {len(others) - 1} more" if len(others) > 1 else ""
            warn(
                f"the column {others[0]!r}{more} was not in the first data and is left out; fit anew with it",
                UserWarning,
            )

    def _told(self) -> set[str]:
        if "_left_out" not in vars(self):
            self._left_out: set[str] = set()
        return self._left_out

    # ---- rows

    def transform(self, X: object) -> sp.csr_matrix | np.ndarray:
        """CSR, or an array where all columns are numbers."""
        self._check()
        raw = Columns(X)
        kinds = self._kinds(raw)
        self._warn_of_others(raw, kinds)
        numbers = self._numbers(raw, kinds)
        moments = getattr(self, "moments_", None) or Moments(numbers.shape[1])
        filled = moments.scaled(numbers) if self.scale else moments.filled(numbers)
        known = self._scaled(numbers, moments)
        at = {name: column for column, name in enumerate(_of(kinds, NUMBER))}
        products = [
            np.nan_to_num(known[:, [at[name] for name in group]].prod(axis=1))
            for group in self._plain_groups(kinds)
        ]
        dense = np.column_stack([filled, *products]) if products else filled
        if not self._is_sparse(kinds):
            return np.ascontiguousarray(dense)
        texts = getattr(self, "texts_", None) or {name: self._text() for name in _of(kinds, TEXT)}
        blocks = [texts[name].transform(raw.texts(name)) for name in _of(kinds, TEXT)]
        named = self._one_hot(self._features(raw, kinds, known), raw.rows)
        made = sp.hstack([sp.csr_matrix(dense), *blocks, named], format="csr")
        return sp.csr_matrix(made)

    def _scaled(self, numbers: np.ndarray, moments: Moments) -> np.ndarray:
        """Numbers as interactions have them: NaN where one is missing."""
        if not self.scale:
            return numbers
        return np.where(np.isnan(numbers), np.nan, moments.scaled(numbers))

    def _numbers(self, raw: Columns, kinds: Mapping[str, str]) -> np.ndarray:
        found = [raw.numbers(name) for name in _of(kinds, NUMBER)]
        return np.column_stack(found) if found else np.empty((raw.rows, 0))

    def _plain_groups(self, kinds: Mapping[str, str]) -> list[Sequence[str]]:
        """Interactions of numbers alone."""
        return [group for group in self.interactions if all(kinds[name] == NUMBER for name in group)]

    def _features(self, raw: Columns, kinds: Mapping[str, str], numbers: np.ndarray) -> list[Feature]:
        """Categories, and interactions that have one."""
        groups: list[tuple[str, ...]] = [(name,) for name in _of(kinds, CATEGORY)]
        plain = self._plain_groups(kinds)
        groups += [tuple(group) for group in self.interactions if group not in plain]
        used = dict.fromkeys(name for group in groups for name in group)
        at = {name: column for column, name in enumerate(_of(kinds, NUMBER))}
        factors = {
            name: Factor(name, numbers[:, at[name]] if name in at else raw.words(name)) for name in used
        }
        return [crossed([factors[name] for name in group]) for group in groups]

    def _one_hot(self, features: list[Feature], rows: int) -> sp.csr_matrix:
        """A feature a row and column, those of one name added."""
        slots = self._vocabulary()
        width = len(slots) if self.bits is None else 2 ** int(self.bits)
        places, values = np.full((rows, len(features)), -1, np.int64), np.zeros((rows, len(features)))
        for number, feature in enumerate(features):
            if self.bits is None:
                column = np.array([*map(slots.get, feature.names, [-1] * len(feature.names))], np.int64)
            else:
                column = columns(hashes(feature.names), int(self.bits)).astype(np.int64)
            places[:, number] = np.r_[column, -1][feature.codes]
            values[:, number] = feature.values
        there = places >= 0
        bounds = np.r_[0, np.cumsum(there.sum(axis=1))]
        made = sp.csr_matrix((values[there], places[there], bounds), shape=(rows, width))
        made.sum_duplicates()
        return made

    def _is_sparse(self, kinds: Mapping[str, str]) -> bool:
        return any(kind in (TEXT, CATEGORY) for kind in kinds.values())

    def _vocabulary(self) -> Slots:
        found: Slots = getattr(self, "vocabulary_", None) or Slots()
        return found

    def _text(self) -> Text:
        made: Text = Text() if self.text is None else clone(self.text)
        return made

    # ---- names and files

    def get_feature_names_out(self, input_features: object = None) -> np.ndarray:
        """One for every column, in their order; of texts "column: n-gram", where `Text` keeps names."""
        if not hasattr(self, "columns_"):
            raise AttributeError("the columns are not known before the first data; fit it")
        names = [*_of(self.columns_, NUMBER), *map("*".join, self._plain_groups(self.columns_))]
        parts = [np.array(names, object)]
        for name, text in self.texts_.items():
            kept = hasattr(text, "names_")
            inner = text.get_feature_names_out() if kept else [f"#{at}" for at in range(2 ** int(text.bits))]
            parts.append(np.array([f"{name}: {one}" for one in inner], object))
        if self.bits is None:
            parts.append(np.array([*self.vocabulary_], object))
        elif hasattr(self, "names_"):
            parts.append(self.names_.labels())
        return distinct(np.concatenate(parts))

    def width(self) -> int | None:
        """Not known before the first data."""
        if not hasattr(self, "columns_"):
            return None
        named = self._is_sparse(self.columns_)
        last = len(self._vocabulary()) if self.bits is None else int(named) << int(self.bits)
        numbers = len(_of(self.columns_, NUMBER)) + len(self._plain_groups(self.columns_))
        texts: list[int] = [text.width() for text in self.texts_.values()]
        return numbers + sum(texts) + last

    def state(self) -> State:
        """Parameters, kinds, moments, names, texts."""
        given = self.get_params(deep=False)
        given["text"] = None if self.text is None else self.text.state()
        given["kinds"] = None if self.kinds is None else dict(self.kinds)
        found: State = {"parameters": given}
        if hasattr(self, "columns_"):
            found |= {"columns": list(self.columns_), "kinds": list(self.columns_.values())}
            found |= {"moments": self.moments_.state()}
            found["texts"] = {f"{at}": text.state() for at, text in enumerate(self.texts_.values())}
        if hasattr(self, "vocabulary_"):
            found["vocabulary"] = list(self.vocabulary_)
        if hasattr(self, "names_"):
            found["names"] = self.names_.state()
        return found

    @classmethod
    def from_state(cls, state: Mapping[str, object]) -> Self:
        """The same again."""
        given = state.get("parameters")
        if not isinstance(given, Mapping) or given.keys() != cls().get_params().keys():
            raise BadInput(f"the parameters of a {cls.__name__} are {shown(given)}")
        inner = None if given["text"] is None else Text.from_state(given["text"])
        made = cls(**{**given, "text": inner})
        made._check()
        found = ("parameters", "columns", "kinds", "moments", "texts", "vocabulary", "names")
        if state.keys() - set(found) or ("columns" not in state and len(state) > 1):
            raise BadInput(f"a {cls.__name__} does not find {shown([*state])}")
        if "columns" in state:
            made._restore(state)
        return made

    def _restore(self, state: Mapping[str, object]) -> None:
        names, kinds = _names(state["columns"]), state.get("kinds")
        if not isinstance(kinds, list) or len(names) != len(kinds):
            raise BadInput("the columns of the table and their kinds do not fit each other")
        self.columns_ = dict(zip(names, kinds, strict=True))
        if any(kind not in KINDS for kind in kinds):
            raise BadInput(f"the kinds of columns are {shown(kinds)}; wanted some of {', '.join(KINDS)}")
        for name in [name for group in self.interactions for name in group]:
            if self.columns_.get(name) not in (NUMBER, CATEGORY):
                raise BadInput(f"interactions has {name!r}, which is no column of numbers or words")
        numbers, texts = len(_of(self.columns_, NUMBER)), _of(self.columns_, TEXT)
        self.moments_ = Moments.from_state(cast(Mapping[str, object], state["moments"]), numbers)
        held = state["texts"]
        if not isinstance(held, Mapping) or [*held] != [f"{at}" for at in range(len(texts))]:
            raise BadInput("the texts of the table are not one for each column of texts")
        self.texts_ = {name: Text.from_state(one) for name, one in zip(texts, held.values(), strict=True)}
        if self.bits is None:
            self.vocabulary_ = Slots(_names(state.get("vocabulary")))
        elif "names" in state:
            self.names_ = Names.from_state(cast(Mapping[str, object], state["names"]))
            if self.names_.bits != self.bits:
                raise BadInput(f"names of {self.names_.bits} bits in a table of {self.bits}")

    # ---- parameters

    def _check(self) -> None:
        """Refuse parameters that are none, and bits that were others at the first data."""
        if not isinstance(self.scale, bool):
            raise BadInput(f"scale={shown(self.scale)}; wanted True or False")
        if self.bits is not None:
            require_bits(self.bits)
        if self.text is not None and not isinstance(self.text, Text):
            raise BadInput(f"text={shown(self.text)}; wanted a Text, or None")
        kinds = {} if self.kinds is None else self.kinds
        if not isinstance(kinds, Mapping) or any(kind not in KINDS for kind in kinds.values()):
            raise BadInput(f"kinds={shown(kinds)}; wanted {{column: one of {', '.join(map(repr, KINDS))}}}")
        groups = self.interactions
        if not isinstance(groups, list | tuple) or not all(
            isinstance(group, list | tuple)
            and len(group) > 1
            and all(isinstance(name, str) for name in group)
            for group in groups
        ):
            raise BadInput(f"interactions={shown(groups)}; wanted groups of columns, as in [('a', 'b')]")
        learned = getattr(self, "names_", None)
        if hasattr(self, "columns_") and (learned.bits if learned else self.bits) != self.bits:
            raise BadInput(f"bits={self.bits}, but it has learned with others; fit it again")


def _of(kinds: Mapping[str, str], kind: str) -> list[str]:
    return [name for name, one in kinds.items() if one == kind]


def _names(value: object) -> list[str]:
    """Of a file: each once."""
    fits = isinstance(value, list) and all(isinstance(one, str) for one in value)
    if not fits or len(set(cast(list[str], value))) != len(cast(list[str], value)):
        raise BadInput(f"the names of a table are {shown(value)}; wanted strings, each once")
    return cast(list[str], value)
