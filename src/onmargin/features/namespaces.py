"""Vowpal Wabbit's feature text as rows: hashed words of namespaces, their values, their products."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Self, cast

import numpy as np
import scipy.sparse as sp

from ..errors import BadInput, BadType, shown
from .hashing import Names, hashes, require_bits
from .scanning.murmur import LOW, enter_new
from .scanning.namespaces import (
    FINE,
    NO_BAR,
    NO_NUMBER,
    TWO_NUMBERS,
    check_words,
    count_products,
    products,
    words,
)  # fmt: skip
from .steps import FeatureStep, State
from .texts import Texts

PIECE = 1 << 18  # bytes that are read at a time
MOST = 1 << 24  # products of one row
MOST_FACTORS = 8
KEPT = LOW >> 1  # of a hash, in the table of names
WANTED = {
    NO_BAR: "a bar: |namespace feature:value ...",
    NO_NUMBER: "a finite number (below 1e100) after the colon",
    TWO_NUMBERS: "one number after a name: feature:value",
}
ANY, LETTER, WHOLE = 0, 1, 2  # how a factor knows its namespace

Interaction = str | Sequence[str]


class Namespaces(FeatureStep):
    """Rows like `|words cheap pills:2 |sender:0.5 known` as CSR; columns are those of Vowpal Wabbit.

    bits : columns are 0 .. 2^bits - 1 (`vw -b`).
    interactions : products of features. A text of first letters, as after `vw -q` and `--interactions`: "ab"
        is every feature of namespaces that begin with a times every one of b; "aa" has each pair once and
        squares; "::" all pairs of features. A tuple of names, ("user", "item"), goes by whole names.
    names : keep the names met by `fit` and `partial_fit` ("words^pills", "a^x*b^y"; 2^20 at most), so that
        `om.top_features` and `om.explain` say them.

    A word of digits is that number (its place within the namespace), a feature without a name (`:3`) is
    counted. Words that share a column are added. Without `names` nothing is learned.

    >>> import onmargin as om
    >>> rows = om.features.Namespaces(bits=18, interactions=["ab"], names=True)
    >>> X = rows.fit_transform(["|a x:1.5 |b z:2", "| q"])
    >>> X.shape, X[0].indices.tolist(), X[0].data.tolist()
    ((2, 262144), [55432, 80151, 124687], [1.5, 3.0, 2.0])
    >>> rows.names_[80151]
    ('a^x*b^z',)
    """

    def __init__(
        self, *, bits: int = 18, interactions: Sequence[Interaction] = (), names: bool = False
    ) -> None:
        self.bits, self.interactions, self.names = bits, interactions, names

    # ---- rows

    @property
    def is_fixed(self) -> bool:
        """Nothing is learned: a cache may keep the rows."""
        return not self.names

    def transform(self, X: object) -> sp.csr_matrix:
        """CSR of the texts (a list, `Texts`), float64; a bad one is refused with its number and place."""
        return self._rows(X, None)

    def partial_fit(self, X: object, y: object = None) -> Self:
        """Go on keeping names."""
        if self.names:
            self.partial_fit_transform(X)
        else:
            self._terms()
        return self

    def partial_fit_transform(self, X: object, y: object = None) -> sp.csr_matrix:
        """`partial_fit`, then `transform`, reading the texts once."""
        if not self.names:
            return self._rows(X, None)
        known = cast("Names", getattr(self, "names_", None) or Names(require_bits(self.bits)))
        if known.bits != self.bits:
            raise BadInput(f"bits={self.bits}, but it has learned with {known.bits}; fit it again")
        rows = self._rows(X, known)
        self.names_ = known
        return rows

    def fit_transform(self, X: object, y: object = None, **given: object) -> sp.csr_matrix:
        """`fit`, then `transform`, reading the texts once."""
        return self.fit([]).partial_fit_transform(X)

    def _rows(self, X: object, known: Names | None) -> sp.csr_matrix:
        terms = self._terms()
        texts = Texts.of(cast("Texts", X))
        width = 2 ** int(self.bits)
        if known is not None:  # all are looked at before a name is kept
            _refuse(texts, slice(0, len(texts)), self.troubles(texts))
        parts = list(_parts(texts))
        room = _Room(max((_most(texts, part) for part in parts), default=0))
        read = [_Piece(texts, part, room).rows(terms, known, width - 1) for part in parts]
        if not read:
            return sp.csr_matrix((0, width))
        columns, values, lengths = (np.concatenate(part) for part in zip(*read, strict=True))
        starts = np.r_[0, np.cumsum(lengths)]
        kind = np.int64 if starts[-1] >= 2**31 else np.int32
        rows = sp.csr_matrix(
            (values, columns.astype(kind, copy=False), starts.astype(kind)), shape=(len(texts), width)
        )
        rows.sum_duplicates()
        rows.eliminate_zeros()
        if not np.isfinite(rows.data).all():
            row = int(np.searchsorted(rows.indptr, np.flatnonzero(~np.isfinite(rows.data))[0], "right")) - 1
            raise BadInput(f"row {row}: its numbers multiply beyond 1e308; wanted smaller ones")
        return rows

    def _terms(self) -> _Terms:
        """The interactions; parameters that are none are refused."""
        require_bits(self.bits)
        if not isinstance(self.names, bool):
            raise BadInput(f"names={shown(self.names)}; wanted True or False")
        return _Terms(self.interactions)

    @staticmethod
    def troubles(texts: Texts) -> np.ndarray:
        """For each row what is wrong with it (0: nothing), and at which byte of the buffer."""
        found = np.empty((len(texts), 2), np.int64)
        check_words(texts.buffer, texts.starts, texts.stops, found)
        return found

    @staticmethod
    def wanted(what: int) -> str:
        """What should have stood there."""
        return WANTED[what]

    # ---- names and files

    def get_feature_names_out(self, input_features: object = None) -> np.ndarray:
        """The names of every column ("#17" where none was met), with `names=True` after a fit."""
        if not hasattr(self, "names_"):
            raise AttributeError("the names were not kept; give names=True and fit")
        return self.names_.labels()

    def width(self) -> int:
        """2^bits."""
        return 1 << int(self.bits)

    def state(self) -> State:
        """Parameters and names."""
        found: State = {
            "parameters": {
                "bits": require_bits(self.bits), "names": bool(self.names),
                "interactions": [each if isinstance(each, str) else list(each) for each in self.interactions],
            }
        }  # fmt: skip
        if hasattr(self, "names_"):
            found["names"] = self.names_.state()
        return found

    @classmethod
    def from_state(cls, state: Mapping[str, object]) -> Self:
        """The same again."""
        given = state.get("parameters")
        if not isinstance(given, Mapping) or given.keys() != cls().get_params().keys():
            raise BadInput(f"the parameters of a {cls.__name__} are {shown(given)}")
        listed = given["interactions"]
        if not isinstance(listed, list | tuple):
            raise BadInput(f"interactions={shown(listed)}; wanted a list")
        terms = [each if isinstance(each, str) else tuple(each) for each in listed]
        made = cls(bits=given["bits"], interactions=terms, names=given["names"])
        made._terms()
        if "names" in state:
            made.names_ = Names.from_state(cast("Mapping[str, object]", state["names"]))
            if made.names_.bits != made.bits:
                raise BadInput(f"names of {made.names_.bits} bits in a {cls.__name__} of {made.bits}")
        return made

    def __sklearn_tags__(self) -> object:
        tags = super().__sklearn_tags__()
        tags.input_tags.string, tags.input_tags.two_d_array = True, False
        tags.requires_fit = False
        return tags


class _Terms:
    """Interactions as numbers: for each factor of each product, how it knows its namespace, and which."""

    def __init__(self, interactions: Sequence[Interaction]) -> None:
        if isinstance(interactions, str) or not isinstance(interactions, Sequence):
            raise BadType(f'interactions={shown(interactions)}; wanted a list, like ["ab", ("user", "item")]')
        factors: list[list[tuple[int, int]]] = []
        known = set()
        for each in interactions:
            found = [_factor(word, each) for word in each]
            if not 2 <= len(found) <= MOST_FACTORS:
                raise BadInput(f"the interaction {shown(each)}; wanted 2 to {MOST_FACTORS} namespaces")
            kinds = {kind for kind, _ in found}
            if ANY in kinds and len(kinds) > 1:
                raise BadInput(f"the interaction {shown(each)}; wanted letters, or colons only")
            key = tuple(sorted(found))
            if key not in known:  # (as vw: ab and ba are one)
                known.add(key)
                factors.append(_like_together(found))
        self.sizes = np.array([len(each) for each in factors], np.int64)
        self.most = int(self.sizes.max()) if factors else 0
        self.kinds = np.zeros((len(factors), self.most), np.int64)
        self.which = np.zeros((len(factors), self.most), np.int64)
        for row, found in enumerate(factors):
            self.kinds[row, : len(found)] = [kind for kind, _ in found]
            self.which[row, : len(found)] = [which for _, which in found]


def _factor(word: object, of: Interaction) -> tuple[int, int]:
    if not isinstance(word, str) or not word:
        raise BadInput(f"the interaction {shown(of)} has {shown(word)}; wanted names of namespaces")
    if isinstance(of, str):
        return (ANY, 0) if word == ":" else (LETTER, word.encode(errors="replace")[0])
    if word == " ":
        return WHOLE, 0
    return WHOLE, int(word) & LOW if word.isdecimal() and word.isascii() else int(hashes([word])[0])


def _like_together(factors: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Factors that are the same beside each other, else in order: pairs of one namespace are taken once."""
    return [factor for kind in dict.fromkeys(factors) for factor in factors if factor == kind]


