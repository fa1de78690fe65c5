"""The vectors a kernel learner keeps, dense or CSR as they came, and arrays that grow."""

from __future__ import annotations

import math

import numpy as np
import scipy.sparse as sp
from numpy.typing import DTypeLike

from ...kernels.sides import Known, Side, Table, gathered
from ..layout import Arrays, Layout, Misfit, Wanted, check_starts, csr, indices, lines

FLOATS = ("float64", "float32")


class Grown:
    """An array that takes lines on at its end; doubles, so that growth is cheap."""

    def __init__(self, array: np.ndarray) -> None:
        self.buffer, self.count = array, len(array)

    def __len__(self) -> int:
        return self.count

    @property
    def view(self) -> np.ndarray:
        """The lines so far."""
        return self.buffer[: self.count]

    def append(self, lines: np.ndarray, most: float = math.inf) -> None:
        """Take lines on; room is made for no more than `most`."""
        total = self.count + len(lines)
        if total > len(self.buffer):
            self.reserve(len(lines), most)
        self.buffer[self.count : total] = lines
        self.count = total

    def reserve(self, more: int, most: float = math.inf) -> None:
        """Room for so many more lines; it doubles, but for no more than `most`."""
        total = self.count + more
        if total > len(self.buffer):
            length = int(min(max(total, 2 * len(self.buffer), 64), max(most, total)))
            room = np.empty((length, *self.buffer.shape[1:]), self.buffer.dtype)  # (zeros: written twice)
            room[: self.count] = self.view
            self.buffer = room

    def copy(self) -> Grown:
        """The same lines in a place of their own."""
        return Grown(self.view.copy())

    def roomy(self) -> Grown:
        """A copy that has as much room."""
        twin = Grown(np.empty_like(self.buffer))
        twin.count = self.count
        twin.view[...] = self.view
        return twin

    def sharing(self) -> Grown:
        """The same lines in the same place; what one of the two takes on, the other does not see."""
        twin = Grown(self.buffer)
        twin.count = self.count
        return twin


