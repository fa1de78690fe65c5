"""om.merge of every linear learner: the mean of the weights, and how each goes on by its formulas."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose
from tests.uncompiled import Comparisons

import onmargin as om
from onmargin.errors import BadInput

DRAW = np.random.default_rng(8)
X = DRAW.normal(size=(60, 4))
Y = np.where(X @ [1.0, -1.0, 0.5, 0.0] + 0.3 + 0.5 * DRAW.normal(size=60) > 0, 1, -1)
THREE = np.digitize(X[:, 0], [-0.5, 0.5])
SHARES = (0.25, 0.75)
PLAIN = {"fit_intercept": False}
FTRL = partial(om.FTRLClassifier, rate=0.4, loss="logistic")

EVERY: dict[str, Callable[..., Any]] = {
    "pegasos": partial(om.Pegasos, lam=0.1), "pegasos_mean": partial(om.Pegasos, lam=0.1, average=True),
    "pegasos_last": partial(om.Pegasos, lam=0.1, average=False),
    "pegasos_batch": partial(om.Pegasos, lam=0.1, batch_size=7),
    "pegasos_ball": partial(om.Pegasos, lam=0.5, project=True, average=True),
    "pegasos_free": partial(om.Pegasos, lam=0.1, fit_intercept="free"),
    "shifting": partial(om.ShiftingPerceptron, lam=1.5), "ball": partial(om.ProjectedPerceptron, radius=1.2),
    "forgetful": partial(om.PassiveAggressiveClassifier, horizon=9.5),
    "adagrad": partial(FTRL, regularizer="adagrad", average=True),
    "coin": partial(FTRL, regularizer="coin", average=True),
    "coin_last": partial(FTRL, regularizer="coin", average=False),
    "pnorm": partial(FTRL, regularizer="pnorm", p=1.4, average=True),
    "group": partial(FTRL, regularizer="group", p=1.4, groups=[0, 0, 1, 1]),
    "entropic": partial(FTRL, regularizer="entropic", radius=3.0, average=True),
    "simplex": partial(FTRL, regularizer="entropic", radius=3.0, signed=False, intercept_scaling=1.0),
    "soft": partial(FTRL, regularizer="l2", l1=0.02, average=False),
    "soft_adagrad": partial(FTRL, regularizer="adagrad", l1=0.02, average=False),
}  # fmt: skip
COMPARISONS = Comparisons("tests.protocols.test_merge")


def halves(make, labels=Y, **more):
    """Two models of parts of the rows, of several lengths."""
    classes = np.unique(labels)
    return [
        make(**more).partial_fit(X[some], labels[some], classes=classes)
        for some in (slice(0, 25), slice(25, 60))
    ]


def mean_of(parts, name):
    return sum(share * getattr(part, name) for share, part in zip(SHARES, parts, strict=True))


@COMPARISONS.each(*EVERY)
def merged_models(name):
    """The mean of what both answer by; again after a file's worth of nothing; and it goes on."""
    for labels in (Y, THREE):
        parts = halves(EVERY[name], labels)
        merged = om.merge(parts, weights=SHARES)
        yield merged.coef_, mean_of(parts, "coef_")
        yield merged.intercept_, mean_of(parts, "intercept_")
        yield merged.decision_function(X), mean_of([S(part.decision_function(X)) for part in parts], "value")
        yield np.array([merged.t_]), np.array([60])
        still = om.merge([merged])  # of one model: the same
        yield still.coef_, merged.coef_
        before = merged.coef_
        merged.partial_fit(X, labels)
        assert merged.t_ == 120 and np.isfinite(merged.coef_).all() and (merged.coef_ != before).any()


class S:
    """A number with a name."""

    def __init__(self, value):
        self.value = value


