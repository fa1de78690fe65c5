"""SelectiveSampler against a slow oracle with given coins; labels that were not asked for are not read."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

import onmargin as om
from onmargin.learn import queries

from ..students import PLAIN
from ..uncompiled import Comparisons

ROWS = 160
draw = np.random.default_rng(8)
X = draw.normal(size=(ROWS, 4))
TWO = np.where(X[:, 0] + 0.5 * draw.normal(size=ROWS) > 0.3, 1, 0)
THREE = np.digitize(X[:, 0] + 0.3 * draw.normal(size=ROWS), [-0.5, 0.6])
LUCK = draw.random(ROWS)
GRAM = X @ X.T + 1.0  # with the constant coordinate
DICTS = [dict(zip("abcd", row.tolist(), strict=True)) for row in X]


def selective(estimator: Any = None, **more: Any) -> Any:
    """A sampler around a Perceptron of two classes, as the papers have it; the stream's model stays."""
    told = {"rule": "bernoulli", "refit": False} | more
    return om.SelectiveSampler(estimator or om.Perceptron(classes=(0, 1), **PLAIN), **told)


def play(  # noqa: C901
    gram,
    y,
    luck,
    rule="bernoulli",
    delta=1.0,
    target_rate=None,
    budget=np.inf,
    window=None,
    C=None,
    outputs=1,
):
    """Round by round: which were asked for, the scores, the coefficients (C=None: the Perceptron)."""
    asked, coef = np.zeros(len(y), bool), np.zeros((len(y), outputs))
    scores, drift, moves, longest = np.zeros((len(y), outputs)), 0.0, 0, 0.0
    for t, own in enumerate(y):
        s = scores[t] = gram[t] @ coef
        sure = abs(s[0]) if outputs == 1 else np.diff(np.sort(s)[-2:])[0]
        spread = delta * np.exp(drift)
        if rule == "adaptive":
            spread *= max(longest, gram[t, t]) * np.sqrt(1 + moves)
        if rule == "random":
            wish = luck[t] < (target_rate or min(delta, 1.0))
        else:
            wish = sure <= spread if rule == "margin" else sure == 0 or luck[t] < spread / (spread + sure)
        recent = asked[max(0, t + 1 - window) : t] if window else asked[:t]
        asked[t] = wish and recent.sum() < budget
        if target_rate and rule != "random":
            drift += 0.05 * (target_rate - asked[t])
        if not asked[t]:
            continue
        pull = np.zeros(outputs)
        if outputs == 1:
            pull[0] = margin = 2 * own - 1
            margin = margin * s[0]
        else:
            rival = np.where(np.arange(outputs) == own, -np.inf, s).argmax()
            pull[own], pull[rival], margin = 1, -1, s[own] - s[rival]
        size = gram[t, t] * (pull**2).sum()
        tau = float(margin <= 0) if C is None else min(C, max(0.0, 1 - margin) / size)
        coef[t] = tau * pull
        if tau:
            moves, longest = moves + 1, max(longest, gram[t, t])
    return asked, scores, coef


def agrees(model, table, y, gram, **told):
    """A run with given coins is the oracle's; so are the counts."""
    run = om.progressive(model, table, y, chance=LUCK)
    asked, scores, coef = play(gram, y, LUCK, **told)
    assert_array_equal(run.queried, asked)
    assert 0 < asked.sum() < ROWS and model.n_queries_ == asked.sum() and model.t_ == ROWS
    assert_allclose(run.scores.reshape(scores.shape), scores, rtol=1e-9, atol=1e-9)
    assert run.updates == coef.any(axis=1).sum()
    guess = (scores[:, 0] >= 0) if scores.shape[1] == 1 else scores.argmax(axis=1)
    assert_array_equal(run.predictions, guess)
    assert run.mistakes == (guess != y).sum() and run.rounds == ROWS
    assert_allclose(run.losses[~asked], 0)
    return run


