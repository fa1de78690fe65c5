"""Tables as rows, whatever they lie in: numbers, categories, texts, what is missing, interactions."""

import json
import pickle
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.feature_extraction import FeatureHasher
from sklearn.preprocessing import StandardScaler

import onmargin as om
from onmargin.errors import BadInput, BadType
from onmargin.features import Table, Text
from onmargin.features.hashing import columns, hashes

ROWS = [
    {"age": 20.0, "colour": "red", "flag": True, "size": 3, "body": "a cheap pill for you"},
    {"age": 40.0, "colour": "blue", "flag": False, "size": 5, "body": "lunch at noon, Größe XL"},
    {"age": None, "colour": "red", "flag": None, "size": 4, "body": None},
    {"age": 30.0, "colour": None, "flag": True, "size": 8, "body": "cheap lunch for all"},
]
TEXT = Text(bits=6, norm=None)


def dense(X):
    return X.toarray() if sp.issparse(X) else X


def test_the_same_whatever_the_rows_lie_in():
    given = dict(interactions=[("age", "size"), ("colour", "flag"), ("size", "colour")], text=TEXT, bits=10)
    wanted = Table(**given).fit(ROWS)
    frames = [
        pd.DataFrame(ROWS), pd.DataFrame(ROWS).convert_dtypes(), pl.DataFrame(ROWS),
        pa.Table.from_pylist(ROWS), pa.RecordBatch.from_pylist(ROWS), tuple(ROWS),
        pd.DataFrame(ROWS).astype({"colour": "category"}),
        pa.concat_tables([pa.Table.from_pylist(ROWS[:1]), pa.Table.from_pylist(ROWS[1:])]),
    ]  # fmt: skip
    for rows in frames:
        table = Table(**given).fit(rows)
        assert table.columns_ == {
            "age": "number", "colour": "category", "flag": "category", "size": "number", "body": "text",
        }  # fmt: skip
        np.testing.assert_array_equal(dense(table.transform(rows)), dense(wanted.transform(ROWS)))
        assert table.names_.names == wanted.names_.names


def test_numbers_alone_are_an_array():
    X = np.random.default_rng(0).standard_normal((20, 3)) * [1, 10, 100] + 5
    found = Table(interactions=[("x0", "x2")]).fit_transform(X)
    assert isinstance(found, np.ndarray) and found.flags.c_contiguous
    wanted = StandardScaler().fit_transform(X)
    np.testing.assert_allclose(found[:, :3], wanted, rtol=1e-12)
    np.testing.assert_allclose(found[:, 3], wanted[:, 0] * wanted[:, 2], rtol=1e-12)
    np.testing.assert_array_equal(Table(scale=False).fit_transform(X), X)
    np.testing.assert_array_equal(Table().transform(X), X)  # nothing was met
    assert Table().fit(X).get_feature_names_out().tolist() == ["x0", "x1", "x2"]


def test_categories_are_those_of_feature_hasher():
    rows = [{"colour": "red", "shape": "Größe"}, {"colour": "blue", "shape": "round"}, {"colour": "new"}]
    found = Table(bits=18).fit(rows[:1]).transform(rows)
    wanted = FeatureHasher(2**18, alternate_sign=False).transform(rows)
    np.testing.assert_array_equal(found.toarray(), wanted.toarray())
    assert found.has_canonical_format


def test_a_growing_vocabulary():
    table = Table(bits=None, interactions=[("colour", "size")], scale=False)
    table.partial_fit(ROWS[:1]).partial_fit(ROWS[1:2])
    found = [*table.get_feature_names_out()]
    assert [name for name in found if not name.startswith("body")] == [
        "age", "size", "colour=red", "flag=True", "colour=red*size",
        "colour=blue", "flag=False", "colour=blue*size",
    ]  # fmt: skip
    last = table.transform(ROWS[:3])[:, -6:].toarray()
    assert last.tolist() == [[1, 1, 3, 0, 0, 0], [0, 0, 0, 1, 1, 5], [1, 0, 4, 0, 0, 0]]
    unseen = table.transform([{"colour": "green"}])
    assert unseen[:, -6:].nnz == 0 and unseen.shape[1] == len(found)


