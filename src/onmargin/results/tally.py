"""The error so far along a stream, block by block, with a line at every power of two."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from ..errors import BadInput, shown
from .progress import Progress, Totals

MOST_POINTS = 2000  # of a curve; then every other one is let go
POINTS = 20  # within a block
WORDS = {"labels": "error", "numbers": "mae", "ranks": "ndcg"}  # what is averaged, by the kind of a run


class Line(NamedTuple):
    """How things stood after so many examples, as `vw` prints it; the last three are of the last of them."""

    examples: int
    average: float
    since_last: float
    label: object
    guess: object
    features: int


class Tally:
    """Sums over the runs of `om.progressive` on the blocks of one pass.

    `word` says what `average` is: "error" (mistakes over examples), "mae" (the mean absolute error of
    numbers, whatever loss is learned by: runs must be traced), "ndcg" (over queries) or "loss".
    before : examples of the passes before this one; lines are counted on.
    level, idle : of numbers, the sum of the targets, and of their distances to the mean of those before.
    """

    def __init__(self, before: int = 0) -> None:
        self.kind, self.before = "labels", before
        self.count = self.mistakes = self.errors = self.updates = 0
        self.total = self.loss = self.level = self.idle = 0.0
        self.curve: list[tuple[int, int, float]] = []
        self.coming, self.stood = 1 << before.bit_length(), (0, 0.0)

    @property
    def word(self) -> str:
        """What is averaged."""
        return WORDS.get(self.kind, "loss")

    @property
    def average(self) -> float:
        """Over all that was seen; NaN before anything was."""
        return self.total / self.count if self.count else float("nan")

    @property
    def baseline(self) -> float:
        """Of numbers: what always answering the mean of the targets so far would have come to; else NaN."""
        return self.idle / self.count if self.count and self.kind == "numbers" else float("nan")

    def add(self, run: Progress, rows: object = None) -> list[Line]:
        """One more block; with a line for every round kept (`trace="full"`), the powers of two in it."""
        self.kind, before = run.kind, self.count
        if run.kind == "ranks":
            self._add_queries(run)
            lines: list[Line] = []
        else:
            lines = [] if run.losses is None else self._lines(run, rows, before)
            if run.losses is not None:
                self._add_points(run)
            if run.kind == "numbers":
                self._add_targets(np.asarray(run.y, float)[np.asarray(run.counted, bool)])
            self.count += run.rounds
            self.total += _summed(run)
        self.mistakes += run.mistakes
        self.errors += run.totals.errors
        self.updates += run.updates
        self.loss += run.totals.loss
        if self.count > before:
            self.curve.append((self.count, self.mistakes, self.loss))
        if len(self.curve) > MOST_POINTS:
            self.curve = self.curve[1::2]
        return lines

    def _add_targets(self, targets: np.ndarray) -> None:
        sums = self.level + np.r_[0.0, np.cumsum(targets)]
        means = sums[:-1] / np.maximum(self.count + np.arange(len(targets)), 1)
        self.idle += float(np.abs(targets - means).sum())
        self.level = float(sums[-1])

    def _add_points(self, run: Progress) -> None:
        """Some points of the curve within a block."""
        places = np.flatnonzero(np.asarray(run.counted, bool))
        wrong = np.cumsum(run.wrong()[places]) if run.kind == "labels" else np.zeros(len(places))
        loss = np.cumsum(np.asarray(run.losses)[places])
        for at in np.unique(np.linspace(0, len(places), POINTS, endpoint=False, dtype=int))[1:].tolist():
            point = (self.count + at, self.mistakes + int(wrong[at - 1]), self.loss + float(loss[at - 1]))
            self.curve.append(point)

    def _add_queries(self, run: Progress) -> None:
        queries = len(np.unique(np.asarray(run.groups)))
        mean = run.metrics("ndcg")["ndcg"] if queries else float("nan")
        if np.isfinite(mean):
            self.count, self.total = self.count + queries, self.total + mean * queries

    def _lines(self, run: Progress, rows: object, before: int) -> list[Line]:
        """Exact places of the powers of two among the rounds of a run."""
        found: list[Line] = []
        places = np.flatnonzero(np.asarray(run.counted, bool))
        end = before + len(places)
        if self.coming - self.before > end:
            return found
        so_far = self.total + np.cumsum(_each(run)[places])
        while (at := self.coming - self.before) <= end:
            total, row = float(so_far[at - before - 1]), int(places[at - before - 1])
            count, earlier = self.stood
            label = None if run.y is None else np.asarray(run.y)[row]
            guess = None if run.predictions is None else np.asarray(run.predictions)[row]
            since = (total - earlier) / (at - count)
            found.append(
                Line(self.coming, total / at, since, _plain(label), _plain(guess), _entries(rows, row))
            )
            self.stood, self.coming = (at, total), 2 * self.coming
        return found

    def progress(self, model: object) -> Progress:
        """The sums as a run, with its curve."""
        totals = Totals(self.count, self.mistakes, self.errors, self.updates, self.loss)
        return Progress(model, totals, None, curve=list(self.curve), kind=self.kind)

    # ---- for files

    def state(self) -> dict[str, object]:
        """Plain values that `from_state` makes the same of."""
        return {
            "kind": self.kind, "before": self.before, "count": self.count, "mistakes": self.mistakes,
            "errors": self.errors, "updates": self.updates, "total": self.total, "loss": self.loss,
            "next": self.coming, "last": self.stood, "curve": list(self.curve),
            "level": self.level, "idle": self.idle,
        }  # fmt: skip

    @classmethod
    def from_state(cls, state: object) -> Tally:
        """The same again; what is none is refused."""
        made = cls()
        try:
            if not isinstance(state, Mapping):
                raise TypeError
            made.kind = str(state["kind"])
            made.count, made.mistakes, made.errors, made.updates, made.coming, made.before = (
                int(state[name]) for name in ("count", "mistakes", "errors", "updates", "next", "before")
            )
            made.total, made.loss = float(state["total"]), float(state["loss"])
            made.level, made.idle = float(state["level"]), float(state["idle"])
            last, sum_then = state["last"]
            made.stood = (int(last), float(sum_then))
            made.curve = [(int(a), int(b), float(c)) for a, b, c in state["curve"]]
        except (KeyError, TypeError, ValueError, OverflowError):
            raise BadInput(f"{shown(state)} is no tally") from None
        if min(made.count, made.mistakes, made.updates, made.stood[0], made.coming - 1, made.before) < 0:
            raise BadInput("a tally counts below 0")
        return made


def _each(run: Progress) -> np.ndarray:
    """What is averaged, per round."""
    if run.kind != "numbers":
        return run.wrong()
    return np.asarray(np.abs(np.asarray(run.predictions, float) - np.asarray(run.y, float)))


def _summed(run: Progress) -> float:
    if run.kind == "numbers":
        return float(_each(run)[np.asarray(run.counted, bool)].sum())
    return run.mistakes if run.kind == "labels" else run.totals.loss


def _plain(value: object) -> object:
    """NumPy's numbers as Python's; a line of 0 and 1 as the places of the 1s."""
    if isinstance(value, np.ndarray):
        return tuple(np.flatnonzero(value).tolist())
    return value.item() if isinstance(value, np.generic) else value


def _entries(rows: object, row: int) -> int:
    """Features of one row that are there."""
    if isinstance(rows, sp.csr_matrix | sp.csr_array):
        return int(rows.indptr[row + 1] - rows.indptr[row])
    return int(np.count_nonzero(rows[row])) if isinstance(rows, np.ndarray) else 0