RULES = [
    {}, {"delta": 0.05}, {"rule": "adaptive", "delta": 0.02}, {"rule": "margin", "delta": 0.8},
    {"rule": "random", "delta": 0.3}, {"rule": "random", "target_rate": 0.2}, {"target_rate": 0.2},
    {"rule": "margin", "target_rate": 0.1}, {"rule": "adaptive", "target_rate": 0.3}, {"budget": 9},
    {"budget": 4, "window": 15}, {"budget": 3, "window": 40, "rule": "random"},
]  # fmt: skip


def test_every_rule_has_its_oracle():
    assert {told.get("rule", "bernoulli") for told in RULES} == set(queries.RULES)


@pytest.mark.parametrize("told", RULES, ids=str)
def test_a_perceptron_that_asks_is_the_oracle(told):
    agrees(selective(**told), X, TWO, GRAM, **told)


@pytest.mark.parametrize("told", [{}, {"rule": "adaptive", "delta": 0.02}, RULES[6]], ids=str)
def test_pa1_that_asks_is_the_oracle(told):
    model = selective(om.PassiveAggressiveClassifier(C=0.2, classes=(0, 1), **PLAIN), **told)
    agrees(model, X, TWO, GRAM, C=0.2, **told)


def test_of_several_classes_the_gap_decides():
    for told in ({"delta": 0.5}, {"rule": "margin", "delta": 0.5}):
        agrees(selective(om.Perceptron(**PLAIN), **told), X, THREE, GRAM, outputs=3, **told)


def test_a_kernel_learner_that_asks_is_the_oracle_of_its_gram_matrix():
    gram = np.exp(-0.2 * np.square(X[:, None] - X).sum(axis=2))
    learner = om.Perceptron(kernel="rbf", gamma=0.2, dtype="float64", fit_intercept=False, classes=(0, 1))
    agrees(selective(learner, delta=0.3), X, TWO, gram, delta=0.3)
    agrees(selective(learner, rule="margin", delta=0.2), X, TWO, gram, rule="margin", delta=0.2)


def test_csr_rows_are_the_oracle():
    table = sp.csr_matrix(X * (np.abs(X) > 0.7))
    agrees(selective(), table, TWO, (table @ table.T).toarray() + 1.0)


@settings(deadline=None, max_examples=60, derandomize=True, database=None,
          suppress_health_check=[HealthCheck.too_slow])  # fmt: skip
@given(st.integers(1, 12), st.integers(1, 40), st.lists(st.integers(1, 60), max_size=8), st.integers(0, 99))
def test_no_window_has_more_labels_than_the_budget(budget, window, cuts, seed):
    """However the stream is cut, and whether a row is played or only asked about."""
    model = selective(rule="random", delta=0.7, budget=budget, window=window, random_state=seed)
    asked, at = np.zeros(0, bool), 0
    for number, size in enumerate([*cuts, 60]):
        rows = slice(at % 100, at % 100 + size)
        new = model.query(X[rows]) if number % 2 else om.progressive(model, X[rows], TWO[rows]).queried
        asked, at = np.r_[asked, new.astype(bool)], at + size
    assert max(asked[i : i + window].sum() for i in range(len(asked))) <= budget
    assert model.n_queries_ == asked.sum() >= min(budget, 10)


def test_a_budget_is_one_for_all_ways_to_ask():
    model = selective(rule="random", budget=20, random_state=0)
    assert model.query(X[:3]).all() and om.progressive(model, X[:10], TWO[:10]).queried.all()
    assert model.query(X[:2]).all()
    assert om.progressive(model, X, TWO).queried.sum() == 5 and model.n_queries_ == 20
    assert not model.query(X).any() and not om.progressive(model, X, TWO).queried.any()
    assert model.fit(X, TWO).n_queries_ == 20  # a fit begins anew
    named = selective(rule="random", budget=4, random_state=0)
    found = []
    for x, y in zip(DICTS[:9], TWO, strict=False):
        found.append(named.query_one(x))
        named.learn_one(x, y)
    assert found == [True] * 4 + [False] * 5 and not named.query(pd.DataFrame(DICTS)).any()


