"""What the machines of tests/machines found, each as small as it gets."""

from __future__ import annotations

import copy

import numpy as np
import pandas as pd
import pytest

import onmargin as om
from onmargin.errors import BadInput

from ..machines.contents import content, differences

DRAW = np.random.default_rng(9)
X = DRAW.normal(size=(30, 3))
Y = (X[:, 0] > 0).astype(int)
EXAMPLE = {0: 1.0, 1: -1.0}


@pytest.mark.parametrize(
    "model",
    [
        om.PassiveAggressiveClassifier(), om.SecondOrderPerceptron(), om.Perceptron(kernel="rbf"),
        om.PairedClassifier(kernel="rbf", random_state=0), om.BBQ(random_state=0),
    ],
    ids=repr,
)  # fmt: skip
@pytest.mark.filterwarnings("ignore")
def test_a_question_about_a_dict_changes_nothing_that_is_saved(model):
    model.partial_fit(X, Y, classes=[0, 1])
    before = content(model)
    model.predict_one(EXAMPLE)
    with pytest.raises(ValueError, match="finite"):
        model.predict_one({0: np.inf})
    assert differences(before, content(model)) == []


def test_a_parameter_that_was_changed_counts_from_the_next_round_on():
    """A question between must not hand it on."""
    asked, plain = (om.PassiveAggressiveClassifier(C=0.1).partial_fit(X, Y, classes=[0, 1]) for _ in range(2))
    for model in (asked, plain):
        model.learn_one(EXAMPLE, 1)
        model.set_params(C=1.0)
    before = content(asked)
    asked.predict_one(EXAMPLE)
    assert differences(before, content(asked)) == []
    for model in (asked, plain):
        model.learn_one({0: -3.0}, 1)
    assert differences(content(plain), content(asked)) == []


@pytest.mark.parametrize("inner", [om.AROW(), om.Perceptron(kernel="rbf", gamma=0.5)], ids=repr)
def test_a_rule_goes_on_counting_after_a_refused_round(inner):
    model = om.SelectiveSampler(inner, rule="random", target_rate=1.0, random_state=0)
    model.partial_fit(X, Y, classes=[0, 1])
    with pytest.raises(BadInput):
        model.learn_one({0: np.nan}, 1)
    assert model.query(X[:3]).all() and model.n_queries_ == 3
    assert copy.deepcopy(model).n_queries_ == 3


def test_a_learner_that_could_not_be_read_back_is_not_written(tmp_path):
    model = om.Perceptron().partial_fit(X, Y, classes=[0, 1]).set_params(max_iter=0)
    with pytest.raises(BadInput, match="max_iter=0"):
        om.save(model, tmp_path / "m.onm")
    assert not list(tmp_path.iterdir())


def test_a_model_that_grows_and_has_met_no_label_answers_in_one_line():
    model = om.Perceptron(growing=True).partial_fit(X[:1], [0], sample_weight=[0.0])
    assert model.predict_one(EXAMPLE) is None
    for question in (lambda: model.predict(X), lambda: model.explain(X[:1]), model.top_features):
        with pytest.raises(BadInput, match="no label was seen yet"):
            question()
    fresh = om.ShiftingPerceptron(growing=True, class_weight="balanced")
    assert om.progressive(fresh, X[:1], [0], sample_weight=[0.0]).predictions.tolist() == [None]


@pytest.mark.parametrize("kernel", [None, "rbf"])
def test_a_stream_that_somebody_still_holds_answers_for_the_learner(kernel):
    """(Another thread may have looked it up before the learner became another.)"""
    names = ["a", "b", "c"]
    model = om.Perceptron(kernel=kernel, max_iter=1, tol=None).fit(pd.DataFrame(X, columns=names), Y)
    model.predict_one({"a": 1.0})
    held, answer = model._stream, model._stream.answer
    model.fit(pd.DataFrame(X, columns=names), np.where(Y, "yes", "no"))
    assert held.answer({"a": 1.0}) == answer({"a": 1.0}) == model.predict_one({"a": 1.0}) in ("yes", "no")
    assert not held.learn_fast({"a": 1.0}, 1)


def test_coefficients_are_the_callers_own():
    model = om.Perceptron()
    for _ in range(2):
        model.learn_one({"a": 1.0}, 0)
        model.learn_one({"a": -1.0}, 1)
    kept = model.coef_
    before = kept.copy()
    model.learn_one({"a": -5.0}, 0)
    assert (kept == before).all() and not (model.coef_ == before).all()


def test_a_copy_of_a_sampler_learns_alone():
    model = om.SelectiveSampler(om.Perceptron(), random_state=0).partial_fit(X, Y, classes=[0, 1])
    before, twin = content(model), copy.copy(model)
    twin.partial_fit(X, 1 - Y)
    twin.query(X)
    assert differences(before, content(model)) == [] and twin.t_ == 60


def test_a_rule_that_looks_at_lengths_leaves_the_vectors_as_they_are(tmp_path):
    """A name never met is a column more for the answer, and for nothing else."""
    model = om.SelectiveSampler(om.Perceptron(kernel="rbf", gamma=0.5), rule="adaptive", random_state=0)
    model.partial_fit(X, Y, classes=[0, 1])
    before = model.support_vectors_.shape
    model.query_one({0: 1.0, "never met": 1.0})
    assert model.support_vectors_.shape == before
    om.save(model, tmp_path / "m.onm")
    assert om.load(tmp_path / "m.onm").n_queries_ == 1


@pytest.mark.parametrize("label", [1e300, "a longer one", 7])
def test_a_sampler_passes_over_labels_it_does_not_know(label):
    """Whatever type those have that it knows."""
    model = om.SelectiveSampler(om.Perceptron(), rule="random", delta=0.0, random_state=0)
    model.learn_one({"a": 1.0, "b": 1.0, "c": 1.0}, label)
    for unknown in ([1, 0, 1], ["b", "c", "b"]):
        run = om.progressive(model, pd.DataFrame(X[:3], columns=["a", "b", "c"]), unknown)
        assert run.model.n_queries_ == 0


@pytest.mark.parametrize("weight", [1e101, 1e308])
def test_a_weight_beyond_what_numbers_reach_is_refused(weight):
    model = om.Projectron(kernel="linear", plus=True, classes=[0, 1, 2])
    model.partial_fit(np.array([[0.0, -0.3], [0.4, 0.1], [-0.8, 1.0]]), [0, 1, 2])
    before = model.dual_coef_.copy()
    with pytest.raises(om.errors.BadInput, match="at most 1e\\+100"):
        model.partial_fit(np.array([[1.0, 0.3]]), [1], sample_weight=[weight])
    with pytest.raises(om.errors.BadInput, match="at most 1e\\+100"):
        model.learn_one({0: 1.0, 1: 0.3}, 1, weight)
    assert (model.dual_coef_ == before).all()
