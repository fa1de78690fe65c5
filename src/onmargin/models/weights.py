"""A model: a row of the table at work, with its arrays, its clock, and how they grow. Here: weights."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np

from ..compiled.rows import Rows
from ..errors import BadInput
from ..features.tables import squared_lengths
from ..learn.spaces import arrays as storage
from ..learn.spaces.arrays import Start, aligned, padded
from ..learn.spaces.fading import Fading
from ..learn.vocabulary import (
    BAR,
    BIASED,
    FADED,
    KNOWN,
    MEAN_AFTER,
    NO_TRACE,
    NONE,
    REMEMBERED,
    SHOWN,
    Desk,
    Examples,
    Tally,
    alike,
    hyper_of,
)
from .answering import scores_of
from .asking import Asking
from .by_class import laid_out
from .journal import Journal, pays
from .layout import Arrays, Facts, Layout, layout_of
from .merging import Merging, merge, why_not
from .table import Row

REACHES = {"float64": 1e200, "float32": 1e30}
"""The squared length of the farthest move, by the precision of the weights."""

Numbers = dict[str, Any]
"""The numbers of `Hyper` that the user's parameters set, by name."""

Mark = tuple[dict[str, Any], np.ndarray, dict[str, Any]]


class Model:
    """The state of one learner. `memory` holds what the loop remembers beside its arrays."""

    may_share = True  # a round writes to nothing but the Space's arrays
    shared: np.ndarray | None = None  # weights that are another model's too
    asking: Asking | None = None  # a rule that asks for labels, where somebody asks
    pairs = False  # rounds are of several examples

    def __init__(self, row: Row, start: Start, numbers: Numbers) -> None:
        self.row, self.start, self.numbers = row, start, numbers
        self.space: Any = storage.build(row.space, start)
        self.memory = np.zeros(REMEMBERED)
        self.clock = 0
        self._prepare()

    def _prepare(self) -> None:
        width = max(8, padded(self.start.outputs, self.start.many))
        pulls = padded(self.start.outputs, self.start.many)
        self.desk = Desk(aligned((width,), float), aligned((pulls,), float))
        chosen, recent = self.numbers | {"farthest": REACHES[self.start.dtype]}, NONE
        if self.asking is not None:
            chosen = chosen | self.asking.chosen
            recent = self.asking.recent
        self.hyper = hyper_of(chosen, self.start.outputs, self.memory, recent)
        self.memory = self.hyper.numbers[:REMEMBERED]
        if self.asking is not None:
            self.asking.bind(self.hyper.numbers)

    def attach(self, asking: Asking | None) -> None:
        """Ask by this rule from now on (None: nobody asks), which goes on counting where it was."""
        if asking is not None:
            self.memory[SHOWN:FADED] = asking.counts
        self.asking = asking
        self._prepare()

    def ask_by(self, chosen: Numbers) -> None:
        """Other numbers for the rule that asks; labels within another window are counted anew."""
        if self.asking is not None:
            before, self.asking.chosen = self.asking.recent, chosen
            if self.asking.room != len(before):
                self.asking.place = np.zeros(self.asking.room)
            self._prepare()

    def ask_own(self, scores: np.ndarray, luck: np.ndarray) -> np.ndarray:
        """A user's rule about rows of these scores; see `Asking`."""
        assert self.asking is not None
        return self.asking.ask_own(scores, luck, self.clock, self.hyper)

    @property
    def asks(self) -> bool:
        """Do the rounds to come ask for their label?"""
        return self.asking is not None and self.asking.active

    def played(self) -> Row:
        """The row as it is played: asking for labels, with its moves counted, or plainly."""
        row, asking = self.row, self.asking
        if asking is None:
            return row
        if asking.adaptive:
            row = row.counted()
        return row.asking(asking.chosen["ask_rule"], asking.own) if asking.active else row

    # ---- what is known of it

    @property
    def features(self) -> int:
        """Features known."""
        return int(self.memory[KNOWN])

    @features.setter
    def features(self, count: int) -> None:
        self.memory[KNOWN] = count

    def use_constant(self, used: bool) -> None:
        """Is the constant coordinate in use?"""
        self.memory[BIASED] = used

    @property
    def actions(self) -> int:
        """Actions played one at a time (Banditron)."""
        return int(self.memory[SHOWN])

    @actions.setter
    def actions(self, count: int) -> None:
        self.memory[SHOWN] = count

    @property
    def threshold(self) -> float:
        """Label sets: the running threshold (0 where none is kept)."""
        return float(self.memory[BAR])

    @property
    def thresholds(self) -> np.ndarray:
        """What scores have been less already, one number per output: those of `auc`, otherwise 0."""
        return np.zeros(self.start.outputs)

    @property
    def judges(self) -> bool:
        """Can it answer by its average while it learns?"""
        return self.row.space.mean is not None

    kind = "weights"

    @property
    def linear(self) -> bool:
        """Is a score <w, x>? Then features never met add nothing; otherwise their length counts."""
        return self.row.space.flat

    @property
    def not_merged_because(self) -> str:
        """The reason why models of this kind cannot be averaged; empty where they can."""
        return why_not(self)

    def is_at_zero(self) -> bool:
        """Are all weights 0?"""
        return not self.space.weights.any()

    @property
    def entries(self) -> int:
        """How many numbers the state holds: what a copy costs."""
        return sum(array.size for array in self.space)

    def lengths(self, rows: Rows, count: int) -> np.ndarray:
        """|x|^2 of rows 0 .. count - 1."""
        return squared_lengths(rows, count)

    # ---- copies and files

    def copy(self) -> Self:
        """The same state in arrays of its own."""
        twin = object.__new__(type(self))
        twin.row, twin.start, twin.numbers = self.row, self.start, self.numbers
        twin.space, twin.clock = storage.copied(self.space), self.clock
        twin.memory = self.memory.copy()
        twin.asking = None if self.asking is None else self.asking.copy()
        twin._prepare()
        return twin

    def sharing(self) -> Self:
        """A twin that learns into this one's arrays; all else is its own. See `journal`."""
        twin = object.__new__(type(self))
        twin.__dict__.update(self.__dict__)
        twin.memory = self.memory.copy()
        twin.asking = None if self.asking is None else self.asking.copy()
        if self.may_share:
            twin.space, twin.shared = storage.with_own_scratch(self.row.space, self.space), self.space.weights
        twin._prepare()
        return twin

    def mark(self) -> Mark:
        """What `back_to` wants: all but the contents of arrays."""
        return dict(self.__dict__), self.hyper.numbers.copy(), dict(vars(self.asking)) if self.asking else {}

    def back_to(self, mark: Mark) -> None:
        """As it was when it was marked; the arrays it had then are as they were."""
        self.__dict__ = mark[0]
        self.hyper.numbers[...] = mark[1]
        if self.asking is not None:
            self.asking.__dict__ = mark[2]  # it counts in these numbers again

    def for_round(self) -> Self:
        """A copy for one round, which takes over from this one or is given up: scratch is not copied."""
        if self.asking is not None:
            return self.copy()
        twin, hyper = object.__new__(type(self)), self.hyper._replace(numbers=self.hyper.numbers.copy())
        twin.__dict__.update(self.__dict__, space=storage.copied(self.space), hyper=hyper)
        twin.memory = hyper.numbers[:REMEMBERED]
        return twin

    @property
    def shares(self) -> bool:
        """Are its arrays another's too?"""
        return self.shared is not None and self.space.weights is self.shared

    def reached_by(self, rows: Rows) -> bool:
        """Is it less to keep what a pass over these rows may write over than to copy everything?"""
        return pays(self.row.space, self.space, self.hyper, self.clock, rows, self.entries)

    def journal(self, rows: Rows, count: int) -> Journal:
        """What rounds on these rows may write over."""
        return Journal(self.row.space, self.space, rows, count)

    def __getstate__(self) -> dict[str, Any]:
        names = ("row", "start", "numbers", "space", "memory", "asking", "clock")
        return {name: getattr(self, name) for name in names}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self.space = storage.copied(self.space)
        self._prepare()

    def state(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        """What a file must hold beside start, numbers and clock: facts, and arrays; scratch as zeros."""
        fields, written = self.row.space.fields, self.row.space.written
        arrays = self.space if written is None else written(self.space, self.clock, self.hyper)
        return {}, {
            name: np.zeros_like(array) if storage.is_scratch(fields[name]) else np.asarray(array)
            for name, array in arrays._asdict().items()
            if not fields[name].follows
        }

    @classmethod
    def file_layout(cls, row: Row, start: Start, numbers: Numbers, facts: Facts, arrays: Arrays) -> Layout:
        """The arrays that a file of such a model must hold; some sizes are those of arrays in it."""
        return layout_of(row.space, start)

    def restore(self, facts: Facts, arrays: Arrays) -> None:
        """Take on a state that was written, and that fits the layout."""
        for name, array in self.space._asdict().items():
            field = self.row.space.fields[name]
            if not (storage.is_scratch(field) or field.follows):
                array[...] = arrays[name]

    # ---- learning and answering

    def choose(self, row: Row, numbers: Numbers) -> None:
        """Go on with other parameters."""
        shape = self.start.outputs
        if row is not self.row or shape != self.hyper.outputs or not alike(numbers, self.numbers):
            self.row, self.numbers = row, numbers
            self._prepare()

    def open(self, count: int) -> None:
        """A table of so many rows comes next. (Weights do not mind; kernel learners number its rows.)"""

    def learn(self, examples: Examples, first: int, count: int, trace: np.ndarray = NO_TRACE) -> Tally:
        """A block of rounds; see `rounds.learn`."""
        play, desk = self.played().learner(), self.desk
        with laid_out(self, examples.rows) as space:
            done = play(examples, space, self.hyper, self.clock, desk, trace, first, 0, count)
        tally = Tally(*done)
        self.clock = tally.clock
        return tally

    def learn_judged(self, examples: Examples, first: int, count: int, trace: np.ndarray) -> Tally:
        """A block of rounds, answered by the averaged weights; see `rounds.judged`."""
        held, play = np.zeros(self.start.outputs), self.played().judge()
        with laid_out(self, examples.rows) as space:
            done = play(examples, space, self.hyper, self.clock, self.desk, held, trace, first, 0, count)
        tally = Tally(*done)
        self.clock = tally.clock
        return tally

    def scores(self, rows: Rows, count: int, averaged: bool) -> tuple[np.ndarray, int]:
        """Scores of rows 0 .. count - 1, and how many rows were finite from the first on."""
        return scores_of(self, rows, count, averaged)

    def weights(self) -> np.ndarray:
        """The weights that predict the next round."""
        return self.row.space.weights(self.space, self.clock, self.hyper)

    def mean_weights(self) -> np.ndarray:
        """The average of the weights that predicted, w_1 .. w_T; where none is kept, the last."""
        weights = self.weights()
        if not self.space.drift.size:
            return weights
        mean = aligned(weights.shape, self.space.weights.dtype)
        mean[...] = self.row.space.average(self.space, self.clock, self.hyper, weights)
        return mean

    def table(self) -> np.ndarray:
        """(outputs, slots) weights that predict, in the user's precision; the constant coordinate last."""
        weights = np.asarray(self.mean_weights(), dtype=self.start.dtype)
        return weights[None, :] if weights.ndim == 1 else weights[:, : self.start.outputs].T

    # ---- the mean as weights (see `means`)

    def write_all(self, weights: np.ndarray) -> None:
        """Go on from these weights, spelled out like `mean_weights`."""
        self.space.weights[...] = weights
        self._follow_weights()

    def begin_mean(self) -> None:
        """The sum of an average, or none, as `start` says: none of the rounds so far is in it."""
        self.space = self.space._replace(drift=storage.fresh_drift(self.row.space, self.start))

    def _follow_weights(self) -> None:
        """What follows from weights that were written."""
        if hasattr(self.space, "theta"):  # w = P theta
            self.space.theta[...] = self.space.weights / self.space.sigma

    # ---- where it starts

    def start_from(self, coef: np.ndarray | None, constant: np.ndarray | None) -> None:
        """Given weights, (outputs, features), and weights of the constant coordinate, (outputs,).

        The rounds so far keep their own average.
        """
        space = self.space
        settle = self.row.space.settle if isinstance(space, Fading) else None
        if settle is not None:  # weights as they are written
            settle(space, self.hyper, self.clock)
        before = space.weights.copy()
        if coef is not None:
            _write(space.weights, slice(0, coef.shape[1]), coef)
        if constant is not None:
            _write(space.weights, slice(self.start.slots - 1, self.start.slots), constant[:, None])
        if not np.isfinite(space.weights).all():
            raise BadInput("coef_init or intercept_init is not finite; wanted finite numbers")
        if settle is not None:
            settle(space, self.hyper, self.clock)
        if space.drift.size:
            space.drift[...] += (self.clock + self.hyper.numbers[MEAN_AFTER]) * (space.weights - before)
        self._follow_weights()

    def set_slots(self, first: int, values: np.ndarray, constant: np.ndarray | None) -> None:
        """Weights of the slots from `first` on, (slots, outputs), and of the constant coordinate."""
        weights, outputs = self.space.weights, self.start.outputs
        wide = weights.reshape(len(weights), -1)
        last = len(weights) - 1
        wide[first:last, :outputs] = values
        if constant is not None:
            wide[last, :outputs] = constant
        if self.space.drift.size and self.hyper.numbers[MEAN_AFTER]:  # w_1 is in it
            some = slice(first, last + (constant is not None))
            self.space.drift[some] = weights[some]

    def set_groups(self, numbers: np.ndarray) -> None:
        """The group of every column; the constant coordinate is its own."""
        self.space.group[: len(numbers)] = numbers
        self.space.group[-1] = len(self.space.group) - 1

    def set_prior(self, coef: np.ndarray, constant: np.ndarray | None) -> None:
        """Weights to regularise towards, (outputs, features), and those of the constant coordinate."""
        table = self.space.prior.reshape(self.start.slots, -1)
        table[: coef.shape[1], : len(coef)] = coef.T
        if constant is not None:
            table[-1, : len(coef)] = constant

    def prior_weights(self) -> np.ndarray:
        """What it regularises towards: 0 where no prior is given."""
        if self.space.prior.size:
            return np.asarray(self.space.prior)
        return np.zeros(self.space.weights.shape)

    def count_hits(self, rows: int) -> None:
        """Keep a coefficient for each row of the table being fitted."""
        self.space = self.space._replace(hits=np.zeros((rows, *self.space.weights.shape[1:])))

    def take_hits(self, rows: int) -> np.ndarray:
        """(rows, outputs) coefficients so far; they are kept no longer."""
        hits = self.space.hits
        self.space = self.space._replace(hits=hits[:0].copy())
        return np.asarray(hits.reshape(rows, -1)[:, : self.start.outputs])

    def set_radius(self, radius: float) -> None:
        """The learned radius' coordinate before the first round."""
        self.space.weights[-1] = radius

    def radius_coordinate(self, averaged: bool) -> float:
        """The learned radius' coordinate, last among the weights."""
        return float(self.table()[0, -1]) if averaged else float(self.space.weights[-1])

    def merge(self, others: Sequence[Model], shares: np.ndarray, how: Merging) -> None:
        """The mean of models (itself among them) in these shares; see `merging.merge`."""
        merge(self, others, shares, how)

    # ---- other shapes

    @property
    def is_flat(self) -> bool:
        """Is a score <w, x>, to which a feature never met adds nothing?"""
        return self.row.space.flat

    @property
    def layout(self) -> tuple[Start, Any]:
        """Its sizes and its arrays, to go back to."""
        return self.start, self.space

    @layout.setter
    def layout(self, before: tuple[Start, Any]) -> None:
        self.start, self.space = before

    @property
    def is_square(self) -> bool:
        """Does it keep a number for every two features?"""
        return any(field.kind == storage.SQUARE for field in self.row.space.fields.values())

    # Each makes new arrays and leaves the old ones as they are: who began with them may go back to them.

    def widen(self, slots: int) -> None:
        """Room for more features."""
        start = self.start._replace(slots=slots)
        space = storage.widened(self.row.space, self.space, start)
        self.start, self.space = start, space

    def turn(self) -> None:
        """See the one row from the other class."""
        self.space = storage.turned(self.row.space, self.space)
        self._settle()

    def split(self, row: Row, outputs: int, halves: tuple[int, int]) -> None:
        """From one row for two classes to one row a class."""
        start = self.start._replace(outputs=outputs, many=True)
        space = storage.split(row.space, self.space, start, halves)
        self.start, self.space = start, space
        self.choose(row, self.numbers)
        self._settle()

    def rearrange(self, outputs: int, sources: list[int]) -> None:
        """More outputs; see `arrays.rearranged`."""
        start = self.start._replace(outputs=outputs)
        space = storage.rearranged(self.row.space, self.space, start, sources)
        self.start, self.space = start, space
        self._prepare()
        self._settle()

    def _settle(self) -> None:
        """Sums that the Space keeps, after its arrays took on another shape."""
        if self.row.space.settle is not None:
            self.row.space.settle(self.space, self.hyper, self.clock)


def _write(weights: np.ndarray, slots: slice, table: np.ndarray) -> None:
    if weights.ndim == 1:
        weights[slots] = table[0]
    else:
        weights[slots, : table.shape[0]] = table.T