def test_a_question_changes_nothing_but_the_counts():
    model = selective(random_state=1).fit(X[:80], TWO[:80])
    before, labels, clock = model.decision_function(X), model.predict(X), model.t_
    count = model.n_queries_
    asked = model.query(X)
    assert model.n_queries_ == count + asked.sum() and model.t_ == clock and asked.dtype == bool
    assert_array_equal(model.decision_function(X), before)
    assert_array_equal(model.predict(X), labels)
    assert not np.array_equal(model.query(X), asked)  # other coins


@pytest.mark.parametrize("missing", [np.nan, None, pd.NA, pd.NaT], ids=str)
def test_answers_that_are_missing_are_skipped(missing):
    there = draw.random(ROWS) < 0.5
    y = np.where(there, TWO, None)
    y[~there] = missing
    model = selective().partial_fit(X[:90], y[:90]).partial_fit(X[90:], y[90:])
    plain = om.Perceptron(classes=(0, 1), **PLAIN).partial_fit(X[there], TWO[there])
    assert_array_equal(model.coef_, plain.coef_)
    assert model.n_queries_ == 0 and model.t_ == there.sum()
    one, inner = selective(), om.Perceptron(classes=(0, 1), **PLAIN)
    for x, label, here in zip(DICTS, y, there, strict=True):
        one.learn_one(x, label)
        if here:
            inner.learn_one(x, label)
    assert_array_equal(one.coef_, inner.coef_)
    assert_array_equal(model.predict(X), plain.predict(X))


@pytest.mark.parametrize("rule", ["bernoulli", "margin", "random", "adaptive"])
def test_questions_and_answers_are_the_run_round_by_round(rule):
    told = {"rule": rule, "delta": 0.4, "random_state": 5}
    whole, step = selective(**told), selective(**told)
    run = om.progressive(whole, X, TWO)
    for i in range(ROWS):
        assert step.query(X[i : i + 1])[0] == run.queried[i]
        step.partial_fit(X[i : i + 1], [TWO[i] if run.queried[i] else None])
    assert_array_equal(step.coef_, whole.coef_)
    if rule != "adaptive":  # (see test_a_dict_is_as_long_as_its_values)
        named = selective(**told)
        for i, x in enumerate(DICTS):
            assert named.query_one(x) == run.queried[i]
            named.learn_one(x, TWO[i] if run.queried[i] else None)
        assert_allclose(named.coef_, whole.coef_, rtol=1e-9, atol=1e-9)


def test_a_stream_in_pieces_is_the_stream():
    """Bit for bit, the coins too; the sums as well."""
    told = {"delta": 0.3, "random_state": 2, "target_rate": 0.3, "budget": 5, "window": 12}
    whole, parts, summed = (selective(**told) for _ in range(3))
    run = om.progressive(whole, X, TWO)
    pieces = [om.progressive(parts, X[a:b], TWO[a:b]) for a, b in ((0, 1), (1, 70), (70, 71), (71, ROWS))]
    assert_array_equal(np.concatenate([piece.queried for piece in pieces]), run.queried)
    assert_array_equal(np.concatenate([piece.scores for piece in pieces]), run.scores)
    assert_array_equal(parts.coef_, whole.coef_)
    sums = om.progressive(summed, X, TWO, trace="sums")
    assert sums.totals == run.totals and sums.queried is None
    assert sums.error_rate == run.error_rate == sums.curve()[1][-1]
    again = selective(**told)
    assert_array_equal(om.progressive(again, X, TWO).queried, run.queried)
    other = om.progressive(selective(**{**told, "random_state": 3}), X, TWO)
    assert not np.array_equal(other.queried, run.queried)


