"""Kernel learners that forget (`horizon=`, ShiftingPerceptron) against sums over all mistakes; budgets."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import onmargin as om

from ..uncompiled import Comparisons

DRAW = np.random.default_rng(4)
X = DRAW.normal(size=(80, 3))
TWO = np.where(X[:, 0] + 0.3 * DRAW.normal(size=80) > 0, 1, -1) * np.where(np.arange(80) < 40, 1, -1)
THREE = np.digitize(X[:, 0], [-0.5, 0.5])
SETS = (X > 0.2).astype(int)
H = np.where(np.arange(80) % 6 == 0, 0.0, np.linspace(0.4, 2.0, 80))
K = np.exp(-0.4 * np.square(X[:, None] - X).sum(axis=2))
TOLD: dict[str, Any] = {"kernel": "rbf", "gamma": 0.4, "fit_intercept": False, "dtype": "float64"}
MADE = {
    "forgets": (om.Perceptron, {"horizon": 6.0, "rate": 0.7}), "fast": (om.Perceptron, {"horizon": 1.2}),
    "pa1": (om.PassiveAggressiveClassifier, {"horizon": 15.0, "C": 0.4, "multilabel": "ranking"}),
    "shifting": (om.ShiftingPerceptron, {"lam": 1.5}), "quick": (om.ShiftingPerceptron, {"lam": 60.0}),
}  # fmt: skip
COMPARISONS = Comparisons("tests.estimators.test_kernel_forgetting")


def made(name, **more):
    kind, told = MADE[name]
    return kind(**TOLD | told | more)


def demand(s, y):
    """The margin, and what is pulled: two classes, several, a set of labels (inf: nothing is asked)."""
    pull = np.zeros(len(s))
    if len(s) == 1:
        pull[0] = y
    elif np.ndim(y) == 0:
        rivals = np.where(np.arange(len(s)) == y, -np.inf, s)
        pull[y], pull[rivals.argmax()] = 1.0, -1.0
    elif 0 < y.sum() < len(y):
        pull[np.where(y == 1, s, np.inf).argmin()] = 1.0
        pull[np.where(y == 0, s, -np.inf).argmax()] = -1.0
    else:
        return np.inf, pull
    return pull @ s, pull


def oracle(name, y, h, budget=np.inf):
    """Coefficients spelled out in every round: all fade, then the least makes room, or one that is gone."""
    told, S, A, k, scores = MADE[name][1], [], np.zeros((0, 3 if y.max() > 1 or y.ndim == 2 else 1)), 0, []
    for t in range(80):
        s = K[t, S] @ A if S else np.zeros(A.shape[1])
        scores.append(s)
        if h[t] == 0:
            continue
        margin, pull = demand(s, y[t])
        if "lam" in told:
            share = told["lam"] / (told["lam"] + k)
            keep, step = (1 - share, share * h[t]) if margin <= 0 else (1.0, 0.0)
            k += margin <= 0
        else:
            keep, step = 1 - 1 / told["horizon"], h[t] * told.get("rate", 1.0) * (margin <= 0)
            if "C" in told:
                step = min(h[t] * told["C"], max(0.0, 1 - margin) / max(pull @ pull, 1e-300))
        A = keep * A
        if step > 0:
            sizes = np.linalg.norm(A, axis=1)
            gone = len(S) and sizes.min() < 1e-12 * max(sizes.max(), step * np.linalg.norm(pull))
            if len(S) < budget and not gone:
                S, A = [*S, t], np.r_[A, [step * pull]]
            else:
                S[sizes.argmin()], A[sizes.argmin()] = t, step * pull
    return np.array(scores), S, A


@COMPARISONS.each(*[(name, kind) for name in MADE for kind in ("two", "three", "sets")])
def every_problem_is_the_oracle(name, kind):
    y = {"two": TWO, "three": THREE, "sets": SETS}[kind]
    for weight in (None, H):
        for budget in (None, 7):
            model = made(name, budget=budget)
            run = om.progressive(model, X, y, sample_weight=weight)
            scores, S, A = oracle(name, y, np.ones(80) if weight is None else weight, budget or np.inf)
            found = run.scores.reshape(80, -1)
            if kind == "sets":  # a running bar is taken off
                found, scores = found - found[:, :1], scores - scores[:, :1]
            yield found, scores
            yield model.support_, np.array(S)
            yield model.dual_coef_, A.T


@COMPARISONS.each(*MADE)
def blocks_dicts_and_tables_agree(name):
    for budget in (None, 7):
        whole = made(name, budget=budget, classes=[-1, 1]).partial_fit(X, TWO)
        blocks = made(name, budget=budget, classes=[-1, 1])
        for some in (slice(0, 1), slice(1, 30), slice(30, 80)):
            blocks.partial_fit(X[some], TWO[some])
        yield blocks.decision_function(X), whole.decision_function(X)
        dicts = made(name, budget=budget)
        for x, y in zip(X, TWO.tolist(), strict=True):
            dicts.learn_one(dict(enumerate(x)), y)
        yield dicts.decision_function(pd.DataFrame(X)), whole.decision_function(X)


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    return COMPARISONS.run(tmp_path_factory.mktemp("forgetting") / "pairs.npz")


@pytest.mark.parametrize("name", COMPARISONS.entries)
def test_forgetting_in_kernel_form(name, written):
    COMPARISONS.compare(name, written)


@pytest.mark.parametrize("name", ["forgets", "shifting"])
def test_compiled_it_is_the_same_and_goes_on_from_a_file(name, tmp_path):
    model = made(name, budget=7)
    run = om.progressive(model, X, TWO)
    scores, S, A = oracle(name, TWO, np.ones(80), 7)
    assert_allclose(run.scores, scores[:, 0], rtol=1e-9, atol=1e-12)
    assert model.support_.tolist() == S
    om.save(model, tmp_path / "m.onm")
    twin = om.load(tmp_path / "m.onm")
    for each in (model, twin):
        each.partial_fit(X, TWO)
    assert_array_equal(twin.decision_function(X), model.decision_function(X))


def test_what_has_faded_makes_room_by_itself():
    """Without a budget a short horizon keeps no more than the last 80 or so rounds: 0.7^78 < 1e-12."""
    draw = np.random.default_rng(0)
    rows, y = draw.normal(size=(600, 2)), draw.choice([-1, 1], 600)
    told = {"kernel": "rbf", "gamma": 0.5}
    kept = om.Perceptron(horizon=10 / 3, **told).partial_fit(rows, y, classes=[-1, 1])
    everything = om.Perceptron(**told).partial_fit(rows, y, classes=[-1, 1])
    assert kept.n_support_ <= 80 < everything.n_support_


if __name__ == "__main__":
    COMPARISONS.write(sys.argv[1])
