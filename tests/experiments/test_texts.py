"""Texts in one pass: claims hold, and can fail; the mailboxes are those of the catalogue."""

from __future__ import annotations

import numpy as np
import pytest

from onmargin.experiments import texts
from onmargin.experiments.mailboxes import mailboxes

from .spoiling import drawn, exchanged, failing, told

pytestmark = pytest.mark.soak


def test_texts_claims_hold_and_can_fail():
    outcome = told("texts")
    outcome.check()
    assert drawn(texts.figure(outcome)).startswith(b"\x89PNG")
    spoilt = exchanged(outcome, "online", "learner", "Perceptron", "PA-I")
    assert "PA-I errs" in failing(texts.claims(spoilt))


def test_mailboxes_are_those_of_the_catalogue():
    boxes = mailboxes()
    assert sum(len(box.y) for box in boxes) == 33_715
    assert sum(int((box.y == 1).sum()) for box in boxes) == 17_170
    assert all(np.allclose(box.X[:50].power(2).sum(axis=1), 1.0) for box in boxes)
