"""The Banditron's actions: allowed ones, new ones, tables of them, rewards; failures, threads, speed."""

from __future__ import annotations

import copy
import pickle
import threading

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal

import onmargin as om
from onmargin.errors import BadInput

from ..soaking import either, soaked
from . import refusals
from .test_banditron import DICTS, LABELS, LUCK, WEIGHT, X, Y, bandit, chances, oracle, play, weights_of


def kept(model):
    """All that a refused call must leave as it was."""
    memory = None if model._model is None else model._model.memory.tolist()
    return copy.deepcopy(model._extras()), memory, list(model._columns.slots or ())


def refuses(model, call, *said):
    before = kept(model)
    line = str(refusals.refuses(model, call))
    assert kept(model) == before
    for words in said:
        assert words in line, line


def begun(K=3, **more):
    """A model in mid-stream, on the short way."""
    model = bandit(K, **more)
    play(model, DICTS[:60], LABELS[K][:60])
    return model


# ---- what was earned


@pytest.mark.parametrize("weight", [None, WEIGHT], ids=["plain", "weighted"])
def test_simulated_rounds_earn(weight):
    """mean_reward_ and reward_estimate_ after progressive: of the oracle's actions."""
    model = bandit()
    run = om.progressive(model, X, Y, chance=LUCK, sample_weight=weight)
    _, scores, played, _ = oracle(X, Y, 3, LUCK, weight)
    seen = np.ones(len(Y), bool) if weight is None else weight > 0
    right, best = (played == Y)[seen], (played == scores.argmax(axis=1))[seen]
    assert model.n_rewards_ == seen.sum() == run.rounds
    assert model.mean_reward_ == pytest.approx(right.mean(), rel=1e-12)
    assert model.mean_reward_ == pytest.approx(1 - run.error_rate, rel=1e-12)
    assert model.reward_estimate_ == pytest.approx((right & best).mean() / (0.6 + 0.4 / 3), rel=1e-12)


def test_a_fit_earns_in_all_its_passes_and_files_keep_it(tmp_path):
    model = bandit(max_iter=3, tol=None).fit(X, Y)
    assert model.n_rewards_ == 3 * len(Y) and 0.4 < model.mean_reward_ < 0.8
    assert 0.4 < model.reward_estimate_ < 1.0
    om.save(model, tmp_path / "m.onm")
    twin = om.load(tmp_path / "m.onm")
    for one in (twin, pickle.loads(pickle.dumps(model)), copy.deepcopy(model)):
        assert (one.mean_reward_, one.reward_estimate_) == (model.mean_reward_, model.reward_estimate_)
    assert model.fit(X[:50], Y[:50]).n_rewards_ == 150
    model.learn_one(DICTS[0], int(Y[0]))
    assert model.n_rewards_ == 151


def test_late_rewards_and_simulated_ones_are_one_sum():
    acted, simulated = bandit(), bandit()
    play(acted, DICTS[:100], Y[:100])
    simulated.partial_fit(X[:100], Y[:100])
    assert acted.mean_reward_ == simulated.mean_reward_
    assert acted.reward_estimate_ == simulated.reward_estimate_
    parts = bandit().partial_fit(X[:37], Y[:37]).partial_fit(X[37:100], Y[37:100])
    assert parts.reward_estimate_ == simulated.reward_estimate_
    with pytest.raises(BadInput):
        simulated.partial_fit(np.full((3, 4), np.nan), Y[:3])
    assert simulated.n_rewards_ == 100


# ---- actions that are allowed


def test_the_distribution_is_over_the_allowed():
    """Against the oracle: best and P among the allowed, in class order."""
    model, W, luck = bandit(9), np.zeros((9, 5)), np.random.default_rng(3)
    for t, x in enumerate(DICTS[:150]):
        allowed = np.sort(luck.choice(9, luck.integers(1, 9), replace=False))
        row = np.append(X[t], 1.0)
        P, top = chances((W @ row)[allowed], 0.4)
        action = model.act_one(x, allowed=allowed.tolist() if t % 2 else allowed)
        assert action.label in allowed
        place = allowed.tolist().index(action.label)
        assert action.probability == pytest.approx(P[place], rel=1e-12)
        reward = float(action.label == LABELS[9][t])
        model.reward_one(action.id, reward)
        W[allowed[top]] -= row
        W[action.label] += reward * row / P[place]
    assert_allclose(weights_of(model), W, rtol=1e-9, atol=1e-9)


