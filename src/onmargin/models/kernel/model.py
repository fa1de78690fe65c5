"""KernelModel, a learner spelled in kept vectors: its state, its answers, its learning block by block.

The loop is the same as for weights; only the block between rounds differs: it is prepared by matrix
products, played, absorbed. Rows are numbered as they come; a row of the same table that comes again
(another pass) adds to its own coefficient.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self, TypeAlias

import numpy as np
from numpy.typing import DTypeLike

from ...compiled.checks import first_not_finite
from ...compiled.parts import Part
from ...compiled.rows import Rows
from ...kernels.sides import Side, Table
from ...learn.kernel_spaces.projection import Budgeted
from ...learn.kernel_spaces.uses import omega as radius_of
from ...learn.spaces.arrays import Start, padded
from ...learn.spaces.ball import size as unit_size
from ...learn.vocabulary import BATCH, NO_ORDER, NO_TRACE, OMEGA, REMEMBERED, Examples, Tally
from ..layout import MOST_PLACES, Arrays, Facts, Layout, Misfit, count, lines
from ..table import Row
from ..weights import Model, Numbers
from .batches import Batches
from .products import BLOCK, Evaluator, block_size, sharing
from .support import Form, Support
from .vectors import Grown, Vectors

State: TypeAlias = np.ndarray | Grown | Budgeted  # what a subclass keeps coefficients in
UNKEPT = ("desk", "hyper", "places", "_loop")  # made anew for a copy


class KernelModel(Model):
    """One kernel learner; a subclass says how coefficients are kept, and a block is prepared and absorbed."""

    kind = "kernel"
    may_share = False
    keeps_rows = False  # is a coefficient one row's, however often it comes?
    parts: tuple[str, ...] = ()  # the subclass's arrays, for copies and files
    whole_share = 1.0  # of a row that two classes share
    most: int | None = None  # rows to a block, where it is not chosen by itself (tests)

    def __init__(self, row: Row, start: Start, choices: dict[str, object], form: Form) -> None:
        self.row, self.start, self.numbers, self.support = row, start, choices, Support(form)
        self.memory = np.zeros(REMEMBERED)
        self.clock = self.rows = self.offset = 0
        self.gamma = 1.0  # as it is used; set by what the first data decides
        self.places = NO_ORDER  # slot of each row of the table at hand, -1: none
        self._prepare()
        self._begin()

    # ---- a subclass's part

    def _begin(self) -> None:
        """Arrays as they are before the first round."""
        raise NotImplementedError

    def _ready_block(
        self, evaluator: Evaluator, side: Side, own: np.ndarray, weights: np.ndarray, judged: bool
    ) -> tuple[np.ndarray, ...]:
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

    def put_mean(self, mean: np.ndarray) -> None:
        """Date the coefficients so that this is their average (Pegasos)."""
        raise NotImplementedError

    def _reshape(self, change: Callable[[np.ndarray], np.ndarray]) -> None:
        """Coefficients with other outputs: `change` makes the new ones of the old."""
        raise NotImplementedError

    def _fits(self) -> bool:
        """Do the subclass's arrays, which have the right shapes, fit the vectors kept?"""
        return True

    @property
    def _ledger(self) -> np.ndarray:
        raise NotImplementedError

    # ---- what is known

    @property
    def form(self) -> Form:
        """What is evaluated."""
        return self.support.form

    @property
    def kept(self) -> Vectors:
        """The vectors kept."""
        return self.support.vectors

    @property
    def width(self) -> int:
        """Outputs as they lie in memory."""
        return padded(self.start.outputs, self.start.many)

    @property
    def n_support(self) -> int:
        """How many vectors are kept."""
        return len(self.kept)

    def is_at_zero(self) -> bool:
        """Is no vector kept yet?"""
        return not len(self.kept)

    def support_ids(self) -> np.ndarray:
        """The numbers of the rows kept."""
        return self.kept.ids.view.copy()

    def support_table(self, width: int) -> Table:
        """The vectors kept, in the form they came in, of so many columns (precomputed kernels: none)."""
        return self.support.table(width)

    def dual_table(self) -> np.ndarray:
        """(outputs, vectors) coefficients that predict; those of the average where one is kept."""
        return np.array(self.mean_weights()[:, : self.start.outputs].T, order="C")

    @property
    def room(self) -> float:
        """Vectors that may be kept (inf: as many as come)."""
        return float(self.numbers["room"])

    @property
    def constant(self) -> float:
        """What every kernel value has added: the bias squared."""
        return self.form.constant

    @property
    def safe(self) -> bool:
        """Can the kernels take any row?"""
        return self.form.safe

    def is_linear(self) -> bool:
        """Can the coefficients be spelled as weights?"""
        return self.form.linear

    def radius_coordinate(self, averaged: bool) -> float:
        """The learned radius' coordinate; 0 where the radius is given."""
        return radius_of(self._ledger, self.clock, averaged)

    def set_radius(self, radius: float) -> None:
        """The learned radius' coordinate before the first round."""
        self._ledger[OMEGA] = radius

    # ---- what the first data decides, and other shapes

    def _prepare(self) -> None:
        super()._prepare()
        self._loop: tuple[bool, Part] | None = None  # found on first use

    def fix(self, gamma: float, form: Form) -> None:
        """What the first data decides, before any of it is kept."""
        self.gamma, self.support = gamma, Support(form)

    def limit(self, room: float, bytes: float) -> None:
        """Keep no more than so many vectors, nor more than fit in so many bytes."""
        self.choose(self.row, self.numbers | {"room": room, "bytes": bytes})

    def open(self, count: int) -> None:
        """A table of so many rows comes next: its rows get numbers of their own."""
        self.offset, self.rows = self.rows, self.rows + count
        self.places = np.full(count, -1, np.int64)
        if self.form.precomputed:  # a row's number is its column's: the table is the same every time
            self.offset, self.rows = 0, count
            self.places[self.kept.ids.view] = np.arange(len(self.kept))

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

    # ---- copies and files

    def copy(self) -> Self:
        """The same state in arrays of its own."""
        twin = object.__new__(type(self))
        twin.__dict__.update(self.__dict__)
        twin.support, twin.memory, twin.places = self.support.copy(), self.memory.copy(), self.places.copy()
        twin.asking = None if self.asking is None else self.asking.copy()
        for name in self.parts:
            setattr(twin, name, _copied(getattr(self, name)))
        twin._prepare()
        return twin

    def for_round(self) -> Self:
        """A copy for one round, which takes over from this one or is given up: vectors are not copied."""
        if self.asking is not None:
            return self.copy()
        twin = object.__new__(type(self))
        twin.__dict__.update(self.__dict__)
        twin.support = Support(self.form, self.kept.sharing())
        twin.hyper = self.hyper._replace(numbers=self.hyper.numbers.copy())
        twin.memory, twin.places = twin.hyper.numbers[:REMEMBERED], self.places.copy()
        for name in self.parts:
            part = getattr(self, name)
            setattr(twin, name, part.roomy() if isinstance(part, Grown) else _copied(part))
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

    @classmethod
    def file_layout(cls, row: Row, start: Start, numbers: Numbers, facts: Facts, arrays: Arrays) -> Layout:
        """The arrays that a file must hold: of the vectors kept, and the subclass's."""
        width = count("width", facts["width"], 0, MOST_PLACES)
        rows, kernels = count("number of rows", facts["rows"]), int(facts["kernels"])
        kept = Vectors.layout(str(facts["kind"]), width, arrays, rows, kernels)
        return kept | cls._layout(row, start, lines(arrays, "kept.ids"), kernels, arrays)

    @classmethod
    def _layout(cls, row: Row, start: Start, kept: int, kernels: int, arrays: Arrays) -> Layout:
        """The subclass's arrays, so many vectors being kept."""
        raise NotImplementedError

    def restore(self, facts: Facts, arrays: Arrays) -> None:
        """Take on a state that was written, and that fits the layout."""
        self.rows = int(facts["rows"])
        vectors = Vectors.restored(self.form.dtype, str(facts["kind"]), int(facts["width"]), arrays)
        self.support = Support(self.form, vectors)
        for name in self.parts:
            setattr(self, name, _unflat(name, getattr(self, name), arrays))
        if not self._fits():
            raise Misfit("its arrays do not fit each other")

    def __getstate__(self) -> dict[str, object]:
        return {name: value for name, value in self.__dict__.items() if name not in UNKEPT}

    def __setstate__(self, state: dict[str, object]) -> None:
        self.__dict__.update(state)
        self.places = NO_ORDER
        self._prepare()

    @property
    def entries(self) -> int:
        """How many numbers the state holds: what a copy costs."""
        parts = [array for name in self.parts for array in _flat(name, getattr(self, name)).values()]
        return sum(array.size for array in [*parts, *self.kept.arrays().values()])

    # ---- answers

    def scores(self, rows: Rows, count: int, averaged: bool) -> tuple[np.ndarray, int]:
        """Scores of rows 0 .. count - 1, and how many rows were finite from the first on.

        Few rows are answered in float64: it costs little, and then an answer does not depend, in its last
        digits, on the rows it is asked with.
        """
        dtype = np.dtype(np.float64) if count <= BLOCK else None
        out = np.zeros((count, self.start.outputs))
        done = int(first_not_finite(rows, count))
        if done < count:
            return out, done
        wide = self._as_wide_as(rows)
        if wide is not self:
            return wide.scores(rows, count, averaged)
        coefficients = np.ascontiguousarray(self.mean_weights() if averaged else self.weights())
        with sharing(len(self.kept)) as threads, np.errstate(over="ignore", invalid="ignore"):
            evaluator = self.evaluator(threads)
            centre = None
            if self.row.space.size is unit_size:  # a ball
                centre = self.squared_length(evaluator, coefficients) + self.radius_coordinate(averaged) ** 2

            def answer(mine: Evaluator, some: slice) -> None:
                which = np.arange(some.start, some.stop)
                side = self._side(rows, which, dtype)
                self.support.check(side, which, "nothing was predicted")
                out[some] = self._block_scores(mine, side, coefficients, centre)

            evaluator.by_blocks(count, answer)
        fine = np.isfinite(out).all(axis=1)  # (values may overflow where lengths do not)
        return out, count if fine.all() else int(fine.argmin())

    def _as_wide_as(self, rows: Rows) -> Self:
        """Itself, or a copy with columns never met: distances count them, and an answer changes nothing."""
        support = self.support.as_wide_as(rows)
        if support is self.support:
            return self
        wide = object.__new__(type(self))  # (nothing is prepared anew: a rule that asks stays this one's)
        wide.__dict__.update(self.__dict__)
        wide.support = support
        return wide

    def _block_scores(
        self, evaluator: Evaluator, side: Side, coefficients: np.ndarray, centre: float | None
    ) -> np.ndarray:
        """Sums over the vectors kept; of a ball with a centre of this squared length, minus the distance."""
        sums = evaluator.sums(self.kept, side, coefficients)[0]
        if centre is None:
            return np.asarray(sums[: self.start.outputs].T)
        gaps = centre - 2.0 * sums[0] + evaluator.diagonals(side)[0]
        return np.asarray(-np.sqrt(np.maximum(gaps, 0.0)))[:, None]

    def evaluator(self, threads: int = 1) -> Evaluator:
        """The kernels at work."""
        return self.support.evaluator(threads)

    def squared_length(
        self, evaluator: Evaluator, coefficients: np.ndarray, rows: Rows | None = None
    ) -> float:
        """|w|^2 for any coefficients of the vectors kept; see `Support.squared_length`."""
        return self.support.squared_length(evaluator, coefficients, rows)

    def lengths(self, rows: Rows, count: int) -> np.ndarray:
        """k(x, x) of rows."""
        wide = self._as_wide_as(rows)
        return np.asarray(wide.evaluator().diagonals(wide._side(rows, np.arange(count)))[0])

    def comparator_scores(self, rows: Rows, coefficients: np.ndarray) -> np.ndarray:
        """Scores of all rows of a table by sum_i coefficients[i] k(x_i, .) over the same rows."""
        return self.support.scores_by_rows(rows, coefficients)

    def kernel_values(self, rows: Rows) -> np.ndarray:
        """k(x_i, x) of every vector kept and one row."""
        return self.support.values_of_one(rows, self.offset, self.features)

    def check_rows(self, rows: Rows) -> None:
        """Refuse one row that the kernels cannot take."""
        self.support.check_one(rows, self.offset, self.features)

    def _side(
        self, rows: Rows, which: np.ndarray, dtype: DTypeLike | None = None, learning: bool = False
    ) -> Side:
        """Rows of the table at hand, in the form of what is kept."""
        ids = self.offset + which
        if learning:
            return self.support.side_to_learn(rows, which, ids, self.features)
        return self.support.side(rows, which, ids, self.features, dtype)

    def _checked_lengths(self, evaluator: Evaluator, side: Side, rows: np.ndarray) -> np.ndarray:
        return self.support.checked_lengths(evaluator, side, rows)

    # ---- learning

    def learn(self, examples: Examples, first: int, count: int, trace: np.ndarray = NO_TRACE) -> Tally:
        """A block of rounds; see `rounds.learn`."""
        return self._play(examples, first, count, trace, False)

    def learn_judged(self, examples: Examples, first: int, count: int, trace: np.ndarray) -> Tally:
        """A block of rounds, answered by the averaged coefficients; see `rounds.judged`."""
        return self._play(examples, first, count, trace, True)

    def _play(self, examples: Examples, first: int, count: int, trace: np.ndarray, judged: bool) -> Tally:
        """Blocks of the size that suits what is kept, one after the other."""
        order, weights = examples.order, examples.weights
        last = int(order.max()) if order.size else first + count - 1
        if last >= len(self.places):
            self.open(last + 1)
        sums, at = np.zeros(4), 0
        while at < count:
            stop = min(at + (self.most or self._rows_at_once()), count)
            stop = at + self._batches().whole(weights[at:stop], stop - at)
            rows = order[at:stop] if order.size else np.arange(first + at, first + stop)
            side = self._side(examples.rows, rows, learning=True)
            some = slice(at, stop)
            part = Examples(
                None, examples.targets[some], weights[some], examples.chance[some], NO_ORDER
            )  # fmt: skip
            lines = trace[some] if trace.size else trace
            tally = self._play_block(side, part, rows, lines, judged)
            self.clock, sums = tally.clock, sums + tally[2:]
            if tally.stopped < stop - at:
                return summed(self.clock, at + tally.stopped, sums)
            at = stop
        return summed(self.clock, count, sums)

    def _rows_at_once(self) -> int:
        return block_size(len(self.kept))

    def _play_block(
        self, side: Side, part: Examples, rows: np.ndarray, trace: np.ndarray, judged: bool
    ) -> Tally:
        """One block: prepared, played, absorbed."""
        with sharing(len(self.kept)) as threads, np.errstate(over="ignore", invalid="ignore"):
            evaluator = self.evaluator(threads)
            own = self._checked_lengths(evaluator, side, rows)
            block = self._ready_block(evaluator, side, own, part.weights, judged)
        examples = part._replace(rows=block)
        state = (self.space, self.hyper, self.clock, self.desk)
        if judged:
            held = np.zeros(self.start.outputs)
            done = self.played().judge()(examples, *state, held, trace, 0, 0, len(side))
        else:
            if self._loop is None or self._loop[0] != self.asks:
                self._loop = self.asks, self.played().learner()
            done = self._loop[1](examples, *state, trace, 0, 0, len(side))
        tally = Tally(*done)
        self._absorb(side, rows, tally.clock)
        return tally

    def _batches(self) -> Batches:
        return Batches(self.clock, int(self.hyper.numbers[BATCH]))


def summed(clock: int, stopped: int, sums: np.ndarray) -> Tally:
    """A tally of several blocks: losses, mistakes, errors and updates added up."""
    loss, *counts = sums.tolist()
    return Tally(clock, stopped, loss, *map(int, counts))


def _flat(name: str, value: State) -> dict[str, np.ndarray]:
    """A part as arrays with names."""
    if isinstance(value, Budgeted):
        whole = value._replace(work=np.zeros_like(value.work), notes=np.zeros_like(value.notes))  # scratch
        return {f"{name}.{field}": np.asarray(v) for field, v in whole._asdict().items()}
    return {name: value.view if isinstance(value, Grown) else value}


def _unflat(name: str, like: State, arrays: Arrays) -> State:
    """The part again, in the form of the one that is there."""
    if isinstance(like, Budgeted):
        whole = Budgeted(*(arrays[f"{name}.{field}"].copy() for field in like._fields))
        return whole._replace(work=np.zeros_like(whole.work), notes=np.zeros_like(whole.notes))
    array = arrays[name].copy()
    return Grown(array) if isinstance(like, Grown) else array


def _copied(value: State) -> State:
    return Budgeted(*map(np.copy, value)) if isinstance(value, Budgeted) else value.copy()
