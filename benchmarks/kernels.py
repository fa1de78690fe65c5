"""Kernel learners: beside the machine's matrix product, in two threads, early and late, and SVC."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.svm import SVC
from threadpoolctl import ThreadpoolController

import onmargin as om

from .contest import LIMIT, MACHINE, OTHER, PLAIN, Contestant, Work, line
from .datasets import Table, adult
from .passes import EXACT

GAMMA, TILE = 0.05, 1024
BLAS = ThreadpoolController()  # (to find the libraries takes milliseconds)
Sizes = list[tuple[int, int]]


def _learner(model: Any, table: Table, threads: int = 1) -> Contestant:
    """One pass in so many threads."""

    def run(fresh: Any) -> Any:
        with BLAS.limit(limits=threads):
            return fresh.partial_fit(table.X, table.y, classes=[-1, 1])

    return Contestant(run, lambda fitted: fitted.score(table.X[:2000], table.y[:2000]), model)


def alone(table: Table, model: Callable[[], Any]) -> Contestant:
    """The matrix products and exponentials of as many kernel values as the learner needs, and no more."""
    X = np.asarray(table.X, np.float32)
    sizes = _sizes(table, model())

    def run(_: None) -> None:
        room, at = np.empty((TILE, 512), np.float32), 0
        with BLAS.limit(limits=1):
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
    from onmargin.models.kernel.products import block_size

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
        return om.Perceptron(kernel="rbf", gamma=GAMMA, **EXACT)

    def aggressive() -> Any:
        return om.PassiveAggressiveClassifier(C=1.0, kernel="rbf", gamma=GAMMA, **EXACT)

    contestants = {
        "Perceptron": _learner(perceptron, table),
        "Perceptron, CSR": _learner(perceptron, sparse),
        "PA-I": _learner(aggressive, table),
        "PA-I, CSR": _learner(aggressive, sparse),
        "products and exp alone": alone(table, perceptron),
        "PA-I's products and exp alone": alone(table, aggressive),
    }
    bare, more = "products and exp alone", "PA-I's products and exp alone"
    lines = [
        line(LIMIT, "kernel Perceptron / GEMM+exp", "Perceptron", bare, 1.25, 1.1),
        line(LIMIT, "  CSR", "Perceptron, CSR", bare),
        line(LIMIT, "kernel PA-I / GEMM+exp", "PA-I", more, 1.25, 1.1),
        line(LIMIT, "  CSR", "PA-I, CSR", more),
    ]
    return Work("kernel", table.origin, contestants, lines, repetitions=5, least=0.7)


def threads(quick: bool) -> Work:
    """A model with many vectors, learning on and answering, in one thread and in two."""
    table = adult(6_000 if quick else 32_561)
    fitted = om.PassiveAggressiveClassifier(C=1.0, kernel="rbf", gamma=GAMMA, **EXACT)
    fitted.partial_fit(table.X, table.y, classes=[-1, 1])
    some = table._replace(X=table.X[:4096], y=table.y[:4096])

    def answer(count: int) -> Contestant:
        def run(_: None) -> Any:
            with BLAS.limit(limits=count):
                return fitted.predict(some.X)

        return Contestant(run, lambda answers: float(np.mean(answers == some.y)))

    contestants = {
        "learn, two threads": _learner(lambda: fitted.clone(include_attributes=True), some, 2),
        "learn, one thread": _learner(lambda: fitted.clone(include_attributes=True), some, 1),
        "answer, two threads": answer(2),
        "answer, one thread": answer(1),
    }
    lines = [
        line(PLAIN, "kernel learns, two threads", "learn, two threads", "learn, one thread", 1.6),
        line(PLAIN, "  answers", "answer, two threads", "answer, one thread", 1.6),
    ]
    data = f"{table.origin}; {fitted.n_support_:,} vectors kept, 4,096 rows"
    return Work("threads", data, contestants, lines, repetitions=15, least=0.7)


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
        line(OTHER, "Projectron, late / early", "late", "early", 1.25, 1.1),
        line(OTHER, "  400 vectors / 100", "late", "late, a quarter of the support"),
    ]
    return Work("projectron", table.origin, contestants, lines, repetitions=7, least=0.7)


def _resumed(table: Table, begin: int, budget: int) -> Contestant:
    """4,000 rounds from `begin` on; the support was filled by the rounds before."""
    model = om.Projectron(gamma=GAMMA, tolerance=0.1, budget=budget)
    model.partial_fit(table.X[:begin], table.y[:begin], classes=[-1, 1])
    rows = slice(begin, begin + 4_000)

    def run(twin: Any) -> Any:
        with BLAS.limit(limits=1):
            return twin.partial_fit(table.X[rows], table.y[rows])

    def accuracy(fitted: Any) -> float:
        return float(fitted.score(table.X[:2000], table.y[:2000]))

    return Contestant(run, accuracy, lambda: model.clone(include_attributes=True))


def machines(quick: bool) -> Work:
    """A support vector machine to convergence; accuracies are those on a test set."""
    table, test = adult(2_000 if quick else 6_000), adult(16_281, "a9a.t")

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
        line(MACHINE, "PA-I, mean of 3 passes", "PA-I, averaged, 3 passes", "SVC"),
        line(MACHINE, "Pegasos, 5 passes", "Pegasos, 5 passes", "SVC"),
        line(MACHINE, "Projectron++, 1 pass", "Projectron++", "SVC"),
    ]
    return Work("svc", f"{table.origin}; {test.origin}", contestants, lines, repetitions=3, least=0.7)
