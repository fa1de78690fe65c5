"""One learns, any number ask: every public name is kept whole, and the mechanism does what it says."""

from __future__ import annotations

import copy
import gc
import inspect
import pickle
import sys
import threading
import time
import weakref

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone

import onmargin as om
from onmargin.estimators import every
from onmargin.interface import guard

# Those that hand on to a guarded one, or read one thing that is replaced and never changed.
HANDED_ON = {
    "fit", "partial_fit", "learn_one", "predict_one", "center_", "offset_", "plot_kernels", "coef_",
    "settle_entropy", "predict_proba_one", "mean_reward_", "reward_estimate_", "asking_state", "take_over",
    "top_features", "explain", "restore_asking", "estimates_of", "would_ask", "inside", "classes_",
    "act_one", "reward_one",
}  # fmt: skip
ONE_THING = {
    "t_", "threshold_", "gamma_", "budget_", "lam_", "p_", "n_features_in_", "kind", "intercept_scaling_",
    "n_given_up_", "n_rewards_", "r_", "radius_", "regularizer_", "rate_", "C_",
}  # fmt: skip
PARAMETERS = {"clone", "mutate", "set_params", "row", "numbers", "not_in_river"}


@pytest.mark.parametrize("name", sorted(every()))
def test_every_public_name_is_guarded(name):
    bare = set()
    for attribute in dir(every()[name]):
        found = inspect.getattr_static(every()[name], attribute)
        function = found.fget if isinstance(found, property) else found
        if attribute.startswith("_") or not inspect.isfunction(function):
            continue
        if not function.__module__.startswith("onmargin") or function.__code__.co_filename == guard.__file__:
            continue
        bare.add(attribute)
    assert bare <= HANDED_ON | ONE_THING | PARAMETERS


def wide(rows, columns=4000, seed=0):
    draw = np.random.default_rng(seed)
    return sp.random(rows, columns, 0.002, format="csr", random_state=seed), draw.integers(0, 2, rows)


def test_readers_do_not_wait_for_a_call_larger_than_the_model():
    """A learner that is held in the midst of a long call answers as it was before it."""
    X, y = wide(300, 50)
    model = om.PassiveAggressiveClassifier().partial_fit(X, y, classes=[0, 1])
    before, inside, go = model.coef_.copy(), threading.Event(), threading.Event()

    def held(method):
        def play(*args):
            inside.set()
            go.wait(10)
            return method(*args)

        return play

    class Held(om.PassiveAggressiveClassifier):
        def _game(self, *args, **kwargs):
            game = super()._game(*args, **kwargs)
            return game._replace(cut=held(game.cut))

    twin = Held()
    twin.take_over(model)
    thread = threading.Thread(target=twin.partial_fit, args=(X, y))
    thread.start()
    assert inside.wait(10)
    assert (twin.coef_ == before).all() and twin.predict_one({0: 1.0}) in (0, 1)
    go.set()
    thread.join()
    assert twin.t_ == 600 and not (twin.coef_ == before).all()


def test_a_small_call_learns_into_the_arrays_and_is_undone():
    X, y = wide(200)
    model = om.PassiveAggressiveClassifier(average=True).partial_fit(X, y, classes=[0, 1])
    weights = model._model.space.weights
    model.partial_fit(X[:3], y[:3])
    assert model._model.space.weights is weights and model.t_ == 203
    before = weights.copy()
    bad = X[:5].copy()
    bad.data[-1] = np.nan
    with pytest.raises(om.errors.BadInput, match="row 4 has a NaN"):
        model.partial_fit(bad, y[:5])
    assert model._model.space.weights is weights and (weights == before).all() and model.t_ == 203
    other = om.PassiveAggressiveClassifier(average=True).partial_fit(X, y, classes=[0, 1])
    other.partial_fit(X[:3], y[:3])
    assert (other.coef_ == model.coef_).all()


@pytest.mark.parametrize("twin", [copy.deepcopy, lambda m: pickle.loads(pickle.dumps(m)), clone, copy.copy])
def test_every_copy_has_a_guard_of_its_own(twin):
    model = om.PassiveAggressiveClassifier()
    model.learn_one({"a": 1.0}, "x")
    with model._guard.lock:  # a copy is made while others wait
        other = twin(model)
    assert isinstance(other._guard, guard.Guard) and other._guard is not model._guard
    done = threading.Thread(target=other.learn_one, args=({"a": 1.0}, "x"))
    with model._guard.lock:
        done.start()
        done.join(10)
        assert not done.is_alive()


