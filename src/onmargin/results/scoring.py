"""How a run is judged: the measures by name, which way round each is, and a user's own."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable
from functools import partial
from numbers import Real
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from sklearn import metrics as of_answers

from ..errors import BadInput, shown
from . import metrics as of_scores

if TYPE_CHECKING:
    from .progress import Progress

Measure = Callable[[], float]
Judge = Callable[[np.ndarray, np.ndarray], object]

# What may be asked of a run, by what is learned: is more of it better? The first is what is asked by default.
MEASURES: dict[str, dict[str, bool]] = {
    "labels": {
        "error_rate": False, "accuracy": True, "balanced_accuracy": True, "f1": True, "auc": True,
        "auc_all_pairs": True, "auc_one_vs_all": True, "ranking_loss": False, "one_error": False,
        "coverage": False, "lrap": True,
    },
    "numbers": {"mae": False, "rmse": False, "r2": True},
    "ranks": {"ndcg": True, "mean_average_precision": True, "auc": True, "one_error": False},
    "choices": {"one_error": False, "mean_average_precision": True, "auc": True},
}  # fmt: skip


class Judged(NamedTuple):
    """The rounds of a run that count: truths, answers, scores, and groups (None: there are none)."""

    y: np.ndarray
    answers: np.ndarray
    scores: np.ndarray
    groups: np.ndarray | None
    right: float  # the share of right answers; one of None (before any label) is wrong, and left out above


def judged(run: Progress) -> Judged:
    """What a run is judged by."""
    if run.predictions is None or run.y is None:
        raise BadInput("metrics need answers and truths; run with trace='full' and y")
    seen = np.asarray(run.counted, bool)
    y, answers = np.asarray(run.y)[seen], np.asarray(run.predictions)[seen]
    if y.dtype == object and len({type(label) for label in y}) == 1:
        y = np.array(y.tolist())  # (labels beside missing ones, which are left out)
    scores = np.asarray(run.scores)[seen]
    right = float(np.mean(1.0 - run.wrong()[seen])) if run.kind == "labels" else 0.0
    if answers.dtype == object:
        given = np.array([answer is not None for answer in answers])
        y, scores = y[given], scores[given]
        answers = np.array(answers[given].tolist())
    return Judged(y, answers, scores, None if run.groups is None else run.groups[seen], right)


def measures(run: Progress) -> dict[str, Measure]:
    """The measures that this very run has."""
    y, answers, scores, groups, right = judged(run)
    if run.kind in ("ranks", "choices"):
        return {name: partial(getattr(of_scores, name), y, scores, qid=groups) for name in MEASURES[run.kind]}
    if run.kind != "labels":
        return {
            "mae": lambda: float(of_answers.mean_absolute_error(y, answers)),
            "rmse": lambda: float(of_answers.root_mean_squared_error(y, answers)),
            "r2": lambda: float(of_answers.r2_score(y, answers)),
        }
    binary = y.ndim == 1 and len(np.unique(y)) <= 2
    average = {"average": "binary", "pos_label": np.unique(y)[-1]} if binary else {"average": "macro"}
    known: dict[str, Measure] = {
        "accuracy": lambda: right,
        "error_rate": lambda: 1 - right,
        "balanced_accuracy": lambda: float(of_answers.balanced_accuracy_score(y, answers)),
        "f1": lambda: float(of_answers.f1_score(y, answers, zero_division=0, **average)),
    }
    named: tuple[str, ...] = ("auc",) if binary and scores.ndim == 1 else ()
    if scores.ndim == 2:
        several = ("auc_all_pairs", "auc_one_vs_all")
        named = several if y.ndim == 1 else ("ranking_loss", "one_error", "coverage", "lrap")
    if np.isnan(scores).any():  # learners that ask keep none of dicts
        named = ()
    return known | {name: partial(getattr(of_scores, name), y, scores) for name in named}


class Scoring(NamedTuple):
    """A measure of runs: its name, which way round it is, and (a user's own) the function behind it."""

    name: str
    greater: bool
    function: Judge | None = None
    by_scores: bool = False

    @property
    def from_sums(self) -> bool:
        """Is it known without a line per round?"""
        return self.function is None and self.name == "error_rate"

    def of(self, run: Progress) -> float:
        """What a run came to; NaN where there is no truth to judge by."""
        if self.from_sums:
            return run.error_rate
        if run.y is None:
            return math.nan
        if self.function is None:
            return run.metrics(self.name)[self.name]
        seen = judged(run)
        given = seen.scores if self.by_scores else seen.answers
        if seen.groups is None:
            return self._value(self.function(seen.y, given))
        own = (seen.groups == group for group in np.unique(seen.groups))
        return float(np.mean([self._value(self.function(seen.y[rows], given[rows])) for rows in own]))

    def _value(self, found: object) -> float:
        value = found.item() if isinstance(found, np.ndarray) and found.ndim == 0 else found
        if not isinstance(value, Real):
            raise BadInput(f"scoring={self.name} returned {shown(found)}; wanted one number, more is better")
        return float(value)


def _called(function: object) -> str:
    """A function's name, if it has one."""
    inside = getattr(function, "func", function)  # (of a partial)
    name = str(getattr(inside, "__name__", type(inside).__name__))
    return name if name.isidentifier() else "score"


def scoring_of(given: object, kind: str) -> Scoring:
    """What a user asks for; None is the first measure of what is learned."""
    known = MEASURES[kind]
    name = next(iter(known)) if given is None else given
    if isinstance(name, str) and name in known:
        return Scoring(name, known[name])
    if not callable(given):
        raise BadInput(
            f"scoring={shown(given)}; wanted one of {', '.join(known)}, or a function of the truths and the "
            "answers"
        )
    called = _called(given)
    try:
        signature = inspect.signature(given)
        signature.bind(None, None)
    except ValueError:  # it does not say what it takes
        return Scoring(called, True, given)
    except TypeError:
        raise BadInput(
            f"scoring={called}{signature}; wanted a function of two: the truths and the answers"
        ) from None
    second = [*signature.parameters][1:2]
    by_scores = any(word in parameter for parameter in second for word in ("score", "decision"))
    return Scoring(called, True, given, by_scores)