def test_what_is_missing():
    rows = [
        {"age": 10.0, "colour": "red"},
        {"age": 30.0, "colour": ""},
        {"colour": None},
        {"age": float("nan")},
    ]
    table = Table(bits=8, interactions=[("age", "colour")]).fit(rows)
    found = table.transform(rows)
    assert found[:, 0].toarray().ravel().tolist() == [-1.0, 1.0, 0.0, 0.0]
    assert found.getnnz(axis=1).tolist() == [3, 3, 0, 0]
    assert sorted(table.names_.names) == ["age*colour=", "age*colour=red", "colour=", "colour=red"]
    filled = Table(scale=False, bits=8).fit(rows).transform(rows[2:])
    assert filled[:, 0].toarray().ravel().tolist() == [20.0, 20.0]


@settings(deadline=None, max_examples=40)
@given(
    st.lists(
        st.fixed_dictionaries(
            {},
            optional={
                "n": st.one_of(st.none(), st.floats(-1e6, 1e6)),
                "c": st.one_of(st.none(), st.text(max_size=3), st.booleans(), st.integers(-3, 3)),
                "t": st.one_of(st.none(), st.text(max_size=12)),
            },
        ),
        min_size=1, max_size=12,
    ),
    st.lists(st.integers(0, 12), max_size=3), st.sampled_from([None, 4]),
)  # fmt: skip
def test_blocks_add_up(rows, cuts, bits):
    kinds = {"n": "number", "c": "category", "t": "text"}
    given = dict(kinds=kinds, bits=bits, interactions=[("n", "c")], text=Text(bits=5, idf=True))
    whole, parts = Table(**given).fit(rows), Table(**given)
    for start, stop in zip([0, *sorted(cuts)], [*sorted(cuts), len(rows)], strict=True):
        parts.partial_fit(rows[start:stop])
    found, wanted = parts.transform(rows), whole.transform(rows)
    if bits:
        np.testing.assert_allclose(found.toarray(), wanted.toarray(), rtol=1e-12, atol=1e-12)
    else:
        order = [[*parts.get_feature_names_out()].index(name) for name in whole.get_feature_names_out()]
        np.testing.assert_allclose(found[:, order].toarray(), wanted.toarray(), rtol=1e-12, atol=1e-12)
    again = Table.from_state(json_of(parts.state()))
    np.testing.assert_array_equal(again.transform(rows).toarray(), found.toarray())


def json_of(state):
    """Through text, but for arrays."""
    if isinstance(state, dict):
        return {name: json_of(held) for name, held in state.items()}
    return state if isinstance(state, np.ndarray) else json.loads(json.dumps(state))


def test_words_are_written_alike_in_all_types():
    kinds = {"k": "category"}
    rows = [{"k": 3}, {"k": 3.0}, {"k": "3"}, {"k": np.int64(3)}, {"k": True}, {"k": 2.5}]
    assert Table(kinds=kinds).fit(rows).names_.names == ["k=3", "k=True", "k=2.5"]
    frame = pd.DataFrame({"k": [3, None]})
    assert Table(kinds=kinds).fit(frame).names_.names == ["k=3"]
    assert Table(kinds=kinds).fit(pl.DataFrame({"k": [3, None]})).names_.names == ["k=3"]


def test_names_lead_to_columns():
    table = Table(text=Text(bits=6, names=True), bits=12, interactions=[("age", "size")]).fit(ROWS)
    names = table.get_feature_names_out()
    assert names[:3].tolist() == ["age", "size", "age*size"] and len(names) == 3 + 2**6 + 2**12
    assert any("cheap" in name and name.startswith("body: ") for name in names[3 : 3 + 64])
    assert names[3 + 64 + columns(hashes(["colour=red"]), 12)[0]] == "colour=red"
    assert table.transform(ROWS).shape[1] == len(names)


def test_names_are_all_different():
    rows = [{"#1": 1.0, "colour=red": 2.0, "colour": "red", "a*b": 1.0, "a": 2.0, "b": 3.0}]
    names = Table(bits=3, interactions=[("a", "b")]).fit(rows).get_feature_names_out()
    assert len(set(names)) == len(names) == 6 + 8


