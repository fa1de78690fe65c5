"""What a kernel learner knows: the vectors kept and their coefficients; copies, files, other shapes."""

from __future__ import annotations

from typing import Any, NamedTuple, Self

import numpy as np

from ..kernels.base import Kernel
from ..kernels.simple import Precomputed
from ..learn.kernel_spaces.uses import omega
from ..learn.spaces.arrays import Start, padded
from ..learn.vocabulary import OMEGA, REMEMBERED
from .table import Row
from .vectors import Grown, Vectors
from .weights import Model

NO_ORDER = np.zeros(0, np.int64)
UNKEPT = ("desk", "hyper", "places", "_loop")  # made anew for a copy


class Form(NamedTuple):
    """What a kernel learner evaluates: kernels, the bias as a constant, the precision."""

    kernels: tuple[Kernel, ...]
    constant: float
    dtype: str
    direct: bool = False  # sparse rows lie far from the origin

    @property
    def sharpness(self) -> float:
        """How fast the kernels fall."""
        return max(kernel.sharpness for kernel in self.kernels)

    @property
    def precomputed(self) -> bool:
        """Rows are values of the kernel, not vectors."""
        return any(isinstance(kernel, Precomputed) for kernel in self.kernels)

    @property
    def shifts(self) -> bool:
        """Only distances are asked for."""
        return all(kernel.shifts for kernel in self.kernels)


