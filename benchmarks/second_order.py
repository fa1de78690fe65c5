"""Learners with a scale for every coordinate, AROW and AdaGrad, beside loops written by hand."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import onmargin as om

from .contest import LIMIT, Contestant, Work, line
from .datasets import Table, mnist, sparse_stream
from .limits import classes, second_order, sparse
from .passes import CLASSES, EXACT, learner, signs

R, RATE, DELTA = 1.0, 0.1, 1.0


def _arow() -> Any:
    return om.AROW(r=R, **EXACT)


def _adagrad() -> Any:
    return om.FTRLClassifier(regularizer="adagrad", rate=RATE, adagrad_delta=DELTA, **EXACT)


def _by_hand(table: Table, play: Callable[..., int]) -> Contestant:
    """One loop over sparse rows; judged by its online error."""
    arrays, targets, size = sparse.arrays(table.X), signs(table.y), table.X.shape[1] + 1
    return Contestant(lambda _: play(*arrays, targets, size), lambda mistakes: 1.0 - mistakes / len(targets))


def _arow_by_hand(*stream: Any) -> int:
    *rows, size = stream
    return int(second_order.arow(*rows, np.zeros(size), np.ones(size), R))


def _adagrad_by_hand(*stream: Any) -> int:
    *rows, size = stream
    return int(second_order.adagrad(*rows, np.zeros(size), np.zeros(size), np.zeros(size), RATE, DELTA))


def _dense_by_hand(table: Table) -> Contestant:
    """AROW of ten classes over dense rows."""
    X, y, slots = table.X, table.y, table.X.shape[1] + 8  # (each class begins a cache line)

    def run(_: None) -> int:
        weights, sigma = (classes.aligned(CLASSES, slots).reshape(CLASSES, slots) for _ in range(2))
        sigma.fill(1.0)
        return int(second_order.arow_dense(X, y, weights, sigma, np.zeros(16), R))

    return Contestant(run, lambda updates: updates > 0)


def scaled(quick: bool) -> Work:
    """Two classes, 200k x 47k; MNIST."""
    table, digits = sparse_stream(20_000 if quick else 200_000), mnist(4_000 if quick else 20_000)
    contestants = {
        "AROW": learner(_arow, table.X, table.y),
        "AROW by hand": _by_hand(table, _arow_by_hand),
        "AdaGrad": learner(_adagrad, table.X, table.y),
        "AdaGrad by hand": _by_hand(table, _adagrad_by_hand),
        "AROW, MNIST": learner(_arow, digits.X, digits.y),
        "AROW by hand, MNIST": _dense_by_hand(digits),
    }
    lines = [
        line(LIMIT, "sparse AROW / loop by hand", "AROW", "AROW by hand", 1.33, 1.15),
        line(LIMIT, "sparse AdaGrad / by hand", "AdaGrad", "AdaGrad by hand", 1.33, 1.15),
        line(LIMIT, "MNIST, AROW / loop by hand", "AROW, MNIST", "AROW by hand, MNIST", 1.33, 1.15),
    ]
    return Work("second", f"{table.origin}; {digits.origin}", contestants, lines, repetitions=11)
