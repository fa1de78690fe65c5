"""Certificates of learners that ask, against loops over the rounds: L1 - L4, Q1, Q2."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.testing import assert_allclose
from tests.naive_runs import constant, loss_of, rows_of, stream, with_lines

import onmargin as om

COINS = np.random.default_rng(9).random(60)


def asked(model, X, y, **options):
    sampler = om.SelectiveSampler(model, **({"rule": "bernoulli", "delta": 1.5} | options))
    return om.progressive(sampler, X[:, :-1], y, chance=COINS, classes=(-1, 1))


def is_row(row, left, right):
    assert_allclose([row.left, row.right], [left, right], rtol=1e-9)
    assert row.holds


def test_a_perceptron_that_asks_l1_l4():
    X, y, u = stream()
    delta = 1.5
    run = asked(om.Perceptron(classes=(-1, 1), **constant(X)), X, y)
    w, left, L, M = np.zeros(4), 0.0, 0.0, 0
    R2, U2 = (X**2).sum(axis=1).max(), (u**2).sum()
    for t in range(60):
        p = w @ X[t]
        M += y[t] * p <= 0
        if COINS[t] < delta / (delta + abs(p)) and y[t] * p <= 0:
            left, L, w = left + delta + abs(p), L + loss_of(u, X[t], y[t], 1), w + y[t] * X[t]
    a = delta + R2 / 2
    rows = rows_of(run, u, X)
    is_row(rows["L1"], left, a * a / 2 * U2 + a * L)
    is_row(rows["L4"], M, (2 * delta + R2) ** 2 / (8 * delta) * U2 + (1 + R2 / (2 * delta)) * L)
    assert "in expectation" in rows["L4"].conditions
    broken = with_lines(run, scores=1000 * run.scores)
    assert rows_of(broken, 0.01 * u, X)["L1"].holds is False


@pytest.mark.parametrize("step", ["pa", "pa1", "pa2"])
def test_passive_aggressive_learners_that_ask_l2_l3_l4(step):
    X, y, u = stream()
    C, delta = 0.3, 1.5
    run = asked(om.PassiveAggressiveClassifier(step=step, C=C, classes=(-1, 1), **constant(X)), X, y)
    w, left, L1, L2, taken, M = np.zeros(4), 0.0, 0.0, 0.0, 0.0, 0
    R2, U2, a = (X**2).sum(axis=1).max(), (u**2).sum(), (delta + 1) / 2
    for t in range(60):
        p, size, theirs = w @ X[t], X[t] @ X[t], loss_of(u, X[t], y[t], 1)
        loss = max(0.0, 1 - y[t] * p)
        M += y[t] * p <= 0
        if COINS[t] < delta / (delta + abs(p)) and loss > 0:
            tau = {"pa": loss / size, "pa1": min(C, loss / size), "pa2": loss / (size + 0.5 / C)}[step]
            left, w = left + tau * (delta - y[t] * p), w + tau * y[t] * X[t]
            L1, L2, taken = L1 + theirs, L2 + theirs**2, taken + tau * theirs
    rows = rows_of(run, u, X)
    if step == "pa2":
        is_row(rows["L3"], left, a * a * (U2 + 2 * C * L2))
        is_row(rows["L4"], M, (R2 + 1 / (2 * C)) / delta * a * a * (U2 + 2 * C * L2))
    else:
        is_row(rows["L2"], left, a * a * U2 + 2 * a * taken)
        if step == "pa1":
            is_row(rows["L4"], M, max(1 / C, R2) / delta * (a * a * U2 + 2 * a * C * L1))
        else:
            assert rows["L4"].holds is None and "loss on" in rows["L4"].conditions


def test_what_the_bounds_of_asking_want_is_said():
    X, y, u = stream()
    learner = om.PassiveAggressiveClassifier(C=0.3, classes=(-1, 1), **constant(X))
    said = {
        "delta=0.5 is below 1": {"delta": 0.5},
        "rule='margin'": {"rule": "margin"},
        "a budget or a target rate": {"budget": 5},
    }
    for words, options in said.items():
        row = rows_of(asked(learner, X, y, **options), u, X)["L4"]
        assert row.holds is None and words in row.conditions
    gone = y.astype(object)
    run = asked(learner, X, y)
    gone[~run.queried] = None
    run = asked(learner, X, gone)
    assert "labels are missing" in rows_of(run, u, X)["L4"].conditions and rows_of(run, u, X)["L2"].holds
    theirs = [loss_of(u, x, t, 1) for x, t, known in zip(X, y, run.queried, strict=True) if known]
    assert run.regret((u[:, :-1], u[:, -1] * 0.5)) == pytest.approx(run.losses.sum() - sum(theirs))
    many = om.certificate(asked(om.AROW(classes=(-1, 1)), X, y), np.zeros(3))
    assert len(many) == 0 and "no bound is known" in many.table and many.holds


def test_bbq_q1_q2():
    draw = np.random.default_rng(0)
    angle = draw.uniform(0, 2 * np.pi, 500)
    X = np.c_[np.cos(angle), np.sin(angle)]
    y = np.where(draw.random(500) < (1 + X[:, 0]) / 2, 1, -1)
    epsilon, delta = 0.6, 0.1
    run = om.progressive(om.BBQ(epsilon=epsilon, delta=delta, random_state=0), X, y)
    P, b, queries, worst = np.eye(2), np.zeros(2), 0, 0.0
    for t, (x, label) in enumerate(zip(X, y, strict=True), 1):
        g = P @ x
        v = x @ g
        r, s = v / (1 + v), np.linalg.norm(g) / (1 + v)
        q = math.sqrt(max(r * (1 - r) - s * s, 0.0))
        if r + s + q * math.sqrt(2 * math.log(2 * t * (t + 1) / delta)) > epsilon:
            queries, P, b = queries + 1, P - np.outer(g, g) / (1 + v), b + label * x
        else:
            worst = max(worst, abs(b @ g / (1 + v) - x[0]))
    T, N = 500, queries
    right = 2 * (2 + math.sqrt(2 * math.log(2 * T * (T + 1) / delta))) ** 2 / epsilon**2 * math.log1p(N / 2)
    rows = {row.id: row for row in om.certificate(run, [1.0, 0.0])}
    is_row(rows["Q1"], N, right)
    is_row(rows["Q2"], worst, epsilon)
    assert "with probability 0.9" in rows["Q2"].conditions and 0 < N < 500
    assert "give it" in om.certificate(run, "best")["Q2"].conditions
    assert "above 1" in om.certificate(run, [2.0, 0.0])["Q2"].conditions
    asks = om.progressive(om.BBQ(kappa=0.5, random_state=0), X, y)
    assert "another rule" in om.certificate(asks, [1.0, 0.0])["Q1"].conditions
