"""How a table lies in memory is nobody's business: columns first, rows first, one row alone are one model."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import onmargin as om

LEARNERS = [
    om.PassiveAggressiveClassifier(average=False, intercept_scaling=1.0),
    om.PassiveAggressiveClassifier(average=True, intercept_scaling=1.0, update="all"),
    om.AROW(average=False, intercept_scaling=1.0, r=1.0),
    om.AROW(average=True, intercept_scaling=1.0, r=1.0),
    om.SoftConfidenceWeighted(average=False, intercept_scaling=1.0),
    om.FTRLClassifier(intercept_scaling=1.0, rate=0.1, adagrad_delta=1.0, average=False),
    om.FTRLClassifier(intercept_scaling=1.0, rate=0.1, adagrad_delta=1.0, average=True),
    om.SecondOrderPerceptron(average=False, intercept_scaling=1.0),
    om.SecondOrderPerceptron(average=True, intercept_scaling=1.0),
]
NAMES = [
    "pa1", "pa1-all-averaged", "arow", "arow-averaged", "scw", "adagrad", "adagrad-averaged",
    "second-order", "second-order-averaged",
]  # fmt: skip
OTHERS = [
    om.Pegasos(lam=0.01, average=False, intercept_scaling=1.0),
    om.Pegasos(lam=0.01, average=0.5, intercept_scaling=1.0, fit_intercept="free"),
    om.Pegasos(lam=0.01, average=True, intercept_scaling=1.0, batch_size=7),
    om.Pegasos(lam=0.01, average=True, intercept_scaling=1.0, project=True),
    om.ShiftingPerceptron(intercept_scaling=1.0),
    om.ProjectedPerceptron(radius=0.5, intercept_scaling=1.0),
    om.PassiveAggressiveClassifier(average=False, intercept_scaling=1.0, horizon=20),
    om.FTRLClassifier(regularizer="coin", average=False, intercept_scaling=1.0),
    om.FTRLClassifier(regularizer="coin", average=True, intercept_scaling=1.0),
    om.FTRLClassifier(intercept_scaling=1.0, rate=0.1, adagrad_delta=1.0, l1=0.01, average=False),
    om.FTRLClassifier(regularizer="l2", intercept_scaling=1.0, rate=0.1, l1=0.01, average=False),
]
OTHER_NAMES = [
    "pegasos", "pegasos-suffix", "pegasos-batches", "pegasos-ball", "shifting", "ball", "forgetful", "coin",
    "coin-averaged", "adagrad-l1", "l1",
]  # fmt: skip


def _stream(columns: int, classes: int) -> tuple[np.ndarray, np.ndarray]:
    draw = np.random.default_rng(columns * 10 + classes)
    return draw.standard_normal((60, columns)), draw.integers(0, classes, 60)


@pytest.mark.parametrize("columns", [5, 30, 63, 64, 200])
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("learner", LEARNERS, ids=NAMES)
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


@pytest.mark.parametrize("learner", LEARNERS, ids=NAMES)
def test_long_rows_are_learned_as_sparse_ones_are(learner: Any) -> None:
    """Class by class while they are learned: many classes, few, sets; with zeros, and one row of zeros."""
    X, y = _stream(200, 11)
    X[:, ::3] *= np.random.default_rng(1).random((60, 67)) < 0.3
    X[7] = 0.0
    sets = (X[:, :5] > 0.2).astype(int)
    streams = [(y, np.arange(11)), (y % 3, np.arange(3)), (sets, np.arange(5))]
    if learner.get_params().get("update") == "all":  # (for one label per example)
        streams.pop()
    for targets, known in streams:
        tables = (X, sp.csr_matrix(X), X.astype(np.float32), sp.csr_matrix(X.astype(np.float32)))
        models = [learner.clone().partial_fit(table, targets, classes=known) for table in tables]
        np.testing.assert_allclose(models[0].coef_, models[1].coef_, rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(models[2].coef_, models[3].coef_, rtol=1e-5, atol=1e-6)
        assert np.abs(models[0].coef_).max() > 0.01
        for model in models[:2]:  # the sums it goes on from are in their places, too
            model.partial_fit(sp.csr_matrix(X[::-1]), targets[::-1])
        np.testing.assert_allclose(models[0].coef_, models[1].coef_, rtol=1e-9, atol=1e-12)


def test_the_average_in_single_precision_leaves_a_column_of_zeros_alone() -> None:
    """What rounding took off a weight once is not added to its average again in every round."""
    draw = np.random.default_rng(0)
    X = draw.standard_normal((5000, 20))
    X[50:, 1:11] = 0.0
    y = np.where(X[:, 0] + 0.5 * draw.standard_normal(5000) > 0, 1, -1)
    learner = om.FTRLClassifier(intercept_scaling=1.0, rate=0.1, adagrad_delta=1.0, average=True)
    exact = learner.clone().partial_fit(X, y, classes=[-1, 1])
    learner.set_params(dtype="float32")
    for table in (X.astype(np.float32), sp.csr_matrix(X.astype(np.float32))):
        model = learner.clone().partial_fit(table, y, classes=[-1, 1])
        np.testing.assert_allclose(model.coef_[:, 1:11], exact.coef_[:, 1:11], rtol=5e-6)


ONE_LABEL = {
    "pegasos": om.Pegasos(lam=0.01, average=True, batch_size=7, multiclass="one_vs_all"),
    "pa1": om.PassiveAggressiveClassifier(),
    "arow": om.AROW(),
}


@pytest.mark.parametrize("name", ONE_LABEL)
def test_sets_of_one_label_are_learned_from_long_rows(name: str) -> None:
    """One output, kept as several are: an array of one column lies both ways at once."""
    X, _ = _stream(70, 2)
    learner, sets = ONE_LABEL[name].clone().set_params(intercept_scaling=1.0), X[:, :1] > 0
    dense = learner.clone().partial_fit(X, sp.csr_matrix(sets.astype(int)))
    sparse = learner.clone().partial_fit(sp.csr_matrix(X), sp.csr_matrix(sets.astype(int)))
    np.testing.assert_allclose(dense.coef_, sparse.coef_, rtol=1e-9, atol=1e-12)
    scores = np.ravel(dense.decision_function(X))
    np.testing.assert_allclose(scores, np.ravel(X @ dense.coef_.T + dense.intercept_), rtol=1e-9, atol=1e-9)
    assert dense.coef_.shape == (1, 70)
    separate = name == "pegasos"  # (others set labels against each other, and there is only one)
    assert (np.abs(dense.coef_).max() > 0.001) == separate


@pytest.mark.parametrize("learner", LEARNERS, ids=NAMES)
def test_a_long_row_that_is_refused_leaves_every_array_as_it_was(learner: Any) -> None:
    X, y = _stream(200, 11)
    model = learner.clone().partial_fit(X, y, classes=np.arange(11))
    before, X[40, 3] = pickle.dumps(model), np.nan
    with pytest.raises(ValueError, match="row 40 has a NaN"):
        model.partial_fit(X, y)
    assert pickle.dumps(model) == before


@pytest.mark.parametrize("learner", OTHERS, ids=OTHER_NAMES)
def test_long_rows_are_one_stream_however_they_are_cut_and_kept(learner: Any) -> None:
    """Scales, batches, balls and wealth beside weights that lie class by class: in blocks, and as CSR."""
    X, y = _stream(200, 11)
    X[:, ::3] *= np.random.default_rng(1).random((60, 67)) < 0.3
    X[7], known = 0.0, np.arange(11)
    whole = learner.clone().partial_fit(X, y, classes=known)
    apart, mixed, other = learner.clone(), learner.clone(), learner.clone()
    for some in np.array_split(np.arange(60), [1, 2, 12, 31]):
        tables = X[some], sp.csr_matrix(X[some])
        apart.partial_fit(tables[0], y[some], classes=known)
        mixed.partial_fit(tables[some[0] % 2], y[some], classes=known)
        other.partial_fit(tables[1 - some[0] % 2], y[some], classes=known)
    sparse = learner.clone().partial_fit(sp.csr_matrix(X), y, classes=known)
    np.testing.assert_array_equal(apart.coef_, whole.coef_)
    np.testing.assert_array_equal(apart.decision_function(X), whole.decision_function(X))
    for model in (mixed, other, sparse):
        np.testing.assert_allclose(model.coef_, whole.coef_, rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(model.intercept_, whole.intercept_, rtol=1e-9, atol=1e-12)
    assert np.abs(whole.coef_).max() > 0.001


@pytest.mark.parametrize("columns", [20, 64, 130, 1100])
def test_a_batch_scores_as_it_began_to_the_last_bit(columns: int) -> None:
    """Labels that nobody has touched before the batch at hand are ties: none is broken by rounding.

    Dense rows, sparse ones, and batches that begin with one kind and go on with the other.
    """
    learner = om.Pegasos(lam=0.05, batch_size=4, average=False, intercept_scaling=0.7)
    for seed in range(60):
        draw = np.random.default_rng(seed)
        X, sets = draw.standard_normal((8, columns)), (draw.random((8, 16)) < 0.3).astype(int)
        dense = learner.clone().partial_fit(X, sets)
        sparse = learner.clone().partial_fit(sp.csr_matrix(X), sets)
        mixed = learner.clone().partial_fit(sp.csr_matrix(X[:6]), sets[:6]).partial_fit(X[6:], sets[6:])
        other = learner.clone().partial_fit(X[:5], sets[:5]).partial_fit(sp.csr_matrix(X[5:]), sets[5:])
        for model in (sparse, mixed, other):
            np.testing.assert_allclose(model.coef_, dense.coef_, rtol=1e-9, atol=1e-12)


def _softened(loss: float, size: float, pull: np.ndarray) -> float:
    """A step that writes to every place it is shown."""
    for k in range(pull.shape[0]):
        pull[k] -= 0.01
    return min(0.1, loss / size)


@pytest.mark.parametrize("space", ["adagrad", "l2"])
def test_a_step_of_ones_own_is_shown_the_outputs_and_nothing_beyond(space: str) -> None:
    """Pulls are padded to eights, and weights that lie class by class are not: others' memory was written."""
    X, y = _stream(200, 3)
    learner = om.OnlineClassifier(
        om.Recipe(step=_softened, space=space), average=False, intercept_scaling=1.0
    )
    dense = learner.clone().partial_fit(X, y, classes=[0, 1, 2])
    sparse = learner.clone().partial_fit(sp.csr_matrix(X), y, classes=[0, 1, 2])
    np.testing.assert_allclose(dense.coef_, sparse.coef_, rtol=1e-9, atol=1e-12)
    assert np.abs(dense.coef_).max() > 0.01


@pytest.mark.parametrize("columns", [64, 65, 71])
def test_long_rows_in_single_precision_are_summed_in_double(columns: int) -> None:
    """The last columns too, those beyond the eights."""
    X, y = _stream(columns, 3)
    X = X.astype(np.float32)
    X[:, -1] += 1000.0
    model = om.PassiveAggressiveClassifier(average=False, intercept_scaling=1.0, dtype="float32")
    model.partial_fit(sp.csr_matrix(X), y, classes=[0, 1, 2])
    scores = X.astype(float) @ model.coef_.T.astype(float) + model.intercept_
    for table in (X, sp.csr_matrix(X)):
        np.testing.assert_allclose(model.decision_function(table), scores, rtol=1e-12, atol=1e-12)
