"""E9: Pegasos over its passes; quick claims hold, and fail where another problem is solved."""

from __future__ import annotations

from onmargin.experiments import pegasos

from .spoiling import changed, drawn, exchanged, failing, told


def test_claims_hold_and_are_drawn():
    outcome = told("pegasos")
    outcome.check()
    assert drawn(pegasos.figure(outcome)).startswith(b"\x89PNG")


def test_another_regulariser_is_seen(monkeypatch):
    """The algorithm itself is broken: one variant solves another problem, and its gap stays as it is."""
    outcome = told("pegasos")
    broken = {**pegasos.VARIANTS["random, average"], "lam": 10.0}
    monkeypatch.setitem(pegasos.VARIANTS, "random, average", broken)
    found = pegasos.gaps(0, (1, 20))
    at = {"part": "gap over passes", "variant": "random, average"}
    for passes in (1, 20):
        outcome = changed(outcome, "value", (found["random, average"][passes], 0.0), at=passes, **at)
    assert "random, average: 20 passes leave" in failing(pegasos.claims(outcome))
    above = changed(outcome, "value", (1e3, 0.0), at=20, **at)
    assert "random, average: the gap is at most" in failing(pegasos.claims(above))


def test_each_point_of_the_note_can_fail():
    outcome = told("pegasos")
    for one, other, text in (
        ("plain", "weighted classes", "rare class: recall"),
        ("transfer", "target only", "transfer with 10 labels"),
        ("linear", "Gaussian kernel", "two moons"),
        ("random, average of the last half", "random, last", "gap of the average of the last half"),
    ):
        assert text in failing(pegasos.claims(exchanged(outcome, "value", "variant", one, other)))
    apart = changed(outcome, "value", (0.1, 0.0), part="rare class, optima apart")
    assert "the two optima" in failing(pegasos.claims(apart))
