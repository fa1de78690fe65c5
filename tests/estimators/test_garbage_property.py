"""Garbage between good rounds leaves no trace: the model equals one that never saw it, bit for bit."""

from __future__ import annotations

import pickle
from typing import Any, NamedTuple

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

import onmargin as om

from ..soaking import either

WIDTH = 3
NAMES = [0, 1, 2]  # an array's columns are known to the dict face by number


class Case(NamedTuple):
    """How to make a learner, and which targets are good for it."""

    make: Any
    targets: list[Any]


CASES = {
    "PA-I, two classes": Case(lambda: om.PassiveAggressiveClassifier(classes=(0, 1)), [0, 1]),
    "PA-II averaged, balanced": Case(
        lambda: om.PassiveAggressiveClassifier(
            step="pa2", average=True, class_weight="balanced", classes=(0, 1)
        ),
        [0, 1],
    ),
    "PA-I, three classes": Case(lambda: om.PassiveAggressiveClassifier(classes=("a", "b", "c")), list("abc")),
    "PA-I, growing": Case(lambda: om.PassiveAggressiveClassifier(growing=True), [3, 1, 2]),
    "regression": Case(lambda: om.PassiveAggressiveRegressor(), [-1.0, 0.5, 3.0]),
    "AROW": Case(lambda: om.AROW(classes=(0, 1)), [0, 1]),
    "AROW, full, three classes": Case(lambda: om.AROW(covariance="full", classes=(0, 1, 2)), [0, 1, 2]),
    "logistic, coin": Case(
        lambda: om.FTRLClassifier(loss="logistic", regularizer="coin", average=True, classes=(0, 1)), [0, 1]
    ),
    "squares, entropic": Case(lambda: om.FTRLRegressor(loss="squared", regularizer="entropic"), [-1.0, 2.0]),
    "Pegasos in batches": Case(lambda: om.Pegasos(batch_size=3, classes=(0, 1)), [0, 1]),
    "a ball": Case(lambda: om.PassiveAggressiveUniclass(epsilon=0.5), [None]),
    "a ball that learns its radius": Case(lambda: om.PassiveAggressiveUniclass(max_radius=2.0), [None]),
}

BAD_VALUES = [np.nan, np.inf, -np.inf, 1e200, 2e154]
BAD_TARGETS = [float("nan"), None, [1], {2}, "unheard of", 0.5]
BAD_WEIGHTS = [-1.0, float("nan"), float("inf"), "heavy"]
BAD_FEATURES = [*BAD_VALUES, "red", None, 1j, [1.0]]
numbers = st.floats(-3, 3, width=32)
PHASES = [
    Phase.explicit,
    Phase.reuse,
    Phase.generate,
]  # (runs are short: shrinking them is not worth minutes)


class Round(NamedTuple):
    """One call: the name of the method, and what it is given."""

    call: str
    x: Any
    y: Any
    weight: Any


@st.composite
def good_rounds(draw: Any, case: Case, block: bool = False) -> Round:
    """A block of rows (`block`: always), or a dict with the columns' numbers for names."""
    count = draw(st.integers(1, 4))
    rows = draw(st.lists(st.lists(numbers, min_size=WIDTH, max_size=WIDTH), min_size=count, max_size=count))
    targets = draw(st.lists(st.sampled_from(case.targets), min_size=count, max_size=count))
    weights = draw(
        st.none() | st.lists(st.sampled_from([0.0, 0.5, 1.0, 2.0]), min_size=count, max_size=count)
    )
    if block or draw(st.booleans()):
        table = np.array(rows)
        return Round("partial_fit", sp.csr_matrix(table) if draw(st.booleans()) else table, targets, weights)
    weight = 1.0 if weights is None else weights[0]
    return Round("learn_one", dict(zip(NAMES, rows[0], strict=True)), targets[0], weight)


