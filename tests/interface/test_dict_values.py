"""Dicts as an attack gave them: values of every kind, wide ones, refused ones; what is left of them."""

from __future__ import annotations

import tracemalloc
from decimal import Decimal

import numpy as np
import pytest

import onmargin as om
from onmargin.errors import BadInput, Diverged
from onmargin.learn.spaces import arrays


def saved(model, tmp_path):
    path = tmp_path / "model.onm"
    om.save(model, path)
    return path.read_bytes()


def test_an_array_of_no_dimension_is_read_anew(tmp_path):
    room, draw = np.array(0.0), np.random.default_rng(0)
    plain, reused = om.PassiveAggressiveClassifier(), om.PassiveAggressiveClassifier()
    for value in draw.normal(size=50).tolist():
        room[...] = value
        assert reused.predict_one({"f": room}) == plain.predict_one({"f": value})
        reused.learn_one({"f": room}, int(value > 0.3))
        plain.learn_one({"f": value}, int(value > 0.3))
    assert reused.coef_.tolist() == plain.coef_.tolist()
    assert reused.predict_one({"f": -1.0}) == plain.predict_one({"f": -1.0})


@pytest.mark.parametrize("kind", [np.float16, np.float32, np.int8, Decimal, int, np.array])
def test_a_number_of_any_kind_is_what_it_is_as_a_float(kind):
    model, plain = om.PassiveAggressiveClassifier(), om.PassiveAggressiveClassifier()
    value = 100 if kind is np.int8 else 300
    for label in "xyzx":
        model.learn_one({"a": kind(value), "b": 1.0}, label)
        plain.learn_one({"a": float(value), "b": 1.0}, label)
    assert (model.coef_ == plain.coef_).all()


@pytest.mark.parametrize(
    "value",
    [10**5000, Decimal("sNaN"), np.zeros(3), [1.0], "red", None, 1j, float("nan"), "x" * 10**6],
    ids=lambda value: type(value).__name__,
)
def test_what_is_no_number_is_one_short_line(value, tmp_path):
    model = om.PassiveAggressiveClassifier()
    model.learn_one({"a": 1.0}, "x")
    before = saved(model, tmp_path)
    for call in (lambda x: model.learn_one(x, "x"), lambda x: model.learn_one(x, "new"), model.predict_one):
        with pytest.raises(BadInput) as refused:
            call({"a": 1.0, "fresh": value})
        assert "\n" not in str(refused.value) and len(str(refused.value)) < 300
    assert saved(model, tmp_path) == before


def test_a_wide_dict_costs_its_arrays_and_little_more():
    model = om.PassiveAggressiveClassifier()
    model.learn_one({"a": 1.0}, "x")
    model.learn_one({"b": 1.0}, "y")
    wide = dict.fromkeys(range(200_000), 1.0)
    tracemalloc.start()
    model.predict_one(wide)
    kept, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert kept < 2 * 200_000 * 12
    del wide


def test_a_refused_example_leaves_the_features_known(tmp_path):
    """Entropic scores depend on how many there are."""
    model = om.FTRLClassifier(regularizer="entropic")
    model.learn_one({"a": 1.0, "b": 0.5}, "x")
    model.learn_one({"b": 1.0, "a": 0.2}, "y")
    before, file = model.coef_.tolist(), saved(model, tmp_path)
    for x in ({"n1": float("nan"), "n2": 1.0, "n3": 1.0}, {f"n{j}": 1e200 for j in range(50)}):
        with pytest.raises(BadInput):
            model.learn_one(x, "x")
    assert model.coef_.tolist() == before and saved(model, tmp_path) == file


@pytest.mark.parametrize(("label", "value"), [("x", 1e60), ("z", -1e60)])
def test_steps_that_feed_on_themselves_leave_no_name_and_no_label(label, value, tmp_path):
    model = om.FTRLClassifier(loss="squared_hinge", rate=1e3)
    for known in "xy":
        model.learn_one({"a": 1.0}, known)
    before = saved(model, tmp_path)
    with pytest.raises(Diverged):
        model.learn_one({"new": 1e60, "a": value}, label)
    assert saved(model, tmp_path) == before and model.classes_.tolist() == ["x", "y"]


@pytest.mark.parametrize("failure", [MemoryError, KeyboardInterrupt])
@pytest.mark.parametrize("label", ["x", "new"])
def test_no_memory_for_new_names_leaves_the_model_as_it_was(failure, label, monkeypatch, tmp_path):
    model = om.AROW(covariance="full")
    for name in "ab":
        model.learn_one({name: 1.0}, "xy"[name == "b"])
    before = saved(model, tmp_path)

    def fails(*args):
        raise failure

    monkeypatch.setattr(arrays, "widened", fails)
    with pytest.raises(failure):
        model.learn_one(dict.fromkeys(map(str, range(60)), 1.0), label)
    monkeypatch.undo()
    assert model.n_features_in_ == 2 and saved(model, tmp_path) == before
    model.learn_one(dict.fromkeys(map(str, range(60)), 1.0), label)
    assert model.n_features_in_ == 62 and np.isfinite(model.coef_).all()


@pytest.mark.parametrize("make", [om.PassiveAggressiveClassifier, om.SecondOrderPerceptron, om.AROW])
def test_answering_changes_nothing_that_is_saved(make, tmp_path):
    X = np.random.default_rng(0).normal(size=(30, 4))
    model = make(random_state=0).partial_fit(X, X[:, 0] > 0, classes=[False, True])
    before = saved(model, tmp_path)
    model.predict_one({0: 1.0, 2: -1.0})
    with pytest.raises(BadInput):
        model.predict_one({0: float("inf")})
    model.predict(X), model.decision_function(X), model.top_features(2), model.explain({0: 1.0})
    assert saved(model, tmp_path) == before


@pytest.mark.parametrize("options", [{"l1": 0.1, "regularizer": "l2"}, {"regularizer": "pnorm"}], ids=str)
def test_a_value_that_is_no_number_is_refused_before_there_are_labels_too(options):
    """A learner of label sets has no outputs then, and no score that would tell."""
    model = om.FTRLClassifier(**options)
    model.learn_one({"a": 1.0}, {})
    with pytest.raises(BadInput, match="'a' is nan"):
        model.predict_one({"a": float("nan")})
