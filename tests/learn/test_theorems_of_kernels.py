"""The theorems in the space of a kernel, against comparators u = sum_i c_i k(x_i, .).

P1, A1, A4 - A6: the kernel Perceptron and Passive-Aggressive, with |x|^2 = k(x, x); K1, K2: Projectron and
Projectron++; K3: Forgetron; O1: OM-2. See `kernel_streams`.
"""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

import onmargin as om
from onmargin.interface.support import FINE
from onmargin.learn.vocabulary import FORGETRON_MISTAKES, QUOTA

from ..kernel_streams import DRAWN, KERNELS, build, comparators, holds, losses_of, often, streams, watch

AGGRESSIVENESS = st.sampled_from([10.0, 0.01, 0.1, 1.0])
NEAR = np.sqrt(FINE)  # share of |phi(x)| below which a distance from the span counts as none


def learner(stream, outputs, step, C=1.0):
    options = {"step": step, "C": C, **stream.form}
    if outputs == 0:
        return om.PassiveAggressiveRegressor(epsilon=0.1, **options)
    classes = (-1, 1) if outputs == 1 else tuple(range(outputs))
    return om.PassiveAggressiveClassifier(classes=classes, **options)


@often
@given(drawn=DRAWN)
def test_kernel_perceptron_mistakes_are_bounded_p1(drawn):
    """M <= (UR + sqrt(U^2 R^2 + 4L))^2 / 4, L being the losses of u over the mistakes."""
    for stream in streams(drawn):
        run = watch(om.Perceptron(classes=(-1, 1), **stream.form), stream)
        assert run.errors_theory == (run.losses > 0).sum() == run.model.n_support_
        for u in comparators(stream, run):
            paid, reach2 = losses_of(stream, u.values)[run.losses > 0].sum(), u.size2 * stream.radius2
            holds(run.errors_theory, (np.sqrt(reach2) + np.sqrt(reach2 + 4 * paid)) ** 2 / 4)


@pytest.mark.parametrize(
    ("outputs", "step"),
    [(1, "pa"), (1, "pa1"), (1, "pa2"), (0, "pa1"), (4, "pa2")],
    ids=["pa", "pa1", "pa2", "regression", "multiclass"],
)
@often
@given(drawn=DRAWN, C=AGGRESSIVENESS)
def test_kernel_pa_master_lemma_a1(outputs, step, drawn, C):
    """sum tau (2 loss - tau |z|^2 - 2 loss(u)) <= U^2."""
    for stream in streams(drawn, outputs):
        run = watch(learner(stream, outputs, step, C), stream)
        size = np.diag(stream.K) * (2.0 if outputs > 1 else 1.0)
        for u in comparators(stream, run, outputs):
            theirs = losses_of(stream, u.values, outputs)
            holds((run.steps * (2 * run.losses - run.steps * size - 2 * theirs)).sum(), u.size2)


@often
@given(drawn=DRAWN, C=AGGRESSIVENESS)
def test_kernel_pa1_mistakes_are_bounded_a4(drawn, C):
    """M <= max(R^2, 1/C) (U^2 + 2C sum loss(u))."""
    for stream in streams(drawn):
        run = watch(learner(stream, 1, "pa1", C), stream)
        for u in comparators(stream, run):
            scale, paid = max(stream.radius2, 1 / C), losses_of(stream, u.values).sum()
            holds(run.errors_theory, scale * (u.size2 + 2 * C * paid))


@often
@given(drawn=DRAWN, C=AGGRESSIVENESS)
def test_kernel_pa1_losses_are_bounded_a5(drawn, C):
    """sum min(loss^2 / R^2, C loss) <= U^2 + 2C sum loss(u)."""
    for stream in streams(drawn):
        run = watch(learner(stream, 1, "pa1", C), stream)
        left = np.minimum(run.losses**2 / stream.radius2, C * run.losses).sum()
        for u in comparators(stream, run):
            holds(left, u.size2 + 2 * C * losses_of(stream, u.values).sum())


@often
@given(drawn=DRAWN, C=AGGRESSIVENESS)
def test_kernel_pa2_squared_losses_are_bounded_a6(drawn, C):
    """sum loss^2 <= (R^2 + 1/(2C)) (U^2 + 2C sum loss(u)^2)."""
    for stream in streams(drawn):
        run = watch(learner(stream, 1, "pa2", C), stream)
        for u in comparators(stream, run):
            theirs = (losses_of(stream, u.values) ** 2).sum()
            holds((run.losses**2).sum(), (stream.radius2 + 1 / (2 * C)) * (u.size2 + 2 * C * theirs))


# ---- Projectron


def distances(stream, support):
    """|P phi(x_t)|^2 and the distance from the span of those kept before round t, by the Gram matrix."""
    lengths, gaps = np.zeros(len(stream.y)), np.diag(stream.K).copy()
    for t in range(len(stream.y)):
        S = support[support < t]
        if len(S):
            d = np.linalg.solve(stream.K[np.ix_(S, S)], stream.K[S, t])
            lengths[t] = stream.K[S, t] @ d
            gaps[t] = max(stream.K[t, t] - lengths[t], 0.0)
    return lengths, np.sqrt(gaps)


