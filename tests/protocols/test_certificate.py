"""Certificates of single examples against loops of plain NumPy: A0 - A7, P1, P2, T1, B1, F1 - F3, O1; I1."""

from __future__ import annotations

import copy
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from tests.learn.test_theorems import AGGRESSIVENESS, DRAWN, build, comparators, often, watch
from tests.learn.test_theorems import learner as learner_of
from tests.learn.test_theorems_of_the_recipe import LOSSES, REGULARIZERS, norm
from tests.naive_runs import aggressive, constant, loss_of, perceptron, rows_of, spoken, stream, with_lines

import onmargin as om

SCALES = (0.0, 0.3, 1.0, 3.0)
TASKS = pytest.mark.parametrize("outputs", [0, 1, 4], ids=["regression", "binary", "multiclass"])


def played(X, y, model):
    labels = getattr(model, "classes", None)
    return om.progressive(model, np.ascontiguousarray(X[:, :-1]), y, classes=labels)


def pa(X, outputs, step, C):
    options = {"step": step, "C": C, **constant(X)}
    if outputs == 0:
        return om.PassiveAggressiveRegressor(epsilon=0.1, **options)
    classes = (-1, 1) if outputs == 1 else tuple(range(outputs))
    return om.PassiveAggressiveClassifier(classes=classes, **options)


def is_row(row, left, right):
    assert_allclose([row.left, row.right], [left, right], rtol=1e-9, atol=1e-9)
    assert row.holds == (left <= right + 1e-9 * max(1.0, abs(right)))


@TASKS
@pytest.mark.parametrize("step", ["pa", "pa1", "pa2"])
def test_passive_aggressive_rows_are_those_of_a_naive_loop(outputs, step):
    """A0, A1, A4, A5, A6, with losses of u row by row."""
    X, y, u = stream(outputs=outputs)
    C = 0.3
    run = played(X, y, pa(X, outputs, step, C))
    losses, steps, sizes = aggressive(X, y, outputs, step, C)
    R2 = sizes.max()
    for scale in SCALES:
        theirs = np.array([loss_of(scale * u, x, target, outputs) for x, target in zip(X, y, strict=True)])
        rows, U2 = rows_of(run, scale * u, X), scale**2 * (u**2).sum()
        is_row(rows["A1"], (steps * (2 * losses - steps * sizes - 2 * theirs)).sum(), U2)
        M = (losses >= 1).sum()
        assert ("A0" in rows) == (outputs > 0)
        if outputs:
            is_row(rows["A0"], M, (losses**2).sum())
        if step == "pa1":
            is_row(rows["A5"], np.minimum(losses**2 / R2, C * losses).sum(), U2 + 2 * C * theirs.sum())
            assert ("A4" in rows) == (outputs > 0)
            if outputs:
                is_row(rows["A4"], M, max(R2, 1 / C) * (U2 + 2 * C * theirs.sum()))
        if step == "pa2":
            right = (R2 + 1 / (2 * C)) * (U2 + 2 * C * (theirs**2).sum())
            is_row(rows["A6"], (losses**2).sum(), right)


def test_hard_margins_want_a_u_without_loss_or_unit_rows():
    """A2 and A3, and what they say where their conditions are not met."""
    X, y, u = stream(noise=0.0, bias=0.0)
    run = played(X, y, pa(X, 1, "pa", 1.0))
    losses, _, sizes = aggressive(X, y, 1, "pa", 1.0)
    clean = u / (y * (X @ u[0])).min() * (1 + 1e-9)
    rows = rows_of(run, clean, X)
    is_row(rows["A2"], (losses**2).sum(), (clean**2).sum() * sizes.max())
    assert rows["A3"].holds is None and "not 1" in rows["A3"].conditions
    assert "loss of" in rows_of(run, 0.1 * clean, X)["A2"].conditions
    X, y, u = stream(unit=True)
    run = played(X, y, pa(X, 1, "pa", 1.0))
    theirs = np.array([loss_of(u, x, target, 1) for x, target in zip(X, y, strict=True)])
    right = (np.linalg.norm(u) + 2 * math.sqrt((theirs**2).sum())) ** 2
    is_row(rows_of(run, u, X)["A3"], (run.losses**2).sum(), right)


