"""A learner that asks, over an iterable: answer, ask by the rule, learn what was asked for."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from ...errors import BadInput
from ...results.progress import Progress, Totals
from ..runs.watch import Wanted
from ..targets.labels import as_they_are, is_missing
from ..twins import own

if TYPE_CHECKING:
    from .asks import AsksForLabels


def watch_each(owner: AsksForLabels, examples: Iterable[Any], wanted: Wanted) -> Progress:
    """Pairs (x, y) or (x, y, weight), one after the other; weight 0 leaves no line."""
    own(owner.inside())
    truths, predictions = list[Any](), list[Any]()
    queried, counted = list[bool](), list[bool]()
    mistakes = 0
    for example in examples:
        x, y, weight = example if len(example) == 3 else (*example, 1.0)
        if weight == 0:
            continue
        answer, asked = owner.predict_one(x), owner.query_one(x)
        there = not is_missing(y)
        if asked and not there:
            raise BadInput(f"round {len(truths)} was asked for and has no label; give one, or leave it out")
        if asked:
            owner.learn_one(x, y, weight)
        mistakes += owner._counts_mistakes and there and answer != y
        for values, value in ((truths, y), (predictions, answer), (queried, asked), (counted, there)):
            values.append(value)
    if not truths:
        raise BadInput("the iterable is empty; wanted pairs (x, y)")
    count, judged, owner.queried_ = len(truths), np.asarray(counted, bool), np.flatnonzero(queried)
    totals = Totals(int(judged.sum()), mistakes, 0, int(sum(queried)), 0.0)
    if not wanted.full:
        curve = [(totals.rounds, mistakes, 0.0)]
        return Progress(owner._original(), totals, None, curve=curve, kind=owner.kind)
    kept = {
        "scores": np.full(count, np.nan), "predictions": as_they_are(predictions), "counted": judged,
        "queried": np.asarray(queried, bool), "losses": np.zeros(count), "steps": np.zeros(count),
    }  # fmt: skip
    return Progress(owner._original(), totals, as_they_are(truths), None, kept, [], owner.kind, wanted.every)
