"""om.label_plan: replays are what loops of samplers give; outlooks by hand; refusals."""

from __future__ import annotations

import matplotlib
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from sklearn.base import clone
from sklearn.metrics import f1_score

import onmargin as om

matplotlib.use("Agg")
draw = np.random.default_rng(4)
X = draw.normal(size=(240, 4))
Y = np.where(X[:, 0] + 0.4 * draw.normal(size=240) > 0.4, 1, 0)
THREE = np.digitize(X[:, 0], [-0.4, 0.5])
TOLD = {"budgets": (5, 30), "rules": ("bernoulli", "margin", "random"), "seeds": 3}


def by_hand(learner, y, kept, rule, budget, seed, delta=1.0, test=1 / 3):
    """One cell, one seed: labels used, error and F1 on the rest."""
    order = np.random.default_rng([21, seed]).permutation(kept)
    learned = len(kept) - round(test * len(kept))
    known = sorted(set(y[kept].tolist()))
    model = clone(learner).set_params(classes=known, random_state=seed)
    first, rest = order[:learned], order[learned:]
    if rule == "random":  # the honest baseline: fit on as many labels
        first = first[:budget]
        model.set_params(tol=None).fit(X[first], y[first])
        used = len(first)
    else:
        model = om.SelectiveSampler(model, rule=rule, budget=budget, delta=delta, random_state=seed)
        used = len(model.fit(X[first], y[first]).queried_)
    truth, answers = y[rest], model.predict(X[rest])
    told = {"average": "macro"} if len(known) > 2 else {"pos_label": known[-1]}
    return used, np.mean(truth != answers), f1_score(truth, answers, zero_division=0, **told)


def check(rows, learner, y, kept, seeds=3, **more):
    """Every line is the mean and the spread of the cells."""
    for row in rows:
        cells = [by_hand(learner, y, kept, row["rule"], row["budget"], seed, **more) for seed in range(seeds)]
        labels, errors, f1 = np.array(cells).T
        assert row["labels"] == labels.mean() <= labels.max() <= row["budget"]
        assert_allclose([row["error"], row["f1"]], [errors.mean(), f1.mean()])
        assert_allclose([row["error_spread"], row["f1_spread"]], [errors.std(ddof=1), f1.std(ddof=1)])


def test_a_plan_is_a_loop_of_samplers():
    plan = om.label_plan(om.Perceptron(), X, Y, **TOLD)
    assert [(row["rule"], row["budget"]) for row in plan.rows] == [
        (rule, budget) for rule in TOLD["rules"] for budget in TOLD["budgets"]
    ]
    assert (plan.seeds, plan.learned, plan.tested) == (3, 160, 80)
    check(plan.rows, om.Perceptron(), Y, np.arange(240))
    few, many = (np.mean([row["error"] for row in plan.rows[at::2]]) for at in (0, 1))
    assert many < few


def test_a_plan_is_the_same_again_with_any_number_of_threads():
    plan = om.label_plan(om.Perceptron(), X, Y, **TOLD)
    assert plan.rows == om.label_plan(om.Perceptron(), X, Y, threads=1, **TOLD).rows


def test_a_sampler_brings_its_learner_and_its_delta():
    model = om.SelectiveSampler(om.Perceptron(), delta=0.1)
    plan = om.label_plan(model, X, Y, budgets=20, rules="adaptive", seeds=2, test=0.5)
    check(plan.rows, om.Perceptron(), Y, np.arange(240), seeds=2, delta=0.1, test=0.5)
    assert "estimator_" not in vars(model)


@pytest.mark.parametrize("missing", [np.nan, None], ids=str)
def test_rows_without_a_label_are_left_out(missing):
    kept = np.flatnonzero(np.arange(240) % 4 > 0)
    y = Y.astype(object if missing is None else float)
    y[::4] = missing
    plan = om.label_plan(om.Perceptron(), X, y, budgets=(12,), rules=("margin",), seeds=2)
    assert (plan.learned, plan.tested) == (120, 60)
    check(plan.rows, om.Perceptron(), Y, kept, seeds=2)


def test_several_classes_have_the_mean_of_their_f1():
    plan = om.label_plan(om.Perceptron(), X, THREE, budgets=(25,), rules=("bernoulli",), seeds=2)
    check(plan.rows, om.Perceptron(), THREE, np.arange(240), seeds=2)


