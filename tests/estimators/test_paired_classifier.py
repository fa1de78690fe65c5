"""PairedClassifier against a slow oracle: rules, classes, label sets, weights, averages, kernels."""

from __future__ import annotations

import copy

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal

import onmargin as om

from ..oracles_paired import PairedOracle, linear, weights_of
from ..students import PLAIN

RULES = ("correct_mistakes", "dca", "sequential", "max_violators", "auc")
each_rule = pytest.mark.parametrize("rule", RULES)
ROWS = 160
draw = np.random.default_rng(3)
X = draw.normal(size=(ROWS, 5))
TWO = np.where(X[:, 0] + draw.normal(size=ROWS) > 1, "rare", "common")
THREE = np.digitize(X[:, 0] + 0.5 * draw.normal(size=ROWS), [-0.5, 0.8])
LUCK, WEIGHT = draw.random(ROWS), draw.uniform(0.2, 2.0, ROWS) * (draw.random(ROWS) < 0.8)
SPARSE = sp.csr_matrix(X * (draw.random(X.shape) < 0.6))
FULL = SPARSE.toarray()
SETS = (draw.random((ROWS, 3)) < 0.3).astype(int)  # a third of the sets are empty
TWO_MARKS, THREE_MARKS = (TWO == "rare")[:, None], THREE[:, None] == np.arange(3)
CASES = {
    "two": (X, X, TWO, TWO_MARKS),
    "three": (SPARSE, FULL, THREE, THREE_MARKS),
    "sets": (SPARSE, FULL, SETS, SETS),
}
each_case = pytest.mark.parametrize("case", CASES)


def paired(rule="correct_mistakes", **more):
    """A learner with small reservoirs."""
    return om.PairedClassifier(**({"rule": rule, "C": 0.3, "reservoir": 6} | PLAIN | more))


def agree(model, run, oracle, rows, marks, averaged=False):
    """Weights, thresholds, scores, answers, counts."""
    coef, intercept = weights_of(oracle, rows, averaged)
    assert_allclose(model.coef_, coef, rtol=1e-9, atol=1e-9)
    assert_allclose(model.intercept_, intercept, rtol=1e-9, atol=1e-9)
    wanted = oracle.threshold if oracle.rule == "auc" else np.zeros(marks.shape[1])
    assert_allclose(np.ravel(model.threshold_), wanted, rtol=1e-9, atol=1e-9)
    assert_allclose(run.scores.reshape(oracle.scores.shape), oracle.scores, rtol=1e-9, atol=1e-9)
    assert_allclose(run.losses, oracle.losses, rtol=1e-9, atol=1e-9)
    assert_allclose(run.steps, oracle.steps, rtol=1e-9, atol=1e-9)
    seen = oracle.weight > 0
    if oracle.sets:
        guesses, truth = oracle.scores > 0, marks == 1
        assert_array_equal(run.predictions, guesses)
        wrong = (guesses != truth).any(axis=1)
    else:
        best = oracle.scores[:, 0] >= 0 if marks.shape[1] == 1 else oracle.scores.argmax(axis=1)
        truth = marks[:, 0] if marks.shape[1] == 1 else marks.argmax(axis=1)
        assert_array_equal(run.predictions, model.classes_[best.astype(int)])
        wrong = best != truth
    assert run.mistakes == wrong[seen].sum() and model.t_ == seen.sum()


@each_rule
@each_case
@pytest.mark.parametrize("weighted", [False, True])
def test_a_stream_is_the_oracle(rule, case, weighted):
    table, rows, y, marks = CASES[case]
    weight = WEIGHT if weighted else None
    model = paired(rule, average=weighted)
    run = om.progressive(model, table, y, chance=LUCK, sample_weight=weight)
    oracle = PairedOracle(
        linear(rows), marks, LUCK, rule=rule, C=0.3, reservoir=6, sets=case == "sets", weight=weight
    )
    agree(model, run, oracle, rows, marks, averaged=weighted)


