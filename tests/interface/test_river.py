"""Squashed scores, and all of River's that asks for them: seven tools, beside River's own learner."""

from __future__ import annotations

import itertools
import weakref

import numpy as np
import pandas as pd
import pytest
from river import datasets, ensemble, evaluate, linear_model, metrics, model_selection, multiclass
from river.preprocessing import StandardScaler
from scipy.special import expit, softmax

import onmargin as om
from onmargin.errors import BadInput, BadType
from onmargin.estimators import every

from ..soaking import mostly_uncompiled

OURS, THEIRS = om.PassiveAggressiveClassifier, linear_model.PAClassifier
RUNS = {
    "ROCAUC": lambda make: make(0.1),
    "Bagging": lambda make: ensemble.BaggingClassifier(make(0.1), n_models=3, seed=1),
    "ADWINBagging": lambda make: ensemble.ADWINBaggingClassifier(make(0.1), n_models=3, seed=1),
    "LeveragingBagging": lambda make: ensemble.LeveragingBaggingClassifier(make(0.1), n_models=3, seed=1),
    "SRP": lambda make: ensemble.SRPClassifier(make(0.1), n_models=3, seed=1),
    "SuccessiveHalving": lambda make: model_selection.SuccessiveHalvingClassifier(
        [make(C) for C in (0.001, 0.1, 10.0)], metric=metrics.ROCAUC(), budget=600
    ),
    "OneVsRest": lambda make: multiclass.OneVsRestClassifier(make(0.1)),
}


def judged(model, several):
    stream, metric = (
        (datasets.ImageSegments(), metrics.Accuracy()) if several else (datasets.Phishing(), metrics.ROCAUC())
    )
    pipeline = StandardScaler() | model
    return float(evaluate.progressive_val_score(itertools.islice(iter(stream), 300), pipeline, metric).get())


@pytest.mark.parametrize("name", RUNS)
def test_what_river_does_with_its_own_learner_it_does_with_ours(name):
    ours, theirs = (
        judged(RUNS[name](lambda C, cls=cls: cls(C=C)), name == "OneVsRest") for cls in (OURS, THEIRS)
    )
    assert ours > 0.7 and ours == pytest.approx(theirs, abs=0.03)


def test_learners_that_ask_take_part_too():
    model = om.SelectiveSampler(om.PassiveAggressiveClassifier(), random_state=0)
    assert model.predict_proba_one({"a": 1.0}) == {}
    assert judged(ensemble.BaggingClassifier(model, n_models=3, seed=1), False) > 0.8


@pytest.mark.parametrize("name", sorted(name for name, cls in every().items() if hasattr(cls, "classes")))
def test_nothing_is_said_before_any_label(name):
    params = next(iter(every()[name]._unit_test_params()))
    model = every()[name](**params)
    even = {} if model._multiclass else {False: 0.5, True: 0.5}  # (as River's of two classes)
    assert model.predict_proba_one({"a": 1.0}) == even


DRAW = np.random.default_rng(3)
X = DRAW.standard_normal((60, 3))
TWO, THREE = (X[:, 0] > 0).astype(int), np.digitize(X[:, 0], [-0.5, 0.5])
ROWS = [dict(enumerate(row)) for row in X.tolist()]
MODELS = {
    "two": (om.PassiveAggressiveClassifier(), TWO),
    "averaged": (om.PassiveAggressiveClassifier(average=True), TWO),
    "three": (om.PassiveAggressiveClassifier(), THREE),
    "kernel": (om.Perceptron(kernel="rbf"), THREE),
    "pairs": (om.PairedClassifier(random_state=0), TWO),
    "actions": (om.Banditron(classes=[0, 1], random_state=0), TWO),
    "logistic": (om.FTRLClassifier(loss="logistic"), THREE),
}


@pytest.mark.parametrize("name", mostly_uncompiled(MODELS, "two", "averaged", "three", "kernel"))
def test_shares_are_the_squashed_decisions_and_the_answer_comes_first(name):
    model, y = MODELS[name]
    model = model.clone().partial_fit(X, y, classes=np.unique(y))
    decisions = model.decision_function(X)
    wanted = np.c_[expit(-decisions), expit(decisions)] if decisions.ndim == 1 else softmax(decisions, axis=1)
    found = [model.predict_proba_one(row) for row in ROWS]
    labels = model.classes_.tolist()
    np.testing.assert_allclose([[one[label] for label in labels] for one in found], wanted, atol=1e-12)
    np.testing.assert_allclose([sum(one.values()) for one in found], 1.0)
    for row, one in zip(ROWS, found, strict=True):
        assert next(iter(one)) == max(one, key=one.get) == model.predict_one(row)
    if name != "actions":
        frame = model.predict_proba_many(pd.DataFrame(X, index=range(7, 67)))
        np.testing.assert_allclose(frame.to_numpy(), wanted, atol=1e-12)
        assert frame.columns.tolist() == labels and frame.index[0] == 7


