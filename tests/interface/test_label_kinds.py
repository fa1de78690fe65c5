"""What a label may be: dates, long numbers, what is missing; what class_weight and classes may name."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.preprocessing import MultiLabelBinarizer

import onmargin as om
from onmargin.errors import BadInput
from onmargin.interface.targets.labels import Labels

X = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
PA = om.PassiveAggressiveClassifier
MISSING = [np.datetime64("NaT"), np.timedelta64("NaT"), pd.NaT, pd.NA, None, float("nan"), np.float32("nan")]
DATES = np.array(["2020-01-01", "2021-01-01", "2020-01-01"], "datetime64[ns]")
FAR = 2**53


@pytest.mark.parametrize("label", MISSING, ids=lambda label: f"{type(label).__name__}")
@pytest.mark.parametrize("begun", [False, True])
def test_a_missing_label_is_refused_and_nothing_changes(label, begun):
    model = PA()
    if begun:
        model.learn_one({"a": 1.0}, "x")
        model.learn_one({"b": 1.0}, "y")
        weights, names = model.coef_.copy(), list(model.feature_names_in_)
    for call in (
        lambda: model.learn_one({"a": 1.0, "c": 2.0}, label),
        lambda: model.learn_many(pd.DataFrame({"a": [1.0, 1.0]}), pd.Series(["x", label], dtype=object)),
        lambda: model.fit(X, ["x", "y", label]),
        lambda: model.fit(X, np.array(["x", "y", label], object)),
    ):
        with pytest.raises(BadInput) as refused:
            call()
        assert "\n" not in str(refused.value)
    if begun:
        assert model.classes_.tolist() == ["x", "y"] and list(model.feature_names_in_) == names
        np.testing.assert_array_equal(model.coef_, weights)
    else:
        assert not hasattr(model, "classes_")


@pytest.mark.parametrize("label", MISSING, ids=lambda label: f"{type(label).__name__}")
def test_a_missing_label_is_refused_by_partial_fit_and_announced_by_nobody(label):
    for call in (
        lambda: PA().partial_fit(X, ["x", "y", label], classes=["x", "y"]),
        lambda: PA(growing=True).partial_fit(X, ["x", "y", label]),
        lambda: PA().partial_fit(X, ["x", "y", "x"], classes=["x", "y", label]),
        lambda: PA(classes=["x", label]).learn_one({"a": 1.0}, "x"),
        lambda: PA().learn_one({"a": 1.0}, {"x": True, label: False}),
    ):
        with pytest.raises(BadInput):
            call()


@pytest.mark.parametrize("unit", ["ns", "s", "D"])
def test_dates_come_back_as_dates(unit, tmp_path):
    dates = DATES.astype(f"datetime64[{unit}]")
    model = PA(random_state=0).fit(X, dates)
    assert model.classes_.dtype == dates.dtype and model.predict(X).dtype == dates.dtype
    np.testing.assert_array_equal(model.predict(X), dates)
    assert (model.predict_one({0: 1.0, 1: 0.0}), model.score(X, dates)) == (dates[0], 1.0)
    om.progressive(PA(), X, dates)
    om.save(model.set_params(class_weight={dates[0]: 2.0}), tmp_path / "dates.onm")
    loaded = om.load(tmp_path / "dates.onm")
    assert loaded.classes_.dtype == dates.dtype and loaded.class_weight == {dates[0]: 2.0}


def test_dates_of_a_series_and_of_dicts():
    assert PA().fit(X, pd.Series(DATES)).classes_.dtype == DATES.dtype
    assert PA().fit(X, DATES - DATES[0]).classes_.dtype == np.dtype("timedelta64[ns]")
    model = PA()
    for x, date in zip(X, DATES, strict=True):
        model.learn_one(dict(enumerate(x)), date)
    assert model.classes_.dtype == DATES.dtype and model.predict_one({0: 1.0}) == DATES[0]


@pytest.mark.parametrize(
    "labels",
    [
        [FAR, FAR + 1, FAR], [True, FAR, FAR + 1], [1.0, FAR, FAR + 1], [-1, 2**63, 2**63 + 1],
        [2**70, 2**70 + 1, 1], [-FAR, -FAR - 1, 0], [np.int64(FAR), np.uint64(FAR + 1), 0],
        np.array([FAR, FAR + 1, 0]), np.array([2**63, 2**63 + 1, 5], np.uint64),
        np.array([FAR, FAR + 1, 0], object),
    ],
    ids=str,
)  # fmt: skip
def test_long_numbers_stay_apart(labels):
    wanted = [int(label) for label in labels]
    for model in (PA(tol=None, random_state=0).fit(X, labels), PA(growing=True).partial_fit(X, labels)):
        assert sorted(map(int, model.classes_)) == sorted(set(wanted))
    dicts = PA()
    for x, label in zip(X, labels, strict=True):
        dicts.learn_one(dict(enumerate(x)), label)
    assert sorted(map(int, dicts.classes_)) == sorted(set(wanted))
    assert [int(label) for label in PA(tol=None, random_state=0).fit(X, labels).predict(X)] == wanted


def test_a_long_number_that_is_not_announced_is_not_another():
    with pytest.raises(BadInput, match=str(FAR + 1)):
        PA().partial_fit(X, [0, FAR, FAR + 1], classes=[0, FAR])


@pytest.mark.parametrize(
    "sets",
    [
        [(1, 2), (0,), ()], [(1.0, 2.0), (0.0, 1.0), (0.0, 2.0)], [("a", "b"), ("a",), ("b", "c")],
        [{1, 2}, {0}, set()], [[1, 2], [0], []],
    ],
    ids=str,
)  # fmt: skip
def test_sets_of_labels_are_answered_with_who_makes_a_matrix_of_them(sets):
    for call in (
        lambda: PA().fit(X, sets),
        lambda: om.progressive(PA(), X, sets),
        lambda: PA().partial_fit(X, sets, classes=[0, 1, 2]),
    ):
        with pytest.raises(BadInput, match=r"MultiLabelBinarizer\(\)\.fit_transform\(y\)") as refused:
            call()
        assert "\n" not in str(refused.value)
    assert PA().fit(X, MultiLabelBinarizer().fit_transform(sets)).predict(X).shape[1] >= 2
    with pytest.raises(TypeError, match=r"of a set of labels: a dict"):
        PA().learn_one({"a": 1.0}, {"x", "y"})


# ---- what class_weight names


STRANGE = {0: 1.0, 7: 2.0}


@pytest.mark.parametrize(
    "call",
    [
        lambda: PA(class_weight=STRANGE).fit(X, [0, 1, 0]),
        lambda: PA(class_weight=STRANGE).partial_fit(X, [0, 1, 0], classes=[0, 1]),
        lambda: PA(class_weight=STRANGE, classes=[0, 1]).learn_one({"a": 1.0}, 1),
        lambda: PA(class_weight=STRANGE, growing=True, classes=[0, 1]).partial_fit(X, [0, 1, 0]),
        lambda: om.progressive(PA(class_weight=STRANGE), X, [0, 1, 0]),
        lambda: om.Pegasos(class_weight=STRANGE).fit(X, [0, 1, 0]),
        lambda: om.SelectiveSampler(PA(class_weight=STRANGE)).fit(X, [0, 1, 0]),
        lambda: om.sweep(PA(), {"class_weight": [None, STRANGE]}, X, np.array([0, 1, 0])),
        lambda: PA().fit(X, [0, 1, 0]).set_params(class_weight=STRANGE, warm_start=True).fit(X, [0, 1, 0]),
    ],
)
def test_a_class_weight_of_no_class_is_refused(call):
    with pytest.raises(BadInput, match=r"class_weight names 7, which is not among the classes \[0, 1\]"):
        call()


def test_a_class_weight_may_wait_for_its_label_where_labels_are_open():
    growing = PA(class_weight={"x": 1.0, "later": 5.0}, growing=True).partial_fit(X, ["x", "y", "x"])
    growing.partial_fit(X, ["later"] * 3)
    dicts = PA(class_weight={"x": 1.0, "later": 5.0})
    for x, y in zip([*X, *X], ["x", "y", "x", *["later"] * 3], strict=True):
        dicts.learn_one(dict(enumerate(x)), y)
    np.testing.assert_allclose(dicts.coef_, growing.coef_, atol=1e-9)


def test_announced_classes_stay_in_mid_stream():
    model = PA().partial_fit(X, [0, 1, 0], classes=[0, 1])
    model.set_params(classes=(1, 0)).partial_fit(X, [0, 1, 0])  # the same in other words
    for call in (lambda: model.partial_fit(X, [0, 1, 0]), lambda: model.learn_one({0: 1.0}, 1)):
        model.set_params(classes=[0, 1, 2])
        with pytest.raises(BadInput, match=r"classes=\[0, 1, 2\], but learning began with \[0, 1\]"):
            call()
    model.fit(X, [0, 1, 2])  # anew is well
    assert model.classes_.tolist() == [0, 1, 2]


def test_announced_classes_of_dicts_and_of_bbq_stay():
    model, asking = PA(classes=["x", "y"]), om.BBQ(classes=["x", "y"], random_state=0)
    for one in (model, asking):
        one.learn_one({"a": 1.0}, "x")
        one.set_params(classes=["x", "z"])
        with pytest.raises(BadInput, match="but learning began with \\['x', 'y'\\]"):
            one.learn_one({"a": 1.0}, "x")
        one.set_params(classes=["x", "y"]).learn_one({"a": 1.0}, "y")


def test_the_call_and_the_parameter_announce_the_same():
    with pytest.raises(BadInput, match="but the parameter says"):
        PA(classes=[0, 1]).partial_fit(X, [0, 1, 0], classes=[0, 1, 2])
    PA(classes=[0, 1]).partial_fit(X, [0, 1, 0], classes=[1, 0])


def test_an_array_of_classes_is_compared_by_what_it_holds():
    model = PA(classes=np.array([0, 1])).partial_fit(X, [0, 1, 0])
    model.set_params(classes=np.array([0, 1])).partial_fit(X, [0, 1, 0]).predict(X)


def test_bbq_goes_on_with_its_parameters_as_they_are_now():
    rows = np.tile(X / 2, (10, 1))
    model = om.BBQ(random_state=0).fit(rows, [0, 1, 1] * 10)
    model.set_params(scale=False)
    with pytest.raises(BadInput, match="above 1; scale the rows"):
        model.partial_fit(2 * rows, [0, 1, 1] * 10)
    with pytest.raises(BadInput, match="kernel= was None"), warnings.catch_warnings():
        model.set_params(kernel="rbf").partial_fit(rows, [0, 1, 1] * 10)


@pytest.mark.parametrize("kind", [np.int64, np.int8, np.uint8, bool, np.float64])
@pytest.mark.parametrize("known", [[0, 1, 2], [-1, 0, 1], [0, 2], [0.5, 1.5], [1], [True, False]])
def test_announced_labels_are_known_however_they_are_looked_for(kind, known):
    """Whole numbers without a gap by the least and the greatest, all others one by one."""
    labels = Labels(known, closed=True)
    for values in ([0, 1], [1, 1, 1], [0, 2], [3], [-1, 1], [2, 1, 0]):
        y = np.abs(values).astype(kind) if kind in (np.uint8, bool) else np.array(values, kind)
        assert not labels.knows_all(y) or set(y.tolist()) <= set(known)
        assert labels.knows_all(y) <= bool((labels.codes(y) >= 0).all())
    assert Labels([0, 1, 2]).knows_all(np.array([2, 0])) and not Labels([0, 1]).knows_all(np.zeros(0, int))


@pytest.mark.parametrize("wrong", [3, -1])
def test_one_label_that_was_not_announced_is_named_with_its_row(wrong):
    y = np.tile([0, 1, 2], 4000)
    y[9001] = wrong
    with pytest.raises(BadInput, match=f"row 9001 has the label {wrong}, which is not among"):
        PA().partial_fit(np.ones((len(y), 1)), y, classes=[0, 1, 2])


def test_an_array_after_a_frame_has_no_names():
    frame = pd.DataFrame(X, columns=["a", "b"])
    for table in (X, np.asfortranarray(X), sp.csr_matrix(X), X.astype(np.float32), X.tolist()):
        model = PA().fit(frame, ["x", "y", "x"])
        assert model.feature_names_in_.tolist() == ["a", "b"]
        model.fit(np.hstack([table, table]) if isinstance(table, np.ndarray) else table, ["x", "y", "x"])
        assert not hasattr(model, "feature_names_in_")
        assert model.n_features_in_ == model.coef_.shape[1] == (4 if isinstance(table, np.ndarray) else 2)
    for empty in (np.zeros((0, 2)), np.zeros((2, 0)), np.zeros(2), sp.csr_matrix((0, 2))):
        with pytest.raises(ValueError):
            PA().partial_fit(
                empty, ["x", "y"][: len(empty) if empty.ndim == 1 else empty.shape[0]], ["x", "y"]
            )


def test_labels_of_a_file_in_another_order_are_looked_at_one_by_one():
    labels = Labels.restored({"known": [0, 5, 2], "counts": [0, 0, 0], "closed": True, "sets": False}, False)
    assert not labels.knows_all(np.array([1])) and not labels.knows_all(np.array([0, 5]))