@pytest.mark.parametrize("form", ["dense", "sparse"])
@pytest.mark.parametrize("rivals", [None, 3])
@pytest.mark.parametrize("rule", ["correct_mistakes", "max_violators"])
def test_many_labels_are_the_oracle(rule, rivals, form):
    """More outputs than four registers hold, some never seen; the last eight are not full."""
    many = np.random.default_rng(5)
    marks = (many.random((ROWS, 45)) < 0.06).astype(int)
    marks[:, [3, 40]] = 0
    rows = np.pad(FULL, ((0, 0), (0, 3)))  # and columns that nobody has
    model = paired(rule, average=True, rivals=rivals)
    table = sp.csr_matrix(rows) if form == "sparse" else rows
    run = om.progressive(model, table, marks, chance=LUCK, sample_weight=WEIGHT)
    told = {"rule": rule, "C": 0.3, "reservoir": 6, "sets": True, "rivals": rivals}
    oracle = PairedOracle(linear(rows), marks, LUCK, weight=WEIGHT, **told)
    agree(model, run, oracle, rows, marks, averaged=True)


@each_rule
@pytest.mark.parametrize("kernel", [None, "linear"])
@pytest.mark.parametrize("kind", ["classes", "sets"])
def test_rounds_of_the_nearest_rivals_are_the_oracle(rule, kernel, kind):
    """Twelve classes: by default four rivals. A round may have one class, and a label none of the rows."""
    many = np.random.default_rng(6)
    y = many.integers(0, 12, ROWS)
    marks = (y[:, None] == np.arange(12)).astype(int)
    if kind == "sets":
        y = marks = marks | (many.random(marks.shape) < 0.05) & (np.arange(12) != 7)
    model = paired(rule, C=3.0, margin=0.5, kernel=kernel, **({"dtype": "float64"} if kernel else {}))
    run = om.progressive(model, SPARSE, y, chance=LUCK, sample_weight=WEIGHT)
    told = {"rule": rule, "C": 3.0, "margin": 0.5, "reservoir": 6, "sets": kind == "sets", "rivals": 4}
    oracle = PairedOracle(linear(FULL), marks, LUCK, weight=WEIGHT, **told)
    assert_allclose(run.scores, oracle.scores, rtol=1e-8, atol=1e-8)
    assert_allclose(run.losses, oracle.losses, rtol=1e-8, atol=1e-8)
    assert_allclose(run.steps, oracle.steps, rtol=1e-8, atol=1e-8)
    if not kernel:
        assert_allclose(model.coef_, weights_of(oracle, FULL)[0], rtol=1e-8, atol=1e-8)


def test_few_classes_have_no_rivals_and_all_of_them_are_all():
    """Up to ten classes by default, and where as many are asked for, rounds are of every class."""
    many = np.random.default_rng(7)
    for classes, one, other in ((10, "auto", None), (11, 10, None), (11, "auto", 4)):
        y = many.integers(0, classes, ROWS)
        first, second = (
            paired(rivals=rivals, random_state=0).partial_fit(X, y, classes=range(classes))
            for rivals in (one, other)
        )
        assert_array_equal(first.coef_, second.coef_)


def test_rivals_after_a_round_of_all_and_back():
    """What one form leaves behind does not show in the other."""
    many = np.random.default_rng(8)
    y = many.integers(0, 12, ROWS)
    for first, second in ((None, 3), (3, None)):
        model = paired("auc", rivals=first, random_state=0).partial_fit(X[:80], y[:80], classes=range(12))
        twin = copy.deepcopy(model.set_params(rivals=second))  # which has room of its own
        same = copy.deepcopy(model).set_params(rivals=first)
        for each in (model, twin, same):
            each.partial_fit(X[80:], y[80:])
        assert_array_equal(model.coef_, twin.coef_)
        assert_array_equal(model.threshold_, twin.threshold_)
        assert not np.allclose(model.coef_, same.coef_)


@pytest.mark.parametrize("more", [{"sampler": "recent"}, {"reservoir": 1}, {"C": 5.0, "margin": 0.4}])
@pytest.mark.parametrize("case", ["two", "three"])
@pytest.mark.parametrize("rule", ["dca", "auc"])
def test_other_samplers_sizes_and_margins(rule, case, more):
    table, rows, y, marks = CASES[case]
    model = paired(rule, **more)
    run = om.progressive(model, table, y, chance=LUCK)
    options = {"C": 0.3, "reservoir": 6, "recent": "sampler" in more} | more
    options.pop("sampler", None)
    agree(model, run, PairedOracle(linear(rows), marks, LUCK, rule=rule, **options), rows, marks)


