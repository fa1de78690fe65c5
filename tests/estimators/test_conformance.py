"""The checks of scikit-learn and of River, with pandas installed so that none is skipped for it."""

from functools import partial

import numpy as np
import pandas  # noqa: F401  (its absence would skip checks)
import pytest
from river import base, checks
from sklearn.utils.estimator_checks import check_estimator

import onmargin as om

LEARNERS = [
    om.Perceptron,
    om.PassiveAggressiveClassifier,
    om.MIRA,
    om.PassiveAggressiveRegressor,
    om.PassiveAggressiveUniclass,
    om.AROW,
    om.SoftConfidenceWeighted,
    om.SecondOrderPerceptron,
    om.FTRLClassifier,
    om.FTRLRegressor,
    om.Pegasos,
    partial(om.OnlineClassifier, om.Recipe(step="pa1")),
]
NUMBERS = (om.PassiveAggressiveRegressor, om.FTRLRegressor)
# What scikit-learn itself leaves out for every estimator of this kind.
NOT_FOR_US = ("SCIPY_ARRAY_API is not set", "does not have a predict_proba method")


@pytest.mark.filterwarnings("ignore")  # scikit-learn's checks warn on purpose
@pytest.mark.parametrize("learner", LEARNERS, ids=lambda cls: type(cls()).__name__)
def test_scikit_learn(learner):
    model = learner()
    expected = om.conformance.sklearn(model)
    results = check_estimator(model, expected_failed_checks=expected, on_fail=None, on_skip=None)
    failed = {r["check_name"]: r["exception"] for r in results if r["status"] == "failed"}
    skipped = {r["check_name"]: str(r["exception"]) for r in results if r["status"] == "skipped"}
    assert not failed
    assert all(any(reason in text for reason in NOT_FOR_US) for text in skipped.values()), skipped
    assert {r["check_name"] for r in results if r["status"] == "xfail"} <= set(expected)
    assert len(results) > 50


def test_exceptions_have_reasons():
    for learner in LEARNERS:
        assert all(len(reason) > 30 for reason in om.conformance.sklearn(learner()).values())
        assert set(om.conformance.sklearn(learner())) == {
            "check_sample_weight_equivalence_on_dense_data",
            "check_sample_weight_equivalence_on_sparse_data",
        }
        assert om.conformance.river(learner()) == {}


@pytest.mark.parametrize("learner", LEARNERS, ids=lambda cls: type(cls()).__name__)
def test_river(learner):
    model = learner()
    numbers = base.Regressor if learner in NUMBERS else base.Classifier
    assert isinstance(model, base.AnomalyDetector if learner is om.PassiveAggressiveUniclass else numbers)
    done = 0
    for check in checks.yield_checks(model):
        if learner is om.PassiveAggressiveUniclass and hasattr(check, "func"):
            # River's own set for detectors must be downloaded; a generated one stands in for it.
            check.func(model.clone(), dataset=strange_points())
        else:
            check(model.clone())
        done += 1
    assert done > 20


def strange_points():
    """A thousand dicts around the origin; one in fifty lies far away and is marked."""
    draw = np.random.default_rng(0)
    points = []
    for number in range(1000):
        strange = number % 50 == 49
        values = draw.standard_normal(6) * (10 if strange else 1)
        points.append(({f"v{j}": float(value) for j, value in enumerate(values)}, strange))
    return points
