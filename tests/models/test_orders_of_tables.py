"""How a table lies in memory is nobody's business: columns first, rows first, one row alone are one model."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

import onmargin as om

LEARNERS = [
    om.PassiveAggressiveClassifier(average=False, intercept_scaling=1.0),
    om.PassiveAggressiveClassifier(average=True, intercept_scaling=1.0, update="all"),
    om.AROW(average=False, intercept_scaling=1.0, r=1.0),
]


def _stream(columns: int, classes: int) -> tuple[np.ndarray, np.ndarray]:
    draw = np.random.default_rng(columns * 10 + classes)
    return draw.standard_normal((60, columns)), draw.integers(0, classes, 60)


@pytest.mark.parametrize("columns", [5, 30, 63, 64, 200])
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("learner", LEARNERS, ids=["pa1", "pa1-all-averaged", "arow"])
def test_a_table_by_columns_is_learned_as_its_rows_are(learner: Any, classes: int, columns: int) -> None:
    X, y = _stream(columns, classes)
    frame = pd.DataFrame(np.asfortranarray(X), columns=[f"c{j}" for j in range(columns)])
    strided = np.repeat(X, 2, axis=1)[:, ::2]
    known = np.arange(classes)
    whole = learner.clone().partial_fit(X, y, classes=known)
    for table in (np.asfortranarray(X), strided, frame):
        model = learner.clone().partial_fit(table, y, classes=known)
        np.testing.assert_array_equal(model.coef_, whole.coef_)
        np.testing.assert_array_equal(model.decision_function(table), whole.decision_function(X))
    one_by_one = learner.clone()
    for row in range(len(X)):
        one_by_one.partial_fit(frame.iloc[row : row + 1], y[row : row + 1], classes=known)
    np.testing.assert_array_equal(one_by_one.coef_, whole.coef_)
