"""What a kernel learner shows of itself: its support reproduces its decisions, by hand."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.metrics import pairwise

import onmargin as om

from ..soaking import uncompiled
from .kernel_refusals import TABLE, X, Y, perceptron

pytestmark = uncompiled

THREE = np.digitize(X[:, 0], [-0.5, 0.5])
SETS = (X[:, :2] > 0).astype(int)
NUMBERS = np.sin(2 * X[:, 0]) + X[:, 1]
KERNELS = {
    "linear": lambda A, B, gamma: A @ B.T,
    "rbf": lambda A, B, gamma: pairwise.rbf_kernel(A, B, gamma),
    "poly": lambda A, B, gamma: pairwise.polynomial_kernel(A, B, 2, gamma, 1.0),
    "sigmoid": lambda A, B, gamma: pairwise.sigmoid_kernel(A, B, gamma, 1.0),
    "laplacian": lambda A, B, gamma: pairwise.laplacian_kernel(A, B, gamma),
    "chi2": lambda A, B, gamma: pairwise.chi2_kernel(A, B, gamma),
}


def by_hand(model: Any, table: np.ndarray, name: str) -> np.ndarray:
    """sum_i coefficient_i (k(x_i, x) + constant), less the threshold of label sets."""
    vectors = model.support_vectors_
    vectors = vectors.toarray() if sp.issparse(vectors) else vectors
    values = KERNELS[name](table, vectors, model.gamma_)
    return np.asarray(values @ model.dual_coef_.T + model.intercept_)


@pytest.mark.parametrize("form", [np.asarray, sp.csr_matrix], ids=["dense", "CSR"])
@pytest.mark.parametrize("name", KERNELS)
def test_the_support_reproduces_the_decisions(name: str, form: Any) -> None:
    table = np.abs(X) if name == "chi2" else X
    for target in (Y, THREE):
        model = om.PassiveAggressiveClassifier(
            kernel=name, degree=2, coef0=1.0, intercept_scaling=2.0, dtype="float64", max_iter=2, tol=None,
            average=name == "rbf", random_state=1,
        ).fit(form(table), target)  # fmt: skip
        expected = by_hand(model, table, name)
        expected = expected[:, 0] if target is Y else expected
        np.testing.assert_allclose(model.decision_function(form(table)), expected, atol=1e-9)
        np.testing.assert_allclose(model.decision_function(table[::-1]), expected[::-1], atol=1e-9)
        np.testing.assert_array_equal(
            form(table)[model.support_].toarray() if form is sp.csr_matrix else table[model.support_],
            model.support_vectors_.toarray() if form is sp.csr_matrix else model.support_vectors_,
        )
        assert model.n_support_ == len(model.support_) == model.dual_coef_.shape[1]
        assert len(set(model.support_.tolist())) == model.n_support_


def test_the_support_of_label_sets_and_of_numbers() -> None:
    sets = om.PassiveAggressiveClassifier(kernel="rbf", dtype="float64", max_iter=2, tol=None).fit(X, SETS)
    np.testing.assert_allclose(sets.decision_function(X), by_hand(sets, X, "rbf"), atol=1e-9)
    assert sets.predict(X).tolist() == (sets.decision_function(X) > 0).astype(int).tolist()
    line = om.PassiveAggressiveRegressor(kernel="rbf", dtype="float64", max_iter=2, tol=None).fit(X, NUMBERS)
    np.testing.assert_allclose(line.predict(X), by_hand(line, X, "rbf")[:, 0], atol=1e-9)


def test_a_ball_in_the_space_of_a_kernel() -> None:
    ball = om.PassiveAggressiveUniclass(kernel="rbf", epsilon=0.4, dtype="float64").fit(X)
    weights, vectors = ball.dual_coef_[0], ball.support_vectors_
    values = pairwise.rbf_kernel(X, vectors, ball.gamma_)
    own = pairwise.rbf_kernel(vectors, vectors, ball.gamma_)
    distances = np.sqrt(1.0 - 2.0 * values @ weights + weights @ own @ weights)
    np.testing.assert_allclose(ball.score_samples(X), -distances, atol=1e-7)
    clear = np.abs(distances - 0.4) > 1e-9  # points that moved the ball last lie on its surface
    assert ball.predict(X)[clear].tolist() == np.where(distances <= 0.4, 1, -1)[clear].tolist()
    assert clear.sum() > 5
    assert not hasattr(ball, "center_")


@pytest.mark.parametrize("kernel", ["rbf", "linear", "precomputed"])
@pytest.mark.parametrize("target", [Y, THREE], ids=["two classes", "three"])
def test_contributions_add_up_to_the_decision(kernel: str, target: Any) -> None:
    """The bias is in every vector's value."""
    table = TABLE if kernel == "precomputed" else X
    model = om.PassiveAggressiveClassifier(kernel=kernel, dtype="float64", max_iter=1, tol=None).fit(
        table, target
    )
    for row in (0, 17):
        frame = model.explain(table[row])
        sums = frame.groupby("class")["contribution"].sum()
        decisions = np.atleast_1d(model.decision_function(table[[row]])[0])
        labels = [1] if target is Y else [0, 1, 2]
        np.testing.assert_allclose(sums[labels], decisions, atol=1e-9)
        np.testing.assert_allclose(frame["coefficient"] * frame["kernel"], frame["contribution"], atol=1e-12)
        assert set(frame["support"]) <= set(model.support_.tolist())
        assert len(model.explain(table[row], k=2)) == 2 * len(labels)


