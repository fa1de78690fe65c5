"""One dict is answered by the average kept as by the scores of the long way, and as the weights shown say."""

from __future__ import annotations

import pickle
import threading
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.base import clone

import onmargin as om
from onmargin.interface.dicts.in_place import PairedStream
from onmargin.interface.dicts.streams import BoundStream, Stream
from onmargin.models.table import Row

from ..soaking import mostly_uncompiled

PA, Pegasos, FTRL = om.PassiveAggressiveClassifier, om.Pegasos, om.FTRLClassifier

KEPT: dict[str, Any] = {
    "PA": PA(average=True, intercept_scaling=1.0),
    "PA, float32": PA(average=True, dtype="float32", C=0.3, fit_intercept=False),
    "AROW": om.AROW(average=True, r=1.0),
    "second order": om.SecondOrderPerceptron(average=True),
    "coin": FTRL(regularizer="coin", loss="logistic", average=True, intercept_scaling=1.0),
    "Pegasos, half": Pegasos(lam=0.1),
    "Pegasos, all": Pegasos(lam=0.1, average=True, batch_size=3),
    "Pegasos, free": Pegasos(lam=0.1, average=0.3, fit_intercept="free"),
    "paired": om.PairedClassifier(average=True, rule="max_violators", random_state=0, reservoir=5),
}
EVERY = {"PA", "Pegasos, half"}  # also with more than two labels, where rows lie side by side


def example(draw: np.random.Generator, most: int) -> dict[Any, float]:
    """A few of so many names, of several kinds."""
    names = draw.choice(most, min(most, int(draw.integers(0, 6))), replace=False).tolist()
    return {(i if i % 3 else f"n{i}"): float(draw.normal()) for i in names}


def shown(model: Any, x: dict[Any, float]) -> list[float]:
    """The scores of the weights that it shows."""
    known = model._columns.slots
    met = [(known[name], value) for name, value in x.items() if name in known]
    return [
        float(b + sum(w[slot] * value for slot, value in met))
        for w, b in zip(model.coef_, model.intercept_, strict=True)
    ]


def compare(model: Any, x: dict[Any, float], near: float | None) -> bool:
    """The short way beside the long one; did it know better than the weights of the last round?"""
    answer, stream = model.predict_one(x), model._stream
    assert stream.answers and stream.answer.__name__ == "answer"  # (not `answer_slowly`)
    assert answer == Stream.answer_any(stream, x)
    found, scores = stream.decided(x)
    assert found == answer
    assert_allclose(scores, Stream.decided(stream, x)[1], rtol=1e-12, atol=1e-12)
    if near is not None:
        assert_allclose(scores, shown(model, x), rtol=near, atol=near)
    running, done = model._model.scores(stream.row_for(x), 1, False)
    assert done
    return bool(answer != model._targets().named_one(running))


