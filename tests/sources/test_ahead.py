"""Reading ahead changes nothing but the time: same blocks, same errors, and a caller may leave."""

from __future__ import annotations

import io
import threading

import numpy as np
import pytest

import onmargin as om
from onmargin.errors import BadFile, BadInput
from onmargin.sources.reading import memory
from onmargin.sources.reading.ahead import itself, overlapped
from onmargin.sources.reading.opening import Lines

TEXT = b"".join(b"%d 1:%d 2:0.5\n" % (number % 2, number) for number in range(5000))


def readers() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name == "onmargin reads ahead"]


@pytest.mark.parametrize("depth", [1, 2, 7])
def test_the_same_blocks(depth):
    plain = list(om.sources.svmlight.stream(io.BytesIO(TEXT), rows=300))
    source = om.sources.svmlight.stream(io.BytesIO(TEXT), rows=300).ahead(depth)
    for number, block in enumerate(source):
        np.testing.assert_array_equal(block.rows.data, plain[number].rows.data)
        assert source.seen == sum(len(one.targets) for one in plain[: number + 1])
    assert number == len(plain) - 1 and not readers()


@pytest.mark.parametrize("ahead", [False, True])
def test_memory_serves_again_only_when_nobody_holds_its_rows(ahead, monkeypatch):
    """Of 40 chunks, all blocks kept: none is overwritten. With none kept there is room for few."""
    made = []
    out_arrays = memory.out_arrays
    monkeypatch.setattr(memory, "out_arrays", lambda *given: made.append(1) or out_arrays(*given))

    def chunks():
        given = Lines(io.BytesIO(TEXT), size=len(TEXT) // 40)
        source = om.sources.svmlight.stream(given, rows=37)
        return source.ahead() if ahead else source

    X, y = om.sources.svmlight.read(io.BytesIO(TEXT))
    made.clear()
    blocks = list(chunks())
    rooms = len(made)
    np.testing.assert_array_equal(np.concatenate([block.rows.data for block in blocks]), X.data)
    np.testing.assert_array_equal(np.concatenate([block.rows.indices for block in blocks]), X.indices)
    np.testing.assert_array_equal(np.concatenate([block.targets for block in blocks]), y)
    made.clear()
    assert sum(len(block.targets) for block in chunks()) == len(y)
    assert len(made) <= 24 < 40 <= rooms


def test_the_threads_error_is_raised_here():
    source = om.sources.svmlight.stream(io.BytesIO(TEXT + b"x\n"), rows=100).ahead()
    with pytest.raises(BadFile, match="line 5001, column 1: 'x'"):
        list(source)
    assert not readers()


def test_a_caller_may_leave():
    closed = []

    def endless():
        try:
            while True:
                yield 1
        finally:
            closed.append(True)

    for value in overlapped(endless(), itself):
        assert value == 1
        break
    with pytest.raises(KeyboardInterrupt):
        for _ in overlapped(endless(), itself):
            raise KeyboardInterrupt
    assert not readers() and closed == [True, True]
    with pytest.raises(BadInput, match="blocks=0"):
        om.sources.svmlight.stream(io.BytesIO(TEXT)).ahead(0)


def test_progressive_over_it_is_the_same():
    wanted = om.progressive(om.Perceptron(growing=True), om.sources.svmlight.stream(io.BytesIO(TEXT)))
    found = om.progressive(om.Perceptron(growing=True), om.sources.svmlight.stream(io.BytesIO(TEXT)).ahead())
    assert found.totals == wanted.totals