@TASKS
@pytest.mark.parametrize("step", ["pa", "pa1", "pa2"])
@often
@given(drawn=DRAWN, C=AGGRESSIVENESS, which=st.integers(0, 11))
def test_every_row_that_applies_holds(outputs, step, drawn, C, which):
    """Random, noisy, adversarial streams; nothing, what made the labels, least squares as comparators."""
    seen = build(drawn, outputs)
    run = watch(learner_of(seen, outputs, step, C), seen)
    u = comparators(seen, outputs)[which]
    given_u = (u[:, :-1], u[:, -1] * seen.bias) if seen.bias else u[:, :-1]
    found = om.certificate(run, given_u)
    assert found.holds and found["A1"].holds and not found.failed


@pytest.mark.parametrize("best", [False, True])
def test_a_perceptron_from_zero_and_from_anywhere(best):
    """P1 wants w = 0, P2 any start: e (M - L) + <u, w_1> <= U sqrt(|w_1|^2 + e^2 R^2 M)."""
    X, y, u = stream()
    for init, rate in (("zero", 1.0), ("random", 0.7)):
        model = om.Perceptron(init=init, rate=rate, random_state=0, classes=(-1, 1), **constant(X))
        model.partial_fit(X[:1, :-1], y[:1], sample_weight=[0.0])  # a round that is not seen
        start = np.r_[model.coef_[0], model.intercept_ / X[0, -1]]
        run = played(X, y, model)
        erred, _ = perceptron(X, y, start, rate)
        if best:
            found = om.certificate(run, "best")
            u = np.c_[found.comparator[0], found.comparator[1] / X[0, -1]]
        theirs = np.array([loss_of(u, x, target, 1) for x, target in zip(X, y, strict=True)])
        M, L, R2, U2 = erred.sum(), theirs[erred].sum(), (X**2).sum(axis=1).max(), (u**2).sum()
        rows = rows_of(run, u, X)
        right = math.sqrt(U2) * math.sqrt(start @ start + rate**2 * R2 * M)
        is_row(rows["P2"], rate * (M - L) + (u @ start)[0], right)
        if init == "zero":
            is_row(rows["P1"], M, (math.sqrt(U2 * R2) + math.sqrt(U2 * R2 + 4 * L)) ** 2 / 4)
        else:
            assert rows["P1"].holds is None and "did not begin from zero" in rows["P1"].conditions


@pytest.mark.parametrize("step", ["pa", "pa1", "pa2"])
def test_every_rival_at_once_a1(step):
    """MIRA: the shares of each round, by a solver, give the run's own scores, and the lemma its sides."""
    X, y, u = stream(outputs=4, count=25)
    C = 0.05
    model = om.PassiveAggressiveClassifier(step=step, C=C, update="all", classes=range(4), **constant(X))
    run = played(X, y, model)
    W, left = np.zeros((4, 4)), 0.0
    for t, (x, target) in enumerate(zip(X, y, strict=True)):
        assert_allclose(W @ x, run.scores[t], atol=1e-7)
        others, size = np.flatnonzero(np.arange(4) != target), x @ x
        short = 1 - (W @ x)[target] + (W @ x)[others]
        # max a.short - |x|^2 ((sum a)^2 + |a|^2) / 2, a >= 0; PA-I: sum a <= C; PA-II: less (sum a)^2 / (4C)
        pull, a = size * (np.ones((3, 3)) + np.eye(3)) + (step == "pa2") / (2 * C), np.zeros(3)
        for _ in range(1000):  # projected gradient ascent
            a = a + (short - pull @ a) / (4 * size + (step == "pa2") * 1.5 / C)
            a = np.maximum(a, 0.0)
            if step == "pa1" and a.sum() > C:
                ranked = np.sort(a)[::-1]
                levels = (np.cumsum(ranked) - C) / np.arange(1, 4)
                a = np.maximum(a - levels[np.flatnonzero(ranked > levels)[-1]], 0.0)
        left += 2 * a @ short - size * (a.sum() ** 2 + a @ a) - 2 * a.sum() * loss_of(u, x, target, 4)
        W[target] += a.sum() * x
        W[others] -= np.outer(a, x)
    row = rows_of(run, u, X)["A1"]
    assert_allclose([row.left, row.right], [left, (u**2).sum()], rtol=1e-6)
    assert row.holds
    far = played(X, y, om.MIRA(C=C, classes=range(4), **constant(X)))
    assert rows_of(far, 0 * u, X)["A1"].holds