def test_one_allowed_action_is_played_surely_and_all_are_the_plain_act():
    model = begun()
    assert {model.act_one(x, allowed=[2])[1:] for x in DICTS[:20]} == {(2, 1.0)}
    twin = copy.deepcopy(model)
    assert model.act_one(DICTS[0], allowed={0, 1, 2}) == twin.act_one(DICTS[0])
    assert bandit().act_one({"a": 1.0}, allowed=[1]) == (1, 1, 1.0)


def test_allowed_actions_are_played_as_often_as_they_say():
    model = begun(9)
    found = [model.act_one(DICTS[0], allowed=[1, 4, 7]) for _ in range(3000)]
    share = {action.label: action.probability for action in found}
    assert sorted(share) == [1, 4, 7] and sum(share.values()) == pytest.approx(1.0)
    for label, P in share.items():
        often = np.mean([action.label == label for action in found])
        assert abs(often - P) < 4 * np.sqrt(P * (1 - P) / 3000)


@pytest.mark.parametrize(
    "allowed", [[], [7], [0, 7], "01", 5, [[0]], [None], [np.nan], np.ones((1, 2), bool)], ids=str
)
def test_allowed_actions_that_are_none(allowed):
    refuses(begun(), lambda m: m.act_one(DICTS[0] | {"new": 1.0}, allowed=allowed), "allowed" if not
            isinstance(allowed, list) or not allowed else "act")  # fmt: skip
    refuses(bandit(), lambda m: m.act_one({"a": 1.0}, allowed=allowed))


# ---- new actions


@pytest.mark.parametrize("label", ["a", "m", "z"])
def test_a_new_action_starts_at_zero_and_the_others_go_on(label):
    """Wherever it stands among the others; actions that wait find their classes."""
    model = om.Banditron(gamma=0.4, classes=["b", "n"], random_state=0)
    for t, x in enumerate(DICTS[:40]):
        action = model.act_one(x)
        model.reward_one(action.id, action.label == "bn"[Y[t] % 2])
    before = dict(zip(model.classes_.tolist(), weights_of(model), strict=True))
    late = model.act_one(DICTS[50])
    model.add_action(label)
    assert model.classes_.tolist() == sorted(["b", "n", label])
    after = dict(zip(model.classes_.tolist(), weights_of(model), strict=True))
    assert not after.pop(label).any()
    for one, row in after.items():
        assert_array_equal(row, before[one])
    model.reward_one(late.id, 1)
    moved = dict(zip(model.classes_.tolist(), weights_of(model), strict=True))
    assert not moved[label].any() and (moved[late.label] != before[late.label]).any()
    labels = {model.act_one(x).label for x in DICTS}
    assert labels == {"b", "n", label}
    P = model.act_one(DICTS[0], allowed=[label]).probability
    assert P == 1.0 and model.act_one(DICTS[0]).probability in (0.6 + 0.4 / 3, 0.4 / 3)


def test_new_actions_are_kept_refused_and_learned_from(tmp_path):
    model = bandit()
    model.add_action(7)  # before the first example
    play(model)
    model.add_action(5)
    assert model.classes_.tolist() == [0, 1, 2, 5, 7]
    om.save(model, tmp_path / "m.onm")
    twin = om.load(tmp_path / "m.onm")
    for one in (model, twin):
        one.learn_one(DICTS[1], 5)
        one.act_one(DICTS[0])
    assert_array_equal(weights_of(twin), weights_of(model))
    for label in (5, None, np.nan, [1], 0.5):
        refuses(model, lambda m, one=label: m.add_action(one))
    refuses(bandit(classes=None), lambda m: m.add_action(1), "classes=")
    refuses(model, lambda m: m.act_one(DICTS[0], allowed=[9]), "add_action")
    assert om.Banditron(classes=[0, 1]).set_params(classes=[0, 1, 2]).act_one({"a": 1.0}).label in (0, 1, 2)
    refuses(model.set_params(classes=[8, 9]), lambda m: m.act_one(DICTS[0]), "set it back")


# ---- a table of them


