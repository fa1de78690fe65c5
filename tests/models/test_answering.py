"""Scores of many rows: in threads, of a few rows, class by class."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from threadpoolctl import threadpool_limits

import onmargin as om
from onmargin.compiled import threads
from onmargin.errors import BadInput

from ..soaking import uncompiled

DRAW = np.random.default_rng(5)
X = DRAW.normal(size=(400, 30)) * (DRAW.random((400, 30)) < 0.6)
Y = (X @ DRAW.normal(size=(30, 10))).argmax(axis=1)


@pytest.fixture
def eager(monkeypatch):
    """Threads for any work."""
    monkeypatch.setattr(threads, "PAYS", 1)


def both(X):
    return X, sp.csr_matrix(X)


@pytest.mark.parametrize("labels", [Y, Y % 2], ids=["ten", "two"])
def test_threads_answer_as_one_does(eager, labels):
    model = om.PassiveAggressiveClassifier(average=True, classes=np.unique(labels)).partial_fit(X, labels)
    for table in both(X):
        with threadpool_limits(1):
            alone = model.decision_function(table)
        with threadpool_limits(3):
            assert_array_equal(model.decision_function(table), alone)


@pytest.mark.parametrize("row", [0, 150, 399])
def test_the_first_row_that_is_not_finite_is_named_whoever_finds_it(eager, row):
    model = om.PassiveAggressiveClassifier(classes=range(10)).partial_fit(X, Y)
    bad = X.copy()
    bad[row, 3] = bad[399, 4] = np.nan
    for table in both(bad):
        with threadpool_limits(4), pytest.raises(BadInput, match=f"^row {row} has a NaN"):
            model.predict(table)


def test_malformed_matrices_are_found_by_any_thread(eager):
    model = om.PassiveAggressiveClassifier(classes=range(10)).partial_fit(X, Y)
    for row in (0, 200, 399):
        table = sp.csr_matrix(X)
        table.indices[table.indptr[row]] = 10**6
        with threadpool_limits(4), pytest.raises(BadInput, match="malformed"):
            model.predict(table)
        table = sp.csr_matrix(X)
        table.indptr[row + 1] = -5
        with threadpool_limits(4), pytest.raises(BadInput, match="malformed"):
            model.predict(table)


MADE = {
    "averaged": lambda: om.PassiveAggressiveClassifier(average=True), "pegasos": lambda: om.Pegasos(lam=0.1),
    "last": lambda: om.Pegasos(lam=0.1, average=False), "ball": lambda: om.ProjectedPerceptron(radius=2.0),
    "shifting": lambda: om.ShiftingPerceptron(), "arow": lambda: om.AROW(average=True),
    "adagrad": lambda: om.FTRLClassifier(average=True), "coin": lambda: om.FTRLClassifier(regularizer="coin"),
    "l1": lambda: om.FTRLClassifier(l1=0.01), "horizon": lambda: om.Perceptron(horizon=20.0),
}  # fmt: skip


@uncompiled
@pytest.mark.parametrize("name", MADE)
@pytest.mark.parametrize("labels", [Y, Y % 2], ids=["ten", "two"])
def test_a_few_rows_are_answered_as_all_are(name, labels):
    """Though no weights are spelled out for them."""
    wide = sp.hstack([sp.csr_matrix(X), sp.csr_matrix((400, 40_000))]).tocsr()
    model = MADE[name]().partial_fit(wide, labels, classes=np.unique(labels))
    whole = model.decision_function(sp.vstack([wide] * 4).tocsr())[:2]
    scale = max(1.0, float(abs(whole).max()))
    assert_allclose(model.decision_function(wide[:2]), whole, atol=1e-9 * scale)


@pytest.mark.parametrize("average", [False, True])
@pytest.mark.parametrize("columns", [2, 64, 71, 72])
@pytest.mark.parametrize("classes", [3, 10, 17])
def test_weights_class_by_class_learn_what_weights_side_by_side_do(average, columns, classes):
    draw = np.random.default_rng(columns)
    rows, labels = draw.normal(size=(200, columns)), draw.integers(0, classes, 200)  # (no ties)
    told = {"average": average, "classes": range(classes), "C": 0.3}
    dense = om.PassiveAggressiveClassifier(**told).partial_fit(rows, labels)
    for other in (sp.csr_matrix(rows), np.asfortranarray(rows)):
        same = om.PassiveAggressiveClassifier(**told).partial_fit(other, labels)
        assert_allclose(dense.coef_, same.coef_, atol=1e-9)
        assert_allclose(dense.intercept_, same.intercept_, atol=1e-9)
        assert_allclose(dense.decision_function(rows), same.decision_function(other), atol=1e-9)
