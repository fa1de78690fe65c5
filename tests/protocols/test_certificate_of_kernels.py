"""Certificates in the space of a kernel, against the Gram matrix: P1, A1, A4, K1 - K3, O1 (OM-2)."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.testing import assert_allclose
from tests.kernel_streams import KERNELS, build, losses_of, watch
from tests.naive_runs import with_lines

import onmargin as om

DRAWN = (5, 60, 2, 0.0, "rbf")
CLASSES = (-1, 1)


def compared(stream, seed=0, scale=1.0):
    """Coefficients, |u|^2 = c'Kc, and the hinge losses of u."""
    c = scale * np.random.default_rng(seed).normal(size=len(stream.y)) * (np.arange(len(stream.y)) % 3 == 0)
    return c, c @ stream.K @ c, losses_of(stream, (stream.K @ c)[:, None])


def is_row(row, left, right):
    assert_allclose([row.left, row.right], [left, right], rtol=1e-7, atol=1e-7)
    assert row.holds


def perceptron_like(reach, paid):
    return (math.sqrt(reach) + math.sqrt(reach + 4 * paid)) ** 2 / 4


def test_kernel_perceptron_and_pa1():
    for kind in ("noisy", "flipping"):
        stream = build(kind, (5, 60, 2, 1.0, "poly"))
        c, U2, theirs = compared(stream, scale=0.1)
        run = watch(om.Perceptron(classes=CLASSES, **stream.form), stream)
        erred, R2 = run.losses > 0, stream.radius2
        rows = {row.id: row for row in om.certificate(run, c)}
        is_row(rows["P1"], erred.sum(), perceptron_like(U2 * R2, theirs[erred].sum()))
        run = watch(om.PassiveAggressiveClassifier(C=0.2, classes=CLASSES, **stream.form), stream)
        rows = {row.id: row for row in om.certificate(run, c)}
        left = run.steps * (2 * run.losses - run.steps * np.diag(stream.K) - 2 * theirs)
        is_row(rows["A1"], left.sum(), U2)
        is_row(rows["A4"], (run.losses >= 1).sum(), max(R2, 5.0) * (U2 + 0.4 * theirs.sum()))


@pytest.mark.parametrize("tolerance", [0.1, 0.5])
def test_projectron_k1(tolerance):
    stream = build("noisy", DRAWN)
    run = watch(om.Projectron(tolerance=tolerance, classes=CLASSES, **stream.form), stream)
    c, U2, _ = compared(stream)
    c = 0.6 / tolerance / math.sqrt(U2) * c
    U2, theirs = c @ stream.K @ c, losses_of(stream, (stream.K @ c)[:, None])
    q, erred = 1 - tolerance * math.sqrt(U2), run.losses > 0
    reach, paid = U2 * stream.radius2, theirs[erred].sum()
    right = ((math.sqrt(reach) + math.sqrt(reach + 4 * q * paid)) / (2 * q)) ** 2
    is_row(om.certificate(run, c)["K1"], erred.sum(), right)
    assert "not below 1" in om.certificate(run, 2 * c)["K1"].conditions
    limited = watch(om.Projectron(budget=5, classes=CLASSES, **stream.form), stream)
    assert "budget" in om.certificate(limited, c)["K1"].conditions
    found = om.certificate(run, "best")["K1"]
    assert found.holds and found.right <= len(stream.y)


def test_projectron_plus_k2():
    """beta from the distance of a margin error to the span of the vectors kept before it."""
    stream = build("noisy", DRAWN, unit=True)
    tolerance = 0.3
    run = watch(om.Projectron(plus=True, tolerance=tolerance, classes=CLASSES, **stream.form), stream)
    erred, left = run.losses >= 1, 0.0
    for t in range(len(stream.y)):
        if erred[t]:
            left += 1
        elif run.steps[t] > 0:
            S = run.model.support_[run.model.support_ < t]
            n2 = stream.K[S, t] @ np.linalg.solve(stream.K[np.ix_(S, S)], stream.K[S, t])
            gap = math.sqrt(max(stream.K[t, t] - n2, 0.0))
            left += run.steps[t] * (2 * run.losses[t] - run.steps[t] * n2 - 2 * gap / tolerance)
    c, U2, _ = compared(stream)
    c = 0.4 / tolerance / math.sqrt(U2) * c
    U2, theirs = c @ stream.K @ c, losses_of(stream, (stream.K @ c)[:, None])
    q = 1 - tolerance * math.sqrt(U2)
    paid = (np.where(erred, 1.0, run.steps) * theirs).sum()
    row = om.certificate(run, c)["K2"]
    assert_allclose([row.left, row.right], [left, U2 / q**2 + 2 / q * paid], rtol=1e-5)
    assert row.holds and "above 1/2" in om.certificate(run, 2 * c)["K2"].conditions


