"""Interactions: every combination by its name, in order of appearance, beside a loop over rows."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from onmargin.features import crossing
from onmargin.features.crossing import Factor, crossed
from onmargin.features.frames import Words

NUMBER = st.one_of(st.floats(-3, 3), st.just(math.nan))
CODE = st.integers(-1, 4)


@pytest.mark.parametrize("dense", [-2000, 4])
@settings(deadline=None, max_examples=60)
@given(
    st.lists(st.tuples(CODE, NUMBER, CODE), min_size=1, max_size=12),
    st.permutations([0, 1, 2]),
    st.integers(1, 3),
)
def test_beside_a_loop_over_rows(dense, rows, order, many):
    table = [np.array(column) for column in zip(*rows, strict=True)]
    words = ["v", "w", "x", "y", "z"]
    factors = [Factor(f"c{k}", table[k] if k == 1 else Words(table[k], words)) for k in order[:many]]
    before, crossing.DENSE = crossing.DENSE, dense
    try:
        codes, names, values = crossed(factors)
    finally:
        crossing.DENSE = before
    wanted = []
    for row in rows:
        parts = [
            (f"c{k}", row[k], 1.0) if k == 1 else (f"c{k}={words[row[k]]}", row[k], row[k])
            for k in order[:many]
        ]
        missing = any(math.isnan(held) if "=" not in name else held < 0 for name, held, _ in parts)
        wanted.append(None if missing else "*".join(name for name, _, _ in parts))
    assert [names[code] if code >= 0 else None for code in codes] == wanted
    assert names == list(dict.fromkeys(name for name in wanted if name is not None))
    for row, value, name in zip(rows, values, wanted, strict=True):
        if name is not None:
            assert value == (row[1] if 1 in order[:many] else 1.0)


def test_many_words_of_many_columns_do_not_overflow():
    words = [f"w{k}" for k in range(100_000)]
    factors = [Factor(f"c{k}", Words(np.array([99_999, 0, -1]), words)) for k in range(5)]
    codes, names, _ = crossed(factors)
    assert codes.tolist() == [0, 1, -1] and names[0] == "*".join(f"c{k}=w99999" for k in range(5))
