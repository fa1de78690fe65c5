"""PairedClassifier learns the same from dense, CSR and dicts, also in turn, and where tables grow.

As plain Python, in another process: to compile all kinds of tables would take long.
"""

from __future__ import annotations

import sys

import numpy as np
import scipy.sparse as sp

from ..uncompiled import Comparisons
from .test_paired_classifier import FULL, SPARSE, THREE, WEIGHT, X, paired
from .test_paired_streams import DOUBLE, TARGETS, fresh, learn_dicts

COMPARISONS = Comparisons("tests.estimators.test_paired_tables")
each = COMPARISONS.each
MORE = {"dca": {}, "auc": {"rule": "auc"}, "rbf": DOUBLE}


@each(*((kind, name) for kind in TARGETS for name in MORE))
def dense_csr_and_dicts_are_one(kind, name):
    """Also in turn: rows that were kept in one form meet arrivals in another."""
    y, more = TARGETS[kind][0], MORE[name]
    dense, table = (fresh(kind, **more).partial_fit(rows, y, sample_weight=WEIGHT) for rows in (FULL, SPARSE))
    loop = learn_dicts(fresh(kind, **more), FULL, y, WEIGHT)
    wanted = dense.decision_function(FULL)
    yield table.decision_function(SPARSE), wanted
    turns = fresh(kind, **more).partial_fit(FULL[:50], y[:50], sample_weight=WEIGHT[:50])
    learn_dicts(turns, FULL[50:90], y[50:90], WEIGHT[50:90])
    turns.partial_fit(SPARSE[90:130], y[90:130], sample_weight=WEIGHT[90:130])
    turns.partial_fit(FULL[130:], y[130:], sample_weight=WEIGHT[130:])
    yield turns.decision_function(FULL), wanted
    yield np.ravel(loop.threshold_), np.ravel(dense.threshold_)
    if name == "rbf":
        yield np.sort(loop.dual_coef_), np.sort(dense.dual_coef_)  # (see test_paired_streams on its order)
    else:
        yield loop.coef_, dense.coef_
        yield loop.intercept_, dense.intercept_


@each(*((kind, name) for kind in TARGETS for name in ("dca", "rbf")))
def first_rows_of_weight_0_leave_nothing_behind(kind, name):
    """Nobody is in the reservoirs yet, and nobody is drawn."""
    y, more, nothing = TARGETS[kind][0], MORE[name], np.zeros(20)
    for rows in (FULL, SPARSE):
        model = fresh(kind, **more).partial_fit(rows[:20], y[:20], sample_weight=nothing)
        yield model.t_, 0
        model.partial_fit(rows[20:], y[20:])
        alone = fresh(kind, **more).partial_fit(rows[20:], y[20:])
        yield model.decision_function(rows), alone.decision_function(rows)


@each()
def other_types_of_numbers_are_the_same():
    """Numbers that float32 has; long indices; columns of an array first."""
    rows = FULL.astype(np.float32)
    long = sp.csr_matrix(rows)
    long.indices, long.indptr = long.indices.astype(np.int64), long.indptr.astype(np.int64)
    wanted = fresh("three").partial_fit(rows.astype(float), THREE).coef_
    for table in (rows, np.asfortranarray(rows), long, long.astype(float)):
        model = fresh("three").partial_fit(table[:70], THREE[:70])
        yield model.partial_fit(table[70:], THREE[70:]).coef_, wanted


@each()
def entries_may_come_in_any_order_and_in_parts():
    """CSR with columns backwards, each value as two entries."""
    data = np.repeat(SPARSE.data, 2) * np.tile([0.25, 0.75], SPARSE.nnz)
    indices, starts = np.repeat(SPARSE.indices, 2), 2 * SPARSE.indptr
    for start, stop in zip(starts[:-1], starts[1:], strict=True):
        data[start:stop], indices[start:stop] = data[start:stop][::-1], indices[start:stop][::-1]
    odd = sp.csr_matrix((data, indices, starts), shape=SPARSE.shape)
    for more in ({}, DOUBLE):
        first, second = (fresh("three", **more).partial_fit(table, THREE) for table in (SPARSE, odd))
        yield second.decision_function(FULL), first.decision_function(FULL)


@each()
def columns_of_arrays_may_grow():
    """Rows that were kept narrow meet wide ones."""
    y, wide = THREE > 0, np.pad(X[:40, :3], ((0, 0), (0, 2)))
    wanted = paired(random_state=0, classes=(False, True)).partial_fit(np.r_[wide, X[40:]], y)
    for form in (np.asarray, sp.csr_matrix):
        model = paired(growing=True, random_state=0).partial_fit(form(X[:40, :3]), y[:40])
        yield model.partial_fit(form(X[40:]), y[40:]).coef_, wanted.coef_


@each()
def classes_of_arrays_may_grow():
    """Everyone is in the reservoir of its class."""
    for form in (np.asarray, sp.csr_matrix):
        model = paired(growing=True, random_state=0).partial_fit(form(X[:40]), THREE[:40] // 2)
        model.partial_fit(form(X[40:]), THREE[40:])
        pairing = model._model.pairing
        yield model.classes_, [0, 1, 2]
        yield pairing.seen.sum(), len(X)
        yield pairing.pool.marks.view[pairing.slots].argmax(axis=2).T, np.tile([0, 1, 2], (6, 1))


def test_all_agree(tmp_path):
    """In one test, so that one worker runs the program."""
    written = COMPARISONS.run(tmp_path / "pairs.npz")
    for name in COMPARISONS.entries:
        COMPARISONS.compare(name, written)


if __name__ == "__main__":
    np.seterr(over="ignore")  # uniforms are mixed modulo 2^64
    COMPARISONS.write(sys.argv[1])
