"""Every row of the table, through its public class, against ten lines of NumPy.

Run as a program this file plays the stream of every row as plain Python, dense and CSR (compiling them all
twice would take minutes): `NUMBA_DISABLE_JIT=1 python -m tests.learn.test_oracles FILE`.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose

import onmargin as om
from onmargin.models.table import ROWS, row_named
from tests.once import as_plain_python

from ..compiled_rows import each_row
from ..kernel_students import ELSEWHERE, KERNEL_NAMES
from ..oracles import ORACLES, play
from ..oracles_paired import PAIRED_ORACLES
from ..students import (
    SCALING,
    can_average,
    for_oracle,
    luck,
    parameters,
    problem_of,
    stream,
    student,
    tables,
)

NEAR = {"rtol": 1e-9, "atol": 1e-9}
ROOT = Path(__file__).parents[2]
WAYS = ((False, True), (True, True), (True, False))  # averaged with weights?, a constant coordinate?
FORGETTING = ("pa1.binary~", "perceptron.top~", "pa2.labels~", "ftrl_l2.regression~")


def test_every_row_of_the_table_has_exactly_one_oracle():
    """Of this file, of `test_kernel_oracles`, of `test_paired_oracles`, or of `test_bbq_regressor`."""
    covered = [*ORACLES, *KERNEL_NAMES, *PAIRED_ORACLES, *ELSEWHERE]
    assert sorted(covered) == sorted(ROWS)


def played(name, table, given, weighted, intercept):
    """Coefficients and rounds: plain, or averaged with weights; with or without a constant coordinate."""
    model = student(name, intercept, average=weighted and can_average(name))
    coins = luck(len(given.h)) if name.startswith("banditron") else None
    run = om.progressive(model, table, given.y, sample_weight=given.h if weighted else None, chance=coins)
    found = {"coef": model.coef_, "scores": run.scores, "losses": run.losses, "steps": run.steps}
    return found | ({"intercept": model.intercept_} if problem_of(name) != "points" else {})


def compare_weights(name, found, run, weights, bias):
    """coef_ and intercept_ as the oracle's weights: less the dummy's row, less the threshold."""
    if name.endswith("calibrated"):
        weights = weights[:-1] - weights[-1]
    assert_allclose(found["coef"], weights[:, :-1], **NEAR)
    if problem_of(name) != "points":
        assert_allclose(found["intercept"], weights[:, -1] * bias - run.bar, **NEAR)


def compare_rounds(name, found, run):
    """Scores, losses and steps round by round."""
    dummy = run.scores[:, -1] if name.endswith("calibrated") else run.bars
    scores = (run.scores - dummy[:, None])[:, : -1 if name.endswith("calibrated") else None]
    assert_allclose(found["scores"].reshape(scores.shape), scores, **NEAR)
    assert_allclose(found["losses"], run.losses, **NEAR)
    assert_allclose(found["steps"], run.steps, **NEAR)  # where a round has several: their sum


def compare(name, founds):
    """What was found in each of the WAYS, for any number of tables, with the oracle."""
    given = stream(name)
    for weighted, intercept in WAYS:
        average = weighted and can_average(name)
        weights = given.h if weighted else np.ones(len(given.h))
        X, y, outputs = for_oracle(name, given, intercept)
        run = play(name, X, y, weights, outputs, luck=luck(len(y)), **parameters(name))
        for found in founds(weighted, intercept):
            compare_weights(
                name, found, run, run.mean if average else run.last, SCALING if intercept else 0.0
            )
            compare_rounds(name, found, run)
    assert 0 < np.count_nonzero(run.steps) < len(run.steps)


@pytest.mark.parametrize("name", each_row("pa1.binary~"))
def test_learner_equals_its_oracle(name):
    """Plain, and averaged with weights; with and without a constant coordinate; some rows also from CSR.

    Compiled: rows that have every part among them in `make test`, all others in `make soak`. As plain Python
    every row is compared below.
    """
    given = stream(name)
    compare(name, lambda *way: [played(name, table, given, *way) for table in tables(name, given.X)])


@pytest.fixture(scope="module")
def uncompiled(tmp_path_factory):
    """What plain Python makes of every row of the table, in one process."""
    path = tmp_path_factory.mktemp("oracles") / "numbers.npz"
    with np.load(as_plain_python("tests.learn.test_oracles", path)) as file:
        return dict(file)


@pytest.mark.parametrize("name", [*sorted(ORACLES), *FORGETTING])
def test_plain_python_equals_its_oracle(name, uncompiled):
    """The same from dense and CSR tables, for every row."""

    def founds(*way):
        for kind in ("dense", "csr"):
            marks = f"{name}/{kind}/{way}/"
            yield {key.removeprefix(marks): uncompiled[key] for key in uncompiled if key.startswith(marks)}

    compare(name, founds)


def test_the_other_process_compiled_nothing(uncompiled):
    assert uncompiled["compiled"] == 0


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


def main(path):
    """Write what became of every row of the table, and how many loops were compiled meanwhile."""
    numbers = {}
    for name in (*ORACLES, *FORGETTING):
        given = stream(name)
        for kind, table in (("dense", given.X), ("csr", sp.csr_matrix(given.X))):
            for way in WAYS:
                found = played(name, table, given, *way)
                numbers |= {f"{name}/{kind}/{way}/{what}": value for what, value in found.items()}
    compiled = sum(hasattr(row_named(name).learner(), "overloads") for name in ORACLES)
    np.savez(path, compiled=compiled, **numbers)


if __name__ == "__main__":
    main(sys.argv[1])