def test_a_score_of_nothing_is_shared_equally_and_goes_to_the_answer():
    model = om.Perceptron(classes=["ham", "spam"], fit_intercept=False)
    model.learn_one({"a": 1.0}, "spam")  # right without moving
    assert model.predict_proba_one({}) == {"spam": 0.5, "ham": 0.5}
    assert max(model.predict_proba_one({}), key=model.predict_proba_one({}).get) == model.predict_one({})


def test_one_label_is_sure_and_far_scores_stay_within_bounds():
    model = om.PassiveAggressiveClassifier(C=np.inf)
    model.learn_one({"a": 1.0}, "x")
    assert model.predict_proba_one({"a": -5.0}) == {"x": 1.0}
    model.learn_one({"a": -1.0}, "y")
    with np.errstate(all="raise", under="ignore"):
        for value in (1e6, -1e6, 1e150):
            assert sorted(model.predict_proba_one({"a": value}).values()) == [0.0, 1.0]


def test_one_of_two_truths_implies_the_other():
    """River's learners of two classes say both from the beginning (its check asks for that)."""
    model = om.BBQ(random_state=0)
    assert model.predict_proba_one({"a": 0.5}) == {False: 0.5, True: 0.5}
    model.learn_one({"a": 0.5}, True)
    assert model.predict_proba_one({"a": 0.5}) == {True: 1.0, False: 0.0}


def test_sets_of_labels_have_a_sigmoid_each_in_rivers_form():
    Y = np.c_[TWO, X[:, 1] > 0, X[:, 2] > 0.4].astype(int)
    model = om.PassiveAggressiveClassifier()
    for row, marks in zip(ROWS, Y.tolist(), strict=True):
        model.learn_one(row, {label: bool(mark) for label, mark in zip("abc", marks, strict=True)})
    scores = model.decision_function(pd.DataFrame(X))
    for row, line in zip(ROWS, scores, strict=True):
        found = model.predict_proba_one(row)
        np.testing.assert_allclose([found[label][True] for label in "abc"], expit(line), rtol=1e-9)
        assert all(sides[True] + sides[False] == pytest.approx(1) for sides in found.values())
        assert {label: max(sides, key=sides.get) for label, sides in found.items()} == model.predict_one(row)
    with pytest.raises(BadInput, match="predict_proba_many is for one label a row"):
        model.predict_proba_many(pd.DataFrame(X))


def test_the_face_for_scikit_learn_is_as_it_was():
    fitted = om.PassiveAggressiveClassifier().partial_fit(X, TWO, classes=[0, 1])
    assert not hasattr(fitted, "predict_proba") and not hasattr(om.AROW(), "predict_proba")
    assert hasattr(om.FTRLClassifier(loss="logistic"), "predict_proba")
    assert not hasattr(om.FTRLClassifier(loss="logistic", tol=None).fit(X, THREE), "predict_proba")
    assert not hasattr(om.PassiveAggressiveRegressor(), "predict_proba_one")


@pytest.mark.parametrize("wrong", [[1.0], None, {0: np.nan}, {0: "much"}, {0: np.inf}], ids=str)
def test_what_is_no_example_is_refused_and_changes_nothing(wrong):
    model = om.PassiveAggressiveClassifier().partial_fit(X, TWO, classes=[0, 1])
    before = model.predict_proba_one(ROWS[0])
    with pytest.raises((BadInput, BadType)) as caught:
        model.predict_proba_one(wrong)
    assert "\n" not in str(caught.value)
    assert model.predict_proba_one(ROWS[0]) == before and model.t_ == 60


def test_mini_batches_go_through_one_vs_rest():
    model = multiclass.OneVsRestClassifier(om.PassiveAggressiveClassifier(C=0.1))
    frame, names = pd.DataFrame(X, columns=list("abc")), pd.Series(np.array(["low", "mid", "top"])[THREE])
    for _ in range(5):
        model.learn_many(frame, names)
    assert (model.predict_many(frame) == names).mean() > 0.6
    fresh = om.PassiveAggressiveClassifier().predict_proba_many(frame)
    assert fresh.shape == (60, 0) and fresh.index.equals(frame.index)


def test_memory_is_the_learners_own():
    """River's measure walked into the compiler, and met functions there that were gone."""
    from onmargin.interface.river import bytes_kept

    model = om.PassiveAggressiveClassifier()
    for number in range(50):
        model.learn_one({f"n{number}": 1.0}, number % 2)
    small = bytes_kept(model)
    for number in range(5000):
        model.learn_one({f"n{number}": 1.0}, number % 2)
    assert 5_000 < small < 200_000 and bytes_kept(model) - small > 5000 * 16

    class Holder:
        def __init__(self, held):
            self.held = held

    gone = Holder(1)
    proxy = weakref.proxy(gone)
    del gone
    assert bytes_kept(Holder(proxy)) < 2000
