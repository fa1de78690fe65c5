"""E8: F1 against labels; the claims of the quick form hold, and fail where rules change places."""

from __future__ import annotations

import pytest

from onmargin.experiments import queries
from onmargin.experiments.outcome import Outcome

from .spoiling import changed, drawn, failing, told


def table() -> Outcome:
    """Rules that choose a tenth above random labels on RCV1."""
    rows = []
    for rule, other in queries.PAIRS:
        for labels, value in ((50.0, 0.6), (200.0, 0.7), (500.0, 0.8)):
            named = {"data": "RCV1, small", "point": labels, "labels": (labels, 0.0)}
            rows += [
                {**named, "rule": rule, "F1": (value + 0.1, 0.0)},
                {**named, "rule": other, "F1": (value, 0.0)},
            ]
    return Outcome("round numbers", rows, [])


def test_every_rule_is_held_to_random_labels():
    assert failing(queries.claims(table())) == ""
    for rule, _ in queries.PAIRS:
        lost = changed(table(), "F1", (0.1, 0.0), rule=rule)
        assert f"{rule} gains -" in failing(queries.claims(lost))
    silent = changed(table(), "labels", (1.0, 0.0), rule="BBQ(kappa)")
    assert "BBQ asks for 0% to 0%" in failing(queries.claims(silent))


def test_bbq_asks_from_the_start():
    """On unit rows r is at most 1/2: with factor 1 nothing is asked before round 2^(1/kappa)."""
    import numpy as np

    draw = np.random.default_rng(0)
    X = draw.standard_normal((60, 80))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    y = np.where(X[:, 0] > 0, 1, -1)
    model = queries.bbq("RCV1, small", 0.05).fit(X, y)
    assert model.queried_[0] == 0 and 0 < model.n_queries_ <= 60


@pytest.mark.soak
def test_claims_hold_and_are_drawn():
    outcome = told("queries")
    outcome.check()
    assert drawn(queries.figure(outcome)).startswith(b"\x89PNG")
