"""The theorems, on random, adversarial and noisy streams and against many comparators.

The letters are those of the table of certificates: P1, P2 (Perceptron), A0 - A6 (Passive-Aggressive).
With a constant coordinate s the rows are (x, s), and every radius and norm counts it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import onmargin as om

SCALES = (0.0, 0.1, 0.5, 1.0, 2.0, 5.0)
KINDS = ("random", "noisy", "separable", "flipping", "collinear")


class Stream(NamedTuple):
    """Rows with their constant coordinate, targets, and the weights that made the targets."""

    X: np.ndarray  # (n, d + 1); the last column is constant, 0 without intercept
    y: np.ndarray
    u: np.ndarray  # (outputs, d + 1)

    @property
    def bias(self):
        return self.X[0, -1]

    @property
    def radius2(self):
        return (self.X**2).sum(axis=1).max()


def rows_of(draw, kind, count, width, bias):
    """Rows of one of the kinds; flipping and collinear ones are made to hurt."""
    X = draw.normal(size=(count, width)) * 10 ** draw.uniform(-1, 1)
    if kind == "flipping":
        X[:] = X[0]
    if kind == "collinear":
        X = np.outer(draw.choice([-1, 1], count), X[0]) + 1e-3 * X
    return np.c_[X, np.full(count, bias)]


def build(drawn, outputs, unit=False):
    """A stream from the numbers Hypothesis drew; outputs: 0 numbers, 1 two classes, K classes."""
    seed, kind, count, width, bias = drawn
    draw = np.random.default_rng(seed)
    X = rows_of(draw, kind, count, width, bias)
    if unit:
        X /= np.linalg.norm(X, axis=1, keepdims=True)
        X = np.c_[X, np.zeros(count)]  # the constant coordinate has become a feature like the others
    u = draw.normal(size=(max(outputs, 1), X.shape[1]))
    noise = {"separable": 0.0, "random": 5.0}.get(kind, 0.5) * draw.normal(size=(count, len(u)))
    scores = X @ u.T + noise * np.abs(X @ u.T).mean()
    if kind == "flipping":
        scores[::2] = -scores[::2]
    if outputs > 1:
        return Stream(X, scores.argmax(axis=1), u)
    return Stream(X, scores[:, 0] if outputs == 0 else np.where(scores[:, 0] >= 0, 1, -1), u)


def comparators(stream, outputs):
    """Nothing, what made the targets at several scales, and least squares."""
    goals = np.eye(max(outputs, 2))[stream.y] if outputs > 1 else stream.y[:, None].astype(float)
    least = np.linalg.lstsq(stream.X, goals, rcond=None)[0].T
    return [scale * w for w in (stream.u, least) for scale in SCALES]


def losses_of(stream, u, outputs, epsilon=0.1):
    """The losses of a fixed u: hinge, that of the best rival, or epsilon-insensitive."""
    scores = stream.X @ u.T
    if outputs == 0:
        return np.maximum(0, np.abs(scores[:, 0] - stream.y) - epsilon)
    if outputs == 1:
        return np.maximum(0, 1 - stream.y * scores[:, 0])
    own = scores[np.arange(len(scores)), stream.y]
    scores[np.arange(len(scores)), stream.y] = -np.inf
    return np.maximum(0, 1 - own + scores.max(axis=1))


def learner(stream, outputs, step, C=1.0):
    """The Passive-Aggressive learner of the problem, without or with the stream's constant coordinate."""
    options = {
        "step": step,
        "C": C,
        "fit_intercept": bool(stream.bias),
        "intercept_scaling": stream.bias or 1.0,
    }
    if outputs == 0:
        return om.PassiveAggressiveRegressor(epsilon=0.1, **options)
    classes = (-1, 1) if outputs == 1 else tuple(range(outputs))
    return om.PassiveAggressiveClassifier(classes=classes, **options)


def watch(model, stream):
    return om.progressive(model, stream.X[:, :-1], stream.y, classes=getattr(model, "classes", None))


