"""Mutated lines: the compiled reader says what the slow one says, of every line. Never a crash or a guess."""

from __future__ import annotations

import io
import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from onmargin.sources import svmlight
from onmargin.sources.reading.opening import Lines
from tests.soaking import SOAKING
from tests.svmlight_reference import examples

LINES = [
    b"+1 1:0.5 3:2 7:1e-3", b"-1 2:12345678.12345678 900:0.1234567890123456789", b"",
    b"3 qid:12 1:1 2:2 # c:d 3:4", b"0 1:0 2:-0 3:+.5 4:5. 5:1E5 6:1e+05", b"1,3 2:0.25\t5:1\r", b" 4:1 8:2",
    b"# only a comment", b"2 qid:-3 9:1e300", b"-1.5e0 10:1 11:123456789 12:1234567890123 2147483646:1",
]  # fmt: skip
BYTES = b"0123456789:::   .,+-eE#\n\r\tqidNULLnaif_x\x00\x0b\x80\xff"


def mutated(draw: random.Random) -> bytes:
    line = bytearray(draw.choice(LINES))
    for _ in range(draw.choice((0, 1, 1, 2, 3, 8))):
        at = draw.randrange(len(line) + 1)
        kind = draw.randrange(4)
        if kind == 0:
            line[at:at] = bytes([draw.choice(BYTES)])
        elif kind == 1:
            line[at : at + draw.randrange(1, 4)] = b""
        elif kind == 2:
            line[at : at + 1] = bytes([draw.randrange(256) if draw.random() < 0.3 else draw.choice(BYTES)])
        else:
            other = draw.choice(LINES)
            start = draw.randrange(len(other) + 1)
            line[at:at] = other[start : start + draw.randrange(12)]
    return bytes(line)


def compare(text: bytes, multilabel: bool, size: int = 1 << 20) -> None:
    """Both readers on the same text, wrong lines skipped."""
    text = b"\n" + text  # (never the beginning of a packed file)
    wanted, wrong = examples(text, multilabel)
    source = svmlight.stream(
        Lines(io.BytesIO(text), size=size),
        zero_based=False,
        multilabel=multilabel,
        on_error="skip",
    )
    blocks = list(source)
    assert source.skipped == wrong
    assert sum(block.rows.shape[0] for block in blocks) == len(wanted)
    if not wanted:
        return
    indices = np.concatenate([block.rows.indices for block in blocks])
    values = np.concatenate([block.rows.data for block in blocks])
    lengths = np.concatenate([np.diff(block.rows.indptr) for block in blocks])
    assert indices.tolist() == [index - 1 for one in wanted for index in one.entries]
    exact = np.array([value for one in wanted for value in one.entries.values()])
    np.testing.assert_array_equal(values.view(np.int64), exact.view(np.int64))
    assert lengths.tolist() == [len(one.entries) for one in wanted]
    labels = [
        label for block in blocks for label in (block.targets if multilabel else block.targets.tolist())
    ]
    assert labels == [one.labels if multilabel else one.labels[0] for one in wanted]
    groups = [group for block in blocks if block.groups is not None for group in block.groups.tolist()]
    assert groups == [one.group for one in wanted if one.group is not None]


def compare_many(count: int, seed: int) -> None:
    draw = random.Random(seed)
    for number in range(count // 500):
        text = b"\n".join(mutated(draw) for _ in range(500))
        compare(text, multilabel=bool(number % 2), size=(1 << 20, 300, 1)[number % 3])


@pytest.mark.parametrize("seed", range(4))
def test_mutated_lines(seed):
    compare_many(25_000, seed)


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(10, 20))
def test_a_million_mutated_lines(seed):
    compare_many(100_000, seed)


@settings(deadline=None, max_examples=2000 if SOAKING else 200)
@given(st.lists(st.one_of(st.sampled_from(LINES), st.binary(max_size=40)), max_size=8), st.booleans())
def test_any_bytes(lines, multilabel):
    compare(b"\n".join(lines), multilabel)


@settings(deadline=None, max_examples=300)
@given(st.floats(allow_nan=False, allow_infinity=False), st.integers(0, 25), st.sampled_from("gef"))
def test_any_number(value, digits, how):
    text = f"{value:.{digits}{how}}".encode()
    compare(b"%s 1:%s 2:%s\n" % (text, text, repr(value).encode()), multilabel=False)
