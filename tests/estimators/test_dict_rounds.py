"""The packed row of the dict face: names that change, values that are refused, rows that grow."""

import numpy as np
import pytest

import onmargin as om
from onmargin.features.slots import Packer, Slots
from onmargin.interface.dicts.streams import open_stream


def learned(*examples):
    model = om.PassiveAggressiveClassifier(classes=["no", "yes"])
    for x, y in examples:
        model.learn_one(x, y)
    return model


def test_a_refused_value_does_not_leave_other_slots_behind():
    """Same names as before a refusal: the row must not keep the slots of the refused one."""
    good, other = ({"a": 1.0, "b": 2.0}, "yes"), ({"c": 1.0, "d": -3.0}, "no")
    model = learned(good, other, good)
    with pytest.raises(ValueError, match="feature 'd' is 'text'"):
        model.learn_one({"c": 1.0, "d": "text"}, "no")
    model.learn_one(*good)
    np.testing.assert_array_equal(model.coef_, learned(good, other, good, good).coef_)
    with pytest.raises(ValueError, match="feature 'd' is 'text'"):
        model.predict_one({"c": 1.0, "d": "text"})
    assert model.predict_one(good[0]) == "yes"


def test_long_rows_and_new_names_after_short_ones():
    draw = np.random.default_rng(0)
    rows = [
        {f"n{j}": float(draw.standard_normal()) for j in range(size)} for size in (1, 40, 3, 200, 0, 65, 33)
    ]
    model = learned(*[(row, ("no", "yes")[k % 2]) for k, row in enumerate(rows)])
    X = np.zeros((len(rows), 200))
    for k, row in enumerate(rows):
        X[k, : len(row)] = list(row.values())
    dense = om.PassiveAggressiveClassifier().partial_fit(X, ["no", "yes"] * 3 + ["no"], classes=["no", "yes"])
    np.testing.assert_allclose(model.coef_, dense.coef_, atol=1e-12)
    for row, expected in zip(rows, dense.predict(X), strict=True):
        assert model.predict_one(row) == expected
        assert model.predict_one({**row, "never seen": 9.0}) == expected


def test_values_of_all_number_kinds():
    plain = learned(({"a": 1.0, "b": 0.0, "c": 3.0, "d": 2.0}, "yes"))
    kinds = learned(({"a": True, "b": False, "c": 3, "d": np.float32(2)}, "yes"))
    np.testing.assert_array_equal(plain.coef_, kinds.coef_)


def test_packing_twice_gives_the_same_row():
    packer = Packer(Slots("abc"), 1.0)
    packer.blank = 9
    for x in ({"c": 5.0, "a": 4.0}, {"c": 7.0, "a": 6.0}):
        assert packer.ask(x, tuple(x))
    values, indices, starts, _ = packer.rows
    assert starts.tolist() == [0, 2] and indices[:2].tolist() == [2, 0] and values[:2].tolist() == [7.0, 6.0]
    assert not packer.ask({"b": 1.0, "x": 2.0}, ("b", "x"))
    assert indices[:2].tolist() == [1, 9] and packer.slots.after(3) == []
    packer.take({"b": 1.0, "x": 2.0}, ("b", "x"))
    assert indices[:2].tolist() == [1, 3] and packer.slots.after(3) == ["x"]
    packer.slots.give_back(3)
    assert list(packer.slots) == ["a", "b", "c"]


def test_names_never_met_count_as_features_at_their_start():
    """A second-order score shrinks by the variance of all features, met or not."""
    model = om.SecondOrderPerceptron(classes=["no", "yes"])
    model.learn_one({"a": 1.0}, "no")
    known = om.SecondOrderPerceptron(classes=["no", "yes"])
    known.learn_one({"a": 1.0, "b": 0.0, "c": 0.0}, "no")
    x = {"a": 1.0, "b": 2.0, "c": -1.0}
    scores = [open_stream(one).scores(x)[0, 0] for one in (model, known)]
    assert scores[0] == pytest.approx(scores[1], rel=1e-12)


def test_models_in_one_process_do_not_share_rows():
    first, second = om.PassiveAggressiveClassifier(), om.PassiveAggressiveClassifier()
    for number in range(20):
        first.learn_one({"a": float(number), "b": 1.0}, number % 2)
        second.learn_one({"b": float(number), "c": 2.0}, number % 3)
    alone = om.PassiveAggressiveClassifier()
    for number in range(20):
        alone.learn_one({"a": float(number), "b": 1.0}, number % 2)
    np.testing.assert_array_equal(first.coef_, alone.coef_)


def test_changed_values_between_answer_and_lesson_are_seen():
    """Same dict, same names; only the values changed in place."""
    x = {"a": 1.0, "b": 2.0}
    model, plain = learned((dict(x), "yes")), learned((dict(x), "yes"))
    model.predict_one(x)
    x["a"] = -7.0
    model.learn_one(x, "no")
    plain.learn_one({"a": -7.0, "b": 2.0}, "no")
    np.testing.assert_array_equal(model.coef_, plain.coef_)
    for bad in ("text", np.array([1.0, 2.0]), None):
        with pytest.raises((ValueError, TypeError)):
            model.learn_one({"a": bad, "b": 2.0}, "no")
        with pytest.raises((ValueError, TypeError)):
            model.predict_one({"a": bad, "b": 2.0})
        model.learn_one(x, "yes")
        plain.learn_one(dict(x), "yes")
    np.testing.assert_array_equal(model.coef_, plain.coef_)