def factor(outputs):
    """|z|^2 / |x|^2: two rows move where there are several classes."""
    return 2.0 if outputs > 1 else 1.0


def holds(left, right):
    assert left <= right + 1e-9 * max(1.0, abs(right))


DRAWN = st.tuples(
    st.integers(0, 10**6), st.sampled_from(KINDS), st.integers(1, 80), st.integers(1, 6),
    st.sampled_from([0.0, 0.5, 1.0]),
)  # fmt: skip
AGGRESSIVENESS = st.sampled_from([0.01, 0.1, 1.0, 10.0])
TASKS = pytest.mark.parametrize("outputs", [0, 1, 4], ids=["regression", "binary", "multiclass"])
CLASSES = pytest.mark.parametrize("outputs", [1, 4], ids=["binary", "multiclass"])
often = settings(
    deadline=None,
    max_examples=40,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow],
    database=None,
)


def perceptron(stream, outputs, **more):
    classes = (-1, 1) if outputs == 1 else tuple(range(outputs))
    bias = {"fit_intercept": bool(stream.bias), "intercept_scaling": stream.bias or 1.0}
    return om.Perceptron(classes=classes, **bias, **more)


@CLASSES
@often
@given(drawn=DRAWN)
def test_perceptron_mistakes_are_bounded_p1(outputs, drawn):
    """M <= (UR + sqrt(U^2 R^2 + 4L))^2 / 4, L being the losses of u over the mistakes."""
    stream = build(drawn, outputs)
    run = watch(perceptron(stream, outputs), stream)
    erred = run.losses > 0
    assert run.errors_theory == erred.sum() >= run.mistakes
    for u in comparators(stream, outputs):
        reach2 = (u**2).sum() * factor(outputs) * stream.radius2
        paid = losses_of(stream, u, outputs)[erred].sum()
        holds(run.errors_theory, (np.sqrt(reach2) + np.sqrt(reach2 + 4 * paid)) ** 2 / 4)


@CLASSES
@often
@given(drawn=DRAWN, rate=st.sampled_from([0.1, 1.0, 3.0]))
def test_perceptron_random_start_p2(outputs, drawn, rate):
    """e (M - L) + <u, w_1> <= U sqrt(|w_1|^2 + e^2 R^2 M)."""
    stream = build(drawn, outputs)
    model = perceptron(stream, outputs, init="random", rate=rate, random_state=drawn[0])
    model.partial_fit(stream.X[:1, :-1], stream.y[:1], sample_weight=[0.0])  # a round that is not seen
    bias = model.intercept_ / stream.bias if stream.bias else np.zeros(len(model.coef_))
    start = np.c_[model.coef_, bias]
    assert start[:, :-1].all()
    run = watch(model, stream)
    M = run.errors_theory
    for u in comparators(stream, outputs):
        paid = losses_of(stream, u, outputs)[run.losses > 0].sum()
        reach2 = factor(outputs) * stream.radius2
        right = np.sqrt((u**2).sum()) * np.sqrt((start**2).sum() + rate**2 * reach2 * M)
        holds(rate * (M - paid) + (u * start).sum(), right)


@TASKS
@pytest.mark.parametrize("step", ["pa", "pa1", "pa2"])
@often
@given(drawn=DRAWN, C=AGGRESSIVENESS)
def test_pa_master_lemma_a1(outputs, step, drawn, C):
    """sum tau (2 loss - tau |z|^2 - 2 loss(u)) <= U^2."""
    stream = build(drawn, outputs)
    run = watch(learner(stream, outputs, step, C), stream)
    size = factor(outputs) * (stream.X**2).sum(axis=1)
    for u in comparators(stream, outputs):
        theirs = losses_of(stream, u, outputs)
        holds((run.steps * (2 * run.losses - run.steps * size - 2 * theirs)).sum(), (u**2).sum())