def _parts(texts: Texts) -> Iterator[slice]:
    """Rows of together about so many bytes."""
    ends = np.cumsum(texts.stops - texts.starts)
    first = 0
    while first < len(texts):
        before = int(ends[first - 1]) if first else 0
        stop = max(first + 1, int(np.searchsorted(ends, before + PIECE, "right")))
        yield slice(first, stop)
        first = stop


def _refuse(texts: Texts, rows: slice, troubles: np.ndarray) -> None:
    """Refuse the first bad one of these rows."""
    for row in np.flatnonzero(troubles[:, 0] != FINE)[:1].tolist():
        what, at = troubles[row].tolist()
        row += int(rows.start)
        found = texts.buffer[at : int(texts.stops[row])].tobytes().decode(errors="replace")
        place = f"row {row}, column {at - int(texts.starts[row]) + 1}"
        raise BadInput(f"{place}: {shown(found, 40)}; wanted {WANTED[what]}")


def _most(texts: Texts, rows: slice) -> int:
    """Features that the rows may have: one takes two bytes."""
    starts, stops = texts.starts[rows], texts.stops[rows]
    return int((stops - starts).sum()) // 2 + len(starts) + 1


class _Room:
    """Arrays that so many features are read into, one piece after the other."""

    def __init__(self, most: int) -> None:
        self.hashed, self.spaces = np.empty((2, most), np.int64)
        self.values, self.letters = np.empty(most), np.empty(most, np.uint8)
        self.places, self.longs = np.empty((2, most, 4), np.int64)


