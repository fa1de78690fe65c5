"""E9b: one mailbox helps another; the claims of the quick form hold, and fail where ways change places."""

from __future__ import annotations

import pytest

from onmargin.experiments import personal_filter
from onmargin.experiments.outcome import Outcome

from .spoiling import drawn, exchanged, failing, told

WAY = f"transfer, C = {personal_filter.CLAIMED:g}"


def table() -> Outcome:
    """What the note expects, in round numbers."""
    errors = {WAY: 0.05, "source only": 0.1, "averaged weights": 0.09, "pooled": 0.06}
    rows = []
    for few, alone in zip(personal_filter.FEW, (0.4, 0.2, 0.1), strict=True):
        rows += [
            {"source": "a", "target": "b", "way": way, "labels": few, "error": (error, 0.0)}
            for way, error in {**errors, "target only": alone}.items()
        ]
    return Outcome("round numbers", rows, [])


def test_what_transfer_gains_can_be_lost():
    assert failing(personal_filter.claims(table())) == ""
    for other, text in (
        ("target only", "the target's labels alone"),
        ("source only", "the source's filter"),
        ("averaged weights", "averaged weights err"),
    ):
        assert text in failing(personal_filter.claims(exchanged(table(), "error", "way", WAY, other)))


@pytest.mark.soak
def test_claims_hold_and_are_drawn():
    outcome = told("personal_filter")
    outcome.check()
    assert drawn(personal_filter.figure(outcome)).startswith(b"\x89PNG")
