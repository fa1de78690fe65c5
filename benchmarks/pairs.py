"""Paired rounds: beside a round of PA-I, and beside scikit-learn on differences of the same pairs.

scikit-learn has no paired learner; the nearest is its PA-I on rows x+ - x-, which must be made first.
(sofia-ml, whose ROC loop draws pairs, is on no package index.)
"""

from __future__ import annotations

from typing import Any

import numpy as np

import onmargin as om

from .contest import Contestant, Versus, Work
from .datasets import sparse_stream
from .passes import theirs


def rounds(quick: bool) -> Work:
    """Sparse rows of 75 nonzeros, one in twenty positive."""
    table = sparse_stream(20_000 if quick else 200_000)
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
        "PA-I": streamed(om.PassiveAggressiveClassifier),
        "scikit-learn, differences": Contestant(
            by_differences, area, lambda: theirs(fit_intercept=False, shuffle=False)
        ),
    }
    rules = ("correct_mistakes", "auc", "sequential", "dca")
    for rule in rules:
        contestants[rule] = streamed(lambda rule=rule: om.PairedClassifier(rule=rule, random_state=0))
    lines = [Versus("paired round, correct_mistakes", rules[0], "PA-I", 0.25, 0.4)]
    lines += [Versus(f"  {rule}", rule, "PA-I", 0.25, 0.4) for rule in rules[1:]]
    lines.append(Versus("  auc, peer on the same pairs", "auc", "scikit-learn, differences"))
    data = f"generated, {len(y):,} rows of 75 nonzeros, {len(positive) / len(y):.0%} positive"
    return Work("pairs", data, contestants, lines)