def test_a_reader_that_fails_leaves_no_lease():
    X, y = wide(50)
    model = om.PassiveAggressiveClassifier().partial_fit(X, y, classes=[0, 1])
    with pytest.raises(ValueError, match="features") as refused:
        model.predict(X[:, :3])
    assert not model._guard.readers  # though its frames are still there
    model.partial_fit(X[:2], y[:2])
    assert refused.tb is not None


def test_a_round_waits_for_readers_and_no_longer():
    X, y = wide(50, 20)
    model = om.PassiveAggressiveClassifier().partial_fit(X, y, classes=[0, 1])
    model.learn_one({0: 1.0}, 1)
    lease = guard.Lease()
    with model._guard.lock:
        model._guard.let(lease)
    thread = threading.Thread(target=model.learn_one, args=({0: 1.0}, 0))
    thread.start()
    time.sleep(0.05)
    assert thread.is_alive() and model.t_ == 51
    del lease
    thread.join(10)
    assert not thread.is_alive() and model.t_ == 52


def test_learning_from_many_threads_loses_nothing():
    model, X, y = om.PassiveAggressiveClassifier(classes=[0, 1]), *wide(64, 30)

    def learn(number):
        for _ in range(50):
            model.learn_one({number: 1.0, 0: 0.5}, number % 2)
            model.partial_fit(X[:2], y[:2])

    model.partial_fit(X, y)
    threads = [threading.Thread(target=learn, args=(number,)) for number in range(4)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    assert model.t_ == 64 + 4 * 50 * 3


def test_a_short_way_looked_up_before_the_arrays_grew_is_not_gone():
    """A thread may be held between looking it up and going it, while another makes the arrays grow."""
    model = om.PassiveAggressiveClassifier()
    for label in "xyx":
        model.learn_one({"a": 1.0, "b": 0.5}, label)
    old, stream = model._stream.learn_fast, model._stream
    for number in range(40):
        model.learn_one({f"n{number}": 1.0}, "x")
    assert model._stream is stream
    before, rounds = model.coef_, model.t_
    assert not old({"a": 5.0, "n39": 1.0}, "y")
    assert (model.coef_ == before).all() and model.t_ == rounds


def test_threads_that_bring_new_names_lose_none():
    model, each = om.PassiveAggressiveClassifier(classes=["x", "y"]), 400

    def learn(thread):
        for number in range(each):
            model.learn_one({(thread, number): 1.0}, "xy"[number % 2])

    model.learn_one({"first": 1.0}, "x")
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        threads = [threading.Thread(target=learn, args=(thread,)) for thread in range(4)]
        [thread.start() for thread in threads]
        [thread.join() for thread in threads]
    finally:
        sys.setswitchinterval(before)
    assert model.t_ == 1 + 4 * each == model.n_features_in_
    names = list(model._columns.slots)
    signs = dict(zip(names, np.sign(model.coef_[0]).tolist(), strict=True))
    assert all(signs[thread, number] == (-1, 1)[number % 2] for thread in range(4) for number in range(each))


@pytest.mark.parametrize("between", ["nothing", "a question", "a dict that brings names", "a refusal"])
def test_what_was_replaced_is_gone_at_once(between):
    """Models may be large: none waits for the collector of cycles."""
    X = np.random.default_rng(0).normal(size=(60, 40))
    y = (X[:, 0] > 0).astype(int)
    model = om.PassiveAggressiveClassifier(growing=True).partial_fit(X, y, classes=[0, 1])
    replaced = []
    gc.collect()
    gc.disable()
    try:
        for number in range(5):
            replaced.append(weakref.ref(model._model.space.weights))
            if between == "a question":
                model.predict_one({0: 1.0})
            elif between == "a dict that brings names":
                for name in range(40, 40 + 60 * (number + 1)):
                    model.learn_one({name: 1.0}, 1)
            elif between == "a refusal":
                with pytest.raises(ValueError, match="inconsistent"):
                    model.partial_fit(X, y[1:])
            model.partial_fit(X, y)
        assert sum(ref() is not None for ref in replaced) == 0
    finally:
        gc.enable()
