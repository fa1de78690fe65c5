"""Numbers online: claims hold, and can fail."""

from __future__ import annotations

from onmargin.experiments import numbers

from .spoiling import changed, drawn, exchanged, failing, told


def test_numbers_claims_hold_and_can_fail():
    outcome = told("numbers")
    outcome.check()
    assert drawn(numbers.figure(outcome)).startswith(b"\x89PNG")
    spoilt = exchanged(outcome, "online", "learner", "PA", "PA-I")
    assert "PA without a cap" in failing(numbers.claims(spoilt))
    far = changed(outcome, "test, average", (1e6, 0.0), learner="PA-I")
    assert "LinearSVR" in failing(numbers.claims(far))
