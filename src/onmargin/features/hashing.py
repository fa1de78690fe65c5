"""Names of features as columns: MurmurHash3, and the names that were hashed, to be shown."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterable, Mapping
from numbers import Integral

import numpy as np

from ..errors import BadInput, require_whole, shown
from .scanning.murmur import enter_new, hash_slices, place_hashes
from .texts import Texts

MOST_BITS = 30
MOST_NAMES = 2**20


def require_bits(bits: object) -> int:
    """Columns are 0 .. 2^bits - 1."""
    if not isinstance(bits, Integral) or isinstance(bits, bool) or not 1 <= int(bits) <= MOST_BITS:
        raise BadInput(f"bits={shown(bits)}; wanted a whole number from 1 to {MOST_BITS}")
    return int(bits)


def hashes(names: Iterable[str] | Texts, seed: int = 0) -> np.ndarray:
    """MurmurHash3 (x86, 32 bits) of the UTF-8 bytes of each name, as uint32: the same on every machine.

    Equal to scikit-learn's `murmurhash3_32(name, seed, positive=True)`.

    >>> from onmargin.features.hashing import hashes
    >>> hashes(["", "colour=red"]).tolist()
    [0, 511943297]
    """
    texts = Texts.of(names)
    out = np.empty(len(texts), np.uint32)
    hash_slices(texts.buffer, texts.starts, texts.stops, int(seed), out)
    return out


def columns(hashed: np.ndarray, bits: int) -> np.ndarray:
    """The columns of hashes: |h| modulo 2^bits, h read as a signed number, as scikit-learn's hashers do.

    So `Text(bits=b)` and `HashingVectorizer(n_features=2**b, alternate_sign=False)` give the same matrix.

    >>> from onmargin.features.hashing import columns, hashes
    >>> columns(hashes(["colour=red"]), 18).tolist()
    [238209]
    """
    out = np.empty(len(hashed), np.int32)
    place_hashes(np.ascontiguousarray(hashed, np.uint32), 2 ** require_bits(bits) - 1, out)
    return out


class Names:
    """The names behind hashed columns: what is shown of a model, and how many names share a column.

    bits : columns are 0 .. 2^bits - 1.
    most : names to be kept at most; later ones are counted (`left_out`), not kept.

    Two names with the same 32 bits are taken for one (the first).

    >>> from onmargin.features.hashing import Names
    >>> names = Names(bits=3)
    >>> names.add(["red", "green", "blue", "red"])
    >>> len(names), names.collisions
    (3, 0)
    >>> names[5]
    ('blue',)
    """

    def __init__(self, bits: int = 18, most: int = MOST_NAMES) -> None:
        require_whole("most", most)
        self.bits, self.most = require_bits(bits), int(most)
        self.names: list[str] = []
        self._hashed = array("I")  # of each name
        self.left_out = 0
        self._table = np.full(1 << 10, -1, np.int64)
        self._by_column: dict[int, tuple[str, ...]] | None = None

    def __len__(self) -> int:
        return len(self.names)

    def add(self, names: Iterable[str] | Texts) -> None:
        """Keep names; those known already are let go."""
        texts = Texts.of(names)
        self.add_hashed(texts, hashes(texts))

    def add_hashed(self, names: Texts, hashed: np.ndarray) -> None:
        """Keep names with hashes of their own kind (another seed): only new ones become strings."""
        new = np.empty(len(hashed), np.int64)
        count = enter_new(self.room(len(hashed)), np.ascontiguousarray(hashed, np.uint32), new)
        if count:
            self.note(names.take(new[:count]), hashed[new[:count]])

    def room(self, count: int) -> np.ndarray:
        """The open table of hashes, with places for so many more; who enters some must `note` them."""
        entered = len(self) + self.left_out
        if 2 * (entered + count) > self._table.size:
            hashed = self._table[self._table >= 0].astype(np.uint32)
            self._table = np.full(1 << (4 * (entered + count)).bit_length(), -1, np.int64)
            enter_new(self._table, hashed, np.empty(len(hashed), np.int64))
        return self._table

    def note(self, names: Texts, hashed: np.ndarray) -> None:
        """Keep names that a loop has just entered into the table."""
        fit = max(0, self.most - len(self))
        self.names += names[:fit].strings()
        self._hashed.frombytes(hashed[:fit].astype(np.uint32).tobytes())
        self.left_out += max(0, len(hashed) - fit)
        self._by_column = None

    @property
    def hashed(self) -> np.ndarray:
        """The hash of each name."""
        return np.array(self._hashed, np.uint32)

    @property
    def collisions(self) -> int:
        """How many of the names kept share their column with an earlier one."""
        return len(self) - len(np.unique(columns(self.hashed, self.bits)))

    def _found(self) -> dict[int, tuple[str, ...]]:
        if self._by_column is None:
            found: dict[int, tuple[str, ...]] = {}
            for name, column in zip(self.names, columns(self.hashed, self.bits).tolist(), strict=True):
                found[column] = (*found.get(column, ()), name)
            self._by_column = found
        return self._by_column

    def __getitem__(self, column: int) -> tuple[str, ...]:
        """The names of a column, in order of appearance; none where nothing was kept."""
        return self._found().get(int(column), ())

    def labels(self) -> np.ndarray:
        """One label for every column: its names, "one | other" where they share it, "#17" for none."""
        made = np.array([f"#{column}" for column in range(2**self.bits)], object)
        for column, names in self._found().items():
            made[column] = " | ".join(names)
        return distinct(made)

    # ---- for files

    def state(self) -> dict[str, object]:
        """Numbers and arrays that `from_state` makes the same table of."""
        texts = Texts.of(self.names)
        return {
            "bits": self.bits, "most": self.most, "left_out": self.left_out, "hashed": self.hashed,
            "letters": texts.buffer.copy(), "stops": texts.stops,
        }  # fmt: skip

    @classmethod
    def from_state(cls, state: Mapping[str, object]) -> Names:
        """The table again; what does not fit is refused."""
        made = cls(require_bits(state["bits"]), _whole("most", state["most"]))
        stops, hashed = np.asarray(state["stops"], np.int64), np.asarray(state["hashed"], np.uint32)
        texts = Texts(
            np.asarray(state["letters"], np.uint8), np.r_[0, stops[:-1]] if len(stops) else stops, stops
        )
        if len(texts) != len(hashed) or len(texts) > made.most:
            raise BadInput(
                f"{len(texts)} names for {len(hashed)} hashes; wanted one each, and {made.most} at most"
            )
        made.add_hashed(texts, hashed)
        if len(made) != len(texts):
            raise BadInput(f"{len(texts)} names, but {len(made)} different hashes; wanted each name once")
        made.left_out = _whole("left_out", state["left_out"])
        return made


def distinct(labels: np.ndarray) -> np.ndarray:
    """Labels, with their place behind those that several have: no two are alike."""
    while len(set(labels.tolist())) < len(labels):
        often = {label for label, count in Counter(labels.tolist()).items() if count > 1}
        again = [f"{label} #{at}" if label in often else label for at, label in enumerate(labels.tolist())]
        labels = np.array(again, object)
    return labels


def _whole(name: str, value: object) -> int:
    if not isinstance(value, Integral) or isinstance(value, bool) or not 0 <= int(value) < 2**62:
        raise BadInput(f"{name}={shown(value)}; wanted a whole number")
    return int(value)