def test_forgetron_k3():
    stream = build("noisy", DRAWN)
    run = watch(om.Forgetron(budget=90, classes=CLASSES, **stream.form), stream)
    c, U2, theirs = compared(stream, scale=0.1)
    is_row(om.certificate(run, c)["K3"], (run.losses > 0).sum(), 2 * U2 + 4 * theirs.sum())
    assert "is above" in om.certificate(run, 1000 * c)["K3"].conditions
    few = watch(om.Forgetron(budget=10, classes=CLASSES, **stream.form), stream)
    assert "below 83" in om.certificate(few, c)["K3"].conditions


@pytest.mark.parametrize("classes", [2, 4])
def test_many_kernels_o1(classes):
    stream, q = build("noisy", DRAWN, classes), 4.0
    kernels = [("rbf", {"gamma": 0.5}), "linear"]
    grams = np.array([KERNELS[name](stream.X, stream.X, 0.5) for name in ("rbf", "linear")])
    run = om.progressive(om.OM2(kernels=kernels, q=q, classes=range(classes), dtype="float64"),
                         stream.X, stream.y, classes=range(classes))  # fmt: skip
    each, own = np.arange(60), np.eye(classes, dtype=bool)[stream.y]
    outputs = 1 if classes == 2 else classes
    c = 0.1 * np.random.default_rng(1).normal(size=(2, outputs, 60))
    values, parts = (c @ grams).sum(axis=0), (c * (c @ grams)).sum(axis=(1, 2))
    scores = np.c_[-run.scores, run.scores] / 2 if classes == 2 else run.scores
    rivals = np.where(own, -np.inf, scores).argmax(axis=1)
    if classes == 2:
        values, parts = np.array([-values[0], values[0]]) / 2, parts / 2
    theirs = np.maximum(0, 1 - values.T[own] + values.T[each, rivals])
    sizes = 2 * (np.diagonal(grams, axis1=1, axis2=2) ** (q / 2)).sum(axis=0) ** (2 / q)
    p = q / (q - 1)
    reach = q * sizes[run.steps > 0].max() * (parts ** (p / 2)).sum() ** (2 / p)
    is_row(om.certificate(run, c)["O1"], run.steps.sum(), perceptron_like(reach, (run.steps * theirs).sum()))
    shared = np.broadcast_to(c[0], c.shape)  # one table for all kernels
    assert om.certificate(run, c[0])["O1"] == om.certificate(run, shared)["O1"]
    assert np.isfinite(run.regret(c[0]))


def test_a_broken_kernel_learner_is_found_out():
    """Mistakes that no u of this length allows."""
    stream = build("clean", DRAWN)
    run = watch(om.Projectron(classes=CLASSES, **stream.form), stream)
    found = om.certificate(run, "best")
    assert found.holds
    broken = with_lines(run, losses=np.ones(60))
    assert not om.certificate(broken, np.zeros(60)).failed  # u = 0 has a loss in every round
    easy = build("flipping", DRAWN)
    same = np.ones(60, int)
    right = om.progressive(om.Perceptron(classes=CLASSES, **easy.form), easy.X, same, classes=CLASSES)
    one = np.zeros(60)
    one[0] = 1.01 / easy.K[0, 0]
    assert om.certificate(right, one)["P1"].holds
    assert om.certificate(with_lines(right, losses=np.ones(60)), one)["P1"].holds is False


def test_a_table_of_kernel_values_has_its_limit():
    stream = build("noisy", DRAWN)
    run = watch(om.Perceptron(classes=CLASSES, **stream.form), stream)
    with pytest.raises(ValueError, match="has shape"):
        om.certificate(run, np.zeros(7))
    run.X = np.zeros((6001, 2))
    run.losses = run.steps = np.zeros(6001)
    run.y = np.zeros(6001)
    with pytest.raises(ValueError, match="at most 6,000 rows"):
        om.certificate(run, np.zeros(6001))
