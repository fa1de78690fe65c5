"""Chunks are whole lines, each byte once, whatever the file is packed in and however it is cut."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import subprocess
import sys

import numpy as np
import pytest

from onmargin.errors import BadFile, BadInput, BadType, NoFile
from onmargin.sources.reading.opening import BOM, Lines

TEXT = b"".join(b"%d 1:%d\n" % (number, number * number) for number in range(500))


def packed(text: bytes, how: str) -> bytes:
    if how == "zst":
        zstd = pytest.importorskip("compression.zstd" if sys.version_info >= (3, 14) else "backports.zstd")
        half = len(text) // 2  # two frames
        return zstd.compress(text[:half]) + zstd.compress(text[half:])
    return {"": bytes, "gz": gzip.compress, "xz": lzma.compress, "bz2": bz2.compress}[how](text)


def all_of(lines: Lines) -> bytes:
    return b"".join(chunk.text.tobytes() for chunk in lines)


@pytest.mark.parametrize("size", [1, 7, 64, 10_000, 1 << 20])
@pytest.mark.parametrize("how", ["", "gz", "xz", "bz2", "zst"])
def test_every_line_comes_once_and_whole(tmp_path, how, size):
    path = tmp_path / "data.svm"  # (known by how it begins, not by its name)
    path.write_bytes(packed(TEXT, how))
    lines = Lines(path, size=size)
    line, parts = 1, []
    for chunk in lines:
        assert chunk.text[-1] == 10 and chunk.line == line and chunk.file == str(path)
        parts.append(chunk.text.tobytes())
        line += parts[-1].count(b"\n")
    assert b"".join(parts) == TEXT
    assert lines.bytes_read == lines.bytes_total == path.stat().st_size
    assert lines.again and all_of(lines) == TEXT


@pytest.mark.parametrize("size", [1, 4, 1 << 20])
def test_the_last_line_gets_its_newline_and_the_mark_of_windows_goes(tmp_path, size):
    path = tmp_path / "data"
    path.write_bytes(BOM + b"1 1:1\r\n2 2:2")
    assert all_of(Lines(path, size=size)) == b"1 1:1\r\n2 2:2\n"
    path.write_bytes(gzip.compress(BOM + b"1"))
    assert all_of(Lines(path, size=size)) == b"1\n"
    path.write_bytes(b"")
    assert all_of(Lines(path, size=size)) == b""


def test_chunks_keep_their_bytes(tmp_path):
    path = tmp_path / "data"
    path.write_bytes(TEXT)
    assert b"".join(chunk.text.tobytes() for chunk in list(Lines(path, size=64))) == TEXT


def test_several_files_globs_and_folders(tmp_path):
    for name in ("b.svm", "a.svm", "c.txt"):
        (tmp_path / name).write_bytes(name.encode() + b"\nx")
    assert all_of(Lines([tmp_path / "c.txt", str(tmp_path / "*.svm")])) == b"c.txt\nx\na.svm\nx\nb.svm\nx\n"
    assert all_of(Lines(tmp_path)) == b"a.svm\nx\nb.svm\nx\nc.txt\nx\n"
    (tmp_path / "x[1].svm").write_bytes(b"itself\n")
    assert all_of(Lines(tmp_path / "x[1].svm")) == b"itself\n"


@pytest.mark.parametrize("how", ["", "gz"])
def test_standard_input_and_open_files_are_read_once(how):
    code = (
        "from onmargin.sources.reading.opening import Lines; l = Lines('-'); assert not l.again; import sys; "
    )
    code += "[sys.stdout.buffer.write(c.text) for c in l]"
    done = subprocess.run([sys.executable, "-c", code], input=packed(TEXT, how), capture_output=True)
    assert done.stdout == TEXT, done.stderr
    lines = Lines(io.BytesIO(packed(TEXT, how)))
    assert all_of(lines) == TEXT
    with pytest.raises(BadInput, match="only once"):
        list(lines)


@pytest.mark.parametrize("how", ["gz", "xz", "bz2", "zst"])
def test_damaged_files_are_said_to_be(tmp_path, how):
    path = tmp_path / "data"
    whole = packed(TEXT, how)
    spoiled = bytearray(whole)
    spoiled[len(whole) // 2] ^= 255
    for found in (whole[: len(whole) // 3], whole[:-3], bytes(spoiled)):
        path.write_bytes(found)
        with pytest.raises(BadFile, match="data"):
            all_of(Lines(path))


def test_what_is_not_there_is_refused(tmp_path):
    with pytest.raises(NoFile, match="there is no file"):
        Lines(tmp_path / "nothing.svm")
    with pytest.raises(NoFile, match="there is no file"):
        Lines(str(tmp_path / "*.svm"))
    with pytest.raises(NoFile, match="holds no file"):
        Lines(tmp_path)
    with pytest.raises(BadInput, match="no file at all"):
        Lines([])
    with pytest.raises(BadType, match="wanted a path"):
        Lines(3)  # type: ignore[arg-type]


def test_a_refusal_names_the_place():
    chunk = next(iter(Lines(io.BytesIO("1 1:1\né 3:x\n".encode()))))
    at = int(np.flatnonzero(chunk.text == ord("3"))[0])
    assert (
        str(chunk.refusal(at, 3, "index:value")) == "the stream, line 2, column 3: '3:x'; wanted index:value"
    )
