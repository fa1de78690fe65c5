"""The Banditron: rewards against a slow oracle, late and out of order; coins, files, refusals, conformance.

scikit-learn's and River's checks are asked as plain Python, in another process (see `tests.uncompiled`).
"""

from __future__ import annotations

import copy
import itertools
import json
import pickle
import sys
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from river import checks

import onmargin as om
from onmargin.errors import BadFile, BadInput
from onmargin.protocols.saving import container as saved
from tests.once import as_plain_python

from ..students import PLAIN
from . import refusals
from .test_paired_conformance import answers, judge

ROWS = 200
draw = np.random.default_rng(8)
X = draw.normal(size=(ROWS, 4))
LUCK, WEIGHT = draw.random(ROWS), draw.uniform(0.2, 2.0, ROWS) * (draw.random(ROWS) < 0.8)
LABELS = {K: (X @ draw.normal(size=(4, K))).argmax(axis=1) for K in (2, 3, 9)}
Y = LABELS[3]
DICTS = [dict(enumerate(row)) for row in X.tolist()]
each_number = pytest.mark.parametrize("K", [2, 3, 9])


def bandit(K=3, **more):
    return om.Banditron(**({"gamma": 0.4, "classes": range(K), "random_state": 0} | PLAIN | more))


def chances(scores, gamma):
    """P of every class, and the best class."""
    P = np.full(len(scores), gamma / len(scores))
    P[scores.argmax()] = (1.0 - gamma) + gamma / len(scores)
    return P, int(scores.argmax())


def oracle(rows, y, K, luck, weight=None, gamma=0.4):
    """(weights, scores, actions, mean of the weights that predicted), the constant coordinate last."""
    W, total, seen = np.zeros((K, rows.shape[1] + 1)), 0.0, 0
    scores, played = np.zeros((len(y), K)), np.zeros(len(y), int)
    for t, x in enumerate(np.c_[rows, np.ones(len(rows))]):
        scores[t] = W @ x
        P, best = chances(scores[t], gamma)
        played[t] = next((r for r in range(K - 1) if luck[t] < sum(P[: r + 1].tolist())), K - 1)
        h = 1.0 if weight is None else weight[t]
        if h > 0:
            total, seen = total + W, seen + 1
            W = W.copy()
            W[best] -= h * x
            if played[t] == y[t]:
                W[played[t]] += h * x / P[played[t]]
    return W, scores, played, total / seen


def weights_of(model):
    return np.c_[model.coef_, model.intercept_]


def play(model, dicts=DICTS, y=Y):
    """Act and reward in turn."""
    actions = []
    for x, label in zip(dicts, y.tolist(), strict=True):
        actions.append(model.act_one(x))
        model.reward_one(actions[-1].id, actions[-1].label == label)
    return actions


# ---- the rounds


@each_number
@pytest.mark.parametrize("weight", [None, WEIGHT], ids=["plain", "weighted"])
def test_the_simulation_is_the_oracle(K, weight, table=X):
    for average in (False, True):
        model = bandit(K, average=average)
        run = om.progressive(model, table, LABELS[K], chance=LUCK, sample_weight=weight)
        W, scores, played, mean = oracle(X, LABELS[K], K, LUCK, weight)
        assert_allclose(weights_of(model), mean if average else W, rtol=1e-9, atol=1e-9)
        if run.scores.ndim == 1:  # two classes by one score
            scores = scores[:, 1] - scores[:, 0]
        assert_allclose(run.scores, scores, rtol=1e-9, atol=1e-9)
        assert_array_equal(run.predictions, played)
        assert run.mistakes == (played != LABELS[K])[weight is None or weight > 0].sum()


