"""The jobs: fit and be tested; one pass and be tested; be judged on every row before it is learned."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from typing import NamedTuple, Protocol

import numpy as np
from sklearn.metrics import f1_score, roc_auc_score

import onmargin as om

from . import sets
from .sets import CLASSES, LABEL_SETS, NUMBERS, QUERIES, Part, Set

JOBS = ("fit", "last", "online")
AT = 10  # NDCG@10


class Answers(NamedTuple):
    """What was said about the rows judged: answers, and scores where somebody asks for an AUC."""

    said: np.ndarray
    scores: np.ndarray | None = None


class Contestant(Protocol):
    """Whoever does the jobs, with its default settings."""

    def settings(self) -> str:
        """A mark of its default settings, by which outcomes of others are known."""

    def takes(self, job: str, data: Set) -> bool:
        """Whether it can, in a sensible time."""

    def answers(self, job: str, data: Set, part: Part, seed: int) -> Answers:
        """Learn from the part, answer about its test rows (online: about its rows)."""


class Outcome(NamedTuple):
    """A number per run (percent, less is better), seconds of all, runs that did not converge, what failed."""

    values: list[float]
    seconds: float
    warned: int = 0
    failed: str = ""

    @property
    def mean(self) -> float:
        """Of the seeds; NaN where it failed."""
        return float(np.mean(self.values)) if self.values and not self.failed else float("nan")


def error(data: Set, part: Part, job: str, found: Answers) -> float:
    """Percent: wrong labels; 1 - micro F1; mean absolute error beside the median's; 1 - NDCG@10."""
    y = part.y if job == "online" else part.y_test
    if data.kind == CLASSES:
        return 100.0 * float(np.mean(found.said != y))
    if data.kind == LABEL_SETS:
        return 100.0 * (1.0 - float(f1_score(y, found.said, average="micro", zero_division=0)))
    if data.kind == NUMBERS:
        away = np.abs(np.asarray(found.said, float) - y).mean()
        return 100.0 * float(away / np.abs(np.median(part.y) - y).mean())
    return 100.0 * (1.0 - float(om.metrics.ndcg(y, found.said, qid=part.qid_test, k=AT)))


def auc_error(data: Set, part: Part, job: str, found: Answers) -> float:
    """100 (1 - AUC), of two classes."""
    y = part.y if job == "online" else part.y_test
    return 100.0 * (1.0 - float(roc_auc_score(y, found.scores)))


def f1_error(data: Set, part: Part, job: str, found: Answers) -> float:
    """100 (1 - F1): macro over classes or labels."""
    y = part.y if job == "online" else part.y_test
    return 100.0 * (1.0 - float(f1_score(y, found.said, average="macro", zero_division=0)))


MEASURES: dict[str, Callable[[Set, Part, str, Answers], float]] = {
    "error": error, "auc": auc_error, "f1": f1_error,
}  # fmt: skip


def measure(
    contestant: Contestant, name: str, job: str, runs: int | None = None, by: str = "error"
) -> Outcome:
    """All splits (streams: orders) of a set; a failure is kept, not raised."""
    data = sets.load(name)
    values: list[float] = []
    seconds: list[float] = []
    warned = 0
    for seed in range(sets.runs(data, job, runs)):
        part = sets.stream(data, seed) if job == "online" else sets.split(data, seed)
        begun = time.perf_counter()
        try:
            with warnings.catch_warnings(record=True) as heard, np.errstate(all="ignore"):
                warnings.simplefilter("always")
                found = contestant.answers(job, data, part, seed)
        except (ValueError, ArithmeticError, MemoryError) as problem:
            text = f"{type(problem).__name__}: {problem}".splitlines()[0]
            return Outcome(values, _typical(seconds), warned, text)
        seconds.append(time.perf_counter() - begun)
        warned += any("onverge" in str(one.message) or "max_iter" in str(one.message) for one in heard)
        value = MEASURES[by](data, part, job, found)
        if not np.isfinite(value):
            return Outcome(values, _typical(seconds), warned, "not finite")
        values.append(value)
    return Outcome(values, _typical(seconds), warned)


def _typical(seconds: list[float]) -> float:
    """The sum, had all been like the median: the first may have compiled."""
    return float(np.median(seconds)) * len(seconds) if seconds else 0.0


__all__ = [
    "CLASSES",
    "JOBS",
    "LABEL_SETS",
    "MEASURES",
    "NUMBERS",
    "QUERIES",
    "Answers",
    "Contestant",
    "Outcome",
]
