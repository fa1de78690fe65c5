"""Prices in time order: claims hold, and can fail."""

from __future__ import annotations

from onmargin.experiments import prices

from .spoiling import drawn, exchanged, failing, told


def test_prices_claims_hold_and_can_fail():
    outcome = told("prices")
    outcome.check()
    assert drawn(prices.figure(outcome)).startswith(b"\x89PNG")
    stuck = exchanged(outcome, "after a tenth", "learner", "PA-I", "fixed rule")
    assert "PA-I errs" in failing(prices.claims(stuck))
    spoilt = exchanged(outcome, "after a tenth", "learner", "Perceptron", "averaged Perceptron")
    assert "averaged Perceptron does not track" in failing(prices.claims(spoilt))
