"""Every row of the table, through its public class, against ten lines of NumPy."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose

import onmargin as om
from onmargin.learn.algorithms import ALGORITHMS

from ..oracles import ORACLES, play
from ..students import SCALING, can_average, for_oracle, parameters, problem_of, stream, student, tables

NEAR = {"rtol": 1e-9, "atol": 1e-9}


def test_every_row_of_the_table_has_an_oracle():
    assert set(ORACLES) == set(ALGORITHMS)


def compare_weights(name, model, run, weights, bias):
    """coef_ and intercept_ as the oracle's weights: less the dummy's row, less the threshold."""
    if name.endswith("calibrated"):
        weights = weights[:-1] - weights[-1]
    assert_allclose(model.coef_, weights[:, :-1], **NEAR)
    if problem_of(name) != "points":
        assert_allclose(model.intercept_, weights[:, -1] * bias - run.bar, **NEAR)


def compare_rounds(name, progress, run):
    """Scores, losses and steps round by round."""
    dummy = run.scores[:, -1] if name.endswith("calibrated") else run.bars
    scores = (run.scores - dummy[:, None])[:, : -1 if name.endswith("calibrated") else None]
    assert_allclose(progress.scores.reshape(scores.shape), scores, **NEAR)
    assert_allclose(progress.losses, run.losses, **NEAR)
    assert_allclose(progress.steps, run.steps, **NEAR)  # where a round has several: their sum


@pytest.mark.parametrize("name", sorted(ALGORITHMS))
def test_learner_equals_its_oracle(name):
    """Plain, and averaged with weights; dense and CSR; with and without a constant coordinate."""
    given = stream(name)
    for weighted, intercept in ((False, True), (True, True), (True, False)):
        average = weighted and can_average(name)
        weights = given.h if weighted else np.ones(len(given.h))
        X, y, outputs = for_oracle(name, given, intercept)
        run = play(name, X, y, weights, outputs, **parameters(name))
        bias = SCALING if intercept else 0.0
        for table in tables(name, given.X):
            model = student(name, intercept, average=average)
            progress = om.progressive(model, table, given.y, sample_weight=weights if weighted else None)
            compare_weights(name, model, run, run.mean if average else run.last, bias)
            compare_rounds(name, progress, run)
    assert 0 < np.count_nonzero(run.steps) < len(run.steps)


@pytest.mark.parametrize("step", ["pa", "pa1", "pa2"])
def test_learned_radius_equals_its_oracle(step):
    """The centre, the radius and every decision, with the radius learned up to 2."""
    name = f"{step}.uniclass"
    given = stream(name)
    X, y, outputs = for_oracle(name, given)
    run = play(name, X, y, given.h, outputs, C=0.3, max_radius=2.0)
    for average in (False, True):
        model = student(name, max_radius=2.0, average=average)
        progress = om.progressive(model, given.X, sample_weight=given.h)
        weights = (run.mean if average else run.last)[0]
        assert_allclose(model.center_, weights[:-1], **NEAR)
        assert_allclose(model.radius_, np.sqrt(4.0 - weights[-1] ** 2), **NEAR)
        assert_allclose(progress.scores, run.scores[:, 0], **NEAR)
        assert_allclose(progress.losses, run.losses, **NEAR)
        assert_allclose(progress.steps, run.steps, **NEAR)


@pytest.mark.parametrize(
    "name", ["pa1.binary", "pa1.top", "arow_diag.top", "scw1_full.binary", "pa1.uniclass"]
)
def test_duplicate_and_unsorted_entries_are_summed(name):
    """A CSR matrix that stores an entry in two halves, in reverse order, is the same matrix."""
    given = stream(name)
    rows, columns = np.nonzero(given.X)
    values = given.X[rows, columns]
    order = np.lexsort((-columns, rows)).repeat(2)
    starts = np.r_[0, np.cumsum(2 * np.bincount(rows, minlength=len(given.X)))]
    halves = sp.csr_matrix((values[order] / 2, columns[order], starts), shape=given.X.shape)
    assert not halves.has_canonical_format
    expected, model = student(name), student(name)
    om.progressive(expected, given.X, given.y)
    om.progressive(model, halves, given.y)
    assert_allclose(model.coef_, expected.coef_, **NEAR)
