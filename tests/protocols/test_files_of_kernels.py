"""A saved kernel learner goes on bit for bit, from arrays, CSR, dicts and tables of kernel values."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import onmargin as om

draw = np.random.default_rng(8)
X = draw.standard_normal((60, 4))
Y = (X[:, 0] * X[:, 1] > 0).astype(int)
THREE = np.digitize(X[:, 0], [-0.5, 0.5])
TABLE = np.exp(-0.5 * np.square(X[:, None] - X).sum(axis=2))
kernels = om.kernels
LEARNERS = [
    om.Perceptron(kernel="rbf"),
    om.Perceptron(kernel="laplacian", average=True, class_weight="balanced", dtype="float64"),
    om.Perceptron(kernel=0.5 * kernels.rbf(0.5) + kernels.poly(2, coef0=1.0).normalized() * kernels.linear()),
    om.PassiveAggressiveClassifier(kernel="poly", coef0=1.0, average=True),
    om.PassiveAggressiveClassifier(kernel="rbf", budget=12, average=True, dtype="float32"),
    om.PassiveAggressiveClassifier(kernel="rbf", budget="4KB", gamma=np.float32(0.5)),
    om.Pegasos(kernel="rbf"),
    om.Pegasos(kernel="rbf", batch_size=7),
    om.Projectron(),
    om.RandomBudgetPerceptron(budget=8),
    om.RandomBudgetPerceptron(budget=8, random_state=np.random.default_rng(3)),
    om.Forgetron(budget=8),
    om.Stoptron(budget=8),
    om.OM2(),
    om.OM2(kernels=["linear", ("rbf", {"gamma": 0.3}), kernels.rbf() * kernels.linear()]),
    om.OM2(kernels=["linear", "rbf"], views=[[0], np.array([1, 2, 3])], p=1.5),
]
every_learner = pytest.mark.parametrize(
    "model", LEARNERS, ids=lambda model: repr(model).replace("\n", "").split(" at 0x")[0]
)


def again(model: Any, path: Any, parts: Any = None) -> Any:
    """Written and read."""
    om.save(model, path / "m.onm")
    return om.load(path / "m.onm", parts)


def agree(first: Any, second: Any, asked: Any) -> None:
    """Bit for bit: decisions, support, coefficients, clock, width."""
    np.testing.assert_array_equal(first.decision_function(asked), second.decision_function(asked))
    np.testing.assert_array_equal(first.dual_coef_, second.dual_coef_)
    np.testing.assert_array_equal(first.support_, second.support_)
    left, right = first.support_vectors_, second.support_vectors_
    assert type(left) is type(right) and left.dtype == right.dtype and abs(left - right).sum() == 0
    for name in ("t_", "gamma_", "budget_", "n_support_", "n_features_in_"):
        assert getattr(first, name) == getattr(second, name)


@every_learner
@pytest.mark.parametrize("kind", ["dense", "CSR"])
def test_a_table_in_two_halves(model: Any, kind: str, tmp_path: Any) -> None:
    """34 rows: a mini-batch of seven is not over."""
    form = sp.csr_matrix if kind == "CSR" else np.asarray
    target = THREE if isinstance(model, om.OM2) else Y
    model = model.clone().partial_fit(form(X[:34]), target[:34], classes=np.unique(target))
    twin = again(model, tmp_path)
    assert type(twin) is type(model) and twin.get_params().keys() == model.get_params().keys()
    agree(model, twin, form(X))
    for one in (model, twin):
        one.partial_fit(form(X[34:]), target[34:])
    agree(model, twin, form(X))
    assert model.t_ == 60


@every_learner
def test_a_stream_of_dicts_with_new_names_and_labels(model: Any, tmp_path: Any) -> None:
    if model.get_params().get("views"):
        model = model.clone().set_params(views=None)
    straight, broken = model.clone(), model.clone()
    marks = np.random.default_rng(1).random(X.shape) < 0.6
    for number in range(24):
        names = list("abcd")[: 2 + number // 8]
        x = {n: float(v) for n, v, m in zip(names, X[number], marks[number], strict=False) if m}
        label = "zm"[Y[number]] if number < 12 or not isinstance(model, om.OM2) else "zma"[THREE[number]]
        for one in (straight, broken):
            one.learn_one(x, label)
        if number % 5 == 0:
            broken = again(broken, tmp_path)
    frame = pd.DataFrame(X, columns=list("abcd"))
    agree(straight, broken, frame)
    assert list(straight._columns.slots) == list(broken._columns.slots)
    assert straight.classes_.tolist() == broken.classes_.tolist()
    x = {"a": 0.5, "never met": 1.0}
    assert straight.predict_one(x) == broken.predict_one(x)


@pytest.mark.parametrize("average", [False, True])
def test_numbers_and_balls(average: bool, tmp_path: Any) -> None:
    line = om.PassiveAggressiveRegressor(kernel="rbf", average=average).partial_fit(X[:30], X[:30, 0])
    twin = again(line, tmp_path)
    np.testing.assert_array_equal(twin.predict(X), line.predict(X))
    for one in (line, twin):
        one.partial_fit(X[30:], X[30:, 0])
    np.testing.assert_array_equal(twin.predict(X), line.predict(X))
    ball = om.PassiveAggressiveUniclass(kernel="rbf", epsilon=0.5, average=average)
    ball.partial_fit(X[:30])
    twin = again(ball, tmp_path)
    np.testing.assert_array_equal(
        twin.partial_fit(X[30:]).score_samples(X), ball.partial_fit(X[30:]).score_samples(X)
    )


def test_the_radius_that_a_ball_has_learned(tmp_path: Any) -> None:
    ball = om.PassiveAggressiveUniclass(kernel="rbf", max_radius=1.0).partial_fit(X[:30])
    twin = again(ball, tmp_path)
    assert twin.radius_ == ball.radius_
    assert twin.partial_fit(X).radius_ == ball.partial_fit(X).radius_


def test_label_sets(tmp_path: Any) -> None:
    sets = (X[:, :3] > 0).astype(int)
    model = om.PassiveAggressiveClassifier(kernel="rbf").partial_fit(X[:30], sets[:30])
    twin = again(model, tmp_path)
    for one in (model, twin):
        one.partial_fit(X[30:], sets[30:])
    agree(model, twin, X)
    assert model.threshold_ == twin.threshold_


@pytest.mark.parametrize("model", [om.Perceptron(), om.Projectron(), om.Pegasos()], ids=repr)
def test_a_precomputed_kernel(model: Any, tmp_path: Any) -> None:
    model = model.clone().set_params(kernel="precomputed", max_iter=2, tol=None, random_state=1)
    model.fit(TABLE, Y)
    twin = again(model, tmp_path)
    np.testing.assert_array_equal(twin.decision_function(TABLE), model.decision_function(TABLE))
    np.testing.assert_array_equal(twin.support_, model.support_)
    np.testing.assert_array_equal(
        twin.fit(TABLE, 1 - Y).decision_function(TABLE), model.fit(TABLE, 1 - Y).decision_function(TABLE)
    )


def test_what_a_fit_found(tmp_path: Any) -> None:
    model = om.Pegasos(kernel="rbf", lam=0.05, max_iter=3, tol=None, random_state=0).fit(X, Y)
    twin = again(model, tmp_path)
    assert (twin.objective_, twin.dual_gap_, twin.lam_, twin.n_iter_) == (
        model.objective_, model.dual_gap_, model.lam_, model.n_iter_,
    )  # fmt: skip
    assert twin.objective(X, Y) == model.objective(X, Y)
    np.testing.assert_array_equal(
        twin.set_params(warm_start=True).fit(X, Y).dual_coef_,
        model.set_params(warm_start=True).fit(X, Y).dual_coef_,
    )


def test_the_draws_of_a_random_budget_go_on(tmp_path: Any) -> None:
    """With entropy of the machine, not a seed."""
    model = om.RandomBudgetPerceptron(budget=5, classes=(0, 1)).partial_fit(X[:30], Y[:30])
    twin, other = again(model, tmp_path), om.RandomBudgetPerceptron(budget=5, classes=(0, 1))
    for one in (model, twin, other.partial_fit(X[:30], Y[:30])):
        one.partial_fit(X[30:], Y[30:])
    agree(model, twin, X)
    assert model.support_.tolist() != other.support_.tolist()


def test_before_the_first_example(tmp_path: Any) -> None:
    for model in LEARNERS:
        twin = again(model.clone(), tmp_path)
        assert type(twin) is type(model) and not hasattr(twin, "classes_")
        if model.get_params().get("kernel") is not None:
            assert twin.kernel == model.kernel
