"""The experiments come out: every claim of every table holds. Short ones here, all of them in `make soak`."""

from __future__ import annotations

import re
from importlib import import_module

import pytest

from onmargin.errors import BadInput
from onmargin.experiments import NAMES
from onmargin.experiments.experiment import Experiment
from onmargin.sources import real
from onmargin.sources.datasets import names as sets

# Seconds each, in their quick form; the others are part of `all --quick` (test_reproduce.py, in `make soak`).
SHORT = ("noise", "bounds_over_c", "aggressiveness", "last_and_average", "circle", "active")
OF_THE_SPECIFICATION = {
    "E1": "noise", "E1b": "bounds_over_c", "E2": "aggressiveness", "E3": "multiclass", "E3b": "update_cost",
    "E4": "last_and_average", "E5": "many_kernels", "E5b": "many_kernels", "E6": "budgets", "E7": "circle",
    "E8": "queries", "E9": "pegasos", "E9b": "personal_filter", "E10a": "imbalance", "E10b": "digits",
    "E10c": "letor", "E10d": "topics", "E10e": "keywords", "E11": "feedback",
}  # fmt: skip


@pytest.mark.parametrize("name", SHORT)
def test_claims_hold(name):
    """Means over seeds, with the tolerance that the mathematics states."""
    experiment = Experiment(name, quick=True)
    absent = [data for data in experiment.data if not sets()[data].is_here]
    if absent:
        pytest.skip(f"{absent[0]} is not in {real.folder()}; set ONMARGIN_DATA to the folder of real sets")
    outcome = experiment.run()
    assert outcome.claims and len(outcome.rows) >= 3
    outcome.check()


@pytest.mark.parametrize("number", OF_THE_SPECIFICATION)
def test_every_experiment_of_the_specification_has_its_name(number):
    """E1 to E11: found by their number, and able to fail."""
    from .test_failing import BROKEN, OWN

    name = OF_THE_SPECIFICATION[number]
    assert re.search(rf"\b{number}\b", NAMES[name]) and (name in BROKEN or name in OWN)


@pytest.mark.parametrize("name", NAMES)
def test_an_experiment_says_what_it_is(name):
    experiment = Experiment(name)
    assert re.match(r"S[0-4]\b", experiment.text("ANSWERS")) and len(experiment.text("PROTOCOL")) > 80
    assert all(data in sets() for data in experiment.data)
    assert 1 <= Experiment(name, quick=True).seeds <= experiment.seeds
    assert callable(experiment.module.figure) and (experiment.module.__doc__ or "").strip()


def test_a_set_that_is_not_there_is_one_line(monkeypatch, tmp_path):
    monkeypatch.setenv("ONMARGIN_DATA", str(tmp_path))
    with pytest.raises(BadInput, match="set ONMARGIN_DATA"):
        real.usps()


@pytest.mark.parametrize("name", [name for name in NAMES if Experiment(name).data])
def test_an_experiment_without_its_set_is_one_line(name, tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("ONMARGIN_DATA", str(tmp_path))
    monkeypatch.setattr("sys.argv", ["experiments", name])
    assert import_module("onmargin.experiments.__main__").main() == 2
    said = capsys.readouterr()
    assert said.out == "" and said.err.count("\n") == 1 and said.err.startswith(f"{name}: ")
    assert "set ONMARGIN_DATA to the folder that has it" in said.err
