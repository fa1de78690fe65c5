"""Faults that the kernel learners had, and (marked) those that they still have: what should be."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose

import onmargin as om
from onmargin.errors import BadInput

from ..kernel_students import gram, stream, student

NAME = "kernel_perceptron.binary"


def fault(reason):
    """A strict mark: when the fault is mended, the mark must go."""
    return pytest.mark.xfail(strict=True, reason=reason)


def compare(first, second):
    """The same support, coefficients to 1e-5."""
    assert first.support_.tolist() == second.support_.tolist()
    assert_allclose(first.dual_coef_, second.dual_coef_, rtol=1e-5, atol=1e-5)


def test_a_row_not_seen_is_scored_by_the_finished_batch():
    X, y, _ = stream("kernel_pegasos.binary")
    model = student("kernel_pegasos.binary", batch_size=2, average=False)
    run = om.progressive(model, X[:6], y[:6], sample_weight=[1, 1, 0, 1, 1, 1], classes=["no", "yes"])
    begun = student("kernel_pegasos.binary", batch_size=2, average=False)
    begun.partial_fit(X[:2], y[:2], classes=["no", "yes"])
    assert_allclose(run.scores[2], begun.decision_function(X[2:3])[0], rtol=1e-9)


@pytest.mark.parametrize("twice", ["warm_start", "progressive"])
def test_a_precomputed_table_can_come_twice(twice):
    """It goes on, with the coefficients of its own rows; rows of another table would be new vectors."""
    X, y, _ = stream(NAME)
    told = {"warm_start": True, "max_iter": 1, "shuffle": False, "tol": None}
    models = [student(NAME, kernel="precomputed", **told), student(NAME, **told)]
    for model, table in zip(models, (gram("rbf", X), X), strict=True):
        for _ in range(2):
            model.fit(table, y) if twice == "warm_start" else om.progressive(model, table, y)
    assert models[0].support_.max() < len(X) <= models[1].support_.max()
    assert len(set(models[0].support_.tolist())) == models[0].n_support_
    decisions = models[0].decision_function(gram("rbf", X)), models[1].decision_function(X)
    assert_allclose(*decisions, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("first", ["dicts", "array"])
def test_vectors_and_weights_are_as_wide_as_the_features(first):
    X, y, _ = stream(NAME)
    X = np.c_[X, X[:, :1]]  # 5 columns; room is made for 8, or for 10
    model = student(NAME, "linear", classes=["no", "yes"])
    if first == "array":
        model.partial_fit(X, y)
    for row, label in zip(X, y, strict=True):
        model.learn_one(dict(enumerate(row.tolist())), label.item())
    assert model.n_features_in_ == 5
    assert model.support_vectors_.shape == (model.n_support_, 5)
    assert model.coef_.shape == (1, 5)


@pytest.mark.parametrize("far", [30.0, 100.0, 1e4])
def test_sparse_rows_far_from_the_origin_are_learned_like_dense_ones(far):
    """They cannot be shifted; by default they are then learned in float64."""
    X, y, _ = stream("kernel_pa1.top")
    dense, sparse = (
        student("kernel_pa1.top", dtype=None).partial_fit(kind(X + far), y, classes=[0, 1, 2])
        for kind in (np.asarray, sp.csr_matrix)
    )
    compare(sparse, dense)


def test_a_stream_that_moves_away_keeps_its_digits():
    """The same pieces in float32, the default, and in float64."""
    X, y, _ = stream("kernel_pa1.top")
    X[20:] += 100.0
    models = [student("kernel_pa1.top", dtype=dtype, classes=[0, 1, 2]) for dtype in (None, "float64")]
    for model in models:
        model.partial_fit(X[:20], y[:20]).partial_fit(X[20:], y[20:])
    compare(*models)


@pytest.mark.parametrize("which", ["a sum", "views"])
def test_kernels_that_are_not_shifted_keep_their_digits(which):
    """(The Laplacian kernel loses them too, with a mean of 1e4.)"""
    X, y, _ = stream("om2.top")
    widths = [("rbf", {"gamma": 0.4}), ("rbf", {"gamma": 0.1})]
    told = {"name": "om2.top", "kernels": widths, "views": [[0, 1], [2, 3]]}
    if which == "a sum":
        told = {"name": "kernel_pa1.top", "kernel": om.kernels.rbf(0.4) + 1e-4 * om.kernels.linear()}
    models = [student(**told, dtype=dtype, classes=[0, 1, 2]) for dtype in (None, "float64")]
    compare(*(model.partial_fit(X + 100.0, y) for model in models))


def test_a_ball_says_why_it_does_not_explain_itself():
    X, *_ = stream("kernel_pa1.uniclass")
    model = student("kernel_pa1.uniclass").partial_fit(X)
    with pytest.raises(BadInput) as refusal:
        model.explain(X[0])
    assert "\n" not in str(refusal.value)


FORKED = """
import multiprocessing, sys
import numpy as np
import onmargin as om
from threadpoolctl import threadpool_limits

X = np.random.default_rng(0).normal(size=(2600, 4))
model = om.PassiveAggressiveClassifier(kernel="rbf", gamma=5.0)
with threadpool_limits(2, "blas"):
    model.partial_fit(X, np.arange(2600) % 3, classes=[0, 1, 2])
    assert model.n_support_ >= 2048
    model.decision_function(X[:3])
    child = multiprocessing.get_context("fork").Process(target=model.decision_function, args=(X[:3],))
    child.start()
    child.join(20)
    stuck = child.is_alive()
    if stuck:
        child.kill()
sys.exit(stuck or child.exitcode)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="nothing forks here")
def test_a_forked_process_answers():
    """Large models (2048 vectors and more) share their work among threads."""
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", FORKED], timeout=120, check=False)
    assert done.returncode == 0
