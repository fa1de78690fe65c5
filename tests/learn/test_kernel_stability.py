"""Kernel learners in the long run: projections stay exact, memory stays flat, one bad row spoils nothing.

A projection solves K d = k for the vectors kept. How well is seen from outside: by the Gram matrix of
`support_vectors_`, made here pair by pair, and d from the learner's own Cholesky factor.
"""

from __future__ import annotations

import os
import threading
import tracemalloc
import warnings

import numpy as np
import pytest
from scipy.linalg import solve_triangular

import onmargin as om
from onmargin.compiled import threads
from onmargin.models.kernel.forms import Bounded
from onmargin.models.kernel.support import Support
from onmargin.models.kernel.vectors import Grown, Vectors

from ..soaking import either, soaked

BLOCK, MILLION = 50_000, either(200_000, 1_000_000)
BINARY = {"classes": (-1, 1), "gamma": 1.0, "fit_intercept": False}


def twins(seed, count, centres):
    """Points of the plane that lie 1e-7 to 1e-3 from one of a few centres; one label in ten is wrong."""
    draw = np.random.default_rng(seed)
    middle, side = draw.normal(size=(centres, 2)), draw.choice([-1, 1], centres)
    while True:
        which = draw.integers(0, centres, count)
        X = middle[which] + 10.0 ** draw.uniform(-7, -3, (count, 1)) * draw.normal(size=(count, 2))
        yield X, np.where(draw.random(count) < 0.1, -side[which], side[which])


def cloud(seed, count):
    """A standard normal in the plane, a line through 0, one label in ten wrong."""
    draw = np.random.default_rng(seed)
    X, line = draw.normal(size=(count, 2)), draw.normal(size=2)
    y = np.where(X @ line >= 0, 1, -1)
    return X, np.where(draw.random(count) < 0.1, -y, y)


def residual(model, fresh):
    """max |K d - k| over fresh points, d being the coefficients of their projection on the support."""
    support, gamma = model.support_vectors_, model.gamma_
    factor = np.tril(model._model.space.square[: len(support), : len(support)])
    K, k = (np.exp(-gamma * ((support[:, None] - X) ** 2).sum(axis=2)) for X in (support, fresh))
    d = solve_triangular(factor, solve_triangular(factor, k, lower=True), lower=True, trans="T")
    return np.abs(K @ d - k).max()


def arrays_of(thing):
    """All arrays of a model, those within its parts too."""
    if isinstance(thing, np.ndarray):
        return [thing]
    if isinstance(thing, tuple):
        return [array for part in thing for array in arrays_of(part)]
    if isinstance(thing, Grown):
        return [thing.buffer]
    if isinstance(thing, Vectors | Support | Bounded):
        return [array for part in vars(thing).values() for array in arrays_of(part)]
    return []


# ---- projections


