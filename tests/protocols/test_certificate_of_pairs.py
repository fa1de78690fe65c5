"""Certificates of paired rounds, against rounds put together by hand: D1 - D5, Theorem 7, rates per class."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from tests.naive_runs import constant, rows_of, stream, with_lines

import onmargin as om

KAPPAS = {"sequential": 1, "dca": 2, "correct_mistakes": 4}


def paired(X, rule, classes=(-1, 1)):
    return om.PairedClassifier(
        rule=rule,
        C=0.3,
        sampler="recent",
        reservoir=1,
        rivals=None,
        random_state=0,
        classes=classes,
        **constant(X),
    )


def rounds_of(y, classes):
    """Every arrival meets the last of every other class; of two the positive first, of several in order."""
    for t in range(len(y)):
        last = {y[s]: s for s in range(t + 1)}
        order = sorted(last, reverse=len(classes) == 2)
        yield [last[label] for label in order]


def dual_values(w, z, c, alpha, margin):
    a = c * alpha
    return (a * (margin - z @ w)).sum() - 0.5 * ((a @ z) ** 2).sum()


def is_row(row, left, right):
    assert_allclose([row.left, row.right], [left, right], rtol=1e-7, atol=1e-9)
    assert row.holds


@pytest.mark.parametrize("rule", list(KAPPAS))
def test_two_classes_d1_d2_d5_and_theorem_7(rule):
    X, y, u = stream(count=40)
    run = om.progressive(paired(X, rule), X[:, :-1], y)
    w, T = np.zeros(4), len(y)
    progress = paid = M = L = misordered = 0.0
    for members in rounds_of(y, (-1, 1)):
        rows, signs = X[members], y[members].astype(float)
        z = signs[:, None] * rows
        after, alpha = om.paired_round(w, rows, signs, rule, 0.3)
        progress += dual_values(w, z, 1.0, alpha, 1.0)
        theirs = np.maximum(0, 1 - z @ u[0])
        paid, L = paid + alpha @ theirs, L + theirs.sum()
        margins = z @ w
        if rule == "sequential":
            margins = margins + np.tril(z @ z.T, -1) @ alpha
        M += (margins <= 1e-10).sum()
        misordered += len(members) == 2 and margins.sum() <= 0
        w = after
    U2, R2 = (u**2).sum(), (X**2).sum(axis=1).max()
    right = max(1 / 0.3, KAPPAS[rule] * R2) * (U2 + 0.6 * L)
    rows = rows_of(run, u, X)
    is_row(rows["D1"], progress, U2 / 2 + paid)
    is_row(rows["D2"], M, right)
    is_row(rows["D5"], M / T, right / T)
    is_row(rows["D3-D5"], misordered / T, right / T)
    scores = run.model.decision_function(X[:, :-1])
    sides = (scores[y > 0] <= 0).mean() + (scores[y < 0] >= 0).mean()
    is_row(rows["D3"], 1 - om.metrics.auc(y, scores, strict=True), sides)


def test_pairs_out_of_order_d2_of_auc():
    X, y, u = stream(count=40)
    run = om.progressive(paired(X, "auc"), X[:, :-1], y)
    w, errors, L, pairs = np.zeros(4), 0, 0.0, 0
    for members in rounds_of(y, (-1, 1)):
        if len(members) == 2:
            z = X[members[0]] - X[members[1]]
            pairs, errors, L = pairs + 1, errors + (z @ w <= 0), L + max(0.0, 2 - z @ u[0])
            w = w + np.clip((2 - z @ w) / (z @ z), 0, 0.3) * z
    right = max(1 / 0.6, (X**2).sum(axis=1).max()) * ((u**2).sum() + 0.6 * L)
    rows = rows_of(run, u, X)
    is_row(rows["D2"], errors, right)
    is_row(rows["D3-D5"], errors / pairs, right / pairs)
    assert rows["D1"].holds and run.errors_theory == errors


def test_several_classes_d4_and_rates_of_each():
    """Class k has weights 1 and 1 / (K - 1): M_k / T <= max(1/C, 2 R^2) (U_k^2 + 2C L_k) / T by "dca"."""
    X, y, u = stream(count=40, outputs=3)
    run = om.progressive(paired(X, "dca", range(3)), X[:, :-1], y)
    W, M, L, progress, paid = np.zeros((3, 4)), np.zeros(3), np.zeros(3), 0.0, 0.0
    for members in rounds_of(y, range(3)):
        for k in range(3):
            rows, signs = X[members], np.where(y[members] == k, 1.0, -1.0)
            z = signs[:, None] * rows
            c = np.array([1 / (signs == side).sum() for side in signs])
            margins, theirs = z @ W[k], np.maximum(0, 1 - z @ u[k])
            after, alpha = om.paired_round(W[k], rows, signs, "dca", 0.3, weights=c)
            progress += dual_values(W[k], z, c, alpha, 1.0)
            paid += (c * alpha) @ theirs
            M[k], L[k], W[k] = M[k] + c[margins <= 1e-10].sum(), L[k] + c @ theirs, after
    scale, T, own = max(1 / 0.3, 2 * (X**2).sum(axis=1).max()), 40, (u**2).sum(axis=1)
    rows = rows_of(run, u, X)
    is_row(rows["D1"], progress, own.sum() / 2 + paid)
    is_row(rows["D2"], M.sum(), scale * (own.sum() + 0.6 * L.sum()))
    is_row(rows["D5"], M.sum() / (3 * T), scale * (own.sum() + 0.6 * L.sum()) / (3 * T))
    for k in range(3):
        is_row(rows[f"D5 {k}"], M[k] / T, scale * (own[k] + 0.6 * L[k]) / T)
    assert rows["D3-D5"].holds
    scores, sides = run.model.decision_function(X[:, :-1]), []
    for k in range(3):
        others = [(scores[y == other, k] >= 0).mean() for other in range(3) if other != k]
        sides.append((scores[y == k, k] <= 0).mean() + np.mean(others))
    assert rows["D4"].right == pytest.approx(np.mean(sides))
    assert rows["D4"].left >= 1 - om.metrics.auc_all_pairs(y, scores) - 1e-12


def test_a_run_that_is_not_its_rules_is_found_out():
    X, y, u = stream(count=40)
    run = om.progressive(paired(X, "correct_mistakes"), X[:, :-1], y)
    for scores in (-run.scores, 2 * run.scores):
        broken = om.certificate(with_lines(run, scores=scores), (u[:, :-1], u[:, -1] * X[0, -1]))
        assert {row.id for row in broken.failed} == {"D1", "D2", "D5", "D3-D5"}
        assert "off its rule's" in broken["D1"].conditions


def test_what_cannot_be_played_again_is_said():
    X, y, u = stream(count=40)
    weights = np.linspace(0.5, 1.5, 40)
    run = om.progressive(paired(X, "dca"), X[:, :-1], y, sample_weight=weights)
    rows = rows_of(run, u, X)
    assert rows["D1"].holds is None and "weights" in rows["D1"].conditions and rows["D3"].holds
    again = om.progressive(run.model, X[:, :-1], y)
    assert "did not begin from zero" in rows_of(again, u, X)["D2"].conditions
    chosen = om.certificate(om.progressive(paired(X, "max_violators"), X[:, :-1], y), "best")
    assert chosen["D2"].holds and chosen["D5"].holds is None
