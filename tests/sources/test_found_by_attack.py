"""What an attack on files of every kind had found: each as it was done."""

from __future__ import annotations

import bz2
import gzip
import os
import resource
import sys
import threading
import time

import pytest

import onmargin as om
from onmargin.errors import BadFile, BadInput
from onmargin.sources.reading.opening import Lines

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


# ---- CSV


@pytest.mark.parametrize(
    "lines", [b"1,2,x\r3,4,y\r5,6,\n7,8,y\n", b"1,2,x\r3,4,y\r5,6,x\r7,inf,y\n", b"1,2,x\r3,4,y\n5,6,x\n"]
)
def test_a_return_within_a_line_is_no_end_of_it(tmp_path, lines):
    path = tmp_path / "data.csv"
    path.write_bytes(b"a,b,label\n" + lines)
    with pytest.raises(BadFile, match=r"data\.csv, line 2, column 1: .*no return within"):
        om.sources.csv.read(path, features=None)
    source = om.sources.csv.stream(path, features=None, on_error="skip")
    blocks = list(source)
    assert source.skipped == 1 and sum(len(block.targets) for block in blocks) == lines.count(b"\n") - 1
    path.write_bytes(b'a,b,label\r\n1,"in\rside",x\r\n2,z,y\r\n')
    X, y = om.sources.csv.read(path, features=None)
    assert X["b"].to_pylist() == ["in\rside", "z"] and y.tolist() == ["x", "y"]


def test_a_header_that_is_none_and_a_column_that_is_not_there_name_the_file(tmp_path):
    path = tmp_path / "data.csv"
    path.write_text("\na,b,label\n1,2,x\n")
    with pytest.raises(BadFile, match=r"data\.csv, line 1, column 1: .*a name of its own"):
        om.sources.csv.read(path)
    path.write_text("a,b\n1,2\n")
    with pytest.raises(BadInput, match=r"data\.csv, line 1: there is no column 'z'"):
        om.sources.csv.read(path, target="z")


def test_parquet_names_the_file_of_a_column_that_is_not_there_or_twice(tmp_path):
    pa, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "data.parquet"
    parquet.write_table(pa.table({"a": [1.0], "b": [2.0]}), path)
    with pytest.raises(BadInput, match=r"data\.parquet: no column is called label"):
        om.sources.parquet.read(path)
    twice = pa.Table.from_arrays([pa.array([1.0])] * 3, names=["a", "a", "label"])
    parquet.write_table(twice, path)
    with pytest.raises(BadInput, match=r"data\.parquet: two columns have one name"):
        om.sources.parquet.read(path)


# ---- JSON lines


def test_a_first_line_without_a_target_has_its_place_or_is_left_out(tmp_path):
    path = tmp_path / "data.jsonl"
    path.write_text('{}\n{"a": 1, "label": "x"}\n{"a": 2, "label": "y"}\n')
    with pytest.raises(BadFile, match=r"data\.jsonl, line 1, column 1: '\{\}'; wanted a field called label"):
        om.sources.jsonl.read(path)
    source = om.sources.jsonl.stream(path, on_error="skip")
    assert [block.targets.tolist() for block in source] == [["x", "y"]] and source.skipped == 1


@pytest.mark.parametrize("field", ['"\\ud800"', '{"b": "\\udfff"}', '{"\\udabc": 1}'])
def test_half_a_character_has_its_place(tmp_path, field):
    path = tmp_path / "data.jsonl"
    path.write_text(f'{{"a": "\\ud83d\\ude00", "label": "x"}}\n{{"a": {field}, "label": "y"}}\n')
    with pytest.raises(BadFile, match=r"data\.jsonl, line 2, column \d+: .*wanted whole characters"):
        om.sources.jsonl.read(path)


def test_numbers_that_are_not_finite_are_refused_where_they_are_features_alone(tmp_path):
    path = tmp_path / "data.jsonl"
    for value in ("NaN", "-Infinity", "1e999"):
        path.write_text(f'{{"a": 1, "label": "x"}}\n{{"a": 1, "late": {value}, "label": "y"}}\n')
        with pytest.raises(BadFile, match=r"line 2, column 1: .*a finite number in 'late'"):
            om.sources.jsonl.read(path)
        path.write_text(f'{{"a": "ham", "late": {value}, "label": "y"}}\n')
        assert om.sources.jsonl.read(path, text="a", features=None)[1].tolist() == ["y"]


# ---- what arrives


def test_an_address_that_is_none_is_one_line():
    with pytest.raises(BadInput, match=r"the address 'tcp://\[::1': Invalid IPv6 URL; wanted"):
        om.sources.open_source("tcp://[::1", "svmlight")


def test_the_mark_of_windows_goes_from_what_arrives_too(tmp_path):
    path = tmp_path / "data.svm"
    path.write_bytes(b"\xef\xbb\xbf1 1:1\n2 1:2\n")
    found = list(om.sources.live.follow(path, "svmlight", idle=0.01, poll=0.01))
    assert [block.targets.tolist() for block in found] == [[1.0, 2.0]]


@pytest.mark.parametrize("format", ["csv", "jsonl", "parquet"])
def test_labels_beyond_float64_stay_apart(tmp_path, format):
    """2^53 and 2^53 + 1 are one float64: they were one class without a word."""
    labels, path = [2**53, 2**53 + 1] * 3, tmp_path / f"a.{format}"
    if format == "csv":
        path.write_text("a,label\n" + "".join(f"{at},{label}\n" for at, label in enumerate(labels)))
    elif format == "jsonl":
        path.write_text("".join(f'{{"a": {at}, "label": {label}}}\n' for at, label in enumerate(labels)))
    else:
        pq = pytest.importorskip("pyarrow.parquet")
        import pyarrow as pa

        pq.write_table(pa.table({"a": range(6), "label": labels}), path)
    (block,) = om.sources.open_source(path)
    assert list(block.targets) == list(map(str, labels))
