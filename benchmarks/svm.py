"""Pegasos beside scikit-learn's SGD with the hinge, in row order: the last iterate and the mean of all."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.linear_model import SGDClassifier

import onmargin as om

from .contest import SKLEARN, Contestant, Work, line
from .datasets import Table, sparse_stream
from .limits import sparse
from .passes import learner, signs

LAM = 1e-4


def _ours(**options: Any) -> Any:
    return om.Pegasos(lam=LAM, intercept_scaling=1.0, **options)


def _theirs(**options: Any) -> Any:
    return SGDClassifier(loss="hinge", alpha=LAM, shuffle=False, random_state=0, **options)


def _by_hand(table: Table, average: bool) -> Contestant:
    arrays, targets, size = sparse.arrays(table.X), signs(table.y), table.X.shape[1] + 1
    return Contestant(
        lambda _: sparse.pegasos(*arrays, targets, np.zeros(size), np.zeros(size if average else 0), LAM),
        lambda mistakes: 1.0 - mistakes / len(targets),
    )


def pegasos(quick: bool) -> Work:
    """One pass."""
    table = sparse_stream(20_000 if quick else 200_000)
    contestants, lines = {}, []
    for title, average, name in (("Pegasos, last iterate", False, "last"), ("  mean of all", True, "mean")):
        contestants[name] = learner(_ours, table.X, table.y, average=average)
        contestants[f"scikit-learn, {name}"] = learner(_theirs, table.X, table.y, average=average)
        contestants[f"by hand, {name}"] = _by_hand(table, average)
        lines.append(line(SKLEARN, title, name, f"scikit-learn, {name}", 1.3, 1.6, f"by hand, {name}"))
    return Work("pegasos", table.origin, contestants, lines, repetitions=15)