def test_all_labelled_rounds_are_judged():
    """Asked for or not; those without a label are left out of mistakes, metrics and the curve."""
    asked = om.progressive(selective(delta=0.1), X, TWO, chance=LUCK).queried.astype(bool)
    y = np.where(asked | (np.arange(ROWS) % 3 > 0), TWO, np.nan)
    run = om.progressive(selective(delta=0.1), X, y, chance=LUCK)
    there = np.isfinite(y)
    wrong = run.predictions[there] != y[there]
    assert run.rounds == there.sum() and run.mistakes == wrong.sum() and run.error_rate == wrong.mean()
    assert_allclose(run.metrics("error_rate")["error_rate"], wrong.mean())
    at, rates = run.curve(1)
    assert at[-1] == there.sum() and rates[-1] == wrong.mean()
    truth, guess = y[there] == 1, run.predictions[there] == 1
    assert_allclose(run.metrics("f1")["f1"], 2 * (truth & guess).sum() / (truth.sum() + guess.sum()))


def test_a_label_asked_for_and_missing_is_refused_and_nothing_changes():
    model, twin = (selective(delta=0.2, random_state=0).fit(X[:50], TWO[:50]) for _ in range(2))
    y = np.where(np.arange(110) > 60, np.nan, TWO[50:])
    before, count = model.coef_, model.n_queries_
    for trace in ("full", "sums"):
        with pytest.raises(ValueError, match=r"row \d+ was asked for and has no label") as caught:
            om.progressive(model, X[50:], y, trace=trace)
        assert "\n" not in str(caught.value)
        assert_array_equal(model.coef_, before)
        assert model.n_queries_ == count and model.t_ == 50
    with pytest.raises(ValueError, match="has no label"):
        model.fit(X[50:], y)
    assert_array_equal(model.coef_, before)
    run, other = om.progressive(model, X[50:], TWO[50:]), om.progressive(twin, X[50:], TWO[50:])
    assert_array_equal(run.queried, other.queried)
    assert_array_equal(run.scores, other.scores)


# ---- what was bought, and learned once more


@pytest.mark.parametrize("y", [TWO, THREE], ids=["two", "three"])
def test_a_fit_keeps_what_it_bought_and_learns_it_once_more(y):
    told = {"rule": "margin", "delta": 0.5, "random_state": 3}
    model = om.SelectiveSampler(om.Perceptron(), **told).fit(X, y)
    stream = om.SelectiveSampler(om.Perceptron(), refit=False, **told).fit(X, y)
    assert_array_equal(model.queried_, stream.queried_)
    assert 0 < len(model.queried_) == model.n_queries_ == stream.n_queries_ < ROWS
    assert model.queried_.dtype == np.int64 and len(set(model.queried_)) == len(model.queried_)
    again = om.Perceptron(tol=None, classes=sorted(set(y)))
    again._entropy = 3  # the sampler's seed is the learner's where that has none
    again.fit(X[model.queried_], y[model.queried_])
    assert_array_equal(model.coef_, again.coef_)
    assert not np.array_equal(model.coef_, stream.coef_) and model.estimator_.tol == 1e-3
    assert stream.t_ == ROWS and model.n_iter_ == stream.n_iter_ == 1
    count = model.n_queries_
    assert model.query(X).sum() == model.n_queries_ - count  # it goes on counting where it was


def test_rows_bought_are_those_of_the_call_and_its_order():
    model = selective(delta=0.1)
    run = om.progressive(model, X, TWO, chance=LUCK)
    assert_array_equal(model.queried_, np.flatnonzero(run.queried))
    dicts = selective(delta=0.1, random_state=1)
    run = om.progressive(dicts, zip(DICTS, TWO, strict=True))
    assert_array_equal(dicts.queried_, np.flatnonzero(run.queried))
    shuffled = selective(delta=0.1, random_state=1).fit(X, TWO)
    assert not np.array_equal(shuffled.queried_, np.sort(shuffled.queried_))
    poisoned = np.full(ROWS, np.nan)
    poisoned[shuffled.queried_] = TWO[shuffled.queried_]
    again = selective(delta=0.1, random_state=1).fit(X, poisoned)
    assert_array_equal(again.queried_, shuffled.queried_)


