"""What an attack on files of every kind had found: each as it was done."""

from __future__ import annotations

import bz2
import gzip
import io
import os
import resource
import sys
import threading
import time

import pytest

import onmargin as om
from onmargin.errors import BadFile
from onmargin.sources.opening import Lines

TEXT = b"".join(b"%d 1:%d 3:2\n" % (number % 2, number) for number in range(1, 300))


def all_of(lines: Lines) -> bytes:
    return b"".join(chunk.text.tobytes() for chunk in lines)


# ---- packed


def test_bzip2_that_begins_with_nothing(tmp_path):
    path = tmp_path / "data.svm.bz2"
    path.write_bytes(bz2.compress(b""))
    assert all_of(Lines(path)) == b""
    path.write_bytes(bz2.compress(b"") + bz2.compress(TEXT))
    assert all_of(Lines(path)) == TEXT


def test_zstd_that_begins_with_a_frame_to_be_passed_over(tmp_path):
    zstd = pytest.importorskip("compression.zstd" if sys.version_info >= (3, 14) else "backports.zstd")
    path = tmp_path / "data.svm.zst"
    path.write_bytes(b"\x52\x2a\x4d\x18" + (5).to_bytes(4, "little") + b"notes" + zstd.compress(TEXT))
    assert all_of(Lines(path)) == TEXT


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_a_pipe_that_brings_its_first_bytes_one_by_one(pack):
    reading, writing = os.pipe()
    data = pack(TEXT)

    def write() -> None:
        with os.fdopen(writing, "wb", buffering=0) as pipe:
            for at in range(20):
                pipe.write(data[at : at + 1])
                time.sleep(0.002)
            pipe.write(data[20:])

    thread = threading.Thread(target=write)
    thread.start()
    with os.fdopen(reading, "rb") as pipe:
        assert all_of(Lines(pipe)) == TEXT
    thread.join()


# ---- caches


def test_a_file_whose_size_and_time_were_put_back_is_not_taken_from_its_cache(tmp_path):
    path = tmp_path / "data.svm"
    path.write_bytes(TEXT)
    before = path.stat()
    source = om.sources.svmlight.stream(path).cached()
    assert [block.rows.sum() for block in source] == [299 * 300 / 2 + 2 * 299]
    path.write_bytes(TEXT.replace(b"3:2", b"3:4"))
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    again = om.sources.svmlight.stream(path).cached()
    assert [block.rows.sum() for block in again] == [299 * 300 / 2 + 4 * 299]


@pytest.mark.parametrize("room", [100, 3000, 9000])
def test_a_cache_that_finds_no_room_is_told_and_leaves_nothing(tmp_path, room):
    path = tmp_path / "data.svm"
    path.write_bytes(TEXT)
    source = om.sources.svmlight.stream(path).cached()
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (room, limits[1]))
    try:
        with pytest.raises(BadFile, match=r"cannot write the cache .*data\.svm\.onmargin-cache"):
            list(source)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert os.listdir(tmp_path) == ["data.svm"]


def test_two_passes_at_once_do_not_write_into_each_others_cache(tmp_path):
    path = tmp_path / "data.svm"
    path.write_bytes(TEXT)
    one, other = (om.sources.svmlight.stream(path, rows=50).cached().blocks() for _ in range(2))
    heights = [(a.rows.shape[0], b.rows.shape[0]) for a, b in zip(one, other, strict=True)]
    assert heights == [(50, 50)] * 5 + [(49, 49)]
    kept = om.sources.svmlight.stream(path, rows=50).cached()
    assert sum(block.rows.sum() for block in kept) == 299 * 300 / 2 + 2 * 299
    assert sorted(os.listdir(tmp_path)) == ["data.svm", "data.svm.onmargin-cache"]


def test_an_old_draft_of_a_cache_is_removed(tmp_path):
    path, draft = tmp_path / "data.svm", tmp_path / "data.svm.onmargin-cache.0123.tmp"
    for file in (path, draft):
        file.write_bytes(TEXT)
    os.utime(draft, (0, 0))
    list(om.sources.svmlight.stream(path).cached())
    assert not draft.exists()
