"""Who is in a paired round: given in advance, or drawn from what a stream has left in its reservoirs."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ...compiled.rows import Dense, Rows
from ...learn.paired.draws import ARRIVAL, draw_rounds
from ...learn.paired.joint import ROUNDED, ROUNDED_COARSELY
from ...learn.paired.rounds import PairedHyper, PairedRounds
from ...learn.vocabulary import NONE, THRESHOLD, Examples
from ..layout import MOST_ROUNDS, Arrays, Facts, Layout, Misfit, Wanted, indices, lines
from .pool import Pool

MANY, RIVALS = 10, 4  # by default: with more classes than so many, rounds of so many others,
LONGER = 4.0  # and steps so much longer


class Given(NamedTuple):
    """Rounds that are known in advance, over one table: `members` are its rows, the first the arrival."""

    members: np.ndarray
    starts: np.ndarray
    marks: np.ndarray
    weights: np.ndarray  # or empty: 1
    lines: np.ndarray  # of every member: where its marks and weight are


class Pairing:
    """A learner's reservoirs, their pool, the running thresholds of `auc`, and how labels become marks."""

    def __init__(self, outputs: int, sets: bool, size: int) -> None:
        self.outputs, self.sets = outputs, sets
        self.slots = np.full((_groups(outputs, sets), size), -1, np.int64)
        self.seen = np.zeros(len(self.slots), np.int64)
        self.pool = Pool(outputs)
        self.middle = np.zeros((2, outputs))  # thresholds, and rounds they were seen in
        self.given: Given | None = None
        self.played: list[tuple[np.ndarray, np.ndarray]] | None = None  # rows and starts, where wanted

    def hyper(self, choices: dict[str, Any], judged: bool, coarse: bool) -> PairedHyper:
        """The choices as the loop wants them; `coarse`: scores are in float32."""
        margin = float(choices["margin"])
        grain = (ROUNDED_COARSELY if coarse else ROUNDED) * max(1.0, margin)
        outputs, rivals, C = self.outputs, self.rivals(choices), self.longest(choices)
        return PairedHyper(C, margin, grain, 1.0, outputs, self.sets, judged, rivals, outputs)

    def longest(self, choices: Facts) -> float:
        """C; where it is left to the data, longer in rounds of rivals: a class is in few of them."""
        return float(choices["C"]) * (float(choices.get("longer", 1.0)) if self.rivals(choices) else 1.0)

    def rivals(self, choices: Facts) -> int:
        """To how many other classes a round is narrowed down; 0: to none, and where rounds are given."""
        asked, others = choices.get("rivals", 0), len(self.slots) - 1
        if self.given is not None or asked >= others or self.outputs <= choices.get("many", 0):
            return 0
        return int(asked)

    def marks_of(self, targets: np.ndarray) -> np.ndarray:
        """(rows, outputs) 0 and 1, from what the loop of single examples is told."""
        if targets.ndim == 2:
            return np.ascontiguousarray(targets > 0.5, dtype=np.int8)
        if self.outputs == 1:
            return np.asarray(targets > 0, np.int8)[:, None]
        return np.asarray(targets[:, None] == np.arange(self.outputs), np.int8)

    def rounds(
        self, examples: Examples, first: int, count: int, recent: bool, rivals: int, ids: int = 0
    ) -> PairedRounds:
        """The rounds of a block; rows that enter the reservoirs are copied to the pool."""
        rows, marks = examples.rows, self.marks_of(examples.targets[:count])
        if self.given is not None:
            return self._given_rounds(self.given, rows, marks, examples, first, count)
        room = count * len(self.slots) + count
        lengths = (room, count + 1, count, count)
        members, starts, arrivals, entering = (np.zeros(length, np.int64) for length in lengths)
        classes = np.zeros(room if rivals else 0, np.int32)
        out = (members, starts, arrivals, entering, classes)
        weights, luck = examples.weights, examples.chance
        kept = (self.slots, self.seen)
        entered = draw_rounds(marks, weights, luck, recent, len(self.pool), kept, out)
        at = entering[:entered]
        which = examples.order[at] if examples.order.size else first + at
        self.pool.take(rows, which, marks[at], weights[at] if weights.size else NONE, ids + which)
        members = members[: starts[-1]]
        if self.played is not None:
            came = examples.order[:count] if examples.order.size else first + np.arange(count)
            mine = np.repeat(ids + came, np.diff(starts))
            drawn = members != ARRIVAL
            mine[drawn] = self.pool.ids.view[members[drawn]]
            self.played.append((mine, starts.copy()))
        return PairedRounds(
            rows, self.pool.rows_like(rows), marks, self.pool.marks.view, weights,
            self._pool_weights(weights), examples.order, members, members, starts, arrivals, classes,
        )  # fmt: skip

    def _pool_weights(self, weights: np.ndarray) -> np.ndarray:
        return self.pool.weights.view if weights.size or self.pool.weighted else NONE

    def _given_rounds(
        self, given: Given, rows: Rows, marks: np.ndarray, examples: Examples, first: int, count: int
    ) -> PairedRounds:
        starts = given.starts[first : first + count + 1]
        some = slice(starts[0], starts[-1])
        members, starts = given.members[some].copy(), starts - starts[0]
        members[starts[:-1]] = ARRIVAL
        return PairedRounds(
            rows, rows, marks, given.marks, examples.weights, given.weights, examples.order, members,
            given.lines[some], starts, np.zeros(count, np.int64), np.zeros(0, np.int32),
        )  # fmt: skip

    def taken(self) -> tuple[np.ndarray | None, np.ndarray | None]:
        """Rows of the rounds that were kept, and where each round begins; from now on none are."""
        played, self.played = self.played, None
        if not played:
            return None, None
        sizes = np.concatenate([np.diff(starts) for _, starts in played])
        return np.concatenate([members for members, _ in played]), np.r_[0, np.cumsum(sizes)]

    def tidy(self) -> None:
        """Forget rows that nobody can draw any more."""
        self.pool.tidy(self.slots, self.slots.size)

    # ---- other shapes

    def turn(self) -> None:
        """See two classes from the other side."""
        self.slots, self.seen = self.slots[::-1].copy(), self.seen[::-1].copy()
        self.pool.mark_anew(1 - self.pool.marks.view)
        self.middle[THRESHOLD] *= -1.0

    def split(self, outputs: int, halves: tuple[int, int]) -> None:
        """From two classes to one output each, and new ones."""
        negative, positive = halves
        old, self.outputs = self.pool.marks.view[:, 0], outputs
        marks = np.zeros((len(self.pool), outputs), np.int8)
        marks[:, positive], marks[:, negative] = old, 1 - old
        middle = np.zeros((2, outputs))
        for k, side in ((negative, -0.5), (positive, 0.5)):
            middle[:, k] = side * self.middle[0, 0], self.middle[1, 0]
        sources = [{negative: 0, positive: 1}.get(k, -1) for k in range(outputs)]
        self._take_over(marks, middle, sources)

    def rearrange(self, outputs: int, sources: list[int]) -> None:
        """More outputs: output k continues `sources[k]`, or starts anew where that is -1."""
        into = [k for k, source in enumerate(sources) if source >= 0]
        out_of = [source for source in sources if source >= 0]
        self.outputs = outputs
        marks, middle = np.zeros((len(self.pool), outputs), np.int8), np.zeros((2, outputs))
        marks[:, into], middle[:, into] = self.pool.marks.view[:, out_of], self.middle[:, out_of]
        self._take_over(marks, middle, sources)

    def _take_over(self, marks: np.ndarray, middle: np.ndarray, sources: list[int]) -> None:
        slots = np.full((len(sources), self.slots.shape[1]), -1, np.int64)
        seen = np.zeros(len(sources), np.int64)
        for k, source in enumerate(sources):
            if source >= 0:
                slots[k], seen[k] = self.slots[source], self.seen[source]
        self.slots, self.seen, self.middle = slots, seen, middle
        self.pool.mark_anew(marks)

    # ---- copies and files

    def copy(self) -> Pairing:
        """The same in arrays of its own."""
        twin = object.__new__(Pairing)
        twin.__dict__.update(self.__dict__)
        twin.slots, twin.seen, twin.middle = self.slots.copy(), self.seen.copy(), self.middle.copy()
        twin.pool = self.pool.copy()
        return twin

    def for_round(self) -> Pairing:
        """A copy for one round, which takes over from this one or is given up: rows are not copied."""
        twin = object.__new__(Pairing)
        twin.__dict__.update(self.__dict__)
        twin.slots, twin.seen, twin.middle = self.slots.copy(), self.seen.copy(), self.middle.copy()
        twin.pool = self.pool.sharing()
        return twin

    def state(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        """What a file must hold."""
        arrays = {"slots": self.slots, "seen": self.seen, "middle": self.middle}
        arrays |= {f"pool.{name}": array for name, array in self.pool.arrays().items()}
        facts = {"pool_kind": self.pool.kind, "pool_width": self.pool.width}
        return facts, {f"pairing.{name}": array for name, array in arrays.items()}

    @staticmethod
    def layout(outputs: int, choices: dict[str, Any], facts: Facts, arrays: Arrays) -> Layout:
        """The arrays that a file must hold: reservoirs of so many rows, thresholds, the pool."""
        pool = Pool.layout(str(facts["pool_kind"]), facts["pool_width"], outputs, facts, arrays)
        groups, held = _groups(outputs, bool(choices["sets"])), lines(arrays, "pairing.pool.ids")
        return pool | {
            "pairing.slots": indices((groups, int(choices["reservoir"])), held, least=-1),
            "pairing.seen": indices((groups,), MOST_ROUNDS),
            "pairing.middle": Wanted((2, outputs)),
        }

    def restore(self, facts: Facts, arrays: Arrays) -> None:
        """Take on a state that was written, and that fits the layout."""
        for name in ("slots", "seen", "middle"):
            setattr(self, name, arrays[f"pairing.{name}"].copy())
        self.pool = Pool.restored(str(facts["pool_kind"]), int(facts["pool_width"]), arrays, self.outputs)
        filled = np.arange(self.slots.shape[1]) < self.seen[:, None]
        if (self.slots[filled] < 0).any():
            raise Misfit("its reservoirs name rows that it does not hold")


def _groups(outputs: int, sets: bool) -> int:
    """Two classes have two reservoirs, several one each."""
    return max(outputs, 1 if sets else 2)


def most_entries(block: PairedRounds, first: int, rivals: int) -> int:
    """The most entries that the members of a round have together, the constant coordinate counted."""
    sizes = np.diff(block.starts)
    if rivals and not isinstance(block.rows, Dense):
        longest = [int(np.diff(rows.starts).max(initial=0)) for rows in (block.rows, block.pool)]
        return (rivals + 1) * (max(longest) + 1)
    if isinstance(block.rows, Dense):
        return int(sizes.max(initial=0)) * (int(block.rows.values.shape[1]) + 1)
    arrivals = block.order if block.order.size else first + np.arange(len(sizes))
    own = np.diff(block.rows.starts)[arrivals]
    drawn = block.members != ARRIVAL
    lengths = np.repeat(own, sizes)
    lengths[drawn] = np.diff(block.pool.starts)[block.members[drawn]]
    return int((np.add.reduceat(lengths, block.starts[:-1]) + sizes).max()) if len(sizes) else 0
