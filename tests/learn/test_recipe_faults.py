"""Faults that recipes once had."""

from __future__ import annotations

import math
import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose

import onmargin as om
from onmargin.errors import BadInput
from onmargin.protocols.saving.portable import source_mark

from ..students import stream

X, Y, _ = stream("pa1.binary")
CLASSES = ("no", "yes")


def refused(call):
    with pytest.raises(BadInput) as error:
        call()
    assert "\n" not in str(error.value)


# ---- numbers


def test_the_simplex_far_below_zero():
    """theta = (-2000, -1000): all weight is on the second column, and the round is a mistake."""
    options = {"regularizer": "entropic", "signed": False, "rate": 1000.0, "fit_intercept": False}
    model = om.FTRLClassifier(classes=(0, 1), **options)
    run = om.progressive(model, np.array([[1.0, 0], [1, 0], [0, 1], [0, 1]]), np.zeros(4, int))
    assert_allclose(run.scores, [0.5, 0.0, 1.0, 1.0])
    assert_allclose(run.losses, [1.5, 1.0, 2.0, 2.0])


def test_the_group_norm_of_short_rows():
    """One column a group: for two classes the group norm is the p-norm, at any scale."""
    runs = []
    for space in ("pnorm", "group"):
        model = om.OnlineClassifier(om.Recipe(step="aggressive", space=space), p=1.01, fit_intercept=False)
        runs.append(om.progressive(model, 1e-4 * X, Y))
    assert_allclose(runs[1].steps, runs[0].steps, rtol=1e-9)


def exponentiated(theta, weights):
    """EG+- of radius 1."""
    total = 0.0
    for i in range(theta.shape[0]):
        total += math.cosh(theta[i])
    for i in range(theta.shape[0]):
        weights[i] = math.sinh(theta[i]) / total


@pytest.mark.parametrize(("problem", "intercept"), [("binary", False), ("top", True)])
def test_own_map_that_binds_all_coordinates(problem, intercept):
    """theta has as many entries as there are weights: no constant coordinate, no spare classes."""
    table, labels, _ = stream(f"pa1.{problem}")
    own = om.OnlineClassifier(om.Recipe(space=exponentiated), fit_intercept=intercept)
    ours = om.FTRLClassifier(regularizer="entropic", fit_intercept=intercept)
    runs = [om.progressive(model, table, labels) for model in (own, ours)]
    assert_allclose(runs[0].scores, runs[1].scores, rtol=1e-9, atol=1e-9)


def test_pegasos_that_has_not_moved_yet():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = om.Pegasos(fit_intercept=False).partial_fit([[0.0, 0.0]], [1], classes=[0, 1])
        assert not model.coef_.any()


def test_soft_recipe_refuses_an_average():
    model = om.OnlineClassifier(om.Recipe(space="soft"), l1=0.1, average=True, classes=CLASSES)
    refused(lambda: model.partial_fit(X, Y))


# ---- refusals


def halved(theta, weights):
    for i in range(theta.shape[0]):
        weights[i] = 0.5 * theta[i]


def vector(w):
    return w


@pytest.mark.parametrize("regularizer", [vector, 3], ids=["vector", "number"])
def test_bad_regularisers_are_refused(regularizer):
    refused(lambda: om.Recipe(space=(halved, regularizer)))


@pytest.mark.parametrize("own", [["a"], [math.nan], None], ids=str)
def test_bad_own_numbers_are_refused(own):
    refused(lambda: om.Recipe(own=own))


@pytest.mark.parametrize(
    ("space", "number"),
    [
        ("shrunk", {"lam": -1.0}),
        ("shrunk", {"lam": "a"}),
        ("soft", {"l1": -1.0}),
        ("entropic", {"radius": -1.0}),
        ("adagrad", {"delta": 0.0}),
        ("coin", {"delta": -1.0}),
    ],
    ids=str,
)
def test_bad_numbers_of_a_recipe_are_refused(space, number):
    model = om.OnlineClassifier(om.Recipe(space=space, step="unit"), classes=CLASSES, **number)
    refused(lambda: model.partial_fit(X, Y))


@pytest.mark.parametrize("which", ["recipe", "groups"])
def test_what_shapes_the_state_cannot_be_changed(which):
    if which == "recipe":
        model = om.OnlineClassifier(om.Recipe(), classes=CLASSES).partial_fit(X, Y)
        model.set_params(recipe=om.Recipe(space="pnorm"))
    else:
        model = om.FTRLClassifier(regularizer="group", groups=[0, 0, 1, 1, 1], classes=CLASSES)
        model.partial_fit(X, Y).set_params(groups=[0, 1, 1, 1, 1])
    refused(lambda: model.partial_fit(X, Y))


def test_another_number_in_a_closure_is_another_function(tmp_path):
    def sized(size):
        def smooth(margin, required):
            gap = max(required - margin, 0.0)
            return size * gap * gap, 2.0 * size * gap

        return smooth

    om.save(om.OnlineClassifier(om.Recipe(loss=sized(1.0))), tmp_path / "m.onm")
    refused(lambda: om.load(tmp_path / "m.onm", {"smooth": sized(2.0)}))


def test_the_loss_always_is_shown():
    assert "loss='always'" in repr(om.Recipe(loss="always", step="unit", space="ridge"))


def countdown(margin):
    """A function that names itself."""
    return (1.0 - margin, 1.0) if margin < 1.0 or countdown is None else (0.0, 0.0)


def test_a_function_that_names_itself_has_a_mark():
    assert source_mark(countdown) == source_mark(countdown) != source_mark(halved)
