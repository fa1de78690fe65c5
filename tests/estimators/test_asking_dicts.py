"""One dict of a learner that asks goes the short way of the learner inside: as the long way, and alone."""

from __future__ import annotations

import pickle
import threading
import time
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal

import onmargin as om
from onmargin.interface import guard
from onmargin.interface.dicts.streams import BoundStream
from onmargin.interface.feedback.asks import AsksForLabels
from tests.soaking import mostly_uncompiled

PA, Sampler = om.PassiveAggressiveClassifier, om.SelectiveSampler
LEARNERS: dict[str, Any] = {
    "margin": Sampler(PA(), delta=0.7, random_state=0),
    "adaptive": Sampler(om.Perceptron(), rule="adaptive", random_state=1),
    "window": Sampler(PA(average=True), rule="bernoulli", budget=4, window=9, random_state=2),
    "AROW": Sampler(target_rate=0.3, random_state=3),
    "kernel": Sampler(PA(kernel="rbf", gamma=0.5), rule="adaptive", random_state=4),
    "BBQ": om.BBQ(epsilon=0.3),
    "BBQ of numbers": om.BBQRegressor(epsilon=0.3),
}


def example(draw: np.random.Generator, most: int) -> dict[Any, float]:
    """A few of so many names."""
    names = draw.choice(most, min(most, int(draw.integers(1, 6))), replace=False).tolist()
    return {(i if i % 3 else f"n{i}"): 0.2 * float(draw.normal()) for i in names}


def state(model: Any) -> list[Any]:
    """All that a round changes."""
    inner = model._model if hasattr(model, "_model") else model.estimator_._model
    kept = [np.asarray(array).copy() for array in inner.state()[1].values()]
    return [inner.clock, *kept, inner.memory.copy(), model._rule(model.inside()).recent.copy()]


def taken(model: Any, monkeypatch: pytest.MonkeyPatch, short: bool) -> list[bool]:
    """How its rounds go from now on; `short`: they may go the short way."""
    went, fast = list[bool](), AsksForLabels._learn_fast

    def play(x: Any, y: Any) -> bool:
        went.append(short and fast(model, x, y))
        return went[-1]

    def answer(fresh: bool = False) -> Any:
        model.estimator_._stream = None  # all is checked anew
        return AsksForLabels.inside(model, fresh)

    monkeypatch.setitem(model.__dict__, "_learn_fast", play)
    if not short:
        monkeypatch.setitem(model.__dict__, "inside", answer)
    return went


