"""Paired rounds: beside a round of PA-I, and beside scikit-learn on differences of the same pairs.

scikit-learn has no paired learner; the nearest is its PA-I on rows x+ - x-, which must be made first.
(sofia-ml, whose ROC loop draws pairs, is on no package index.)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.metrics import f1_score

import onmargin as om

from .contest import OTHER, SKLEARN, Contestant, Work, line
from .datasets import folder, sparse_stream
from .defaults import sets
from .passes import EXACT, ours, theirs


def rounds(quick: bool) -> Work:
    """Sparse rows of 68 nonzeros, one in twenty positive."""
    table = sparse_stream(20_000 if quick else 100_000)
    draw = np.random.default_rng(2)
    kept = np.flatnonzero((table.y == 0) | (draw.random(len(table.y)) < 0.05))
    X, y = table.X[kept], table.y[kept]
    judged = slice(-10_000, None)
    positive, negative = np.flatnonzero(y == 1), np.flatnonzero(y == 0)
    first, second = draw.choice(positive, len(y)), draw.choice(negative, len(y))
    signs = np.where(np.arange(len(y)) % 2, 1, -1)

    def area(model: Any) -> float:
        return om.metrics.auc(y[judged], model.decision_function(X[judged]))

    def streamed(make: Any) -> Contestant:
        return Contestant(lambda model: model.partial_fit(X, y, classes=[0, 1]), area, make)

    def by_differences(model: Any) -> Any:
        table = X[first] - X[second]
        table.data *= np.repeat(signs, np.diff(table.indptr))
        return model.partial_fit(table, signs, classes=[-1, 1])

    contestants = {
        "PA-I": streamed(ours),
        "scikit-learn, differences": Contestant(by_differences, area, lambda: theirs(fit_intercept=False)),
    }
    rules = ("correct_mistakes", "auc", "sequential", "dca")
    for rule in rules:
        contestants[rule] = streamed(lambda rule=rule: _paired(rule=rule))
    lines = [
        line(OTHER, f"paired {rule} / PA" if rule == rules[0] else f"  {rule}", rule, "PA-I", 4.0, 2.5)
        for rule in rules
    ]
    lines.append(line(SKLEARN, "paired auc, on differences", "auc", "scikit-learn, differences"))
    data = f"generated, {len(y):,} rows of 68 nonzeros, {len(positive) / len(y):.0%} positive"
    return Work("pairs", data, contestants, lines, repetitions=5)


def _paired(**options: Any) -> Any:
    return om.PairedClassifier(C=1.0, random_state=0, **EXACT, **options)


def labels(quick: bool) -> Work:
    """90 labels: one round of pairs for each of them, beside a pass of PA-I on the sets of labels."""
    if not (folder() / "reuters21578").is_dir():
        return Work("labels", "", {}, [], skipped="Reuters is not in the folder that ONMARGIN_DATA names")
    data = sets.load("reuters")
    X, y = (data.X[:1_000], data.y[:1_000]) if quick else (data.X, data.y)
    some = slice(-1_000, None)

    def streamed(make: Callable[[], Any]) -> Contestant:
        def accuracy(model: Any) -> float:
            return float(f1_score(y[some], model.predict(X[some]), average="micro", zero_division=0.0))

        return Contestant(lambda model: model.partial_fit(X, y, classes=range(90)), accuracy, make)

    contestants = {"paired": streamed(_paired), "PA-I": streamed(ours)}
    lines = [line(OTHER, "paired, 90 labels / PA-I", "paired", "PA-I", 5.0)]
    origin = f"Reuters-21578, {X.shape[0]:,} x {X.shape[1]:,} x 90 labels"
    return Work("labels", origin, contestants, lines, repetitions=5, least=0.3)
