"""One paired round against a numeric solver, and what is said of its rules."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import minimize
from sklearn.exceptions import ConvergenceWarning

from onmargin.compiled.parts import plain
from onmargin.errors import BadInput
from onmargin.learn.paired import joint as paired
from onmargin.protocols.paired_round import RULES, paired_round


def drawn(seed, k, d=8):
    """A round of k samples of both classes, weights, and a start that gets some of them right."""
    draw = np.random.default_rng(seed)
    X, y = draw.normal(size=(k, d)), np.where(np.arange(k) % 3 == 0, 1, -1)
    return 0.3 * draw.normal(size=d), X, draw.permutation(y), draw.uniform(0.2, 2.0, k)


def dual(w, X, y, a):
    """D(a)"""
    z = y[:, None] * X
    return a @ (1 - z @ w) - 0.5 * np.sum((a @ z) ** 2)


def primal(w, new, X, y, weights, C):
    """P(w')"""
    return 0.5 * np.sum((new - w) ** 2) + C * weights @ np.maximum(1 - y * (X @ new), 0)


def best_dual(w, X, y, caps):
    """max D over the box, by a numeric solver."""
    z = y[:, None] * X
    found = minimize(
        lambda a: -dual(w, X, y, a), np.zeros(len(y)), jac=lambda a: z @ (a @ z) - (1 - z @ w),
        bounds=[(0, cap) for cap in caps], method="L-BFGS-B",
        options={"maxiter": 5000, "ftol": 1e-15, "gtol": 1e-11},
    )  # fmt: skip
    return -found.fun


@pytest.mark.parametrize("k", [2, 6, 20])
@pytest.mark.parametrize("C", [0.05, 0.7, 50.0])
@pytest.mark.parametrize("weighted", [False, True])
def test_dca_is_the_solution_of_the_quadratic_program(k, C, weighted):
    """Weights, and the value reached by a numeric solver of the dual."""
    for seed in range(5):
        w, X, y, c = drawn(seed, k, d=8 if C < 1 else 30)
        c = c if weighted else np.ones(k)
        new, alpha = paired_round(w, X, y, "dca", C, weights=c if weighted else None)
        assert (alpha >= 0).all() and (alpha <= C * (1 + 1e-12)).all()
        assert_allclose(new, w + (c * alpha * y) @ X, rtol=1e-10, atol=1e-12)
        assert dual(w, X, y, c * alpha) >= best_dual(w, X, y, C * c) - 1e-7 * max(1, C)
        gap = primal(w, new, X, y, c, C) - dual(w, X, y, c * alpha)
        assert -1e-9 <= gap <= 1e-7 * max(1, C)


@pytest.mark.parametrize("seed", range(8))
def test_the_gap_formula_is_primal_minus_dual(seed):
    """Also far from the optimum."""
    w, X, y, c = drawn(seed, 6)
    new, alpha = paired_round(w, X, y, "sequential", 0.4, weights=c)
    margins = y * (X @ new)
    gap = plain(paired.gap_left)(margins, c, alpha, 0.4, 1.0)
    assert_allclose(gap, primal(w, new, X, y, c, 0.4) - dual(w, X, y, c * alpha), rtol=1e-9)


@pytest.mark.parametrize("rule", sorted(RULES))
def test_a_rule_never_lowers_the_dual(rule):
    """D after the round is at least 0, its value before; over a list of sets it never falls."""
    for seed in range(10):
        w, X, y, c = drawn(seed, 6)
        new, alpha = paired_round(w, X, y, rule, 0.5, weights=c)
        if rule != "auc":  # (its constraint is the pair's)
            assert dual(w, X, y, c * alpha) >= -1e-12
        assert ((alpha >= 0) & (alpha <= 0.5 + 1e-12)).all()
    sets = [[0, 1, 2], [3, 4], [5], [0, 5], [1, 3]]
    values = []
    for sweeps in range(1, 8):
        _, alpha = paired_round(w, X, y, sets, 0.5, weights=c, sweeps=sweeps)
        values.append(dual(w, X, y, c * alpha))
        assert ((alpha >= 0) & (alpha <= 0.5 + 1e-12)).all()  # 0 stays between the bounds
    assert (np.diff(values) >= -1e-12).all()


def test_one_coordinate_step_from_zero_is_pa1():
    w, X, y, _ = drawn(0, 5)
    for j in range(5):
        new, alpha = paired_round(w, X, y, [[j]], 0.3)
        loss = max(0.0, 1 - y[j] * X[j] @ w)
        step = min(0.3, loss / (X[j] @ X[j]))
        assert_allclose(alpha[j], step, rtol=1e-12)
        assert_allclose(new, w + step * y[j] * X[j], rtol=1e-12, atol=1e-14)


def test_a_separable_round_with_hard_margin_ends_right_under_dca():
    for seed in range(10):
        w, X, y, _ = drawn(seed, 6, d=20)
        new, _ = paired_round(w, X, y, "dca", np.inf)
        assert (y * (X @ new) >= 1 - 1e-6).all()


def test_a_joint_step_may_leave_a_sample_wrong():
    """ "Theorem 6" corrected: the mean margin over J is 1, but x+ is still on the wrong side."""
    X, y = np.array([[1.0, 0.0], [3.0, 0.5]]), [1, -1]
    new, _ = paired_round(np.zeros(2), X, y, "correct_mistakes", np.inf)
    margins = np.array(y) * (X @ new)
    assert_allclose(margins.mean(), 1.0)
    assert margins[0] < 0
    exact, _ = paired_round(np.zeros(2), X, y, "dca", np.inf)
    assert (np.array(y) * (X @ exact) >= 1 - 1e-9).all()


def test_dca_says_where_it_stopped():
    """Twenty samples in three dimensions at a high price: the ascent is slow, and sweeps= goes on with it."""
    w, X, y, _ = drawn(0, 20, d=3)
    with pytest.warns(ConvergenceWarning, match="gap of"):
        _, short = paired_round(w, X, y, "dca", 1e4)
    with pytest.warns(ConvergenceWarning, match="gap of"):
        _, longer = paired_round(w, X, y, "dca", 1e4, sweeps=3)
    assert dual(w, X, y, longer) >= dual(w, X, y, short)


def test_hand_values():
    """Appendix B."""
    X, y, zero = np.array([[2.0, 0.0], [1.0, 1.0]]), [1, -1], np.zeros(2)
    wanted = {"sequential": (-0.25, -0.75), "auc": (1.0, -1.0), "dca": (0.5, -1.5)}
    for rule, weights in wanted.items():
        assert_allclose(paired_round(zero, X, y, rule, 10.0)[0], weights, rtol=1e-12)
        assert_allclose(paired_round(zero, X, y, rule, 0.2)[0], (0.2, -0.2), rtol=1e-12, atol=1e-15)
    assert_allclose(paired_round(zero, X, y, "dca", 10.0)[1], (1.0, 1.5), rtol=1e-12)
    assert_allclose(paired_round(zero, X, y, "auc", 10.0, margin=1.0)[1], (0.5, 0.5), rtol=1e-12)


def test_rounds_of_one_class():
    X, zero = np.array([[2.0, 0.0], [1.0, 1.0]]), np.zeros(2)
    new, alpha = paired_round(zero, X, [1, 1], "auc", 1.0)
    assert not new.any() and not alpha.any()
    assert paired_round(zero, X, [1, 1], "correct_mistakes", 1.0)[0] @ X[0] > 0
    assert paired_round(zero, X, [-1, -1], "max_violators", 1.0)[0].any()


@pytest.mark.parametrize(
    "given",
    [{"rule": "best"}, {"rule": [[7]]}, {"rule": 3}, {"C": 0.0}, {"weights": [1.0]}, {"weights": [1, -1]},
     {"y": [1, 2, 3]}, {"w": np.zeros(3)}, {"X": np.array([[np.nan, 1.0], [1.0, 1.0]])}, {"sweeps": 0}],
    ids=str,
)  # fmt: skip
def test_bad_rounds_are_refused_in_one_line(given):
    options = {"w": np.zeros(2), "X": np.eye(2), "y": [1, -1], "rule": "dca", "C": 1.0} | given
    with pytest.raises(BadInput) as caught:
        paired_round(**options)
    assert "\n" not in str(caught.value)