def test_hard_margins_and_no_constant_coordinate():
    """C=inf, and a row of zeros that no step can move."""
    rows = X * (np.arange(ROWS)[:, None] % 9 > 0)
    for rule in ("sequential", "auc", "max_violators"):
        model = paired(rule, C=np.inf, fit_intercept=False, reservoir=3)
        run = om.progressive(model, rows, TWO, chance=LUCK)
        oracle = PairedOracle(rows @ rows.T, TWO_MARKS, LUCK, rule=rule, C=np.inf, reservoir=3)
        assert_allclose(model.coef_, weights_of(oracle, rows)[0], rtol=1e-7, atol=1e-7)
        assert_allclose(run.scores.ravel(), oracle.scores.ravel(), rtol=1e-7, atol=1e-7)


def test_the_average_answers_where_it_is_asked_to():
    """scored_by="model": the scores of the mean of w_1 .. w_t, less the running threshold."""
    for rule in ("dca", "auc"):
        model = paired(rule, average=True)
        run = om.progressive(model, X, TWO, chance=LUCK, scored_by="model")
        oracle = PairedOracle(linear(X), TWO_MARKS, LUCK, rule=rule, C=0.3, reservoir=6, averaged=True)
        assert_allclose(run.scores.ravel(), oracle.scores.ravel(), rtol=1e-9, atol=1e-9)
        assert_array_equal(run.predictions == "rare", oracle.scores[:, 0] >= 0)


@each_rule
@pytest.mark.parametrize("case", ["two", "three"])
def test_a_kernel_learner_is_the_oracle_of_its_gram_matrix(rule, case):
    table, rows, y, marks = CASES[case]
    model = paired(rule, kernel="rbf", gamma=0.3, dtype="float64", average=True, fit_intercept=False)
    run = om.progressive(model, table, y, chance=LUCK, sample_weight=WEIGHT)
    gram = np.exp(-0.3 * np.square(rows[:, None] - rows).sum(axis=2))
    oracle = PairedOracle(gram, marks, LUCK, rule=rule, C=0.3, reservoir=6, weight=WEIGHT)
    assert_allclose(run.scores.reshape(oracle.scores.shape), oracle.scores, rtol=1e-9, atol=1e-9)
    assert_array_equal(np.sort(model.support_), np.flatnonzero(oracle.coefficients.any(axis=1)))
    found = model.decision_function(table).reshape(len(rows), -1)
    shift = oracle.threshold if rule == "auc" else 0.0
    assert_allclose(found, gram @ oracle.mean - shift, rtol=1e-9, atol=1e-9)


@each_rule
@pytest.mark.parametrize("sampler", ["reservoir", "pairs"])
def test_the_linear_kernel_is_the_linear_learner(rule, sampler):
    """Through fit, a stream that goes on from it, and another kind of table; float32 to 1e-5."""
    told = {"rule": rule, "sampler": sampler, "random_state": 2, "max_iter": 2, "tol": None}
    for case in ("two", "sets"):
        table, _, y, _ = CASES[case]
        plain, double, single = models = (
            paired(**told), paired(kernel="linear", dtype="float64", **told), paired(kernel="linear", **told),
        )  # fmt: skip
        for model in models:
            model.fit(table[:80], y[:80]).partial_fit(table[80:], y[80:])
        wanted = plain.decision_function(table)
        assert_allclose(double.decision_function(table), wanted, rtol=1e-9, atol=1e-9)
        assert_allclose(single.decision_function(table), wanted, rtol=1e-5, atol=1e-5)


def test_a_rare_class_is_found():
    """Two in a hundred: the plain learner never says so, the paired one does."""
    draw = np.random.default_rng(0)
    y = (draw.random(1500) < 0.02).astype(int)
    rows = draw.normal(size=(1500, 5)) + 0.9 * y[:, None]
    told = {"C": 0.01, "average": True, "random_state": 0, "max_iter": 3, "tol": None}
    plain = om.PassiveAggressiveClassifier(**told).fit(rows, y).predict(rows)
    model = om.PairedClassifier(**told).fit(rows, y)
    rates = [np.mean(model.predict(rows)[y == k] == k) for k in (0, 1)]
    assert min(rates) > 0.7 and plain[y == 1].mean() < 0.5
