"""The table of shapes: data are as their shape says, and a cliff is seen where there is one."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from benchmarks.shapes import PRECISIONS, SHAPES, Measured, Shape, places, trend

import onmargin as om
from benchmarks import shapes

ALL = [shape for axis in SHAPES for shape in axis]


def test_every_shape_that_was_asked_for_is_there():
    assert {s.nonzeros for s in SHAPES[0]} == {1, 10, 100, 1_000, 10_000}
    assert {s.nonzeros for s in SHAPES[2]} == {2, 16, 100, 784, 5_000}
    assert {s.zeros for s in ALL if s.dense} == {0.0, 0.5, 0.9}
    assert {s.updates for s in ALL} == {0.01, 0.1, 0.7, 1.0}
    assert {s.classes for s in ALL} == {2, 3, 10, 100}
    assert len({(s.axis, s.label) for s in ALL}) == len(ALL)


@pytest.mark.parametrize("shape", ALL, ids=lambda shape: f"{shape.axis}, {shape.label}")
def test_rows_are_as_the_shape_says(shape):
    X, y = shapes.table(shape, 50)
    assert len(y) == 50 and set(y) <= set(range(shape.classes))
    if not shape.dense:
        assert sp.issparse(X) and X.has_canonical_format and X.shape[1] == shapes.COLUMNS
        assert (np.diff(X.indptr) == shape.nonzeros).all() and X.data.all()
    else:
        assert X.shape == (50, shape.nonzeros)
        rest = X[:, shape.outputs :]
        assert rest.size == 0 or abs(np.mean(rest == 0.0) - shape.zeros) < 0.05


@pytest.mark.parametrize(
    "shape",
    [Shape("", "", 5, updates=0.1), Shape("", "", 20, dense=True, updates=0.7, classes=10)],
    ids=("CSR, two classes", "dense, ten"),
)
def test_as_many_rounds_update_as_wanted(shape):
    X, y = shapes.table(shape, 500)
    learner = shapes.model(shape, X.shape[1], "float64")
    before = learner.coef_.copy()
    steps = om.progressive(learner, X, y).steps
    assert abs(np.mean(steps != 0.0) - shape.updates) < 0.07
    np.testing.assert_allclose(learner.coef_, before, atol=1e-6)


def test_the_trend_is_the_line_through_the_neighbours():
    straight = [(1.0, 22.0), (10.0, 40.0), (100.0, 220.0), (1000.0, 2020.0)]
    assert [trend(straight, at) for at in range(4)] == pytest.approx([22.0, 40.0, 220.0, 2200.0])
    assert trend([(3.0, 50.0), (10.0, 50.0), (100.0, 400.0)], 2) == 500.0  # as much for a weight as before
    assert trend([(1.0, 7.0), (2.0, 9.0)], 1) == 9.0  # two make no trend


def timed(times):
    """An axis of five lengths with these times a round, by precision."""
    return [Measured(s, p, own[k]) for p, own in times.items() for k, s in enumerate(SHAPES[0])]


def cliffs(found):
    return {(p.measured.shape.label, p.measured.precision) for p in places(found) if p.cliff}


def test_a_cliff_is_marked_where_it_is():
    smooth = [20.0 + 2.0 * shape.touched() for shape in SHAPES[0]]
    both = dict.fromkeys(PRECISIONS, smooth)
    assert cliffs(timed(both)) == set()
    for at, shape in enumerate(SHAPES[0]):
        steep = [time * (2.6 if k == at else 1.0) for k, time in enumerate(smooth)]
        marked = cliffs(timed({"float64": steep, "float32": smooth}))
        assert (shape.label, "float64") in marked and all(p == "float64" for _, p in marked)


def test_a_precision_that_is_twice_as_slow_is_a_cliff():
    smooth = [20.0 + 2.0 * shape.touched() for shape in SHAPES[0]]
    slow = [2.5 * time for time in smooth]
    assert cliffs(timed({"float64": smooth, "float32": slow})) == {(s.label, "float32") for s in SHAPES[0]}
