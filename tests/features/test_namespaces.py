"""Vowpal Wabbit's feature text: its very columns, exact numbers, products, refusals with their place."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.pipeline import Pipeline
from sklearn.utils import murmurhash3_32

import onmargin as om
from onmargin.errors import BadInput, BadType
from onmargin.features.scanning.numbers import BAD, GOOD, LONG, decimal
from onmargin.features.texts import Texts

LINE = "|b 12 z:3 |a:2 x:1.5 yy :2 |long:0.5 q:4 | é w w"
# `vw --audit --noconstant -b 18 --interactions ...` of Vowpal Wabbit 9.11 for that line (column: value)
AUDIT = {
    (): {163343: 1, 124687: 3, 55432: 3, 145554: 2, 92594: 4, 254645: 2, 67463: 1, 236831: 2},
    ("ab",): {172055: 3, 80151: 9, 95193: 2, 191193: 6, 204089: 4, 33849: 12},
    ("aa",): {1680: 9, 190090: 6, 112554: 12, 79172: 4, 156772: 8, 2692: 16},
}


def columns(interactions=(), line=LINE, **given):
    X = om.features.Namespaces(interactions=list(interactions), **given).transform([line])
    return dict(zip(X.indices.tolist(), X.data.tolist(), strict=True))


def test_columns_are_those_of_vowpal_wabbit():
    """Words, words of digits, words without a name, namespaces without one, scales, and their products."""
    plain = columns()
    assert plain == AUDIT[()]
    for interactions in (("ab",), ("aa",), ("ab", "ba", "aa")):
        wanted = dict(plain)
        for one in {"".join(sorted(each)) for each in interactions}:  # (vw takes ab and ba for one)
            wanted |= AUDIT[(one,)]
        assert columns(interactions) == wanted


def test_a_word_is_hashed_with_the_hash_of_its_namespace():
    space = murmurhash3_32("user", 0, positive=True)
    assert columns(line="|user anna:2", bits=20) == {
        murmurhash3_32("anna", space, positive=True) % 2**20: 2.0
    }
    assert columns(line="|user 7", bits=20) == {(space + 7) % 2**20: 1.0}


def test_products_by_whole_names_and_of_all_pairs():
    line = "|user a b |undo c |item x y"
    by_name, by_letter = columns([("user", "item")], line), columns(["ui"], line)
    assert len(by_name) == 5 + 4 and len(by_letter) == 5 + 6 and set(by_name) < set(by_letter)
    assert len(columns(["::"], line)) == 5 + 15 and len(columns([":::"], line)) == 5 + 35
    assert columns(["uui"], "|u a:2 |i x:3").keys() == columns([("u", "u", "i")], "|u a:2 |i x:3").keys()
    assert sorted(columns(["uui"], "|u a:2 |i x:3").values()) == [2.0, 3.0, 12.0]
    assert columns(["zz"], line) == columns((), line)


def test_names_are_kept_and_shown():
    step = om.features.Namespaces(interactions=["ab"], names=True)
    X = step.fit_transform(["|a x |b y:2", "|a x", "| plain"])
    labels = step.get_feature_names_out()
    assert sorted(labels[X.indices]) == ["a^x", "a^x", "a^x*b^y", "b^y", "plain"]
    again = om.features.Namespaces.from_state(step.state())
    assert again.get_params() == step.get_params()
    assert (again.get_feature_names_out() == labels).all()
    with pytest.raises(AttributeError, match="names=True"):
        clone(step).get_feature_names_out()
    step.transform(["|c new"])
    assert len(step.names_) == 4


def test_a_row_is_the_same_alone_and_among_others():
    draw = np.random.default_rng(0)
    rows = [
        "|" + " |".join(
            f"{chr(97 + draw.integers(4))}:{draw.integers(1, 4)} "
            + " ".join(f"w{draw.integers(50)}:{draw.normal():.17g}" for _ in range(draw.integers(30)))
            for _ in range(draw.integers(1, 4))
        )
        for _ in range(400)
    ]  # fmt: skip
    step = om.features.Namespaces(bits=12, interactions=["ab"])
    whole = step.transform(Texts.of(rows))
    assert whole.has_canonical_format and whole.shape == (400, 4096)
    for at in range(0, 400, 37):
        alone = step.transform([rows[at]])
        assert (whole[at] != alone).nnz == 0
    assert step.transform([]).shape == (0, 4096)


@pytest.mark.parametrize(
    "row, said",
    [
        ("x y", "row 1, column 1: 'x y'; wanted a bar"),
        ("|a x:", "row 1, column 6: ''; wanted a finite number"),
        ("|a x:nan", "column 6: 'nan'; wanted a finite"), ("|a x:1e999", "column 6: '1e999'"),
        ("|a x:0x10", "column 6"), ("|a x:1_0", "column 6"), ("|a:b x", "column 4: 'b x'"),
        ("|a x:1:2", "column 7: ':2'; wanted one number"), ("|a x:--1", "column 6"),
    ],
)  # fmt: skip
def test_bad_rows_are_refused_with_their_place(row, said):
    with pytest.raises(BadInput) as refused:
        om.features.Namespaces().transform(["|a fine", row])
    assert said in str(refused.value)


@pytest.mark.parametrize(
    "given, said",
    [
        ({"bits": 0}, "bits=0"), ({"bits": 31}, "bits=31"), ({"interactions": "ab"}, "wanted a list"),
        ({"interactions": ["a"]}, "2 to 8"), ({"interactions": ["a:"]}, "letters, or colons"),
        ({"interactions": [("user", 3)]}, "names of namespaces"), ({"names": 1}, "names=1"),
    ],
)  # fmt: skip
def test_bad_parameters_are_refused(given, said):
    with pytest.raises((BadInput, BadType), match=said):
        om.features.Namespaces(**given).fit(["|a"])


def test_products_beyond_all_measure_are_refused():
    row = "|a " + " ".join(f"w{k}" for k in range(10_000))
    with pytest.raises(BadInput, match="row 0 makes 50005000 products"):
        om.features.Namespaces(interactions=["aa"]).transform([row])
    with pytest.raises(BadInput, match="row 0: its numbers multiply beyond"):
        om.features.Namespaces(interactions=["aaaa"]).transform(["|a x:1e99 y:1e90"])


# ---- numbers


@settings(max_examples=300, deadline=None)
@given(
    st.one_of(
        st.from_regex(r"[+-]?[0-9]{0,25}(\.[0-9]{0,25})?([eE][+-]?[0-9]{1,3})?", fullmatch=True),
        st.floats(allow_nan=False, allow_infinity=False).map(repr),
        st.text("0123456789+-.eE_ xnaif", max_size=12),
    )
)
def test_decimals_are_those_of_python_or_left_to_it(text):
    data = np.frombuffer(b" " + text.encode() + b" ", np.uint8)
    value, how = decimal_of(data, 1, len(data) - 1)
    try:
        wanted = float(text) if not set(text.lower()) & set("_ nxif") else None
    except ValueError:
        wanted = None
    if how == GOOD:
        assert wanted is not None and repr(float(value)) == repr(wanted)
    elif how == LONG:
        assert wanted is not None and abs(wanted) < 1e100
    else:
        assert how == BAD and (wanted is None or abs(wanted) >= 1e100)


def decimal_of(data, start, stop):
    """The part as plain Python."""
    return getattr(decimal, "py_func", decimal)(data, start, stop)


def test_compiled_numbers_are_exact():
    draw = np.random.default_rng(1)
    texts = [
        f"{draw.normal() * 10.0 ** draw.integers(-40, 40):.{draw.integers(1, 20)}g}" for _ in range(3000)
    ]
    X = om.features.Namespaces(bits=20).transform([f"|a x:{text}" for text in texts])
    assert X.data.tolist() == [float(text) for text in texts]


def test_a_pipeline_is_saved_with_its_names(tmp_path):
    rows, y = ["|a x:1 |b y", "|a z |b y:2"] * 20, [1, -1] * 20
    step = om.features.Namespaces(bits=12, interactions=["ab"], names=True)
    made = Pipeline([("features", step), ("model", om.PassiveAggressiveClassifier(shuffle=False))]).fit(
        rows, y
    )
    om.save(made, tmp_path / "model.onm")
    again = om.load(tmp_path / "model.onm")
    assert np.array_equal(again.decision_function(rows), made.decision_function(rows))
    assert again[0].get_params() == step.get_params()
    assert "*b^y" in om.top_features(again, 1)["feature"][0]
