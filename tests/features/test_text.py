"""Text beside HashingVectorizer: the same tokens, the same matrix, whatever the letters."""

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.feature_extraction.text import CountVectorizer, HashingVectorizer, TfidfVectorizer

import onmargin as om
from onmargin.errors import BadInput, BadType
from onmargin.features import Text
from onmargin.features.hashing import columns, hashes
from onmargin.features.texts import Texts

LETTERS = "ab zK\u212a_1Aß\u0130ΣσςÉe\u0301日😀\u00a0\u2003\x1c\n\t'-²٣ǅﬁ"
TEXTS = st.lists(st.one_of(st.text(LETTERS, max_size=30), st.text(max_size=15)), max_size=6)
RANGES = st.tuples(st.integers(1, 4), st.integers(0, 3)).map(lambda pair: (pair[0], sum(pair)))
ENDS = ["Cheap pills, CHEAP! the cheap", "", "Größe ΟΔΟΣ İstanbul x", "two  words\n\none\tmore", "a b c d"]


def same(found, wanted, near=0.0):
    wanted.sort_indices()
    assert found.shape == wanted.shape and found.has_canonical_format
    np.testing.assert_array_equal(found.indptr, wanted.indptr)
    np.testing.assert_array_equal(found.indices, wanted.indices)
    np.testing.assert_allclose(found.data, wanted.data, rtol=near)


@settings(deadline=None)
@given(
    TEXTS,
    st.sampled_from(["word", "char", "char_wb"]),
    RANGES,
    st.booleans(),
    st.sampled_from([3, 12, 18, 23]),
)
def test_the_matrix_is_that_of_hashing_vectorizer(texts, analyzer, ngram_range, lowercase, bits):
    shared = dict(analyzer=analyzer, ngram_range=ngram_range, lowercase=lowercase, norm=None)
    peer = HashingVectorizer(n_features=2**bits, alternate_sign=False, **shared)
    text = Text(bits=bits, **shared)
    if texts:
        same(text.transform(texts), peer.transform(texts))
        same(text.transform(Texts.of(texts)), peer.transform(texts))
    named = Text(bits=bits, names=True, **shared).fit(texts)
    tokens = {token for one in texts for token in peer.build_analyzer()(one)}
    assert set(named.names_.names) == tokens


@pytest.mark.parametrize("norm", ["l2", None])
def test_weightings_are_those_of_scikit_learn(norm):
    wanted = HashingVectorizer(n_features=2**10, alternate_sign=False, binary=True, norm=norm).transform(ENDS)
    same(Text(bits=10, weighting="binary", norm=norm).transform(ENDS), wanted, 1e-15)
    for weighting, idf in (("log", True), ("tf", True), ("binary", True), ("log", False)):
        peer = TfidfVectorizer(
            use_idf=idf, sublinear_tf=weighting == "log", binary=weighting == "binary", norm=norm
        )  # fmt: skip
        dense = peer.fit_transform(ENDS).toarray()
        found = Text(bits=20, weighting=weighting, idf=idf, norm=norm).fit_transform(ENDS)
        places = columns(hashes(peer.get_feature_names_out()), 20)
        np.testing.assert_allclose(found[:, places].toarray(), dense, rtol=1e-14)
        assert found.nnz == np.count_nonzero(dense)


def test_golden_columns():
    """Files of today are read tomorrow, on another machine."""
    found = Text(ngram_range=(1, 2), norm=None).transform(["Größe matters, größe 日本語"])
    assert dict(zip(found.indices.tolist(), found.data.tolist(), strict=True)) == {
        27073: 2.0, 28612: 1.0, 72337: 1.0, 114983: 1.0, 224606: 1.0, 232809: 1.0,
    }  # fmt: skip


@pytest.mark.parametrize("sizes", [(1, 1, 1, 1, 1), (2, 3), (5,), (0, 5)])
def test_blocks_add_up(sizes):
    whole = Text(bits=8, idf=True, names=True).fit(ENDS)
    text, at = Text(bits=8, idf=True, names=True), 0
    for size in sizes:
        text.partial_fit(ENDS[at : at + size])
        at += size
    assert text.rows_met_ == 5 and text.names_.names == whole.names_.names
    np.testing.assert_array_equal(text.met_, whole.met_)
    same(text.transform(ENDS), whole.transform(ENDS))
    same(Text(bits=8, idf=True).partial_fit_transform(ENDS), whole.transform(ENDS))
    same(whole.fit(ENDS[:2]).transform(ENDS), Text(bits=8, idf=True).fit(ENDS[:2]).transform(ENDS))


