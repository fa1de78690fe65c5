"""Hashes are scikit-learn's, on every machine; names come back from their columns."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.feature_extraction import FeatureHasher
from sklearn.utils import murmurhash3_32

from onmargin.errors import BadInput
from onmargin.features.hashing import Names, columns, distinct, hashes
from onmargin.features.scanning.murmur import hash_slices
from onmargin.features.texts import Texts

GOLDEN = {
    "": 0, "a": 1009084850, "ab": 2613040991, "abc": 3017643002, "abcd": 1139631978, "Größe": 3815716910,
    "the quick brown fox": 519850996, "colour=red": 511943297, "日本語": 2779017879, "😀": 3199479546,
}  # fmt: skip


def test_golden_hashes():
    assert dict(zip(GOLDEN, hashes(GOLDEN).tolist(), strict=True)) == GOLDEN


@settings(deadline=None)
@given(st.lists(st.binary(max_size=40)), st.integers(0, 2**32 - 1))
def test_hashes_of_any_bytes_are_those_of_scikit_learn(pieces, seed):
    stops = np.cumsum([0, *map(len, pieces)])
    out = np.empty(len(pieces), np.uint32)
    texts = Texts(b"".join(pieces), stops[:-1], stops[1:])
    hash_slices(texts.buffer, texts.starts, texts.stops, seed, out)
    assert out.tolist() == [murmurhash3_32(piece, seed, positive=True) for piece in pieces]


@settings(deadline=None)
@given(st.lists(st.text(), min_size=1), st.integers(1, 30))
def test_columns_are_those_of_scikit_learn(names, bits):
    wanted = FeatureHasher(2**bits, input_type="string", alternate_sign=False).transform([[n] for n in names])
    assert columns(hashes(names), bits).tolist() == wanted.indices.tolist()


def test_columns_of_the_ends():
    assert columns(np.array([0, 1, 2**31 - 1, 2**31, 2**32 - 1], np.uint32), 30).tolist() == [
        0, 1, 2**30 - 1, 0, 1,
    ]  # fmt: skip


@settings(deadline=None)
@given(st.lists(st.lists(st.text(max_size=3))), st.integers(1, 8))
def test_names_come_back_from_their_columns(blocks, bits):
    names = Names(bits)
    for block in blocks:
        names.add(block)
    distinct = list(dict.fromkeys(name for block in blocks for name in block))
    assert names.names == distinct
    places = columns(hashes(distinct), bits).tolist()
    for name, column in zip(distinct, places, strict=True):
        assert name in names[column]
        assert name in names.labels()[column]
    assert names.collisions == len(distinct) - len(set(places))
    again = Names.from_state(names.state())
    assert again.names == names.names and again.collisions == names.collisions
    again.add(distinct)
    assert len(again) == len(distinct)


def test_labels_are_all_different():
    """Whatever the names are: n-grams of characters may look like labels."""
    names = Names(4)
    names.add([f"#{k}" for k in range(16)] + ["a", "b", "a | b", "#3 #3"])
    labels = names.labels().tolist()
    assert len(set(labels)) == 16
    for name in names.names:
        assert name in labels[columns(hashes([name]), 4)[0]]
    assert distinct(np.array(["x", "x", "x #0"], object)).tolist() == ["x #0 #0", "x #1", "x #0 #2"]


def test_names_are_bounded():
    names = Names(10, most=3)
    names.add(map(str, range(10)))
    names.add(map(str, range(10)))
    assert names.names == ["0", "1", "2"] and names.left_out == 7
    assert names[columns(hashes(["9"]), 10)[0]] == ()


@pytest.mark.parametrize(
    "change", [{"bits": 31}, {"bits": True}, {"most": -1}, {"hashed": np.zeros(1)}, {"hashed": np.zeros(2)}]
)
def test_a_state_that_does_not_fit_is_refused(change):
    names = Names(10)
    names.add(["a", "b"])
    with pytest.raises(BadInput):
        Names.from_state({**names.state(), **change})


def test_texts_of_a_buffer_are_hashed_where_they_lie():
    texts = Texts(b"one\ttwo\n", [0, 4], [3, 7])
    assert hashes(texts).tolist() == hashes(["one", "two"]).tolist()
