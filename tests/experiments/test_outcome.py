"""Outcomes: plain values that survive JSON, tables as text, CSV and Markdown, claims that can fail."""

from __future__ import annotations

import csv
import io
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from onmargin.experiments.outcome import Claim, Outcome, said, spread, summed_up

NUMBERS = st.floats(allow_nan=False)
CELLS = NUMBERS | st.integers(-(2**53), 2**53) | st.text(max_size=5) | st.none() | st.tuples(NUMBERS, NUMBERS)
LISTS = st.lists(NUMBERS, max_size=4)


@given(
    rows=st.lists(
        st.dictionaries(st.text(min_size=1, max_size=4), CELLS, min_size=1, max_size=3), max_size=4
    ),
    claims=st.lists(st.builds(Claim, st.text(max_size=8), st.booleans()), max_size=3),
    curves=st.dictionaries(st.text(max_size=4), st.tuples(LISTS, LISTS), max_size=2),
)
def test_an_outcome_survives_json(rows, claims, curves):
    """(mean, spread) comes back as the tuple it was, all digits the same."""
    outcome = Outcome("title", rows, claims, curves)
    back = Outcome.from_json(outcome.json())
    assert back == outcome and repr(back) == repr(outcome)


def test_numbers_of_numpy_become_plain():
    outcome = Outcome(
        "t", [{"n": np.int64(3), "x": (np.float64(0.1), np.float32(0.5))}], [Claim("c", np.True_)]
    )
    row = Outcome.from_json(outcome.json()).rows[0]
    assert row == {"n": 3, "x": (0.1, 0.5)} and type(row["n"]) is int and type(row["x"][0]) is float


def test_a_table_in_three_forms():
    runs = [{"error": 0.25}, {"error": 0.75}]
    outcome = Outcome(
        "E0: a title",
        [summed_up({"rule": "a|b"}, runs), {"rule": "c", "error": (2000.0, 3.0), "more": None}],
        [Claim("it is so", True), Claim("error 0.5, wanted 0.4", False)],
    )  # fmt: skip
    assert outcome.columns == ["rule", "error", "more"]
    head, first, second = csv.reader(io.StringIO(outcome.csv()))
    assert head == ["rule", "error", "error, spread", "more"]
    assert (
        first[:2] == ["a|b", "0.5"] and float(first[2]) == pytest.approx(math.sqrt(0.125)) and first[3] == ""
    )
    assert second == ["c", "2000.0", "3.0", ""]
    text = outcome.markdown()
    assert "| a\\|b | 0.500 ± 0.354 | - |" in text
    assert "- **fails**: error 0.5" in text and "- holds: it" in text
    assert said((0.00341, 0.0001)) == "0.00341 ± 0.00010" and said(0.123456) == "0.1235"
    assert "2,000 ± 3" in outcome.text() and "FAILS: error 0.5, wanted 0.4" in outcome.text()
    assert outcome.value("error", rule="a|b") == 0.5 and not outcome.holds
    with pytest.raises(AssertionError, match=r"E0: a title: error 0\.5, wanted 0\.4"):
        outcome.check()


def test_mean_and_deviation_over_seeds():
    assert spread([1.0, 2.0, 6.0]) == (3.0, pytest.approx(math.sqrt(7.0))) and spread([4.0]) == (4.0, 0.0)


def test_curves_of_a_panel():
    curve = ([1.0], [2.0])
    outcome = Outcome("t", [], [], {"a: x": curve, "a: y": curve, "b: x": curve})
    assert list(outcome.panel("a")) == ["x", "y"] and outcome.panel("c") == {}
