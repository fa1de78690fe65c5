"""What an attack on the rebuilt house found, each as small as it gets."""

from __future__ import annotations

import gc
import json
import pickle
import weakref

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose
from sklearn.exceptions import NotFittedError

import onmargin as om
from onmargin.errors import BadFile, BadInput, ClusterError, MissingExtra, NoFile
from onmargin.protocols.saving import container

from ..soaking import uncompiled

DRAW = np.random.default_rng(4)
X = DRAW.normal(size=(40, 3))
Y = (X[:, 0] > 0).astype(int)


@pytest.mark.parametrize("inner", [om.Perceptron(kernel="rbf"), om.Projectron(), om.Forgetron()], ids=repr)
def test_an_answer_about_a_name_never_met_leaves_what_was_counted(inner):
    """Distances count new columns in a copy of the model; the rule that asks must stay with the model."""
    model = om.SelectiveSampler(inner, budget=3, delta=1e9, random_state=0)
    model.partial_fit(pd.DataFrame({"a": [1.0, -1.0]}), [1, 0], classes=[0, 1])
    model.predict_one({"never met": 1.0})
    assert all(model.query_one({"a": float(t)}) for t in range(3))
    model.partial_fit(pd.DataFrame({"a": [0.5]}), [1])
    assert model.n_queries_ == 3 and not model.query_one({"a": 1.0})


@uncompiled
def test_a_learner_that_forgets_forgets_in_dicts_too():
    table = om.FTRLClassifier(rate=0.3, horizon=5.0).partial_fit(X, Y, classes=[0, 1])
    dicts = om.FTRLClassifier(rate=0.3, horizon=5.0, classes=[0, 1])
    for x, y in zip(X.tolist(), Y.tolist(), strict=True):
        dicts.learn_one(dict(enumerate(x)), y)
    assert_allclose(dicts.coef_, table.coef_, rtol=1e-12, atol=1e-12)


def test_a_sampler_around_ftrl_learns_what_ftrl_learns():
    """Also where a later dict brings a feature: the exponent stays that of the first."""
    examples = [({0: -2.4, 1: 0.1, 3: -1.0}, 1), ({0: -0.6, 1: -0.8, 2: -0.5}, 1), ({0: 0.5, 2: -0.5}, 0)]
    alone = om.FTRLClassifier(regularizer="pnorm", rate=0.1)
    asked = om.SelectiveSampler(om.FTRLClassifier(regularizer="pnorm", rate=0.1), random_state=0)
    for x, y in examples:
        alone.learn_one(x, y)
        asked.learn_one(x, y)
    np.testing.assert_array_equal(asked.coef_, alone.coef_)


def test_a_refused_drift_run_leaves_the_stream_of_dicts_whole():
    model, plain = om.PassiveAggressiveRegressor(), om.PassiveAggressiveRegressor()
    for one in (model, plain):
        one.learn_one({"a": 1.0}, 2.0)
    with pytest.raises(BadInput):
        om.progressive(model, pd.DataFrame({"a": [np.nan]}), [1.0], drift=om.PageHinkley())
    for one in (model, plain):
        one.learn_one({"b": 1.0}, 3.0)
    np.testing.assert_array_equal(model.coef_, plain.coef_)


def test_pairs_for_a_ball_have_a_number_beside_each_point():
    with pytest.raises(BadInput, match="the target is None; wanted a number"):
        om.progressive(om.PassiveAggressiveUniclass(), [({"a": 1.0}, None)])


def test_bad_parameters_of_bbq_are_refused_before_it_answers():
    model = om.BBQ(random_state=0).fit(X / 9, Y).set_params(delta=2.0)
    with pytest.raises(BadInput, match="delta=2.0; wanted a probability"):
        model.certainty(X / 9)


def test_what_cannot_be_merged_says_so_before_others_are_looked_at():
    fitted = om.Perceptron(kernel="rbf").partial_fit(X, Y, classes=[0, 1])
    with pytest.raises(BadInput, match="Perceptron cannot be averaged: it keeps vectors"):
        om.merge([fitted, om.Perceptron()])
    with pytest.raises(NotFittedError):
        om.merge([om.Perceptron().fit(X, Y), om.Perceptron()])


