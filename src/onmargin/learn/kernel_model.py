"""A kernel recipe at work: blocks are prepared by matrix products, played by the loop, absorbed.

The loop is the same as for weights; only the block between rounds differs. Rows are numbered as they
come; a row of the same table that comes again (another pass) adds to its own coefficient.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..compiled.checks import first_not_finite
from ..errors import BadInput
from .algorithms import Row
from .blocks import BLOCK, Evaluator, block_size, sharing
from .kernels.base import BadRow, Kernel
from .kernels.simple import Precomputed
from .model import NO_TRACE, Model
from .spaces.center import size as unit_size
from .spaces.expansion import OMEGA
from .spaces.manners import omega
from .spaces.storage import Start, padded
from .vectors import Grown, Side, Vectors, picked
from .vocabulary import BATCH, REMEMBERED, Examples, Tally

NO_ORDER = np.zeros(0, np.int64)
UNKEPT = ("desk", "hyper", "places", "_loop")  # made anew for a copy


class Form(NamedTuple):
    """What a kernel learner evaluates: kernels, the bias as a constant, the precision."""

    kernels: tuple[Kernel, ...]
    constant: float
    dtype: str

    @property
    def precomputed(self) -> bool:
        """Rows are values of the kernel, not vectors."""
        return any(isinstance(kernel, Precomputed) for kernel in self.kernels)

    @property
    def shifts(self) -> bool:
        """Only distances are asked for."""
        return all(kernel.shifts for kernel in self.kernels)


class KernelModel(Model):
    """The state of one kernel learner; a subclass says how its sums are kept."""

    parts: tuple[str, ...] = ()  # the subclass's arrays, for copies and files
    most: int | None = None  # rows to a block, where it is not chosen by itself (tests)

    def __init__(self, recipe: Row, start: Start, choices: dict[str, Any], form: Form) -> None:
        self.recipe, self.start, self.choices, self.form = recipe, start, choices, form
        self.kept = Vectors(form.dtype)
        self.bar = np.zeros(REMEMBERED)
        self.clock = self.rows = self.offset = 0
        self.gamma = 1.0  # as it is used; set by what the first data decides
        self.places = NO_ORDER  # slot of each row of the table at hand, -1: none
        self._prepare()
        self._begin()

    @property
    def width(self) -> int:
        """Outputs as they lie in memory."""
        return padded(self.start.outputs, self.start.many)

    def _prepare(self) -> None:
        super()._prepare()
        self._loop: Any = None  # found on first use

    def open(self, count: int) -> None:
        """A table of so many rows comes next: its rows get numbers of their own."""
        self.offset, self.rows = self.rows, self.rows + count
        self.places = np.full(count, -1, np.int64)

    # ---- a subclass's part

    def _begin(self) -> None:
        """Arrays as they are before the first round."""
        raise NotImplementedError

    def _ready_block(
        self, evaluator: Evaluator, side: Side, own: np.ndarray, weights: np.ndarray, judged: bool
    ) -> Any:
        """The block as the loop sees it."""
        raise NotImplementedError

    def _absorb(self, side: Side, rows: np.ndarray, clock: int) -> None:
        """Keep what the block has added."""
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

    # ---- learning

    def learn(self, examples: Examples, first: int, count: int, trace: np.ndarray = NO_TRACE) -> Tally:
        """A block of rounds; see `rounds.learn`."""
        return self._play(examples, first, count, trace, False)

    def learn_judged(self, examples: Examples, first: int, count: int, trace: np.ndarray) -> Tally:
        """A block of rounds, answered by the averaged coefficients; see `answers.judged`."""
        return self._play(examples, first, count, trace, True)

    def _play(self, examples: Examples, first: int, count: int, trace: np.ndarray, judged: bool) -> Tally:
        """Blocks of the size that suits what is kept, one after the other."""
        order, weights = examples.order, examples.weights
        last = int(order.max()) if order.size else first + count - 1
        if last >= len(self.places):
            self.open(last + 1)
        sums, at = np.zeros(4), 0
        while at < count:
            stop = min(at + (self.most or block_size(len(self.kept))), count)
            stop = at + self._whole_batches(weights[at:stop], stop - at)
            rows = order[at:stop] if order.size else np.arange(first + at, first + stop)
            side = self._side(examples.rows, rows)
            some = slice(at, stop)
            part = Examples(
                None, examples.targets[some], weights[some], examples.chance[some], NO_ORDER
            )  # fmt: skip
            lines = trace[some] if trace.size else trace
            tally = self._play_block(side, part, rows, lines, judged)
            self.clock, sums = tally.clock, sums + tally[2:]
            if tally.stopped < stop - at:
                return _summed(self.clock, at + tally.stopped, sums)
            at = stop
        return _summed(self.clock, count, sums)

    def _play_block(
        self, side: Side, part: Examples, rows: np.ndarray, trace: np.ndarray, judged: bool
    ) -> Tally:
        """One block: prepared, played, absorbed."""
        with sharing(len(self.kept)) as threads:
            evaluator = self.evaluator(threads)
            own = self._checked_lengths(evaluator, side, rows)
            block = self._ready_block(evaluator, side, own, part.weights, judged)
        examples = part._replace(rows=block)
        state = (self.space, self.hyper, self.clock, self.desk)
        if judged:
            held = np.zeros(self.start.outputs)
            done = self.recipe.judge()(examples, *state, held, trace, 0, 0, len(side))
        else:
            self._loop = self._loop or self.recipe.learner()
            done = self._loop(examples, *state, trace, 0, 0, len(side))
        tally = Tally(*done)
        self._absorb(side, rows, tally.clock)
        return tally

    def _side(self, rows: Any, which: np.ndarray, dtype: Any = None) -> Side:
        """Rows of a table, in the form of what is kept."""
        together = len(which) and which[-1] - which[0] == len(which) - 1 and (np.diff(which) == 1).all()
        some = slice(int(which[0]), int(which[-1]) + 1) if together else which
        raw = picked(rows, some, max(self.start.slots - 1, self.kept.width))
        if not self.kept.kind:
            first = Side(raw, NO_ORDER, self.form.dtype)
            self.kept.begin(first, self.form.precomputed)
            if self.form.shifts and not first.sparse:
                self.kept.shift = np.array(raw[0], float)
        return self.kept.like(raw, self.offset + which, dtype or self.kept.dtype)

    def _checked_lengths(self, evaluator: Evaluator, side: Side, rows: np.ndarray) -> np.ndarray:
        """(kernels, rows) k(x, x), none of which may be negative."""
        try:
            for kernel in self.form.kernels:
                kernel.check(side)
        except BadRow as error:
            raise BadInput(f"row {rows[error.row]} {error.reason}; nothing was learned") from None
        own = evaluator.diagonals(side)
        own[:, ~side.finite] = np.nan  # the loop stops there
        if (own < 0).any():
            worst = int(np.argmax((own < 0).any(axis=0)))
            raise BadInput(
                f"row {rows[worst]} has k(x, x) = {own[:, worst].min():.3g}, below 0: the kernel is not "
                "positive on this data; nothing was learned; choose another kernel"
            )
        return own

    def _whole_batches(self, weights: np.ndarray, count: int) -> int:
        """Rows to take so that a block ends with a mini-batch, or lies within one."""
        batch = int(self.hyper.numbers[BATCH])
        if batch == 1:
            return count
        ends = np.flatnonzero(self._clocks(weights, count) % batch == 0)
        seen = ends[(weights[ends] > 0) if weights.size else slice(None)]
        if not seen.size:
            return count
        return int(seen[0] if self.clock % batch else seen[-1]) + 1

    def _clocks(self, weights: np.ndarray, count: int) -> np.ndarray:
        """The clock after each of the rows that come next."""
        return self.clock + np.cumsum(weights > 0 if weights.size else np.ones(count, int))

    # ---- answers

    def scores(self, rows: Any, count: int, averaged: bool) -> tuple[np.ndarray, int]:
        """Scores of rows 0 .. count - 1, and how many rows were finite from the first on.

        Few rows are answered in float64: it costs little, and then an answer does not depend, in its last
        digits, on the rows it is asked with.
        """
        dtype = np.dtype(np.float64) if count <= BLOCK else None
        out = np.zeros((count, self.start.outputs))
        done = first_not_finite(rows, count)
        if done < count:
            return out, done
        coefficients = np.ascontiguousarray(self.mean_weights() if averaged else self.weights())
        with sharing(len(self.kept)) as threads:
            evaluator = self.evaluator(threads)
            centre = None
            if self.recipe.space.size is unit_size:  # a ball
                centre = self.squared_length(evaluator, coefficients) + self.omega(averaged) ** 2
            for first in range(0, count, BLOCK):
                some = slice(first, min(first + BLOCK, count))
                side = self._side(rows, np.arange(some.start, some.stop), dtype)
                for kernel in self.form.kernels:
                    kernel.check(side)
                out[some] = self._block_scores(evaluator, side, coefficients, centre)
        return out, count

    def _block_scores(
        self, evaluator: Evaluator, side: Side, coefficients: np.ndarray, centre: float | None
    ) -> np.ndarray:
        """Sums over the vectors kept; of a ball with a centre of this squared length, minus the distance."""
        sums = evaluator.sums(self.kept, side, coefficients)[0]
        if centre is None:
            return np.asarray(sums[: self.start.outputs].T)
        gaps = centre - 2.0 * sums[0] + evaluator.diagonals(side)[0]
        return -np.sqrt(np.maximum(gaps, 0.0))[:, None]

    def squared_length(self, evaluator: Evaluator, coefficients: np.ndarray, rows: Any = None) -> float:
        """|w|^2 = sum_i w_i w(x_i), for any coefficients of the vectors kept.

        Precomputed kernels find their values in `rows`, the table they were fitted on.
        """
        if self.form.precomputed:
            ids = self.kept.ids.view - self.offset
            values = rows.values[ids][:, ids] + self.form.constant
            return float(np.sum(coefficients * (values @ coefficients)))
        total = 0.0
        for first in range(0, len(self.kept), BLOCK):
            stop = min(first + BLOCK, len(self.kept))
            tile = self.kept.tile(first, stop, self.kept.dtype)
            sums = evaluator.sums(self.kept, tile, coefficients)[0]
            total += float(np.sum(coefficients[first:stop] * sums.T))
        return total

    def evaluator(self, threads: int = 1) -> Evaluator:
        """The kernels at work."""
        return Evaluator(self.form.kernels, self.form.constant, threads)

    def values_of(self, rows: Any) -> np.ndarray:
        """k(x_i, x) of every vector kept and one row."""
        out = np.zeros((1, len(self.kept)))
        self.evaluator().values(self.kept, self._side(rows, np.arange(1)), out)
        return np.asarray(out[0])

    def check_rows(self, rows: Any) -> None:
        """Refuse one row that the kernels cannot take."""
        raw = picked(rows, slice(0, 1), self.start.slots - 1)
        self._checked_lengths(
            self.evaluator(), Side(raw, np.zeros(1, np.int64), self.form.dtype), np.arange(1)
        )

    def start_omega(self, radius: float) -> None:
        """The learned radius' coordinate before the first round."""
        self._ledger[OMEGA] = radius

    @property
    def _ledger(self) -> np.ndarray:
        raise NotImplementedError

    def omega(self, averaged: bool) -> float:
        """The learned radius' coordinate; 0 where the radius is given."""
        return omega(self._ledger, self.clock, averaged)

    # ---- other shapes

    def widen(self, slots: int) -> None:
        """Room for more features: kept vectors have zeros there."""
        self.start = self.start._replace(slots=slots)

    def turn(self) -> None:
        """See the one row from the other class."""
        self._reshape(lambda old: -old)

    def split(self, recipe: Row, outputs: int, halves: tuple[int, int]) -> None:
        """From one row for two classes to one row a class: (-w/2, +w/2)."""
        self.start = self.start._replace(outputs=outputs, many=True)
        part = 0.5 * self.whole_share

        def divided(old: np.ndarray) -> np.ndarray:
            new = np.zeros((len(old), self.width))
            new[:, halves[0]], new[:, halves[1]] = -part * old[:, 0], part * old[:, 0]
            return new

        self._reshape(divided)
        self.choose(recipe, self.choices)

    whole_share = 1.0  # of a row that two classes share

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

    def copy(self) -> KernelModel:
        """The same state in arrays of its own."""
        twin = object.__new__(type(self))
        twin.__dict__.update(self.__dict__)
        twin.kept, twin.bar = self.kept.copy(), self.bar.copy()
        for name in self.parts:
            setattr(twin, name, _copied(getattr(self, name)))
        twin._prepare()
        return twin

    def state(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        """What a file must hold: the vectors kept as they came, and the subclass's arrays."""
        facts = {"gamma": self.gamma, "rows": self.rows, "kind": self.kept.kind, "width": self.kept.width}
        arrays = {f"kept.{name}": array for name, array in self.kept.arrays().items()}
        for name in self.parts:
            arrays |= _flat(name, getattr(self, name))
        return facts, arrays

    def restore(self, facts: dict[str, Any], arrays: dict[str, np.ndarray]) -> None:
        """Take on a state that was written."""
        self.gamma, self.rows = facts["gamma"], facts["rows"]
        kept = {name[5:]: array for name, array in arrays.items() if name.startswith("kept.")}
        self.kept = Vectors.restored(self.form.dtype, facts["kind"], facts["width"], kept)
        for name in self.parts:
            setattr(self, name, _unflat(name, getattr(self, name), arrays))

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name not in UNKEPT}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self.places = NO_ORDER
        self._prepare()

    @property
    def entries(self) -> int:
        """Always learned on a copy: a kernel of the user's may fail in mid-call."""
        return 0


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


def _summed(clock: int, stopped: int, sums: np.ndarray) -> Tally:
    loss, *counts = sums.tolist()
    return Tally(clock, stopped, loss, *map(int, counts))