def test_a_ball_a7():
    """sum step (2 loss - step - 2 loss(u)) <= |u - w_1|^2; the radius' coordinate starts at B."""
    points = stream(count=40)[0][:, :-1] + 1.0
    for largest in (None, 3.0):
        model = om.PassiveAggressiveUniclass(C=0.5, epsilon=0.7, max_radius=largest)
        run = om.progressive(model, points)
        reach, centre = largest or 0.7, np.array([0.5, 1.0, 2.0])
        Y, w = np.c_[points, np.zeros(40)], np.r_[np.zeros(3), largest or 0.0]
        u = np.r_[centre, 0.0 if largest is None else math.sqrt(largest**2 - 2.0**2)]
        left, right = 0.0, ((u - w) ** 2).sum()
        for row in Y:
            loss = max(0.0, np.linalg.norm(w - row) - reach)
            tau = min(0.5, loss)
            left += tau * (2 * loss - tau - 2 * max(0.0, np.linalg.norm(u - row) - reach))
            w = w + tau * (row - w) / np.linalg.norm(row - w) if tau else w
        (row,) = om.certificate(run, centre if largest is None else (centre, 2.0))
        assert row.id == "A7"
        is_row(row, left, right)
        theirs = np.maximum(0.0, np.linalg.norm(u - Y, axis=1) - reach)
        regret = run.regret(centre if largest is None else (centre, 2.0))
        assert regret == pytest.approx(run.losses.sum() - theirs.sum())


def test_a_target_that_stays_t1():
    X, y, u = stream(bias=0.0)
    rate, radius = 0.9 / (X**2).sum(axis=1).max(), 2.0
    run = played(X, y, om.ProjectedPerceptron(radius=radius, rate=rate, classes=(-1, 1), **constant(X)))
    u = u * radius / np.linalg.norm(u)
    w, M, L = np.zeros(4), 0, 0.0
    for x, target in zip(X, y, strict=True):
        if target * (w @ x) <= 0:
            M, L, w = M + 1, L + loss_of(u, x, target, 1), w + rate * target * x
            w = w * min(1.0, radius / max(np.linalg.norm(w), 1e-300))
    R2 = (X**2).sum(axis=1).max()
    is_row(rows_of(run, u, X)["T1"], M * (1 - rate * R2 / 2), L + (u**2).sum() / (2 * rate))
    assert "beyond the ball" in rows_of(run, 2 * u, X)["T1"].conditions


def test_actions_in_expectation_b1():
    X, y, u = stream(outputs=3, unit=True)
    gamma, T = 0.3, len(y)
    run = played(X, y, om.Banditron(gamma=gamma, classes=range(3), random_state=0, fit_intercept=False))
    D, L = (u**2).sum(), sum(loss_of(u, x, target, 3) for x, target in zip(X, y, strict=True))
    B = D * (3 / gamma + 1)
    right = gamma * T + L + B / 2 + math.sqrt(B * B / 4 + B * L + 2 * gamma * T * D)
    row = rows_of(run, u, X)["B1"]
    is_row(row, (run.predictions != y).sum(), right)
    assert "in expectation" in row.conditions
    assert run.regret(u[:, :-1]) == pytest.approx(run.losses.sum() - L)
    long = played(9 * X, y, om.Banditron(gamma=gamma, classes=range(3), random_state=0, fit_intercept=False))
    assert "not within 1" in rows_of(long, u, X)["B1"].conditions