def test_labels_not_bought_are_not_learned_again():
    """Nor are classes lost that no label was bought of; weights of rows come along."""
    rare = np.where(np.arange(ROWS) == 7, 9, THREE)
    model = om.SelectiveSampler(om.Perceptron(), budget=12, random_state=0).fit(X, rare)
    assert 9 not in rare[model.queried_] and 9 in model.classes_
    weights = np.where(np.arange(ROWS) % 2, 1.0, 0.0)
    model.fit(X, TWO, sample_weight=weights)
    assert weights[model.queried_].all()


def test_a_budget_is_spread_over_a_fit():
    for rule in ("auto", "margin", "bernoulli"):
        model = om.SelectiveSampler(om.AROW(shuffle=False), rule=rule, budget=40, random_state=0).fit(X, TWO)
        told = om.SelectiveSampler(
            om.AROW(shuffle=False), rule=rule, budget=40, target_rate=0.25, random_state=0
        ).fit(X, TWO)
        assert_array_equal(model.queried_, told.queried_)
        assert model.queried_.max() > 70  # not the first 40
    stream = om.SelectiveSampler(om.AROW(), rule="margin", budget=40)
    om.progressive(stream, X, TWO)
    assert stream.queried_.max() < 70  # which does not know how long it will be


def test_what_auto_stands_for():
    for learner, told, rule in (
        ("auto", {}, "margin"), (om.AROW(), {}, "margin"), (om.MIRA(), {}, "margin"),
        (om.PassiveAggressiveClassifier(), {}, "margin"), (om.Perceptron(), {}, "bernoulli"),
        (om.Pegasos(), {}, "bernoulli"), (om.Perceptron(), {"target_rate": 0.2}, "margin"),
        (om.Perceptron(), {"rule": "adaptive"}, "adaptive"),
    ):  # fmt: skip
        model = om.SelectiveSampler(learner, **told)
        assert model._rule_numbers()["ask_rule"] == queries.RULES.index(rule)
    assert isinstance(om.SelectiveSampler().fit(X, TWO).estimator_, om.AROW)


def test_a_file_knows_what_was_bought(tmp_path):
    model = om.SelectiveSampler(om.Perceptron(), budget=12, random_state=0).fit(X, TWO)
    om.save(model, tmp_path / "m.onm")
    other = om.load(tmp_path / "m.onm")
    assert_array_equal(other.queried_, model.queried_)
    for one in (model, other):
        one.set_params(budget=60)
    assert_array_equal(om.progressive(other, X, TWO).queried, om.progressive(model, X, TWO).queried)
    om.save(selective(), tmp_path / "m.onm")
    assert not hasattr(om.load(tmp_path / "m.onm"), "queried_")


def test_a_budget_that_is_spent_moves_delta_no_more():
    model = selective(rule="margin", budget=5, target_rate=0.2)
    om.progressive(model, X[:60], TWO[:60])
    assert model.n_queries_ == 5
    before = model.estimator_._model.asking.counts.copy()
    om.progressive(model, X[60:], TWO[60:])
    after = model.estimator_._model.asking.counts
    assert_array_equal(after[1:3], before[1:3])  # asked, the logarithm of delta's factor


def test_one_class_bought_keeps_the_stream_and_says_so():
    late = np.where(np.arange(ROWS) < ROWS - 3, 0, 1)
    model = om.SelectiveSampler(om.AROW(shuffle=False), rule="margin", delta=1e-9, random_state=0)
    with pytest.warns(UserWarning, match="labels of one class, and then was sure") as caught:
        model.fit(X, late)
    assert len(caught) == 1 and "\n" not in str(caught[0].message)
    assert model.t_ == ROWS and len(set(late[model.queried_])) == 1


# ---- labels that were not asked for, for every learner: plain Python

