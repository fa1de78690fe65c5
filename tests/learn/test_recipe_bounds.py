"""A user's function that leaves an array is refused in one line: at once, or in the round that shows it."""

from __future__ import annotations

import numpy as np
import pytest
from numba import njit

import onmargin as om
from onmargin.errors import BadInput

X = np.random.default_rng(0).normal(size=(40, 4))
Y = (X[:, 0] > 0).astype(int)
LATE = 20  # rounds after which it goes wrong: no trial shows it


@njit
def read(numbers, place):
    return numbers[place]


def step(loss, now, hyper):
    return 0.1 * loss + read(hyper.own, 5_000_000 * (now.clock // LATE))


def space(theta, weights, hyper):
    shift = theta.shape[0] - 6  # (a trial has six)
    for i in range(theta.shape[0]):
        weights[i - 9_000_000 * abs(shift)] = theta[i]


def query(space, now):
    return space.weights[9_000_000 * (now.clock // LATE)] < 1e9


@pytest.mark.parametrize(
    "part", [{"step": step}, {"space": space}, {"query": query}], ids=lambda part: [*part][0]
)
def test_in_the_loop(part):
    model = om.OnlineClassifier(om.Recipe(own=[0.0], **part))
    with pytest.raises(
        BadInput, match=f"one of '{[*part][0]}' reads or writes beyond an array's end"
    ) as caught:
        model.partial_fit(X, Y, classes=[0, 1])
    assert "\n" not in str(caught.value) and model._model is None


def test_in_a_dict():
    model = om.OnlineClassifier(om.Recipe(own=[0.0], step=step), classes=[0, 1])
    with pytest.raises(BadInput, match="beyond an array's end"):
        for row, label in zip(X.tolist(), Y.tolist(), strict=True):
            model.learn_one(dict(enumerate(row)), label)
    assert model.t_ < 40 and np.isfinite(model.coef_).all()


@pytest.mark.parametrize("place", [500, -500, 1])
def test_numbers_that_were_not_given(place):
    def asks(loss, hyper):
        return hyper.own[place] * loss

    with pytest.raises(BadInput, match="the step 'asks' reads or writes beyond an array's end"):
        om.Recipe(step=asks, own=[1.0])


def test_a_helper_is_compiled_of_what_it_sees_now():
    """Numba keeps the machine code of what a helper saw first; on disk it would lie under a wrong name."""
    scope = {"njit": njit, "FACTOR": 1.0}
    exec("@njit\ndef helper(x):\n    return FACTOR * x\ndef rate(loss):\n    return helper(loss)", scope)
    scope["helper"](1.0)
    scope["FACTOR"] = 3.0
    moved = om.OnlineClassifier(om.Recipe(step=scope["rate"]), fit_intercept=False)
    moved.partial_fit([[1.0, 0.0]], [1], classes=[0, 1])
    assert moved.coef_.tolist() == [[3.0, 0.0]]


def test_own_numbers_are_named_where_they_are_missing_and_shown_where_they_are_there():
    def capped(loss, hyper):
        return min(hyper.own[0], loss)

    with pytest.raises(BadInput, match=r"beyond an array's end .*hyper.own has the numbers of Recipe\(own="):
        om.Recipe(step=capped)
    small, large = om.Recipe(step=capped, own=(0.1,)), om.Recipe(step=capped, own=(1.0,))
    assert "own=(0.1,)" in repr(small) and repr(small) != repr(large)
    table = om.sweep(om.OnlineClassifier(small), {"recipe": [small, large]}, X, Y).table
    assert table["recipe"].astype(str).nunique() == 2
