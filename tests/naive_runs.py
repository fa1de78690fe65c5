"""Runs as loops of plain NumPy, written from the papers: what certificates are compared with.

Rows have their constant coordinate as the last column (0 without one); u is (outputs, columns).
"""

from __future__ import annotations

import copy

import numpy as np

import onmargin as om


def stream(seed=0, count=60, width=3, outputs=1, bias=0.5, noise=0.5, unit=False):
    """Rows (count, width + 1), targets (0 outputs: numbers; 1: two classes; K classes), and u."""
    draw = np.random.default_rng(seed)
    X = np.c_[draw.normal(size=(count, width)), np.full(count, bias)]
    if unit:
        X[:, -1] = 0.0
        X /= np.linalg.norm(X, axis=1, keepdims=True)
    u = draw.normal(size=(max(outputs, 1), width + 1))
    u[:, -1] *= bool(bias) and not unit
    scores = X @ u.T + noise * draw.normal(size=(count, len(u)))
    if outputs > 1:
        return X, scores.argmax(axis=1), u
    return X, scores[:, 0] if outputs == 0 else np.where(scores[:, 0] >= 0, 1, -1), u


def constant(X):
    """Parameters that make a learner see the last column."""
    return {"fit_intercept": bool(X[0, -1]), "intercept_scaling": X[0, -1] or 1.0}


def spoken(u, X):
    """u as a user gives it."""
    return (u[:, :-1], u[:, -1] * X[0, -1]) if X[0, -1] else u[:, :-1]


def demand(scores, target, outputs):
    """(margin, required, direction over the outputs)."""
    if outputs == 0:
        gap = target - scores[0]
        return -abs(gap), -0.1, np.array([1.0 if gap >= 0 else -1.0])
    if outputs == 1:
        return target * scores[0], 1.0, np.array([float(target)])
    rival = np.where(np.arange(outputs) == target, -np.inf, scores).argmax()
    pull = np.zeros(outputs)
    pull[target], pull[rival] = 1.0, -1.0
    return scores[target] - scores[rival], 1.0, pull


def loss_of(u, x, target, outputs):
    """The hinge of u on one row."""
    margin, required, _ = demand(u @ x, target, outputs)
    return max(0.0, required - margin)


def aggressive(X, y, outputs, step, C, wrong=1.0):
    """Losses, steps and |z|^2 of a Passive-Aggressive learner whose steps are `wrong` times as long."""
    w = np.zeros((max(outputs, 1), X.shape[1]))
    lines = []
    for x, target in zip(X, y, strict=True):
        margin, required, pull = demand(w @ x, target, outputs)
        loss, size = max(0.0, required - margin), (pull @ pull) * (x @ x)
        tau = {"pa": loss / size, "pa1": min(C, loss / size), "pa2": loss / (size + 0.5 / C)}[step]
        lines.append((loss, wrong * tau, size))
        w = w + wrong * tau * np.outer(pull, x)
    return np.array(lines).T


def perceptron(X, y, start, rate):
    """Which rounds were mistakes (margin <= 0), and the scores before them; two classes."""
    w, erred, scores = start.copy(), [], []
    for x, target in zip(X, y, strict=True):
        scores.append(w @ x)
        erred.append(target * scores[-1] <= 0)
        w = w + rate * erred[-1] * target * x
    return np.array(erred), np.array(scores)


def with_lines(run, **lines):
    """A copy of a run whose trace says something else."""
    twin = copy.copy(run)
    for name, values in lines.items():
        setattr(twin, name, np.asarray(values))
    return twin


def rows_of(run, u, X):
    """The certificate's rows by their id."""
    return {row.id: row for row in om.certificate(run, spoken(u, X))}