class Vectors:
    """Kept vectors, in the form of the first that came: an array, or CSR. Slots are line numbers."""

    def __init__(self, dtype: DTypeLike) -> None:
        self.dtype: np.dtype = np.dtype(dtype)
        self.shift: np.ndarray | None = None
        self.ids, self.squares = Grown(np.zeros(0, np.int64)), Grown(np.zeros(0))
        self.kind: str = ""  # "dense", "sparse" or (precomputed: only numbers are kept) "numbers"
        self.width = 0

    shares = False  # its places are another's too: lines may be taken on, and none be changed

    def sharing(self) -> Vectors:
        """The same vectors in the same places, for whoever takes over from these, or is given up."""
        twin = object.__new__(Vectors)
        twin.__dict__.update({n: v.sharing() if isinstance(v, Grown) else v for n, v in vars(self).items()})
        twin.shares = True
        return twin

    def begin(self, first: Side, numbers: bool) -> None:
        """Take on the form of the first vectors seen."""
        self.kind = "numbers" if numbers else "sparse" if first.sparse else "dense"
        self.width = first.width
        if self.kind == "dense":
            self.raw = Grown(np.zeros((0, self.width), first.raw.dtype))
            self.ready = Grown(np.zeros((0, self.width), self.dtype))
        elif self.kind == "sparse":
            self.values, self.ready = Grown(np.zeros(0, first.values.dtype)), Grown(np.zeros(0, self.dtype))
            self.indices, self.starts = Grown(np.zeros(0, np.int32)), Grown(np.zeros(1, np.int64))

    def __len__(self) -> int:
        return len(self.ids)

    def like(self, side: Side) -> Side:
        """Rows that came, in the form of those kept; arrays get as many columns as either has."""
        if self.kind == "sparse" and not side.sparse:
            return Side(sp.csr_matrix(side.raw), side.ids, side.dtype, direct=side.direct)
        if self.kind != "dense":
            return side
        raw = side.dense()
        self.widen(raw.shape[1])
        if raw.shape[1] < self.width:
            raw = np.pad(raw, ((0, 0), (0, self.width - raw.shape[1])))
        return Side(raw, side.ids, side.dtype, self.shift, sparse=False)

    def widen(self, width: int) -> None:
        """More columns, of zeros."""
        if self.kind != "dense" or width <= self.width:
            self.width = max(self.width, width)
            return
        more = ((0, 0), (0, width - self.width))
        if self.shift is not None:
            self.shift = np.pad(self.shift, more[1])
        self.raw, self.ready = Grown(np.pad(self.raw.view, more)), Grown(np.pad(self.ready.view, more))
        self.width = width

    def shift_to(self, shift: np.ndarray) -> None:
        """Measure dense vectors from here."""
        self.shift = shift
        moved = Side(self.raw.view, self.ids.view, self.dtype, shift, sparse=False)
        self.ready, self.squares = Grown(moved.ready), Grown(moved.squares)

    def append(self, side: Side, most: float = math.inf) -> None:
        """Keep these; there will be no more than `most`."""
        self.ids.append(side.ids, most)
        self.squares.append(side.squares if self.kind != "numbers" else np.zeros(len(side)), most)
        if self.kind == "dense":
            self.raw.append(side.raw, most)
            self.ready.append(side.ready, most)
        elif self.kind == "sparse":
            self.width = max(self.width, side.width)
            self.values.append(side.values)
            self.ready.append(side.ready)
            self.indices.append(side.indices)
            self.starts.append(side.starts[1:] + self.starts.view[-1])

    def put(self, slots: np.ndarray, side: Side) -> None:
        """Keep these in place of others."""
        if self.shares:
            self.__dict__.update(self.copy().__dict__)
        self.ids.view[slots] = side.ids
        if self.kind != "numbers":
            self.squares.view[slots] = side.squares
        if self.kind == "dense":
            self.raw.view[slots], self.ready.view[slots] = side.raw, side.ready
        elif self.kind == "sparse":
            order = np.arange(len(self))
            order[slots] = len(self) + np.arange(len(slots))
            self.width = max(self.width, side.width)
            values = np.r_[self.values.view, side.values]
            indices = np.r_[self.indices.view, side.indices].astype(np.int32)
            starts = np.r_[self.starts.view, self.starts.view[-1] + side.starts[1:]]
            parts = gathered(values, indices, starts, order)
            self.values, self.indices = Grown(parts["values"]), Grown(parts["indices"])
            self.starts, self.ready = Grown(parts["starts"]), Grown(parts["values"].astype(self.dtype))

    def table(self) -> Table:
        """The vectors as they came: an array, or a CSR matrix."""
        if self.kind == "dense":
            return self.raw.view
        if self.kind != "sparse":
            return np.zeros((len(self), 0))
        parts = self.values.view, self.indices.view, self.starts.view
        return sp.csr_matrix(parts, shape=(len(self), self.width))

    def tile(self, first: int, stop: int, dtype: DTypeLike) -> Side:
        """Vectors first .. stop - 1, ready; in another precision than the usual one they are made so."""
        rows, usual = slice(first, stop), dtype == self.dtype
        ids, squares = self.ids.view[rows], self.squares.view[rows]
        if self.kind == "numbers":
            return Side(np.zeros((len(ids), 0)), ids, dtype)
        if self.kind == "dense":
            known: Known = {"sparse": False}
            if usual:
                known |= {"ready": self.ready.view[rows], "squares": squares}
            return Side(self.raw.view[rows], ids, dtype, self.shift, **known)
        starts = self.starts.view[first : stop + 1]
        span = slice(starts[0], starts[-1])
        known = {
            "values": self.values.view[span],
            "indices": self.indices.view[span],
            "sparse": True,
            "width": self.width,
            "starts": (starts - starts[0]).astype(np.int32),
        }
        if usual:
            known |= {"ready": self.ready.view[span], "squares": squares}
        return Side(None, ids, dtype, **known)

    @property
    def bytes(self) -> int:
        """What the vectors take."""
        return sum(part.view.nbytes for part in vars(self).values() if isinstance(part, Grown))

    def arrays(self) -> dict[str, np.ndarray]:
        """What a file must hold: the vectors as they came."""
        found = {"ids": self.ids.view}
        if self.shift is not None:
            found["shift"] = self.shift
        if self.kind == "dense":
            found["raw"] = self.raw.view
        elif self.kind == "sparse":
            names = ("values", "indices", "starts")
            found |= {name: getattr(self, name).view for name in names}
        return found

    @staticmethod
    def layout(kind: str, width: int, arrays: Arrays, rows: int, kernels: int) -> Layout:
        """The arrays that a file must hold of vectors of this kind, taken from so many rows."""
        count = lines(arrays, "kept.ids")
        wanted = {"kept.ids": indices((count,), rows)}
        if "kept.shift" in arrays and kind == "dense":
            wanted["kept.shift"] = Wanted((width,), FLOATS)
        if kind == "dense":
            wanted["kept.raw"] = Wanted((count, width), FLOATS)
        elif kind == "sparse":
            wanted |= csr("kept.", arrays, count, width, FLOATS, "int32")
        elif kind == "numbers":  # a row's number is its column's, in the table of each kernel
            wanted["kept.ids"] = indices((count,), min(rows, width // kernels))
        elif count or width:
            raise Misfit("it keeps vectors of no kind")
        return wanted

    @classmethod
    def restored(cls, dtype: DTypeLike, kind: str, width: int, arrays: Arrays) -> Vectors:
        """The vectors of a file, whose arrays fit the layout."""
        kept, ids = cls(dtype), arrays["kept.ids"]
        kept.shift = arrays.get("kept.shift")
        raw: Table = np.zeros((len(ids), 0))
        if kind == "dense":
            raw = arrays["kept.raw"]
        elif kind == "sparse":
            parts = arrays["kept.values"], arrays["kept.indices"], arrays["kept.starts"]
            check_starts(parts[2], len(parts[0]))
            raw = sp.csr_matrix(parts, shape=(len(ids), width))
        if kind:
            side = Side(raw, ids, dtype, kept.shift)
            kept.begin(side, kind == "numbers")
            kept.append(side)
            kept.width = width
        return kept

    def copy(self) -> Vectors:
        """The same vectors in arrays of their own."""
        twin = object.__new__(Vectors)
        copied = {n: v.copy() if isinstance(v, Grown) else v for n, v in self.__dict__.items()}
        twin.__dict__.update(copied | {"shares": False})
        return twin
