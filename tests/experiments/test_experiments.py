"""The experiments come out: every claim of every table holds (fewer seeds where one takes long)."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

import pytest

from onmargin.errors import BadInput
from onmargin.experiments import NAMES
from onmargin.experiments.outcome import Claim, Outcome
from onmargin.sources import real

SEEDS = {
    "letor": 1,
    "topics": 1,
    "keywords": 1,
    "moderation": 4,
    "circle": 1,
    "queries": 1,
    "active": 2,
    "feedback": 1,
    "digits": 3,
}  # fmt: skip (the others: all)
BRIEF = ("letor", "topics", "keywords", "queries")  # lines that no claim needs are left out
NEED = {
    "digits": "usps",
    "letor": "mq2008",
    "topics": "reuters21578",
    "keywords": "news20",
    "queries": "a9a",
    "active": "small",
}


LONG = ("imbalance", "digits", "letor", "topics")  # minutes with their seeds: in `make soak`


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.soak] if name in LONG else []) for name in NAMES]
)
def test_claims_hold(name):
    """Means over seeds, with the tolerance that the mathematics states."""
    if name in NEED and not (real.folder() / NEED[name]).exists():
        pytest.skip(
            f"{real.folder() / NEED[name]} is not there; set ONMARGIN_DATA to the folder of real sets"
        )
    module = import_module(f"onmargin.experiments.{name}")
    short = {"brief": True} if name in BRIEF else {}
    outcome = module.run(range(SEEDS.get(name, module.SEEDS)), **short)
    assert outcome.claims and len(outcome.rows) >= 3
    outcome.check()


def test_a_claim_that_fails_is_an_error_with_its_numbers():
    outcome = Outcome("title", [{"rule": "a", "error": (0.5, 0.1)}], [Claim("error 0.5, wanted 0.4", False)])
    assert "0.500 ± 0.100" in outcome.text() and "FAILS: error 0.5, wanted 0.4" in outcome.text()
    with pytest.raises(AssertionError, match=r"wanted 0\.4"):
        outcome.check()


def test_a_set_that_is_not_there_is_one_line(monkeypatch, tmp_path: Path):
    monkeypatch.setenv("ONMARGIN_DATA", str(tmp_path))
    with pytest.raises(BadInput, match="set ONMARGIN_DATA"):
        real.usps()


@pytest.mark.parametrize("name", sorted(NEED))
def test_an_experiment_without_its_set_is_one_line(name, tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("ONMARGIN_DATA", str(tmp_path))
    monkeypatch.setattr("sys.argv", ["experiments", name])
    assert import_module("onmargin.experiments.__main__").main() == 2
    said = capsys.readouterr()
    assert said.out == "" and said.err.count("\n") == 1 and said.err.startswith(f"{name}: {NEED[name]}/")
