"""A few sparse rows are learned into a wide model's own arrays: as on a copy, and undone whole."""

from __future__ import annotations

from typing import Any
from unittest import mock

import numpy as np
import pytest
import scipy.sparse as sp

import onmargin as om
from onmargin.interface.guard import Change
from onmargin.models.weights import Model
from tests.machines.contents import content, differences
from tests.soaking import uncompiled

pytestmark = uncompiled
COLUMNS, ROWS = 3000, 120
LEARNERS = {
    "pa1": om.PassiveAggressiveClassifier(),
    "averaged": om.PassiveAggressiveClassifier(average=True),
    "arow": om.AROW(),
    "second-order": om.SecondOrderPerceptron(average=True),
    "adagrad": om.FTRLClassifier(loss="logistic"),
    "coin": om.FTRLClassifier(regularizer="coin"),
    "l1": om.FTRLClassifier(regularizer="l2", l1=0.01),
    "pegasos": om.Pegasos(lam=0.01),
    "batches": om.Pegasos(lam=0.01, batch_size=7, fit_intercept="free"),
    "plain": om.Pegasos(lam=0.01, average=False),
    "shifting": om.ShiftingPerceptron(lam=2.0),
    "forgetful": om.PassiveAggressiveClassifier(horizon=3, average=False),
}
# What writes to all weights now and then: suffix averages, scales that are multiplied out (by the first move
# of the shifting Perceptron; forgetting with this horizon, every twentieth round or so).
SELDOM = {"pegasos": 8, "batches": 8, "shifting": 3, "forgetful": 16}


def _stream(classes: int) -> tuple[sp.csr_matrix, np.ndarray]:
    draw = np.random.default_rng(classes)
    X = sp.random(ROWS, COLUMNS, 0.004, "csr", random_state=1, data_rvs=draw.standard_normal)
    return X, draw.integers(0, classes, ROWS)


def _copies(model: Any, X: sp.csr_matrix, y: np.ndarray, classes: int) -> int:
    """Learn by twos and threes; the calls for which everything was copied."""
    with mock.patch.object(Model, "copy", autospec=True, side_effect=Model.copy) as copied:
        for rows in np.array_split(np.arange(ROWS), 50):
            model.partial_fit(X[rows], y[rows], classes=np.arange(classes))
        return int(copied.call_count)


@pytest.mark.parametrize("classes", [2, 5])
@pytest.mark.parametrize("name", LEARNERS)
def test_rows_in_place_are_rows_on_a_copy(name: str, classes: int) -> None:
    X, y = _stream(classes)
    quick, long = LEARNERS[name].clone(), LEARNERS[name].clone()
    few = _copies(quick, X, y, classes)
    with mock.patch.object(Model, "reached_by", return_value=False):
        many = _copies(long, X, y, classes)
    assert not differences(content(quick), content(long))
    assert few <= SELDOM.get(name, 0) and many == 49  # (the first call makes a model)


@pytest.mark.parametrize("classes", [2, 5])
@pytest.mark.parametrize("name", LEARNERS)
def test_what_fails_when_all_is_learned_is_undone(name: str, classes: int) -> None:
    """Everywhere where something was written, whatever that was."""
    X, y = _stream(classes)
    model, undone = LEARNERS[name].clone(), 0
    for rows in np.array_split(np.arange(ROWS), 30):
        if rows[0]:
            before = content(model)
            with mock.patch.object(Change, "publish", side_effect=KeyboardInterrupt) as failing:
                try:
                    model.partial_fit(X[rows], y[rows])
                except KeyboardInterrupt:
                    undone += 1
                assert failing.called
            assert not differences(before, content(model))
        model.partial_fit(X[rows], y[rows], classes=np.arange(classes))
    assert undone == 29
