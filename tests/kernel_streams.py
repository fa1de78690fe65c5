"""Streams in the space of a kernel, and comparators u = sum_i c_i k(x_i, .) to hold learners against.

The Gram matrix K is made here, pair by pair; |u|^2 = c'Kc and u(x_t) = (Kc)_t. A constant coordinate s
adds s^2 to the kernel.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from hypothesis import settings
from hypothesis import strategies as st

import onmargin as om

SCALES = (0.0, 0.1, 0.5, 1.0, 2.0, 5.0)
KINDS = ("random", "noisy", "clean", "flipping", "twins")
KERNELS = {
    "linear": lambda A, B, gamma: A @ B.T,
    "poly": lambda A, B, gamma: (gamma * A @ B.T + 1.0) ** 2,
    "rbf": lambda A, B, gamma: np.exp(-gamma * ((A[:, None] - B) ** 2).sum(axis=2)),
}
DRAWN = st.tuples(
    st.integers(0, 10**6), st.integers(1, 80), st.integers(1, 4), st.sampled_from([0.0, 0.0, 1.0]),
    st.sampled_from(list(KERNELS)),
)  # fmt: skip
often = settings(deadline=None, max_examples=25, derandomize=True, database=None)


class Stream(NamedTuple):
    """Rows, targets, Gram matrix, and the coefficients (n, outputs) that made the targets."""

    X: np.ndarray
    y: np.ndarray
    K: np.ndarray
    c: np.ndarray
    form: dict[str, Any]  # what makes a learner see this kernel

    @property
    def radius2(self):
        return np.diag(self.K).max()


class Comparator(NamedTuple):
    """|u|^2 and u(x_t), (n, outputs)."""

    size2: float
    values: np.ndarray

    def within(self, most2):
        """Shrunk so far that |u|^2 <= most2."""
        share = np.sqrt(min(1.0, most2 / self.size2)) if self.size2 > 0 else 1.0
        return Comparator(share**2 * self.size2, share * self.values)


def rows_of(draw, kind, count, width):
    """Rows of one of the kinds: flipping ones are all the same, twins lie near ten others."""
    X = draw.normal(size=(count, width)) * 10 ** draw.uniform(-1, 0.5)
    if kind == "flipping":
        X[:] = X[0]
    if kind == "twins":
        X = X[draw.integers(0, min(10, count), count)] + 10.0 ** draw.integers(-6, -1) * X
    return X


def streams(drawn, outputs=1, unit=False):
    """One stream of every kind from the numbers Hypothesis drew."""
    return [build(kind, drawn, outputs, unit) for kind in KINDS]


def build(kind, drawn, outputs=1, unit=False):
    """A stream; outputs: 0 numbers, 1 two classes, K classes; unit: k(x, x) <= 1, no constant coordinate."""
    seed, count, width, bias, name = drawn
    draw = np.random.default_rng(seed)
    X, gamma = rows_of(draw, kind, count, width), 10 ** draw.uniform(-1, 1)
    if unit:
        bias, name = 0.0, "linear" if name == "linear" else "rbf"
        X = X / np.linalg.norm(X, axis=1).max() if name == "linear" else X
    K = KERNELS[name](X, X, gamma) + bias**2
    c = draw.normal(size=(count, max(outputs, 1))) * draw.choice([0.0, 1.0], (count, 1), p=[0.7, 0.3])
    scores = K @ c
    scores += {"clean": 0.0, "random": 5.0}.get(kind, 0.5) * np.abs(scores).mean() * draw.normal(size=c.shape)
    if kind == "flipping":
        scores = np.abs(scores) + draw.random(c.shape)
        scores[::2] = -scores[::2]
    form = {"kernel": name, "gamma": gamma, "degree": 2, "coef0": 1.0, "dtype": "float64"}
    form |= {"fit_intercept": bias > 0, "intercept_scaling": bias or 1.0}
    if outputs > 1:
        return Stream(X, scores.argmax(axis=1), K, c, form)
    return Stream(X, scores[:, 0] if outputs == 0 else np.where(scores[:, 0] >= 0, 1, -1), K, c, form)


def comparators(stream, run, outputs=1):
    """Nothing, what made the targets, ridge regression, and what the learner came to; all scaled."""
    goals = np.eye(outputs)[stream.y] if outputs > 1 else stream.y[:, None].astype(float)
    ridge = goals  # of a very large ridge; BLAS' threads would fight over larger matrices
    if len(goals) <= 100:
        ridge = np.linalg.solve(stream.K + 1e-3 * stream.radius2 * np.eye(len(goals)), goals)
    learned = np.zeros(goals.shape)
    learned[run.model.support_] = run.model.dual_coef_.T
    for c in (stream.c, ridge, learned):
        values = stream.K @ c
        for scale in SCALES:
            yield Comparator(scale**2 * max((c * values).sum(), 0.0), scale * values)


def losses_of(stream, values, outputs=1, epsilon=0.1):
    """The losses of a u with these values: hinge, that of the best rival, or epsilon-insensitive."""
    if outputs == 0:
        return np.maximum(0, np.abs(values[:, 0] - stream.y) - epsilon)
    if outputs == 1:
        return np.maximum(0, 1 - stream.y * values[:, 0])
    own = np.eye(outputs, dtype=bool)[stream.y]
    return np.maximum(0, 1 - values[own] + np.where(own, -np.inf, values).max(axis=1))


def watch(model, stream):
    """Test, then train."""
    return om.progressive(model, stream.X, stream.y, classes=getattr(model, "classes", None))


def holds(left, right):
    assert left <= right + 1e-9 * max(1.0, abs(right))
