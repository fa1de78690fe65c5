"""Every format gives back what was written: packed, in several files, through a pipe, in any blocks."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

import onmargin as om
from onmargin.errors import BadFile
from tests.sources import writing

ROWS = writing.rows()
LABELS = [row["label"] for row in ROWS]
SIGNS = [1.0 if label == "spam" else -1.0 for label in LABELS]
OPTIONS = {format: {"features": None} for format in ("csv", "jsonl", "parquet", "text", "vw")}
LINES = ["csv", "jsonl", "text", "vw"]


def told(format, block):
    """What a block says of its rows, as written."""
    rows = block.rows
    if format == "parquet" or format == "csv":
        return [(row["number"], row["word"], row["text"]) for row in rows.to_pylist()]
    if format == "jsonl":
        return [(row["number"], row["word"], row["text"]) for row in rows]
    if format == "text":
        return list(rows)
    return [row.split("|w ")[1] for row in rows], [float(row.split(":")[1].split(" |")[0]) for row in rows]


def wanted(format, rows):
    if format == "text":
        return [row["text"] for row in rows]
    if format == "vw":
        return [row["text"] for row in rows], [row["number"] for row in rows]
    return [(row["number"], row["word"], row["text"]) for row in rows]


def labels_of(format):
    return SIGNS if format == "vw" else LABELS


@pytest.mark.parametrize("format", OPTIONS)
@pytest.mark.parametrize("rows", [7, 60, 8192])
def test_what_was_written_is_read(tmp_path, format, rows):
    path = tmp_path / f"data.{format}"
    path.write_bytes(getattr(writing, format)(ROWS))
    source = om.sources.open_source(path, format, rows=rows, **OPTIONS[format])
    seen = 0
    for _ in range(2):  # files can be read again
        seen = 0
        for block in source:
            count = len(block.targets)
            assert told(format, block) == wanted(format, ROWS[seen : seen + count])
            assert block.targets.tolist() == labels_of(format)[seen : seen + count]
            assert count == rows or seen + count == len(ROWS)
            seen += count
        assert seen == len(ROWS) == source.seen
    assert source.bytes_read == source.bytes_total == path.stat().st_size
    resumed = [target for block in source.blocks(first=13) for target in block.targets.tolist()]
    assert resumed == labels_of(format)[13:]


@pytest.mark.parametrize("packing", writing.PACKINGS)
@pytest.mark.parametrize("format", LINES)
def test_packed_files_are_unpacked(tmp_path, format, packing):
    data = getattr(writing, format)(ROWS)
    path = tmp_path / f"data.{'txt' if format == 'text' else format}{packing}"
    path.write_bytes(writing.packed(data, packing))
    (block,) = om.sources.open_source(path, **OPTIONS[format])
    assert told(format, block) == wanted(format, ROWS) and block.targets.tolist() == labels_of(format)


@pytest.mark.parametrize("format", OPTIONS)
def test_several_files_are_one_source(tmp_path, format):
    for at in range(3):
        part = getattr(writing, format)(ROWS[20 * at : 20 * (at + 1)])
        (tmp_path / f"part{at}.data").write_bytes(part.rstrip(b"\n") if format in LINES else part)
    for data in (str(tmp_path / "part*.data"), tmp_path, sorted(tmp_path.iterdir())):
        (block,) = om.sources.open_source(data, format, **OPTIONS[format])
        assert told(format, block) == wanted(format, ROWS) and block.targets.tolist() == labels_of(format)


@pytest.mark.parametrize("format", OPTIONS)
def test_standard_input_is_read_once(tmp_path, monkeypatch, format):
    path = tmp_path / "data"
    path.write_bytes(getattr(writing, format)(ROWS))
    with open(path) as stdin:
        monkeypatch.setattr(sys, "stdin", stdin)
        source = om.sources.open_source("-", format, rows=25, **OPTIONS[format])
        assert not source.again and source.bytes_total is None
        assert [target for block in source for target in block.targets.tolist()] == labels_of(format)


def test_a_pipe_is_read():
    code = (
        "import onmargin as om\n"
        "source = om.sources.open_source('-', 'text', rows=25, features=None)\n"
        "print([target for block in source for target in block.targets.tolist()])"
    )
    ran = subprocess.run(
        [sys.executable, "-c", code], input=writing.text(ROWS), capture_output=True, check=True
    )
    assert ran.stdout.decode().strip() == str(LABELS)


@pytest.mark.parametrize("format", LINES)
def test_lines_end_as_on_windows_or_blank(tmp_path, format):
    data = getattr(writing, format)(ROWS)
    path = tmp_path / "data"
    path.write_bytes(data.replace(b"\n", b"\r\n"))
    (block,) = om.sources.open_source(path, format, **OPTIONS[format])
    assert told(format, block) == wanted(format, ROWS) and block.targets.tolist() == labels_of(format)
    path.write_bytes(data.replace(b"\n", b"\n\n").rstrip(b"\n"))
    (block,) = om.sources.open_source(path, format, **OPTIONS[format])
    assert told(format, block) == wanted(format, ROWS) and block.targets.tolist() == labels_of(format)


BAD = {
    "csv": (b"a,b,label\n" + 19 * b"1,x,ham\n" + b"2,y\nz,y,ham\n4,y,spam\n", 2, 21, "3 values, found 2"),
    "jsonl": (b'{"label": "ham"}\n{"label": \n{"labe": 1}\n{"label": "spam"}\n', 2, 2, "JSON"),
    "text": (b"ham\tx\nno tab here\n\xff\xfe\tx\nspam\ty\n", 2, 2, "a tab between label and text"),
    "vw": (b"1 |a x\n1 |a x:y\nham |a x\n-1 |a x\n", 2, 2, "a finite number"),
}  # fmt: skip


@pytest.mark.parametrize("format", BAD)
def test_bad_lines_stop_with_their_place_or_are_left_out_and_counted(tmp_path, format):
    data, bad, line, said = BAD[format]
    path = tmp_path / "some data"
    path.write_bytes(data)
    with pytest.raises(BadFile) as refused:
        list(om.sources.open_source(path, format, features=None))
    assert f"{path}, line {line}, column " in str(refused.value) and said in str(refused.value)
    assert "\n" not in str(refused.value)
    source = om.sources.open_source(path, format, features=None, on_error="skip")
    targets = [target for block in source for target in block.targets.tolist()]
    assert sorted(set(targets)) == ([-1.0, 1.0] if format == "vw" else ["ham", "spam"])
    assert source.skipped == bad and len(targets) == (20 if format == "csv" else 2)


@pytest.mark.parametrize("format", OPTIONS)
def test_read_gives_rows_and_targets(tmp_path, format):
    path = tmp_path / "data"
    path.write_bytes(getattr(writing, format)(ROWS))
    X, y = getattr(om.sources, format).read(path, features=None)
    assert (X.num_rows if hasattr(X, "num_rows") else len(X)) == len(ROWS)
    assert np.asarray(y).tolist() == labels_of(format)


@pytest.mark.parametrize("format", ["text", "vw"])
def test_features_that_learn_nothing_can_be_cached(tmp_path, format):
    path = tmp_path / f"data.{format}"
    path.write_bytes(getattr(writing, format)(ROWS))
    source = om.sources.open_source(path, format, rows=25)
    wanted, cached = list(source), source.cached()
    for _ in range(2):
        for block, given in zip(cached, wanted, strict=True):
            assert (block.rows != given.rows).nnz == 0 and block.rows.shape == given.rows.shape
            assert block.targets.tolist() == given.targets.tolist()
    if format == "vw":
        assert block.ids.tolist() == given.ids.tolist() and block.weights.tolist() == given.weights.tolist()
    assert len(list(tmp_path.iterdir())) == 2
