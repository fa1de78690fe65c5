"""One line each that could be wrong unseen: what planted faults got through before these tests were here."""

from __future__ import annotations

import math

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.metrics.pairwise import rbf_kernel

import onmargin as om
from onmargin.errors import BadInput
from onmargin.interface.targets.labels import Labels

from ..soaking import uncompiled

pytestmark = uncompiled

DRAW = np.random.default_rng(8)
X = DRAW.normal(size=(60, 4))
TWO = np.where(DRAW.random(60) < 0.2, 1, 0) ^ (X @ [1.0, -1.0, 0.5, 0.0] > 0)
FOUR = (X @ DRAW.normal(size=(4, 4))).argmax(axis=1)
WEIGHTS = np.where(DRAW.random(60) < 0.3, 0.0, DRAW.uniform(0.2, 2.0, 60))


def test_the_entropic_sum_knows_every_feature_as_it_comes():
    """w_i = R sinh(theta_i) / sum of cosh(theta_j) over the features met so far, by hand."""
    examples = [
        ({"a": 1.0}, 1),
        ({"a": -0.5, "b": 2.0}, 0),
        ({"c": 1.5, "d": -1.0}, 1),
        ({"b": 0.3, "e": 1.0}, 0),
    ]
    model = om.FTRLClassifier(
        regularizer="entropic", radius=2.0, rate=0.3, fit_intercept=False, classes=[0, 1]
    )
    theta: dict[str, float] = {}
    for x, y in examples:
        theta |= {name: 0.0 for name in x if name not in theta}
        whole = sum(math.cosh(value) for value in theta.values())
        score = sum(2.0 * math.sinh(theta[name]) / whole * value for name, value in x.items())
        if (2 * y - 1) * score < 1.0:
            theta |= {name: theta[name] + 0.3 * (2 * y - 1) * value for name, value in x.items()}
        model.learn_one(x, y)
    whole = sum(math.cosh(value) for value in theta.values())
    assert_allclose(model.coef_[0], [2.0 * math.sinh(value) / whole for value in theta.values()], rtol=1e-12)


