"""A name never met counts the same in a dict and in a frame, where scores are not linear in the row."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import onmargin as om

from ..soaking import uncompiled

pytestmark = uncompiled

DRAW = np.random.default_rng(4)


@pytest.mark.parametrize("covariance", ["diag", "full"])
@pytest.mark.parametrize("classes", [2, 3])
def test_the_second_order_perceptron(covariance, classes):
    model = om.SecondOrderPerceptron(covariance=covariance)
    for _ in range(60):
        x = dict(zip("abc", DRAW.normal(size=3), strict=True))
        model.learn_one(x, int(np.digitize(x["a"], [0.0, 0.5][: classes - 1])))
    rows = [dict(zip("abz", 2 * DRAW.normal(size=3), strict=True)) for _ in range(200)]
    frame = pd.DataFrame(rows)
    assert model.predict(frame).tolist() == [model.predict_one(x) for x in rows]
    shorter = model.decision_function(frame.drop(columns="z"))
    assert np.all(np.abs(model.decision_function(frame)) < np.abs(shorter))  # less sure


def test_a_model_without_a_spare_slot():
    """Arrays that are full: a wider copy answers, the model stays as it is."""
    names = [f"c{j}" for j in range(22)]
    frame, y = pd.DataFrame(DRAW.normal(size=(30, 22)), columns=names), pd.Series(DRAW.integers(0, 2, 30))
    model = om.SecondOrderPerceptron()
    model.learn_many(frame[names[:20]], y)
    slots = model._model.start.slots
    answers = model.predict(frame)
    assert model._model.start.slots == slots
    assert answers.tolist() == [model.predict_one(x) for x in frame.to_dict("records")]


def test_columns_of_a_growing_model():
    table = DRAW.normal(size=(12, 5))
    model = om.SecondOrderPerceptron(growing=True).partial_fit(table[:, :3], [0, 1] * 6, classes=[0, 1])
    twice = model.decision_function(table)
    model.learn_one({0: 0.0}, 1, w=0.0)
    assert np.all(np.abs(twice) < np.abs(model.decision_function(table[:, :3])))


def test_bbq():
    rows = DRAW.normal(size=(40, 3))
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    model = om.BBQ(random_state=0)
    for row in rows:
        model.learn_one(dict(zip("abc", row, strict=True)), int(row[0] > 0))
    x, known = {"a": 0.3, "z": 0.8}, {"a": 0.3}
    assert model.certainty(pd.DataFrame([x])) > model.certainty(pd.DataFrame([known])) + 0.3
    assert abs(model.regress(pd.DataFrame([x]))[0]) < abs(model.regress(pd.DataFrame([known]))[0])
    assert model.query_one(x) == model.query(pd.DataFrame([x]))[0]
    inner, stream = model.estimator_, model.estimator_._stream
    np.testing.assert_allclose(
        inner.estimates_of(stream.model, stream.row_for(x), 1, None),
        inner.estimates(pd.DataFrame([x])),
        atol=1e-12,
    )
