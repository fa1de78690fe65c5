"""Mutated bytes through every reader: what is read is what a slow reader reads, the rest is refused."""

from __future__ import annotations

import csv
import json
import math
import re

import numpy as np
import pytest
from sklearn.utils import murmurhash3_32

import onmargin as om
from onmargin.errors import OnmarginError
from tests.soaking import either, soaked
from tests.sources import writing

LINES = either(20_000, 200_000)
ODD = [*b" |:\t,\"'{}[]\\0123456789+-.eExnaif_\r\n\x00\x7f#", 0xC3, 0xFF, 0xE2]
NUMBER = re.compile(rb"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
BITS = 16
NOTHING = ("", "NA", "N/A", "NaN", "nan", "null", "NULL", "None", "?")


def mutated(data, draw, share=0.5):
    """About that share of the lines with a byte or two changed, put in, left out or moved."""
    lines = data.split(b"\n")[:-1]
    for at in np.flatnonzero(draw.random(len(lines)) < share).tolist():
        line = bytearray(lines[at])
        for _ in range(draw.integers(1, 3)):
            place, kind = int(draw.integers(len(line) + 1)), draw.integers(4)
            byte = int(draw.choice(ODD)) if draw.random() < 0.8 else int(draw.integers(256))
            if kind == 0 or place >= len(line):
                line.insert(place, byte)
            elif kind == 1:
                line[place] = byte
            elif kind == 2:
                del line[place]
            else:
                line[place:place] = line[: int(draw.integers(len(line)))]
        lines[at] = bytes(line)
    return b"".join(line + b"\n" for line in lines)


def number(word, most=1e100):
    """A finite number, or None."""
    if not NUMBER.fullmatch(word):
        return None
    value = float(word)
    return value if abs(value) < most else None


# ---- what a slow reader makes of a line: None (blank), "bad", or what is in it


def vw_line(line):
    line = line[:-1] if line.endswith(b"\r") else line
    head, bar, rest = line.partition(b"|")
    if not bar:
        return None if not head.strip(b" \t") else "bad"
    words, tag = head.replace(b"\t", b" ").split(b" "), b""
    words = [word for word in words if word] if head[-1:] in (b" ", b"\t", b"") else [w for w in words if w]
    if words and (head[-1:] not in (b" ", b"\t") or words[-1].startswith(b"'")):
        tag = words.pop()
        tag = tag[1:] if tag.startswith(b"'") else tag
    values = [number(word) for word in words]
    if len(words) > 2 or None in values or (len(values) == 2 and values[1] < 0):
        return "bad"
    found = {}
    for space in rest.split(b"|"):
        given = re.split(rb"[ \t\r]", space)
        name, colon, scale = given[0].partition(b":")
        factor = number(scale) if colon else 1.0
        if factor is None:
            return "bad"
        seed, nameless = (hashed(name, 0) if name else 0), 0
        for word in given[1:]:
            if not word:
                continue
            word, colon, value = word.partition(b":")
            size = number(value) if colon else 1.0
            if size is None:
                return "bad"
            if word:
                column = hashed(word, seed)
            else:
                column, nameless = seed + nameless, nameless + 1
            found[column % 2**BITS] = found.get(column % 2**BITS, 0.0) + size * factor
    label, weight = [*values, *(math.nan, 1.0)[len(values) :]]
    return label, weight, tag.decode(errors="replace"), {c: v for c, v in found.items() if v != 0}


def hashed(word, seed):
    if word.isdigit():
        return (int(word) + seed) % 2**32
    return murmurhash3_32(word, seed, positive=True)


def utf8(line):
    try:
        return line.decode()
    except UnicodeDecodeError:
        return None


def text_line(line):
    line = line[:-1] if line.endswith(b"\r") else line
    if not line:
        return None
    text = utf8(line)
    if text is None or "\t" not in text or not text.partition("\t")[0]:
        return "bad"
    label, _, rest = text.partition("\t")
    return label, rest


def no_constant(_):
    raise ValueError


def json_line(line):
    if not line.strip():
        return None
    text = utf8(line)
    try:
        found = json.loads(text, parse_constant=no_constant) if text is not None else None
    except ValueError:
        return "bad"
    if not isinstance(found, dict) or not isinstance(found.get("label"), str) or not found["label"]:
        numeric = isinstance(found, dict) and isinstance(found.get("label"), int | float)
        if not numeric or not math.isfinite(found["label"]):
            return "bad"
        found["label"] = str(
            found["label"] if not isinstance(found["label"], bool) else float(found["label"])
        )
    if (
        not isinstance(found.get("text"), str)
        or not found["text"].isascii()
        and any(0xD800 <= ord(letter) < 0xE000 for letter in found["text"])
    ):
        return "bad"
    return found["label"], found["text"]


def csv_line(line):
    if line in (b"", b"\r"):
        return None
    text = utf8(line)
    try:
        values = (
            next(csv.reader([text], strict=True), []) if text is not None and "\r" not in text[:-1] else []
        )
    except csv.Error:
        return "bad"
    if text is None or len(values) != 4:
        return "bad"
    return values[3], values[2]


def slow(data, read):
    found = [read(line) for line in data.split(b"\n")[:-1]]
    return [each for each in found if each is not None and each != "bad"], found.count("bad")


@soaked
def test_vw(tmp_path):
    draw = np.random.default_rng(0)
    data = mutated(writing.vw(writing.rows(LINES)), draw)
    path = tmp_path / "data.vw"
    path.write_bytes(data)
    wanted, bad = slow(data, vw_line)
    source = om.sources.vw.stream(path, bits=BITS, on_error="skip", rows=5000)
    at = 0
    for block in source:
        X = block.rows
        for row, (label, weight, tag) in enumerate(zip(block.targets, block.weights, block.ids, strict=True)):
            given = wanted[at]
            assert (label == given[0] or math.isnan(label) and math.isnan(given[0])) and weight == given[1]
            assert tag == given[2]
            entries = slice(X.indptr[row], X.indptr[row + 1])
            found = dict(zip(X.indices[entries].tolist(), X.data[entries].tolist(), strict=True))
            assert found.keys() == given[3].keys()
            assert np.allclose([*found.values()], [given[3][column] for column in found], rtol=1e-12, atol=0)
            at += 1
    assert at == len(wanted) > 0.5 * LINES and source.skipped == bad > 0.02 * LINES


@soaked
@pytest.mark.parametrize("format, read", [("text", text_line), ("jsonl", json_line), ("csv", csv_line)])
def test_labels_and_texts(tmp_path, format, read):
    draw = np.random.default_rng(1)
    whole = getattr(writing, format)(writing.rows(LINES))
    head, _, body = whole.partition(b"\n") if format == "csv" else (b"", b"", whole)
    body = mutated(body, draw, 0.2 if format == "csv" else 0.5)
    path = tmp_path / f"data.{format}"
    path.write_bytes(head + b"\n" + body if head else body)
    wanted, bad = slow(body, read)
    options = {} if format == "text" else {"text": "text", "target": "label"}
    source = om.sources.open_source(
        path, format, features=None, on_error="skip", rows=5000, labels="text", **options
    )
    found = [pair for block in source for pair in zip(block.targets.tolist(), block.rows, strict=True)]
    if format == "csv":  # what stands for "no value" is no label and no text
        kept = [pair for pair in wanted if pair[0] not in NOTHING and pair[1] not in NOTHING]
        bad, wanted = bad + len(wanted) - len(kept), kept
    assert found == wanted and source.skipped == bad and len(found) > 0.5 * LINES


def csv_row(line):
    """All four values, the first a number."""
    if csv_line(line) in (None, "bad"):
        return csv_line(line)
    size, word, text, label = next(csv.reader([utf8(line)], strict=True))
    if label in NOTHING:
        return "bad"
    if size not in NOTHING:
        size = number(size.strip(" \t").encode(), math.inf)
        if size is None:
            return "bad"
    return tuple(None if value in NOTHING else value for value in (size, word, text)), label


@soaked
def test_numbers_of_csv(tmp_path):
    draw = np.random.default_rng(2)
    head, _, body = writing.csv(writing.rows(LINES)).partition(b"\n")
    body = mutated(body, draw, 0.3)
    path = tmp_path / "data.csv"
    path.write_bytes(head + b"\n" + body)
    wanted, bad = slow(body, csv_row)
    source = om.sources.csv.stream(path, features=None, on_error="skip", rows=5000)
    rows = [row for block in source for row in zip(block.rows.to_pylist(), block.targets, strict=True)]
    assert [(tuple(row.values()), label) for row, label in rows] == wanted
    assert source.skipped == bad and len(wanted) > 0.5 * LINES


@soaked
def test_parquet(tmp_path):
    """Anything, but a crash or an error that is not ours."""
    draw = np.random.default_rng(0)
    whole = bytearray(writing.parquet(writing.rows(200)))
    path, read = tmp_path / "data.parquet", 0
    for _ in range(either(150, 3000)):
        data = bytearray(whole)
        for _ in range(draw.integers(1, 4)):
            data[int(draw.integers(len(data)))] = int(draw.integers(256))
        path.write_bytes(data if draw.random() < 0.8 else data[: int(draw.integers(len(data)))])
        try:
            for block in om.sources.parquet.stream(path, features=None, on_error="skip"):
                read += len(block.targets)
        except OnmarginError as error:
            assert "\n" not in str(error)
    assert read > 0


@soaked
@pytest.mark.parametrize("packing", [".gz", ".xz", ".bz2", ".zst"])
def test_packed_files_that_are_damaged(tmp_path, packing):
    """The damage is told, or nothing was lost (bytes without a meaning)."""
    draw = np.random.default_rng(0)
    data = writing.text(writing.rows(300))
    whole = writing.packed(data, packing)
    path, told = tmp_path / "data.txt", 0
    for _ in range(either(60, 1000)):
        damaged = bytearray(whole)
        damaged[int(draw.integers(12, len(damaged)))] ^= 1 << int(draw.integers(8))
        path.write_bytes(damaged if draw.random() < 0.7 else whole[: int(draw.integers(20, len(whole)))])
        try:
            rows = [text for block in om.sources.text.stream(path, features=None) for text in block.rows]
        except OnmarginError as error:
            told += 1
            assert "\n" not in str(error)
        else:
            assert len(rows) == 300 or packing == ".zst"
    assert told > 10