def test_contributions_of_a_dict_count_names_never_met() -> None:
    model = om.Perceptron(kernel="rbf", gamma=0.5, dtype="float64", average=False, intercept_scaling=1.0)
    for row, label in zip(X.tolist(), Y.tolist(), strict=True):
        model.learn_one(dict(zip("abc", row, strict=True)), label)
    near, far = {"a": 1.0, "b": 0.5}, {"a": 1.0, "b": 0.5, "never met": 2.0}
    values = model.explain(near)["kernel"].to_numpy(), model.explain(far)["kernel"].to_numpy()
    np.testing.assert_allclose(values[1] - 1.0, (values[0] - 1.0) * np.exp(-0.5 * 4.0), atol=1e-9)


def test_gamma_is_fixed_by_the_first_data() -> None:
    """All of X in fit, the first block in partial_fit, 1 / features of the first example in learn_one."""
    scale = 1.0 / (3 * X.var())
    assert perceptron().fit(X, Y).gamma_ == pytest.approx(scale, rel=1e-12)
    assert perceptron().fit(sp.csr_matrix(X), Y).gamma_ == pytest.approx(scale, rel=1e-12)
    block = perceptron().partial_fit(X[:10], Y[:10]).partial_fit(X[10:] * 9, Y[10:])
    assert block.gamma_ == pytest.approx(1.0 / (3 * X[:10].var()), rel=1e-12)
    stream = om.Perceptron(kernel="rbf")
    stream.learn_one({"a": 5.0, "b": 1.0}, 0)
    stream.learn_one({"a": 5.0, "c": 1.0, "d": 1.0}, 1)
    assert stream.gamma_ == 0.5
    assert perceptron(gamma="auto").fit(X, Y).gamma_ == pytest.approx(1 / 3)
    assert perceptron(gamma=0.7).fit(X, Y).gamma_ == 0.7
    assert perceptron().fit(np.ones((4, 3)), [0, 1, 0, 1]).gamma_ == 1.0
    first_unseen = perceptron().partial_fit(9 * X, Y, sample_weight=np.zeros(40)).partial_fit(X, Y)
    assert first_unseen.gamma_ == pytest.approx(scale, rel=1e-12)


