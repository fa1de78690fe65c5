"""The values of `om.kernels`: against scikit-learn, as tables and as learners see them, and what is kept of
them where data lies far from the origin."""

from __future__ import annotations

import sys

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose
from sklearn.metrics import pairwise

import onmargin as om

from ..kernel_students import stream, student
from ..uncompiled import Comparisons

COMPARISONS = Comparisons("tests.learn.test_kernel_values")
each = COMPARISONS.each
k = om.kernels


def unit(values):
    """A kernel of scikit-learn, normalised; vectors with k(a, a) = 0 are zero vectors."""

    def normalized(A, B):
        left, right = (np.sqrt(np.diag(values(X, X))) for X in (A, B))
        length = np.outer(left, right)
        return np.divide(values(A, B), length, out=np.zeros(length.shape), where=length > 0)

    return normalized


THEIRS = {
    "linear": (k.linear(), pairwise.linear_kernel),
    "rbf": (k.rbf(0.3), lambda A, B: pairwise.rbf_kernel(A, B, 0.3)),
    "poly": (k.poly(3, 0.4, 1.0), lambda A, B: pairwise.polynomial_kernel(A, B, 3, 0.4, 1.0)),
    "square": (k.poly(2, 0.7), lambda A, B: pairwise.polynomial_kernel(A, B, 2, 0.7, 0.0)),
    "sigmoid": (k.sigmoid(0.2, 0.1), lambda A, B: pairwise.sigmoid_kernel(A, B, 0.2, 0.1)),
    "laplacian": (k.laplacian(0.3), lambda A, B: pairwise.laplacian_kernel(A, B, 0.3)),
    "chi2": (k.chi2(0.6), lambda A, B: pairwise.chi2_kernel(A, B, 0.6)),
}
COMPOSED = {
    "sum": (
        k.linear() + 0.5 * k.rbf(0.3) + k.laplacian(0.2),
        lambda A, B: A @ B.T + 0.5 * pairwise.rbf_kernel(A, B, 0.3) + pairwise.laplacian_kernel(A, B, 0.2),
    ),
    "product": (
        k.poly(2, 0.4, 1.0) * k.rbf(0.1) * np.float64(3),
        lambda A, B: 3 * pairwise.polynomial_kernel(A, B, 2, 0.4, 1.0) * pairwise.rbf_kernel(A, B, 0.1),
    ),
    "unit square": (k.poly(2, 0.7).normalized(), unit(THEIRS["square"][1])),
    "unit sum": (
        (2 * k.linear() + k.poly(3, 0.4)).normalized(),
        unit(lambda A, B: 2 * A @ B.T + pairwise.polynomial_kernel(A, B, 3, 0.4, 0.0)),
    ),
    "own": (k.rbf(0.3) * (lambda A, B: A @ B.T), lambda A, B: pairwise.rbf_kernel(A, B, 0.3) * (A @ B.T)),
}
EVERY = THEIRS | COMPOSED


def tables(name):
    """Two tables with holes; an empty row in both, an empty column in one; chi2 wants no value below 0."""
    draw = np.random.default_rng(3)
    A, B = (draw.normal(size=(n, 5)) * (draw.random((n, 5)) < 0.7) for n in (9, 7))
    A[4], B[2], B[:, 3] = 0.0, 0.0, 0.0
    return (abs(A), abs(B)) if name == "chi2" else (A, B)


def forms(A, B):
    """The same in CSR, in both, with entries stored in two halves out of order, and as float32."""
    rows, columns = np.nonzero(A)
    order = np.lexsort((-columns, rows)).repeat(2)
    starts = np.r_[0, np.cumsum(2 * np.bincount(rows, minlength=len(A)))]
    halves = sp.csr_matrix((A[rows, columns][order] / 2, columns[order], starts), shape=A.shape)
    yield from ((A, B), (sp.csr_matrix(A), sp.csr_matrix(B)), (A, sp.csr_matrix(B)), (sp.csr_matrix(A), B))
    yield from ((halves, B), (B, halves), (np.asfortranarray(A), B.tolist()))


@each(*EVERY)
def values_are_those_of_scikit_learn(name):
    """Dense, CSR and mixed."""
    ours, theirs = EVERY[name]
    A, B = tables(name)
    for left, right in forms(A, B):
        if name == "own" and (sp.issparse(left) or sp.issparse(right)):
            continue  # this function is for arrays
        wanted = theirs(B, A) if np.shape(left) == B.shape else theirs(A, B)
        yield ours(left, right), wanted


