"""Recipes of our parts are our learners; recipes of the user's functions compute what these say."""

from __future__ import annotations

import math
import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

import onmargin as om

from ..soaking import uncompiled
from ..students import PLAIN, stream

EXACT = {"rtol": 1e-12, "atol": 1e-12}
FEW = om.Recipe(loss="mistake", step="constant")


def hinge(step, space="l2", task="classification"):
    return om.Recipe(task, loss="hinge", step=step, space=space)


# What a recipe is told, and the learner it equals.
IDENTITIES = {
    "Perceptron": (FEW, {"rate": 0.6}, om.Perceptron(rate=0.6)),
    "PA": (hinge("pa"), {"margin": 0.8}, om.PassiveAggressiveClassifier(step="pa", margin=0.8)),
    "PA-I": (hinge("pa1"), {"C": 0.3}, om.PassiveAggressiveClassifier(step="pa1", C=0.3)),
    "PA-II": (hinge("pa2"), {"C": 0.3}, om.PassiveAggressiveClassifier(step="pa2", C=0.3)),
    "Pegasos": (hinge("unit", "shrunk"), {"lam": 0.1}, om.Pegasos(lam=0.1)),
    "AROW": (hinge("pa2", "confidence"), {"C": 1 / 3.4}, om.AROW(r=1.7)),
    "AROW full": (hinge("pa2", "covariance"), {"C": 1 / 3.4}, om.AROW(r=1.7, covariance="full")),
}


def run_both(name, model, expected, dense):
    """Both learn the stream with its weights; scores, steps, weights are the same."""
    X, y, h = stream(name)
    table = X if dense else sp.csr_matrix(X)
    runs = [om.progressive(learner, table, y, sample_weight=h) for learner in (model, expected)]
    for what in ("scores", "losses", "steps"):
        assert_allclose(getattr(runs[0], what), getattr(runs[1], what), **EXACT, err_msg=what)
    assert_allclose(model.coef_, expected.coef_, **EXACT)
    assert_allclose(model.intercept_, expected.intercept_, **EXACT)
    assert 0 < runs[0].updates < len(X)


@uncompiled
@pytest.mark.parametrize("dense", [True, False], ids=["dense", "csr"])
@pytest.mark.parametrize("problem", ["binary", "top"])
@pytest.mark.parametrize("name", IDENTITIES)
def test_recipe_equals_the_learner(name, problem, dense):
    recipe, numbers, expected = IDENTITIES[name]
    expected = expected.clone().set_params(average=True)
    run_both(f"pa1.{problem}", om.OnlineClassifier(recipe, average=True, **numbers), expected, dense)


@uncompiled
@pytest.mark.parametrize("step", ["pa", "pa1", "pa2"])
def test_recipe_for_numbers_equals_the_learner(step):
    recipe = om.Recipe("regression", loss="epsilon_insensitive", step=step)
    model = om.OnlineRegressor(recipe, C=0.3, epsilon=0.2)
    run_both("pa1.regression", model, om.PassiveAggressiveRegressor(step=step, C=0.3, epsilon=0.2), True)


@uncompiled
def test_other_tasks_equal_their_learners():
    """One against all (Pegasos), and the Perceptron that shares its step among all rivals."""
    apart = om.OnlineClassifier(hinge("unit", "shrunk", "one_vs_all"), lam=0.1)
    run_both("pa1.top", apart, om.Pegasos(lam=0.1, multiclass="one_vs_all", average=False), True)
    uniform = om.OnlineClassifier(om.Recipe("uniform", loss="mistake"), rate=0.6)
    run_both("pa1.top", uniform, om.Perceptron(rate=0.6, update="uniform"), True)


# ---- the user's functions


def smooth(margin, required):
    """The squared hinge; for numbers the squared distance beyond epsilon."""
    gap = max(required - margin, 0.0)
    return gap * gap, 2.0 * gap


def slow(slope, now):
    """A rate that falls as 1 / t; a step that wants two of its seven arguments."""
    return 0.3 * now.weight * slope / now.clock


def capped(hyper, size, loss, now):
    """PA-I, its arguments in another order."""
    return min(now.weight * hyper.C, loss / size)


def scaled(theta, weights, hyper):
    """w = own[0] theta, and a step that reads own[1]."""
    for i in range(theta.shape[0]):
        weights[i] = hyper.own[0] * theta[i]


def by_own(slope, now, hyper):
    return hyper.own[1] * now.weight * slope


def three_norm(theta, weights):
    """The map of g = |w|_{3/2}^2: w_i = sign(theta_i) |theta_i|^2 / (2 |theta|_3)."""
    total = 0.0
    for i in range(theta.shape[0]):
        total += abs(theta[i]) ** 3
    for i in range(theta.shape[0]):
        weights[i] = 0.5 * theta[i] * abs(theta[i]) / total ** (1 / 3) if total > 0.0 else 0.0


def three_halves(w):
    """g = |w|_{3/2}^2"""
    return (np.abs(w) ** 1.5).sum() ** (4 / 3)


@pytest.mark.parametrize("problem", ["binary", "top"])
def test_own_loss_for_classes(problem):
    """The squared hinge, written by hand, is ours."""
    own = om.OnlineClassifier(om.Recipe(loss=smooth, step="sqrt"), rate=0.2, average=True)
    ours = om.OnlineClassifier(om.Recipe(loss="squared_hinge", step="sqrt"), rate=0.2, average=True)
    run_both(f"pa1.{problem}", own, ours, True)


