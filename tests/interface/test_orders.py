"""In which order Pegasos' `fit` visits the rows."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import onmargin as om
from onmargin.interface.runs.orders import Orders

DRAW = np.random.default_rng(3)
X = DRAW.normal(size=(60, 4))
Y = np.where(X @ [1.0, -1.0, 0.5, 0.0] + DRAW.normal(size=60) > 0, 1, -1)


def has_distinct_batches(rounds, batch):
    starts = range(0, len(rounds) - batch + 1, batch)
    return all(len(set(rounds[start : start + batch])) == batch for start in starts)


@settings(deadline=None, database=None)
@given(
    kind=st.sampled_from(["shuffle", "random"]), count=st.integers(1, 30), share=st.floats(0, 1),
    position=st.integers(0, 50), seed=st.integers(0, 10**6),
)  # fmt: skip
def test_no_row_is_twice_in_one_mini_batch(kind, count, share, position, seed):
    """Across passes too; a batch that was begun in an earlier call is not known, and filled up first."""
    batch = 1 + int(share * (count - 1))
    orders, draw = Orders(kind, np.arange(count), batch, position), np.random.default_rng(seed)
    passes = [orders.next(draw) for _ in range(6)]
    for order in passes:
        assert len(order) == count and 0 <= order.min() and order.max() < count
        assert kind == "random" or len(set(order)) == count
    assert has_distinct_batches(np.concatenate(passes)[-position % batch :], batch)


def test_passes_are_drawn_anew_and_fairly():
    for kind, batch in (("shuffle", 1), ("random", 1), ("shuffle", 7), ("random", 7)):
        orders, draw = Orders(kind, np.arange(20), batch), np.random.default_rng(0)
        passes = [orders.next(draw) for _ in range(500)]
        assert len({tuple(order) for order in passes}) == 500
        visits = np.bincount(np.concatenate(passes), minlength=20)
        assert (visits == 500).all() if kind == "shuffle" else abs(visits - 500).max() < 5 * np.sqrt(500)
        first = np.bincount([order[0] for order in passes], minlength=20)
        assert abs(first - 25).max() < 5 * np.sqrt(25)


@pytest.mark.parametrize("order", ["shuffle", "random", "cyclic"])
def test_fit_draws_its_order_from_random_state(order):
    def fit(seed):
        model = om.Pegasos(lam=0.1, order=order, max_iter=3, tol=None, batch_size=7, random_state=seed)
        return model.fit(X, Y).coef_

    np.testing.assert_array_equal(fit(1), fit(1))
    assert np.array_equal(fit(1), fit(2)) == (order == "cyclic")
    np.testing.assert_array_equal(fit(np.random.default_rng(5)), fit(np.random.default_rng(5)))


def test_shuffle_visits_every_row_and_random_does_not():
    """Unit vectors for rows: a weight moves where its row was visited."""
    moved = {}
    for order in ("shuffle", "random"):
        model = om.Pegasos(
            order=order, average=False, fit_intercept=False, max_iter=1, tol=None, random_state=0
        )
        moved[order] = np.count_nonzero(model.fit(np.eye(12), [-1, 1] * 6).coef_)
    assert moved["shuffle"] == 12 > moved["random"]
