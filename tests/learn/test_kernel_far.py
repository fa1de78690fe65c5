"""Kernels are as exact far from where a stream began as at its start, in every form that rows come in."""

from __future__ import annotations

import sys

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import onmargin as om

from ..uncompiled import Comparisons

NEAR, COARSE = 1e-9, 2e-6  # in float64; in float32 (kernel values to 1e-7, some dozens of them to a score)
COMPARISONS = Comparisons("tests.learn.test_kernel_far")
GAMMA, ROWS, COLUMNS = 0.5, 60, 4


def gaps(A, B):
    """All differences, entry by entry."""
    A, B = (table.toarray() if sp.issparse(table) else np.asarray(table) for table in (A, B))
    return A[:, None, :].astype(float) - B[None, :, :]


def gauss(A, B):
    return np.exp(-GAMMA * np.square(gaps(A, B)).sum(axis=2))


def laplace(A, B):
    return np.exp(-GAMMA * np.abs(gaps(A, B)).sum(axis=2))


EXACT = {"rbf": gauss, "laplacian": laplace}


def rows(offset, first=3):
    """The first rows at 0, the others around `offset`: they decide nothing for those that come."""
    draw = np.random.default_rng(int(offset))
    X = offset + draw.normal(size=(ROWS, COLUMNS))
    X[:first] = draw.normal(size=(first, COLUMNS)) * 0.1
    return X, np.where(draw.random(ROWS) < 0.5, 1, 0)


def learned(kernel, kind, X, y, **given):
    model = om.PassiveAggressiveClassifier(kernel=kernel, gamma=GAMMA, classes=[0, 1], **given)
    if kind == "dicts":
        for row, label in zip(X.tolist(), y.tolist(), strict=True):
            model.learn_one(dict(enumerate(row)), label)
    elif kind == "pieces":
        for some in (slice(0, 1), slice(1, 20), slice(20, None)):
            model.partial_fit(sp.csr_matrix(X[some]), y[some])
    else:
        model.partial_fit(sp.csr_matrix(X) if kind == "csr" else X, y)
    return model


def compared(kernel, kind, offset, dtype):
    """Scores against those of the same learner with a kernel that is summed entry by entry in float64."""
    X, y = rows(offset)
    exact = learned(EXACT[kernel], "dense", X, y, dtype="float64")
    model = learned(kernel, kind, X, y, dtype=dtype)
    asked = X + 0.3
    given = (
        sp.csr_matrix(asked)
        if kind in ("csr", "pieces")
        else pd.DataFrame(asked)
        if kind == "dicts"
        else asked
    )
    yield model.decision_function(given), exact.decision_function(asked)


CASES = [
    (kernel, kind, offset)
    for kernel in EXACT
    for kind in ("dense", "csr", "pieces", "dicts")
    for offset in (1e2, 1e3, 1e4)
]


@COMPARISONS.each(*CASES, near=COARSE)
def the_default(kernel, kind, offset):
    yield from compared(kernel, kind, offset, None)


@COMPARISONS.each(*CASES, near=NEAR)
def float64(kernel, kind, offset):
    yield from compared(kernel, kind, offset, "float64")


@COMPARISONS.each((1e3, 40), (1e4, 40), (1e4, 4000), near=NEAR)
def kernels_themselves(offset, columns):
    """Also of wide rows that share few columns."""
    draw = np.random.default_rng(1)
    A = sp.random(30, columns, 80 / (40 + columns), "csr", random_state=1)
    A.data[:] = offset + draw.normal(size=A.nnz)
    B = A.copy()
    B.data += 0.1 * draw.normal(size=A.nnz)
    for name in EXACT:
        yield getattr(om.kernels, name)(GAMMA)(A, B), EXACT[name](A, B)


@COMPARISONS.each(near=NEAR)
def two_places_in_one_block():
    """Half of the rows here, half far away: no origin suits both."""
    X, y = rows(1e4, first=30)
    X[::2], X[1::2] = X[:30].copy(), X[30:].copy()
    exact = learned(gauss, "dense", X, y, dtype="float64").decision_function(X)
    for kind in ("dense", "csr"):
        yield learned("rbf", kind, X, y, dtype="float64").decision_function(X), exact


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    return COMPARISONS.run(tmp_path_factory.mktemp("far") / "pairs.npz")


@pytest.mark.parametrize("name", COMPARISONS.entries)
def test_kernels_are_exact_anywhere(name, written):
    COMPARISONS.compare(name, written)


if __name__ == "__main__":
    COMPARISONS.write(sys.argv[1])