LEARNERS = {
    "Perceptron": om.Perceptron(), "average": om.Perceptron(average=True),
    "forgets": om.Perceptron(horizon=50), "kernel": om.Perceptron(kernel="rbf"),
    "PA": om.PassiveAggressiveClassifier(step="pa"), "PA2": om.PassiveAggressiveClassifier(step="pa2"),
    "class weights": om.PassiveAggressiveClassifier(class_weight={1: 3.0}), "MIRA": om.MIRA(),
    "AROW": om.AROW(), "AROW full": om.AROW(covariance="full"), "SCW": om.SoftConfidenceWeighted(),
    "SOP": om.SecondOrderPerceptron(), "SOP full": om.SecondOrderPerceptron(covariance="full"),
    "FTRL": om.FTRLClassifier(), "adagrad": om.FTRLClassifier(regularizer="adagrad", loss="logistic"),
    "coin": om.FTRLClassifier(regularizer="coin"), "entropic": om.FTRLClassifier(regularizer="entropic"),
    "recipe": om.OnlineClassifier(om.Recipe()), "Pegasos": om.Pegasos(), "batches": om.Pegasos(batch_size=7),
    "kernel Pegasos": om.Pegasos(kernel="rbf"), "Projectron": om.Projectron(),
    "Forgetron": om.Forgetron(budget=9),
    "Projectron++": om.Projectron(plus=True), "Stoptron": om.Stoptron(budget=9), "OM2": om.OM2(),
    "kernel PA": om.PassiveAggressiveClassifier(kernel="rbf", budget=9),
    "shifting": om.ShiftingPerceptron(), "projected": om.ProjectedPerceptron(),
}  # fmt: skip
comparisons = Comparisons("tests.estimators.test_sampler")


def poisoned(learner, y, rule="bernoulli", delta=0.02, rows=70):
    """A run, and the same with wrong labels, and all sorts of things, where nobody asked for the label."""
    known = sorted(set(y.tolist()))

    def told(labels):
        model = om.SelectiveSampler(learner, rule=rule, delta=delta)
        run = om.progressive(model, X[:rows], labels, chance=LUCK[:rows], classes=known)
        queried = run.queried.astype(bool)
        return [queried, run.scores, run.losses, run.steps, model.decision_function(X), model.n_queries_]

    wanted = told(y[:rows])
    asked = wanted[0]
    assert 0 < asked.sum() < rows
    wrong, odd = np.where(asked, y[:rows], (y[:rows] + 1) % len(known)), np.where(asked, y[:rows], None)
    odd[~asked] = [(np.nan, None, "nobody", 17)[i % 4] for i in np.flatnonzero(~asked)]
    for labels in (wrong, odd):
        yield from zip(told(labels), wanted, strict=True)


@comparisons.each(*LEARNERS, near=0.0)
def labels_not_asked_for_are_not_read(name):
    rule = ("bernoulli", "adaptive")[len(name) % 2]
    yield from poisoned(LEARNERS[name], TWO, rule, 1e-5 if rule == "adaptive" else 0.02)
    yield from poisoned(LEARNERS[name], THREE)


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """What the plain-Python runs found."""
    return comparisons.run(tmp_path_factory.mktemp("plain") / "pairs.npz")


@pytest.mark.parametrize("name", comparisons.entries)
def test_plain_python(name, written):
    comparisons.compare(name, written)


if __name__ == "__main__":
    comparisons.write(sys.argv[1])


# ---- refusals name the row of the table that was given


def test_a_row_is_named_as_it_was_given_whatever_order_it_was_seen_in() -> None:
    bad, missing = X.copy(), TWO.astype(float)
    bad[150, 2], missing[[3, 150]] = np.nan, np.nan
    everything = om.SelectiveSampler(om.Perceptron(), delta=np.inf, random_state=0)
    for refit in (True, False):
        with pytest.raises(ValueError, match="^row 150 has a NaN in column 2; "):
            everything.set_params(refit=refit).fit(bad, TWO)
    with pytest.raises(ValueError, match=r"^row (3|150) was asked for and has no label"):
        everything.fit(X, missing)
    with pytest.raises(ValueError, match="^row 150 has a NaN in column 2; "):
        om.SelectiveSampler().partial_fit(bad, np.where(np.arange(ROWS) < 9, np.nan, TWO), classes=[0, 1])
