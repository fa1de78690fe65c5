"""E3: digits; the claims of the quick form hold, and fail where learners change places."""

from __future__ import annotations

import numpy as np
import pytest

from onmargin.estimators.passive_aggressive import PassiveAggressiveClassifier
from onmargin.experiments import multiclass

from .spoiling import drawn, exchanged, failing, told

pytestmark = pytest.mark.soak  # six learners in two forms on two streams


def test_claims_hold_and_are_drawn():
    outcome = told("multiclass")
    outcome.check()
    assert drawn(multiclass.figure(outcome)).startswith(b"\x89PNG")


def test_a_perceptron_in_the_place_of_pa1_is_seen():
    spoilt = exchanged(told("multiclass"), "online", "learner", "PA-I", "Perceptron, max-score")
    assert "the better Perceptron" in failing(multiclass.claims(spoilt))


def test_a_pa1_without_its_cap_is_seen(monkeypatch):
    """The algorithm itself is broken: C is not what was chosen, but without limit."""
    data = multiclass.Digits("USPS, a tenth wrong", kernel=False, quick=True)
    whole = told("multiclass")
    monkeypatch.setitem(
        multiclass.LEARNERS, "PA-I", lambda C: PassiveAggressiveClassifier(fit_intercept=False, C=np.inf)
    )
    error = multiclass.one_run(0, "PA-I", 1.0, data, False)["online"]
    rows = [
        {**row, "online": (error, 0.0)}
        if (row["set"], row["form"], row["learner"]) == ("USPS, a tenth wrong", "linear", "PA-I")
        else row
        for row in whole.rows
    ]
    assert "PA without a cap" in failing(multiclass.claims(whole._replace(rows=rows)))