def test_rounds_before_given_weights_keep_their_own_average():
    def one(**more):
        return om.PassiveAggressiveClassifier(
            C=0.3, average=True, fit_intercept=False, max_iter=1, shuffle=False, tol=None, **more
        )

    start = np.array([[0.4, -0.2, 0.1, 0.3]])
    model = one(warm_start=True).fit(X[:25], TWO[:25])
    first = model.coef_.copy()
    second = one().fit(X[25:], TWO[25:], coef_init=start).coef_
    model.fit(X[25:], TWO[25:], coef_init=start)
    assert_allclose(model.coef_, (25 * first + 35 * second) / 60, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("learner", [om.OM2, om.Perceptron, lambda: om.Perceptron(kernel="rbf")])
def test_a_third_class_leaves_the_decision_between_the_first_two(learner):
    model = learner().partial_fit(X, TWO, classes=[0, 1])
    before = model.decision_function(X)
    model._targets().own()
    model._labels.closed = False
    model._targets().admit(model._model, model._labels, 2)
    after = model.decision_function(X)
    assert after.shape == (60, 3)
    assert_allclose(after[:, 1] - after[:, 0], before, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("table", [np.asarray, sp.csr_matrix])
def test_the_objective_of_many_vectors_is_that_of_their_gram_matrix(table):
    """More vectors than are summed at once."""
    rows = np.random.default_rng(1).normal(size=(700, 3))
    y = np.random.default_rng(2).integers(0, 2, 700)
    model = om.Pegasos(lam=0.01, kernel="rbf", gamma=0.5, dtype="float64", fit_intercept=False, max_iter=1,
                       tol=None, random_state=0).fit(table(rows), y)  # fmt: skip
    assert model.n_support_ > 300
    vectors = rows[model.support_]
    own = model.dual_coef_[0] @ rbf_kernel(vectors, vectors, 0.5) @ model.dual_coef_[0]
    losses = np.maximum(0.0, 1.0 - (2 * y - 1) * model.decision_function(table(rows)))
    assert model.objective_ == pytest.approx(0.005 * own + losses.mean(), rel=1e-9)


def test_sparse_vectors_beyond_the_first_thousand_are_read_where_they_lie():
    """Vectors are multiplied a thousand at a time."""
    rows = sp.random(1300, 20, 0.2, "csr", random_state=np.random.default_rng(3))
    y = np.random.default_rng(4).integers(0, 2, 1300)
    model = om.PassiveAggressiveClassifier(C=0.01, kernel="linear", dtype="float64", fit_intercept=False)
    model.partial_fit(rows, y, classes=[0, 1])
    assert model.n_support_ > 1024
    assert_allclose(
        model.decision_function(rows[:4]), rows[:4] @ rows[model.support_].T @ model.dual_coef_[0], atol=1e-10
    )


def test_merged_thresholds_are_weighed():
    y = (X[:, 0] + X[:, 1] > 1.2).astype(int)
    parts = [
        om.PairedClassifier(rule="auc", C=0.1, random_state=0).partial_fit(X[some], y[some], classes=[0, 1])
        for some in (slice(0, 35), slice(35, 60))
    ]
    first, second = (part.threshold_ for part in parts)
    assert first != second
    assert om.merge(parts, weights=[3, 1]).threshold_ == pytest.approx(0.75 * first + 0.25 * second)


def test_examples_of_a_reservoir_keep_their_labels_when_a_third_comes():
    y = np.r_[np.arange(20) % 2, 2, np.arange(19) % 3]
    model = om.PairedClassifier(growing=True, reservoir=50, random_state=0).partial_fit(X[:40], y)
    pool = model._model.pairing.pool
    assert_array_equal(pool.marks.view.argmax(axis=1), y[pool.ids.view])
    assert pool.marks.view.sum() == len(pool)


def test_of_several_classes_the_gap_between_the_two_best_is_asked_about():
    learner = om.PassiveAggressiveClassifier(C=0.1)
    model = om.SelectiveSampler(learner, rule="margin", delta=0.7, random_state=0)
    model.partial_fit(X, FOUR, classes=range(4))
    scores = np.sort(model.decision_function(X), axis=1)
    near = scores[:, -1] - scores[:, -2] <= 0.7
    assert 5 < near.sum() < 55
    assert_array_equal(model.query(X), near)


def test_a_weight_of_one_dict_is_a_sample_weight():
    dicts, table = om.PassiveAggressiveClassifier(C=0.05), om.PassiveAggressiveClassifier(C=0.05)
    table.partial_fit(X, TWO, classes=[0, 1], sample_weight=WEIGHTS)
    for x, y, w in zip(X.tolist(), TWO.tolist(), WEIGHTS.tolist(), strict=True):
        dicts.learn_one(dict(enumerate(x)), y, w)
    assert_allclose(dicts.coef_, table.coef_, rtol=1e-12, atol=1e-14)


def test_weights_of_numbers_follow_their_rows_when_they_are_shuffled():
    y, order = X[:, 0] - X[:, 1], np.random.default_rng([0, 3]).permutation(60)
    fitted = om.PassiveAggressiveRegressor(
        C=0.05, max_iter=1, tol=None, random_state=0, average=False, intercept_scaling=1.0
    )
    fitted.fit(X, y, sample_weight=WEIGHTS)
    stream = om.PassiveAggressiveRegressor(C=0.05, average=False, intercept_scaling=1.0)
    stream.partial_fit(X[order], y[order], sample_weight=WEIGHTS[order])
    assert_array_equal(fitted.coef_, stream.coef_)


def test_a_score_of_exactly_0_is_the_positive_class():
    model = om.Perceptron(fit_intercept=False).partial_fit(X, TWO, classes=[0, 1])
    assert model.predict(np.zeros((1, 4))) == [1] and model.predict_one({}) == 1


def test_examples_that_were_counted_are_still_counted_when_a_label_joins():
    labels = Labels(["b"])
    labels.weights(np.zeros(3, int), "balanced", None)
    assert labels.counts == [3]
    labels.add("a")
    assert labels.known == ["a", "b"] and labels.counts == [0, 3]


def test_a_uniform_is_below_1():
    with pytest.raises(BadInput, match=r"uniforms in \[0, 1\)"):
        om.progressive(om.Perceptron(), X, TWO, chance=np.r_[np.zeros(59), 1.0])


def test_an_example_of_weight_0_is_not_even_a_label():
    model = om.Perceptron()
    model.learn_one({"a": 1.0}, "yes", 0.0)
    assert not hasattr(model, "classes_") and model.predict_one({"a": 1.0}) is None


def test_a_warm_start_wants_the_columns_it_had():
    model = om.Perceptron(warm_start=True).fit(X, TWO)
    with pytest.raises(ValueError, match="4 features"):
        model.fit(X[:, :2], TWO)
    assert model.n_features_in_ == 4


def test_rows_of_weight_0_are_not_judged():
    seen = WEIGHTS > 0
    run = om.progressive(om.SelectiveSampler(om.Perceptron(), random_state=0), X, TWO, sample_weight=WEIGHTS)
    assert run.rounds == seen.sum() and run.mistakes == (run.predictions != TWO)[seen].sum()
    late = om.progressive(om.Perceptron(), X, TWO, sample_weight=WEIGHTS, delay=2)
    assert late.mistakes == (late.predictions != TWO)[seen].sum() < (late.predictions != TWO).sum()
