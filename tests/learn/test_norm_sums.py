"""The sum over all coordinates that p-norms and entropies keep: exact, and rarely summed anew."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal

import onmargin as om
from onmargin.learn.vocabulary import NORM_SUM, NORM_TOP, NORM_WORK
from tests.soaking import mostly_uncompiled

REGULARIZERS = {
    "pnorm": {"regularizer": "pnorm"},
    "group": {"regularizer": "group"},
    "entropic": {"regularizer": "entropic"},
    "simplex": {"regularizer": "entropic", "signed": False},
}


def learner(name, **more):
    """One of them, with a steady rate."""
    return om.FTRLClassifier(
        **({"loss": "logistic", "rate": 0.5, "intercept_scaling": 1.0} | REGULARIZERS[name] | more)
    )


@pytest.mark.parametrize("apart", [True, False], ids=["intercept", "column of ones"])
@pytest.mark.parametrize("name", mostly_uncompiled(REGULARIZERS, "pnorm"))
def test_what_is_in_every_row_may_rise_and_fall(name, apart):
    """The largest coordinate loses nine tenths again and again: all of 3,000 are not summed anew for that."""
    draw = np.random.default_rng(0)
    X = sp.random_array((400, 3000), density=0.004, format="csr", rng=draw, data_sampler=draw.standard_normal)
    X, y = X if apart else sp.hstack([np.ones((400, 1)), X], "csr"), np.arange(400) // 8 % 2
    model, anew, largest = learner(name, fit_intercept=apart, intercept_scaling=4.0), 0, []
    for t in range(400):
        model.partial_fit(X[t : t + 1], y[t : t + 1], classes=[0, 1])
        space = model._model.space
        anew += space.ledger[NORM_WORK] == 0
        largest.append(abs(space.weights[-1 if apart else 0]))
    falls = np.array(largest[1:]) < 0.9 * np.array(largest[:-1])
    assert falls.sum() > 40
    assert anew <= 3


def weights_of(name, theta, q):
    """All weights, by the formulas."""
    if name in ("pnorm", "group"):
        top = abs(theta).max()
        if top == 0:
            return theta
        norm = top * ((abs(theta) / top) ** q).sum() ** (1 / q)
        return theta * (abs(theta) / norm) ** (q - 2) / (q - 1)
    top = abs(theta).max() if name == "entropic" else theta.max()
    up, down = np.exp(theta - top), np.exp(-theta - top) if name == "entropic" else 0.0 * theta
    return (up - down) / (up + down).sum()


def long_stream(scale):
    """Labels in runs, so that the constant coordinate rises and falls; the others' size by and by another."""
    draw = np.random.default_rng(1)
    X = draw.standard_normal((1500, 7)) * (draw.random((1500, 7)) < 0.4) * scale[:, None]
    return X, (draw.random(1500) < np.where(np.arange(1500) // 40 % 2, 0.9, 0.1)).astype(int)


@pytest.mark.parametrize("name", mostly_uncompiled(REGULARIZERS, "pnorm"))
def test_long_streams_are_as_exact_as_all_coordinates_anew(name):
    X, y = long_stream(np.ones(1500))
    p = {"p": 1.1} if name in ("pnorm", "group") else {}
    model, theta = learner(name, **p), np.zeros(8)
    rows = np.c_[X, np.ones(1500)]
    for x, label in zip(rows, 2 * y - 1, strict=True):
        theta += 0.5 * label * x / (1 + np.exp(label * (weights_of(name, theta, 11.0) @ x)))
    model.partial_fit(X, y, classes=[0, 1])
    assert_allclose(
        np.r_[model.coef_[0], model.intercept_], weights_of(name, theta, 11.0), rtol=1e-9, atol=1e-15
    )
    sparse, blocks = learner(name, **p), learner(name, **p)
    sparse.partial_fit(sp.csr_array(X), y, classes=[0, 1])
    assert_allclose(sparse.coef_, model.coef_, rtol=1e-11)
    for start in range(0, 1500, 37):
        blocks.partial_fit(X[start : start + 37], y[start : start + 37], classes=[0, 1])
    assert_array_equal(blocks._model.space.weights, model._model.space.weights)
    assert_array_equal(blocks._model.space.ledger, model._model.space.ledger)


@pytest.mark.parametrize("name", mostly_uncompiled(["pnorm", "group"]))
def test_the_largest_may_become_far_larger_and_vanish(name):
    """Beyond the range of the sum, too: coordinates of 1e-3, one of 1e9 and then of 0, and 1e-3 again."""
    scale = np.r_[np.full(500, 1e-3), np.full(500, 1.0), np.full(500, 1e6)]
    X, y = long_stream(scale)
    X, y = np.insert(X, [250, 250], 0.0, axis=0), np.insert(y, 250, [1, 0])
    X[250:252, 0] = 1e9
    model = learner(name, p=1.05, loss="perceptron", rate=1.0, fit_intercept=False)
    theta, q = np.zeros(7), 21.0
    for x, label in zip(X, 2 * y - 1, strict=True):
        weights = weights_of(name, theta, q)
        if label * (weights @ x) <= 0:
            theta += label * x
        model.partial_fit(sp.csr_array(x[None]), [(label + 1) // 2], classes=[0, 1])
        assert_allclose(model.coef_[0], weights_of(name, theta, q), rtol=1e-9, atol=1e-15 * abs(theta).max())
    top, total = model._model.space.ledger[[NORM_TOP, NORM_SUM]]
    assert_allclose(top * total ** (1 / q), (abs(theta) ** q).sum() ** (1 / q), rtol=1e-13)


@pytest.mark.parametrize("name", mostly_uncompiled(["entropic", "simplex"]))
def test_exponents_may_be_as_large_as_they_come(name):
    """One coordinate goes far beyond all, and back; then all are below 0, and new ones join at 0."""
    model, theta = learner(name, loss="perceptron", rate=1.0, fit_intercept=False, classes=(0, 1)), {}
    stream = [
        ({"a": 1.0, "b": 3.0}, 1), ({"a": 900.0, "b": -900.0}, 1), ({"a": 900.0, "b": 1}, 0), ({"b": 1}, 0),
        ({"c": 40.0, "a": -5.0}, 1), ({"a": 2000.0, "b": 1900.0, "c": 2100.0}, 0), ({"d": -1.0}, 1),
        ({"e": 2.0, "b": -1.0}, 1), ({"d": 1.0, "e": -2.0}, 0), ({"f": 0.5, "a": 3000.0}, 0),
    ]  # fmt: skip
    moves = 0
    for row, label in stream:
        theta |= {key: theta.get(key, 0.0) for key in row}
        names = list(theta)
        weights = weights_of(name, np.array([*theta.values()]), None)
        if (2 * label - 1) * sum(weights[names.index(key)] * value for key, value in row.items()) <= 0:
            moves += 1
            for key, value in row.items():
                theta[key] += (2 * label - 1) * value
        model.learn_one(row, label)
        wanted = weights_of(name, np.array([*theta.values()]), None)
        assert_allclose(model._model.weights().ravel()[: len(names)], wanted, rtol=1e-12, atol=1e-300)
    assert moves >= 6


@pytest.mark.parametrize("name", mostly_uncompiled(["pnorm", "entropic"], "pnorm"))
def test_what_is_spelled_is_spelled_again_after_a_call_that_failed(name):
    """Weights are spelled anew in a pass that is put back, also those of other rows' slots."""
    draw = np.random.default_rng(2)
    X = sp.random_array((90, 2000), density=0.004, format="csr", rng=draw, data_sampler=draw.standard_normal)
    y = draw.integers(0, 2, 90)
    model = learner(name).partial_fit(X[:60], y[:60], classes=[0, 1])
    other, far = pickle.loads(pickle.dumps(model)), X[60:63].copy()
    far.data *= 1e9 if name == "pnorm" else 200.0
    far.data[-1] = np.nan
    with pytest.raises(om.errors.BadInput):
        model.partial_fit(far, y[60:63])
    assert_array_equal(model.decision_function(X), other.decision_function(X))
    for rows in (slice(60, 70), slice(70, 90)):
        for each in (model, other):
            each.partial_fit(X[rows], y[rows])
    assert_array_equal(model._model.space.spelled, other._model.space.spelled)
    assert_array_equal(model._model.space.ledger, other._model.space.ledger)
    assert_array_equal(model._model.space.weights, other._model.space.weights)
