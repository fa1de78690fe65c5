"""Means and deviations as they come: those of the whole, however the blocks were cut."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.preprocessing import StandardScaler

from onmargin.errors import BadInput
from onmargin.features.moments import Moments


@settings(deadline=None, max_examples=50)
@given(
    st.integers(0, 2**32), st.lists(st.integers(0, 30), max_size=6), st.floats(-1e6, 1e6), st.floats(0, 0.9)
)
def test_the_same_however_blocks_are_cut(seed, cuts, offset, missing):
    draw = np.random.default_rng(seed)
    X = draw.standard_normal((30, 3)) * [1.0, 1e-3, 1e5] + offset
    X[draw.random(X.shape) < missing] = np.nan
    whole, parts = Moments(3), Moments(3)
    whole.add(X)
    for start, stop in zip([0, *sorted(cuts)], [*sorted(cuts), 30], strict=True):
        parts.add(X[start:stop])
    np.testing.assert_allclose(parts.scaled(X), whole.scaled(X), rtol=1e-12, atol=1e-12)
    np.testing.assert_array_equal(parts.count, whole.count)
    known = X[:, (~np.isnan(X)).sum(axis=0) > 1]
    if known.shape[1] == 3:
        wanted = np.nan_to_num(StandardScaler().fit_transform(X))
        np.testing.assert_allclose(whole.scaled(X), wanted, rtol=1e-6, atol=1e-6)


def test_before_and_after_little_data():
    moments = Moments(2)
    assert moments.scaled(np.array([[3.0, np.nan]])).tolist() == [[3.0, 0.0]]
    moments.add(np.array([[7.0, np.nan]]))
    assert moments.scaled(np.array([[9.0, 5.0]])).tolist() == [[2.0, 5.0]]
    assert moments.filled(np.array([[np.nan, 5.0]])).tolist() == [[7.0, 5.0]]
    moments.add(np.full((5, 2), 7.0))
    assert moments.scaled(np.array([[7.0, 7.0]])).tolist() == [[0.0, 0.0]]


def test_what_overflows_is_refused_and_nothing_is_learned():
    moments = Moments(1)
    moments.add(np.ones((2, 1)))
    with pytest.raises(BadInput, match="column 'big' are too large"):
        moments.add(np.array([[1e200], [-1e200]]), ["big"])
    assert moments.count.tolist() == [2.0] and moments.mean.tolist() == [0.0]


def test_state_brings_them_back():
    moments = Moments(2)
    moments.add(np.arange(6.0).reshape(3, 2))
    again = Moments.from_state(moments.state(), 2)
    np.testing.assert_array_equal(again.scaled(np.eye(2)), moments.scaled(np.eye(2)))
    for change in (
        {"count": -np.ones(2)},
        {"mean": np.ones(3)},
        {"spread": np.full(2, np.nan)},
        {"origin": None},
    ):
        with pytest.raises(BadInput):
            Moments.from_state({**moments.state(), **change}, 2)
