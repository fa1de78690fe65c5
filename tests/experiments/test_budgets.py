"""E6: budgets; the claims of the quick form hold, and fail where learners change places."""

from __future__ import annotations

import pytest

from onmargin.experiments import budgets
from onmargin.experiments.outcome import Outcome

from .spoiling import changed, drawn, exchanged, failing, told


def table() -> Outcome:
    """What the talk expects, in round numbers."""
    errors = {"Projectron": 0.21, "Projectron++": 0.20, "RBP": 0.26, "Forgetron": 0.25}
    rows = [
        {"set": "Adult", "learner": "Perceptron", "tolerance": None, "online": (0.2, 0.0),
         "vectors": (900.0, 0.0), "after half": (450.0, 0.0)},
    ]  # fmt: skip
    for tolerance, size in ((0.9, 20.0), (0.5, 100.0)):
        rows += [
            {"set": "Adult", "learner": name, "tolerance": tolerance, "online": (error, 0.0),
             "vectors": (size, 0.0), "after half": (0.9 * size, 0.0)}
            for name, error in errors.items()
        ]  # fmt: skip
    return Outcome("round numbers", rows, [])


def test_the_order_at_equal_size_is_seen():
    good = table()
    assert failing(budgets.claims(good)) == ""
    for other in ("Projectron", "RBP", "Forgetron"):
        spoilt = exchanged(good, "online", "learner", "Projectron++", other)
        assert "at equal size Projectron++ errs" in failing(budgets.claims(spoilt))
    growing = changed(good, "after half", (1.0, 0.0), learner="Projectron")
    assert "half of the rounds find" in failing(budgets.claims(growing))
    large = changed(good, "vectors", (900.0, 0.0), learner="Projectron++")
    assert "Projectron++ with 900 vectors" in failing(budgets.claims(large))


@pytest.mark.soak
def test_claims_hold_and_are_drawn():
    outcome = told("budgets")
    outcome.check()
    assert drawn(budgets.figure(outcome)).startswith(b"\x89PNG")
