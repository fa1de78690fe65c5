"""Certificates of Pegasos, against weights that are written out: G1, G2."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from tests.naive_runs import constant, loss_of, rows_of, stream, with_lines
from tests.oracles_pegasos import objective

import onmargin as om


def is_row(row, left, right):
    assert_allclose([row.left, row.right], [left, right], rtol=1e-8, atol=1e-9)
    assert row.holds


@pytest.mark.parametrize("batch, project, prior", [(1, False, False), (1, True, False), (5, False, True)])
def test_regret_of_the_objective_g1(batch, project, prior):
    """sum f_t(w_t) - f_t(u) <= sum |gradient_t|^2 / (2 lam t)."""
    X, y, u = stream(count=43)
    lam = 0.1
    centre = np.array([0.5, -0.2, 0.1, 0.4]) if prior else np.zeros(4)
    given = (centre[:-1], centre[-1] * X[0, -1]) if prior else None
    model = om.Pegasos(
        lam=lam, batch_size=batch, project=project, prior=given, classes=(-1, 1), **constant(X)
    )
    run = om.progressive(model, X[:, :-1], y)
    w, left, right = centre, 0.0, 0.0
    for t in range(1, len(y) // batch + 1):
        A, side = X[(t - 1) * batch : t * batch], y[(t - 1) * batch : t * batch]
        hit = side * (A @ w) < 1
        gradient = lam * (w - centre) - (side * hit) @ A / batch
        right += gradient @ gradient / (2 * lam * t)
        left += objective(w, A, side, lam, centre, np.ones(batch))
        left -= objective(u[0], A, side, lam, centre, np.ones(batch))
        w = w - gradient / (lam * t)
        if project:
            w = w * min(1.0, 1 / np.sqrt(lam) / np.linalg.norm(w))
    is_row(rows_of(run, u, X)["G1"], left, right)
    if project:
        assert "beyond the ball" in rows_of(run, 9 * u, X)["G1"].conditions


def test_several_classes_g1():
    """The true class against its best rival: |z|^2 = 2 |x|^2."""
    X, y, u = stream(count=40, outputs=3)
    lam, w, left, right = 0.1, np.zeros((3, 4)), 0.0, 0.0
    model = om.Pegasos(lam=lam, multiclass="crammer_singer", classes=range(3), **constant(X))
    run = om.progressive(model, X[:, :-1], y)
    for t, (x, target) in enumerate(zip(X, y, strict=True), 1):
        scores = w @ x + (np.arange(3) != target)
        rival = scores.argmax()
        gradient = lam * w
        if scores[rival] > scores[target]:
            gradient[target] -= x
            gradient[rival] += x
        left += lam / 2 * ((w**2).sum() - (u**2).sum()) + loss_of(w, x, target, 3) - loss_of(u, x, target, 3)
        right += (gradient**2).sum() / (2 * lam * t)
        w = w - gradient / (lam * t)
    is_row(rows_of(run, u, X)["G1"], left, right)
    assert "several outputs" in rows_of(run, u, X)["G2"].conditions


def test_the_gap_is_at_least_the_distance_to_any_u_g2():
    """f(w) - f(u) <= f(w) - D(clip(a)), the dual of the run's own steps."""
    X, y, u = stream(count=50)
    lam = 0.2
    model = om.Pegasos(lam=lam, average=False, classes=(-1, 1), **constant(X))
    run = om.progressive(model, X[:, :-1], y)
    a = np.clip((run.losses > 0).astype(float), 0, 1)  # N / T = 1
    v = (a * y) @ X / (lam * 50)
    dual = a.mean() - lam / 2 * v @ v
    w = np.r_[model.coef_[0], model.intercept_ / X[0, -1]]
    reached = objective(w, X, y, lam, np.zeros(4), np.ones(50))
    best = om.svm_optimum(X[:, :-1], y, lam=lam, intercept_scaling=X[0, -1])
    for other in (u[0], np.zeros(4), np.r_[best.coef, best.intercept / X[0, -1]]):
        left = reached - objective(other, X, y, lam, np.zeros(4), np.ones(50))
        is_row(rows_of(run, other[None], X)["G2"], left, reached - dual)


def test_weights_that_did_not_shrink_break_g1():
    """Losses of a learner that never learned, in a run whose steps are as short as they should be."""
    X, y, u = stream(count=200, noise=0.0)
    u = 3 * u / np.linalg.norm(u)
    run = om.progressive(om.Pegasos(lam=0.5, classes=(-1, 1), **constant(X)), X[:, :-1], y)
    assert rows_of(run, u, X)["G1"].holds
    assert rows_of(with_lines(run, losses=run.losses + 20.0), u, X)["G1"].holds is False
