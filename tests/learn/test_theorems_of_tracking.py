"""T1 (the projected Perceptron against moving comparators) and B1 (the Banditron, in expectation)."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import onmargin as om

from .test_theorems import DRAWN, KINDS, build, holds, losses_of, often


def in_the_ball(U, radius):
    """Each line at most so long."""
    return U * np.minimum(1.0, radius / np.maximum(np.linalg.norm(U, axis=1, keepdims=True), 1e-300))


def moving(stream, draw, radius):
    """Sequences u_1 .. u_T in the ball: fixed, switching, walking, and one that fits every round."""
    T, width = stream.X.shape
    u = stream.u[0] / np.linalg.norm(stream.u[0])
    for length in (0.0, 0.3 * radius, radius):
        yield np.tile(length * u, (T, 1))
        yield length * np.outer(np.where(np.arange(T) < T // 2, 1, -1), u)
        yield length * np.outer(np.where(np.arange(T) // 5 % 2, 1, -1), u)
    walk = np.cumsum(draw.normal(size=(T, width)) * 0.1 * radius, axis=0) + radius * u
    yield in_the_ball(walk, radius)
    yield in_the_ball(1e9 * stream.y[:, None] * stream.X, radius)


def path_of(U):
    return np.linalg.norm(np.diff(U, axis=0), axis=1).sum()


def sides_of_t1(run, stream, U, radius, rate):
    """M (1 - rate R^2 / 2) and sum of losses over the mistakes + (|u_1|^2 + 4 radius P) / (2 rate)."""
    erred = run.losses > 0
    paid = np.maximum(0, 1 - stream.y * (stream.X * U).sum(axis=1))[erred].sum()
    left = run.errors_theory * (1 - rate * stream.radius2 / 2)
    return left, paid + (U[0] @ U[0] + 4 * radius * path_of(U)) / (2 * rate)


def projected(stream, radius, rate):
    bias = {"fit_intercept": bool(stream.bias), "intercept_scaling": stream.bias or 1.0}
    model = om.ProjectedPerceptron(radius=radius, rate=rate, classes=(-1, 1), **bias)
    run = om.progressive(model, stream.X[:, :-1], stream.y)
    constant = model.intercept_ / stream.bias if stream.bias else [0.0]
    assert np.linalg.norm(np.r_[model.coef_[0], constant]) <= radius * (1 + 1e-9)
    assert run.errors_theory == (run.losses > 0).sum() == run.updates
    return run


@often
@given(
    drawn=DRAWN, radius=st.sampled_from([0.1, 1.0, 3.0, 30.0]), share=st.sampled_from([0.1, 0.5, 1.0, 1.9])
)
def test_mistakes_on_a_moving_target_t1(drawn, radius, share):
    stream = build(drawn, 1)
    rate = share / stream.radius2  # below 2 / R^2
    run = projected(stream, radius, rate)
    for U in moving(stream, np.random.default_rng(drawn[0]), radius):
        holds(*sides_of_t1(run, stream, U, radius, rate))


def test_t1_is_not_empty():
    """Somewhere nearly all of the bound is used: a wrong constant would show."""
    nearest = 0.0
    for seed in range(40):
        for kind in KINDS:
            stream = build((seed, kind, 80, 1 + seed % 3, 0.0), 1, unit=True)
            for radius, rate in ((0.3, 1.0), (1.0, 1.0), (1.0, 0.3), (3.0, 1.0)):
                run = projected(stream, radius, rate)
                for U in moving(stream, np.random.default_rng(seed), radius):
                    left, right = sides_of_t1(run, stream, U, radius, rate)
                    holds(left, right)
                    nearest = max(nearest, left / right if right > 0 else 0.0)
    print(f"T1: {nearest:.3f}")
    assert nearest > 0.9


SEEDS = 40


@pytest.mark.parametrize("kind", ["separable", "noisy", "random", "flipping"])
@pytest.mark.parametrize("K, gamma", [(2, 0.5), (3, 0.1), (5, 0.3)])
def test_expected_mistakes_of_the_banditron_b1(kind, K, gamma):
    """E M <= gamma T + L + B/2 + sqrt(B^2/4 + B L + 2 gamma T D), B = D (K / gamma + 1), over 40 seeds."""
    stream = build((K, kind, 300, 3, 0.0), K, unit=True)
    T, found = len(stream.y), []
    for seed in range(SEEDS):
        model = om.Banditron(gamma=gamma, classes=range(K), random_state=seed, fit_intercept=False)
        found.append(om.progressive(model, stream.X, stream.y).mistakes)
    nearest = 0.0
    for scale in (0.0, 0.1, 0.3, 0.5, 1.0, 2.0, 5.0, 20.0):
        u = scale * stream.u
        D, L = (u**2).sum(), losses_of(stream, u, K).sum()
        B = D * (K / gamma + 1)
        right = gamma * T + L + B / 2 + np.sqrt(B * B / 4 + B * L + 2 * gamma * T * D)
        holds(np.mean(found), right)
        nearest = max(nearest, np.mean(found) / right)
    print(f"B1 {kind} {K} {gamma}: {nearest:.3f}")
    assert nearest > 0.2
