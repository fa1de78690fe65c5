"""Items in and out: doccano's and Prodigy's lines, ours; tables of items; images; what is refused."""

from __future__ import annotations

import base64
import json
import struct
import zlib

import numpy as np
import pytest
import scipy.sparse as sp

from onmargin.errors import BadInput
from onmargin.server.labelling import exchange
from onmargin.server.labelling.acts import ANSWER, SKIP, Act
from onmargin.server.labelling.feeding import Feeding, raw_contents
from onmargin.server.labelling.items import Item, as_numbers, as_text, checked, table_of
from onmargin.server.pages.showing import shown

LINES = {
    '{"text": "Free entry!"}': ("Free entry!", None, False),
    '{"id": 7, "text": "Free entry!", "label": ["spam"]}': ("Free entry!", "spam", False),  # doccano
    '{"text": "Free entry!", "label": []}': ("Free entry!", None, False),
    '{"text": "x", "label": "SPAM", "answer": "accept", "_input_hash": 3}': ("x", "SPAM", False),  # Prodigy
    '{"text": "x", "options": [{"id": 1}], "accept": [1], "answer": "accept"}': ("x", 1, False),
    '{"text": "x", "label": "SPAM", "answer": "reject"}': ("x", None, False),
    '{"text": "x", "answer": "ignore"}': ("x", None, True),
    '{"x": [1, 2.5], "y": 3}': ([1, 2.5], 3, False),
    '{"age": 31, "town": "Ulm", "note": null, "label": "no"}': ({"age": 31, "town": "Ulm"}, "no", False),
    '"just a text"': ("just a text", None, False),
}


@pytest.mark.parametrize("text", LINES)
def test_every_style_is_read(text):
    (line,) = exchange.read(["", text, "  "])
    assert (line.new.x, line.label, line.skipped) == LINES[text]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{", "line 2 is not JSON"), ("[" * 100_000, "line 2 is not JSON"), ("3", "line 2: got 3"),
        ('{"text": "x", "label": ["a", "b"]}', "wanted one"), ('{"id": 3}', "neither a text nor any values"),
        ('{"text": "x", "label": {"a": 1}}', "wanted a word or a number"),
    ],
)  # fmt: skip
def test_a_bad_line_is_named(text, words):
    with pytest.raises(BadInput, match=words):
        list(exchange.read(['{"text": "fine"}', text]))


def test_what_is_written_is_read_again():
    items = [Item(0, "Größe & <b>"), Item(1, {"a": 1.0}, {"meta": {"from": "here"}}), Item(2, [1.0, 2.0])]
    acts = [
        Act(0, 0, ANSWER, "ham", "ann", 5.0),
        Act(1, 1, SKIP, None, "ann", 6.0),
        Act(2, 2, ANSWER, 3, "bob", 7.0),
    ]
    said = list(zip(items, acts, strict=True))
    for style, count in (("plain", 2), ("doccano", 2), ("prodigy", 3)):
        lines = list(exchange.written(said, style, ["ham", 3]))
        assert len(lines) == count and all(line.endswith("\n") and line.count("\n") == 1 for line in lines)
        again = list(exchange.read(lines))
        assert [line.label for line in again if line.label is not None] == ["ham", 3]
        assert [line.new.x for line in again if line.label is not None] == ["Größe & <b>", [1.0, 2.0]]
        assert sum(line.skipped for line in again) == (style == "prodigy")
    doccano, prodigy = (
        json.loads(next(exchange.written(said, s, ["ham", 3]))) for s in ("doccano", "prodigy")
    )
    assert doccano == {"id": 0, "text": "Größe & <b>", "label": ["ham"]}
    assert prodigy["options"] == [{"id": "ham", "text": "ham"}, {"id": 3, "text": "3"}]
    assert (prodigy["accept"], prodigy["answer"], prodigy["_annotator_id"]) == (["ham"], "accept", "ann")
    with pytest.raises(BadInput, match="plain, doccano, prodigy"):
        list(exchange.written(said, "brat", []))


@pytest.mark.parametrize(
    "x", ["", "  ", [], {}, None, 3, [1, "a"], [float("nan")], {"a": [1]}, {"a": float("inf")}]
)
def test_what_is_no_item_is_refused_in_one_line(x):
    with pytest.raises(BadInput) as told:
        checked(x)
    assert "\n" not in str(told.value)


def test_items_become_rows_of_one_table():
    texts = table_of([Item(0, "cheap pills"), Item(1, {"word": "cheap"})])
    assert sp.issparse(texts) and texts.shape == (2, 2**18) and (texts[0].multiply(texts[1])).nnz == 1
    assert np.array_equal(table_of([Item(0, {"a": 1, "b": 2}), Item(1, {"a": 3, "b": 4})]), [[1, 2], [3, 4]])
    odd = table_of([Item(0, {"a": 1.0}), Item(1, {"b": 2.0, "town": "Ulm", "old": True})])
    assert sp.issparse(odd) and odd[0].nnz == 1 and odd[1].nnz == 3 and odd[1].sum() == 4.0
    assert as_numbers({"a": 1, "town": "Ulm", "old": True}) == {"a": 1.0, "town=Ulm": 1.0, "old": 1.0}
    assert as_text({"a": 1, "town": "Ulm"}) == "a 1 town Ulm" and as_numbers([1.0]) == [1.0]
    with pytest.raises(BadInput, match="learns from numbers"):
        as_numbers("a text")


