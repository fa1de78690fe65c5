"""Texts as hashed rows: words or characters, their n-grams, weighted; tokens are scikit-learn's."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from numbers import Integral
from typing import NamedTuple, Self, cast

import numpy as np
import scipy.sparse as sp

from ..errors import BadInput, shown
from .characters import kinds, letters
from .hashing import Names, require_bits
from .matrices import read_only
from .scanning.tokens import DIGIT, find_beyond_ascii, hash_texts
from .scanning.weighing import weigh_counts
from .steps import FeatureStep, State
from .texts import Texts

CUTS = ("word", "char", "char_wb")  # in the order of the loop's codes
WEIGHTINGS = ("binary", "tf", "log")
BLOCK = 1 << 18  # bytes of text hashed at a time
NO_TABLE = np.full(1, -1, np.int64)


class Counts(NamedTuple):
    """How often each column is in each row, as CSR holds it."""

    columns: np.ndarray
    values: np.ndarray
    bounds: np.ndarray


class Text(FeatureStep):
    r"""Texts to rows: n-grams of words or characters, each hashed to one of 2^bits columns.

    analyzer : "word" (runs of two letters, digits or _ and more), "char" (characters, across words) or
        "char_wb" (characters within words, with a space at both ends).
    ngram_range : the smallest and the largest n.
    lowercase : as `str.lower` does, whatever the language.
    bits : 2^bits columns; `MurmurHash3(n-gram) ` as scikit-learn places it.
    weighting : "tf" (how often), "binary" (1) or "log" (1 + ln(how often)).
    idf : rare n-grams count more: times 1 + ln((1 + N) / (1 + n)), of N rows met so far n with the column.
    norm : "l2" (rows of length 1) or None.
    names : keep the n-grams met by `fit` and `partial_fit` (2^20 at most), so that `om.top_features` and
        `om.explain` say them; `names_.collisions` is how many share a column with another.

    Without `idf` and `names` nothing is learned and `fit` only looks at the parameters. The matrix is that of
    HashingVectorizer(n_features=2**bits, alternate_sign=False), tokens and all, made several times faster.
    Takes a list of texts (or `Texts`), gives CSR in order.

    >>> import onmargin as om
    >>> text = om.features.Text(bits=10, norm=None, names=True)
    >>> X = text.fit_transform(["Cheap pills, CHEAP!", "lunch at noon"])
    >>> X.shape, X.nnz
    ((2, 1024), 5)
    >>> {text.names_[column][0]: float(x) for column, x in zip(X[0].indices, X[0].data)}
    {'pills': 1.0, 'cheap': 2.0}
    """

    def __init__(
        self,
        *,
        analyzer: str = "word",
        ngram_range: tuple[int, int] = (1, 1),
        lowercase: bool = True,
        bits: int = 18,
        weighting: str = "tf",
        idf: bool = False,
        norm: str | None = "l2",
        names: bool = False,
    ) -> None:
        self.analyzer, self.ngram_range, self.lowercase, self.bits = analyzer, ngram_range, lowercase, bits
        self.weighting, self.idf, self.norm, self.names = weighting, idf, norm, names

    # ---- rows

    @property
    def is_fixed(self) -> bool:
        """Nothing is learned: a cache may keep the rows."""
        return not self.idf and not self.names

    def transform(self, X: object) -> sp.csr_matrix:
        """CSR of the texts (a list, a column of a frame, `Texts`), one row each."""
        self._check()
        return self._weighed(self._counted(X, None))

    def partial_fit(self, X: object, y: object = None) -> Self:
        """Go on counting rows and keeping names."""
        self._check()
        if self.idf or self.names:
            self._learned(X)
        return self

    def partial_fit_transform(self, X: object, y: object = None) -> sp.csr_matrix:
        """`partial_fit`, then `transform`, reading the texts once."""
        self._check()
        return self._weighed(self._learned(X))

    def fit_transform(self, X: object, y: object = None, **given: object) -> sp.csr_matrix:
        """`fit`, then `transform`, reading the texts once."""
        return self.fit([]).partial_fit_transform(X)

    def _learned(self, X: object) -> Counts:
        bits = int(self.bits)
        kept: Names | None = None
        if self.names:
            kept = cast(Names, getattr(self, "names_", None) or Names(bits))
        counts = self._counted(X, kept)
        if kept is not None:
            self.names_ = kept
        if self.idf:
            self.met_ = getattr(self, "met_", np.zeros(2**bits, np.int64))
            np.add.at(self.met_, counts.columns, 1)
            self.rows_met_ = getattr(self, "rows_met_", 0) + len(counts.bounds) - 1
        return counts

    def _counted(self, X: object, kept: Names | None) -> Counts:
        """Columns and counts, block by block; `kept` gets the n-grams that it has not met."""
        texts, checked = self._texts(X)
        found = [
            self._hashed(block, kept)
            for block in self._blocks(texts, checked, BLOCK if kept is None else BLOCK // 4)
        ]
        if len(found) == 1:
            return found[0]
        columns, values, sizes = (
            np.concatenate(parts) if parts else np.empty(0, kind)
            for parts, kind in (
                ([one.columns for one in found], np.int32), ([one.values for one in found], np.float64),
                ([np.diff(one.bounds) for one in found], np.int64),
            )
        )  # fmt: skip
        return Counts(columns, values, np.r_[0, np.cumsum(sizes)])

    def _texts(self, X: object) -> tuple[Texts, bool]:
        """All texts, and whether they are in lower case beyond ASCII and known to be UTF-8."""
        if isinstance(X, Texts):
            return X, False
        given = list(cast(Iterable[str], X)) if isinstance(X, tuple | list) else X
        if isinstance(given, list) and self.lowercase:
            given = [text.lower() if isinstance(text, str) and not text.isascii() else text for text in given]
        elif hasattr(given, "to_list"):  # a column of a frame
            return self._texts(given.to_list())
        return Texts.of(cast(Iterable[str], given)), isinstance(given, list) or not self.lowercase

    def _blocks(self, texts: Texts, checked: bool, size: int) -> Iterator[tuple[Texts, bool]]:
        """Some texts at a time, and whether they are ASCII alone."""
        low, high = self.ngram_range
        sizes = np.cumsum(texts.stops - texts.starts) if len(texts) else np.zeros(1, np.int64)
        step, first = max(size // (int(high) - int(low) + 1), 1 << 12), 0
        while first < len(texts):
            before = int(sizes[first - 1]) if first else 0
            stop = max(int(np.searchsorted(sizes, before + step, "right")), first + 1)
            block, first = texts[first:stop], stop
            beyond = np.empty(len(block), np.bool_)
            count = find_beyond_ascii(block.buffer, block.starts, block.stops, beyond)
            if count and not checked:
                strings = block.strings()
                block = Texts.of([text.lower() for text in strings] if self.lowercase else strings)
            yield block, not count

    def _hashed(self, given: tuple[Texts, bool], kept: Names | None) -> Counts:
        block, plain = given
        (low, high), bits = self.ngram_range, int(self.bits)
        cut = CUTS.index(self.analyzer)
        lengths = block.stops - block.starts
        spread = (1, 1, 2)[cut]  # units, and bytes of them, for each byte
        longest, whole = (int(spread * size + 2) for size in (lengths.max(), lengths.sum() + len(block)))
        orders = min(int(high) - int(low) + 1, longest)
        most = orders * (
            whole if cut else whole // 3 + len(block)
        )  # n-grams: a word has two letters, and a gap
        columns, values = np.empty(most, np.int32), np.empty(most)
        found, spare = np.empty((2, longest * orders), np.int32)
        begins, ends = np.empty((2, longest), np.int64)
        bounds = np.empty(len(block) + 1, np.int64)
        scratch = np.empty((whole if kept is not None else longest) + 4, np.uint8)
        table = NO_TABLE if kept is None else kept.room(most)
        new = np.empty((3, most if kept is not None else 0), np.int64)
        count = hash_texts(
            block.buffer, block.starts, block.stops, kinds(not plain), letters(bool(self.lowercase), not cut),
            cut, int(low), int(high), bits, scratch, begins, ends, found, spare,
            np.empty(2**DIGIT + 1, np.int64), columns, values, bounds, table, new,
        )  # fmt: skip
        if kept is not None and count:
            kept.note(Texts(scratch, new[0, :count], new[1, :count]), new[2, :count])
        used = int(bounds[-1])
        return Counts(columns[:used].copy(), values[:used].copy(), bounds)

    def _weighed(self, counts: Counts) -> sp.csr_matrix:
        columns, values, bounds = counts
        met = getattr(self, "met_", None) if self.idf else None
        weigh_counts(
            columns, values, bounds, WEIGHTINGS.index(self.weighting), float(getattr(self, "rows_met_", 0)),
            read_only(NO_TABLE if met is None else met), self.norm is not None,
        )  # fmt: skip
        if len(columns) < 2**31:
            bounds = bounds.astype(np.int32)
        else:
            columns = columns.astype(np.int64)
        made = sp.csr_matrix((len(bounds) - 1, 2 ** int(self.bits)), dtype=np.float64)
        made.data, made.indices, made.indptr = values, columns, bounds
        made.has_canonical_format = True
        return made

    # ---- names and files

    def get_feature_names_out(self, input_features: object = None) -> np.ndarray:
        """The n-grams of every column ("#17" where none was met), with `names=True` after a fit."""
        if not hasattr(self, "names_"):
            raise AttributeError("the n-grams were not kept; give names=True and fit")
        return self.names_.labels()

    def width(self) -> int:
        """2^bits."""
        return 1 << int(self.bits)

    def state(self) -> State:
        """Parameters, rows met, names."""
        found: State = {"parameters": self.get_params(deep=False)}
        if hasattr(self, "met_"):
            found |= {"rows_met": self.rows_met_, "met": self.met_}
        if hasattr(self, "names_"):
            found["names"] = self.names_.state()
        return found

    @classmethod
    def from_state(cls, state: Mapping[str, object]) -> Self:
        """The same again."""
        parameters = state.get("parameters")
        if not isinstance(parameters, Mapping) or parameters.keys() != cls().get_params().keys():
            raise BadInput(f"the parameters of a {cls.__name__} are {shown(parameters)}")
        made = cls(**parameters)
        made._check()
        if state.keys() - {"parameters", "rows_met", "met", "names"}:
            raise BadInput(f"a {cls.__name__} does not find {shown([*state])}")
        if "met" in state:
            met, rows = np.array(state["met"]), state.get("rows_met")
            if met.dtype != np.int64 or met.shape != (2 ** int(made.bits),) or not isinstance(rows, Integral):
                raise BadInput("the rows met of each column are not one whole number for each")
            if not 0 <= int(met.min()) <= int(met.max()) <= int(rows):
                raise BadInput("more rows were met with a column than were met")
            made.met_, made.rows_met_ = met, int(rows)
        if "names" in state:
            made.names_ = Names.from_state(cast(Mapping[str, object], state["names"]))
            if made.names_.bits != made.bits:
                raise BadInput(f"names of {made.names_.bits} bits in a {cls.__name__} of {made.bits}")
        return made

    # ---- parameters

    def _check(self) -> None:
        """Refuse parameters that are none, and those changed since the first data where they may not be."""
        for name, value, options in (
            ("analyzer", self.analyzer, CUTS), ("weighting", self.weighting, WEIGHTINGS),
            ("norm", self.norm, ("l2", None)), ("lowercase", self.lowercase, (True, False)),
            ("idf", self.idf, (True, False)), ("names", self.names, (True, False)),
        ):  # fmt: skip
            if not isinstance(value, str | bool | None) or value not in options:
                raise BadInput(f"{name}={shown(value)}; wanted one of {', '.join(map(repr, options))}")
        require_bits(self.bits)
        pair = self.ngram_range
        fits = (
            isinstance(pair, tuple | list) and len(pair) == 2 and all(isinstance(n, Integral) for n in pair)
        )
        if not fits or not 1 <= pair[0] <= pair[1]:
            raise BadInput(f"ngram_range={shown(pair)}; wanted (least, most), whole numbers from 1 on")
        learned = [len(self.met_)] if hasattr(self, "met_") else []
        learned += [2**self.names_.bits] if hasattr(self, "names_") else []
        if learned and learned[0] != 2 ** int(self.bits):
            raise BadInput(f"bits={self.bits}, but it has learned with others; fit it again")

    def __sklearn_tags__(self) -> object:
        tags = super().__sklearn_tags__()
        tags.input_tags.string, tags.input_tags.two_d_array = True, False
        tags.requires_fit = False
        return tags