def test_one_seed_has_no_spread():
    (row,) = om.label_plan(om.Perceptron(), X, Y, budgets=(9,), rules=("random",), seeds=1).rows
    assert row["error_spread"] == row["f1_spread"] == 0.0 and row["labels"] <= 9


def test_the_table_and_the_plot():
    plan = om.label_plan(om.Perceptron(), X, Y, **TOLD)
    assert list(plan.table.columns) == [
        "rule", "budget", "labels", "error", "error_spread", "f1", "f1_spread",
    ]  # fmt: skip
    assert isinstance(plan.table, pd.DataFrame) and len(plan.table) == 6
    assert plan.table.to_dict("records") == [{name: row[name] for name in plan.table} for row in plan.rows]
    assert "6 lines over 3 seeds" in repr(plan)
    for measure in ("error", "f1"):
        figure = plan.plot(measure=measure)
        (axes,) = figure.axes
        words = " ".join(text.get_text() for text in axes.texts)
        assert all(rule in words for rule in TOLD["rules"]) and len(axes.lines) >= 3
        shown = [row[measure] for row in plan.rows if row["rule"] == "margin"]
        assert any(np.allclose(line.get_ydata(), shown) for line in axes.lines if len(line.get_ydata()) == 2)
        plt.close(figure)


# ---- without y


def test_a_samplers_outlook_is_the_sum_of_its_chances():
    model = om.SelectiveSampler(om.Perceptron(), rule="bernoulli", delta=0.3, random_state=0)
    model.fit(X[:100], Y[:100])
    count = model.n_queries_
    outlook = om.label_plan(model, X[100:])
    chances = 0.3 / (0.3 + np.abs(model.decision_function(X[100:])))
    assert outlook.rows == 140 and not outlook.stop and model.n_queries_ == count
    assert_allclose([outlook.expected, outlook.sure], [chances.sum(), 1 - chances.mean()])
    assert "heuristic" in str(outlook) and f"{chances.sum():.0f} labels" in str(outlook)
    model.set_params(delta=1e-6)
    assert om.label_plan(model, X[100:]).stop and "stop" in str(om.label_plan(model, X[100:]))
    model.set_params(rule="margin", delta=0.5)
    near = np.abs(model.decision_function(X)) <= 0.5
    assert om.label_plan(model, X).expected == near.sum()
    model.set_params(rule="random", delta=0.25)
    assert om.label_plan(model, X).expected == 60


def test_bbqs_outlook_counts_rows_that_are_not_near():
    rows = X / np.linalg.norm(X, axis=1, keepdims=True)
    model = om.BBQ(epsilon=0.9, random_state=0).fit(rows[:200], Y[:200])
    outlook = om.label_plan(model, rows[200:])
    near = (model.certainty(rows[200:]) <= 0.9).sum()
    assert 0 < near < 40 and (outlook.expected, outlook.sure, outlook.stop) == (40 - near, near / 40, False)
    assert f"{near} of 40 rows" in str(outlook) and "probability 0.9" in str(outlook)
    assert (model.query(rows[200:]).sum(), model.n_queries_ > 0) == (40 - near, True)
    settled = om.label_plan(model, 1e-3 * rows)
    assert settled.stop and settled.expected == 0 and settled.sure == 1


# ---- what is refused, in one line


@pytest.mark.parametrize(
    ("told", "words"),
    [
        ({"budgets": (0,)}, "budgets has 0"), ({"budgets": (2.5,)}, "budgets has 2.5"),
        ({"budgets": (True,)}, "budgets has True"), ({"rules": ("clever",)}, "rules has 'clever'"),
        ({"seeds": 0}, "seeds=0"), ({"seeds": 1.5}, "seeds=1.5"), ({"test": 0.0}, "test=0.0"),
        ({"test": 1.0}, "test=1.0"), ({"test": np.nan}, "test=nan"),
    ],
)  # fmt: skip
def test_parameters_that_make_no_sense(told, words):
    with pytest.raises(ValueError, match=words) as caught:
        om.label_plan(om.Perceptron(), X, Y, **told)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "told",
    [{"budgets": ()}, {"rules": ()}, {"test": "half"}, {"threads": -1}],
    ids=str,
)
def test_empty_lists_and_texts(told):
    with pytest.raises(ValueError, match=next(iter(told))):
        om.label_plan(om.Perceptron(), X, Y, **told)


