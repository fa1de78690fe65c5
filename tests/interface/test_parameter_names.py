"""The names of parameters are read from a constructor once."""

from __future__ import annotations

import inspect

import pytest
from sklearn.base import BaseEstimator

import onmargin as om
from onmargin.estimators import every


@pytest.mark.parametrize("kind", every().values(), ids=every())
def test_names_are_those_of_the_constructor(kind):
    assert kind._get_param_names() == BaseEstimator._get_param_names.__func__(kind)


def test_the_constructor_is_read_once(monkeypatch):
    model = om.Perceptron()
    model.get_params()
    monkeypatch.setattr(inspect, "signature", None)
    names = model._get_param_names()
    names.clear()  # a list of the caller's own
    assert model.get_params() and model.clone().get_params() == model.get_params()


def test_a_class_made_of_ours_has_its_own_names():
    class Mine(om.Perceptron):
        def __init__(self, rate=2.0):
            super().__init__(rate=rate)

    assert list(Mine().get_params()) == ["rate"] and len(om.Perceptron().get_params()) > 1
