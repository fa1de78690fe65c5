"""E3b: the steps whose times are compared solve the same problem. (No time is tested.)"""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize

from onmargin.experiments import update_cost
from onmargin.experiments.outcome import Outcome
from onmargin.experiments.update_cost import STEP, WHOLE, by_formula, by_iterations, by_sorting

from .spoiling import changed, drawn, failing


@pytest.mark.parametrize("seed", range(6))
def test_sorting_and_iterations_solve_miras_problem(seed):
    """max a'b - 1/2 (|a|^2 + (1'a)^2), a >= 0, 1'a <= C; against SLSQP."""
    draw = np.random.default_rng(seed)
    violations, limit = draw.normal(0.5, 0.7, 7), draw.choice([0.1, 0.4, 10.0])
    found = minimize(
        lambda a: 0.5 * (a @ a + a.sum() ** 2) - a @ violations, np.zeros(7), bounds=[(0, None)] * 7,
        constraints={"type": "ineq", "fun": lambda a: limit - a.sum()}, options={"ftol": 1e-14},
    )  # fmt: skip
    assert np.abs(by_sorting(violations, limit) - found.x).max() < 1e-6
    assert np.abs(by_iterations(violations, limit) - found.x).max() < 1e-6


def test_the_formula_is_pa1_on_the_worst_rival():
    """min(C, loss / |z|^2) with |z|^2 = 2 on a unit row; nothing where no margin is missed."""
    assert by_formula(np.array([0.2, 1.0, 0.5]), 0.1).tolist() == [0.0, 0.1, 0.0]
    assert by_formula(np.array([0.2, 1.0, 0.5]), 10.0).tolist() == [0.0, 0.5, 0.0]
    assert not by_formula(np.array([-0.2, -1.0]), 1.0).any()


def table(**microseconds: float) -> Outcome:
    """All learners at K = 100."""
    names = {(WHOLE, name): 2.0 for name in update_cost.LEARNERS} | {
        (STEP, name): 5.0 for name in update_cost.STEPS
    }
    names |= {(STEP, "MIRA, by sorting"): 20.0, (STEP, "MIRA, by iterations"): 5000.0}
    rows = [
        {"part": part, "learner": name, "classes": 100, "microseconds": (value, 0.0)}
        for (part, name), value in names.items()
    ]
    return Outcome("times", rows, [])


def test_claims_are_about_ratios_and_can_fail():
    good = table()
    assert failing(update_cost.claims(good)) == ""
    slow = changed(good, "microseconds", (50.0, 0.0), part=WHOLE, learner="MIRA, by sorting")
    assert "a whole round of MIRA takes 25.0 of PA-I's" in failing(update_cost.claims(slow))
    quick = changed(good, "microseconds", (6.0, 0.0), part=STEP, learner="MIRA, by iterations")
    assert "by iterations" in failing(update_cost.claims(quick))
    assert drawn(update_cost.figure(good._replace(curves=update_cost.curves(good)))).startswith(b"\x89PNG")


def test_the_quick_form_claims_nothing_of_times(monkeypatch):
    """One seed, perhaps on a busy machine: it claims that both solutions of MIRA's problem agree."""
    monkeypatch.setattr(update_cost, "whole_round", lambda *_: 1.0)
    monkeypatch.setattr(update_cost, "step_alone", lambda *_: 1.0)
    outcome = update_cost.run([0], quick=True)
    assert len(outcome.claims) == 1 and outcome.holds and "apart" in outcome.claims[0].text
    monkeypatch.setattr(update_cost, "by_iterations", by_formula)
    assert not update_cost.run([0], quick=True).holds
