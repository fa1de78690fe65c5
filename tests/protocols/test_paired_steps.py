"""Joint steps one by one: the box they stay in, what they solve, and that inner products are all they see."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

import onmargin as om
from onmargin.compiled.parts import specialise
from onmargin.learn.paired import joint as paired
from onmargin.learn.paired.rules import RULES as PARTS
from onmargin.protocols.paired_round import RULES

often = settings(deadline=None, max_examples=60, derandomize=True, database=None)
seeds = st.integers(0, 2**32 - 1)
prices = st.sampled_from([0.3, 0.02, 5.0, np.inf])


def drawn(seed, k=None, d=None):
    """A round of both classes, a start, and weights."""
    draw = np.random.default_rng(seed)
    k, d = k or draw.integers(2, 8), d or draw.integers(1, 9)
    X, y = draw.normal(size=(k, d)), draw.permutation(np.where(np.arange(k) % 2, -1, 1))
    return draw, draw.normal(size=d), X, y, draw.uniform(0.2, 3.0, k)


def dual(w, Z, a):
    return a @ (1 - Z @ w) - 0.5 * np.sum((a @ Z) ** 2)


def sets_of(draw, k, partition):
    """Index sets in turn: the parts of a partition, or any."""
    if partition:
        return [part.tolist() for part in np.split(draw.permutation(k), np.sort(draw.integers(0, k, 2)))]
    return [draw.choice(k, draw.integers(1, k + 1), replace=False).tolist() for _ in range(5)]


@often
@given(seed=seeds, C=prices, partition=st.booleans(), sweeps=st.integers(1, 4))
def test_a_list_of_sets_is_the_steps_of_its_definition(seed, C, partition, sweeps):
    """L_b <= 0 <= U_b before every step, so the box is never left, and the dual never falls."""
    draw, start, X, y, c = drawn(seed)
    Z, sets = y[:, None] * X, sets_of(draw, len(y), partition)
    w, alpha, value = start.copy(), np.zeros(len(y)), 0.0
    for J in sets * sweeps:
        if not J:
            continue
        low, high, d = -alpha[J].min(), C - alpha[J].max(), c[J] @ Z[J]
        assert low <= 1e-12 and high >= -1e-12 * (C if C < np.inf else 1.0)
        tau = max(low, min(high, (c[J].sum() - w @ d) / (d @ d)))
        alpha[J] += tau
        w += tau * d
        new = dual(start, Z, c * alpha)
        assert new >= value - 1e-9 * max(1.0, abs(value))
        value = new
    got, found = om.paired_round(start, X, y, sets, C, weights=c, sweeps=sweeps)
    scale = max(1.0, np.abs(alpha).max())
    assert_allclose(found, alpha, rtol=1e-7, atol=1e-9 * scale)
    assert_allclose(got, w, rtol=1e-6, atol=1e-8 * scale)
    assert (found >= -1e-12 * scale).all() and (found <= C * (1 + 1e-12)).all()


@often
@given(seed=seeds, C=prices)
def test_rules_are_joint_steps_on_their_sets(seed, C):
    """All whose loss is above 0; of these the worst of each class; each by itself."""
    _, w, X, y, c = drawn(seed)
    margins = y * (X @ w)
    wrong = np.flatnonzero(margins < 1)
    worst = [
        those[np.argmin(margins[those])] for those in (wrong[y[wrong] > 0], wrong[y[wrong] < 0]) if those.size
    ]
    sets = {"correct_mistakes": [wrong], "max_violators": [worst], "sequential": [[j] for j in range(len(y))]}
    for rule, indices in sets.items():
        wanted, alphas = om.paired_round(w, X, y, [J for J in indices if len(J)], C, weights=c)
        new, found = om.paired_round(w, X, y, rule, C, weights=c)
        assert_allclose(found, alphas, rtol=1e-9, atol=1e-12)
        assert_allclose(new, wanted, rtol=1e-9, atol=1e-9)


def test_a_joint_step_is_blocked_between_0_and_c():
    """One alpha is 0 and another C: together they cannot move, alone they can."""
    X, y = np.array([[1.0, 0.0], [0.0, 1.0]]), [1, 1]
    w, alpha = om.paired_round(np.zeros(2), X, y, [[0], [0, 1]], 0.5)
    assert alpha.tolist() == [0.5, 0.0] and w.tolist() == [0.5, 0.0]
    w, alpha = om.paired_round(np.zeros(2), X, y, [[0], [0, 1], [1], [0, 1]], 0.5)
    assert alpha.tolist() == [0.5, 0.5] and w.tolist() == [0.5, 0.5]


def test_a_joint_step_goes_back_as_far_as_its_least_alpha():
    """Two single steps leave (0.1, 0.9); the pair would go back by 0.18, and one of them has 0.1."""
    X, y, start = np.array([[1.0, 0.0], [1.0, 1.0]]), [1, 1], np.array([0.9, -1.8])
    assert_allclose(om.paired_round(start, X, y, [[0], [1]], 10.0)[1], [0.1, 0.9])
    w, alpha = om.paired_round(start, X, y, [[0], [1], [0, 1]], 10.0)
    assert_allclose(alpha, [0.0, 0.8], atol=1e-15)
    assert_allclose(w, start + alpha @ X)


@pytest.mark.parametrize("rule", ["correct_mistakes", "auc", [[0, 1, 2, 3]]])
def test_samples_that_cancel_are_not_moved(rule):
    """d = sum c z is 0 but for rounding: without a cap nothing stands between that and any step."""
    for x in ([0.1], [0.1, 0.7], [0.3, 0.1, 0.5]):
        w, alpha = om.paired_round(
            np.ones(len(x)),
            np.tile(x, (4, 1)),
            [1, -1, -1, -1],
            rule,
            np.inf,
            weights=[1, 1 / 3, 1 / 3, 1 / 3],
        )
        assert_allclose(w, 1.0)
        assert not alpha.any()


@often
@given(seed=seeds, C=prices, k=st.sampled_from([2, 6, 20]), weighted=st.booleans())
def test_a_first_joint_step_solves_the_problem_of_its_sum(seed, C, k, weighted):
    """min |w' - w|^2 / 2 + C slack s.t. <w', d> >= sum c - slack: no point of the line or near is better."""
    draw, w, X, y, c = drawn(seed, k)
    c = c if weighted else np.ones(k)
    J = draw.choice(k, draw.integers(1, k + 1), replace=False)
    d, asked = (c[J] * y[J]) @ X[J], c[J].sum()
    new, alpha = om.paired_round(w, X, y, [J], C, weights=c)

    def value(v):
        slack = max(0.0, asked - v @ d)
        return 0.5 * np.sum((v - w) ** 2) + (C * slack if slack > 1e-9 * asked else 0.0)

    assert len(np.unique(alpha[J])) == 1 and not np.delete(alpha, J).any()
    tau = alpha[J[0]]
    others = [w + step * d for step in (0.0, 0.5 * tau, 0.999 * tau, 1.001 * tau, 2 * tau, min(C, 9.0))]
    others += [new + size * draw.normal(size=len(w)) for size in (1e-4, 1e-2, 1.0)]
    assert all(value(new) <= value(v) * (1 + 1e-9) + 1e-12 for v in others)


@pytest.mark.parametrize("k", [2, 6, 20])
@pytest.mark.parametrize("C", [0.03, np.inf])
def test_any_list_that_has_every_single_one_ends_at_the_exact_solution(k, C):
    """Many sweeps of "sequential", and of all singles after some joint steps: the weights of "dca"."""
    capped = 0
    for seed in range(3):
        draw, w, X, y, c = drawn(seed, k, 40)
        exact, best = om.paired_round(0.3 * w, X, y, "dca", C, weights=c)
        mixed = sets_of(draw, k, False)[:2] + [[j] for j in range(k)]
        for rule in ("sequential", mixed):
            new, _ = om.paired_round(0.3 * w, X, y, rule, C, weights=c, sweeps=200)
            assert_allclose(new, exact, atol=1e-4)
        assert C < np.inf or (y * (X @ new) >= 1 - 1e-5).all()
        capped += np.isclose(best, C).any()
    assert (capped > 0) == (C < np.inf)


@often
@given(seed=seeds, C=prices, margin=st.sampled_from([1.0, 2.0, 0.4]))
def test_auc_is_the_step_on_the_difference(seed, C, margin):
    """tau = clip((margin - <w, x+ - x->) / |x+ - x-|^2, 0, C); Keshet et al. have a margin of 1."""
    _, w, X, y, _ = drawn(seed, 2)
    difference = X[y == 1][0] - X[y == -1][0]
    tau = np.clip((margin - w @ difference) / (difference @ difference), 0, C)
    new, alpha = om.paired_round(w, X, y, "auc", C, margin=margin)
    assert_allclose(alpha, [tau, tau], rtol=1e-9, atol=1e-12)
    assert_allclose(new, w + tau * difference, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("rule", [*RULES, "sets"])
@pytest.mark.parametrize("C", [0.3, np.inf])
def test_data_of_the_same_shape_have_the_same_alphas(rule, C):
    """Turned and mirrored into more dimensions: the weights turn along."""
    for seed in range(6):
        draw, w, X, y, c = drawn(seed, 5, 6)
        chosen = sets_of(draw, 5, False) if rule == "sets" else rule
        turn = np.linalg.qr(draw.normal(size=(11, 6)))[0]  # orthonormal columns
        new, alpha = om.paired_round(w, X, y, chosen, C, weights=c)
        turned, same = om.paired_round(turn @ w, X @ turn.T, y, chosen, C, weights=c)
        assert_allclose(same, alpha, rtol=1e-5, atol=1e-6)
        assert_allclose(turned, turn @ new, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("rule", sorted(RULES))
def test_a_round_in_the_space_of_a_kernel_needs_its_values_only(rule):
    """k(x, v) = (1 + <x, v>)^2 against its features; the start is a sum of earlier examples."""
    moved = 0
    for seed in range(6):
        draw, _, X, y, c = drawn(seed, 5, 3)
        past, beta = draw.normal(size=(4, 3)), 0.3 * draw.normal(size=4)
        w = beta @ features(past)
        new, alpha = om.paired_round(w, features(X), y, rule, 0.05, weights=c)
        gram, margins = y[:, None] * y * (1 + X @ X.T) ** 2, y * ((1 + X @ past.T) ** 2 @ beta)
        alphas, margin = np.zeros(5), 2.0 if rule == "auc" else 1.0
        chosen, asked = np.zeros(5, bool), (0.05, margin, paired.ROUNDED)
        specialise(PARTS[rule]["solve_one"])(gram, margins, y > 0, c, alphas, chosen, *asked)
        moved += alpha.any()
        assert_allclose(alphas, alpha, rtol=1e-6, atol=1e-8)
        assert_allclose(margins, y * (features(X) @ new), rtol=1e-6, atol=1e-6)
    assert moved >= 3


def features(X):
    """phi with <phi(x), phi(v)> = (1 + <x, v>)^2"""
    i, j = np.triu_indices(X.shape[1], 1)
    return np.c_[np.ones(len(X)), np.sqrt(2) * X, X**2, np.sqrt(2) * X[:, i] * X[:, j]]


@often
@given(seed=seeds, C=prices)
def test_order_and_scale_do_not_matter_where_all_move_at_once(seed, C):
    """Samples in another order; rows s times longer with weights c, the start s times shorter: C / s^2."""
    draw, w, X, y, c = drawn(seed)
    order, s = draw.permutation(len(y)), 4.0
    for rule in ("correct_mistakes", "max_violators", "auc"):
        new, alpha = om.paired_round(w, X, y, rule, C, weights=c)
        same, found = om.paired_round(w, X[order], y[order], rule, C, weights=c[order])
        assert_allclose(found, alpha[order], rtol=1e-9, atol=1e-12)
        scaled, small = om.paired_round(w / s, s * X, y, rule, C / s**2, weights=c)
        assert_allclose(small * s**2, alpha, rtol=1e-9, atol=1e-12)
        assert_allclose(scaled * s, new, rtol=1e-7, atol=1e-9)