@pytest.mark.parametrize("name", list(REGULARIZERS))
def test_constant_regularisers_f1(name):
    """sum eta (loss - loss(u)) <= g(u) - min g + sum eta^2 |z|_*^2 / (2 sigma)."""
    seen = build((3, "noisy", 40, 3, 0.5), 1)
    options, lengths, inverse, each = REGULARIZERS[name](seen, 1.5, 2.0, np.random.default_rng(0))
    model = om.FTRLClassifier(
        loss="logistic", step="sqrt", rate=0.1, regularizer="entropic" if name == "simplex" else name,
        classes=(-1, 1), **constant(seen.X), **options,
    )  # fmt: skip
    run = played(seen.X, seen.y, model)
    rates = 0.1 / np.sqrt(np.arange(1, 41))
    paid = (run.steps**2 * lengths).sum() * inverse / 2
    for u, price in each:
        theirs = [LOSSES["logistic"](t * (x @ u)) for x, t in zip(seen.X, seen.y, strict=True)]
        row = rows_of(run, u[None], seen.X)["F1"]
        is_row(row, (rates * (run.losses - np.array(theirs).ravel())).sum(), price + paid)
    far = rows_of(run, 100 * each[-1][0][None], seen.X)["F1"]
    assert (far.holds is None) == (name in ("entropic", "simplex"))


def test_adaptive_regularisers_f2_f3():
    X, y, u = stream(count=40)
    X = X / np.linalg.norm(X, axis=1).max()
    theirs = sum(loss_of(u, x, target, 1) for x, target in zip(X, y, strict=True))
    options = {"classes": (-1, 1), "loss": "hinge", **constant(X)}
    run = played(X, y, om.FTRLClassifier(regularizer="adagrad", rate=0.2, adagrad_delta=1.0, **options))
    s = np.sqrt(((run.steps / 0.2)[:, None] ** 2 * X**2).sum(axis=0))
    right = ((1.0 + s) * u[0] ** 2).sum() / 0.4 + 0.2 * s.sum()
    is_row(rows_of(run, u, X)["F2"], run.losses.sum() - theirs, right)
    small = played(X, y, om.FTRLClassifier(regularizer="adagrad", rate=0.2, adagrad_delta=1e-3, **options))
    assert "above delta" in rows_of(small, u, X)["F2"].conditions
    run = played(X, y, om.FTRLClassifier(regularizer="coin", coin_epsilon=2.0, **options))
    U2, T = (u**2).sum(), 40
    right = math.sqrt(U2 * T * math.log1p(24 * T**2 * U2 / 4)) + 2.0
    is_row(rows_of(run, u, X)["F3"], run.losses.sum() - theirs, right)
    long = played(9 * X, y, om.FTRLClassifier(regularizer="coin", **options))
    assert "above 1" in rows_of(long, u, X)["F3"].conditions


def test_the_aggressive_p_norm_o1():
    X, y, u = stream(count=40)
    recipe = om.Recipe(loss="hinge", step="aggressive", space="pnorm")
    run = played(X, y, om.OnlineClassifier(recipe, p=1.5, classes=(-1, 1), **constant(X)))
    reach = 3 * (norm(u[0], 1.5) * norm(X, 3.0)[run.steps > 0].max()) ** 2
    paid = sum(s * loss_of(u, x, t, 1) for s, x, t in zip(run.steps, X, y, strict=True))
    right = (math.sqrt(reach) + math.sqrt(reach + 4 * paid)) ** 2 / 4
    is_row(rows_of(run, u, X)["O1"], run.steps.sum(), right)