def test_own_loss_for_numbers():
    """theta += rate 2 [|y - s| - epsilon]_+ sign(y - s) x, by hand."""
    X, y, h = stream("pa1.regression")
    model = om.OnlineRegressor(om.Recipe("regression", loss=smooth), rate=0.05, epsilon=0.2)
    run = om.progressive(model, X, y, sample_weight=h)
    w = np.zeros(X.shape[1] + 1)
    for row, target, weight, score, loss in zip(X, y, h, run.scores, run.losses, strict=True):
        x = np.r_[row, 1.0]
        gap = target - w @ x
        assert_allclose(score, w @ x, **EXACT)
        far = max(abs(gap) - 0.2, 0.0)
        assert_allclose(loss, far**2 if weight > 0 else 0.0, **EXACT)
        w += 0.05 * weight * 2 * far * np.sign(gap) * x
    assert_allclose(np.r_[model.coef_[0], model.intercept_], w, **EXACT)


def test_own_step_by_hand():
    X, y, h = stream("pa1.binary")
    model = om.OnlineClassifier(om.Recipe(loss="hinge", step=slow), **PLAIN)
    om.progressive(model, X, y, sample_weight=h)
    w, t = np.zeros(X.shape[1] + 1), 0
    for row, label, weight in zip(X, y, h, strict=True):
        x, side = np.r_[row, 1.0], 1 if label == "yes" else -1
        t += weight > 0
        if side * (w @ x) < 1:
            w += 0.3 * weight / max(t, 1) * side * x
    assert_allclose(np.r_[model.coef_[0], model.intercept_], w, **EXACT)


def test_own_step_that_is_ours():
    own = om.OnlineClassifier(om.Recipe(step=capped), C=0.3)
    run_both("pa1.binary", own, om.PassiveAggressiveClassifier(C=0.3), True)


def test_own_numbers_reach_step_and_space():
    """w = 2 theta with steps of 0.15 is w = theta with steps of 0.3; the numbers are no part of the code."""
    X, y, h = stream("pa1.binary")
    recipe = om.Recipe(step=by_own, space=scaled, own=[2.0, 0.15])
    own = om.OnlineClassifier(recipe, average=True)
    run = om.progressive(own, X, y, sample_weight=h)
    ours = om.FTRLClassifier(rate=0.3, regularizer="l2", average=True)
    expected = om.progressive(ours, X, y, sample_weight=h)
    assert_allclose(run.scores, expected.scores, **EXACT)
    assert_allclose(own.coef_, ours.coef_, **EXACT)
    other = om.Recipe(step=by_own, space=scaled, own=[4.0, 0.15])
    assert other != recipe and other.row("binary").learner() is recipe.row("binary").learner()
    twice = om.progressive(om.OnlineClassifier(other), X, y, sample_weight=h)
    assert not np.allclose(twice.scores, run.scores)


@pytest.mark.parametrize("space", [three_norm, (three_norm, three_halves)], ids=["map", "map and g"])
@pytest.mark.parametrize("problem", ["binary", "top"])
def test_own_space(space, problem):
    """The p-norm map of p = 3/2, written by hand (a = 1/2 = p - 1), is ours."""
    own = om.OnlineClassifier(om.Recipe(space=space), rate=0.4, average=True)
    ours = om.FTRLClassifier(regularizer="pnorm", p=1.5, rate=0.4, average=True)
    run_both(f"pa1.{problem}", own, ours, True)


# ---- in scikit-learn's hands


def test_pickled_in_mid_stream_it_goes_on():
    X, y, _ = stream("pa1.binary")
    model = om.OnlineClassifier(
        om.Recipe(loss=smooth, step="sqrt"), rate=0.2, average=True, classes=("no", "yes")
    )
    twin = pickle.loads(pickle.dumps(model.partial_fit(X[:30], y[:30])))
    assert twin.recipe == model.recipe and repr(twin) == repr(model)
    for learner in (model, twin):
        learner.partial_fit(X[30:], y[30:])
    assert_array_equal(twin.coef_, model.coef_)
    assert_array_equal(twin.decision_function(X), model.decision_function(X))


def test_clone_keeps_the_recipe_and_forgets_the_weights():
    X, y, _ = stream("pa1.binary")
    model = om.OnlineClassifier(om.Recipe(step=capped), C=0.3, random_state=0).fit(X, y)
    twin = clone(model)
    assert twin.recipe == model.recipe and twin.C == 0.3 and not hasattr(twin, "classes_")
    assert_array_equal(twin.fit(X, y).coef_, model.coef_)
    assert "capped" in repr(twin) and hash(twin.recipe) == hash(model.recipe)
    assert twin.recipe != om.Recipe(step=slow)


def test_grid_search_over_a_recipe():
    """C is a parameter like any other; the best model is that of its C."""
    X, y, _ = stream("pa1.binary", rows=120)
    model = om.OnlineClassifier(om.Recipe(step=capped), random_state=0, max_iter=3, tol=None)
    search = GridSearchCV(model, {"C": [1e-3, 0.1, 1.0]}, cv=3).fit(X, y)
    assert len(set(search.cv_results_["mean_test_score"])) > 1
    assert_array_equal(
        search.best_estimator_.coef_, clone(model).set_params(**search.best_params_).fit(X, y).coef_
    )
    recipes = {"recipe": [om.Recipe(step=capped), om.Recipe(step="pa1")]}
    scores = GridSearchCV(model, recipes, cv=3).fit(X, y).cv_results_["mean_test_score"]
    assert math.isclose(scores[0], scores[1])
