"""Kernel learners: against a row-by-row version, the machine's matrix product, two threads, SVC."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.svm import SVC
from threadpoolctl import threadpool_limits

import onmargin as om

from .contest import Contestant, Versus, Work
from .datasets import Table, adult

GAMMA, TILE = 0.05, 1024
Sizes = list[tuple[int, int]]


def _learner(model: Any, table: Table, threads: int = 1) -> Contestant:
    """One pass in so many threads."""

    def run(fresh: Any) -> Any:
        with threadpool_limits(threads):
            return fresh.partial_fit(table.X, table.y, classes=[-1, 1])

    return Contestant(run, lambda fitted: fitted.score(table.X[:2000], table.y[:2000]), model)


def row_by_row(table: Table, C: float | None) -> Contestant:
    """The same learner with one float32 matrix-vector product a round; C=None: Perceptron, else PA-I."""
    X, y = np.asarray(table.X, np.float32), table.y

    def run(_: None) -> float:
        kept, squares = np.empty_like(X), np.empty(len(X), np.float32)
        alpha, lengths, count, wrong = np.empty(len(X)), np.einsum("ij,ij->i", X, X), 0, 0
        with threadpool_limits(1):
            for t in range(len(X)):
                gaps = squares[:count] - 2 * (kept[:count] @ X[t]) + lengths[t]
                score = alpha[:count] @ (1.0 + np.exp(-GAMMA * np.maximum(gaps, 0)))
                margin = y[t] * score
                wrong += margin <= 0
                step = float(margin <= 0) if C is None else min(C, max(1 - margin, 0.0) / 2.0)
                if step > 0:
                    kept[count], squares[count], alpha[count] = X[t], lengths[t], step * y[t]
                    count += 1
        return 1.0 - wrong / len(X)

    return Contestant(run, lambda accuracy: accuracy)


def alone(table: Table, model: Callable[[], Any]) -> Contestant:
    """The matrix products and exponentials of as many kernel values as the learner needs, and no more."""
    X = np.asarray(table.X, np.float32)
    sizes = _sizes(table, model())

    def run(_: None) -> None:
        room, at = np.empty((TILE, 512), np.float32), 0
        with threadpool_limits(1):
            for kept, rows in sizes:
                block = np.ascontiguousarray(X[at : at + rows].T)
                at += rows
                for first in [*range(0, kept, TILE), -1]:  # the last: the block against itself
                    left = X[at - rows : at] if first < 0 else X[first : min(first + TILE, kept)]
                    out = room[: len(left), :rows]
                    np.matmul(left, block, out=out)
                    np.multiply(out, np.float32(-GAMMA), out=out)
                    np.exp(out, out=out)

    return Contestant(run, lambda _: 1.0)


def _sizes(table: Table, model: Any) -> Sizes:
    """Vectors kept and rows of every block of a pass."""
    from onmargin.models.products import block_size

    model.partial_fit(table.X, table.y, classes=[-1, 1])
    numbers, sizes, at = model.support_, [], 0
    while at < len(table.y):
        kept = int(np.searchsorted(numbers, at))
        rows = min(block_size(kept), len(table.y) - at)
        sizes.append((kept, rows))
        at += rows
    return sizes


def passes(quick: bool) -> Work:
    """One pass of a9a, RBF, dense and CSR."""
    table = adult(6_000 if quick else 32_561)
    sparse = table._replace(X=sp.csr_matrix(table.X))

    def perceptron() -> Any:
        return om.Perceptron(kernel="rbf", gamma=GAMMA)

    def aggressive() -> Any:
        return om.PassiveAggressiveClassifier(kernel="rbf", gamma=GAMMA)

    contestants = {
        "Perceptron": _learner(perceptron, table),
        "Perceptron, CSR": _learner(perceptron, sparse),
        "PA-I": _learner(aggressive, table),
        "PA-I, CSR": _learner(aggressive, sparse),
        "products and exp alone": alone(table, perceptron),
        "PA-I's products and exp alone": alone(table, aggressive),
        "NumPy row by row": row_by_row(table, None),
        "NumPy row by row, PA-I": row_by_row(table, 1.0),
    }
    lines = [
        Versus("kernel Perceptron, row by row", "Perceptron", "NumPy row by row", 3.0, 5.0),
        Versus("  its products and exp alone", "Perceptron", "products and exp alone", 1 / 1.4, 1 / 1.16),
        Versus("  CSR", "Perceptron, CSR", "products and exp alone", 1 / 1.4, 1 / 1.16),
        Versus("kernel PA-I, row by row", "PA-I", "NumPy row by row, PA-I", 3.0, 5.0),
        Versus("  its products and exp alone", "PA-I", "PA-I's products and exp alone", 1 / 1.4, 1 / 1.16),
        Versus("  CSR", "PA-I, CSR", "PA-I's products and exp alone", 1 / 1.4, 1 / 1.16),
    ]
    return Work("kernel", table.origin, contestants, lines, repetitions=5, least=0.7)


def threads(quick: bool) -> Work:
    """A model with many vectors, learning on and answering, in one thread and in two."""
    table = adult(6_000 if quick else 32_561)
    fitted = om.PassiveAggressiveClassifier(kernel="rbf", gamma=GAMMA)
    fitted.partial_fit(table.X, table.y, classes=[-1, 1])
    some = table._replace(X=table.X[:4096], y=table.y[:4096])

    def answer(count: int) -> Contestant:
        def run(_: None) -> Any:
            with threadpool_limits(count):
                return fitted.predict(some.X)

        return Contestant(run, lambda answers: float(np.mean(answers == some.y)))

    contestants = {
        "learn, two threads": _learner(lambda: fitted.clone(include_attributes=True), some, 2),
        "learn, one thread": _learner(lambda: fitted.clone(include_attributes=True), some, 1),
        "answer, two threads": answer(2),
        "answer, one thread": answer(1),
    }
    lines = [
        Versus("two threads, one: learning on", "learn, two threads", "learn, one thread", 1.6, 1.8),
        Versus("  answering", "answer, two threads", "answer, one thread", 1.6, 1.8),
    ]
    data = f"{table.origin}; {fitted.n_support_:,} vectors kept, 4,096 rows"
    return Work("threads", data, contestants, lines, repetitions=7, least=0.7)


def projectron(quick: bool) -> Work:
    """4,000 rounds early and late in the stream, at the same support; and with a quarter of it."""
    table = adult(8_000 if quick else 32_561)
    early, late = len(table.y) // 4, len(table.y) - 4_000
    contestants = {
        "late": _resumed(table, late, 400),
        "early": _resumed(table, early, 400),
        "late, a quarter of the support": _resumed(table, late, 100),
    }
    lines = [
        Versus("Projectron, 400 vectors: early in the stream", "late", "early", 0.8, 0.9),
        Versus("  100 vectors", "late", "late, a quarter of the support"),
    ]
    return Work("projectron", table.origin, contestants, lines, repetitions=7, least=0.7)


def _resumed(table: Table, begin: int, budget: int) -> Contestant:
    """4,000 rounds from `begin` on; the support was filled by the rounds before."""
    model = om.Projectron(gamma=GAMMA, tolerance=0.1, budget=budget)
    model.partial_fit(table.X[:begin], table.y[:begin], classes=[-1, 1])
    rows = slice(begin, begin + 4_000)

    def run(twin: Any) -> Any:
        with threadpool_limits(1):
            return twin.partial_fit(table.X[rows], table.y[rows])

    def accuracy(fitted: Any) -> float:
        return float(fitted.score(table.X[:2000], table.y[:2000]))

    return Contestant(run, accuracy, lambda: model.clone(include_attributes=True))


def machines(quick: bool) -> Work:
    """A support vector machine to convergence; accuracies are those on a test set."""
    table, test = adult(3_000 if quick else 10_000), adult(16_281, "a9a.t")

    def fitted(model: Callable[[], Any]) -> Contestant:
        def run(fresh: Any) -> Any:
            return fresh.fit(table.X, table.y)

        return Contestant(run, lambda machine: float(machine.score(test.X, test.y)), model)

    common = {"kernel": "rbf", "gamma": GAMMA, "random_state": 0}
    contestants = {
        "PA-I, averaged, 3 passes": fitted(
            lambda: om.PassiveAggressiveClassifier(C=0.1, average=True, max_iter=3, tol=None, **common)
        ),
        "Pegasos, 5 passes": fitted(lambda: om.Pegasos(lam=1e-4, max_iter=5, tol=None, **common)),
        "Projectron++": fitted(
            lambda: om.Projectron(plus=True, tolerance=0.3, average=True, max_iter=1, tol=None, **common)
        ),
        "SVC": fitted(lambda: SVC(kernel="rbf", gamma=GAMMA, C=1.0)),
    }
    lines = [
        Versus("SVC to convergence: PA-I, averaged", "PA-I, averaged, 3 passes", "SVC"),
        Versus("  Pegasos", "Pegasos, 5 passes", "SVC"),
        Versus("  Projectron++", "Projectron++", "SVC"),
    ]
    return Work("svc", f"{table.origin}; {test.origin}", contestants, lines, repetitions=3, least=0.7)