@often
@given(drawn=DRAWN, share=st.sampled_from([0.0, 0.01, 0.1, 0.3, 0.7]))
def test_projectron_mistakes_are_bounded_k1(drawn, share):
    """M <= ((UR + sqrt(U^2 R^2 + 4qL)) / 2q)^2, q = 1 - tolerance U > 0; kept is what is farther off.

    What is nearer to the span than 1e-4 |phi(x)| counts as in it: the tolerance is never smaller.
    """
    for stream in streams(drawn):
        radius = np.sqrt(stream.radius2)
        run = watch(om.Projectron(tolerance=share * radius, classes=(-1, 1), **stream.form), stream)
        tolerance, erred = max(share, NEAR) * radius, run.losses > 0
        if share:
            far = distances(stream, run.model.support_)[1][erred] / tolerance
            kept = np.isin(np.flatnonzero(erred), run.model.support_)
            assert (far[kept] > 0.999).all() and (far[~kept] < 1.001).all()
        for each in comparators(stream, run):
            for most in (0.1, 0.5, 0.9):
                u = each.within((most / tolerance) ** 2)
                q, reach = 1 - tolerance * np.sqrt(u.size2), np.sqrt(u.size2) * radius
                paid = losses_of(stream, u.values)[erred].sum()
                holds(run.errors_theory, ((reach + np.sqrt(reach**2 + 4 * q * paid)) / (2 * q)) ** 2)


@often
@given(drawn=DRAWN, tolerance=st.sampled_from([0.02, 0.1, 0.3, 0.7]))
def test_projectron_plus_is_bounded_k2(drawn, tolerance):
    """M + sum beta <= U^2 / q^2 + 2/q sum tau loss(u) for k(x, x) <= 1 and tolerance U <= 1/2.

    beta = tau (2 loss - tau n^2 - 2 delta / tolerance) on margin errors whose projection (n^2 its squared
    length, delta what is left) was added; tau = 1 on mistakes, also where the projection is 0 (on nothing
    kept) and the step shown is 0. No margin error is kept.
    """
    for stream in streams(drawn, unit=True):
        run = watch(om.Projectron(plus=True, tolerance=tolerance, classes=(-1, 1), **stream.form), stream)
        margins, support = stream.y * run.scores, run.model.support_
        erred, (lengths, gaps) = margins <= 0, distances(stream, support)
        assert erred[support].all() and np.isin(run.steps[erred], (0.0, 1.0)).all()
        projected = ~erred & (run.steps > 0)
        tau, loss, n2, delta = (each[projected] for each in (run.steps, run.losses, lengths, gaps))
        lost = np.where(delta > NEAR * np.sqrt(np.diag(stream.K)[projected]), delta, 0.0) / tolerance
        assert_allclose(tau, np.minimum(np.minimum(loss, 2 * (loss - lost)) / n2, 1.0), atol=1e-5)
        betas = tau * (2 * loss - tau * n2 - 2 * delta / tolerance)
        holds(0.0, betas.min(initial=0.0) + 2 * NEAR / tolerance)
        for each in comparators(stream, run):
            u = each.within((0.5 / tolerance) ** 2)
            q = 1 - tolerance * np.sqrt(u.size2)
            paid = (np.where(erred, 1.0, run.steps) * losses_of(stream, u.values)).sum()
            holds(run.errors_theory + betas.sum(), u.size2 / q**2 + 2 / q * paid)


@often
@given(drawn=DRAWN)
def test_projectron_without_tolerance_is_the_perceptron(drawn):
    """The same scores, from no more vectors than the kernel's space has dimensions. (No ties: no twins.)"""
    dimensions = {"linear": 4, "poly": 15, "rbf": np.inf}[drawn[-1]]
    for kind in ("random", "noisy", "clean"):
        stream = build(kind, drawn)
        run = watch(om.Projectron(tolerance=0.0, classes=(-1, 1), **stream.form), stream)
        plain = watch(om.Perceptron(classes=(-1, 1), **stream.form), stream)
        assert run.model.n_support_ <= min(plain.model.n_support_, dimensions + stream.form["fit_intercept"])
        assert_allclose(run.scores, plain.scores, atol=2 * NEAR * stream.radius2 * max(plain.mistakes, 1))


def test_projectron_support_is_flat_in_time_and_does_not_grow_with_the_tolerance():
    """Points of a square, labels of no use: a mistake every other round, yet soon nothing new is kept."""
    tolerances, seeds = (0.03, 0.1, 0.3), range(4)
    kept = np.zeros((len(seeds), len(tolerances), 3))
    for seed in seeds:
        draw = np.random.default_rng(seed)
        X, y = draw.uniform(-1, 1, size=(16_000, 2)), draw.choice([-1, 1], 16_000)
        for number, tolerance in enumerate(tolerances):
            model = om.Projectron(tolerance=tolerance, gamma=2.0, classes=(-1, 1))
            for part, rows in enumerate((slice(0, 1000), slice(1000, 4000), slice(4000, 16_000))):
                kept[seed, number, part] = model.partial_fit(X[rows], y[rows]).n_support_
    assert (kept[:, :, 2] <= 1.15 * kept[:, :, 1] + 1).all()  # four times the rounds
    assert (np.diff(kept.mean(axis=0), axis=0) < 0).all()
    assert kept.max() < 100


