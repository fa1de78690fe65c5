"""What cannot be learned is refused in one line, and the model is as it was before."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import onmargin as om
from onmargin.errors import OnmarginError

from .refusals import (
    LEARNERS,
    SCALE,
    X,
    Y,
    every_classifier,
    every_learner,
    fresh,
    learn_one,
    refuses,
    spoiled,
    state,
    taught,
)

BAD_TABLES = {
    "a NaN": spoiled(np.nan),
    "an infinity": spoiled(-np.inf),
    "a NaN in a CSR matrix": sp.csr_matrix(spoiled(np.nan)),
    "a square that overflows": spoiled(1e200),
    "a sum of squares that overflows": np.full((12, 3), 1e154),
    "complex numbers": X.astype(complex),
    "objects that are no numbers": np.full((12, 3), {}, object),
    "a None among objects": np.where(np.isfinite(spoiled(np.nan)), X, None),
    "text": np.full((12, 3), "a"),
    "one dimension": X[:, 0],
    "three dimensions": X[:, :, None],
    "no rows": X[:0],
    "no columns": X[:, :0],
    "a single number": 3.0,
    "nothing": None,
}


@every_learner
@pytest.mark.parametrize("table", BAD_TABLES.values(), ids=BAD_TABLES.keys())
def test_a_bad_table_is_refused_and_changes_nothing(cls: Any, table: Any) -> None:
    labels = Y[: table.shape[0]] if hasattr(table, "shape") else Y
    for make in (fresh, taught):
        refuses(make(cls), lambda model: model.fit(table, labels))
        refuses(make(cls), lambda model: model.partial_fit(table, labels))
    refuses(taught(cls), lambda model: model.predict(table))


@every_learner
def test_another_width_is_refused_and_a_bad_row_is_named(cls: Any) -> None:
    error = refuses(taught(cls), lambda model: model.partial_fit(spoiled(np.nan), Y))
    assert isinstance(error, OnmarginError) and "row 7" in str(error) and "column 1" in str(error)
    for table in (X[:, :2], np.c_[X, X], sp.csr_matrix(X[:, :2])):
        refuses(taught(cls), lambda model, table=table: model.partial_fit(table, Y), ValueError)
        refuses(taught(cls), lambda model, table=table: model.predict(table), ValueError)


@pytest.mark.parametrize("cls", LEARNERS[:-1], ids=lambda cls: cls.__name__)
def test_the_wrong_number_of_targets_is_refused(cls: Any) -> None:
    for targets in (Y[:-1], Y[:0], None):
        refuses(taught(cls), lambda model, y=targets: model.partial_fit(X, y), ValueError)
        refuses(fresh(cls), lambda model, y=targets: model.fit(X, y), ValueError)


@every_classifier
@pytest.mark.parametrize(
    "labels",
    [Y + 0.5, np.where(Y, np.nan, 0.0), Y * 1j, np.array([None, "a"] * 6, object), np.c_[Y, Y + 1]],
    ids=["fractions", "NaN", "complex", "None", "no indicator matrix"],
)
def test_what_is_no_label_is_refused(cls: Any, labels: Any) -> None:
    refuses(cls(), lambda model: model.fit(X, labels), ValueError)
    refuses(cls(growing=True), lambda model: model.partial_fit(X, labels), ValueError)
    refuses(taught(cls), lambda model: model.partial_fit(X, labels), ValueError)


@pytest.mark.parametrize("target", [float("nan"), float("inf"), "a", None, 1j], ids=repr)
def test_what_is_no_number_is_refused_as_a_target(target: Any) -> None:
    for make in (fresh, taught):
        model = make(om.PassiveAggressiveRegressor)
        refuses(model, lambda model: model.fit(X, [target] * 12), ValueError)
        refuses(model, lambda model: model.partial_fit(X, [target] * 12), ValueError)
        refuses(model, lambda model: model.learn_one({0: 1.0}, target), ValueError)


@every_classifier
def test_a_closed_set_refuses_other_labels(cls: Any) -> None:
    for make in (fresh, taught):
        refuses(make(cls), lambda model: model.partial_fit(X, Y + 1), ValueError)
        refuses(make(cls), lambda model: model.learn_one({0: 1.0}, 2), ValueError)
        refuses(make(cls), lambda model: model.learn_one({0: 1.0}, "1"), ValueError)
    refuses(fresh(cls), lambda model: model.learn_one({"new": 1.0}, 2), ValueError)
    refuses(cls(), lambda model: model.partial_fit(X, Y + 1, classes=[0, 1]), ValueError)
    refuses(taught(cls), lambda model: model.partial_fit(X, Y, classes=[0, 1, 2]), ValueError)


@every_classifier
@pytest.mark.parametrize("label", [None, float("nan"), [1], {1, 2}, np.array([1, 2])], ids=repr)
def test_what_is_no_label_is_refused_from_dicts(cls: Any, label: Any) -> None:
    open_set = cls()
    open_set.learn_one({"a": 1.0}, "yes")
    for model in (cls(), open_set, taught(cls)):
        for x in ({0: 1.0}, {"a": 1.0}, {"b": 1.0}):
            refuses(model, lambda model, x=x: model.learn_one(x, label))


@every_learner
@pytest.mark.parametrize(
    "x",
    [{"a": "x"}, {"a": "1"}, {"a": None}, {"a": np.nan}, {"a": -np.inf}, {"a": 1e200}, {"a": 1j}, {"a": [1]},
     {"a": 1.0, "b": np.nan}, {"b": 1.0, "c": "x"}, [1.0], 3, None, "text", {1}],
    ids=repr,
)  # fmt: skip
def test_a_bad_dict_is_refused(cls: Any, x: Any) -> None:
    named = fresh(cls)
    learn_one(named, {"a": 1.0, "z": 2.0})
    for model in (fresh(cls), named):
        error = refuses(model, lambda model: learn_one(model, x))
        assert isinstance(error, OnmarginError)
    if not isinstance(x, dict) or set(x) == {"a"}:  # (names it does not know count as 0)
        refuses(named, lambda model: model.predict_one(x))


@every_learner
@pytest.mark.parametrize("value", [0, -1, float("nan"), "x"])
def test_a_scale_that_is_not_positive_is_refused(cls: Any, value: Any) -> None:
    bad = {SCALE.get(cls, "C"): value}
    for call in (lambda m: m.fit(X, Y), lambda m: m.partial_fit(X, Y), lambda m: learn_one(m, {0: 1.0})):
        refuses(fresh(cls, **bad), call)
        refuses(taught(cls).set_params(**bad), call)
    again = fresh(cls, **bad)
    refuses(again, lambda model: learn_one(model, {"a": 1.0}))
    one = {SCALE.get(cls, "C"): 1.0}
    again.set_params(**one).partial_fit(X, Y)
    assert np.array_equal(again.coef_, taught(cls, **one).coef_)


@pytest.mark.parametrize(
    "parameters",
    [{"step": "pa3"}, {"margin": -1}, {"update": "none"}, {"multilabel": "x"}, {"dtype": "float16"},
     {"max_iter": 0}, {"intercept_scaling": 0}, {"C": None}, {"class_weight": "equal"},
     {"class_weight": {0: -1.0}}, {"cost": [[0.0, 1.0]]}, {"cost": [[1.0, 1.0], [1.0, 1.0]]}],
    ids=repr,
)  # fmt: skip
def test_parameters_without_meaning_are_refused(parameters: Any) -> None:
    model = fresh(om.PassiveAggressiveClassifier, **parameters)
    refuses(model, lambda model: model.fit(X, Y))


@every_learner
@pytest.mark.parametrize(
    "weights",
    [-np.ones(12), np.full(12, np.nan), np.full(12, np.inf), np.ones(11), np.ones((12, 1)), ["a"] * 12],
    ids=["negative", "NaN", "infinite", "too few", "a column", "text"],
)
def test_bad_weights_are_refused(cls: Any, weights: Any) -> None:
    for make in (fresh, taught):
        refuses(make(cls), lambda model: model.fit(X, Y, sample_weight=weights), ValueError)
        refuses(make(cls), lambda model: model.partial_fit(X, Y, sample_weight=weights), ValueError)


@every_learner
def test_weights_that_are_all_zero_teach_nothing(cls: Any) -> None:
    refuses(fresh(cls), lambda model: model.fit(X, Y, sample_weight=np.zeros(12)), ValueError)
    model = taught(cls)
    before = state(model)
    model.partial_fit(X, Y, sample_weight=np.zeros(12))
    assert model.t_ == 12 and np.array_equal(model.coef_, before["coef_"])


@every_learner
@pytest.mark.parametrize("weight", [-1.0, float("nan"), float("inf"), "x", None], ids=repr)
def test_a_bad_weight_of_a_dict_is_refused(cls: Any, weight: Any) -> None:
    known = fresh(cls)
    learn_one(known, {"a": 1.0})
    for model in (fresh(cls), known, taught(cls)):
        for x in ({"a": 1.0}, {"b": 1.0}, {0: 1.0}):
            refuses(model, lambda model, x=x: learn_one(model, x, w=weight))
