"""What is proved of Pegasos (G1, G2), of the SVM's optimum, and of mixing Perceptrons (I1)."""

from __future__ import annotations

import copy

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from sklearn.svm import LinearSVC

import onmargin as om

from ..oracles_pegasos import objective

often = settings(deadline=None, max_examples=40, derandomize=True, database=None)
DRAWN = st.tuples(st.integers(0, 10**6), st.integers(2, 60), st.integers(1, 5))
LAMS = st.sampled_from([0.01, 0.1, 1.0, 10.0])


def holds(left, right):
    assert left <= right + 1e-9 * max(1.0, abs(right))


def noisy(drawn):
    """Rows with a constant coordinate of 1, both signs among their labels, and what made the labels."""
    seed, count, width = drawn
    draw = np.random.default_rng(seed)
    X = np.c_[draw.normal(size=(count, width)) * 10 ** draw.uniform(-1, 0.5), np.ones(count)]
    u = draw.normal(size=width + 1)
    y = np.where(X @ u + draw.choice([0.0, 0.5, 3.0]) * draw.normal(size=count) >= 0, 1, -1)
    y[0], y[-1] = 1, -1
    return draw, X, y, u


def weights(model):
    return np.r_[model.coef_[0], model.intercept_]


# ---- G1: regret in the objective


@often
@given(
    drawn=DRAWN, lam=LAMS, batch=st.sampled_from([1, 1, 2, 5]), project=st.booleans(),
    with_prior=st.booleans(), weighted=st.booleans(),
)  # fmt: skip
def test_regret_in_the_objective_g1(drawn, lam, batch, project, with_prior, weighted):
    """sum f_t(w_t) - f_t(u) <= sum |gradient_t|^2 / (2 lam t) <= c (1 + ln T) / (2 lam), f_t on batch t.

    Any order, any u (in the ball where w is kept there); c = 4 R^2, or (lam radius + R)^2 in the ball.
    """
    assume(not (project and with_prior))  # a stream does not know that ball
    draw, X, y, made = noisy(drawn)
    c = draw.uniform(0.2, 3.0, len(X)) if weighted else np.ones(len(X))
    prior = draw.normal(size=X.shape[1]) if with_prior else np.zeros(X.shape[1])
    model = om.Pegasos(
        lam=lam, batch_size=batch, project=project, average=False, classes=(-1, 1), intercept_scaling=1.0,
        prior=(prior[:-1], prior[-1]) if with_prior else None,
    )  # fmt: skip
    w, T = prior, len(X) // batch
    comparators = [scale * u for u in (made, np.linalg.lstsq(X, y, rcond=None)[0]) for scale in (0.1, 1, 5)]
    comparators += [np.zeros(X.shape[1]), prior]
    radius = 1 / np.sqrt(lam) if project else np.inf
    comparators = [u for u in comparators if np.linalg.norm(u - prior) <= radius]
    regrets, right = np.zeros(len(comparators)), 0.0
    for t in range(1, T + 1):
        rows = slice((t - 1) * batch, t * batch)
        A, sides, costs = X[rows], y[rows], c[rows]
        hit = sides * (A @ w) < 1
        gradient = lam * (w - prior) - (costs * sides * hit) @ A / batch
        right += gradient @ gradient / (2 * lam * t)
        mine = objective(w, A, sides, lam, prior, costs)
        regrets += [mine - objective(u, A, sides, lam, prior, costs) for u in comparators]
        model.partial_fit(A[:, :-1], sides, sample_weight=costs)
        w = weights(model)
        for regret in regrets:
            holds(regret, right)
    reach = (c * np.linalg.norm(X, axis=1)).max()
    constant = (lam * radius + reach) ** 2 if project else 4 * reach**2
    holds(right, constant * (1 + np.log(max(T, 1))) / (2 * lam))


