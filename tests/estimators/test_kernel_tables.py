"""Tables of all kinds, weights, growth and new starts: the same learner, told in other ways."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp

import onmargin as om

from ..students import PLAIN
from .kernel_refusals import X, Y, agree, perceptron, state

THREE = np.digitize(X[:, 0], [-0.5, 0.5])


def long_indices(table: np.ndarray) -> Any:
    csr = sp.csr_matrix(table)
    csr.indices, csr.indptr = csr.indices.astype(np.int64), csr.indptr.astype(np.int64)
    return csr


def scrambled(table: np.ndarray) -> Any:
    """CSR with unsorted entries, each value in two halves."""
    rows, columns = table.shape
    order = np.tile(np.r_[np.arange(columns)[::-1], np.arange(columns)], rows)
    halves = np.c_[table[:, ::-1], table].ravel() / 2
    return sp.csr_matrix((halves, order, np.arange(0, 2 * table.size + 1, 2 * columns)), shape=table.shape)


FORMS = {
    "Fortran order": np.asfortranarray,
    "every other column": lambda table: np.repeat(table, 2, axis=1)[:, ::2],
    "lists": lambda table: table.tolist(),
    "float32": lambda table: table.astype(np.float32),
    "CSR": sp.csr_matrix,
    "CSR array": sp.csr_array,
    "CSC": sp.csc_matrix,
    "CSR of long indices": long_indices,
    "pandas": lambda table: pd.DataFrame(table, columns=list("abc")),
    "polars": lambda table: pl.DataFrame(table, schema=list("abc")),
}


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_every_kind_of_table_is_the_same_lesson(form: Any) -> None:
    table = np.where(draw_marks(0.7), X, 0.0).astype(np.float32).astype(float)
    for make in (
        lambda: om.PassiveAggressiveClassifier(
            kernel="rbf", dtype="float64", max_iter=1, shuffle=False, tol=None
        ),
        lambda: om.PassiveAggressiveClassifier(
            kernel="poly", coef0=1.0, budget=15, max_iter=1, shuffle=False, tol=None
        ),
    ):
        plain = make().fit(table, THREE)
        model = make().fit(form(table), THREE)
        assert model.support_.tolist() == plain.support_.tolist()
        np.testing.assert_allclose(
            model.decision_function(form(table)), plain.decision_function(table), atol=1e-9
        )
        if not hasattr(form(table), "columns"):
            np.testing.assert_allclose(
                model.decision_function(table), plain.decision_function(table), atol=1e-9
            )
            np.testing.assert_allclose(
                plain.decision_function(form(table)), plain.decision_function(table), atol=1e-9
            )


def draw_marks(share: float) -> np.ndarray:
    return np.random.default_rng(5).random((40, 3)) < share


def test_entries_in_halves_and_out_of_order_are_the_same_lesson() -> None:
    plain, model = (perceptron(gamma=0.5).fit(table, Y) for table in (X, scrambled(X)))
    assert model.support_.tolist() == plain.support_.tolist()
    np.testing.assert_allclose(model.decision_function(scrambled(X)), plain.decision_function(X), atol=1e-9)
    np.testing.assert_allclose(model.support_vectors_.toarray(), plain.support_vectors_, atol=1e-15)


def test_the_width_does_not_depend_on_how_a_csr_table_is_stored() -> None:
    assert perceptron().fit(scrambled(X), Y).gamma_ == pytest.approx(perceptron().fit(X, Y).gamma_)


def test_a_read_only_map_of_a_file_is_learned_and_left_alone(tmp_path: Any) -> None:
    np.save(tmp_path / "x.npy", X)
    mapped = np.load(tmp_path / "x.npy", mmap_mode="r")
    model = perceptron().fit(mapped, Y)
    np.testing.assert_array_equal(
        model.decision_function(mapped), perceptron().fit(X, Y).decision_function(X)
    )
    mine = X.copy()
    model = perceptron().fit(mine, Y)
    before = model.decision_function(X)
    mine[...] = 0.0
    np.testing.assert_array_equal(model.decision_function(X), before)


def test_small_tables() -> None:
    """One row, one column, empty rows, nothing but zeros."""
    one = perceptron(gamma=1.0).fit(X[:1], [1])
    assert one.predict(X[:1]).tolist() == [1] and one.t_ == 1
    narrow = perceptron(gamma=1.0).fit(X[:, :1], Y)
    sparse = perceptron(gamma=1.0).fit(sp.csr_matrix(X[:, :1]), Y)
    np.testing.assert_allclose(
        narrow.decision_function(X[:, :1]), sparse.decision_function(X[:, :1]), atol=1e-5
    )
    holes = sp.csr_matrix(X * (np.arange(40)[:, None] % 2))
    model, dense = (
        perceptron(dtype="float64").fit(holes, Y),
        perceptron(dtype="float64").fit(holes.toarray(), Y),
    )
    np.testing.assert_allclose(model.decision_function(holes), dense.decision_function(holes), atol=1e-9)
    np.testing.assert_allclose(
        model.decision_function(sp.csr_matrix((2, 3))), dense.decision_function(np.zeros((2, 3))), atol=1e-9
    )
    nothing = perceptron().fit(sp.csr_matrix((40, 3)), Y)
    assert nothing.gamma_ == 1.0 and np.isfinite(nothing.decision_function(X)).all()


@pytest.mark.parametrize("kind", ["CSR", "dicts"])
def test_a_column_far_from_0_is_learned_from_sparse_rows_too(kind: str) -> None:
    """Dense rows are shifted first; dicts and CSR must update in the same rounds."""
    table = np.c_[2020.0 + np.round(3 * X[:, 0]), X[:, 1:]]
    dense = perceptron(gamma=1.0).partial_fit(table, Y)
    model = perceptron(gamma=1.0)
    if kind == "CSR":
        model.partial_fit(sp.csr_matrix(table), Y)
    else:
        for row, label in zip(table.tolist(), Y.tolist(), strict=True):
            model.learn_one(dict(enumerate(row)), label)
    assert model.support_.tolist() == dense.support_.tolist()


def test_a_column_of_time_stamps_in_csr() -> None:
    table = np.c_[1.7e9 + X[:, :1], X[:, 1:]]
    dense, sparse = (
        perceptron(gamma=1.0, dtype="float64").fit(form(table), Y) for form in (np.asarray, sp.csr_matrix)
    )
    assert sparse.support_.tolist() == dense.support_.tolist()
    np.testing.assert_allclose(sparse.decision_function(table), dense.decision_function(table), atol=1e-6)


def test_a_first_row_far_out_does_not_spoil_the_others() -> None:
    table = np.r_[[[1e6, 1e6, 1e6]], X]
    plain = perceptron(gamma=1.0).fit(table, [0, *Y])
    exact = perceptron(gamma=1.0, dtype="float64").fit(table, [0, *Y])
    assert plain.support_.tolist() == exact.support_.tolist()


def test_weights_of_0_are_not_seen_and_weights_scale_the_step() -> None:
    weights = np.where(np.arange(40) % 3, 1.0, 0.0)
    seen = weights > 0
    for make in (
        lambda: om.PassiveAggressiveClassifier(kernel="rbf", gamma=0.5, classes=(0, 1)),
        lambda: om.RandomBudgetPerceptron(budget=6, gamma=0.5, random_state=1, classes=(0, 1)),
    ):
        whole = make().partial_fit(X, Y, sample_weight=weights)
        some = make().partial_fit(X[seen], Y[seen])
        assert whole.t_ == some.t_ == seen.sum()
        np.testing.assert_allclose(whole.dual_coef_, some.dual_coef_, atol=1e-5)
        np.testing.assert_allclose(whole.decision_function(X), some.decision_function(X), atol=1e-5)
    heavy = om.PassiveAggressiveClassifier(kernel="rbf", C=0.01, gamma=0.5, classes=(0, 1))
    heavy.partial_fit(X[:1], Y[:1], sample_weight=[3.0])
    np.testing.assert_allclose(np.abs(heavy.dual_coef_), 0.03)


def test_class_weights() -> None:
    weights = np.where(Y, 2.0, 0.5)
    for given, same in (({0: 0.5, 1: 2.0}, weights), ("balanced", 40 / (2 * np.bincount(Y)[Y]))):
        by_class = om.PassiveAggressiveClassifier(
            kernel="rbf", C=0.05, class_weight=given, max_iter=1, shuffle=False, tol=None
        ).fit(X, Y)
        by_row = om.PassiveAggressiveClassifier(
            kernel="rbf", C=0.05, max_iter=1, shuffle=False, tol=None
        ).fit(X, Y, sample_weight=same)
        np.testing.assert_allclose(by_class.dual_coef_, by_row.dual_coef_, atol=1e-12)


def test_a_warm_start_goes_on_from_the_support() -> None:
    warm = perceptron(warm_start=True, **PLAIN).fit(X, Y)
    first = warm.decision_function(X)
    warm.fit(X, Y)
    twice = perceptron(**PLAIN).partial_fit(X, Y).partial_fit(X, Y)
    np.testing.assert_allclose(warm.decision_function(X), twice.decision_function(X), atol=1e-5)
    assert warm.t_ == 80 and not np.array_equal(first, warm.decision_function(X))
    cold = perceptron().fit(-X, Y).fit(X, Y)
    agree(state(perceptron().fit(X, Y)), state(cold))


@pytest.mark.parametrize("form", [np.asarray, sp.csr_matrix], ids=["dense", "CSR"])
def test_a_growing_learner_takes_more_columns_and_more_classes(form: Any) -> None:
    wide = np.c_[X, X[:, ::-1]]
    model = om.Perceptron(kernel="rbf", gamma=0.3, growing=True, dtype="float64")
    model.partial_fit(form(X[:20]), Y[:20]).partial_fit(form(wide[20:]), THREE[20:])
    whole = om.Perceptron(kernel="rbf", gamma=0.3, growing=True, dtype="float64")
    padded = np.r_[np.c_[X[:20], np.zeros((20, 3))], wide[20:]]
    whole.partial_fit(form(padded), np.r_[Y[:20], THREE[20:]])
    assert model.n_features_in_ == 6 and model.classes_.tolist() == [0, 1, 2]
    assert model.support_.tolist() == whole.support_.tolist()
    np.testing.assert_allclose(model.decision_function(form(wide)), whole.decision_function(wide), atol=1e-9)
    np.testing.assert_allclose(
        model.decision_function(form(X)), whole.decision_function(np.c_[X, np.zeros((40, 3))]), atol=1e-9
    )
