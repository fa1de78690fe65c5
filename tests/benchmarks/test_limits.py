"""The loops written by hand are the library's algorithms: what they are timed as, they learn.

Run as a program it writes all pairs: `NUMBA_DISABLE_JIT=1 python -m tests.benchmarks.test_limits FILE`.
"""

from __future__ import annotations

import sys

import numpy as np
import pytest
import scipy.sparse as sp
from benchmarks.limits import classes, dense, dicts, kernel, second_order, sparse

import onmargin as om
from benchmarks import datasets

from ..uncompiled import Comparisons

COMPARISONS = Comparisons("tests.benchmarks.test_limits")
EXACT = {"average": False, "intercept_scaling": 1.0}


def small(rows=60):
    table = datasets.sparse_stream(rows, columns=200, per_row=7)
    return table.X, table.y, np.where(table.y > 0, 1.0, -1.0)


def all_weights(model):
    return np.c_[model.coef_, model.intercept_]


@COMPARISONS.each()
def sparse_pa1_is_ours():
    X, y, signs = small()
    weights, same = np.zeros(201), np.zeros(201)
    mistakes = sparse.pa1(*sparse.arrays(X), signs, weights, 0.5)
    dense.pa1(X.toarray(), signs, same, 0.5)
    run = om.progressive(om.PassiveAggressiveClassifier(C=0.5, **EXACT), X, y)
    yield weights, all_weights(run.model)[0]
    yield same, weights
    yield mistakes, run.mistakes
    scores = np.empty(len(y))
    sparse.scores(*sparse.arrays(X), weights, scores, 0, len(y))
    yield scores, run.model.decision_function(X)


@COMPARISONS.each(False, True)
def pegasos_is_ours(average):
    X, y, signs = small()
    weights, drift = np.zeros(201), np.zeros(201 if average else 0)
    sparse.pegasos(*sparse.arrays(X), signs, weights, drift, 0.01)
    count = len(y)
    if average:
        weights = (weights * (1.0 / np.arange(1, count)).sum() + drift) / count
    model = om.Pegasos(lam=0.01, average=average, intercept_scaling=1.0).partial_fit(X, y, classes=[0, 1])
    yield weights / 0.01 / (1 if average else count), all_weights(model)[0]


@COMPARISONS.each()
def pegasos_in_batches_is_ours():
    X, y, signs = small()
    count, weights = len(y) // 7, np.zeros(201)
    X, y, signs = X[: 7 * count], y[: 7 * count], signs[: 7 * count]
    sparse.pegasos_in_batches(*sparse.arrays(X), signs, weights, np.zeros(7), 0.01)
    model = om.Pegasos(lam=0.01, batch_size=7, **EXACT).partial_fit(X, y, classes=[0, 1])
    yield weights / 0.01 / count, all_weights(model)[0]


@COMPARISONS.each()
def pegasos_in_batches_of_several_classes_is_ours():
    table = datasets.class_stream(42, 10, 200, per_row=7)
    flat, arrays = classes.aligned(201, 16), sparse.arrays(table.X)
    classes.pegasos_in_batches(*arrays, table.y, flat, np.zeros(16), np.zeros(7, np.int64), 10, 0.01)
    model = om.Pegasos(lam=0.01, batch_size=7, **EXACT).partial_fit(table.X, table.y, classes=range(10))
    yield flat.reshape(201, 16)[:, :10].T / 0.01 / 6, all_weights(model)


@COMPARISONS.each()
def pegasos_of_several_classes_is_ours():
    table = datasets.dense_stream(40, 0.5, columns=24)
    weights = classes.aligned(10, 32).reshape(10, 32)
    classes.pegasos_dense(table.X, table.y, weights, np.zeros(16), 0.01)
    model = om.Pegasos(lam=0.01, **EXACT).partial_fit(table.X, table.y, classes=range(10))
    yield np.delete(weights, slice(24, 31), axis=1) / 0.01 / 40, all_weights(model)