@pytest.mark.parametrize("made", [np.asarray, sp.csr_matrix], ids=["dense", "sparse"])
def test_a_table_of_actions_is_the_loop_over_its_rows(made):
    """None of them moves anything; their rewards, in order, are those of one after the other."""
    many, each = bandit().partial_fit(X[:100], Y[:100]), bandit().partial_fit(X[:100], Y[:100])
    found = many.act_many(made(X[100:]))
    actions = [each.act_one(x) for x in DICTS[100:]]
    assert found.ids.tolist() == [action.id for action in actions]
    assert found.labels.tolist() == [action.label for action in actions]
    assert_allclose(found.probabilities, [action.probability for action in actions], rtol=1e-12)
    rewards = (found.labels == Y[100:]).astype(float)
    many.reward_many(found.ids, rewards)
    for action, reward in zip(actions, rewards.tolist(), strict=True):
        each.reward_one(action.id, reward)
    assert_allclose(weights_of(many), weights_of(each), rtol=1e-11, atol=1e-11)
    assert many.t_ == each.t_ == 200 and not many.pending_
    assert many.mean_reward_ == each.mean_reward_


def test_a_table_may_be_the_first_and_each_row_has_its_own_actions():
    model, draw = bandit(9), np.random.default_rng(0)
    allowed = draw.random((len(X), 9)) < 0.4
    allowed[:, 0] |= ~allowed.any(axis=1)
    found = model.act_many(X, allowed=allowed)
    assert allowed[np.arange(len(X)), found.labels].all() and model.t_ == 0
    top, count = allowed.argmax(axis=1), allowed.sum(axis=1)  # all scores are 0: the first allowed is best
    wanted = np.where(found.labels == top, 0.6, 0.0) + 0.4 / count
    assert_allclose(found.probabilities, wanted, rtol=1e-12)
    same = model.act_many(X[:5], allowed=[3])
    assert same.labels.tolist() == [3] * 5 and same.ids.tolist() == list(range(201, 206))
    assert len(model.pending_) == 205


def test_tables_and_rewards_that_are_none():
    model = bandit().partial_fit(X[:50], Y[:50])
    found = model.act_many(X[:10])
    bad = X[:3].copy()
    bad[1, 2] = np.nan
    refuses(model, lambda m: m.act_many(bad))
    refuses(model, lambda m: m.act_many(X[:, :2]))
    refuses(model, lambda m: m.act_many(X[:2], allowed=np.zeros((2, 3), bool)), "no action")
    refuses(model, lambda m: m.act_many(X[:2], allowed=np.ones((3, 3), bool)), "wanted labels, or bools")
    refuses(model, lambda m: m.act_many(X[:2], allowed=[5]), "not among")
    refuses(bandit(max_pending=3), lambda m: m.act_many(X[:4]), "max_pending=3")
    refuses(bandit(classes=None), lambda m: m.act_many(X[:4]), "classes=")
    refuses(model, lambda m: m.reward_many(found.ids, [1.0]), "one each")
    refuses(model, lambda m: m.reward_many(found.ids[[0, 0]], [1, 1]), "twice")
    refuses(model, lambda m: m.reward_many([*found.ids[:2], 999], [1, 1, 1]), "999")
    refuses(model, lambda m: m.reward_many(found.ids[:2], [1, 2]), "from 0 to 1")
    model.reward_many([], [])
    assert model.t_ == 50


def test_what_the_first_row_decides_is_the_same_for_actions_and_tables():
    """An empty row decides nothing; acting in order is the simulation, as for given numbers."""
    rows, y = np.r_[np.zeros((2, 4)), X], np.r_[0, 1, Y]
    dicts = [{}, {}, *DICTS]
    acted, many = (bandit(average="auto", intercept_scaling="auto") for _ in range(2))
    run = om.progressive(bandit(average="auto", intercept_scaling="auto"), rows, y)
    actions = play(acted, dicts, y)
    assert [action.label for action in actions] == run.predictions.tolist()
    assert acted.intercept_scaling_ == run.model.intercept_scaling_ > 0
    assert_allclose(weights_of(acted), weights_of(run.model), rtol=1e-9, atol=1e-9)
    found = many.act_many(rows[:5])
    assert many.intercept_scaling_ == acted.intercept_scaling_
    many.reward_many(found.ids[:2], [1, 1])
    assert not many.intercept_.any()


# ---- failures, threads, speed