@st.composite
def garbage(draw: Any, case: Case) -> Round:
    """A good round with one thing spoiled."""
    good = draw(good_rounds(case))
    has_targets = case.targets != [None]
    what = draw(st.sampled_from(["x", "weight", "shape", "y"] if has_targets else ["x", "weight", "shape"]))
    if good.call == "learn_one":
        x, y, weight = dict(good.x), good.y, good.weight
        if what == "x":
            x[draw(st.sampled_from([*NAMES, 7]))] = draw(st.sampled_from(BAD_FEATURES))
        elif what == "shape":
            x = draw(st.sampled_from([[1.0, 2.0], "text", None, 3.0]))
        elif what == "weight":
            weight = draw(st.sampled_from(BAD_WEIGHTS))
            x |= draw(st.sampled_from([{}, {7: 1.0}]))
        else:
            y = draw(st.sampled_from(bad_targets(case, 4)))
            x |= draw(st.sampled_from([{}, {7: 1.0}]))
        return Round("learn_one", x, y, weight)
    x, y, weight = good.x, list(good.y), good.weight
    where = draw(st.integers(0, len(y) - 1))
    if what == "x":
        x = x.toarray() if sp.issparse(x) else x.copy()
        x[where, draw(st.integers(0, WIDTH - 1))] = draw(st.sampled_from(BAD_VALUES))
        x = sp.csr_matrix(x) if draw(st.booleans()) else x
    elif what == "shape":
        x = draw(
            st.sampled_from([np.ones(len(y)), np.ones((len(y), 0)), np.ones((len(y) + 1, WIDTH)) * np.nan])
        )
    elif what == "weight":
        weight = [1.0] * len(y)
        weight[where] = draw(st.sampled_from(BAD_WEIGHTS))
        weight = weight if draw(st.booleans()) else [1.0] * (len(y) + 1)
    else:
        y[where] = draw(st.sampled_from(bad_targets(case, 2)))
        array = np.empty(len(y), object)
        array[:] = y
        y = array
    return Round("partial_fit", x, y, weight)


def bad_targets(case: Case, few: int) -> list[Any]:
    """Targets the case refuses: an open set takes all labels but these few."""
    if getattr(case.make(), "growing", False):
        return BAD_TARGETS[:few]
    return BAD_TARGETS[:-1] if isinstance(case.targets[0], float) else BAD_TARGETS


def play(model: Any, given: Round) -> None:
    """Make the call."""
    answer = [] if isinstance(model, om.PassiveAggressiveUniclass) else [given.y]
    if given.call == "partial_fit":
        model.partial_fit(given.x, *answer, sample_weight=given.weight)
    else:
        model.learn_one(given.x, *answer, w=given.weight)


def outside(model: Any) -> dict[str, Any]:
    """All that can be seen of a model."""
    if not model.__sklearn_is_fitted__():
        return {}
    names = ["coef_", "intercept_", "t_", "n_features_in_", "classes_", "radius_"]
    return {name: np.array(getattr(model, name)) for name in names if hasattr(model, name)}


def inside(model: Any, name: str) -> Any:
    """An array of the model's state, without the spare slots that an opened stream keeps."""
    array = getattr(model._model.space, name, None)
    if array is None or not array.size:
        return array
    kept = [*range(model.n_features_in_), -1]
    return array[:, kept][:, :, kept] if array.ndim == 3 else array[kept]


def assert_twins(model: Any, twin: Any) -> None:
    """The same from outside, and the same numbers inside."""
    seen, expected = outside(model), outside(twin)
    assert seen.keys() == expected.keys()
    for name, value in expected.items():
        assert np.array_equal(seen[name], value), f"{name} is {seen[name]}, wanted {value}"
    if expected:
        for name in ("weights", "drift", "sigma", "theta"):  # (the rest are notes of the last round)
            mine, theirs = inside(model, name), inside(twin, name)
            assert np.array_equal(mine, theirs), name


@pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())
@given(data=st.data())
@settings(max_examples=either(25, 100), deadline=None, derandomize=True, database=None, phases=PHASES)
def test_garbage_leaves_no_trace(case: Case, data: Any) -> None:
    model, twin = case.make(), case.make()
    for _ in range(data.draw(st.integers(1, 6), label="rounds")):
        if data.draw(st.booleans(), label="garbage?"):
            bad = data.draw(garbage(case), label="garbage")
            with pytest.raises((ValueError, TypeError)):
                play(model, bad)
        else:
            block = not model.__sklearn_is_fitted__()  # a model begun with dicts takes no arrays
            good = data.draw(good_rounds(case, block), label="good")
            play(model, good)
            play(twin, good)
        assert_twins(model, twin)
    last = Round("partial_fit", np.eye(WIDTH), [case.targets[0]] * WIDTH, None)
    copy = pickle.loads(pickle.dumps(model))
    for learner in (model, copy, twin):
        play(learner, last)
    assert_twins(model, twin)
    assert_twins(copy, twin)


@pytest.mark.parametrize("call", ["learn_one", "predict_one"])
@pytest.mark.parametrize(
    "bad", [{"b": "oops"}, {"b": None}, {"b": np.nan}, {"c": 1j, "a": 1.0}, ["b"]], ids=repr
)
def test_a_refused_dict_does_not_move_the_names_of_the_next(call: str, bad: Any) -> None:
    model, twin = om.PassiveAggressiveRegressor(), om.PassiveAggressiveRegressor()
    for learner in (model, twin):
        learner.learn_one({"a": 1.0, "b": 2.0, "c": 3.0}, 1.0)
        learner.learn_one({"a": 1.0, "b": 2.0, "c": 3.0}, 2.0)
    with pytest.raises((ValueError, TypeError)):
        getattr(model, call)(bad, *([1.0] if call == "learn_one" else []))
    for learner in (model, twin):
        learner.learn_one({"a": 5.0, "b": -1.0, "c": 2.0}, 3.0)
    assert_twins(model, twin)


def test_a_refused_example_is_not_counted_as_one_of_its_class() -> None:
    make = CASES["PA-II averaged, balanced"].make
    model, twin = make(), make()
    for learner in (model, twin):
        learner.learn_one({"a": 1.0}, 0)
    for bad in ({"a": np.nan}, {"a": "x"}, {"a": 1e200}):
        with pytest.raises(ValueError):
            model.learn_one(bad, 0)
    for learner in (model, twin):
        learner.learn_one({"a": 2.0}, 1)
        learner.learn_one({"a": -2.0}, 0)
    assert_twins(model, twin)


@pytest.mark.parametrize("label", [None, float("nan"), [1]], ids=repr)
def test_a_bad_label_late_in_a_block_takes_the_whole_block_back(label: Any) -> None:
    model, twin = (
        om.PassiveAggressiveClassifier(growing=True).partial_fit(np.eye(9), range(9)) for _ in "12"
    )
    labels = np.empty(3, object)
    labels[:] = [0, "new", label]
    with pytest.raises((ValueError, TypeError)):
        model.partial_fit(np.ones((3, 9)), labels)
    assert_twins(model, twin)


def test_a_label_that_cannot_be_taken_in_is_not_kept() -> None:
    two = om.PassiveAggressiveClassifier(cost=[[0.0, 1.0], [1.0, 0.0]], growing=True, max_iter=1)
    two.fit(np.eye(4), [0, 1, 0, 1])
    with pytest.raises(ValueError, match="cost"):
        two.learn_one({0: 1.0}, 2)
    assert two.classes_.tolist() == [0, 1]
    weighted = om.PassiveAggressiveClassifier()
    weighted.learn_one({"a": 1.0}, "x")
    weighted.set_params(class_weight={"x": -1.0})
    with pytest.raises(ValueError, match="class_weight"):
        weighted.learn_one({"b": 1.0}, "y")
    assert weighted.classes_.tolist() == ["x"] and weighted.n_features_in_ == 1


def test_a_stream_that_could_not_begin_may_begin_with_arrays() -> None:
    model = om.PassiveAggressiveClassifier(C=0)
    with pytest.raises(ValueError, match="C=0"):
        model.learn_one({"a": 1.0}, 1)
    model.set_params(C=1.0).partial_fit(np.eye(WIDTH), [0, 1, 0], classes=[0, 1])
    twin = om.PassiveAggressiveClassifier().partial_fit(np.eye(WIDTH), [0, 1, 0], classes=[0, 1])
    assert_twins(model, twin)