def test_a_kernel_object_takes_gamma_from_the_learner_or_keeps_its_own() -> None:
    kernels = om.kernels
    text = perceptron("rbf", gamma=0.3).fit(X, Y).decision_function(X)
    np.testing.assert_array_equal(perceptron(kernels.rbf(), gamma=0.3).fit(X, Y).decision_function(X), text)
    np.testing.assert_array_equal(perceptron(kernels.rbf(0.3)).fit(X, Y).decision_function(X), text)
    mixed = 0.5 * kernels.rbf() + kernels.poly(2, coef0=1.0).normalized() * kernels.linear()
    model = perceptron(mixed, gamma=0.3, dtype="float64").fit(X, Y)
    squares = np.sqrt((0.3 * (X * X).sum(axis=1) + 1.0) ** 2)
    table = 0.5 * pairwise.rbf_kernel(X, X, 0.3) + (0.3 * X @ X.T + 1.0) ** 2 / np.outer(squares, squares) * (
        X @ X.T
    )
    given = perceptron("precomputed", dtype="float64").fit(table, Y)
    np.testing.assert_allclose(model.decision_function(X), given.decision_function(table), atol=1e-9)


def test_kernels_clone_copy_pickle_and_compare() -> None:
    kernel = 0.5 * om.kernels.rbf(0.5) + om.kernels.poly(2) * om.kernels.linear()
    model = perceptron(kernel).fit(X, Y)
    for twin in (clone(model), model.clone()):
        assert twin.kernel == kernel and hash(twin.kernel) == hash(kernel)
        np.testing.assert_array_equal(twin.fit(X, Y).decision_function(X), model.decision_function(X))
    for twin in (copy.deepcopy(model), copy.copy(model), pickle.loads(pickle.dumps(model))):
        before = model.decision_function(X)
        np.testing.assert_array_equal(twin.decision_function(X), before)
        twin.partial_fit(-X, Y)
        np.testing.assert_array_equal(model.decision_function(X), before)
        assert not np.array_equal(twin.decision_function(X), before)
    assert om.kernels.rbf(0.5) != om.kernels.rbf() != om.kernels.linear()
    assert "rbf" in model._repr_html_() and "rbf(0.5)" in repr(model)


@pytest.mark.parametrize(
    "kernel",
    [om.kernels.linear(), om.kernels.rbf(0.5), om.kernels.poly(2, coef0=1.0), om.kernels.chi2(),
     0.5 * om.kernels.rbf(0.5) + om.kernels.linear(), om.kernels.poly(2).normalized()],
    ids=repr,
)  # fmt: skip
def test_a_kernel_says_how_to_make_it(kernel: Any) -> None:
    assert eval(repr(kernel), vars(om.kernels).copy()) == kernel


def test_what_is_shown_is_a_copy() -> None:
    model = perceptron().fit(X, Y)
    before = model.decision_function(X)
    for name in ("support_", "support_vectors_", "dual_coef_"):
        getattr(model, name)[...] = 0
    np.testing.assert_array_equal(model.decision_function(X), before)


def test_an_answer_about_wider_rows_changes_nothing_that_is_shown() -> None:
    model = perceptron("linear", growing=True).fit(X, Y)
    model.predict(np.c_[X, X])
    assert model.support_vectors_.shape == (model.n_support_, 3) and model.coef_.shape == (1, 3)


def test_an_answer_to_a_dict_changes_nothing_that_is_shown() -> None:
    model = perceptron("linear").fit(X, Y)
    model.predict_one({0: 1.0})
    assert model.support_vectors_.shape == (model.n_support_, 3) and model.coef_.shape == (1, 3)


def test_dicts_with_a_linear_kernel_have_weights_by_name() -> None:
    model = om.Perceptron(kernel="linear")
    for x, y in (({"a": 1.0, "b": 2.0}, 0), ({"a": -1.0}, 1), ({"c": 1.0, "b": -1.0}, 1)):
        model.learn_one(x, y)
    assert model.n_features_in_ == 3 and model.coef_.shape == (1, 3)
    assert set(model.top_features(10)["feature"]) == {"a", "b", "c"}