class _Piece:
    """Some rows as read: the hash, value, namespace and name of each feature, and where rows end."""

    def __init__(self, texts: Texts, rows: slice, room: _Room) -> None:
        starts, stops = texts.starts[rows], texts.stops[rows]
        self.first, self.buffer = int(rows.start), texts.buffer
        self.hashed, self.spaces, self.values, self.letters = (
            room.hashed,
            room.spaces,
            room.values,
            room.letters,
        )
        self.places, longs = room.places, room.longs
        self.ends, troubles = np.empty(len(starts), np.int64), np.empty((len(starts), 2), np.int64)
        self.count, long = words(
            self.buffer, starts, stops, self.hashed, self.values, self.spaces, self.letters, self.places,
            self.ends, longs, troubles,
        )  # fmt: skip
        _refuse(texts, rows, troubles)
        for first, start, stop, last in longs[:long].tolist():
            self.values[first:last] *= float(self.buffer[start:stop].tobytes())

    def name(self, feature: int) -> str:
        """As `vw --audit` writes it: namespace^word."""
        start, stop, space, end = self.places[feature].tolist()
        word = self.buffer[start:stop].tobytes().decode(errors="replace")
        return f"{self.buffer[space:end].tobytes().decode(errors='replace')}^{word}" if end > space else word

    def rows(
        self, terms: _Terms, known: Names | None, mask: int
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Columns, values and how many of them each row has: its features, then its products."""
        hashed, values = self.hashed[: self.count], self.values[: self.count]
        lengths = np.diff(self.ends, prepend=0)
        if known is not None:
            _enter(known, hashed, self.name)
        if not len(terms.sizes):
            return (hashed & mask).astype(np.int32), values.copy(), lengths
        joints, data, more = self._products(terms, known)
        count = np.arange(len(lengths))
        order = np.argsort(np.r_[np.repeat(count, lengths), np.repeat(count, more)], kind="stable")
        columns = (np.r_[hashed, joints][order] & mask).astype(np.int32)
        return columns, np.r_[values, data][order], lengths + more

    def _products(self, terms: _Terms, known: Names | None) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        counts = np.empty(len(self.ends), np.int64)
        count_products(self.ends, self.letters, self.spaces, terms.kinds, terms.which, terms.sizes, counts)
        if len(counts) and counts.max() > MOST:
            row = int(counts.argmax())
            raise BadInput(
                f"row {self.first + row} makes {counts[row]} products of features; wanted {MOST} at most"
            )
        total, widest = int(counts.sum()), int(np.diff(self.ends, prepend=0).max())
        joints, data = np.empty(total, np.int64), np.empty(total)
        factors = np.full((total if known is not None else 0, terms.most), -1, np.int32)
        products(
            self.ends, self.hashed, self.values, self.letters, self.spaces, terms.kinds, terms.which,
            terms.sizes, joints, data, factors, np.empty((terms.most, widest), np.int64),
            np.empty(terms.most, np.int64), np.empty(terms.most, np.int64),
        )  # fmt: skip
        if known is not None:
            _enter(known, joints, lambda k: "*".join(self.name(f) for f in factors[k].tolist() if f >= 0))
        return joints, data, counts


def _enter(known: Names, hashed: np.ndarray, name: Callable[[int], str]) -> None:
    """Keep the names of new hashes (in 31 bits, whose column is that of the hash)."""
    kept = (hashed & KEPT).astype(np.uint32)
    new = np.empty(len(kept), np.int64)
    count = enter_new(known.room(len(kept)), kept, new)
    if count:
        known.note(Texts.of([name(k) for k in new[:count].tolist()]), kept[new[:count]])
