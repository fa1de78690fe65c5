"""Many texts in one buffer: a sequence of strings, whatever they hold."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from onmargin.errors import BadInput, BadType
from onmargin.features.texts import Texts


@settings(deadline=None)
@given(st.lists(st.text()))
def test_a_sequence_of_strings(given):
    texts = Texts.of(given)
    assert list(texts) == given and len(texts) == len(given)
    assert texts.strings() == given and texts[::-1].strings() == given[::-1]
    assert list(texts[1:]) == given[1:] and list(texts[::-1]) == given[::-1]
    assert list(texts[::-1].packed()) == given[::-1]
    assert texts.packed().buffer.tobytes() == "".join(given).encode()
    assert Texts.of(texts) is texts and list(Texts.of(iter(given))) == given


def test_parts_of_a_buffer():
    texts = Texts(np.frombuffer(b"spam\tcheap\nham\tlunch\n", np.uint8), [5, 15], [10, 20])
    assert list(texts) == ["cheap", "lunch"] and texts[-1] == "lunch"
    assert list(texts.take([1, 1])) == ["lunch", "lunch"]
    assert list(texts.take(np.array([False, True]))) == ["lunch"]
    with pytest.raises(IndexError):
        texts[2]


@pytest.mark.parametrize("bad", ["one text", ["a", 3], None, 7])
def test_what_is_no_list_of_texts_is_refused(bad):
    with pytest.raises(BadType, match="wanted"):
        Texts.of(bad)


def test_bounds_beyond_the_buffer_are_refused():
    for starts, stops in (([0], [4]), ([-1], [1]), ([2], [1]), ([0, 1], [1])):
        with pytest.raises(BadInput, match="wanted"):
            Texts(b"abc", starts, stops)
    with pytest.raises(BadInput, match="half of a character"):
        Texts.of(["fine", "\ud800"])
    with pytest.raises(BadInput, match="text 1 is not UTF-8"):
        Texts(b"ab\xff", [0, 1], [1, 3]).strings()
    with pytest.raises(BadInput, match="text 1 is not UTF-8: byte 0xff at 1"):
        list(Texts(b"ab\xff", [0, 1], [1, 3]))
    with pytest.raises(BadType, match="uint8"):
        Texts(np.zeros(3), [0], [1])