def test_mixed_perceptrons_i1():
    """sum over epochs of the mean of the shards' updates <= R^2 / gamma^2."""
    X, y, u = stream(noise=0.0, bias=0.0, count=90)
    far = np.abs(X @ u[0]) > 0.2
    X, y = X[far], y[far]
    shards = np.array_split(np.arange(len(y)), 3)
    mixed = om.Perceptron(classes=(-1, 1), fit_intercept=False)
    mixed.partial_fit(X[:1, :-1], y[:1], sample_weight=[0.0])
    epochs = []
    for _ in range(4):
        copies = [copy.deepcopy(mixed) for _ in shards]
        epochs.append([played(X[some], y[some], model) for model, some in zip(copies, shards, strict=True)])
        mixed = om.merge(copies)
    gamma = (y * (X @ u[0])).min() / np.linalg.norm(u)
    left = sum(np.mean([run.updates for run in epoch]) for epoch in epochs)
    (row,) = om.certificate(epochs, u[:, :-1])
    assert row.id == "I1"
    is_row(row, left, (X**2).sum(axis=1).max() / gamma**2)
    assert om.certificate(epochs, -u[:, :-1])["I1"].holds is None
    assert (
        "other weights"
        in om.certificate([epochs[0], [epochs[1][0], epochs[0][1]]], u[:, :-1])["I1"].conditions
    )


# ---- a learner that is broken is found out


def test_a_step_to_the_wrong_side_breaks_the_lemma():
    """w -= step y x: losses grow, and A1 does not hold; the copy of the trace that is right holds."""
    X, y, u = stream(noise=0.0)
    run = played(X, y, pa(X, 1, "pa1", 1.0))
    losses, steps, _ = aggressive(X, y, 1, "pa1", 1.0)
    assert om.certificate(with_lines(run, losses=losses, steps=steps), spoken(u, X)).holds
    losses, steps, _ = aggressive(X, y, 1, "pa1", 1.0, wrong=-1.0)
    broken = om.certificate(with_lines(run, losses=losses, steps=-steps), spoken(u, X))
    assert not broken.holds and not broken["A1"].holds and "A1" in [row.id for row in broken.failed]
    assert "FAILS" in broken.table and "ATTENTION" in broken.table and "ATTENTION" in broken.html
    assert "FAILS" in repr(broken)


@pytest.mark.parametrize("wrong", [0.5, 2.0])
def test_steps_of_another_length_break_a2(wrong):
    """Half as long: a row that comes again and again. Twice: w is mirrored between two rows."""
    if wrong < 1:
        X, u = np.tile([1.0, 0.0], (20, 1)), np.array([[1.0, 0.0]])
    else:
        angle = math.pi - 0.7
        X = np.tile([[1.0, 0.0, 0.0], [math.cos(angle), math.sin(angle), 0.0]], (30, 1))
        u = np.zeros((1, 3))
        u[0, :2] = np.linalg.solve(X[:2, :2], np.ones(2)) * (1 + 1e-12)
    y = np.ones(len(X), int)
    run = played(X, y, pa(X, 1, "pa", 1.0))
    assert rows_of(run, u, X)["A2"].holds
    losses, steps, _ = aggressive(X, y, 1, "pa", 1.0, wrong=wrong)
    assert rows_of(with_lines(run, losses=losses, steps=steps), u, X)["A2"].holds is False


def test_a_perceptron_that_moves_away_breaks_p1():
    """Rows far from the plane of u: few mistakes may be made; one that steps to the wrong side makes many."""
    X, y, u = stream(noise=0.0, count=400)
    u = u / np.linalg.norm(u)
    far = y * (X @ u[0]) > 0.5
    X, y, u = X[far], y[far], 2 * u
    run = played(X, y, om.Perceptron(classes=(-1, 1), **constant(X)))
    assert rows_of(run, u, X)["P1"].holds and rows_of(run, u, X)["P2"].holds
    erred, _ = perceptron(X, y, np.zeros(4), -1.0)
    broken = rows_of(with_lines(run, losses=erred.astype(float)), u, X)
    assert broken["P1"].holds is False and broken["P2"].holds is False