@COMPARISONS.each("dense", "sparse")
def several_classes_are_ours(form):
    table = datasets.dense_stream(40, 0.5, columns=24)
    X = table.X.copy()
    X[:, 8:16] = 0.0
    model = om.PassiveAggressiveClassifier(C=0.5, **EXACT).partial_fit(X, table.y, classes=range(10))
    if form == "dense":
        table_of_weights = classes.aligned(10, 32).reshape(10, 32)
        classes.top_dense(X, table.y, table_of_weights, np.zeros(16), 0.5)
        weights = np.delete(table_of_weights, slice(24, 31), axis=1)
    else:
        flat, entries = classes.aligned(25, 16), sparse.arrays(sp.csr_matrix(X))
        classes.top_sparse(*entries, table.y, flat, np.zeros(16), 10, 0.5)
        weights = flat.reshape(25, 16)[:, :10].T
    yield weights, all_weights(model)


@COMPARISONS.each()
def second_order_is_ours():
    X, y, signs = small()
    (weights, theta), sigma, squares = np.zeros((2, 201)), np.ones(201), np.zeros(201)
    mistakes = second_order.arow(*sparse.arrays(X), signs, weights, sigma, 0.5)
    run = om.progressive(om.AROW(r=0.5, **EXACT), X, y)
    yield weights, all_weights(run.model)[0]
    yield mistakes, run.mistakes
    weights = np.zeros(201)
    mistakes = second_order.adagrad(*sparse.arrays(X), signs, weights, theta, squares, 0.2, 0.5)
    ftrl = om.FTRLClassifier(regularizer="adagrad", rate=0.2, adagrad_delta=0.5, **EXACT)
    run = om.progressive(ftrl, X, y)
    yield weights, all_weights(run.model)[0]
    yield mistakes, run.mistakes


@COMPARISONS.each()
def second_order_of_several_classes_is_ours():
    table = datasets.dense_stream(40, 0.5, columns=24)
    weights, sigma = (classes.aligned(10, 32).reshape(10, 32) for _ in range(2))
    sigma[:] = 1.0
    second_order.arow_dense(table.X, table.y, weights, sigma, np.zeros(16), 0.5)
    model = om.AROW(r=0.5, **EXACT).partial_fit(table.X, table.y, classes=range(10))
    yield np.delete(weights, slice(24, 31), axis=1), all_weights(model)


@COMPARISONS.each()
def a_sweep_is_ours():
    X, y, signs = small()
    grid, mistakes, flat = np.logspace(-3, 1, 32), np.zeros(32), classes.aligned(201, 32)
    classes.sweep(*sparse.arrays(X), signs, flat, np.zeros(32), np.zeros(32), grid, mistakes)
    for k in (0, 20, 31):
        run = om.progressive(om.PassiveAggressiveClassifier(C=grid[k], **EXACT), X, y)
        yield flat.reshape(201, 32)[:, k], all_weights(run.model)[0]
        yield mistakes[k], run.mistakes


@COMPARISONS.each()
def a_gather_scores():
    X, _, _ = small(5)
    flat = classes.aligned(201, 32)
    flat[:] = np.arange(201 * 32) % 7
    scores = np.zeros(32)
    classes.gather(*sparse.arrays(X), flat, 32, scores)
    yield scores, (X[-1] @ flat.reshape(201, 32)[:200]).ravel()


@COMPARISONS.each()
def a_dict_round_is_ours():
    bags = datasets.word_bags(40)
    hand = dicts.ByHand(len({word for x, _ in bags for word in x}))
    model, right = om.PassiveAggressiveClassifier(C=1.0, **EXACT), 0
    for x, y in bags:
        right += model.predict_one(x) == y
        model.learn_one(x, y)
    yield hand.play(bags), right


@COMPARISONS.each(near=1e-5)
def a_kernel_round_is_ours():
    X = np.random.default_rng(0).normal(size=(40, 3))
    y = np.where(X[:, 0] * X[:, 1] > 0, 1, -1)
    kept, alpha = np.empty_like(X), np.empty(40)
    count, _ = kernel.pa1(X, y.astype(float), kept, alpha, 0, 0, 40, 0.3, 1.0)
    model = om.PassiveAggressiveClassifier(C=1.0, kernel="rbf", gamma=0.3, dtype="float64", **EXACT)
    model.partial_fit(X, y, classes=[-1, 1])
    yield alpha[:count], model.dual_coef_.ravel()


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    return COMPARISONS.run(tmp_path_factory.mktemp("limits") / "pairs.npz")


@pytest.mark.parametrize("name", COMPARISONS.entries)
def test_the_limit_is_the_same_algorithm(written, name):
    COMPARISONS.compare(name, written)


if __name__ == "__main__":
    COMPARISONS.write(sys.argv[1])