@each(*(name for name in EVERY if name != "sigmoid"))
def gram_matrices_are_symmetric_and_positive(name):
    """And what distances give to a row and itself is 1."""
    ours, _ = EVERY[name]
    A = np.r_[tables(name)]
    K = ours(A, A)
    yield K, K.T
    yield np.linalg.eigvalsh(K).min() > -1e-9 * np.trace(K), True
    if name in ("rbf", "laplacian", "chi2"):
        yield np.diag(K), np.ones(len(A))


@each(*((name, "float32") for name in EVERY), near=1e-5)
@each(*((name, "float64") for name in EVERY))
def a_learner_sees_these_values(name, dtype):
    """Having learned one vector with coefficient 1, it answers k(a, .); to few rows and to many."""
    ours, theirs = EVERY[name]
    A, B = tables(name)
    many = np.tile(B, (40, 1))  # many are answered in the kernel's own precision
    for kind in (np.asarray, sp.csr_matrix) if name != "own" else (np.asarray,):
        for a in A[[1, 4, 6]]:  # the empty one among them
            one = a[None]
            model = om.PassiveAggressiveRegressor(
                step="pa", epsilon=0.0, fit_intercept=False, kernel=ours, dtype=dtype
            )
            model.partial_fit(kind(one), theirs(one, one)[0])
            yield model.predict(kind(B)), theirs(one, B)[0]
            yield model.predict(kind(many)), theirs(one, many)[0]


@each("rbf", "sum of rbf", near=1e-5)
def far_from_the_origin(name):
    """A mean of 1e4 costs float32 no digits: dense rows are shifted."""
    kernel = k.rbf(0.4) if name == "rbf" else k.rbf(0.4) + 0.5 * k.rbf(0.1).normalized()
    given = stream("kernel_pa1.top")
    far = given.X + 1e4
    runs, models = [], []
    for X, dtype in ((far, "float32"), (far - 1e4, "float64")):
        models.append(student("kernel_pa1.top", kernel=kernel, dtype=dtype))
        runs.append(om.progressive(models[-1], X, given.y, sample_weight=given.h))
    yield runs[0].steps != 0, runs[1].steps != 0
    yield runs[0].scores, runs[1].scores
    yield models[0].dual_coef_, models[1].dual_coef_
    many = np.tile(far, (5, 1))
    yield models[0].decision_function(many), models[1].decision_function(many - 1e4)


@each(50.0, 1e3, 1e5, near=1e-5)
def an_outlier_in_the_first_row(far):
    """It does not cost the others their digits."""
    X, y, h = stream("kernel_pa1.top")
    X[0] = far
    single, double = (
        student("kernel_pa1.top", dtype=dtype).partial_fit(X, y, classes=[0, 1, 2])
        for dtype in ("float32", "float64")
    )
    yield single.support_, double.support_
    yield single.dual_coef_, double.dual_coef_


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """All pairs, from plain Python."""
    return COMPARISONS.run(tmp_path_factory.mktemp("values") / "pairs.npz")


@pytest.mark.parametrize("name", COMPARISONS.entries)
def test_both_agree(name, written):
    COMPARISONS.compare(name, written)


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_matrix])
def test_many_rows_are_answered_like_one(kind):
    """Compiled, in float32: 1000 rows at once, and row by row (which is done in float64)."""
    given = stream("kernel_pa1.top")
    model = student("kernel_pa1.top", dtype=None).partial_fit(kind(given.X), given.y, classes=[0, 1, 2])
    rows = kind(np.random.default_rng(8).normal(size=(1000, given.X.shape[1])))
    together = model.decision_function(rows)
    alone = np.concatenate([model.decision_function(rows[[number]]) for number in range(1000)])
    assert_allclose(together, alone, rtol=1e-5, atol=1e-5)
    clear = np.sort(alone, axis=1)
    clear = clear[:, -1] - clear[:, -2] > 1e-4
    assert clear.sum() > 900
    assert (model.predict(rows)[clear] == model.classes_[alone.argmax(axis=1)][clear]).all()


def test_every_kernel_with_a_name_is_compared_with_scikit_learn():
    assert set(k.NAMED) - {"precomputed"} <= set(THEIRS)


if __name__ == "__main__":
    COMPARISONS.write(sys.argv[1])
