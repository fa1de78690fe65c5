"""A kernel of the user's own: what it may return, and that its failures leave no trace."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import onmargin as om
from onmargin.errors import BadInput

from .kernel_refusals import X, Y, agree, goes_on, perceptron, refuses, state

FRAME = pd.DataFrame(X, columns=list("abc"))


def plain(A: Any, B: Any) -> np.ndarray:
    """1 + <a, b>, for arrays and CSR matrices of any width."""
    wide = max(A.shape[1], B.shape[1])
    rows = [table.toarray() if sp.issparse(table) else table for table in (A, B)]
    left, right = (np.pad(table, ((0, 0), (0, wide - table.shape[1]))) for table in rows)
    return 1.0 + left @ right.T


class Moody:
    """The kernel `plain`, until it is told to fail: at once, or for other rows than the diagonal's."""

    def __init__(self, failure: Any, at_once: bool = True) -> None:
        self.failure, self.at_once, self.fails = failure, at_once, False

    def __call__(self, A: Any, B: Any) -> Any:
        values = plain(A, B)
        if self.fails and (self.at_once or A.shape != B.shape):
            return self.failure(values)
        return values


def raises(error: Exception) -> Any:
    def failure(values: np.ndarray) -> Any:
        raise error

    return failure


FAILURES = {
    "NaN": (lambda values: values * np.nan, "returned NaN or infinity"),
    "infinity": (lambda values: values + np.inf, "returned NaN or infinity"),
    "too few columns": (lambda values: values[:, :0], "wanted ("),
    "one number": (lambda values: 1.0, "returned shape (); wanted ("),
    "None": (lambda values: None, "returned"),
    "text": (lambda values: "text", "failed (could not convert string to float: 'text')"),
    "two lines": (raises(ValueError("first line\nsecond line")), "failed (first line second line)"),
    "a type": (raises(TypeError("no such thing")), "failed (no such thing)"),
}
every_failure = pytest.mark.parametrize(("failure", "said"), FAILURES.values(), ids=FAILURES.keys())


@every_failure
def test_a_failure_is_told_in_one_line_and_changes_nothing(failure: Any, said: str) -> None:
    """On the first call, and on a later one."""
    kernel = Moody(failure)
    model, twin = perceptron(kernel), perceptron(plain).partial_fit(X, Y)
    kernel.fails = True
    with pytest.raises(BadInput, match="the kernel 'Moody'"):
        model.fit(X, Y)
    assert model._model is None and not hasattr(model, "classes_")
    kernel.fails = False
    model.partial_fit(X, Y)
    for call in (
        lambda: model.fit(X, Y),
        lambda: model.partial_fit(X, Y),
        lambda: model.predict(X),
        lambda: model.learn_one({0: 1.0}, 1),
        lambda: om.progressive(model, X, Y),
    ):
        before = state(model)
        kernel.fails = True
        with pytest.raises(BadInput) as caught:
            call()
        kernel.fails = False
        assert "\n" not in str(caught.value) and said in str(caught.value)
        agree(before, state(model))
    agree(state(twin), state(model))
    agree(state(twin.partial_fit(X, Y)), state(model.partial_fit(X, Y)))


@every_failure
def test_a_failure_in_mid_table_changes_nothing(failure: Any, said: str) -> None:
    """k(x, x) is fine; the values against the vectors kept are not."""
    kernel = Moody(failure, at_once=False)
    model, twin = perceptron(kernel).partial_fit(X, Y), perceptron(plain).partial_fit(X, Y)
    kernel.fails = True
    with pytest.raises(BadInput) as caught:
        model.partial_fit(X, Y)
    assert said in str(caught.value)
    kernel.fails = False
    agree(state(twin.partial_fit(X, Y)), state(model.partial_fit(X, Y)))


def streamed(kernel: Any) -> Any:
    model = om.Perceptron(kernel=kernel)
    for row, label in zip(X[:12].tolist(), Y[:12].tolist(), strict=True):
        model.learn_one(dict(zip("abc", row, strict=True)), label)
    return model


@pytest.mark.parametrize(
    ("x", "y"),
    [({"a": 1.0, "b": 2.0}, 1), ({"a": 1.0, "new": 2.0}, 1), ({"a": 1.0}, "another label")],
    ids=["known", "a new name", "a new label"],
)
@pytest.mark.parametrize("error", [ValueError("no"), ZeroDivisionError("no")], ids=lambda e: type(e).__name__)
def test_a_failed_round_of_dicts_leaves_no_trace(error: Exception, x: Any, y: Any) -> None:
    """Its row number, names and label are given back, whatever the function raises."""
    kernel = Moody(raises(error), at_once=False)
    model, twin = streamed(kernel), streamed(plain)
    kernel.fails = True
    with pytest.raises((BadInput, ZeroDivisionError)):
        model.learn_one(x, y)
    kernel.fails = False
    for one in (model, twin):
        one.learn_one({"a": -1.0, "c": 2.0}, 1)
        one.learn_one({"a": -1.0, "c": 2.0}, 0)
    agree(state(twin, FRAME), state(model, FRAME))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kernel", ["rbf", "poly"])
