"""Every part also runs as plain Python, and computes the same.

Run as a program this file plays the small stream of every row of the table and writes what came of
it: `NUMBA_DISABLE_JIT=1 python -m tests.learn.test_plain_python FILE`.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose

import onmargin as om
from onmargin.models.table import row_named
from tests.once import as_plain_python

from ..compiled_rows import each_row
from ..oracles import ORACLES
from ..students import can_average, stream, student, tables

ROOT = Path(__file__).parents[2]


def numbers(name):
    """Coefficients and rounds, from a dense table first, then on from a sparse one where that is compiled."""
    X, y, h = stream(name, rows=24)
    model = student(name, average=can_average(name))
    kinds = tables(name, X)
    first = om.progressive(model, kinds[0], y, sample_weight=h)
    second = om.progressive(model, kinds[-1], y)
    rounds = [np.c_[run.scores.reshape(len(X), -1), run.losses, run.steps] for run in (first, second)]
    return {"coef": model.coef_, "intercept": model.intercept_, "rounds": np.r_[rounds[0], rounds[1]]}


@pytest.fixture(scope="module")
def uncompiled(tmp_path_factory):
    """What plain Python makes of every row of the table, in one process."""
    path = tmp_path_factory.mktemp("plain") / "numbers.npz"
    with np.load(as_plain_python("tests.learn.test_plain_python", path, "default")) as file:
        return dict(file)


@pytest.mark.parametrize("name", each_row())
def test_plain_python_equals_compiled(name, uncompiled):
    for what, value in numbers(name).items():
        assert_allclose(uncompiled[f"{name}/{what}"], value, rtol=1e-12, atol=1e-12, err_msg=what)


def test_the_other_process_compiled_nothing(uncompiled):
    assert uncompiled["compiled"] == 0


def main(path):
    """Write the numbers of every row of the table, and how many loops were compiled meanwhile."""
    found = {f"{name}/{what}": value for name in ORACLES for what, value in numbers(name).items()}
    compiled = sum(hasattr(row_named(name).learner(), "overloads") for name in ORACLES)
    np.savez(path, compiled=compiled, **found)


if __name__ == "__main__":
    main(sys.argv[1])
