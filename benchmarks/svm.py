"""Pegasos beside scikit-learn's SGD with the hinge, in row order: the last iterate and the mean of all."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.linear_model import SGDClassifier

import onmargin as om

from .contest import LIMIT, SKLEARN, Contestant, Work, line
from .datasets import Table, class_stream, mnist, sparse_stream
from .limits import classes, sparse
from .passes import CLASSES, learner, signs

LAM = 1e-4
BATCH = 10


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


def _batches_by_hand(table: Table) -> Contestant:
    arrays, targets, size = sparse.arrays(table.X), signs(table.y), table.X.shape[1] + 1
    return Contestant(
        lambda _: sparse.pegasos_in_batches(*arrays, targets, np.zeros(size), np.zeros(BATCH), LAM),
        lambda mistakes: 1.0 - mistakes / len(targets),
    )


def _classes_by_hand(table: Table) -> Contestant:
    """Batches of ten classes against the top rival."""
    arrays, y, size = sparse.arrays(table.X), table.y, table.X.shape[1] + 1

    def run(_: None) -> int:
        weights, rivals = classes.aligned(size, 16), np.zeros(BATCH, np.int64)
        return int(classes.pegasos_in_batches(*arrays, y, weights, np.zeros(16), rivals, CLASSES, LAM))

    return Contestant(run, lambda updates: updates > 0)


def _dense_by_hand(table: Table) -> Contestant:
    """Ten classes against the top rival."""
    X, y, slots = table.X, table.y, table.X.shape[1] + 8  # (each class begins a cache line)

    def run(_: None) -> int:
        weights = classes.aligned(CLASSES, slots).reshape(CLASSES, slots)
        return int(classes.pegasos_dense(X, y, weights, np.zeros(16), LAM))

    return Contestant(run, lambda updates: updates > 0)


def pegasos(quick: bool) -> Work:
    """One pass over two classes, sparse; over MNIST."""
    table, digits = sparse_stream(20_000 if quick else 200_000), mnist(4_000 if quick else 20_000)
    topics = class_stream(10_000 if quick else 100_000, CLASSES, 20_000)
    contestants, lines = {}, []
    for title, average, name in (("Pegasos, last iterate", False, "last"), ("  mean of all", True, "mean")):
        contestants[name] = learner(_ours, table.X, table.y, average=average)
        contestants[f"scikit-learn, {name}"] = learner(_theirs, table.X, table.y, average=average)
        contestants[f"by hand, {name}"] = _by_hand(table, average)
        lines.append(line(SKLEARN, title, name, f"scikit-learn, {name}", 1.3, 1.6, f"by hand, {name}"))
    contestants["batches"] = learner(_ours, table.X, table.y, average=False, batch_size=BATCH)
    contestants["by hand, batches"] = _batches_by_hand(table)
    contestants["topics"] = learner(_ours, topics.X, topics.y, average=False, batch_size=BATCH)
    contestants["by hand, topics"] = _classes_by_hand(topics)
    contestants["MNIST"] = learner(_ours, digits.X, digits.y, average=False)
    contestants["by hand, MNIST"] = _dense_by_hand(digits)
    lines.append(line(LIMIT, "Pegasos, batches of 10", "batches", "by hand, batches", 1.33, 1.15))
    lines.append(line(LIMIT, "  of ten classes, sparse", "topics", "by hand, topics", 1.33, 1.15))
    lines.append(line(LIMIT, "MNIST, Pegasos / by hand", "MNIST", "by hand, MNIST", 1.33, 1.15))
    data = "; ".join(each.origin for each in (table, topics, digits))
    return Work("pegasos", data, contestants, lines, repetitions=15)
