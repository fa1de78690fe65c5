"""No number that is not finite enters a model: a move too far is refused before it is made."""

from __future__ import annotations

import numpy as np
import pytest

import onmargin as om
from onmargin.errors import BadInput, Diverged
from onmargin.interface.state import state_of

from ..soaking import mostly_uncompiled

ROWS = np.array([[5e4, 3e4], [6e4, 2e4]])
REGULARIZERS = ("l2", "pnorm", "entropic", "adagrad", "coin")


def numbers(model):
    """All that a file would hold of its arrays."""
    return {name: array for name, array in state_of(model).arrays.items() if array.dtype.kind == "f"}


@pytest.mark.parametrize("regularizer", mostly_uncompiled(REGULARIZERS, "l2", "adagrad"))
@pytest.mark.parametrize(("classes", "average"), [([0, 1], True), ([0, 1, 2], False)])
def test_an_exponential_loss_on_large_rows(regularizer, classes, average):
    """The loss is finite, its step is not (as an attack found)."""
    model = om.FTRLClassifier(loss="exponential", regularizer=regularizer, average=average)
    model.partial_fit(ROWS[:1], [0], classes=classes)
    before = numbers(model)
    with pytest.raises(Diverged, match="nothing was learned"):
        model.partial_fit(ROWS[1:], [1])
    assert all((array == before[name]).all() for name, array in numbers(model).items())
    assert all(np.isfinite(array).all() for array in before.values()) and model.t_ == 1


@pytest.mark.parametrize(
    ("model", "rows", "labels", "weight"),
    [
        (om.Perceptron(rate=1e300), ROWS, [0, 1], 1.0),
        (om.Perceptron(), ROWS, [0, 1], 9e99),
        (om.Perceptron(dtype="float32"), np.array([[1e39, 1.0], [1.0, 2.0]]), [0, 1], 1.0),
        (om.FTRLClassifier(rate=1e306), ROWS, [0, 1], 1.0),
        (om.Pegasos(), ROWS, [0, 1], 9e99),
        (om.ShiftingPerceptron(), ROWS, [0, 1], 9e99),
        (om.Forgetron(budget=2, kernel="linear"), ROWS, [0, 1], 9e99),
        (om.Perceptron(kernel="linear", dtype="float64"), ROWS, [0, 1], 9e99),
    ],
    ids=lambda value: type(value).__name__,
)
def test_steps_too_long_are_refused(model, rows, labels, weight):
    """By the first row already: there is no model yet, and none is left."""
    with pytest.raises(BadInput, match="nothing was learned"):
        model.partial_fit(rows, labels, classes=[0, 1, 2], sample_weight=[weight, weight])
    assert not model.__sklearn_is_fitted__()


@pytest.mark.parametrize("model", [om.PassiveAggressiveClassifier(), om.AROW(), om.FTRLClassifier()])
def test_a_long_move_within_bounds_is_made(model):
    """The bound is far from any honest step: rows of 1e40 are learned."""
    model.partial_fit(ROWS * 1e35, [0, 1], classes=[0, 1])
    assert model.t_ == 2 and np.isfinite(model.coef_).all()


def test_one_dict_is_held_to_it_too():
    model = om.FTRLClassifier(loss="exponential")
    model.learn_one({"a": 1.0}, 0)
    model.learn_one({"b": 1.0}, 1)
    before = model.coef_
    for label, value in ((1, 6e4), (0, -6e4)):
        with pytest.raises(Diverged):
            model.learn_one({"a": value, "new": 1.0}, label)
    assert (model.coef_ == before).all() and model.n_features_in_ == 2
