"""The regret theorems of the recipe: F1 (any constant regulariser), F2 (AdaGrad), F3 (coin), O1 (p-norm).

The letters are those of the table of certificates. Streams and comparators are those of
`test_theorems`, with rows scaled to length at most 1 where nothing else is said.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import onmargin as om

from .test_theorems import DRAWN, build, comparators, holds, often

LOSSES = {
    "hinge": lambda m: np.maximum(0, 1 - m),
    "logistic": lambda m: np.logaddexp(0, -m),
    "squared_hinge": lambda m: np.maximum(0, 1 - m) ** 2,
}
RATES = st.sampled_from([0.03, 0.3, 1.0])
RADII = st.sampled_from([0.5, 1.0, 4.0])


def short(drawn):
    """A two-class stream whose longest row (with its constant coordinate) has length 1."""
    stream = build(drawn, 1)
    return stream._replace(X=stream.X / math.sqrt(stream.radius2))


def living(stream):
    """The coordinates that exist: without an intercept the last one does not."""
    return stream.X.shape[1] - (stream.bias == 0)


def learner(stream, **options):
    bias = {"fit_intercept": bool(stream.bias), "intercept_scaling": stream.bias or 1.0}
    return om.FTRLClassifier(classes=(-1, 1), **bias, **options)


def watch(model, stream):
    return om.progressive(model, np.ascontiguousarray(stream.X[:, :-1]), stream.y)


def theirs(stream, u, loss="hinge"):
    """The losses of a fixed u."""
    return LOSSES[loss](stream.y * (stream.X[:, : len(u)] @ u))


def fixed(stream):
    """Comparators: nothing, what made the labels at several scales, least squares."""
    return [u[0, : living(stream)] for u in comparators(stream, 1)]


# ---- regularisers: the options of the learner, |x|_*^2 of every row, 1 / sigma, and (u, g(u) - min g)


def norm(values, p):
    """|values|_p of the last axis, scaled against overflow."""
    top = np.abs(values).max(axis=-1, keepdims=True, initial=1e-300)
    return top[..., 0] * ((np.abs(values) / top) ** p).sum(axis=-1) ** (1 / p)


def euclidean(stream, p, radius, draw):
    rows = stream.X[:, : living(stream)]
    return {}, (rows**2).sum(axis=1), 1.0, [(u, u @ u / 2) for u in fixed(stream)]


def conjugate(p, coordinates):
    """(p, q); p=None is q = max(2, 2 ln d)."""
    q = max(2.0, 2 * math.log(coordinates)) if p is None else p / (p - 1)
    return q / (q - 1), q


def p_norm(stream, p, radius, draw):
    """g = |w|_p^2 / (2 (p - 1)), 1-strongly convex in |.|_p."""
    power, q = conjugate(p, living(stream))
    each = [(u, norm(u, power) ** 2 / (2 * (power - 1))) for u in fixed(stream)]
    return {"p": p}, norm(stream.X[:, : living(stream)], q) ** 2, 1.0, each


def group_norm(stream, p, radius, draw):
    """The same over the lengths of groups; the constant coordinate is its own."""
    groups = draw.integers(0, 3, stream.X.shape[1] - 1)
    marks = np.r_[groups, 9][: living(stream)]
    power, q = conjugate(p, len(set(marks)))

    def lengths(values):
        return np.sqrt(np.stack([(values[..., marks == g] ** 2).sum(axis=-1) for g in set(marks)], axis=-1))

    each = [(u, norm(lengths(u), power) ** 2 / (2 * (power - 1))) for u in fixed(stream)]
    options = {"p": p, "groups": groups.tolist()}
    return options, norm(lengths(stream.X[:, : living(stream)]), q) ** 2, 1.0, each


def entropy(v, radius):
    """B sum v/B ln(v/B) + B ln d: 0 at the centre of the simplex, 1/B-strongly convex in |.|_1."""
    share = v[v > 0] / radius
    return radius * (share @ np.log(share)) + radius * math.log(len(v))


def simplex(stream, p, radius, draw):
    """Points of the simplex: its centre, its corners, and others."""
    width = living(stream)
    points = [np.full(width, 1 / width), *np.eye(width), *draw.dirichlet(np.ones(width), 4)]
    each = [(radius * v, entropy(radius * v, radius)) for v in points]
    largest = np.abs(stream.X[:, :width]).max(axis=1) ** 2
    return {"radius": radius, "signed": False}, largest, radius, each


def signed(stream, p, radius, draw):
    """The simplex of doubled coordinates: u = v+ - v-, what is left over spread evenly."""
    width = living(stream)
    each = []
    for u in (*fixed(stream), *(radius * np.eye(width)), *(-radius * np.eye(width))):
        u = u * min(1.0, radius / max(np.abs(u).sum(), 1e-300))
        rest = max(radius - np.abs(u).sum(), 0.0) / (2 * width)
        each.append((u, entropy(np.r_[np.maximum(u, 0), np.maximum(-u, 0)] + rest, radius)))
    return {"radius": radius}, np.abs(stream.X[:, :width]).max(axis=1) ** 2, radius, each


REGULARIZERS = {
    "l2": euclidean, "pnorm": p_norm, "group": group_norm, "entropic": signed, "simplex": simplex,
}  # fmt: skip
CASES = [(name, "hinge", "constant") for name in REGULARIZERS]
CASES += [(name, "logistic", "sqrt") for name in REGULARIZERS]
CASES += [("l2", "squared_hinge", "constant")]


@pytest.mark.parametrize(("name", "loss", "step"), CASES)
@often
@given(drawn=DRAWN, rate=RATES, p=st.sampled_from([None, 1.05, 1.5, 2.0]), radius=RADII)
def test_regret_of_a_constant_regulariser_f1(name, loss, step, drawn, rate, p, radius):
    """sum eta (loss - loss(u)) <= g(u) - min g + sum eta^2 |z|_*^2 / (2 sigma)."""
    stream = short(drawn)
    made = REGULARIZERS[name](stream, p, radius, np.random.default_rng(drawn[0]))
    options, lengths, inverse_sigma, each = made
    regularizer = "entropic" if name == "simplex" else name
    model = learner(stream, loss=loss, step=step, rate=rate, regularizer=regularizer, **options)
    run = watch(model, stream)
    rates = rate / np.sqrt(np.arange(1, len(run.losses) + 1)) if step == "sqrt" else rate
    paid = (
        (run.steps**2 * lengths).sum() * inverse_sigma / 2
    )  # a step is eta times the slope: |z| = slope |x|
    for u, price in each:
        holds((rates * (run.losses - theirs(stream, u, loss))).sum(), price + paid)


@often
@given(drawn=DRAWN, rate=RATES, more=st.sampled_from([1.0, 2.0, 10.0]))
def test_regret_of_adagrad_f2(drawn, rate, more):
    """R(u) <= sum (delta + s_i) u_i^2 / (2 eta) + eta sum s_i, delta at least every |z_i|."""
    stream = build(drawn, 1)
    delta = more * np.abs(stream.X).max()
    run = watch(learner(stream, regularizer="adagrad", rate=rate, adagrad_delta=delta), stream)
    slopes = run.steps / rate
    s = np.sqrt(((slopes[:, None] * stream.X[:, : living(stream)]) ** 2).sum(axis=0))
    for u in fixed(stream):
        right = ((delta + s) * u**2).sum() / (2 * rate) + rate * s.sum()
        holds((run.losses - theirs(stream, u)).sum(), right)


@often
@given(drawn=DRAWN, wealth=st.sampled_from([0.1, 1.0, 10.0]))
def test_regret_of_coin_betting_f3(drawn, wealth):
    """R(u) <= U sqrt(T ln(1 + 24 T^2 U^2 / epsilon^2)) + epsilon with |z| <= 1; nobody goes bankrupt."""
    stream = short(drawn)
    run = watch(learner(stream, regularizer="coin", coin_epsilon=wealth), stream)
    T = len(run.losses)
    for u in fixed(stream):
        U2 = u @ u
        right = math.sqrt(U2 * T * math.log1p(24 * T**2 * U2 / wealth**2)) + wealth
        holds((run.losses - theirs(stream, u)).sum(), right)
    bets = run.steps * stream.y * run.scores  # <-z, w>
    assert (wealth + bets.cumsum() > 0).all()


@often
@given(drawn=DRAWN, p=st.sampled_from([1.05, 1.3, 1.7, 2.0]))
def test_mistakes_of_the_aggressive_p_norm_o1(drawn, p):
    """M <= sum eta <= (UX sqrt(q) + sqrt(q U^2 X^2 + 4L))^2 / 4, L = sum eta loss(u)."""
    stream = build(drawn, 1)
    bias = {"fit_intercept": bool(stream.bias), "intercept_scaling": stream.bias or 1.0}
    recipe = om.Recipe(loss="hinge", step="aggressive", space="pnorm")
    run = watch(om.OnlineClassifier(recipe, p=p, classes=(-1, 1), **bias), stream)
    q, moved = p / (p - 1), run.steps > 0
    assert run.steps.max() <= 1 and run.errors_theory <= run.steps.sum() + 1e-9
    lengths = norm(stream.X, q)[moved]
    for u in fixed(stream):
        reach2 = q * norm(u, p) ** 2 * lengths.max(initial=0.0) ** 2
        paid = run.steps @ theirs(stream, u)
        holds(run.steps.sum(), (math.sqrt(reach2) + math.sqrt(reach2 + 4 * paid)) ** 2 / 4)
