"""Kernel learners in a stream of dicts: names and labels may come at any time, and distances count them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.metrics import pairwise

import onmargin as om
from onmargin.errors import BadInput

from .kernel_refusals import X, Y, perceptron

NAMES = list("abc")
EXAMPLES = [
    ({name: value for name, value, kept in zip(NAMES, row, marks, strict=True) if kept}, label)
    for row, marks, label in zip(
        X.tolist(), (np.random.default_rng(3).random((40, 3)) < 0.7).tolist(), Y.tolist(), strict=True
    )
]
DENSE = np.array([[x.get(name, 0.0) for name in NAMES] for x, _ in EXAMPLES])


def streamed(model: Any, examples: Any = EXAMPLES) -> Any:
    for x, y in examples:
        model.learn_one(x, y)
    return model


def values(model: Any, x: dict[str, float], kernel: Any) -> np.ndarray:
    """The decision by hand: columns in order of appearance, those never met behind them."""
    names = [*model._columns.slots, *(name for name in x if name not in model._columns.slots)]
    row = np.array([[x.get(name, 0.0) for name in names]])
    vectors = model.support_vectors_.toarray()
    vectors = np.c_[vectors, np.zeros((len(vectors), len(names)))][:, : len(names)]
    return np.asarray(kernel(row, vectors, model.gamma_) @ model.dual_coef_.T + model.intercept_)[0]


@pytest.mark.parametrize(
    ("name", "kernel"),
    [("rbf", pairwise.rbf_kernel), ("laplacian", pairwise.laplacian_kernel),
     ("linear", lambda A, B, gamma: A @ B.T)],
)  # fmt: skip
def test_absent_features_are_0_and_features_never_met_count(name: str, kernel: Any) -> None:
    model = streamed(om.Perceptron(kernel=name, dtype="float64", gamma=0.4))
    dense = om.Perceptron(kernel=name, dtype="float64", gamma=0.4, classes=(0, 1)).partial_fit(DENSE, Y)
    assert model.support_.tolist() == dense.support_.tolist()
    np.testing.assert_allclose(model.dual_coef_, dense.dual_coef_, atol=1e-9)
    for x in (
        {"a": 1.0},
        {},
        {"b": -1.0, "c": 0.0},
        {"a": 0.3, "never": 1.5},
        {"never": 9.0, "nor this": 1.0},
    ):
        decision = values(model, x, kernel)
        frame = pd.DataFrame([{**dict.fromkeys(NAMES, 0.0), **x}])
        np.testing.assert_allclose(model.decision_function(frame), decision, atol=1e-9)
        assert model.predict_one(x) == int(decision[0] >= 0)
        assert model.predict_many(frame).tolist() == [model.predict_one(x)]
        if set(x) <= set(NAMES):
            padded = [[x.get(name, 0.0) for name in NAMES]]
            np.testing.assert_allclose(dense.decision_function(padded), decision, atol=1e-9)
    assert list(model._columns.slots) == list(dict.fromkeys(n for x, _ in EXAMPLES for n in x))


def test_a_new_feature_does_not_change_old_vectors() -> None:
    model = streamed(om.Perceptron(kernel="rbf"))
    before, decision = model.support_vectors_.toarray(), model.decision_function(pd.DataFrame([{"a": 1.0}]))
    gamma = model.gamma_
    model.learn_one({"new": 3.0, "a": 1.0}, model.predict_one({"new": 3.0, "a": 1.0}))  # right: nothing moves
    after = model.support_vectors_.toarray()
    np.testing.assert_array_equal(after[:, : before.shape[1]], before)
    assert not after[:, 3].any() and model.gamma_ == gamma and model.n_features_in_ == 4
    np.testing.assert_array_equal(model.decision_function(pd.DataFrame([{"a": 1.0}])), decision)


@pytest.mark.parametrize("budget", [None, 30])
def test_new_classes_keep_the_decisions(budget: Any) -> None:
    """2 -> 3 -> 4 classes; the first label sorts last."""
    model = om.PassiveAggressiveClassifier(kernel="rbf", fit_intercept=False, budget=budget, dtype="float64")
    frame = pd.DataFrame(X, columns=NAMES)
    model.learn_one(EXAMPLES[0][0], "z")
    assert model.predict_one({"a": 1.0}) == "z" and model.classes_.tolist() == ["z"]
    for x, y in EXAMPLES[1:15]:
        model.learn_one(x, "zm"[y])
    assert model.classes_.tolist() == ["m", "z"]
    for new, known in (("a", ["m", "z"]), ("p", ["a", "m", "z"])):
        before = model.decision_function(frame)
        before = np.c_[-before, before] / 2 if before.ndim == 1 else before
        model.learn_one({"b": 1.0}, new, w=0.0)  # not seen: no class comes
        assert model.classes_.tolist() == known
        model.learn_one({"far away": 1e3, new: 1e3}, new)  # its kernel with all others is 0
        names = model.classes_.tolist()
        assert names == sorted([*known, new])
        after = model.decision_function(frame)
        np.testing.assert_allclose(after[:, [names.index(name) for name in known]], before, atol=1e-12)
        np.testing.assert_allclose(after[:, names.index(new)], 0.0, atol=1e-12)
        assert model.predict_one({"far away": 1e3, new: 1e3}) == new


def test_label_sets_as_dicts() -> None:
    model = om.PassiveAggressiveClassifier(kernel="rbf", gamma=0.5, dtype="float64")
    sets = [{"u": row[0] > 0, "v": row[1] > 0} for row in X.tolist()]
    streamed(
        model, [(dict(zip(NAMES, row, strict=True)), y) for row, y in zip(X.tolist(), sets, strict=True)]
    )
    table = np.array([[s["u"], s["v"]] for s in sets]).astype(int)
    dense = om.PassiveAggressiveClassifier(kernel="rbf", gamma=0.5, dtype="float64").partial_fit(X, table)
    np.testing.assert_allclose(
        model.decision_function(pd.DataFrame(X, columns=NAMES)), dense.decision_function(X), atol=1e-9
    )
    answer = model.predict_one(dict(zip(NAMES, X[0].tolist(), strict=True)))
    assert answer == dict(zip("uv", (dense.predict(X[:1])[0] > 0).tolist(), strict=True))
    model.learn_one({"a": 1.0}, {"u": True, "w": True})
    assert set(model.predict_one({"a": 1.0})) == {"u", "v", "w"}


def test_frames_go_by_name_and_columns_never_met_count() -> None:
    model = streamed(om.Perceptron(kernel="rbf", dtype="float64"))
    pandas, polars = pd.DataFrame(X, columns=NAMES), pl.DataFrame(X, schema=NAMES)
    scores = model.decision_function(pandas)
    np.testing.assert_array_equal(model.decision_function(polars), scores)
    np.testing.assert_array_equal(model.decision_function(pandas[["c", "a", "b"]]), scores)
    np.testing.assert_array_equal(model.decision_function(polars.select("b", "c", "a")), scores)
    strange = pandas.assign(never=2.0)
    away = model.decision_function(strange) - model.intercept_
    np.testing.assert_allclose(away, (scores - model.intercept_) * np.exp(-4.0 * model.gamma_), atol=1e-9)
    np.testing.assert_array_equal(model.decision_function(strange), away + model.intercept_)
    with pytest.raises(BadInput, match="learned from dicts; give dicts or a frame with names"):
        model.decision_function(X)


def test_learn_many_is_the_loop_of_learn_one() -> None:
    frame = pd.DataFrame(X, columns=NAMES)
    for make in (
        lambda: om.Perceptron(kernel="rbf", dtype="float64"),
        lambda: om.RandomBudgetPerceptron(budget=7, random_state=4, dtype="float64"),
    ):
        many, one = make(), make()
        many.learn_many(frame[:25], Y[:25])
        many.learn_many(frame[25:].rename(columns={"a": "d"}), Y[25:] + 1)
        streamed(one, zip(frame[:25].to_dict("records"), Y[:25].tolist(), strict=True))
        renamed = frame[25:].rename(columns={"a": "d"}).to_dict("records")
        streamed(one, zip(renamed, (Y[25:] + 1).tolist(), strict=True))
        assert many.support_.tolist() == one.support_.tolist() and many.gamma_ == one.gamma_
        np.testing.assert_allclose(many.dual_coef_, one.dual_coef_, atol=1e-9)
        assert many.predict_many(frame).tolist() == [one.predict_one(row) for row in frame.to_dict("records")]


def test_arrays_and_dicts_in_turn() -> None:
    """A model of arrays knows its features by number, in both directions."""
    model, arrays = perceptron(dtype="float64"), perceptron(dtype="float64")
    arrays.partial_fit(X[:20], Y[:20]).partial_fit(X[20:30], Y[20:30]).partial_fit(X[30:], Y[30:])
    model.partial_fit(X[:20], Y[:20])
    for row, label in zip(X[20:30].tolist(), Y[20:30].tolist(), strict=True):
        assert model.predict_one(dict(enumerate(row))) == model.predict([row])[0]
        model.learn_one(dict(enumerate(row)), label)
    model.partial_fit(X[30:], Y[30:])
    assert model.support_.tolist() == arrays.support_.tolist()
    np.testing.assert_allclose(model.decision_function(X), arrays.decision_function(X), atol=1e-9)
    with pytest.raises(BadInput, match="use column numbers"):
        model.learn_one({"a": 1.0}, 1)


def test_the_dict_is_neither_kept_nor_changed() -> None:
    x = {"a": 1.0, "b": 2.0}
    model = om.Perceptron(kernel="rbf")
    model.learn_one(x, "yes")
    model.learn_one({"a": -1.0}, "no")
    before = model.support_vectors_.toarray()
    x["a"] = 99.0
    np.testing.assert_array_equal(model.support_vectors_.toarray(), before)
    assert x == {"a": 99.0, "b": 2.0}
