"""The checks of scikit-learn and of River, with pandas installed so that none is skipped for it.

They are about the Python around the loops, and scikit-learn fits five shapes of tables with two and three
classes: compiled for a few learners, the others as plain Python, in one process (compiling them all would
take minutes): `NUMBA_DISABLE_JIT=1 python -m tests.estimators.test_conformance FILE`.
"""

from __future__ import annotations

import gc
import json
import sys
import warnings
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas  # noqa: F401  (its absence would skip checks)
import pytest
from river import base, checks
from sklearn.utils.estimator_checks import check_estimator

import onmargin as om
from onmargin.compiled import parts
from tests.once import as_plain_python

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
    ONLINE_REGRESSOR := partial(om.OnlineRegressor, om.Recipe("regression", loss="epsilon_insensitive")),
]
COMPILED = (om.PassiveAggressiveClassifier, om.PassiveAggressiveRegressor, om.PassiveAggressiveUniclass)
NUMBERS = (om.PassiveAggressiveRegressor, om.FTRLRegressor, ONLINE_REGRESSOR)
# What scikit-learn itself leaves out for every estimator of this kind.
NOT_FOR_US = ("SCIPY_ARRAY_API is not set", "does not have a predict_proba method")
ROOT = Path(__file__).parents[2]


def name_of(learner: Any) -> str:
    return type(learner()).__name__


def scikit_learn_says(learner: Any) -> list[list[str]]:
    """Name, status and exception of every check of scikit-learn."""
    model = learner()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # scikit-learn's checks warn on purpose
        expected = om.conformance.sklearn(model)
        results = check_estimator(model, expected_failed_checks=expected, on_fail=None, on_skip=None)
    return [[r["check_name"], r["status"], str(r["exception"])] for r in results]


def river_says(learner: Any) -> list[list[str]]:
    """Name, status and exception of every check of River."""
    model = learner()
    results = []
    for check in checks.yield_checks(model):
        name = getattr(check, "func", check).__name__
        try:
            if learner is om.PassiveAggressiveUniclass and hasattr(check, "func"):
                # River's own set for detectors must be downloaded; a generated one stands in for it.
                check.func(model.clone(), dataset=strange_points())
            else:
                check(model.clone())
            results.append([name, "passed", ""])
        except Exception as error:
            results.append([name, "failed", repr(error)])
    return results


SAYS = {"scikit-learn": scikit_learn_says, "river": river_says}


@pytest.fixture(scope="module")
def uncompiled(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """What the checks say of every learner that is not in COMPILED, as plain Python."""
    path = tmp_path_factory.mktemp("conformance") / "results.json"
    return json.loads(as_plain_python("tests.estimators.test_conformance", path).read_text())


@pytest.fixture
def results(learner: Any, whose: str, request: pytest.FixtureRequest) -> list[list[str]]:
    if learner not in COMPILED:
        return request.getfixturevalue("uncompiled")[whose][name_of(learner)]
    gc.collect()
    gc.freeze()  # River collects garbage again and again; what Numba keeps need not be looked at each time
    try:
        return SAYS[whose](learner)
    finally:
        gc.unfreeze()


@pytest.mark.parametrize("whose", ["scikit-learn"])
@pytest.mark.parametrize("learner", LEARNERS, ids=name_of)
def test_scikit_learn(learner: Any, results: list[list[str]]) -> None:
    expected = om.conformance.sklearn(learner())
    failed = {name: text for name, status, text in results if status == "failed"}
    skipped = {name: text for name, status, text in results if status == "skipped"}
    assert not failed
    assert all(any(reason in text for reason in NOT_FOR_US) for text in skipped.values()), skipped
    assert {name for name, status, _ in results if status == "xfail"} <= set(expected)
    assert len(results) > 50


def test_exceptions_have_reasons() -> None:
    for learner in LEARNERS:
        assert all(len(reason) > 30 for reason in om.conformance.sklearn(learner()).values())
        assert set(om.conformance.sklearn(learner())) == {
            "check_sample_weight_equivalence_on_dense_data",
            "check_sample_weight_equivalence_on_sparse_data",
        }
        assert om.conformance.river(learner()) == {}


@pytest.mark.parametrize("whose", ["river"])
@pytest.mark.parametrize("learner", LEARNERS, ids=name_of)
def test_river(learner: Any, results: list[list[str]]) -> None:
    numbers = base.Regressor if learner in NUMBERS else base.Classifier
    assert isinstance(learner(), base.AnomalyDetector if learner is om.PassiveAggressiveUniclass else numbers)
    assert not [(name, text) for name, status, text in results if status == "failed"]
    assert len(results) > 20


def test_the_other_process_compiled_nothing(uncompiled: Any) -> None:
    assert uncompiled["compiled"] == 0
    assert all(
        set(uncompiled[whose]) == {name_of(m) for m in LEARNERS if m not in COMPILED} for whose in SAYS
    )


def strange_points() -> list[Any]:
    """A thousand dicts around the origin; one in fifty lies far away and is marked."""
    draw = np.random.default_rng(0)
    points = []
    for number in range(1000):
        strange = number % 50 == 49
        values = draw.standard_normal(6) * (10 if strange else 1)
        points.append(({f"v{j}": float(value) for j, value in enumerate(values)}, strange))
    return points


def main(path: str) -> None:
    """Write what the checks say, and how many loops were compiled meanwhile."""
    others = [learner for learner in LEARNERS if learner not in COMPILED]
    said: dict[str, Any] = {whose: {name_of(m): says(m) for m in others} for whose, says in SAYS.items()}
    said["compiled"] = sum(hasattr(loop, "overloads") for loop in parts._specialised.values())
    Path(path).write_text(json.dumps(said))


if __name__ == "__main__":
    main(sys.argv[1])