@often
@given(drawn=DRAWN, lam=LAMS)
def test_whole_passes_come_near_the_best_g1(drawn, lam):
    """Over whole passes sum f_t(u) = T f(u): the mean f_t(w_t) is at most f* + c (1 + ln T) / (2 lam T)."""
    _, X, y, _ = noisy(drawn)
    model, total, T = (
        om.Pegasos(lam=lam, average=False, classes=(-1, 1), intercept_scaling=1.0),
        0.0,
        3 * len(X),
    )
    w = np.zeros(X.shape[1])
    for i in np.tile(np.arange(len(X)), 3):
        total += objective(w, X[[i]], y[[i]], lam)
        w = weights(model.partial_fit(X[[i], :-1], y[[i]]))
    best, reach = om.svm_optimum(X[:, :-1], y, lam=lam, max_iter=100), np.linalg.norm(X, axis=1).max()
    holds(total / T, best.objective + 4 * reach**2 * (1 + np.log(T)) / (2 * lam * T))


# ---- G2: how far from the best


@often
@given(
    drawn=DRAWN, lam=LAMS, batch=st.sampled_from([1, 2]), project=st.booleans(), with_prior=st.booleans(),
    weighted=st.booleans(), average=st.sampled_from([True, False, 0.5]),
    order=st.sampled_from(["shuffle", "random", "cyclic"]),
)  # fmt: skip
def test_the_gap_is_at_least_the_distance_to_the_best_g2(
    drawn, lam, batch, project, with_prior, weighted, average, order
):
    """f(w) - D(clip(a)) >= f(w) - f* >= 0, and |w* - prior| <= sqrt(f(prior) / lam).

    f* is between the objective found and its gap below; w* within sqrt(2 gap / lam) of what was found.
    """
    draw, X, y, _ = noisy(drawn)
    c = draw.uniform(0.2, 3.0, len(X)) if weighted else np.ones(len(X))
    prior = draw.normal(size=X.shape[1]) if with_prior else np.zeros(X.shape[1])
    given_prior = (prior[:-1], prior[-1]) if with_prior else None
    model = om.Pegasos(
        lam=lam, batch_size=batch, project=project, average=average, order=order, prior=given_prior,
        max_iter=10, tol=None, random_state=drawn[0], intercept_scaling=1.0,
    ).fit(X[:, :-1], y, sample_weight=c)  # fmt: skip
    best = om.svm_optimum(X[:, :-1], y, lam=lam, prior=given_prior, sample_weight=c, max_iter=100)
    found = np.r_[best.coef, best.intercept]
    assert best.objective == pytest.approx(objective(found, X, y, lam, prior, c), rel=1e-9)
    slack = 1e-9 * max(1.0, best.objective)
    assert best.gap >= -slack and (best.gap <= slack or best.passes == 100)
    assert model.objective_ >= best.objective - best.gap - slack
    assert model.dual_gap_ >= max(model.objective_ - best.objective, 0) - slack
    reach = np.sqrt(objective(prior, X, y, lam, prior, c) / lam)
    holds(np.linalg.norm(found - prior), reach + np.sqrt(2 * (best.gap + slack) / lam))


def test_the_gap_closes():
    _, X, y, _ = noisy((1, 60, 3))
    gaps = [
        om.Pegasos(lam=0.1, max_iter=passes, tol=None, random_state=0).fit(X[:, :-1], y).dual_gap_
        for passes in (1, 10, 100, 1000)
    ]
    assert gaps[0] > gaps[1] > gaps[2] > gaps[3] and 0 < gaps[3] < 1e-3


# ---- the exact optimum


@pytest.mark.parametrize("lam", [0.01, 0.1, 1.0])
@pytest.mark.parametrize("weighted", [False, True])
def test_the_optimum_is_that_of_another_solver(lam, weighted):
    """C = 1 / (lam N); LinearSVC has the intercept inside the norm too, and C c_i for weights."""
    draw, X, y, _ = noisy((11, 60, 4))
    c = draw.uniform(0.2, 3.0, 60) if weighted else None
    svm = LinearSVC(loss="hinge", dual=True, C=1 / (lam * 60), tol=1e-12, max_iter=10**6, random_state=0)
    for fit_intercept, table in ((True, X[:, :-1]), (False, X), (True, sp.csr_matrix(X[:, :-1]))):
        svm.set_params(fit_intercept=fit_intercept).fit(table, y, sample_weight=c)
        best = om.svm_optimum(table, y, lam=lam, sample_weight=c, fit_intercept=fit_intercept, tol=1e-13)
        np.testing.assert_allclose(best.coef, svm.coef_[0], atol=1e-6)
        np.testing.assert_allclose(best.intercept, svm.intercept_, atol=1e-6)
    names = np.where(y > 0, "yes", "no")
    np.testing.assert_allclose(om.svm_optimum(X, names, lam=lam, tol=1e-13).coef,
                               om.svm_optimum(X, y, lam=lam, tol=1e-13).coef, atol=1e-9)  # fmt: skip