@pytest.mark.parametrize("labels", [2, 4])
@pytest.mark.parametrize("name", mostly_uncompiled(KEPT, "PA", "Pegasos, half", "coin"))
def test_the_short_way_is_the_long_way(name: str, labels: int) -> None:
    """Names and labels come as they like, also names that are only asked for; pickled now and then."""
    if labels > 2 and name not in EVERY:
        return
    draw, model, other = np.random.default_rng(labels), clone(KEPT[name]), 0
    near = None if name == "second order" else 1e-5 if "32" in name else 1e-9  # (its scores are not linear)
    for t in range(250):
        x, y = example(draw, 4 + t // 4), int(draw.integers(0, min(labels, 1 + t // 3)))
        model.learn_one(x, f"label {y}", 0.5 if t % 11 == 0 else 1.0)
        other += compare(model, example(draw, 8 + t // 3), near)
        if t % 60 == 59:
            model = pickle.loads(pickle.dumps(model))
            other += compare(model, x, near)
    assert other > 1


def test_it_goes_on_after_tables_and_refusals() -> None:
    draw, model = np.random.default_rng(5), PA(average=True, intercept_scaling=1.0)
    X, y = draw.normal(size=(40, 6)), draw.integers(0, 3, 40)
    model.partial_fit(X, y, classes=[0, 1, 2])
    for t in range(30):
        x = dict(enumerate(draw.normal(size=6).tolist()))
        compare(model, x, 1e-9)
        with pytest.raises(om.errors.BadInput, match="nan"):
            model.predict_one(x | {2: float("nan")})
        model.learn_one(x, t % 3)
        assert model.predict_one(x) == model.predict(np.array([[*x.values()]]))[0]
        model.partial_fit(X[t : t + 3], y[t : t + 3])
        assert model.predict_one(x) == model.predict(np.array([[*x.values()]]))[0]
    held = model.predict_one
    model.average = False  # it goes on from the weights of the last round
    with pytest.raises(om.errors.BadInput, match="average"):
        held(x)


def test_sets_numbers_and_balls_have_the_long_way() -> None:
    sets, number, ball = (
        made(average=True) for made in (PA, om.PassiveAggressiveRegressor, om.PassiveAggressiveUniclass)
    )
    for t in range(20):
        x = {"a": float(t % 3), "b": -1.0}
        sets.learn_one(x, {"u": t % 3 > 0, "v": t % 2 > 0})
        number.learn_one(x, float(t % 3))
        ball.learn_one(x)
    assert sets._stream.answers is None and number._stream.answers is None
    mean = sets.predict_one(x)
    assert list(mean) == ["u", "v"] and mean["u"] is True
    assert_allclose(number.predict_one(x), shown(number, x)[0])
    assert ball._stream._entries().spelled and not ball._stream.answers


@pytest.mark.parametrize("average", [False, True])
def test_only_one_of_the_two_guesses_is_compiled(average: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(row: Row) -> None:
        raise AssertionError("it is not asked for")

    monkeypatch.setattr(Row, "single" if average else "mean_single", refuse)
    for model, kind in (
        (PA(average=average), BoundStream),
        (om.PairedClassifier(average=average), PairedStream),
    ):
        for t in range(4):
            model.learn_one({"a": 1.0, "b": float(t)}, t % 2)
        assert model.predict_one({"a": 1.0}) in (0, 1) and type(model._stream) is kind


@pytest.mark.parametrize("width", [2, 4000])  # calls on a copy; calls into the model's own arrays
def test_whoever_asks_meanwhile_is_answered_by_the_average_after_a_whole_call(width: int) -> None:
    """All answers are by means that there were; the weights of the last round say something else."""
    X, y = np.zeros((12, width)), np.array([1] * 9 + [0] * 3)
    X[:, 0] = 1.0
    x, made = {0: 1.0}, PA(average=True, fit_intercept=False)
    model = made.clone().partial_fit(X, y, classes=[0, 1])
    alone = made.clone().partial_fit(X, y, classes=[0, 1])

    def call(learner: Any, number: int) -> None:
        if number % 2:
            learner.learn_one(x, 1)
            learner.learn_one(x, 0)
        else:
            learner.partial_fit(X, y)

    means = {alone.decide_one(x)[1][1]}
    for number in range(100):
        if number % 2:
            alone.learn_one(x, 1)
            means.add(alone.decide_one(x)[1][1])
            alone.learn_one(x, 0)
        else:
            call(alone, number)
        means.add(alone.decide_one(x)[1][1])
        assert alone.coef_[0, 0] > 0 > alone._model.space.weights[0]
    answers, scores, over = set[int](), set[float](), threading.Event()

    def ask() -> None:
        while not over.is_set():
            answers.add(model.predict_one(x))
            scores.add(model.decide_one(x)[1][1])

    threads = [threading.Thread(target=ask) for _ in range(2)]
    for thread in threads:
        thread.start()
    for number in range(100):
        call(model, number)
    over.set()
    for thread in threads:
        thread.join()
    assert answers == {1} and scores and scores <= means
    assert model.decide_one(x) == alone.decide_one(x)
