"""When to stop labelling a pool: models of ever fewer of its labels give the same answers."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
from sklearn.metrics import cohen_kappa_score

from ...results.label_plan import Advice
from .ledger import Label, Row

FEWEST, SHARE = 20, 10  # labels between models that are compared: so many, or one in so many of all
COMPARED = 3  # pairs of models
STABLE = 0.99  # agreement at which to stop

Labels = Mapping[Row, Label]


def stability(labels: Labels, answers: Callable[[Labels], list[Label]]) -> Advice:
    """Stop where the last labels have changed nothing; `answers` are those of a model of some labels.

    The model of all labels, and of all but the last step, two and three steps (20 labels, or a tenth); stop
    where neighbours agree by Cohen's kappa of 0.99 in the mean. Bloodgood & Vijay-Shanker 2009.
    """
    known, seen = len(labels), len(set(labels.values()))
    if seen < 2:
        return Advice(
            False,
            0.0,
            f"go on: {_labels(known)} of {seen} {'class' if seen == 1 else 'classes'}; two are "
            "wanted to learn at all",
        )
    step, rows = max(FEWEST, known // SHARE), list(labels)
    parts = [{row: labels[row] for row in rows[: max(known - i * step, 0)]} for i in range(COMPARED + 1)]
    if any(len(set(part.values())) < 2 for part in parts):
        least = COMPARED * step
        more = f"; more than {least} are wanted" if known <= least else ""
        few = f"go on: {_labels(known)} are too few to tell what more of them would change{more}"
        return Advice(False, 0.0, few)
    found = [answers(part) for part in parts]
    agreed = float(np.mean([agreement(*pair) for pair in zip(found, found[1:], strict=False)]))
    stop = agreed >= STABLE
    what = "stop: more would change little" if stop else "go on: more would change much"
    enough = f"{STABLE:g} is {'enough' if stop else 'wanted'}, a heuristic"
    agree = f"{round(agreed, 3) + 0.0:.3f}"  # (no minus before a zero)
    last = f"over the last {COMPARED} x {step:,} of {known:,} labels answers agree to {agree} ({enough})"
    return Advice(stop, agreed, f"{what}; {last}")


def _labels(count: int) -> str:
    return "1 label" if count == 1 else f"{count:,} labels"


def agreement(one: list[Label], other: list[Label]) -> float:
    """Cohen's kappa of two lists of answers; 1 where they are the same."""
    if one == other:
        return 1.0
    names = {label: number for number, label in enumerate(dict.fromkeys([*one, *other]))}
    return float(cohen_kappa_score([names[label] for label in one], [names[label] for label in other]))