def test_many_texts_are_hashed_in_blocks():
    texts = [f"{'Wort' if k % 2 else 'größer'}{k % 977} " * (k % 90) for k in range(3000)] + [
        "long " * 100_000
    ]
    peer = HashingVectorizer(n_features=2**18, alternate_sign=False, ngram_range=(1, 2))
    same(Text(ngram_range=(1, 2)).transform(texts), peer.transform(texts), 1e-14)
    named = Text(ngram_range=(1, 2), names=True)
    same(named.fit_transform(texts), peer.transform(texts), 1e-14)
    counter = CountVectorizer(ngram_range=(1, 2)).fit(texts)
    assert set(named.names_.names) == set(counter.vocabulary_)
    assert named.names_.collisions == len(counter.vocabulary_) - len(
        set(columns(hashes(counter.vocabulary_), 18).tolist())
    )


def test_nothing_is_learned_before_the_first_data():
    same(Text(bits=8, idf=True).transform(ENDS), Text(bits=8).transform(ENDS))
    assert Text().transform([]).shape == (0, 2**18)
    with pytest.raises(AttributeError, match="names=True"):
        Text().fit(ENDS).get_feature_names_out()


def test_state_brings_it_back():
    for text in (Text(bits=6), Text(bits=6, idf=True, names=True, ngram_range=(1, 2)).fit(ENDS)):
        again = Text.from_state(text.state())
        same(again.transform(ENDS), text.transform(ENDS))
        assert again.get_params() == text.get_params()
        same(pickle.loads(pickle.dumps(text)).transform(ENDS), text.transform(ENDS))
    assert again.names_.names == text.names_.names
    assert again.get_feature_names_out().tolist() == text.get_feature_names_out().tolist()
    assert vars(clone(text)).keys() == text.get_params().keys()
    for change in ({"met": text.met_[1:]}, {"met": text.met_ + 100}, {"rows_met": "5"}, {"parameters": {}}):
        with pytest.raises(BadInput):
            Text.from_state({**text.state(), **change})


@pytest.mark.parametrize(
    "wrong", [{"analyzer": "words"}, {"ngram_range": (2, 1)}, {"ngram_range": 2}, {"bits": 0}, {"bits": 31},
              {"weighting": "idf"}, {"norm": "l1"}, {"names": 3}, {"idf": "yes"}, {"lowercase": None}],
)  # fmt: skip
def test_wrong_parameters_are_refused_in_one_line(wrong):
    with pytest.raises(BadInput, match=f"^{next(iter(wrong))}=.*wanted [^\n]*$"):
        Text(**wrong).fit(ENDS)


def test_wrong_texts_are_refused_and_nothing_is_learned():
    text = Text(bits=6, idf=True, names=True).fit(ENDS)
    before = text.met_.copy(), list(text.names_.names)
    for bad in (
        "one text",
        ["fine", None],
        ["fine", b"bytes"],
        ["fine", "\ud800"],
        [["a"]],
        3,
        np.zeros((2, 2)),
    ):
        with pytest.raises((BadInput, BadType)) as said:
            text.partial_fit(bad)
        assert "\n" not in str(said.value)
    with pytest.raises(BadInput, match="not UTF-8"):
        text.partial_fit(Texts(b"fine\xff", [0, 3], [4, 5]))
    np.testing.assert_array_equal(text.met_, before[0])
    assert text.names_.names == before[1]
    with pytest.raises(BadInput, match="fit it again"):
        text.set_params(bits=7).transform(ENDS)


def test_columns_of_frames_are_texts():
    pd, pl = pytest.importorskip("pandas"), pytest.importorskip("polars")
    for column in (pd.Series(ENDS), pl.Series(ENDS), np.array(ENDS), tuple(ENDS), iter(ENDS)):
        same(om.features.Text().transform(column), Text().transform(ENDS))
