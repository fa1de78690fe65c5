"""A cache gives the very blocks of its source; what changed or is damaged is written anew."""

from __future__ import annotations

import io
import os

import numpy as np
import pytest

import onmargin as om
from onmargin.errors import BadInput

pa = pytest.importorskip("pyarrow")


def text(count: int = 3000, qid: str = "") -> bytes:
    draw = np.random.default_rng(1)
    lines = []
    for number in range(count):
        some = np.sort(draw.choice(9 + number // 10, 3, replace=False)) + 1
        lines.append(f"{number % 3} {qid}" + " ".join(f"{at}:{draw.random():.17g}" for at in some))
    return "\n".join(lines).encode()


@pytest.fixture
def path(tmp_path):
    (tmp_path / "data.svm").write_bytes(text())
    return tmp_path / "data.svm"


def same(found, wanted) -> None:
    assert len(found) == len(wanted)
    for one, other in zip(found, wanted, strict=True):
        assert one.rows.shape == other.rows.shape
        for name in ("data", "indices", "indptr"):
            a, b = getattr(one.rows, name), getattr(other.rows, name)
            assert a.dtype == b.dtype
            np.testing.assert_array_equal(a, b)
        if isinstance(other.targets, list):
            assert one.targets == other.targets
        else:
            np.testing.assert_array_equal(one.targets, other.targets)
        assert (one.groups is None) == (other.groups is None)
        assert one.groups is None or list(one.groups) == list(other.groups)


def kept(path) -> os.stat_result:
    return os.stat(f"{path}.onmargin-cache")


@pytest.mark.parametrize("options", [{}, {"multilabel": True}, {"dtype": "float32"}, {"columns": 400}])
@pytest.mark.parametrize("qid", ["", "qid:3 "])
def test_the_same_blocks(path, options, qid):
    path.write_bytes(text(qid=qid))
    wanted = list(om.sources.svmlight.stream(path, rows=700, **options))
    source = om.sources.svmlight.stream(path, rows=700, **options).cached()
    same(list(source), wanted)
    written = kept(path)
    same(list(source), wanted)
    assert source.bytes_read == source.bytes_total == written.st_size
    same(list(om.sources.svmlight.stream(path, rows=700, **options).cached().ahead()), wanted)
    assert kept(path).st_mtime_ns == written.st_mtime_ns and kept(path).st_ino == written.st_ino
    assert not [name for name in os.listdir(path.parent) if name.endswith(".tmp")]


def test_learning_from_it_is_the_same(path):
    source = om.sources.svmlight.stream(path)
    wanted = om.progressive(om.PassiveAggressiveClassifier(), source)
    cached = source.cached()
    for _ in range(2):
        found = om.progressive(om.PassiveAggressiveClassifier(), cached)
        assert found.totals == wanted.totals
        np.testing.assert_array_equal(found.model.coef_, wanted.model.coef_)


def test_what_has_changed_is_read_anew(path):
    list(om.sources.svmlight.stream(path).cached())
    path.write_bytes(b"1 1:5\n")
    assert [block.rows.data.tolist() for block in om.sources.svmlight.stream(path).cached()] == [[5.0]]
    path.write_bytes(b"1 0:5 2:1\n")
    assert [block.rows.shape for block in om.sources.svmlight.stream(path).cached()] == [(1, 3)]
    again = om.sources.svmlight.stream(path, columns=9).cached()
    assert [block.rows.shape for block in again] == [(1, 9)]


def test_damage_is_noticed_wherever_it_is(path):
    wanted = list(om.sources.svmlight.stream(path, rows=500))
    list(om.sources.svmlight.stream(path, rows=500).cached())
    cache = path.with_name("data.svm.onmargin-cache")
    whole = cache.read_bytes()
    draw = np.random.default_rng(0)
    for case in range(60):
        spoiled = bytearray(whole)
        if case % 3 == 0:
            spoiled = spoiled[: int(draw.integers(len(whole)))]
        else:
            spoiled[int(draw.integers(len(whole)))] ^= 1 << int(draw.integers(8))
        cache.write_bytes(spoiled)
        same(list(om.sources.svmlight.stream(path, rows=500).cached()), wanted)
    cache.write_bytes(b"")
    same(list(om.sources.svmlight.stream(path, rows=500).cached()), wanted)
    same(list(om.sources.svmlight.stream(path, rows=500).cached()), wanted)


def test_a_pass_that_is_left_keeps_nothing(path):
    for _ in om.sources.svmlight.stream(path, rows=100).cached():
        break
    assert os.listdir(path.parent) == ["data.svm"]


def test_a_stream_is_kept_where_it_is_told(tmp_path):
    source = om.sources.svmlight.stream(io.BytesIO(text()), rows=500).cached(tmp_path / "kept")
    wanted = list(source)
    assert source.again
    same(list(source), wanted)
    later = om.sources.svmlight.stream(io.BytesIO(b"1 1:1\n"), rows=500).cached(tmp_path / "kept")
    assert len(list(later)) == 1
    with pytest.raises(BadInput, match="tell where: path="):
        om.sources.svmlight.stream(io.BytesIO(b"1 1:1\n")).cached()


def test_skipped_lines_are_remembered(path):
    path.write_bytes(b"1 1:1\nx\n2 2:2\n")
    for _ in range(2):
        source = om.sources.svmlight.stream(path, on_error="skip").cached()
        assert sum(block.rows.shape[0] for block in source) == 2 and source.skipped == 1
