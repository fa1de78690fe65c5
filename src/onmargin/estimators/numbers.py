"""Learners whose target is a number, or nothing: no labels to keep."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from functools import partial
from typing import Any

import numpy as np

from ..errors import BadInput
from ..models.weights import Model
from .dicts import DictFace
from .fitting import Fitted
from .lessons import Block, Cutter, Lesson
from .stream import Stream


class NumberLearner(DictFace, Fitted):
    """Targets are taken as they are; where there are none, as zeros."""

    _counts_mistakes = False

    def _cutter(self, model: Model, lesson: Lesson, whole: bool, watcher: Any = None) -> Cutter:
        return partial(_as_they_are, lesson)

    def _ready_round(self, x: Mapping[Hashable, Any], y: Any, w: float) -> tuple[Stream, float]:
        """The stream with example and target in place, and what the example weighs."""
        weight, number = 1.0 if w == 1.0 else self._weigh(w), self._number(y)
        stream = self._ready(x, y)
        stream.target[0] = number
        return stream, weight

    def _number(self, y: Any) -> float:
        try:
            number = float(y)
        except (TypeError, ValueError):
            raise BadInput(f"the target is {y!r}; wanted a number") from None
        if not -float("inf") < number < float("inf"):
            raise BadInput(f"the target is {number}; wanted a finite number; nothing was learned")
        return number

    def _check_answer(self, y: Any) -> None:
        self._number(y)

    def _learn_rows(self, table: Any, y: Any, w: Any) -> None:
        self._fitted().open(table.shape[0])
        self._play(table, self._fitted(), self._lesson(table, self._read_y(y, table.shape[0]), w))


def _as_they_are(lesson: Lesson, block: Block) -> Iterator[tuple[Block, np.ndarray, np.ndarray]]:
    weights = block.take(lesson.weights) if lesson.weights.size else lesson.weights
    targets = np.zeros(block.count) if lesson.y is None else block.take(lesson.y)
    yield block, np.ascontiguousarray(targets), np.ascontiguousarray(weights)
