"""What y is to a learner: y to targets of the loop, guesses to answers, the trace, losses.

A kind of target is a class here: `LabelTargets` (one label, or a set of labels), `NumberTargets`,
`PointTargets` (nothing is asked of y). A learner makes one when it needs it; what was learned about y (the
labels known) is the learner's.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_consistent_length, column_or_1d

from ...errors import BadInput, shown
from ...learn.vocabulary import TRACED
from ...models.weights import Model
from ...results.trace import Watcher
from ..runs.passes import Block, Cutter, Part, TrainingSet
from ..tables import is_line

if TYPE_CHECKING:
    from ..dicts.streams import Example, Stream
    from ..learner import Learner

Answers = dict[float, Any] | None
"""Guesses of the loop as labels; None where the answer is no single label."""


Coder = Callable[[Any], float | None] | None


def plain_number(y: Any) -> float | None:
    """A target that needs no look at it."""
    return y if type(y) in (float, int) and math.isfinite(y) else None


class NumberTargets:
    """A number for a row."""

    kind = "numbers"

    def __init__(self, owner: Learner) -> None:
        self.learner = owner

    @property
    def sets(self) -> bool:
        """Has an example several labels?"""
        return False

    # ---- tables

    def read(self, y: object, count: int) -> Any:
        """y as the loop's side wants it, checked."""
        if y is None:
            raise BadInput(f"{type(self.learner).__name__} requires y to be passed, but the target y is None")
        try:
            y = np.asarray(y)
            if y.dtype.kind == "c":
                raise TypeError("Complex data not supported")
            in_line = y if is_line(y, count) else column_or_1d(y, warn=True)
            numbers = np.asarray(in_line, dtype=np.float64)
        except (TypeError, ValueError, OverflowError) as error:
            reason = " ".join(str(error)[:160].split())
            raise BadInput(f"y cannot be read as numbers ({reason}); wanted one per row") from None
        if len(numbers) != count:
            check_consistent_length(np.empty((count, 0)), numbers)
        if not np.isfinite(numbers).all():
            where = int(np.argmax(~np.isfinite(numbers)))
            raise BadInput(f"y of row {where} is NaN or infinity (Input contains NaN); drop the row")
        return numbers

    def adopt(self, y: object, warm: bool) -> None:
        """What must be known of all of y before a fit."""

    def adopt_stream(self, y: object, classes: object) -> None:
        """What must be known before a call that goes on."""

    def cutter(self, model: Model, data: TrainingSet, whole: bool, watcher: Watcher | None = None) -> Cutter:
        """Blocks into targets; `whole`: all of y is there, as in fit."""
        return partial(_as_they_are, data)

    # ---- what is known

    def known(self) -> list[Any]:
        """Labels known at this moment: met, or announced."""
        return []

    @property
    def closed(self) -> bool:
        """May no more labels come?"""
        return False

    def outputs(self) -> tuple[int, bool]:
        """How many outputs, and whether they lie side by side."""
        return 1, False

    def output_names(self) -> list[Any]:
        """What each row of `coef_` speaks for."""
        return ["prediction"]

    def spoken(self, table: np.ndarray) -> np.ndarray:
        """A table with a row per output as one with a row per name."""
        return table

    def bar(self, model: Model) -> float:
        """What every score must exceed: 0, but for a running threshold."""
        return 0.0

    def forget(self) -> None:
        """As if nothing had been seen."""

    def own(self) -> None:
        """From now on what is known may grow: nobody else must see it."""

    def share(self, other: Learner) -> None:
        """What another learner found out about y holds here too."""

    def state(self) -> Any:
        """What a file must hold of it."""
        return None

    def restore(self, kept: Any) -> None:
        """Take it on again."""

    # ---- answers and traces

    def decisions(self, scores: np.ndarray) -> np.ndarray:
        """`decision_function` of scores."""
        return scores[:, 0]

    def guess_of(self, scores: np.ndarray) -> float:
        """What `decide` makes of one line of scores."""
        return float(scores[0])

    def is_wrong(self, scores: np.ndarray, guess: float, target: Any) -> bool:
        """What `wrong` makes of it."""
        return False

    def trace_start(self, model: Model) -> Any:
        """What `traced` must know of the model before the first round."""
        return None

    def traced(self, whole: np.ndarray, start: Any) -> tuple[np.ndarray, np.ndarray]:
        """decision_function and predictions of every round."""
        scores = whole[:, TRACED]
        return scores, scores

    def truths(self, y: object) -> Any:
        """Targets of an iterable as an array."""
        return column(y) if isinstance(y, list) else y

    # ---- dicts

    def begin(self, y: object) -> None:
        """What must be known before the first example of a stream."""

    def check_alone(self, y: object) -> None:
        """Raise if y is no target at all, whatever is known."""
        self.number(y)

    def check(self, y: object) -> None:
        """Raise if y cannot be learned from; called before anything grows."""
        self.number(y)

    def number(self, y: Any) -> float:
        """One target, checked."""
        try:
            number = float(y)
        except OverflowError:
            raise BadInput(f"the target is {shown(y)}; wanted a finite number; nothing was learned") from None
        except (TypeError, ValueError):
            raise BadInput(f"the target is {shown(y)}; wanted a number") from None
        if not -float("inf") < number < float("inf"):
            raise BadInput(f"the target is {number}; wanted a finite number; nothing was learned")
        return number

    def room(self) -> np.ndarray:
        """Room for one target: a number, or a row of 0 and 1 for a set of labels."""
        return np.zeros(1)

    def coded(self) -> dict[Any, float] | None:
        """What each label means to the loop; None where the target is no single label."""
        return None

    def coder(self, coded: dict[Any, float] | None) -> Coder:
        """A plain target as the loop wants it, None for one that is not plain; None: there are none."""
        return plain_number

    def answers(self) -> Answers:
        """Guesses of the loop as labels; None where the answer is no single label."""
        return None

    def named_one(self, scores: np.ndarray) -> Any:
        """The answer for one example."""
        return float(scores[0, 0])

    def weighting(self) -> Any:
        """`class_weight`, checked."""
        return None

    def put(self, stream: Stream, x: Example, y: object, weight: float, weighting: Any) -> float:
        """The target in its place; what the example weighs."""
        stream.target[0] = self.number(y)
        return weight

    def read_many(self, y: object, count: int) -> Any:
        """Targets of a frame's rows, labels that may be new among them."""
        return self.read(y, count)


class PointTargets(NumberTargets):
    """A table's y is not looked at: targets are zeros."""

    def read(self, y: object, count: int) -> Any:
        """Whatever it is."""
        return None

    def coder(self, coded: dict[Any, float] | None) -> Coder:
        """There is no target."""
        return None


def as_column(y: Any) -> np.ndarray:
    """Labels or numbers as an array; where a list mixes kinds, each keeps its own."""
    if hasattr(y, "shape") or len({type(value) for value in y}) < 2:
        return np.asarray(y)
    return column(y)


def column(values: list[Any]) -> np.ndarray:
    """A list as an array; where it mixes kinds, each keeps its own."""
    array = np.array(values) if len({type(value) for value in values}) == 1 else np.empty(0)
    if array.shape != (len(values),):
        array = np.empty(len(values), object)
        array[:] = values
    return array


def _as_they_are(data: TrainingSet, block: Block) -> Iterator[Part]:
    weights = block.take(data.weights) if data.weights.size else data.weights
    targets = np.zeros(block.size) if data.y is None else block.take(data.y)
    yield block, np.ascontiguousarray(targets), np.ascontiguousarray(weights)
