"""Learners that ask for labels: what asking adds to a round, and rounds of BBQ that ask for nothing."""

from __future__ import annotations

from typing import Any

import numpy as np

import onmargin as om

from .contest import OTHER, PLAIN, Contestant, Work, line
from .datasets import sparse_stream
from .passes import ours


def sampler(quick: bool) -> Work:
    """Every label asked for (a huge delta), beside the same learner without a sampler."""
    table = sparse_stream(20_000 if quick else 200_000)

    def asked() -> Any:
        return om.SelectiveSampler(ours(), rule="bernoulli", delta=1e300, random_state=0)

    def played(make: Any, trace: str) -> Contestant:
        return Contestant(
            lambda model: om.progressive(model, table.X, table.y, trace=trace, classes=[0, 1]),
            lambda run: 1.0 - float(run.error_rate),
            make,
        )

    contestants = {
        "asking": played(asked, "sums"), "plain": played(ours, "sums"),
        "asking, full trace": played(asked, "full"), "plain, full trace": played(ours, "full"),
    }  # fmt: skip
    lines = [
        line(OTHER, "sampler / its learner alone", "asking, full trace", "plain, full trace", 1.2, 1.05),
        line(OTHER, "  sums only", "asking", "plain"),
    ]
    return Work("asking", table.origin, contestants, lines, repetitions=9)


def bbq(quick: bool) -> Work:
    """100 columns, nothing asked for; microseconds a round, beside the formulas in NumPy."""
    draw = np.random.default_rng(0)
    rounds = 2_000 if quick else 20_000
    X = draw.normal(size=(rounds, 100))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    y = np.where(X[:, 0] > 0, 1, -1)

    def begun() -> Any:
        model = om.BBQ(epsilon=0.5, shuffle=False, random_state=0).partial_fit(
            X[:500], y[:500], classes=[-1, 1]
        )
        return model.set_params(epsilon=1e9)

    def by_rows(_: Any) -> np.ndarray:
        P, b = np.linalg.inv(np.eye(100) + X[:500].T @ X[:500]), y[:500] @ X[:500]
        found = np.empty(rounds)
        for t in range(rounds):
            reach = P @ X[t]
            variance = X[t] @ reach
            found[t] = b @ reach / (1 + variance)
            share, side = variance / (1 + variance), np.sqrt(reach @ reach) / (1 + variance)
            noise = np.sqrt(max(share - share**2 - side**2, 0.0))
            width = share + side + noise * np.sqrt(2 * np.log(2 * (t + 501) * (t + 502) / 0.1))
            if width > 1e9:
                raise ValueError("nothing was to be asked")
        return found

    def accuracy(scores: Any) -> float:
        return float(np.mean((np.asarray(scores) > 0) == (y > 0)))

    contestants = {
        "BBQ": Contestant(lambda m: om.progressive(m, X, y), lambda run: accuracy(run.scores), begun),
        "NumPy, row by row": Contestant(by_rows, accuracy),
    }
    lines = [line(PLAIN, "BBQ, d = 100, over NumPy", "BBQ", "NumPy, row by row", 1.0, 2.0)]
    return Work("bbq", f"generated, {rounds:,} x 100", contestants, lines)
