"""The theorems of paired rounds, on random, adversarial and noisy streams and against many comparators.

D1, D2, D5: the dual-progress lemma, mistakes, and their rates; "auc": rank errors; "Theorem 6" and "Theorem
8": what holds after an update. What holds of fixed scores (D3, D4) is among the tests of the metrics.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

import onmargin as om

pytestmark = pytest.mark.filterwarnings("ignore:dca stopped")  # where it is slow, the theorems hold as well

KINDS = ("random", "noisy", "separable", "flipping", "collinear")
SCALES = (0.0, 0.1, 0.5, 1.0, 2.0, 5.0)
GRAIN = 1e-10  # a loss that is rounding
RULES = ("dca", "sequential", "correct_mistakes", "max_violators", "auc")


class Stream(NamedTuple):
    """Rounds of k samples, weights of the samples, and the weights that made the labels."""

    X: np.ndarray  # (T, k, d)
    y: np.ndarray  # (k,) the first is positive, the second negative
    c: np.ndarray  # (k,)
    u: np.ndarray

    @property
    def z(self):
        return self.y[:, None] * self.X

    @property
    def radius2(self):
        return (self.X**2).sum(axis=2).max()


def build(drawn):
    """A stream from the numbers Hypothesis drew; flipping and collinear ones are made to hurt."""
    seed, kind, count, k, width, weighted = drawn
    draw = np.random.default_rng(seed)
    X = draw.normal(size=(count, k, width)) * 10 ** draw.uniform(-1, 1)
    y = np.r_[1, -1, draw.choice([-1, 1], k - 2)]
    u = draw.normal(size=width)
    if kind == "collinear":
        X = draw.choice([-1, 1], (count, k, 1)) * X[0, 0] + 1e-3 * X
    if kind != "random":  # a row on the wrong side is mirrored
        wrong = draw.random((count, k)) < (0.1 if kind == "noisy" else 0.0)
        X *= (y * np.where((X @ u >= 0) != wrong, 1, -1))[:, :, None]
    if kind == "flipping":
        X = X[:1] * np.where(np.arange(count) % 2, -1, 1)[:, None, None]
    c = draw.uniform(0.2, 3.0, k) if weighted else np.ones(k)
    return Stream(X, y, c, u)


def play(stream, rule, C, **options):
    """The weights before each round, and the alphas of each."""
    w, weights, alphas = np.zeros(len(stream.u)), [], []
    for rows in stream.X:
        weights.append(w)
        w, alpha = om.paired_round(w, rows, stream.y, rule, C, weights=stream.c, **options)
        alphas.append(alpha)
    return np.array(weights), np.array(alphas)


def margins_of(stream, weights):
    return np.einsum("tkd,td->tk", stream.z, weights)


def comparators(z, u):
    """What made the labels at several scales and with a margin of 1, and least squares."""
    flat = z.reshape(-1, len(u))
    least = np.linalg.lstsq(flat, np.ones(len(flat)), rcond=None)[0]
    gap = (flat @ u).min()
    return [scale * w for w in (u, least) for scale in SCALES] + ([u / gap] if gap > 1e-6 else [])


def holds(left, right):
    assert left <= right + 1e-9 * max(1.0, abs(right))


SIZES = (st.integers(1, 15), st.integers(2, 6), st.integers(1, 5))
DRAWN = st.tuples(st.integers(0, 10**6), st.sampled_from(KINDS), *SIZES, st.booleans())
AGGRESSIVENESS = st.sampled_from([1.0, 0.01, 0.1, 10.0])
often = settings(deadline=None, max_examples=40, derandomize=True, database=None)


@pytest.mark.parametrize("rule", [*RULES, "sets"])
@often
@given(drawn=DRAWN, C=AGGRESSIVENESS, margin=st.sampled_from([1.0, 0.3, 2.0]), sweeps=st.integers(1, 3))
def test_dual_progress_d1(rule, drawn, C, margin, sweeps):
    """sum_t D_t(alpha_t) <= U^2 / 2 + sum c alpha loss(u), whatever the rule, the weights and the sweeps."""
    stream, draw = build(drawn), np.random.default_rng(drawn[0])
    if rule == "sets":
        k = len(stream.y)
        rule = [draw.choice(k, draw.integers(1, k + 1), replace=False) for _ in range(4)]
    asked = 2 * margin if rule == "auc" else margin  # of a pair: twice that of one
    weights, alphas = play(stream, rule, C, margin=asked, sweeps=sweeps)
    assert (alphas >= 0).all() and (alphas <= C * (1 + 1e-12)).all()
    a = stream.c * alphas
    steps = np.einsum("tk,tkd->td", a, stream.z)
    progress = (a * (margin - margins_of(stream, weights))).sum() - 0.5 * (steps**2).sum()
    for u in comparators(stream.z, stream.u):
        paid = (a * np.maximum(margin - stream.z @ u, 0)).sum()
        holds(progress, 0.5 * u @ u + paid)


KAPPAS = {  # with weights of 1: 1, k and k^2
    "sequential": lambda c: c.max(),
    "dca": lambda c: c.sum(),
    "correct_mistakes": lambda c: c.sum() ** 2 / c.min(),
}
mistake_rules = pytest.mark.parametrize("rule", KAPPAS)


def mistakes_of(stream, weights, alphas, rule):
    """(T, k) whether each was wrong: at the start of its round, for "sequential" just before its step."""
    margins = margins_of(stream, weights)
    if rule == "sequential":
        inner = np.einsum("tid,tjd->tij", stream.z, stream.z)
        margins += np.einsum("tij,tj->ti", np.tril(inner, -1), stream.c * alphas)
    return margins <= GRAIN


def bound(stream, u, kappa, C, counted=True):
    paid = (stream.c * counted * np.maximum(1 - stream.z @ u, 0)).sum()
    return max(1 / C, kappa * stream.radius2) * (u @ u + 2 * C * paid)


@mistake_rules
@often
@given(drawn=DRAWN, C=AGGRESSIVENESS)
def test_paired_mistakes_are_bounded_d2(rule, drawn, C):
    """M_c <= max(1/C, kappa R^2) (U^2 + 2C L_c), mistakes and losses counting c_j each."""
    stream = build(drawn)
    wrong = mistakes_of(stream, *play(stream, rule, C), rule)
    for u in comparators(stream.z, stream.u):
        holds((stream.c * wrong).sum(), bound(stream, u, KAPPAS[rule](stream.c), C))


@often
@given(drawn=DRAWN, C=AGGRESSIVENESS)
def test_mistakes_among_the_worst_are_bounded_d2(drawn, C):
    """max_violators: those it chooses count, as mistakes and in the losses of u; kappa is 4 or less."""
    stream = build(drawn)
    weights, _ = play(stream, "max_violators", C)
    margins, chosen = margins_of(stream, weights), np.zeros((len(weights), len(stream.y)), bool)
    for side in (1, -1):
        worst = np.where(stream.y == side, margins, np.inf).argmin(axis=1)
        chosen[np.arange(len(weights)), worst] = True
    chosen &= margins < 1 - GRAIN
    c = [stream.c[those] for those in chosen if those.any()]
    kappa = max((some.sum() ** 2 / some.min() for some in c), default=1.0)
    assert drawn[-1] or kappa <= 4
    for u in comparators(stream.z, stream.u):
        holds((stream.c * chosen * (margins <= 0)).sum(), bound(stream, u, kappa, C, chosen))


@pytest.mark.parametrize("k", [2, 3, 6])
def test_kappa_is_not_1_where_a_round_is_predicted_at_once(k):
    """The draft has 1 for all. Round 1 has k mistakes, u = 1 has none: "dca" reaches k, "sequential" 1."""
    y = np.where(np.arange(k) % 2, -1, 1)
    stream = Stream(y[None, :, None] * np.ones((3, k, 1)), y, np.ones(k), np.ones(1))
    reached = {rule: mistakes_of(stream, *play(stream, rule, 1.0), rule).sum() for rule in KAPPAS}
    assert reached == {"sequential": 1, "dca": k, "correct_mistakes": k}
    for rule, M in reached.items():
        assert M <= bound(stream, stream.u, KAPPAS[rule](stream.c), 1.0) == KAPPAS[rule](stream.c)
        assert (M > bound(stream, stream.u, 1.0, 1.0)) == (rule != "sequential")


@mistake_rules
@often
@given(drawn=DRAWN, C=AGGRESSIVENESS, others=st.integers(1, 5))
def test_rates_over_all_pairs_d5(rule, drawn, C, others):
    """M+ / T + M- / T <= max(1/C, kappa R^2) (2C (mean loss+(u) + mean loss-(u)) + U^2 / T), T = n+ n-."""
    rows = build(drawn[:3] + (2, drawn[4], False))
    positive, negative = rows.X[:, 0], rows.X[:others, 1]
    stream = rows._replace(X=np.array([(x, v) for x in positive for v in negative]))
    T, kappa = len(stream.X), {"sequential": 1, "dca": 2, "correct_mistakes": 4}[rule]
    rates = mistakes_of(stream, *play(stream, rule, C), rule).sum(axis=0) / T
    for u in comparators(stream.z, stream.u):
        means = np.maximum(1 - positive @ u, 0).mean() + np.maximum(1 + negative @ u, 0).mean()
        holds(rates.sum(), max(1 / C, kappa * stream.radius2) * (2 * C * means + u @ u / T))


def rank_bound(differences, radius2, u, C, margin=2.0):
    paid = np.maximum(margin - differences @ u, 0).sum()
    return max(1 / (margin * C), 4 * radius2 / margin**2) * (u @ u + 2 * C * paid)


@often
@given(drawn=DRAWN, C=AGGRESSIVENESS, margin=st.sampled_from([2.0, 1.0]))
def test_rank_errors_of_auc_are_bounded_d2(drawn, C, margin):
    """#{<w_t, x+> <= <w_t, x->} <= max(1/(2C), R^2) (U^2 + 2C sum [2 - <u, x+ - x->]_+)

    for a margin of 2; max(1/C, 4 R^2) for a margin of 1.
    """
    stream = build(drawn[:3] + (2, drawn[4], False))
    weights, _ = play(stream, "auc", C, margin=margin)
    errors = (margins_of(stream, weights).sum(axis=1) <= 0).sum()
    differences = stream.z.sum(axis=1)
    for u in comparators(stream.z, stream.u):
        holds(errors, rank_bound(differences, stream.radius2, u, C, margin))


def test_the_bound_on_rank_errors_is_reached():
    stream = Stream(np.array([[[1.0], [-1.0]]] * 3), np.array([1, -1]), np.ones(2), np.ones(1))
    weights, _ = play(stream, "auc", 1.0)
    assert (margins_of(stream, weights).sum(axis=1) <= 0).sum() == 1
    assert rank_bound(stream.z.sum(axis=1), 1.0, stream.u, 1.0) == 1.0


@often
@given(drawn=DRAWN, C=AGGRESSIVENESS)
def test_rank_errors_of_a_stream_are_bounded_d2(drawn, C):
    """`errors_theory` counts pairs out of order: every arrival meets the last one of the other class."""
    stream, draw = build(drawn), np.random.default_rng(drawn[0])
    order = draw.permutation(stream.X[:, :, 0].size)
    X, y = stream.X.reshape(len(order), -1)[order], np.tile(stream.y, len(stream.X))[order]
    model = om.PairedClassifier(rule="auc", C=C, fit_intercept=False, sampler="recent", reservoir=1,
                                classes=(-1, 1), random_state=0)  # fmt: skip
    run = om.progressive(model, X, y)
    met = [(t, np.flatnonzero(y[:t] != y[t])) for t in range(len(y))]
    differences = np.array([y[t] * (X[t] - X[past[-1]]) for t, past in met if past.size])
    w, errors = np.zeros(X.shape[1]), 0
    for z in differences:
        errors += z @ w <= 0
        w = w + np.clip((2 - z @ w) / (z @ z), 0, C) * z
    assert run.errors_theory == errors
    for u in comparators(y[:, None] * X, stream.u):
        holds(run.errors_theory, rank_bound(differences, (X**2).sum(axis=1).max(), u, C))


@often
@given(drawn=DRAWN, j=st.integers(0, 1))
def test_after_a_step_without_a_cap_theorem_6(drawn, j):
    """One sample: margin 1. Several: the weighted mean of their margins is 1, a pair lies 2 apart."""
    stream, draw = build(drawn), np.random.default_rng(drawn[0])
    w, rows, c = draw.normal(size=len(stream.u)), stream.X[0], stream.c
    wrong = stream.z[0] @ w < 1 - GRAIN
    new, _ = om.paired_round(w, rows, stream.y, [[j]], np.inf, weights=c)
    assert_allclose(stream.z[0, j] @ new, max(1.0, stream.z[0, j] @ w), rtol=1e-7)
    new, _ = om.paired_round(w, rows, stream.y, "correct_mistakes", np.inf, weights=c)
    if wrong.any() and np.linalg.norm((c * wrong) @ stream.z[0]) > 1e-2 * np.sqrt(stream.radius2):
        assert_allclose(np.average(stream.z[0, wrong] @ new, weights=c[wrong]), 1.0, rtol=1e-7)
    new, alpha = om.paired_round(w, rows[:2], stream.y[:2], "auc", np.inf)
    if alpha.any():
        assert_allclose((rows[0] - rows[1]) @ new, 2.0, rtol=1e-7)


@often
@given(drawn=DRAWN, C=AGGRESSIVENESS)
def test_after_the_exact_step_theorem_6(drawn, C):
    """Whose alpha is below C has a margin of 1; C sum c loss(w') + |w' - w|^2 / 2 <= C sum c loss(w)."""
    stream, draw = build(drawn), np.random.default_rng(drawn[0])
    w, rows, z = draw.normal(size=len(stream.u)), stream.X[0], stream.z[0]
    new, alpha = om.paired_round(w, rows, stream.y, "dca", C, weights=stream.c, sweeps=20)
    assert (z[alpha < 0.9 * C] @ new >= 1 - 1e-3).all()
    before, after = (stream.c @ np.maximum(1 - z @ v, 0) for v in (w, new))
    holds(C * after + 0.5 * ((new - w) ** 2).sum(), C * before + 1e-7 * max(1.0, C))


def test_labels_lie_2_apart_after_exact_steps_theorem_8():
    """A row of weights for every label, moved without a cap: all losses are 0, so every set is in order."""
    for seed in range(10):
        draw = np.random.default_rng(seed)
        X, Y = draw.normal(size=(6, 20)), draw.integers(0, 2, (6, 5))
        Y[:, 0], Y[0] = draw.permutation([0, 0, 0, 1, 1, 1]), [0, 1, 0, 1, 1]
        W = [om.paired_round(draw.normal(size=20), X, 2 * y - 1, "dca", np.inf)[0] for y in Y.T]
        scores = X @ np.array(W).T
        for own, s in zip(Y == 1, scores, strict=True):
            assert not own.any() or own.all() or s[own].min() - s[~own].max() >= 2 - 1e-6
        assert om.metrics.ranking_loss(Y, scores) == 0 and om.metrics.lrap(Y, scores) == 1