@pytest.mark.parametrize("value", [{"int": "zz"}, {"dict": [[1]]}, {"array": "?!", "shape": 3, "items": []}])
def test_a_value_that_cannot_be_read_is_one_line(value, tmp_path, monkeypatch):
    path = tmp_path / "m.onm"
    om.save(om.Perceptron().fit(X, Y), path)
    facts, arrays = container.read(path)
    written = json.loads(json.dumps(container.encode(facts)))
    written["dict"][0][1] = value
    monkeypatch.setattr(container, "encode", lambda _: written)
    container.write(path, facts, arrays)
    monkeypatch.undo()
    with pytest.raises(BadFile) as refused:
        om.load(path)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    "damage",
    [
        {"columns": 3}, {"columns": np.zeros(2)}, {"asks": np.zeros(2)}, {"asks": 5}, {"class": ["x"]},
        {"model": {"start": (1 << 50, 1, False, False, "float64", 1.0, ())}}, {"found": None}, {"targets": 1},
    ],
    ids=lambda damage: str(next(iter(damage))),
)  # fmt: skip
def test_facts_of_a_wrong_kind_are_one_line(damage, tmp_path):
    path = tmp_path / "m.onm"
    om.save(om.Perceptron().fit(X, Y), path)
    facts, arrays = container.read(path)
    facts |= {name: facts[name] | value if name == "model" else value for name, value in damage.items()}
    container.write(path, facts, arrays)
    with pytest.raises((BadFile, BadInput)) as refused:
        om.load(path)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("call", ["partial_fit", "predict"])
@pytest.mark.parametrize("table", [np.ones(2), [1.0, 2.0], 3.0, np.ones((2, 2, 2)), None, np.ones((2, 0))])
def test_no_table_for_a_model_that_grows_by_numbers(call, table):
    model = om.PassiveAggressiveClassifier(growing=True).partial_fit(np.eye(3), [3, 2, 1])
    model.learn_one({7: 1.0}, 3)
    with pytest.raises(ValueError, match=r"Expected 2D array|Found array with") as refused:
        model.predict(table) if call == "predict" else model.partial_fit(table, [2, 1])
    assert "\n" not in str(refused.value)


@uncompiled
def test_a_sampler_around_a_learner_with_an_order_of_its_own():
    model = om.SelectiveSampler(om.Pegasos(), random_state=0).fit(X, Y)
    assert 0 < model.n_queries_ <= len(X)


@uncompiled
def test_a_sampler_around_a_learner_with_costs():
    cost = np.array([[0.0, 1.0, 2.0], [1.0, 0.0, 1.0], [2.0, 1.0, 0.0]])
    labels = np.digitize(X[:, 0], [-0.5, 0.5])
    model = om.SelectiveSampler(om.PassiveAggressiveClassifier(cost=cost), random_state=0).fit(X, labels)
    asked = model.n_queries_
    model.partial_fit(X, labels)
    assert model.predict_one(dict(enumerate(X[0]))) in (0, 1, 2) and model.n_queries_ == asked > 0


def test_a_ball_has_no_features_to_name():
    for kernel in (None, "rbf"):
        ball = om.PassiveAggressiveUniclass(kernel=kernel, epsilon=0.5).fit(X)
        with pytest.raises(BadInput, match="a ball has a distance"):
            ball.top_features()


def test_pools_take_labels_that_are_tuples() -> None:
    rows = np.random.default_rng(3).normal(size=(30, 2))
    pool = om.Pool(om.Perceptron(), rows, random_state=0)
    asked = pool.next(8)
    pool.answer(asked, [("left", 1), ("right", 2)] * 4)
    assert set(pool.refit().predict(rows)) <= {("left", 1), ("right", 2)}
    assert len(pool.next(2)) == 2


@pytest.mark.parametrize("k", [-1, 1.5, "two", True])
def test_so_many_features_are_a_whole_number(k: object) -> None:
    model = om.Perceptron().fit([[1.0, 0.0], [0.0, 1.0]], [0, 1])
    with pytest.raises(ValueError, match="^k=.*; wanted a whole number of at least 1"):
        model.top_features(k)


def test_classes_made_at_run_time_are_let_go_of():
    """A cell of a notebook that is run again makes another."""

    def made():
        class Own(om.Perceptron):
            pass

        Own(max_iter=1, tol=None).fit([[0.0], [1.0]], [0, 1])
        return weakref.ref(Own)

    kept = [made() for _ in range(3)]
    gc.collect()
    assert [one() for one in kept] == [None] * 3


@pytest.mark.parametrize("data", [None, [1.0, 2.0]])
def test_a_matrix_whose_data_are_no_array_is_refused_as_it_was(data):
    X = sp.csr_matrix(np.eye(2))
    X.data = data
    model = om.Perceptron(random_state=0)
    with pytest.raises((TypeError, AttributeError)):
        model.fit(X, [0, 1])
    model.learn_one({"u": 1.0}, 1)
    with pytest.raises(BadInput, match="without column names"):
        model.partial_fit(X, [0, 1])


@pytest.mark.parametrize("kind", [BadInput, NoFile, MissingExtra, ClusterError])
def test_a_refusal_can_be_made_anew_by_name(kind):
    """As Dask does where one comes from a worker."""
    assert str(kind.__new__(kind, "gone")) == str(kind("gone")) == "gone"
    assert str(pickle.loads(pickle.dumps(kind("gone")))) == "gone"
