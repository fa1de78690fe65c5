"""Rules of asking by name and as functions, in a Recipe and in a SelectiveSampler; against NumPy."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import onmargin as om
from onmargin.errors import BadInput

from ..soaking import uncompiled

DRAW = np.random.default_rng(3)
X = DRAW.normal(size=(120, 4))
Y = np.where(X @ [1.0, -1.0, 0.5, 0.0] + 0.5 * DRAW.normal(size=120) > 0, 1, -1)
THREE = np.digitize(X[:, 0] + 0.3 * DRAW.normal(size=120), [-0.5, 0.5])
LUCK = DRAW.random(120)
PLAIN = {"fit_intercept": False, "average": False}


def made(query: Any, **more: Any) -> Any:
    """The Perceptron as a recipe."""
    recipe = om.Recipe("classification", loss="mistake", step="unit", query=query)
    return om.OnlineClassifier(recipe, **PLAIN | more)


def oracle(asks):
    """The Perceptron that asks where `asks(p, u)` says so."""
    w, asked, scores = np.zeros(4), [], []
    for x, y, u in zip(X, Y, LUCK, strict=True):
        p = w @ x
        scores.append(p)
        asked.append(bool(asks(p, u)))
        if asked[-1] and y * p <= 0:
            w = w + y * x
    return w, np.array(asked), np.array(scores)


def near_zero(scores, now):
    return abs(scores[0]) <= 0.7


def by_coin(scores, now):
    return now.luck * (0.7 + abs(scores[0])) < 0.7


RULES = {
    "margin": (near_zero, lambda p, u: abs(p) <= 0.7),
    "bernoulli": (by_coin, lambda p, u: u < 0.7 / (0.7 + abs(p))),
}


@pytest.mark.parametrize("name", RULES)
def test_a_rule_by_name_a_function_and_a_sampler_are_one(name):
    """In a recipe and around the learner, the formula and the function: the same labels, the same weights."""
    function, asks = RULES[name]
    w, asked, scores = oracle(asks)
    assert 10 < asked.sum() < 110
    models = [made(name, ask_delta=0.7), made(function)]
    around = [om.SelectiveSampler(om.Perceptron(**PLAIN), delta=0.7, rule=rule) for rule in (name, function)]
    for model in (*models, *around):
        run = om.progressive(model, X, Y, chance=LUCK)
        assert_array_equal(run.queried.astype(bool), asked)
        assert_allclose(run.scores, scores, rtol=1e-9, atol=1e-12)
        assert_allclose(model.coef_[0], w, rtol=1e-9, atol=1e-12)
    assert around[0].n_queries_ == around[1].n_queries_ == asked.sum()


def test_a_recipe_that_tosses_coins_draws_them_itself(tmp_path):
    """One uniform a round from `random_state`: tables, blocks, dicts, files and pickles agree."""
    told = {"ask_delta": 0.7, "random_state": 5, "classes": [-1, 1]}
    whole = made("bernoulli", **told)
    run = om.progressive(whole, X, Y)
    assert 10 < run.queried.sum() < 110
    blocks = made("bernoulli", **told).partial_fit(X[:50], Y[:50])
    om.save(blocks, tmp_path / "m.onm")
    for twin in (blocks, om.load(tmp_path / "m.onm"), pickle.loads(pickle.dumps(blocks))):
        assert_array_equal(twin.partial_fit(X[50:], Y[50:]).coef_, whole.coef_)
    dicts = made("bernoulli", **told)
    for x, y in zip(X, Y.tolist(), strict=True):
        dicts.learn_one(dict(enumerate(x)), y)
    assert_allclose(dicts.coef_, whole.coef_, rtol=1e-9, atol=1e-12)
    other = made("bernoulli", **told | {"random_state": 6})
    assert not np.array_equal(om.progressive(other, X, Y).queried, run.queried)


def test_several_classes_are_asked_for_by_the_gap_of_the_two_best():
    model = made("margin", ask_delta=0.7)
    run = om.progressive(model, X, THREE)
    W, asked = np.zeros((3, 4)), []
    for x, y in zip(X, THREE, strict=True):
        s = W @ x
        best = np.sort(s)
        asked.append(best[-1] - best[-2] <= 0.7)
        rival = max((k for k in range(3) if k != y), key=lambda k: (s[k], -k))
        if asked[-1] and s[y] <= s[rival]:
            W[y], W[rival] = W[y] + x, W[rival] - x
    assert_array_equal(run.queried.astype(bool), asked)
    assert_allclose(model.coef_, W, rtol=1e-9, atol=1e-12)


def test_bbq_by_name_is_bbq():
    """The same questions and estimates as the class, epsilon and delta said to the learner."""
    rows = X / (1 + np.linalg.norm(X, axis=1, keepdims=True))
    recipe = om.Recipe(loss="always", step="unit", space="ridge_full", query="bbq")
    model = om.OnlineClassifier(recipe, ask_epsilon=0.7, ask_delta=0.2, **PLAIN)
    one, other = om.progressive(model, rows, Y), om.progressive(om.BBQ(epsilon=0.7, delta=0.2), rows, Y)
    assert_array_equal(one.queried, other.queried)
    assert 3 < one.queried.sum() < 120
    assert_array_equal(one.scores, other.scores)


def test_a_function_keeps_within_a_samplers_limits(tmp_path):
    def often(scores):
        return scores[0] > -0.5

    told = {"rule": often, "random_state": 0}
    free = om.progressive(om.SelectiveSampler(om.Perceptron(**PLAIN), **told), X, Y)
    few = om.SelectiveSampler(om.Perceptron(**PLAIN), budget=7, **told)
    run = om.progressive(few, X, Y)
    assert free.queried.sum() > 20 and run.queried.sum() == 7 == few.n_queries_
    assert_array_equal(np.flatnonzero(run.queried), np.flatnonzero(free.queried)[:7])
    window = om.SelectiveSampler(om.Perceptron(**PLAIN), budget=2, window=10, **told)
    asked = om.progressive(window, X, Y).queried.astype(int)
    assert max(asked[t : t + 10].sum() for t in range(110)) == 2
    model = om.SelectiveSampler(om.Perceptron(**PLAIN), **told).partial_fit(X[:60], Y[:60], [-1, 1])
    wanted = model.decision_function(X[60:]) > -0.5
    assert_array_equal(model.query(X[60:]), wanted)
    assert model.query_one(dict(enumerate(X[60]))) == wanted[0]
    om.save(model, tmp_path / "m.onm")
    with pytest.raises(BadInput, match="often"):
        om.load(tmp_path / "m.onm")
    twin = om.load(tmp_path / "m.onm", parts={"often": often})
    assert_array_equal(twin.query(X[60:]), wanted)
    fresh = om.SelectiveSampler(om.Perceptron(**PLAIN), **told)
    assert fresh.query(X[:3]).all() and fresh.fit(X, Y).score(X, Y) > 0.6


@uncompiled
def test_a_function_works_around_kernels_and_several_classes():
    def close(scores, hyper):
        best = second = -1e300
        for k in range(hyper.outputs):
            if scores[k] > best:
                best, second = scores[k], best
            elif scores[k] > second:
                second = scores[k]
        return best - second <= 0.4

    for inner in (
        om.PassiveAggressiveClassifier(**PLAIN),
        om.Perceptron(kernel="rbf", gamma=0.3, dtype="float64"),
    ):
        runs = [
            om.progressive(om.SelectiveSampler(inner, delta=0.4, rule=rule), X, THREE)
            for rule in ("margin", close)
        ]
        assert_array_equal(runs[0].queried, runs[1].queried)
        assert 3 < runs[0].queried.sum() < 120


BAD = {
    "a name that is none": (
        lambda: made("often"), "query='often'; wanted one of 'always', 'margin', 'bernoulli', 'bbq'"
    ),
    "bbq without P": (lambda: made("bbq"), "query='bbq' reads the P of space='ridge_full'"),
    "numbers": (lambda: om.Recipe("regression", "squared", query="margin"), "numbers have none"),
    "delta": (
        lambda: made("margin", ask_delta=0.0).partial_fit(X, Y, classes=[-1, 1]), "ask_delta=0.0; wanted"
    ),
    "a rule that is none": (lambda: sampler(rule="often"), "rule='often'; wanted one of 'auto', 'bernoulli'"),
    "a rule of no kind": (lambda: sampler(rule=3), "rule=3; wanted one of"),
    "a rule with a rate": (lambda: sampler(rule=near_zero, target_rate=0.1), "target_rate= moves delta"),
    "a rule that looks at the space": (
        lambda: sampler(rule=lambda space: True), "takes space; wanted some of scores, now, hyper"
    ),
    "a rule with other words": (lambda: sampler(rule=lambda gap: True), "takes gap; wanted some of"),
    "a rule that gives a number": (lambda: sampler(rule=lambda scores: 0.5), "wanted True or False"),
    "a rule beyond the scores": (lambda: sampler(rule=lambda scores: scores[9] > 0), "beyond an array's end"),
    "a recipe that asks": (
        lambda: om.SelectiveSampler(made("bernoulli")).fit(X, Y), "asks by itself; wanted a recipe"
    ),
    "an outlook": (
        lambda: om.label_plan(sampler(rule=near_zero), X), "an outlook is for the rules by name"
    ),
}  # fmt: skip


def sampler(**told: Any) -> Any:
    return om.SelectiveSampler(om.Perceptron(), **told).fit(X, Y)


@pytest.mark.parametrize(("call", "said"), BAD.values(), ids=BAD)
def test_what_cannot_be_asked_is_refused_in_one_line(call, said):
    with pytest.raises(BadInput) as caught:
        call()
    assert said in str(caught.value) and "\n" not in str(caught.value)