def test_grey_values_are_shown_as_the_image_they_are():
    values = np.arange(64.0).reshape(8, 8) / 4
    markup = shown(Item(3, values.ravel().tolist()))
    png = base64.b64decode(markup.split("base64,")[1].split('"')[0])
    assert png[:8] == b"\x89PNG\r\n\x1a\n" and 'alt="Item 3: an image of 8 by 8 grey pixels"' in markup
    at, found = 8, {}
    while at < len(png):
        size, kind = struct.unpack(">I4s", png[at : at + 8])
        found[kind] = png[at + 8 : at + 8 + size]
        assert struct.unpack(">I", png[at + 8 + size : at + 12 + size])[0] == zlib.crc32(kind + found[kind])
        at += 12 + size
    pixels = np.frombuffer(zlib.decompress(found[b"IDAT"]), np.uint8).reshape(8, 9)[:, 1:]
    assert np.abs(pixels - values / values.max() * 255).max() <= 0.5


def test_what_users_wrote_is_never_markup():
    for x in ("<script>alert(1)</script>", {"<b>": "<i>"}):
        assert (
            "<script>" not in shown(Item(0, x))
            and "<b>" not in shown(Item(0, x))
            and "<i>" not in shown(Item(0, x))
        )
    told = shown(
        Item(0, {"views": 1234567, "ratio": 1e-07, "far": 1e300, "new": True, "note": "so long " * 9})
    )
    for words in (">1,234,567<", ">1e-07<", ">1e+300<", ">True<", 'class="words">so long'):
        assert words in told
    many = shown(Item(0, {f"f{n}": float(n) for n in range(100)}))
    assert "The 40 largest of 100 values" in many and "f99" in many and ">f1<" not in many
    assert Item(0, [0.5] * 64).side is None and Item(0, [-5.0, 300.0] * 32).side is None


class Sink:
    """A queue that only counts."""

    checked = staticmethod(checked)

    def __init__(self) -> None:
        self.keys = []

    def add(self, news):
        self.keys += [new.key for new in news]


@pytest.mark.parametrize("name", ["rows.txt", "rows.csv", "rows.jsonl", "rows.svm"])
def test_rows_of_every_format_stream_in(tmp_path, name):
    texts = {
        "rows.txt": "ham\tone\n\nspam\ttwo\n", "rows.csv": "a,town\n1,Ulm\n2,Bonn\n",
        "rows.jsonl": '{"a": 1, "b": null}\n{"text": "hi", "id": 2}\n', "rows.svm": "1 1:2 3:4\n-1 2:1\n",
    }  # fmt: skip
    wanted = {
        "rows.txt": ["one", "two"], "rows.csv": [{"a": 1, "town": "Ulm"}, {"a": 2, "town": "Bonn"}],
        "rows.jsonl": [{"a": 1}, "hi"], "rows.svm": [{"0": 2.0, "2": 4.0}, {"1": 1.0}],
    }  # fmt: skip
    path = tmp_path / name
    path.write_text(texts[name])
    assert list(raw_contents(str(path), None, {})) == wanted[name]
    sink = Sink()
    feeding = Feeding(sink, raw_contents(str(path), None, {}), "rows")
    feeding.start()
    feeding.join(20)
    assert sink.keys == ["rows:0", "rows:1"] and feeding.added == 2 and feeding.why == ""


def test_a_bad_row_ends_the_stream_and_says_why(tmp_path):
    path = tmp_path / "rows.jsonl"
    path.write_text('{"a": 1}\n{"a": ')
    sink = Sink()
    feeding = Feeding(sink, raw_contents(str(path), None, {}), "rows")
    feeding.start()
    feeding.join(20)
    assert feeding.why != "" and "\n" not in feeding.why
    assert sink.trouble == f"no more rows come in after 0: {feeding.why}"


def test_a_row_that_cannot_be_learned_from_is_passed_over(tmp_path):
    """An empty text ends nothing; what is too large is counted, and the page says so."""
    path = tmp_path / "rows.jsonl"
    path.write_text('{"text": "one"}\n{"text": " "}\n{"text": "two"}\n')
    rows = list(raw_contents(str(path), None, {}))
    assert rows == ["one", "two"]
    sink = Sink()
    feeding = Feeding(sink, iter([rows[0], "half \ud800", rows[1]]), "rows")
    feeding.start()
    feeding.join(20)
    assert (feeding.added, feeding.passed, feeding.why) == (2, 1, "")
    assert sink.keys == ["rows:0", "rows:2"]
    assert sink.trouble.startswith("1 row was passed over") and "half of a character" in sink.trouble