@soaked
@pytest.mark.parametrize("tolerance", [0.0, 1e-4])
def test_projection_is_exact_after_a_million_rounds_of_twins(tolerance):
    """|K d - k| < 1e-6 for fresh points, and there is no NaN anywhere (an infinite budget is one number)."""
    stream = twins(0, BLOCK, 40)
    model = om.Projectron(tolerance=tolerance, **BINARY)
    for _ in range(MILLION // BLOCK):
        model.partial_fit(*next(stream))
    fresh, _ = next(stream)
    assert model.t_ == MILLION and model.n_support_ < 150
    assert residual(model, fresh[:300]) < 1e-6
    assert not any(np.isnan(array).any() for array in arrays_of(model._model))
    assert all(np.isfinite(array).all() for array in arrays_of(model._model.space))
    assert np.isfinite(model.decision_function(fresh)).all()


def test_projection_without_tolerance_is_exact_on_twins():
    """A distance of 1e-5 from the span, taken for real, once gave coefficients of 1e10 and scores of 100."""
    for seed in range(8):
        stream = twins(seed, 2000, 200)
        model = om.Projectron(tolerance=0.0, **BINARY)
        run = om.progressive(model, *next(stream))
        assert residual(model, next(stream)[0][:300]) < 1e-6, seed
        assert np.abs(run.scores).max() < 5, seed


def test_projection_of_a_budget_is_exact_on_ordinary_data():
    """PA-I with room for 300 once had scores of 300 after 5000 rounds; without a budget they stay below 5."""
    for seed in (1, 3, 4):
        X, y = cloud(seed, 5300)
        model = om.PassiveAggressiveClassifier(kernel="rbf", budget=300, **BINARY)
        run = om.progressive(model, X[:5000], y[:5000])
        assert residual(model, X[5000:]) < 1e-6, seed
        assert np.abs(run.scores).max() < 5, seed


def test_projection_in_float32_is_as_exact_as_that():
    """|K d - k| < 1e-3, and an answer does not depend on how many rows are asked together."""
    for seed in range(3):
        X, y = cloud(seed, 2300)
        model = om.Projectron(tolerance=0.0, dtype="float32", **BINARY).partial_fit(X[:2000], y[:2000])
        assert residual(model, X[2000:]) < 1e-3, seed
        few, many = model.decision_function(X[:200]), model.decision_function(X)[:200]
        assert np.abs(few - many).max() < 1e-3, seed


def hours(count):
    """One feature, the time: rows come in its order. The side changes every few hours, with noise."""
    draw, X = np.random.default_rng(0), np.linspace(0.0, 20.0, count)[:, None]
    y = np.where(np.sin(X[:, 0]) >= 0, 1, -1)
    return X, np.where(draw.random(count) < 0.1, -y, y), y


SORTED = "each vector lies a little beyond the last: no distance is small, yet the Gram matrix has no inverse"


def test_projection_without_tolerance_is_exact_on_sorted_rows():
    """As the Perceptron: its scores are below 1."""
    X, y, _ = hours(3000)
    model = om.Projectron(tolerance=0.0, **BINARY)
    run = om.progressive(model, X, y)
    plain = om.progressive(om.Perceptron(kernel="rbf", dtype="float64", **BINARY), X, y)
    np.testing.assert_allclose(run.scores, plain.scores, atol=1e-2)
    assert residual(model, X[::10]) < 1e-6


def test_budget_answers_sensibly_on_sorted_rows():
    """PA-I with room for 100: scores of 1e11 where they should be 2, and the answers of a coin."""
    X, y, clean = hours(5000)
    model = om.PassiveAggressiveClassifier(kernel="rbf", budget=100, **BINARY).partial_fit(X, y)
    free = om.PassiveAggressiveClassifier(kernel="rbf", **BINARY).partial_fit(X, y)
    assert np.abs(model.decision_function(X)).max() < 20
    assert model.score(X, clean) > free.score(X, clean) - 0.15 > 0.65


def test_projection_in_float32_is_exact_on_sorted_rows():
    """|K d - k| < 1e-2 with the default tolerance."""
    X, y, _ = hours(10_000)
    model = om.Projectron(dtype="float32", **BINARY).partial_fit(X, y)
    assert residual(model, X[::30]) < 1e-2


# ---- memory


@soaked
@pytest.mark.parametrize(
    "make",
    [
        lambda: om.RandomBudgetPerceptron(budget=50, random_state=0, **BINARY),
        lambda: om.PassiveAggressiveClassifier(kernel="rbf", budget=50, **BINARY),
    ],
    ids=["dropping", "projecting"],
)
def test_memory_is_flat_over_a_million_rounds(make):
    """The model's arrays after 10^5 and 10^6 rounds, and the peak of a call then and later, are the same."""
    model, sizes, peaks = make(), {}, {}
    for number in range(MILLION // BLOCK):
        X, y = cloud(number, BLOCK)
        watched = number in (1, MILLION // BLOCK - 1)
        if watched:
            tracemalloc.start()
        model.partial_fit(X, y)
        if watched:
            peaks[model.t_] = tracemalloc.get_traced_memory()[1]
            tracemalloc.stop()
            sizes[model.t_] = sum(array.nbytes for array in arrays_of(model._model))
    assert model.n_support_ == 50 and list(sizes) == [100_000, MILLION]
    assert sizes[MILLION] == sizes[100_000] > 50 * 2 * 8
    assert peaks[MILLION] < 1.05 * peaks[100_000]


# ---- one bad row, one bad moment


def test_first_row_far_away_does_not_blur_the_others():
    """An outlier (a sentinel such as -9999) costs a round or two, first or last."""
    X, _ = cloud(0, 3000)
    X[0], y = -9999.0, np.where((X**2).sum(axis=1) < 1.4, 1, -1)
    rates = []
    for rows in (slice(None), slice(None, None, -1)):
        model = om.PassiveAggressiveClassifier(kernel="rbf", **BINARY)
        rates.append(om.progressive(model, X[rows], y[rows]).error_rate)
    assert max(rates) < min(rates) + 0.02


def test_threads_of_kernels_survive_a_fork():
    """`multiprocessing` forks; a parent that answered with 2048 vectors or more has its threads already."""

    def meet():  # ends where two threads are at it
        both = threading.Barrier(2, timeout=60)
        return len(threads.Works([both.wait, both.wait], 2).results()) - 2

    meet()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        child = os.fork()
    if child == 0:
        try:
            os._exit(meet())
        except threading.BrokenBarrierError:
            os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