def test_columns_that_come_later_are_told_once():
    table = Table(bits=8).fit(ROWS[:2])
    before = dense(table.transform(ROWS[:2]))
    with pytest.warns(UserWarning, match="'later' was not in the first data"):
        found = table.transform([{**row, "later": 1} for row in ROWS[:2]])
    np.testing.assert_array_equal(dense(found), before)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        table.partial_fit([{**row, "later": 1} for row in ROWS[:2]])


@pytest.mark.parametrize(
    "rows, said",
    [
        ({"age": 3}, "wrap it in a list"),
        ([3], "row 0 is 3"),
        (np.zeros(3), "1 dimensions"),
        ("text", "wanted a frame"),
        ([{"age": "old"}], "row 0, column 'age' is 'old'"),
        ([{"age": np.inf}], "row 0, column 'age' is inf"),
        ([{"age": 10**400}], "row 0, column 'age' is inf"),
        ([{"age": 1e200}, {"age": -1e200}], "'age' are too large"),
        ([{"colour": ["red"]}], "column 'colour' is"),
        (pa.table({"age": [1.0], "size": [3], "colour": [["red"]]}), "row 0, column 'colour' is ['red']"),
        ([{"body": 3}], "row 0, column 'body' is 3"),
        ([{"body": "\ud800"}], "half of a character"),
        (pd.DataFrame({"age": [1.0], "size": 3}), "'colour' is not there"),
    ],
)
def test_wrong_rows_are_refused_in_one_line_and_nothing_is_learned(rows, said):
    table = Table(bits=8, text=TEXT).fit(ROWS)
    before = pickle.dumps(table.state())
    with pytest.raises((BadInput, BadType)) as told:
        table.partial_fit(rows)
    assert said in str(told.value) and "\n" not in str(told.value)
    assert pickle.dumps(table.state()) == before


@pytest.mark.parametrize(
    "wrong, said",
    [
        ({"kinds": {"age": "numeric"}}, "kinds="),
        ({"scale": 1}, "scale="),
        ({"bits": 40}, "bits="),
        ({"interactions": ["age"]}, "interactions="),
        ({"interactions": [("age", "none")]}, "'none', which is not there"),
        ({"interactions": [("age", "body")]}, "of kind 'text'"),
        ({"text": "body"}, "text="),
    ],
)
def test_wrong_parameters_are_refused_in_one_line(wrong, said):
    with pytest.raises(BadInput, match=said):
        Table(**wrong).fit(ROWS)


def test_kinds_of_dates_must_be_given():
    frame = pd.DataFrame({"when": pd.to_datetime(["2020-01-01", None])})
    with pytest.raises(BadInput, match="'when' has .*kinds="):
        Table().fit(frame)
    assert Table(kinds={"when": "category"}).fit(frame).names_.names == ["when=2020-01-01 00:00:00"]
    assert Table(kinds={"when": "drop"}).fit_transform(frame).shape == (2, 0)


def test_parameters_clone_and_state():
    table = Table(kinds={"size": "category"}, text=TEXT, interactions=(("colour", "size"),), bits=9).fit(ROWS)
    assert clone(table).get_params()["text__bits"] == 6 and "columns_" not in vars(clone(table))
    np.testing.assert_array_equal(
        dense(clone(table).set_params(text__bits=5, bits=7).fit_transform(ROWS)),
        dense(Table(kinds={"size": "category"}, text=Text(bits=5, norm=None), bits=7,
                    interactions=(("colour", "size"),)).fit(ROWS).transform(ROWS)),
    )  # fmt: skip
    again = Table.from_state(json_of(table.state()))
    np.testing.assert_array_equal(dense(again.transform(ROWS)), dense(table.transform(ROWS)))
    with pytest.raises(BadInput, match="fit it again"):
        table.set_params(bits=10).transform(ROWS)
    assert om.features.Table is Table


@pytest.mark.parametrize(
    "change", [{"columns": ["a"]}, {"kinds": ["number"] * 4 + ["?"]}, {"moments": {}}, {"texts": {}},
               {"parameters": None}],
)  # fmt: skip
def test_a_state_that_does_not_fit_is_refused(change):
    with pytest.raises(BadInput):
        Table.from_state({**Table(text=TEXT).fit(ROWS).state(), **change})