# ---- Forgetron


@settings(often, max_examples=8)
@given(seed=st.integers(0, 10**6), budget=st.sampled_from([83, 120]))
def test_forgetron_mistakes_are_bounded_k3(seed, budget):
    """M <= 2 U^2 + 4 sum loss(u) for k(x, x) <= 1, B >= 83 and U <= sqrt((B + 1) / ln(B + 1)) / 4.

    The proof rests on the damage done by what was dropped: never more than 15/32 M.
    """
    for stream in streams((seed, 400, 3, 0.0, "rbf")):
        run = watch(om.Forgetron(budget=budget, classes=(-1, 1), **stream.form), stream)
        assert run.model.n_support_ == min(budget, run.errors_theory)
        ledger = run.model._model.space.ledger
        assert ledger[FORGETRON_MISTAKES] == run.errors_theory
        holds(ledger[QUOTA], 15 / 32 * run.errors_theory)
        for each in comparators(stream, run):
            u = each.within((budget + 1) / np.log(budget + 1) / 16)
            holds(run.errors_theory, 2 * u.size2 + 4 * losses_of(stream, u.values).sum())


# ---- OM-2


def many_comparators(grams, y, classes, run, draw):
    """Squared norms by kernel, and values: teachers, ridge regressions, what was learned; in one or all."""
    goals, count = np.eye(classes)[y], len(y)
    some = draw.normal(size=(len(grams), count, classes)) * (draw.random((count, 1)) < 0.3)
    ridge = np.array([np.linalg.solve(K + 1e-3 * np.diag(K).max() * np.eye(count), goals) for K in grams])
    learned, table = np.zeros((count, classes)), run.model.dual_coef_
    learned[run.model.support_] = (np.r_[-table, table] if classes == 2 else table).T
    for c in (some, ridge, run.model.kernel_weights_[:, None, None] * learned):
        for only in (*range(len(grams)), slice(None)):
            mine = np.zeros(c.shape)
            mine[only] = c[only]
            values = grams @ mine
            sizes2 = np.maximum((mine * values).sum(axis=(1, 2)), 0.0)
            yield from (
                (scale**2 * sizes2, scale * values.sum(axis=0)) for scale in (0.0, 0.1, 0.5, 1.0, 2.0, 5.0)
            )


@pytest.mark.parametrize("classes", [2, 4])
@often
@given(drawn=DRAWN, q=st.sampled_from([2.0, 2.5, 4.0, 20.0]))
def test_om2_updates_are_bounded_o1(classes, drawn, q):
    """M <= sum eta <= (UX sqrt(q) + sqrt(q U^2 X^2 + 4L))^2 / 4, U being the (2, p) norm of u.

    X^2 is the largest |z|_{2,q}^2 of an update, L = sum eta [1 - <u, z>]_+ with the learner's own rival.
    """
    kernels = [("rbf", {"gamma": 0.5}), "linear", ("poly", {"gamma": 0.3, "degree": 2, "coef0": 1.0})]
    for stream in streams(drawn, classes):
        X, each, own = stream.X, np.arange(len(stream.y)), np.eye(classes, dtype=bool)[stream.y]
        grams = np.array([KERNELS[name](X, X, g) for name, g in (("rbf", 0.5), ("linear", 1), ("poly", 0.3))])
        model = om.OM2(kernels=kernels, q=q, classes=range(classes), dtype="float64")
        run = om.progressive(model, X, stream.y, classes=range(classes))
        scores = np.c_[-run.scores, run.scores] / 2 if classes == 2 else run.scores
        rival = np.where(own, -np.inf, scores).argmax(axis=1)
        sizes = 2 * (np.diagonal(grams, axis1=1, axis2=2) ** (q / 2)).sum(axis=0) ** (2 / q)
        margins = scores[own] - scores[each, rival]
        assert_allclose(
            run.steps, np.where(margins < 1, np.clip(1 - 2 * margins / sizes, 0, 1), 0), atol=1e-12
        )
        assert run.errors_theory <= run.steps.sum()
        farthest = sizes[run.steps > 0].max()
        draw = np.random.default_rng(drawn[0])
        for sizes2, values in many_comparators(grams, stream.y, classes, run, draw):
            reach2 = q * farthest * (sizes2 ** (q / (q - 1) / 2)).sum() ** (2 * (q - 1) / q)
            paid = (run.steps * np.maximum(0, 1 - values[own] + values[each, rival])).sum()
            holds(run.steps.sum(), (np.sqrt(reach2) + np.sqrt(reach2 + 4 * paid)) ** 2 / 4)