@COMPARISONS.each("goes on")
def learning_on(name):
    """From the merged weights by the papers' formulas, one row at a time; no constant coordinate."""
    rows, y = X[:30], Y[:30]
    # Pegasos: w <- (1 - 1/t) w + 1[y w.x < 1] y x / (lam t), t from 61 on
    merged = om.merge(halves(om.Pegasos, lam=0.1, average=False, **PLAIN), weights=SHARES)
    w = merged.coef_[0].copy()
    for t, (x, label) in enumerate(zip(rows, y, strict=True), start=61):
        w = (1 - 1 / t) * w + (label * (w @ x) < 1) * label * x / (0.1 * t)
    yield merged.partial_fit(rows, y).coef_[0], w
    # its average: 60 times the merged weights, then those that predicted
    merged = om.merge(halves(om.Pegasos, lam=0.1, average=True, **PLAIN), weights=SHARES)
    w = merged.coef_[0].copy()
    total = 60 * w
    for t, (x, label) in enumerate(zip(rows, y, strict=True), start=61):
        total = total + w
        w = (1 - 1 / t) * w + (label * (w @ x) < 1) * label * x / (0.1 * t)
    yield merged.partial_fit(rows, y).coef_[0], total / 90
    # the projected Perceptron is its weights
    merged = om.merge(halves(om.ProjectedPerceptron, radius=1.2, rate=0.6, **PLAIN), weights=SHARES)
    w = merged.coef_[0].copy()
    for x, label in zip(rows, y, strict=True):
        if label * (w @ x) <= 0:
            w = w + 0.6 * label * x
            w *= min(1.0, 1.2 / np.linalg.norm(w))
    yield merged.partial_fit(rows, y).coef_[0], w
    # the shifting Perceptron: lam / (lam + k), k the mistakes of both and its own
    parts = halves(om.ShiftingPerceptron, lam=1.5, **PLAIN)
    k = sum(int(part._fitted().space.ledger[1]) for part in parts)
    merged = om.merge(parts, weights=SHARES)
    w = merged.coef_[0].copy()
    for x, label in zip(rows, y, strict=True):
        if label * (w @ x) <= 0:
            share = 1.5 / (1.5 + k)
            w, k = (1 - share) * w + share * label * x, k + 1
    assert k > 10
    yield merged.partial_fit(rows, y).coef_[0], w
    # AdaGrad: theta = w (delta + s) with the squares of both
    told = {"regularizer": "adagrad", "loss": "hinge", "rate": 0.4, "adagrad_delta": 0.5, "average": False}
    parts = halves(om.FTRLClassifier, **told, **PLAIN)
    squares = sum(part._fitted().space.squares[:4] for part in parts)
    merged = om.merge(parts, weights=SHARES)
    w = merged.coef_[0].copy()
    theta = w * (0.5 + np.sqrt(squares))
    for x, label in zip(rows, y, strict=True):
        if label * (w @ x) < 1:
            theta, squares = theta + 0.4 * label * x, squares + x**2
            w = theta / (0.5 + np.sqrt(squares))
    yield merged.partial_fit(rows, y).coef_[0], w
    # the p-norm: w = grad g*(theta), theta = grad g(w)
    p, q = 1.4, 1.4 / 0.4
    told = {"regularizer": "pnorm", "loss": "hinge", "rate": 0.1, "p": p, "average": False}
    merged = om.merge(halves(om.FTRLClassifier, **told, **PLAIN), weights=SHARES)
    w, a = merged.coef_[0].copy(), p - 1
    theta = np.sign(w) * np.abs(w) ** (p - 1) * np.linalg.norm(w, p) ** (2 - p) / a
    for x, label in zip(rows, y, strict=True):
        if label * (w @ x) < 1:
            theta = theta + 0.1 * label * x
            w = a * np.sign(theta) * np.abs(theta) ** (q - 1) / np.linalg.norm(theta, q) ** (q - 2)
    yield merged.partial_fit(rows, y).coef_[0], w


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    return COMPARISONS.run(tmp_path_factory.mktemp("merge") / "pairs.npz")


@pytest.mark.parametrize("name", COMPARISONS.entries)
def test_merged_models_are_the_mean_and_go_on(name, written):
    COMPARISONS.compare(name, written)


def test_two_weight_vectors_of_the_note_are_averaged():
    """S3's first idea in class: Rob's filter and David's, half of each; compiled."""
    parts = [
        om.Pegasos(lam=0.1, random_state=i, max_iter=5, tol=None).fit(X[i::2], Y[i::2]) for i in range(2)
    ]
    before = [part.coef_.copy() for part in parts]
    merged = om.merge(parts)
    assert_allclose(merged.coef_, (parts[0].coef_ + parts[1].coef_) / 2, atol=1e-12)
    assert_allclose(merged.intercept_, (parts[0].intercept_ + parts[1].intercept_) / 2, atol=1e-12)
    assert not hasattr(merged, "objective_") and not hasattr(merged, "dual_gap_")
    assert merged.objective(X, Y) <= 0.5 * sum(part.objective(X, Y) for part in parts) + 1e-12  # f is convex
    merged.partial_fit(X, Y)
    for part, coef in zip(parts, before, strict=True):
        np.testing.assert_array_equal(part.coef_, coef)


def test_a_merged_model_is_saved_and_goes_on(tmp_path):
    merged = om.merge(halves(om.Pegasos, lam=0.1))
    om.save(merged, tmp_path / "m.onm")
    twin = om.load(tmp_path / "m.onm")
    np.testing.assert_array_equal(twin.partial_fit(X, Y).coef_, merged.partial_fit(X, Y).coef_)


def test_balls_are_merged_with_their_radius():
    balls = [om.PassiveAggressiveUniclass(max_radius=2.0).partial_fit(X[i::2]) for i in range(2)]
    merged = om.merge(balls)
    assert_allclose(merged.center_, (balls[0].center_ + balls[1].center_) / 2, atol=1e-12)
    omegas = [np.sqrt(4.0 - ball.radius_**2) for ball in balls]
    assert_allclose(merged.radius_, np.sqrt(4.0 - np.mean(omegas) ** 2), atol=1e-9)


def test_what_gives_no_theta_back_says_why():
    def curved(theta, weights, hyper):
        for i in range(theta.shape[0]):
            weights[i] = 0.5 * theta[i]

    recipe = om.Recipe(loss="hinge", step="constant", space=curved)
    model = om.OnlineClassifier(recipe, rate=0.5).partial_fit(X, Y, classes=[-1, 1])
    with pytest.raises(BadInput, match="OnlineClassifier cannot be averaged: its weights follow from sums"):
        om.merge([model, model])


if __name__ == "__main__":
    COMPARISONS.write(sys.argv[1])