def test_models_that_cannot_ask():
    for call in (
        lambda: om.label_plan(om.PassiveAggressiveRegressor(), X, Y), lambda: om.label_plan(om.BBQ(), X, Y),
        lambda: om.label_plan(om.PairedClassifier(), X, Y), lambda: om.label_plan(om.Perceptron(), X),
        lambda: om.label_plan(om.SelectiveSampler(om.Perceptron()), X), lambda: om.label_plan(om.BBQ(), X),
        lambda: om.label_plan(om.Perceptron(), X, np.full(240, np.nan)),
        lambda: om.label_plan(om.Perceptron(), X, Y[:20]),
        lambda: om.label_plan(om.Perceptron(), X[:1], Y[:1]),
    ):  # fmt: skip
        with pytest.raises(ValueError, match=r"wanted|outlook|seen no example|rows") as caught:
            call()
        assert "\n" not in str(caught.value)


# ---- mistakes found


def test_an_outlook_knows_that_the_budget_is_used_up_and_that_nothing_is_settled_by_that():
    model = om.SelectiveSampler(om.Perceptron(), rule="margin", budget=4, random_state=0).fit(X, Y)
    assert not model.query(X).any()
    outlook = om.label_plan(model, X)
    near = np.abs(model.decision_function(X)) <= 1.0
    assert outlook.expected == 0 and not outlook.stop and outlook.sure == 1 - near.mean()
    assert f"{near.sum()} labels" in str(outlook) and "budget=4 is spent: raise it" in str(outlook)
    model.set_params(budget=10)
    assert om.label_plan(model, X).expected == 6 and "budget=10 leaves 6" in str(om.label_plan(model, X))
    model.set_params(delta=1e-9)
    assert om.label_plan(model, X).stop


def test_random_labels_are_as_many_as_the_budget_and_are_fitted():
    """The baseline is `fit`, whatever the sampler does with its own."""
    for refit in (True, False):
        model = om.SelectiveSampler(om.Perceptron(), refit=refit)
        rows = om.label_plan(model, X, Y, budgets=(20, 500), rules="random", seeds=3).rows
        assert [row["labels"] for row in rows] == [20, 160]
        check(rows, om.Perceptron(), Y, np.arange(240))
    alike = np.where(np.arange(240) < 239, Y[0], Y[0])
    alike[:3] = 1 - Y[0]
    (row,) = om.label_plan(om.Perceptron(), X, alike, budgets=2, rules="random", seeds=1).rows
    assert row["labels"] == 2  # of one class: all rows are answered by it


def test_a_plan_of_the_sampler_as_it_comes():
    plan = om.label_plan(om.SelectiveSampler(), X, Y, budgets=(20,), seeds=2)
    assert [row["rule"] for row in plan.rows] == ["margin", "bernoulli", "random"]
    check(plan.rows, om.AROW(), Y, np.arange(240), seeds=2)


def test_the_outlook_of_bbq_kappa_is_of_its_rule():
    rows = X / np.linalg.norm(X, axis=1, keepdims=True)
    model = om.BBQ(kappa=0.3, random_state=0).fit(rows, Y)
    assert om.label_plan(model, rows).expected == model.query(rows).sum()


def test_the_outlook_of_the_adaptive_rule_knows_how_long_rows_are():
    model = om.SelectiveSampler(om.Perceptron(), rule="adaptive", delta=0.01, random_state=0).fit(X, Y)
    moves, longest = om.progressive(
        om.SelectiveSampler(om.Perceptron(), rule="adaptive", delta=0.01), X, Y, chance=np.zeros(240)
    ).updates, 1 + 100.0 * np.square(X).sum(axis=1)  # fmt: skip
    spread = 0.01 * longest  # at the least: no moves
    sure = np.abs(model.decision_function(10 * X))
    assert moves and om.label_plan(model, 10 * X).expected >= (spread / (spread + sure)).sum()


def test_a_learner_with_an_order_of_its_own():
    plan = om.label_plan(om.Pegasos(), X, Y, budgets=(20,), rules="random", seeds=1)
    assert 10 < plan.rows[0]["labels"] <= 20 and plan.rows[0]["error"] < 0.5