@pytest.mark.parametrize("times", [2, 5])
def test_duplicating_the_rare_points_is_weighting_them(times):
    """Section 5.4: c_i = N / (2 N_y) with C is each rare point N_- / N_+ times with C N / (2 N_-).

    With lam in place of C = 1 / (lam N) nothing changes: both have the same lam.
    """
    draw = np.random.default_rng(times)
    rare, common = 12, 12 * times
    y = np.r_[np.ones(rare), -np.ones(common)].astype(int)
    X = draw.normal(size=(rare + common, 3)) + 0.5 * y[:, None]
    N, lam = rare + common, 0.05
    c = np.where(y > 0, N / (2 * rare), N / (2 * common))
    assert c.sum() == pytest.approx(N)
    repeated = np.r_[np.repeat(np.arange(rare), times), np.arange(rare, N)]
    weighted = om.svm_optimum(X, y, lam=lam, sample_weight=c, tol=1e-13)
    duplicated = om.svm_optimum(X[repeated], y[repeated], lam=lam, tol=1e-13)
    np.testing.assert_allclose(duplicated.coef, weighted.coef, atol=1e-6)
    C = 1 / (lam * N)
    lam_duplicated = 1 / (C * N / (2 * common) * len(repeated))
    assert lam_duplicated == pytest.approx(lam)
    model = om.Pegasos(
        lam=lam, class_weight="balanced", max_iter=2000, tol=None, random_state=0, average=True,
        intercept_scaling=1.0,
    ).fit(X, y)  # fmt: skip
    assert weighted.objective <= model.objective_ <= weighted.objective + 1e-3


# ---- I1: Perceptrons on shards, mixed after every epoch


@often
@given(drawn=DRAWN, shards=st.integers(1, 4), by_updates=st.booleans(), bias=st.sampled_from([0.0, 1.0, 3.0]))
def test_iterative_parameter_mixing_i1(drawn, shards, by_updates, bias):
    """Separable with margin gamma by a unit u: sum over epochs of sum_s mu_s k_s <= R^2 / gamma^2."""
    draw, rows, _, u = noisy(drawn)
    X = np.c_[rows[:, :-1], np.full(len(rows), bias)]
    u = u / np.linalg.norm(u)
    far = np.abs(X @ u) > 0.05 * np.linalg.norm(X, axis=1)
    X, y = X[far], np.where(X[far] @ u >= 0, 1, -1)
    parts = [part for part in np.array_split(draw.permutation(len(X)), shards) if len(part)]
    if not parts:
        return
    bound = (X**2).sum(axis=1).max() / (y * (X @ u)).min() ** 2
    mixed = om.Perceptron(classes=(-1, 1), fit_intercept=bool(bias), intercept_scaling=bias or 1.0)
    mixed.partial_fit(X[:1, :-1], y[:1], sample_weight=[0.0])  # a round that is not seen
    left = 0.0
    for _ in range(400):
        copies = [copy.deepcopy(mixed) for _ in parts]
        updates = np.array(
            [om.progressive(m, X[p, :-1], y[p]).updates for m, p in zip(copies, parts, strict=True)], float
        )
        if not updates.any():
            break
        mu = updates / updates.sum() if by_updates else np.full(len(parts), 1 / len(parts))
        left += mu @ updates
        holds(left, bound)
        mixed = om.merge(copies, weights=mu)
        mean = sum(m * np.r_[c.coef_[0], c.intercept_] for m, c in zip(mu, copies, strict=True))
        np.testing.assert_allclose(weights(mixed), mean, atol=1e-9 * max(1, abs(mean).max()))
    else:
        raise AssertionError("it should have ended")
    assert (mixed.predict(X[:, :-1]) == y).all()
