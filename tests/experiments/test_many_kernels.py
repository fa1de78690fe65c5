"""E5: many kernels; SILP against brute force, the claims of the quick form, and that they can fail."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.svm import SVC

from onmargin.experiments import many_kernels
from onmargin.experiments.many_kernels import DRAWN, REAL
from onmargin.experiments.silp import silp

from .spoiling import changed, drawn, failing, told


def best_dual(kernel: np.ndarray, signs: np.ndarray, C: float) -> float:
    """The SVM's dual value: what SILP makes least over the weights of kernels."""
    machine = SVC(C=C, kernel="precomputed", tol=1e-6).fit(kernel, signs)
    signed, at = machine.dual_coef_[0], machine.support_
    return float(np.abs(signed).sum() - 0.5 * signed @ kernel[np.ix_(at, at)] @ signed)


def test_silp_finds_the_best_weights_of_a_grid():
    draw = np.random.default_rng(0)
    signs = np.where(draw.random(60) < 0.5, 1, -1)
    telling, noise = draw.normal(signs[:, None] * 0.7, 1.0, (60, 3)), draw.normal(size=(60, 3))
    kernels = np.array([rbf_kernel(X, gamma=0.3) for X in (telling, noise)])
    found = silp(kernels, signs, C=1.0, near=1e-3)
    values = [best_dual(np.tensordot([d, 1 - d], kernels, 1), signs, 1.0) for d in np.linspace(0, 1, 21)]
    ours = best_dual(np.tensordot(found.weights, kernels, 1), signs, 1.0)
    assert ours <= min(values) * 1.005 and found.gap < 1e-3
    assert abs(found.weights.sum() - 1) < 1e-9 and found.weights[0] > found.weights[1]


def test_silp_of_one_kernel_is_the_svm():
    draw = np.random.default_rng(1)
    signs = np.where(np.arange(40) % 2, 1, -1)
    kernel = rbf_kernel(draw.normal(signs[:, None], 1.0, (40, 2)), gamma=0.5)
    found = silp(kernel[None], signs, C=1.0)
    expected = SVC(C=1.0, kernel="precomputed").fit(kernel, signs).decision_function(kernel)
    assert np.allclose(found.machine.decision_function(kernel), expected) and found.weights.tolist() == [1.0]


@pytest.mark.soak
def test_claims_hold_and_are_drawn():
    outcome = told("many_kernels")
    outcome.check()
    assert drawn(many_kernels.figure(outcome)).startswith(b"\x89PNG")


@pytest.mark.soak
def test_claims_can_fail():
    outcome = told("many_kernels")
    weak = changed(outcome, "informative", (0.2, 0.0), set=DRAWN, learner="OM-2, p = 1.1")
    assert "of the weight of p = 1.1" in failing(many_kernels.claims(weak, timed=False))
    best = changed(outcome, "online", (0.0, 0.0), set=REAL, learner="OM-2, p = 1.01")
    assert "NOT the best" in failing(many_kernels.claims(best, timed=False))
    slow = changed(outcome, "seconds", (9e9, 0.0), set=REAL, learner="OM-2, ten passes")
    assert "ten passes of OM-2 take" in failing(many_kernels.claims(slow))