class KernelState(Model):
    """The state of one kernel learner; a subclass says how its coefficients are kept."""

    parts: tuple[str, ...] = ()  # the subclass's arrays, for copies and files
    whole_share = 1.0  # of a row that two classes share

    def __init__(self, row: Row, start: Start, choices: dict[str, Any], form: Form) -> None:
        self.row, self.start, self.numbers, self.form = row, start, choices, form
        self.kept = Vectors(form.dtype)
        self.memory = np.zeros(REMEMBERED)
        self.clock = self.rows = self.offset = 0
        self.gamma = 1.0  # as it is used; set by what the first data decides
        self.places = NO_ORDER  # slot of each row of the table at hand, -1: none
        self._prepare()
        self._begin()

    @property
    def width(self) -> int:
        """Outputs as they lie in memory."""
        return padded(self.start.outputs, self.start.many)

    # ---- a subclass's part

    def _begin(self) -> None:
        """Arrays as they are before the first round."""
        raise NotImplementedError

    def weights(self) -> np.ndarray:
        """(vectors, outputs) coefficients that predict the next round."""
        raise NotImplementedError

    def mean_weights(self) -> np.ndarray:
        """Coefficients of the average; where none is kept, the last."""
        raise NotImplementedError

    def _reshape(self, change: Any) -> None:
        """Coefficients with other outputs: `change` makes the new ones of the old."""
        raise NotImplementedError

    @property
    def _ledger(self) -> np.ndarray:
        raise NotImplementedError

    # ---- everybody's

    def _prepare(self) -> None:
        super()._prepare()
        self._loop: Any = None  # found on first use

    def open(self, count: int) -> None:
        """A table of so many rows comes next: its rows get numbers of their own."""
        self.offset, self.rows = self.rows, self.rows + count
        self.places = np.full(count, -1, np.int64)
        if self.form.precomputed:  # a row's number is its column's: the table is the same every time
            self.offset, self.rows = 0, count
            self.places[self.kept.ids.view] = np.arange(len(self.kept))

    def fix(self, gamma: float, form: Form) -> None:
        """What the first data decides, before any of it is kept."""
        self.gamma, self.form, self.kept = gamma, form, Vectors(form.dtype)

    def start_omega(self, radius: float) -> None:
        """The learned radius' coordinate before the first round."""
        self._ledger[OMEGA] = radius

    def omega(self, averaged: bool) -> float:
        """The learned radius' coordinate; 0 where the radius is given."""
        return omega(self._ledger, self.clock, averaged)

    def widen(self, slots: int) -> None:
        """Room for more features: kept vectors have zeros there."""
        self.start = self.start._replace(slots=slots)

    def turn(self) -> None:
        """See the one row from the other class."""
        self._reshape(lambda old: -old)

    def split(self, row: Row, outputs: int, halves: tuple[int, int]) -> None:
        """From one row for two classes to one row a class: (-w/2, +w/2)."""
        self.start = self.start._replace(outputs=outputs, many=True)
        part = 0.5 * self.whole_share

        def divided(old: np.ndarray) -> np.ndarray:
            new = np.zeros((len(old), self.width))
            new[:, halves[0]], new[:, halves[1]] = -part * old[:, 0], part * old[:, 0]
            return new

        self._reshape(divided)
        self.choose(row, self.numbers)

    def rearrange(self, outputs: int, sources: list[int]) -> None:
        """More outputs: output k continues `sources[k]`, or starts anew where that is -1."""
        self.start = self.start._replace(outputs=outputs)
        into = [k for k, source in enumerate(sources) if source >= 0]
        out_of = [source for source in sources if source >= 0]

        def spread(old: np.ndarray) -> np.ndarray:
            new = np.zeros((len(old), self.width))
            new[:, into] = old[:, out_of]
            return new

        self._reshape(spread)
        self._prepare()

    def copy(self) -> Self:
        """The same state in arrays of its own."""
        twin = object.__new__(type(self))
        twin.__dict__.update(self.__dict__)
        twin.kept, twin.memory, twin.places = self.kept.copy(), self.memory.copy(), self.places.copy()
        twin.recent = self.recent.copy()
        for name in self.parts:
            setattr(twin, name, _copied(getattr(self, name)))
        twin._prepare()
        return twin

    def state(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        """What a file must hold: the vectors kept as they came, and the subclass's arrays."""
        facts: dict[str, Any] = {"gamma": self.gamma, "rows": self.rows}
        facts |= {"dtype": self.form.dtype, "direct": self.form.direct}
        facts |= {"kind": self.kept.kind, "width": self.kept.width}
        arrays = {f"kept.{name}": array for name, array in self.kept.arrays().items()}
        for name in self.parts:
            arrays |= _flat(name, getattr(self, name))
        return facts, arrays

    def restore(self, facts: dict[str, Any], arrays: dict[str, np.ndarray]) -> None:
        """Take on a state that was written."""
        self.rows = facts["rows"]
        kept = {name[5:]: array for name, array in arrays.items() if name.startswith("kept.")}
        self.kept = Vectors.restored(self.form.dtype, facts["kind"], facts["width"], kept)
        for name in self.parts:
            setattr(self, name, _unflat(name, getattr(self, name), arrays))
        if not self._fits():
            raise ValueError("its arrays do not fit each other")

    def _fits(self) -> bool:
        """Do the subclass's arrays fit the vectors kept?"""
        raise NotImplementedError

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name not in UNKEPT}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self.places = NO_ORDER
        self._prepare()

    @property
    def entries(self) -> int:
        """How many numbers the state holds: what a copy costs."""
        parts = [array for name in self.parts for array in _flat(name, getattr(self, name)).values()]
        return sum(array.size for array in [*parts, *self.kept.arrays().values()])


def _flat(name: str, value: Any) -> dict[str, np.ndarray]:
    """A part as arrays with names."""
    if isinstance(value, tuple):
        return {f"{name}.{field}": np.asarray(v) for field, v in value._asdict().items()}  # type: ignore[attr-defined]
    return {name: value.view if isinstance(value, Grown) else value}


def _unflat(name: str, like: Any, arrays: dict[str, np.ndarray]) -> Any:
    """The part again, in the form of the one that is there."""
    if isinstance(like, tuple):
        return type(like)(*(arrays[f"{name}.{field}"].copy() for field in like._fields))  # type: ignore[attr-defined]
    array = arrays[name].copy()
    return Grown(array) if isinstance(like, Grown) else array


def _copied(value: Any) -> Any:
    return type(value)(*map(np.copy, value)) if isinstance(value, tuple) else value.copy()