@TASKS
@often
@given(drawn=DRAWN)
def test_pa_separable_a2(outputs, drawn):
    """sum loss^2 <= U^2 R^2 where u makes no loss at all."""
    stream = build(drawn[:1] + ("separable",) + drawn[2:], outputs)
    ordered = np.sort(stream.X @ stream.u.T, axis=1)
    gaps = ordered[:, -1] - ordered[:, -2] if outputs > 1 else np.abs(ordered[:, 0])
    u = stream.u if outputs == 0 else stream.u * (1 + 1e-6) / gaps.min()
    assert not losses_of(stream, u, outputs).any()
    run = watch(learner(stream, outputs, "pa"), stream)
    holds((run.losses**2).sum(), (u**2).sum() * factor(outputs) * stream.radius2)


@CLASSES
@often
@given(drawn=DRAWN)
def test_pa_unit_norms_a3(outputs, drawn):
    """sum loss^2 <= (U + 2 sqrt(sum loss(u)^2))^2 where every |z| is 1."""
    stream = build(drawn, outputs, unit=True)
    stream = stream._replace(X=stream.X / np.sqrt(factor(outputs)))
    run = watch(learner(stream, outputs, "pa"), stream)
    for u in comparators(stream, outputs):
        theirs = losses_of(stream, u, outputs)
        holds((run.losses**2).sum(), (np.sqrt((u**2).sum()) + 2 * np.sqrt((theirs**2).sum())) ** 2)


@CLASSES
@often
@given(drawn=DRAWN, C=AGGRESSIVENESS)
def test_pa1_mistakes_are_bounded_a4(outputs, drawn, C):
    """M <= max(R^2, 1/C) (U^2 + 2C sum loss(u))."""
    stream = build(drawn, outputs)
    run = watch(learner(stream, outputs, "pa1", C), stream)
    for u in comparators(stream, outputs):
        paid = losses_of(stream, u, outputs).sum()
        scale = max(factor(outputs) * stream.radius2, 1 / C)
        holds(run.errors_theory, scale * ((u**2).sum() + 2 * C * paid))


@TASKS
@often
@given(drawn=DRAWN, C=AGGRESSIVENESS)
def test_pa1_losses_are_bounded_a5(outputs, drawn, C):
    """sum min(loss^2 / R^2, C loss) <= U^2 + 2C sum loss(u)."""
    stream = build(drawn, outputs)
    run = watch(learner(stream, outputs, "pa1", C), stream)
    left = np.minimum(run.losses**2 / (factor(outputs) * stream.radius2), C * run.losses).sum()
    for u in comparators(stream, outputs):
        holds(left, (u**2).sum() + 2 * C * losses_of(stream, u, outputs).sum())


@TASKS
@often
@given(drawn=DRAWN, C=AGGRESSIVENESS)
def test_pa2_squared_losses_are_bounded_a6(outputs, drawn, C):
    """sum loss^2 <= (R^2 + 1/(2C)) (U^2 + 2C sum loss(u)^2)."""
    stream = build(drawn, outputs)
    run = watch(learner(stream, outputs, "pa2", C), stream)
    scale = factor(outputs) * stream.radius2 + 1 / (2 * C)
    for u in comparators(stream, outputs):
        theirs = (losses_of(stream, u, outputs) ** 2).sum()
        holds((run.losses**2).sum(), scale * ((u**2).sum() + 2 * C * theirs))


@CLASSES
@pytest.mark.parametrize("step", ["pa", "pa1", "pa2"])
@often
@given(drawn=DRAWN, C=AGGRESSIVENESS)
def test_mistakes_are_at_most_the_squared_losses_a0(outputs, step, drawn, C):
    """M <= sum loss^2: a mistake costs at least 1."""
    stream = build(drawn, outputs)
    run = watch(learner(stream, outputs, step, C), stream)
    assert run.errors_theory <= (run.losses >= 1).sum()
    holds(run.errors_theory, (run.losses**2).sum())