def test_a_refused_action_on_the_short_way_changes_nothing():
    for x in ({"new": np.nan}, {**DICTS[0], "new": "x"}, {"new": 1e200}, {"a": 1.0, "b": [1]}, None, [1.0]):
        refuses(begun(), lambda m, x=x: m.act_one(x))


def test_the_oldest_is_given_up_on_the_short_way():
    model = begun(max_pending=3)
    first = [model.act_one(x).id for x in DICTS[:5]]
    assert list(model.pending_) == first[2:] and model.n_given_up_ == 2


@pytest.mark.parametrize("half", ["act", "reward"])
@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
def test_an_interrupt_leaves_a_whole_round_or_none(half, after, monkeypatch):
    """Ctrl-C right before or right after the machine code."""
    model = begun(max_pending=2)
    model.act_one(DICTS[0]), model.act_one(DICTS[1])
    number, before, rounds = next(iter(model.pending_)), kept(model), model.t_
    entries = model._stream.entries
    compiled = getattr(entries, f"{half}_entry")

    def interrupted(*given):
        if after:
            compiled(*given)
        raise KeyboardInterrupt

    monkeypatch.setattr(entries, f"{half}_entry", interrupted)
    with pytest.raises(KeyboardInterrupt):
        model.act_one(DICTS[2] | {"new": 1.0}) if half == "act" else model.reward_one(number, 1)
    if half == "reward" and after:
        assert model.t_ == rounds + 1 and number not in model.pending_
    else:
        assert kept(model) == before and model.t_ == rounds
    monkeypatch.undo()
    play(model, DICTS[60:80], Y[60:80])


def test_an_interrupt_after_the_oldest_was_given_up_brings_it_back(monkeypatch):
    model = begun(max_pending=2)
    waiting = [model.act_one(x).id for x in DICTS[:2]]
    before = kept(model)

    def interrupted():
        raise KeyboardInterrupt

    monkeypatch.setattr(model._stream, "keep", interrupted)
    with pytest.raises(KeyboardInterrupt):
        model.act_one(DICTS[2] | {"new": 1.0})
    monkeypatch.undo()
    assert kept(model) == before and list(model.pending_) == waiting and model.n_given_up_ == 0


def test_an_interrupt_after_a_labelled_round_loses_no_reward(monkeypatch):
    """Right before the stream is bound to the model that learned it (found by the machine of interrupts)."""
    model = begun()
    action = model.act_one(DICTS[0])

    def interrupted():
        raise KeyboardInterrupt

    monkeypatch.setattr(model._stream, "bind", interrupted)
    with pytest.raises(KeyboardInterrupt):
        model.learn_one(DICTS[1], 1)
    monkeypatch.undo()
    assert model.t_ == 61
    before = weights_of(model)
    model.reward_one(action.id, 1)
    assert model.t_ == 62 == model.n_rewards_ and (weights_of(model) != before).any()
    play(model, DICTS[:5], Y[:5])
    assert model.t_ == 67


def test_threads_that_act_and_reward_lose_nothing():
    model, each = begun(), 150  # (names come beside numbers of columns)

    def acts(thread):
        for number in range(each):
            action = model.act_one({0: 1.0, (thread, number): 0.5}, allowed=[0, 2] if number % 3 else None)
            model.reward_one(action.id, number % 2)

    failed = []

    def caught(call, *given):
        try:
            call(*given)
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=caught, args=(acts, number)) for number in range(3)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    assert not failed
    assert model.t_ == 60 + 3 * each == model.n_rewards_ and not model.pending_
    assert model.n_features_in_ == 4 + 3 * each


@soaked
def test_files_written_while_others_play_are_whole(tmp_path):
    """Weights, names and actions of one moment."""
    stop, failed = threading.Event(), []

    def plays():
        number = 0
        while not stop.is_set():
            number += 1
            action = model.act_one({f"n{number % 500}": 1.0})
            if number % 2:
                model.reward_one(action.id, 1)

    model = om.Banditron(classes=[0, 1, 2], random_state=0)
    play(model, [{"a": 1.0}] * 5, Y[:5])
    thread = threading.Thread(target=plays)
    thread.start()
    try:
        for _ in range(either(5, 15)):
            om.save(model, tmp_path / "m.onm")
            twin = om.load(tmp_path / "m.onm")
            assert twin.n_rewards_ == twin.t_
    except BaseException as error:
        failed.append(error)
    finally:
        stop.set()
        thread.join()
    assert not failed