@pytest.mark.parametrize("name", mostly_uncompiled(LEARNERS, "margin"))
def test_the_short_way_is_the_long_way(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Names as they come, labels that are missing, weights, questions, parameters that change in between."""
    draw, numbers = np.random.default_rng(len(name)), "numbers" in name
    first = {"a": 0.5, "b": -0.25}
    models = [LEARNERS[name].clone() for _ in range(2)]
    for model in models:
        model.learn_one(first, 0.5 if numbers else 0)
        model.learn_one(first, -0.5 if numbers else 1)
    went = taken(models[0], monkeypatch, True)
    taken(models[1], monkeypatch, False)
    for t in range(200):
        x, asked = example(draw, 4 + t // 4), example(draw, 8 + t // 4)
        y: Any = float(draw.normal()) if numbers else int(draw.integers(0, 2))
        y = float("nan") if t % 13 == 7 else None if t % 17 == 9 else y
        w = 0.5 if t % 11 == 5 else 1.0
        answers = []
        for model in models:
            answers.append((model.query_one(x), model.predict_one(asked)))
            model.learn_one(x, y, w)
            if t == 90 and "BBQ" in name:
                model.epsilon = 0.2
            elif t == 90:
                model.delta = 0.4
            elif t == 120 and "BBQ" not in name:
                model.estimator_.C = 0.5
        assert answers[0] == answers[1]
        for mine, others in zip(*map(state, models), strict=True):
            assert_array_equal(mine, others)
    assert models[0].n_queries_ == models[1].n_queries_
    assert sum(went) > 100 or not isinstance(models[0].estimator_._stream, BoundStream)
    assert any(went) == (name in ("margin", "adaptive", "window", "AROW"))


def settled(**told: Any) -> Any:
    """A sampler whose rounds go the short way."""
    model = Sampler(PA(), rule="margin", random_state=0, **told)
    for t in range(6):
        model.learn_one({"a": 1.0, "b": float(t)}, t % 2)
    assert model._learn_fast({"a": 1.0, "b": 2.0}, 1)
    return model


def test_a_parameter_that_was_changed_is_looked_at_by_the_next_call() -> None:
    for name, value in (("delta", -1.0), ("rule", "margins"), ("budget", 0.5), ("target_rate", 2.0)):
        for call in ("learn_one", "predict_one", "query_one"):
            model = settled()
            setattr(model, name, value)
            with pytest.raises(om.errors.BadInput, match=f"{name}="):
                getattr(model, call)({"a": 1.0}, *[1][: call == "learn_one"])
    model = settled()
    model.set_params(rule="adaptive")
    moves = model.estimator_._model.asking.counts[3]
    for t in range(4):
        model.learn_one({"a": 5.0}, t % 2)
    assert model._learn_fast({"a": 5.0}, 0)
    assert model.estimator_._model.asking.counts[3] >= moves + 4  # they are counted from now on


def test_a_refused_dict_changes_nothing() -> None:
    model = settled()
    before, names = state(model), model.feature_names_in_.tolist()
    for x, y in (
        ({"a": float("nan")}, 1), ({"new": 1.0, "a": float("inf")}, 1), ({"new": "text"}, 0), ([1.0], 1),
        ({"new": 1.0}, [1]), ({"new": 1.0}, 1.5),
    ):  # fmt: skip
        with pytest.raises((om.errors.OnmarginError, TypeError)):
            model.learn_one(x, y)
        for mine, others in zip(state(model), before, strict=True):
            assert_array_equal(mine, others)
        assert model.feature_names_in_.tolist() == names
    model.learn_one({"new": 1.0}, None)
    assert model.feature_names_in_.tolist() == names and model.t_ == before[0]


def test_questions_leave_the_short_way_and_copies_have_one_of_their_own() -> None:
    model = settled()
    frame = pd.DataFrame({"a": [1.0, 0.0], "b": [0.0, 1.0]})
    assert len(model.predict(frame)) == 2 and model.coef_.size and model.t_ and not model.n_queries_
    assert model._settled() is not None
    for twin in (pickle.loads(pickle.dumps(model)), model.clone(include_attributes=True)):
        assert twin._settled() is None
        for _ in range(3):
            twin.learn_one({"a": 1.0, "c": 3.0}, 1)
        assert twin._settled() is not None and twin.t_ == model.t_ + 3
    model.partial_fit(frame, [0, 1])
    assert model._settled() is None


def test_a_round_waits_for_those_who_read_the_sampler() -> None:
    model = settled()
    lease, clock = guard.Lease(), model.t_
    with model._guard.lock:
        model._guard.let(lease)
    thread = threading.Thread(target=model.learn_one, args=({"a": 1.0, "b": 0.0}, 0))
    thread.start()
    time.sleep(0.05)
    assert thread.is_alive() and model.estimator_._model.clock == clock
    del lease
    thread.join(10)
    assert not thread.is_alive() and model.t_ == clock + 1


def test_learning_from_many_threads_loses_nothing() -> None:
    """Rounds beside calls on arrays and questions, which take the stream away and bring another."""
    model = Sampler(PA(classes=[0, 1]), rule="margin", random_state=0)
    draw = np.random.default_rng(0)
    X, y = draw.normal(size=(8, 6)), draw.integers(0, 2, 8)
    model.partial_fit(X, y)
    broken = list[BaseException]()

    def work(number: int) -> None:
        try:
            for t in range(150):
                if number == 0 and t % 5 == 0:
                    model.partial_fit(X, y)
                elif number == 1:
                    assert model.predict_one({0: 1.0, number: float(t)}) in (0, 1)
                    model.predict(X)
                elif number > 1:
                    model.learn_one({0: 1.0, number: float(t % 7)}, (t + number) % 2)
        except BaseException as error:
            broken.append(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not broken and model.t_ == 8 + 30 * 8 + 2 * 150
