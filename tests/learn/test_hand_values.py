"""Values small enough for pencil and paper: no constant coordinate, a zero start."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

import onmargin as om
from onmargin.compiled.parts import plain
from onmargin.learn.tasks import classes
from onmargin.learn.vocabulary import REMEMBERED, hyper_of

from ..soaking import either, uncompiled

EXACT = {"rtol": 1e-12, "atol": 1e-14}
SIDES = (-1, 1)


def classifier(step, C=1.0, classes=SIDES, **more):
    return om.PassiveAggressiveClassifier(
        step=step, C=C, classes=classes, fit_intercept=False, average=False, **more
    )


def after_one(model, x, y, start=None):
    """The coefficients after one round from the given start."""
    model.set_params(max_iter=1, tol=None, shuffle=False)
    return model.fit(np.atleast_2d(np.asarray(x, float)), [y], coef_init=start).coef_


def test_pa_two_rounds():
    run = om.progressive(classifier("pa"), np.array([[3.0, 4.0], [1.0, 0.0]]), np.array([1, -1]))
    assert_allclose(run.steps, [0.04, 1.12], **EXACT)
    assert_allclose(run.losses, [1.0, 1.12], **EXACT)
    assert_allclose(run.scores, [0.0, 0.12], **EXACT)
    assert_allclose(run.model.coef_, [[-1.0, 0.16]], **EXACT)
    assert_allclose(after_one(classifier("pa"), [3, 4], 1), [[0.12, 0.16]], **EXACT)


def test_pa1_is_capped():
    run = om.progressive(classifier("pa1", C=0.01), np.array([[3.0, 4.0]]), np.array([1]), classes=SIDES)
    assert_allclose(run.steps, [0.01], **EXACT)
    assert_allclose(run.model.coef_, [[0.03, 0.04]], **EXACT)


def test_pa2_pays_squared_slack():
    run = om.progressive(classifier("pa2"), np.array([[3.0, 4.0]]), np.array([1]), classes=SIDES)
    assert_allclose(run.steps, [1 / 25.5], **EXACT)
    assert_allclose(run.model.coef_, [[3 / 25.5, 4 / 25.5]], **EXACT)


def test_regression():
    model = om.PassiveAggressiveRegressor(step="pa", epsilon=0.1, fit_intercept=False)
    run = om.progressive(model, np.array([[1.0, 2.0]]), np.array([1.0]))
    assert_allclose(run.steps, [0.18], **EXACT)
    assert_allclose(model.coef_, [[0.18, 0.36]], **EXACT)


@pytest.mark.parametrize(("step", "center"), [("pa", (2.4, 3.2)), ("pa2", (1.6, 32 / 15))])
def test_uniclass(step, center):
    model = om.PassiveAggressiveUniclass(step=step, C=1.0, epsilon=1.0).partial_fit([[3.0, 4.0]])
    assert_allclose(model.center_, center, **EXACT)
    assert model.radius_ == 1.0


def test_learned_radius():
    model = om.PassiveAggressiveUniclass(step="pa", max_radius=2.0)
    assert model.partial_fit([[3.0, 4.0]], sample_weight=[0.0]).radius_ == 0.0
    model.partial_fit([[3.0, 4.0]])
    assert_allclose(model.center_, [1.8858280, 2.5144373], atol=5e-8)
    assert_allclose(model.radius_, 1.8569534, atol=5e-8)
    assert_allclose(np.sqrt(4.0 - model.radius_**2), 0.7427814, atol=5e-8)  # omega


def test_multiclass_pa_takes_the_lowest_of_equal_rivals():
    run = om.progressive(
        classifier("pa", classes=(0, 1, 2)), np.array([[1.0, 1.0]]), np.array([0]), classes=(0, 1, 2)
    )
    assert_allclose(run.steps, [0.25], **EXACT)
    assert_allclose(run.model.coef_, [[0.25, 0.25], [-0.25, -0.25], [0.0, 0.0]], **EXACT)


@uncompiled
@pytest.mark.parametrize("count", [2, 3, 4, 7, 10, 16, 17])
def test_the_rival_is_the_lowest_of_the_best_others(count):
    """Scores with many ties, wherever the true class is; padding beyond the classes is none."""
    draw, hyper = np.random.default_rng(count), hyper_of({}, count, np.zeros(REMEMBERED))
    for _ in range(either(40, 2000)):
        scores = np.r_[draw.integers(-3, 4, count).astype(float), np.full(7, 9.0)]
        for true in range(count):
            others = np.where(np.arange(count) == true, -np.inf, scores[:count])
            assert plain(classes.rival)(scores, true, hyper) == np.argmax(others)
    pull = np.full(24, 5.0)
    margin = plain(classes.against)(scores, 1, 0, pull)
    assert margin == scores[1] - scores[0] and pull.tolist() == [-1.0, 1.0] + [0.0] * 22


@pytest.mark.parametrize(
    ("C", "expected"), [(np.inf, (0.75, -0.25, -0.25, -0.25)), (0.3, (0.3, -0.1, -0.1, -0.1))]
)
def test_mira_shares_equally(C, expected):
    x = np.array([0.6, 0.8])
    model = om.MIRA(C=C, classes=range(4), fit_intercept=False, average=False)
    assert_allclose(after_one(model, x, 0), np.outer(expected, x), **EXACT)


@pytest.mark.parametrize(("C", "expected"), [(np.inf, (1.0, -1.0, 0.0, 0.0)), (0.5, (0.5, -0.5, 0.0, 0.0))])
def test_mira_serves_the_worst_violation_first(C, expected):
    """Violations b = (2, 1, .2): the scores of the rivals are b - 1 and that of the true class 0."""
    x = np.array([0.6, 0.8])
    start = np.outer([0.0, 1.0, 0.0, -0.8], x)
    model = om.MIRA(C=C, classes=range(4), fit_intercept=False, average=False)
    assert_allclose(after_one(model, x, 0, start) - start, np.outer(expected, x), **EXACT)


def test_pa2_mira_shares_equally():
    """K = 4, C = 1/2, |x| = 1: kappa = 1, a = 2 * 3 / (1 + 3 * 2) = 6/7, so 1/7 for each rival."""
    x = np.array([0.6, 0.8])
    model = classifier("pa2", C=0.5, classes=range(4), update="all")
    assert_allclose(after_one(model, x, 0), np.outer([3 / 7, -1 / 7, -1 / 7, -1 / 7], x), **EXACT)


@pytest.mark.parametrize("covariance", ["diag", "full"])
def test_arow(covariance):
    """mu = (.5, 0); that Sigma = diag(.5, 1) shows in the next steps: 1/3 along x_1, 1/2 along x_2."""
    model = om.AROW(r=1.0, covariance=covariance, fit_intercept=False)
    run = om.progressive(model, np.array([[1.0, 0.0]]), np.array([1]), classes=SIDES)
    assert_allclose(run.steps, [0.5], **EXACT)
    assert_allclose(model.coef_, [[0.5, 0.0]], **EXACT)
    run = om.progressive(model, np.array([[1.0, 0.0], [0.0, 1.0]]), np.array([1, 1]))
    assert_allclose(run.steps, [1 / 3, 1 / 2], **EXACT)
    assert_allclose(model.coef_, [[0.5 + 1 / 6, 0.5]], **EXACT)


@pytest.mark.parametrize("covariance", ["diag", "full"])
def test_second_order_perceptron(covariance):
    """One mistake at x = (1, 0) with a = 1: P = diag(.5, 1), w = (.5, 0); then p = .5 / (1 + .5) = 1/3."""
    model = om.SecondOrderPerceptron(covariance=covariance, fit_intercept=False)
    run = om.progressive(model, np.array([[1.0, 0.0], [1.0, 0.0]]), np.array([1, 1]), classes=SIDES)
    assert_allclose(run.scores, [0.0, 1 / 3], **EXACT)
    assert_allclose(model.coef_, [[0.5, 0.0]], **EXACT)


def test_perceptron():
    """Two mistakes of three: a score of 0 counts, a correct side does not."""
    model = om.Perceptron(rate=2.0, fit_intercept=False)
    X = np.array([[1.0, 0.0], [1.0, 1.0], [1.0, -3.0]])
    run = om.progressive(model, X, np.array([1, 1, -1]))
    assert_allclose(run.scores, [0.0, 2.0, 2.0], **EXACT)
    assert_allclose(model.coef_, [[0.0, 6.0]], **EXACT)
    assert (run.mistakes, run.errors_theory) == (1, 2)  # the label emitted at 0 is +1
