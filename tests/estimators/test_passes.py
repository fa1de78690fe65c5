"""Several passes: their order, when they stop, where they start, and the mean of what predicted."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

import onmargin as om

from ..soaking import uncompiled
from ..students import plain, plainly

pytestmark = uncompiled

CLASSIFIERS = [
    om.Perceptron, om.PassiveAggressiveClassifier, om.MIRA, om.AROW, om.SoftConfidenceWeighted,
    om.SecondOrderPerceptron, om.FTRLClassifier,
]  # fmt: skip
LEARNERS = [*CLASSIFIERS, om.PassiveAggressiveRegressor, om.FTRLRegressor, om.PassiveAggressiveUniclass]
every_learner = pytest.mark.parametrize("cls", LEARNERS, ids=lambda cls: cls.__name__)

RANDOM = np.random.default_rng(11)
X = RANDOM.normal(size=(60, 4))
Y = np.where(RANDOM.random(60) < 0.15, 1, 0) ^ (X @ [1.0, -1.0, 0.5, 0.0] > 0)  # a few labels are wrong
THREE = np.digitize(X[:, 0] + 0.2 * X[:, 1], [-0.5, 0.5])


def learner(cls: Any, **parameters: Any) -> Any:
    """Without warnings about convergence unless asked for."""
    return cls(**({"tol": None, "max_iter": 3} | parameters))


@every_learner
def test_the_order_is_drawn_from_random_state(cls: Any) -> None:
    def weights(seed: Any) -> np.ndarray:
        return learner(cls, random_state=seed).fit(X, Y).coef_

    assert np.array_equal(weights(3), weights(3))
    assert not np.array_equal(weights(3), weights(4))
    assert np.array_equal(weights(np.random.RandomState(3)), weights(np.random.RandomState(3)))


@every_learner
def test_without_shuffling_two_passes_are_the_rows_twice(cls: Any) -> None:
    twice = plain(cls, tol=None, shuffle=False, max_iter=2).fit(X, Y)
    known = {"classes": [0, 1]} if cls in CLASSIFIERS else {}
    stream = plain(cls).partial_fit(X, Y, **known).partial_fit(X, Y)
    assert twice.t_ == 120 and twice.n_iter_ == 2
    assert np.array_equal(twice.coef_, stream.coef_)


def passes_by_hand(model: Any, y: Any, most: int, tol: float, patience: int) -> tuple[int, bool]:
    """When the stopping rule ends, and whether the last pass still brought progress."""
    best, stale = np.inf, 0
    for number in range(1, most + 1):
        loss = float(np.mean(om.progressive(model, X, y).losses))
        stale = 0 if loss <= best - tol else stale + 1
        best = min(best, loss)
        if stale == patience:
            return number, False
    return most, stale == 0


@every_learner
@pytest.mark.parametrize("tol, patience", [(1e-3, 2), (1e-2, 1), (0.0, 3), (0.05, 2)])
def test_passes_stop_when_the_loss_has_not_fallen_by_tol(cls: Any, tol: float, patience: int) -> None:
    targets = X @ [1.0, 2.0, 0.0, 1.0] if cls is om.PassiveAggressiveRegressor else Y
    by_hand, falling = passes_by_hand(plain(cls), targets, 12, tol, patience)
    model = plain(cls, shuffle=False, max_iter=12, tol=tol, n_iter_no_change=patience)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.fit(X, targets)
    assert model.n_iter_ == by_hand
    assert model.t_ == 60 * by_hand
    assert [w.category for w in caught] == ([ConvergenceWarning] if falling else [])


@every_learner
def test_without_tol_all_passes_are_made(cls: Any) -> None:
    model = cls(tol=None, max_iter=7).fit(X, np.zeros(60) + Y)
    assert model.n_iter_ == 7 and model.t_ == 7 * 60


def test_a_warning_only_where_the_loss_was_still_falling() -> None:
    hard = om.PassiveAggressiveRegressor(C=1e-4, shuffle=False)  # small steps: it falls for long
    targets = X @ [1.0, 2.0, 3.0, 4.0]
    with pytest.warns(ConvergenceWarning, match="max_iter=3") as caught:
        hard.set_params(max_iter=3).fit(X, targets)
    assert len(caught) == 1 and "\n" not in str(caught[0].message)
    assert caught[0].filename == __file__
    for calm in ({"max_iter": 1}, {"tol": None, "max_iter": 3}, {"tol": 10.0, "max_iter": 3}):
        assert om.PassiveAggressiveRegressor(C=1e-4, **calm).fit(X, targets).n_iter_ <= 3


@every_learner
def test_verbose_shows_one_live_line(cls: Any, capsys: Any) -> None:
    learner(cls, verbose=1).fit(X, Y)
    shown = capsys.readouterr()
    assert shown.out == ""
    assert "\r" in shown.err and "examples/s" in shown.err and "3 passes" in shown.err
    assert shown.err.count("\n") == 1 and shown.err.endswith("\n")  # one line, however many passes
    assert ("error" if cls in CLASSIFIERS else "loss") in shown.err
    learner(cls).fit(X, Y)
    assert capsys.readouterr().err == ""


@every_learner
def test_warm_start_goes_on_from_here(cls: Any) -> None:
    once: dict[str, Any] = {"average": False, "shuffle": False}
    model = learner(cls, warm_start=True, max_iter=1, **once)
    for passes in (1, 2, 3):
        model.fit(X, Y)
        assert model.t_ == 60 * passes
    assert np.array_equal(model.coef_, learner(cls, max_iter=3, **once).fit(X, Y).coef_)
    cold = learner(cls, shuffle=False, max_iter=1).fit(X, Y)
    assert np.array_equal(cold.fit(X, Y).coef_, learner(cls, shuffle=False, max_iter=1).fit(X, Y).coef_)


@pytest.mark.parametrize("cls", [om.Perceptron, om.PassiveAggressiveClassifier, om.MIRA])
@pytest.mark.parametrize("labels", [Y, THREE], ids=["two classes", "three classes"])
def test_given_weights_are_where_it_starts(cls: Any, labels: np.ndarray) -> None:
    once: dict[str, Any] = {"average": False, "shuffle": False, "max_iter": 1, "intercept_scaling": 2.0}
    first = learner(cls, **once).fit(X[:30], labels[:30])
    second = learner(cls, **once).fit(
        X[30:], labels[30:], coef_init=first.coef_, intercept_init=first.intercept_
    )
    whole = learner(cls, **once).fit(X, labels)
    np.testing.assert_allclose(second.coef_, whole.coef_, rtol=1e-12)
    np.testing.assert_allclose(second.intercept_, whole.intercept_, rtol=1e-12)
    assert second.t_ == 30


@every_learner
def test_given_weights_stay_where_nothing_is_learned(cls: Any) -> None:
    start = np.array([[3.0, -2.0, 1.0, 0.5]])
    wide = (om.PassiveAggressiveUniclass, om.PassiveAggressiveRegressor, om.FTRLRegressor)
    quiet = {tolerant: {"epsilon": 1e6} for tolerant in wide}
    quietly = quiet.get(cls, {"fit_intercept": False})
    model = learner(cls, **{**plainly(cls), "average": "auto", **quietly})
    targets = (1e4 * X @ start[0] > 0).astype(int)  # far on the right side: nobody needs to move
    model.fit(X, targets, coef_init=1e4 * start)
    np.testing.assert_allclose(model.coef_, 1e4 * start)


@every_learner
@pytest.mark.parametrize(
    "given",
    [{"coef_init": np.ones((1, 3))}, {"coef_init": np.ones((2, 4))}, {"coef_init": np.full((1, 4), np.nan)},
     {"intercept_init": np.ones(2)}],
    ids=["too few columns", "too many rows", "NaN", "too many intercepts"],
)  # fmt: skip
def test_given_weights_of_another_shape_are_refused(cls: Any, given: Any) -> None:
    with pytest.raises(ValueError) as caught:
        learner(cls).fit(X, Y, **given)
    assert "\n" not in str(caught.value)


@every_learner
@pytest.mark.parametrize("passes", [1, 2])
def test_the_average_is_the_mean_of_the_weights_that_predicted(cls: Any, passes: int) -> None:
    known = {"classes": [0, 1]} if cls in CLASSIFIERS else {}
    stepped = plain(cls)
    total, biases, rounds = np.zeros((1, 4)), np.zeros(1), 0
    for _ in range(passes):
        for row, label in zip(X, Y, strict=True):
            if rounds:
                total, biases = total + stepped.coef_, biases + stepped.intercept_
            stepped.partial_fit(row[None], [label], **known)
            rounds += 1
    averaged = plain(cls, tol=None, average=True, shuffle=False, max_iter=passes).fit(X, Y)
    np.testing.assert_allclose(averaged.coef_, total / rounds, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(averaged.intercept_, biases / rounds, rtol=1e-9, atol=1e-12)
    first = cls(average=True).partial_fit(X[:1], Y[:1], **known)
    assert not first.coef_.any()  # after one round it is still the start


@pytest.mark.parametrize("labels", [Y, THREE], ids=["two classes", "three classes"])
def test_a_random_start_is_the_same_for_arrays_and_dicts(labels: np.ndarray) -> None:
    known = tuple(np.unique(labels).tolist())

    def start(seed: int, **more: Any) -> Any:
        return om.Perceptron(init="random", random_state=seed, classes=known, **more)

    table = start(7).partial_fit(X, labels)
    stream = start(7)
    for row, label in zip(X.tolist(), labels.tolist(), strict=True):
        stream.learn_one({f"f{j}": value for j, value in enumerate(row)}, label)
    np.testing.assert_allclose(stream.coef_, table.coef_, rtol=0, atol=1e-9)
    np.testing.assert_allclose(stream.intercept_, table.intercept_, rtol=0, atol=1e-9)
    assert np.array_equal(table.coef_, start(7).partial_fit(X, labels).coef_)
    assert not np.array_equal(table.coef_, start(8).partial_fit(X, labels).coef_)
    unseen = start(7, intercept_scaling=1.0).partial_fit(X[:1], labels[:1], sample_weight=[0.0])
    assert unseen.coef_.all() and unseen.intercept_.all()


def test_many_new_names_do_not_change_a_random_start() -> None:
    table = om.Perceptron(init="random", random_state=1, classes=(0, 1)).partial_fit(np.eye(40), [0, 1] * 20)
    stream = om.Perceptron(init="random", random_state=1, classes=(0, 1))
    for column in range(40):
        stream.learn_one({f"word {column}": 1.0}, column % 2)
    np.testing.assert_allclose(stream.coef_, table.coef_, rtol=0, atol=1e-9)


@pytest.mark.parametrize("cls", [om.PassiveAggressiveClassifier, om.PassiveAggressiveRegressor])
def test_a_parameter_changed_between_calls_takes_effect(cls: Any) -> None:
    known = {"classes": [0, 1]} if cls in CLASSIFIERS else {}
    row = np.array([[1.0, 0.0, 0.0, 0.0]])
    model = cls(C=1e-3, fit_intercept=False).partial_fit(row, [1], **known)
    assert model.coef_[0, 0] == 1e-3
    model.set_params(C=1e-2).partial_fit(row, [1])
    assert model.coef_[0, 0] == pytest.approx(1.1e-2, abs=1e-15)
    model.set_params(C=1e-1).learn_one({0: 1.0}, 1)
    assert model.coef_[0, 0] == pytest.approx(0.111, abs=1e-15)


@every_learner
def test_float32_weights_are_near_the_float64_ones(cls: Any) -> None:
    once = {"shuffle": False, "max_iter": 1} | ({"rate": 0.01} if cls is om.FTRLRegressor else {})
    small = learner(cls, dtype="float32", **once).fit(X, Y)
    large = learner(cls, **once).fit(X, Y)
    assert small.coef_.dtype == np.float32 and large.coef_.dtype == np.float64
    np.testing.assert_allclose(small.coef_, large.coef_, rtol=1e-3, atol=1e-4)
    assert np.mean(small.predict(X) == large.predict(X)) > 0.95 or not hasattr(cls, "classes_")