def test_a_row_too_large_for_the_precision_leaves_no_trace(kernel: str) -> None:
    goes_on(
        lambda: streamed(kernel),
        lambda model: model.learn_one({"a": 1.0, "new": 1e39}, "another label"),
        lambda model: model.learn_one({"a": -1.0}, 1),
        asked=FRAME,
    )


@pytest.mark.parametrize(("kernel", "scale"), [("poly", 1e7), ("linear", 1e20), ("rbf", 1e20)])
def test_values_beyond_single_precision_are_learned_or_named(kernel: str, scale: float) -> None:
    """Finite rows: either they are learned without a warning, or one line says to scale them."""
    model = perceptron(kernel, gamma=1.0)
    try:
        model.fit(X * scale, Y)
    except BadInput as error:
        assert "steps feed on themselves" not in str(error) and "scale" in str(error)
    else:
        assert np.isfinite(model.decision_function(X * scale)).all()


@pytest.mark.parametrize(
    ("kernel", "gamma", "form"), [("rbf", "scale", np.asarray), ("laplacian", 1.0, sp.csr_matrix)]
)
def test_tables_beyond_single_precision_are_learned_or_named(kernel: str, gamma: Any, form: Any) -> None:
    table = form(1e39 * X)
    try:
        model = perceptron(kernel, gamma=gamma).fit(table, Y)
    except BadInput as error:
        assert "scale" in str(error)
    else:
        assert np.isfinite(model.decision_function(table)).all()


@pytest.mark.parametrize(
    "form",
    [lambda values: values.tolist(), np.asfortranarray, lambda values: values.astype(object)],
    ids=["lists", "Fortran", "objects"],
)
def test_a_matrix_of_any_kind_is_fine(form: Any) -> None:
    kernel = Moody(form)
    kernel.fails = True
    model, same = perceptron(kernel).fit(X, Y), perceptron(plain).fit(X, Y)
    np.testing.assert_array_equal(model.decision_function(X), same.decision_function(X))


def test_a_sparse_product_of_sparse_rows_is_fine() -> None:
    model = perceptron(lambda A, B: A @ B.T).fit(sp.csr_matrix(X), Y)
    np.testing.assert_allclose(
        model.decision_function(X), perceptron("linear").fit(X, Y).decision_function(X), atol=1e-5
    )


def products(A: Any, B: Any) -> np.ndarray:
    """What a user writes: both tables have the same columns."""
    assert A.shape[1] == B.shape[1], f"{A.shape[1]} and {B.shape[1]} columns"
    return np.asarray((A @ B.T).toarray() if sp.issparse(A) else A @ B.T)


@pytest.mark.parametrize("kind", ["CSR", "dicts"])
def test_both_tables_that_a_function_is_given_have_the_same_columns(kind: str) -> None:
    """Also where the vectors kept have no entry in the last columns, and where names come later."""
    table = np.where(np.arange(3) <= np.arange(40)[:, None] % 3, X, 0.0)
    dense = perceptron(products).partial_fit(table, Y)
    model = perceptron(products)
    if kind == "CSR":
        model.partial_fit(sp.csr_matrix(table), Y)
        np.testing.assert_allclose(model.decision_function(table), dense.decision_function(table), atol=1e-9)
        return
    for row, label in zip(table.tolist(), Y.tolist(), strict=True):
        model.learn_one({j: value for j, value in enumerate(row) if value}, label)
        model.predict_one({0: 1.0, "never met": 2.0})
    assert model.support_.tolist() == dense.support_.tolist()


def test_a_negative_length_is_refused() -> None:
    goes_on(
        lambda: perceptron(Flip()).partial_fit(X, Y),
        lambda model: model.partial_fit(np.r_[X, [[9.0, 0.0, 0.0]]], [*Y, 1]),
        lambda model: model.partial_fit(X, Y),
        "row 40 has k(x, x) =", "below 0",
    )  # fmt: skip


class Flip:
    """Positive on the rows of X, negative on one that lies far out."""

    def __call__(self, A: Any, B: Any) -> np.ndarray:
        signs = np.where((A[:, :1] > 8) & (B[:, 0] > 8), -1.0, 1.0)
        return np.asarray(signs * (A @ B.T))


def test_what_is_no_function_of_two_tables_is_refused() -> None:
    for kernel in (lambda A: A, lambda A, B, C: A, len, om.Perceptron):
        refuses(perceptron(kernel), lambda model: model.fit(X, Y), "wanted", kind=BadInput)
