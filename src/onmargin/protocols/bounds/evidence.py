"""A run beside a comparator, as bounds read it; and a bound: two sides, and what it wants."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple, cast

import numpy as np

from ...interface.runs.comparing import Compared
from ...interface.tables import Table
from ...results.begun import Begun
from ...results.progress import Progress

Side = np.ndarray | float
"""A number, or how it grew: one entry per round."""

NAN = float("nan")


class Bound(NamedTuple):
    """left <= right where nothing is `unmet`; both at the end of the run, or after every round of it."""

    id: str
    left: Side
    right: Side
    wants: str  # its conditions, in words
    unmet: str = ""  # the one that does not hold
    counts: str = ""  # what the left side counts, for the axis of a figure
    rank: float | None = None  # what a good u makes small; None: the distance of the sides

    @property
    def applies(self) -> bool:
        """Are all its conditions met?"""
        return not self.unmet

    @property
    def distance(self) -> float:
        """How far the right side is from the left; of losses over mistakes alone, as it is stated beforehand.

        (There u = 0 is always nearest: its losses over the mistakes are their number.)
        """
        return last(self.right) - last(self.left) if self.rank is None else self.rank


def refused(id: str, wants: str, unmet: str) -> Bound:
    """A bound that says nothing of this run, and why."""
    return Bound(id, NAN, NAN, wants, unmet)


def first(*reasons: str) -> str:
    """The first that there is."""
    return next((reason for reason in reasons if reason), "")


class Carried:
    """Sums of the blocks before, by name, and the largest |x|^2 of all blocks."""

    def __init__(self, radius: float) -> None:
        self.radius = radius
        self.sums: dict[str, float] = {}
        self.next: dict[str, float] = {}

    def on(self, name: str, sums: np.ndarray) -> np.ndarray:
        """Sums of a block go on where the last one ended."""
        total = self.sums.get(name, 0.0) + sums
        self.next[name] = float(total[-1]) if len(total) else self.sums.get(name, 0.0)
        return np.asarray(total)

    def end_block(self) -> None:
        """The next block comes."""
        self.sums = dict(self.next)


class Evidence:
    """What bounds ask of a run and of u, one entry per round.

    losses and steps are those of learning; `theirs` are u's losses, 0 where no label was asked for; `sizes`
    are |z|^2, z the direction of a round: |x|^2, twice that where two rows of weights move.
    """

    def __init__(self, progress: Progress, begun: Begun, X: Table, y: np.ndarray, compared: Compared) -> None:
        self.progress, self.begun, self.X, self.y, self.u = progress, begun, X, y, compared
        self.words: Mapping[str, str] = begun.words
        self.losses, self.steps = _line(progress.losses), _line(progress.steps)
        self.asked = np.asarray(progress.queried, bool)
        self.counted = np.asarray(progress.counted, bool)
        self.kept: dict[str, tuple[np.ndarray, ...]] = {}  # what does not depend on u, once it was found
        self.before: Carried | None = None  # of a run that is looked at block by block
        self.factor = 2.0 if begun.outputs > 1 and self.words["task"] in TWO_ROWS else 1.0

    def running(self, name: str, values: np.ndarray) -> np.ndarray:
        """The sum after every round; in a stream the blocks before count too, by this name."""
        sums = running(values)
        return sums if self.before is None else self.before.on(name, sums)

    @property
    def whole(self) -> str:
        """Why sums alone do not say it."""
        return "" if self.before is None else "only of a run in memory: om.certificate"

    # ---- the comparator

    def beside(self, compared: Compared) -> Evidence:
        """The same run beside another u."""
        twin = object.__new__(Evidence)
        twin.__dict__.update(self.__dict__, u=compared)
        return twin

    @property
    def theirs(self) -> np.ndarray:
        """u's losses on the rounds that were learned from."""
        return np.where(self.asked, self.u.losses, 0.0)

    @property
    def square(self) -> float:
        """U^2"""
        return self.u.square

    # ---- the run

    def number(self, name: str, default: float = NAN) -> float:
        """A number of the loop."""
        return float(cast(float, self.begun.numbers.get(name, default)))

    @property
    def required(self) -> float:
        """The margin asked for."""
        return self.number("margin", 1.0)

    @property
    def sizes(self) -> np.ndarray:
        """|z|^2 of every round, not those of rounds that were not seen."""
        return self.factor * np.where(self.asked | self.counted, self.u.lengths, 0.0)

    @property
    def radius(self) -> float:
        """R^2, the largest |z|^2."""
        return float(self.sizes.max(initial=0.0 if self.before is None else self.factor * self.before.radius))

    @property
    def erred(self) -> np.ndarray:
        """Rounds with margin <= 0 among those that were learned from: a loss of at least the margin asked."""
        if self.words["loss"] in ("mistake", "always"):
            return self.asked & (self.losses > 0)
        return self.asked & (self.losses >= self.required)

    @property
    def codes(self) -> np.ndarray:
        """The number of every label among those known."""
        if "codes" not in self.kept:
            known = {label: code for code, label in enumerate(self.progress.model.known_labels())}
            codes = [known.get(label, 0) for label in np.asarray(self.y).tolist()]
            self.kept["codes"] = (np.array(codes, int),)
        return self.kept["codes"][0]

    @property
    def signs(self) -> np.ndarray:
        """Two classes: +1 and -1."""
        return 2.0 * self.codes - 1.0

    @property
    def scores(self) -> np.ndarray:
        """(rounds, outputs) before each update."""
        scores = np.asarray(self.progress.scores, float)
        return scores[:, None] if scores.ndim == 1 else scores

    # ---- conditions

    def start(self) -> str:
        """Why it is no run from zero."""
        return "" if self.begun.empty else "it did not begin from zero"

    def order(self) -> str:
        """Why what was answered is not what was learned from."""
        return first(
            "labels came late" if self.begun.late else "",
            "classes or columns joined in mid-run" if self.begun.grew else "",
        )

    def plain(self, scores: bool = False) -> str:
        """Why its rounds are not those of the theorem; `scores`: that of w_t is looked at."""
        return first(
            self.order(),
            "rows have weights" if self.begun.weighted else "",
            "its scores are the average's" if scores and self.begun.judged else "",
        )


TWO_ROWS = ("top", "uniform", "every", "labelset", "costly", "costly_guess", "calibrated")


def _line(values: object) -> np.ndarray:
    return np.asarray(values, float)


def running(values: Sequence[float] | np.ndarray) -> np.ndarray:
    """The sum after every round."""
    return np.cumsum(np.asarray(values, float))


def last(side: Side) -> float:
    """Where it ended."""
    values = np.asarray(side, float).ravel()
    return float(values[-1]) if values.size else 0.0


def perceptron_like(reach: float, paid: Side) -> Side:
    """(UR + sqrt(U^2 R^2 + 4L))^2 / 4, of U^2 R^2 and L."""
    return np.asarray((np.sqrt(reach) + np.sqrt(reach + 4 * np.asarray(paid))) ** 2 / 4)