@each_number
def test_in_the_mean_it_is_the_perceptron(K):
    """By enumeration: each action with a uniform from its interval, weighted with its probability."""
    begun, W = bandit(K), oracle(X[:60], LABELS[K][:60], K, LUCK)[0]
    om.progressive(begun, X[:60], LABELS[K][:60], chance=LUCK[:60])
    for t in range(60, 75):
        x, y = np.append(X[t], 1.0), LABELS[K][t]
        P, best = chances(W @ x, 0.4)
        ends, moved = np.cumsum(P), np.zeros_like(W)
        for played in range(K):
            model = copy.deepcopy(begun)
            run = om.progressive(model, X[[t]], [y], chance=[ends[played] - P[played] / 2])
            assert run.predictions[0] == played
            moved += P[played] * (weights_of(model) - W)
        wanted = np.zeros_like(W)
        wanted[y] += x
        wanted[best] -= x
        assert_allclose(moved, wanted, rtol=1e-11, atol=1e-11)


def test_the_row_of_appendix_b():
    """K = 3, gamma = 0.3, W = 0: P = (.8, .1, .1); playing 2 rightly: w_0 = -x, w_2 = 10 x."""
    model, x = bandit(gamma=0.3, fit_intercept=False), np.array([[0.5, -2.0]])
    run = om.progressive(model, x, [2], chance=[0.95])
    assert run.predictions.tolist() == [2]
    assert_allclose(model.coef_, np.outer([-1.0, 0.0, 10.0], x[0]), rtol=1e-14)
    actions = [bandit(gamma=0.3, random_state=seed).act_one({"a": 1.0}) for seed in range(60)]
    found = {action.label: action.probability for action in actions}
    assert_allclose([found[k] for k in range(3)], [0.8, 0.1, 0.1], rtol=1e-14)


def test_the_best_class_answers_without_a_coin():
    model = bandit().partial_fit(X, Y)
    for _ in range(3):
        assert_array_equal(model.predict(X), model.decision_function(X).argmax(axis=1))
    assert [model.predict_one(x) for x in DICTS[:20]] == model.predict(X[:20]).tolist()


def test_splits_fits_and_seeds():
    """Blocks bit for bit; the same seed the same actions, another seed others."""
    whole = bandit().partial_fit(X, Y, sample_weight=WEIGHT)
    parts = bandit()
    for first, stop in itertools.pairwise((0, 1, 57, 130, ROWS)):
        parts.partial_fit(X[first:stop], Y[first:stop], sample_weight=WEIGHT[first:stop])
    once = bandit(max_iter=1, shuffle=False, tol=None).fit(X, Y, sample_weight=WEIGHT)
    assert_array_equal(parts.coef_, whole.coef_)
    assert_array_equal(once.coef_, whole.coef_)
    runs = [om.progressive(bandit(random_state=seed), X, Y).predictions for seed in (0, 0, 1)]
    assert_array_equal(runs[0], runs[1])
    assert (runs[0] != runs[2]).any()


# ---- one at a time


def test_acting_in_order_is_the_simulation():
    for average in (False, True):
        model, twin = bandit(average=average), bandit(average=average)
        actions, run = play(model), om.progressive(twin, X, Y)
        assert [action.label for action in actions] == run.predictions.tolist()
        assert_allclose(weights_of(model), weights_of(twin), rtol=1e-12, atol=1e-12)
        assert model.t_ == ROWS and model.mean_reward_ == pytest.approx(1 - run.error_rate)


def test_acting_in_order_is_the_simulation_bit_for_bit():
    """One column: a score is w x + b, in whatever order."""
    model = bandit()
    play(model, [{0: x} for x in X[:, 0].tolist()])
    twin = bandit().partial_fit(X[:, :1].copy(), Y)
    assert_allclose(model.coef_, twin.coef_, rtol=1e-14)  # (the loop adds in one rounding)


def test_acting_goes_on_after_a_simulation():
    model = bandit().partial_fit(X[:100], Y[:100])
    labels = [action.label for action in play(model, DICTS[100:], Y[100:])]
    assert labels == om.progressive(bandit(), X, Y).predictions[100:].tolist()


