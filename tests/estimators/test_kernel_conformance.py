"""The checks of scikit-learn and of River for the kernel learners, with pandas installed."""

from __future__ import annotations

import gc
import itertools
import random
from typing import Any

import pandas  # noqa: F401  (its absence would skip checks)
import pytest
from river import base, checks
from sklearn.utils.estimator_checks import check_estimator

import onmargin as om

LEARNERS = [
    om.Perceptron(kernel="rbf"),
    om.PassiveAggressiveClassifier(kernel="poly", budget=20),
    om.PassiveAggressiveRegressor(kernel="rbf"),
    om.PassiveAggressiveUniclass(kernel="rbf", epsilon=0.9),
    om.Pegasos(kernel="rbf"),
    om.Projectron(),
    om.RandomBudgetPerceptron(),
    om.Forgetron(),
    om.Stoptron(),
    om.OM2(),
]
IN_STREAMS = [  # (a width with which River's rows are not all strangers to each other, tied at 1e-100)
    om.Perceptron(kernel="rbf", gamma=1e-5),
    om.PassiveAggressiveClassifier(kernel="poly", budget=20),
    om.Projectron(gamma=1e-5),
    om.RandomBudgetPerceptron(gamma=1e-5, budget=15),
    om.Forgetron(gamma=1e-5, budget=15),
    om.Stoptron(gamma=1e-5, budget=15),
    om.OM2(),
]
NOT_FOR_US = ("SCIPY_ARRAY_API is not set", "does not have a predict_proba method")
ROWS = 30  # of each of River's sets


@pytest.mark.filterwarnings("ignore")  # scikit-learn's checks warn on purpose
@pytest.mark.parametrize("model", LEARNERS, ids=repr)
def test_scikit_learn(model: Any) -> None:
    expected = om.conformance.sklearn(model)
    assert set(expected) == {
        "check_sample_weight_equivalence_on_dense_data",
        "check_sample_weight_equivalence_on_sparse_data",
    }
    results = check_estimator(model, expected_failed_checks=expected, on_fail=None, on_skip=None)
    failed = {r["check_name"]: r["exception"] for r in results if r["status"] == "failed"}
    skipped = {r["check_name"]: str(r["exception"]) for r in results if r["status"] == "skipped"}
    assert not failed
    assert all(any(reason in text for reason in NOT_FOR_US) for text in skipped.values()), skipped
    assert len(results) > 50


@pytest.fixture
def frozen() -> Any:
    """River collects garbage again and again; what Numba keeps need not be looked at each time."""
    gc.collect()
    gc.freeze()
    yield
    gc.unfreeze()


@pytest.fixture
def short_sets(monkeypatch: Any, frozen: None) -> None:
    """River's sets, cut off early: dicts of kernel learners are rounds of matrix products."""
    whole = checks._yield_datasets

    def cut(model: Any, scale: int = 1) -> Any:
        sets = list(whole(model, scale))
        for examples in sets[:1] + sets[2:]:  # (the second is the first with NumPy's bools)
            yield list(itertools.islice(examples, ROWS))

    monkeypatch.setattr(checks, "_yield_datasets", cut)


def failures(model: Any) -> set[str]:
    """Names of River's checks that do not pass."""
    random.seed(0)
    failed, done = set(), 0
    for check in checks.yield_checks(model):
        if "memory" in check.__name__ and getattr(model, "budget", None) is None:
            continue  # (a support without a budget grows)
        try:
            check(model.clone())
        except AssertionError:
            failed.add(check.__name__)
        done += 1
    assert done > 20
    return failed


@pytest.mark.parametrize("model", IN_STREAMS, ids=repr)
def test_river(model: Any, short_sets: None) -> None:
    assert isinstance(model, base.Classifier) and om.conformance.river(model) == {}
    assert not failures(model)


def test_river_on_numbers(short_sets: None) -> None:
    assert not failures(LEARNERS[2])
