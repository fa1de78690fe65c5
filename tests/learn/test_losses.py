"""Every loss against its formula, its slope against the numeric derivative, at the extremes too.

A loss gives (value, slope), the slope being minus the derivative by the margin m: 0 is passive.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.special import expit

from onmargin.compiled.parts import plain
from onmargin.learn import losses
from onmargin.models.recipe import LOSSES as ALL_LOSSES
from onmargin.models.table import LOSSES

MARGINS = np.r_[np.linspace(-4, 4, 161), -40.0, 40.0]
FAR = (-800.0, 800.0)

# The table of losses: value and minus the derivative by the margin, r being the margin asked for.
VALUE = {
    "mistake": lambda m, r: float(m <= 0),
    "perceptron": lambda m, r: max(0.0, -m),
    "hinge": lambda m, r: max(0.0, r - m),
    "squared_hinge": lambda m, r: max(0.0, r - m) ** 2,
    "logistic": lambda m, r: np.logaddexp(0, -m),
    "exponential": lambda m, r: np.exp(min(-m, 700.0)),
    "squared": lambda m, r: (r - m) ** 2 / 2,
    "watchful": lambda m, r: max(0.0, r - m),
    "always": lambda m, r: float(m <= 0),
}
SLOPE = {
    "mistake": lambda m, r: float(m <= 0),
    "perceptron": lambda m, r: float(m <= 0),  # at 0 as on a mistake
    "hinge": lambda m, r: float(m < r),
    "squared_hinge": lambda m, r: 2 * max(0.0, r - m),
    "logistic": lambda m, r: expit(-m),
    "exponential": lambda m, r: np.exp(min(-m, 700.0)),
    "squared": lambda m, r: r - m,
    "watchful": lambda m, r: 1.0,
    "always": lambda m, r: 1.0,
}
DIFFERENTIABLE = ("perceptron", "hinge", "squared_hinge", "logistic", "exponential", "squared")


def loss_named(name):
    return plain(getattr(losses, name))


def test_every_loss_that_can_be_named_is_here():
    named = {plain(loss).__name__ for loss in ALL_LOSSES.values()}
    assert named <= set(VALUE) and set(LOSSES) <= set(ALL_LOSSES)


@pytest.mark.parametrize("name", sorted(VALUE))
@pytest.mark.parametrize("required", [1.0, 0.3, 0.0, -0.2])
def test_value_and_slope_are_those_of_the_table(name, required):
    loss = loss_named(name)
    for m in (*MARGINS.tolist(), required, 0.0, *FAR):
        value, slope = loss(m, required)
        assert value == pytest.approx(VALUE[name](m, required), rel=1e-14, abs=1e-300), m
        assert slope == pytest.approx(SLOPE[name](m, required), rel=1e-14, abs=1e-300), m


@pytest.mark.parametrize("name", DIFFERENTIABLE)
@pytest.mark.parametrize("required", [1.0, -0.2])
def test_slope_is_minus_the_derivative(name, required):
    """Central differences, away from the corner of the loss."""
    loss, near = loss_named(name), 1e-6
    corner = 0.0 if name == "perceptron" else required
    for m in np.linspace(-3.01, 3.03, 50).tolist():
        if abs(m - corner) > 2 * near:
            fall = (loss(m - near, required)[0] - loss(m + near, required)[0]) / (2 * near)
            assert loss(m, required)[1] == pytest.approx(fall, rel=1e-6, abs=1e-7)


@pytest.mark.parametrize("name", DIFFERENTIABLE)
def test_slope_is_a_subgradient(name):
    """Convex: no loss lies below any of its tangents, those at the corners included."""
    loss = loss_named(name)
    points = np.r_[np.linspace(-3, 3, 25), 0.0, 1.0].tolist()
    for m in points:
        value, slope = loss(m, 1.0)
        for other in points:
            assert loss(other, 1.0)[0] >= value - slope * (other - m) - 1e-12


@pytest.mark.parametrize("number", [-2.0, 0.3, 0.7, 0.75, 1.0, 5.0])
@pytest.mark.parametrize("score", [-1.0, 0.0, 0.75, 1.5])
def test_losses_of_numbers(number, score):
    """The margin of a number is -|y - s|, and -epsilon is asked for; the pull is towards y."""
    gap = number - score
    value, slope = loss_named("hinge")(-abs(gap), -0.1)
    assert value == pytest.approx(max(0.0, abs(gap) - 0.1), abs=1e-15)
    assert slope == float(abs(gap) > 0.1)
    value, slope = loss_named("squared")(-abs(gap), 0.0)
    assert (value, slope) == (pytest.approx(gap**2 / 2), abs(gap))


@pytest.mark.parametrize("name", ["hinge", "squared_hinge", "exponential", "logistic"])
def test_losses_lie_above_the_mistakes(name):
    """1[m <= 0] <= hinge, squared hinge, exponential, log2(1 + e^-m)."""
    loss, unit = loss_named(name), math.log(2) if name == "logistic" else 1.0
    for m in (*MARGINS.tolist(), 0.0, -0.0, 1e-300, -1e-300, *FAR):
        assert loss(m, 1.0)[0] / unit >= float(m <= 0)


@pytest.mark.parametrize("name", sorted(VALUE))
def test_extreme_margins_are_finite(name):
    """e^800 is no number: the exponential stays at e^700, the logistic loss is 800 there."""
    loss = loss_named(name)
    for m in FAR:
        assert all(map(math.isfinite, loss(m, 1.0)))
    if name == "logistic":
        assert loss(-800.0, 1.0) == (800.0, 1.0)
        assert 0 <= loss(800.0, 1.0)[0] <= 1e-300
    if name == "exponential":
        assert loss(-800.0, 1.0) == loss(-700.0, 1.0) == (math.exp(700), math.exp(700))