@pytest.mark.parametrize("how", ["learn_one", "progressive"])
def test_labelled_dicts_are_the_simulation(how):
    model, twin = bandit(), bandit().partial_fit(X, Y)
    if how == "progressive":
        om.progressive(model, zip(DICTS, Y.tolist(), strict=True))
    else:
        for x, y in zip(DICTS, Y.tolist(), strict=True):
            model.learn_one(x, y)
    assert_allclose(model.coef_, twin.coef_, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("more", [{"scored_by": "model"}, {"delay": 3}], ids=str)
def test_there_are_no_actions_of_the_average_nor_late_ones(more):
    """What would be shown is not what was played."""
    with pytest.raises(BadInput, match="have none to show"):
        om.progressive(bandit(average="scored_by" in more), X, Y, **more)


def test_late_rewards_add_up():
    """Each by the best class and the probability of the moment of acting; in any order, once."""
    model, W, waiting = bandit(), np.zeros((3, 5)), {}
    for t, x in enumerate(DICTS[:120]):
        row = np.append(X[t], 1.0)
        P, best = chances(W @ row, 0.4)
        action = model.act_one(x)
        assert action.probability == pytest.approx(P[action.label], rel=1e-14)
        waiting[action.id] = row, best, action
        if t % 3 == 2:  # rewards for some of the actions that wait
            for number in draw.permutation(list(waiting))[:2].tolist():
                row, best, action = waiting.pop(number)
                reward = draw.choice([0, 1, 0.25])
                model.reward_one(number, reward)
                W[best] -= row
                W[action.label] += reward * row / action.probability
                refusals.refuses(model, lambda m, n=number: m.reward_one(n, 1), BadInput)
    assert_allclose(weights_of(model), W, rtol=1e-9, atol=1e-9)
    assert len(waiting) == 40 == len(model.pending_) and model.t_ == 80


def test_new_features_come_with_an_action():
    """Rewards of old actions find their features after the table has grown."""
    model = bandit()
    first = model.act_one({"a": 2.0})
    second = model.act_one({name: 1.0 for name in "abcdefghijklmnopqrst"})
    model.reward_one(second.id, 0)
    model.reward_one(first.id, 0)
    assert model.feature_names_in_.tolist() == list("abcdefghijklmnopqrst")
    assert model.coef_[0].tolist() == [-3.0] + 19 * [-1.0] and model.intercept_[0] == -2.0
    assert not model.coef_[1:].any()


def test_the_oldest_is_given_up():
    model = bandit(max_pending=3)
    actions = [model.act_one({"a": 1.0}) for _ in range(5)]
    assert list(model.pending_) == [3, 4, 5] and model.n_given_up_ == 2
    for action in actions[:2]:
        refusals.refuses(model, lambda m, n=action.id: m.reward_one(n, 1), BadInput)
    model.reward_one(actions[2].id, 1)
    assert model.n_rewards_ == 1 and model.t_ == 1


def test_the_estimate_is_unbiased():
    """What the best class of a fixed model earns, from the rewards of what was played."""
    fixed = bandit().partial_fit(X, Y)
    right = (fixed.predict(X) == Y).mean()
    P, estimates = 0.6 + 0.4 / 3, []
    for seed in range(20):
        model = copy.deepcopy(fixed).set_params(random_state=seed)
        actions = [model.act_one(x) for x in DICTS]
        for action, y in zip(actions, Y.tolist(), strict=True):
            model.reward_one(action.id, action.label == y)
        before, after = fixed.n_rewards_, model.n_rewards_  # (the simulated rounds count too)
        both = after * model.reward_estimate_ - before * fixed.reward_estimate_
        estimates.append(both / (after - before))
    spread = np.sqrt(right * (1 / P - 1) / (20 * ROWS))
    assert abs(np.mean(estimates) - right) < 4 * spread
    assert np.isnan(bandit().mean_reward_) and np.isnan(bandit().reward_estimate_)


# ---- files, refusals


def waits():
    """Some actions rewarded, some waiting."""
    model = bandit()
    for number, x in enumerate(DICTS[:12]):
        model.act_one(x | {f"f{number}": 1.0})
    for number in (9, 3, 4):
        model.reward_one(number, number % 2)
    return model


@pytest.mark.parametrize("how", ["file", "pickle", "copy"])
def test_actions_that_wait_are_kept(how, tmp_path):
    model = waits()
    om.save(model, tmp_path / "m.onm")
    made = {"file": lambda: om.load(tmp_path / "m.onm"), "copy": lambda: copy.deepcopy(model)}
    twin = made.get(how, lambda: pickle.loads(pickle.dumps(model)))()
    for one in (twin, model):  # (the twin first: it shares nothing)
        for number in (12, 1, 7):
            one.reward_one(number, 0.5)
    assert_array_equal(weights_of(twin), weights_of(model))
    assert (twin.mean_reward_, twin.reward_estimate_) == (model.mean_reward_, model.reward_estimate_)
    assert twin.act_one(DICTS[0]) == model.act_one(DICTS[0]) and list(twin.pending_) == list(model.pending_)


GOOD = {"id": 1, "slots": (0,), "values": (1.0,), "best": 0, "played": 0, "P": 0.5}


@pytest.mark.parametrize(
    "damage",
    [{"best": 9}, {"played": -1}, {"P": 0.0}, {"P": float("nan")}, {"slots": (99,)}, {"slots": (0, 1)},
     {"values": (float("nan"),)}, {"values": ("x",)}, {"slots": (0.5,)}, {"best": 0.5}, {"id": "x"}],
    ids=str,
)  # fmt: skip
def test_damaged_actions_are_refused(damage, tmp_path):
    om.save(waits(), tmp_path / "m.onm")
    facts, arrays = saved.read(tmp_path / "m.onm")
    facts["extras"]["pending"] = [tuple((GOOD | damage).values())]
    saved.write(tmp_path / "m.onm", facts, arrays)
    with pytest.raises(BadFile):
        om.load(tmp_path / "m.onm")


def refuses(model, call, *said):
    """One line with these words; weights, coins, pending actions and sums as they were."""

    def kept(model):
        return copy.deepcopy(model._extras()), None if model._model is None else model._model.memory.tolist()

    before = kept(model)
    line = str(refusals.refuses(model, call))
    assert before == kept(model)
    for words in said:
        assert words in line, line


@pytest.mark.parametrize("reward", [-0.1, 1.1, 2, np.nan, np.inf, "1", None, 1j, [1.0]], ids=str)
def test_rewards_that_are_none(reward):
    refuses(waits(), lambda m: m.reward_one(1, reward), "reward")


@pytest.mark.parametrize("number", [0, 13, 9, "1", None, -1], ids=str)
def test_actions_that_do_not_wait(number):
    refuses(waits(), lambda m: m.reward_one(number, 1), "waits")
    refuses(bandit(), lambda m: m.reward_one(number, 1), "waits")


@pytest.mark.parametrize("x", [{"a": np.nan}, {"a": "x"}, {"new": 1e200}, None, [1.0]], ids=str)
def test_examples_that_are_none(x):
    refuses(waits(), lambda m: m.act_one(x))
    refuses(bandit(), lambda m: m.act_one(x))


@pytest.mark.parametrize("gamma", [0, 1, -0.1, 2, np.nan, "x", None, True], ids=str)
def test_shares_that_are_none(gamma):
    refuses(bandit(gamma=gamma), lambda m: m.act_one({"a": 1.0}), "gamma")
    refuses(bandit(gamma=gamma), lambda m: m.fit(X, Y), "gamma")


def test_labels_that_are_none():
    sets = np.eye(3, dtype=int)[Y]
    refuses(bandit(classes=None), lambda m: m.act_one({"a": 1.0}), "classes=")
    refuses(bandit(classes=None), lambda m: m.fit(X, sets), "sets")
    refuses(bandit(), lambda m: om.progressive(m, X, sets), "sets")
    refuses(bandit(), lambda m: m.partial_fit(X, Y + 1), "label 3")
    refuses(bandit(max_pending=0), lambda m: m.act_one({"a": 1.0}), "max_pending")


@pytest.mark.parametrize("classes", [set(), (), {0, 1}, 5], ids=str)
def test_announced_actions_may_be_any_collection(classes):
    try:
        assert bandit(classes=classes).act_one({"a": 1.0}).label in (0, 1)
    except BadInput:
        assert classes != {0, 1}


@pytest.mark.parametrize("number, reward", [([1], 1), (1, np.complex128(1))], ids=str)
def test_other_odd_rewards(number, reward):
    with pytest.raises(BadInput):
        waits().reward_one(number, reward)


@pytest.mark.parametrize("columns", [2, 4])
def test_a_fit_anew_gives_the_actions_up(columns):
    model = bandit(classes=None).fit(X, Y)
    action = model.act_one(DICTS[0])
    model.fit(X[:, :columns].copy(), Y)
    refuses(model, lambda m: m.reward_one(action.id, 1), "waits")


def test_two_classes_have_one_score():
    assert bandit(2).partial_fit(X, LABELS[2]).decision_function(X).shape == (ROWS,)


@pytest.fixture(scope="module")
def conformance(tmp_path_factory):
    """What the program below writes."""
    path = tmp_path_factory.mktemp("conformance") / "answers"
    said = as_plain_python("tests.estimators.test_banditron", path, "default")
    return json.loads(said.read_text())


def test_scikit_learn(conformance):
    judge(om.Banditron(random_state=0), conformance["scikit-learn"])


def test_scikit_learn_but_for_two_classes(conformance):
    found = {
        name: said for name, said in conformance["scikit-learn"].items() if "check_classifiers_" not in name
    }
    judge(om.Banditron(random_state=0), found)


def test_river(conformance):
    assert set(conformance["river"]) == set(om.conformance.river(om.Banditron()))


def test_an_open_stream_is_refused_or_learned(conformance):
    """The first label alone, as other learners take it."""
    assert conformance["open"][0] in ("refused", "yes")


def test_a_third_action_is_refused(conformance):
    assert "know all actions" in conformance["open"][1]


def test_sparse_rows_are_the_same(conformance):
    assert conformance["sparse"]


def opened():
    """What an open stream says of its first label, and what of a new one after a fit."""
    model = bandit(classes=None).fit(X, Y)
    line = str(refusals.refuses(model, lambda m: m.learn_one(DICTS[0], 7)))
    model = om.Banditron(random_state=0)
    assert model.predict_one({"a": 1.0}) is None
    try:
        model.learn_one({"a": 1.0}, "yes")
    except BadInput:
        return "refused", line
    try:
        return model.predict_one({"a": 1.0}), line
    except ValueError as error:
        return str(error), line


def failing(model):
    """Names of River's checks that do not pass, on short sets."""
    whole, names = checks._yield_datasets, set()
    checks._yield_datasets = lambda model, scale=1: (
        list(itertools.islice(s, 30)) for s in whole(model, scale)
    )
    for check in checks.yield_checks(model):
        try:
            check(model.clone())
        except Exception:  # (ValueErrors, AssertionErrors)
            names.add(check.__name__)
    return sorted(names)


if __name__ == "__main__":
    model = om.Banditron(random_state=0)
    found = {"scikit-learn": answers(model), "river": failing(model), "open": opened(), "sparse": True}
    for K in (2, 3, 9):
        test_the_simulation_is_the_oracle(K, WEIGHT, sp.csr_matrix(X))
    Path(sys.argv[1]).write_text(json.dumps(found))


def test_one_action_alone_is_refused_by_every_call():
    """It was learned from by `partial_fit`, and could not be answered by."""
    rows = np.ones((2, 3))
    for make in (
        lambda: om.Banditron(classes=["a"]).partial_fit(rows, ["a", "a"]),
        lambda: om.Banditron().partial_fit(rows, ["a", "a"], classes=["a"]),
        lambda: om.Banditron(classes=["a"]).fit(rows, ["a", "a"]),
        lambda: om.Banditron(classes=["a"]).act_one({"x": 1.0}),
    ):
        with pytest.raises(BadInput, match="at least two (actions|classes)"):
            make()
