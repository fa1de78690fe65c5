"""Columns by role: CSV, JSON lines and Parquet; kinds that stay, headers, quotes, weights, groups."""

from __future__ import annotations

import json

import numpy as np
import pytest

import onmargin as om
from onmargin.errors import BadFile, BadInput

pa = pytest.importorskip("pyarrow")


def written(tmp_path, text, name="data.csv"):
    path = tmp_path / name
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def only(source):
    (block,) = source
    return block


def test_roles_by_name_and_place(tmp_path):
    path = written(tmp_path, "w,q,who,x,says\n1,7,a,0.5,yes\n2,7,b,1.5,no\n0.5,8,c,2.5,yes\n")
    given = {"target": "says", "weight": "w", "group": 1, "id": "who", "features": None}
    block = only(om.sources.csv.stream(path, **given))
    assert block.rows.column_names == ["x"] and block.rows["x"].to_pylist() == [0.5, 1.5, 2.5]
    assert block.targets.tolist() == ["yes", "no", "yes"] and block.weights.tolist() == [1, 2, 0.5]
    assert block.groups.tolist() == [7, 7, 8] and block.ids.tolist() == ["a", "b", "c"]
    records = [
        dict(zip(("w", "q", "who", "x", "says"), row, strict=True))
        for row in ((1, 7, "a", 0.5, "yes"), (2, 7, "b", 1.5, "no"))
    ]
    path = written(tmp_path, "\n".join(map(json.dumps, records)), "data.jsonl")
    block = only(om.sources.jsonl.stream(path, **(given | {"group": "q"})))
    assert block.rows == [{"x": 0.5}, {"x": 1.5}] and block.weights.tolist() == [1, 2]
    assert (
        block.groups.tolist() == [7, 7]
        and block.ids.tolist() == ["a", "b"]
        and block.targets.tolist() == ["yes", "no"]
    )


@pytest.mark.parametrize(
    "given, said",
    [
        ({"target": "none"}, "there is no column 'none'"), ({"target": 9}, "there is no column 9"),
        ({"weight": "label"}, "one column has two roles"), ({"labels": "x"}, "labels='x'; wanted one of"),
        ({"delimiter": ";;"}, "wanted one character"), ({"types": {"a": "date"}}, "wanted 'number' or"),
        ({"types": {"z": "text"}}, "types names 'z'"), ({"on_error": "x"}, "wanted 'stop' or 'skip'"),
        ({"features": "x"}, "wanted 'auto', None or"),
    ],
)  # fmt: skip
def test_bad_options_are_refused(tmp_path, given, said):
    path = written(tmp_path, "a,label\n1,2\n")
    with pytest.raises(BadInput, match=said):
        list(om.sources.csv.stream(path, **({"features": None} | given)))


def test_targets_are_numbers_or_labels_as_the_first_block_shows(tmp_path):
    path = written(tmp_path, "x,y\n1,3\n2,4\n")
    assert only(om.sources.csv.stream(path, features=None)).targets.tolist() == [3.0, 4.0]
    assert only(om.sources.csv.stream(path, features=None, labels="text")).targets.tolist() == ["3", "4"]
    path = written(tmp_path, "3\ta\nx\tb\n", "data.txt")
    assert only(om.sources.text.stream(path, features=None)).targets.tolist() == ["3", "x"]
    with pytest.raises(BadFile, match="line 2, column 1: 'x\\\\tb'; wanted a number"):
        list(om.sources.text.stream(path, features=None, labels="number"))


def test_a_number_in_a_later_line_must_be_one(tmp_path):
    path = written(tmp_path, "x,y\n" + "1,0\n" * 50 + "n/a?,1\n3,1\n")
    with pytest.raises(
        BadFile, match=r"line 52, column 1: 'n/a\?'; wanted a finite number in 'x', as before"
    ):
        list(om.sources.csv.stream(path, features=None))
    source = om.sources.csv.stream(path, features=None, on_error="skip")
    assert len(only(source).targets) == 51 and source.skipped == 1
    words = only(om.sources.csv.stream(path, features=None, types={"x": "text"}))
    assert words.rows["x"].to_pylist()[-2:] == ["n/a?", "3"]
    lines = ['{"x": 1, "y": 0}'] * 50 + ['{"x": "one", "y": 1}', '{"x": [1], "y": 1}', '{"y": 1}']
    path = written(tmp_path, "\n".join(lines), "data.jsonl")
    with pytest.raises(BadFile, match=r"line 51, column 1: .*wanted a number in 'x'"):
        list(om.sources.jsonl.stream(path, features=None))
    source = om.sources.jsonl.stream(path, features=None, on_error="skip")
    assert len(only(source).targets) == 51 and source.skipped == 2
    assert len(only(om.sources.jsonl.stream(path, features=None, drop=["x"])).targets) == 53


def test_infinite_numbers_are_refused(tmp_path):
    path = written(tmp_path, "x,y\n1,0\ninf,1\n1e999,0\n2,1\n")
    with pytest.raises(BadFile, match=r"line 3, column 1: 'inf,1'; wanted a finite number"):
        list(om.sources.csv.stream(path, features=None))
    source = om.sources.csv.stream(path, features=None, on_error="skip")
    assert only(source).rows["x"].to_pylist() == [1.0, 2.0] and source.skipped == 2


def test_quotes_headers_and_delimiters(tmp_path):
    path = written(tmp_path, 'a\tlabel\n"x\t""y"""\tyes\n', "data.tsv")
    assert only(om.sources.open_source(path, features=None)).rows["a"].to_pylist() == ['x\t"y"']
    path = written(tmp_path, "1;2;yes\n3;4;no\n", "data.dat")
    block = only(om.sources.csv.stream(path, header=False, delimiter=";", features=None))
    assert block.rows.column_names == ["0", "1"] and block.targets.tolist() == ["yes", "no"]
    path = written(tmp_path, 'a,label\n"over\nlines",yes\nx,no\n')
    with pytest.raises(BadFile, match=r"line 2, column 1: .*every quote closed in its line"):
        list(om.sources.csv.stream(path, features=None))
    block = only(om.sources.csv.stream(path, newlines=True, features=None))
    assert block.rows["a"].to_pylist() == ["over\nlines", "x"]
    with pytest.raises(BadFile, match="a quote that closes this one"):
        list(om.sources.csv.stream(written(tmp_path, 'a,label\n"x,yes\n'), newlines=True, features=None))
    for head in ("a,a\n", "a,\n"):
        with pytest.raises(BadFile, match="a name of its own for each column"):
            list(om.sources.csv.stream(written(tmp_path, head + "1,2\n"), features=None))
    first, second = written(tmp_path, "a,y\n1,2\n", "1.csv"), written(tmp_path, "b,y\n1,2\n", "2.csv")
    with pytest.raises(
        BadFile, match=r"2.csv, line 1, column 1: 'b,y'; wanted the columns of the first file"
    ):
        list(om.sources.csv.stream([first, second], features=None))


def test_features_are_tables_or_texts_unless_chosen(tmp_path):
    path = written(
        tmp_path, "size,colour,text,label\n1,red,cheap pills now,spam\n3,blue,see you at noon,ham\n"
    )
    X, y = om.sources.csv.read(path)
    assert (
        X.shape[0] == 2
        and y.tolist() == ["spam", "ham"]
        and X[:, 0].toarray().ravel().tolist() == [-1.0, 1.0]
    )
    X, y = om.sources.csv.read(path, text="text")
    assert X.shape == (2, 2**18) and X.nnz == 7
    raw, _ = om.sources.csv.read(path, text="text", features=None)
    assert list(raw) == ["cheap pills now", "see you at noon"]
    X, y = om.sources.csv.read(path, features=om.features.Table(bits=4, kinds={"text": "drop"}))
    assert X.shape == (2, 17)


def test_a_damaged_parquet_file_is_told(tmp_path):
    import pyarrow.parquet as pq

    path = tmp_path / "data.parquet"
    pq.write_table(pa.table({"x": [1.0, np.inf, 3.0], "label": ["a", "b", None]}), path)
    with pytest.raises(BadFile, match=r"data.parquet, row 3, column 'label': None; wanted a label"):
        list(om.sources.parquet.stream(path, features=None))
    source = om.sources.parquet.stream(path, features=None, on_error="skip")
    assert only(source).rows["x"].to_pylist() == [1.0] and source.skipped == 2
    path.write_bytes(path.read_bytes()[:-7])
    with pytest.raises(BadFile, match="cannot read .* as Parquet"):
        list(om.sources.parquet.stream(path, features=None))


def test_json_that_is_none_is_told_with_its_place(tmp_path):
    lines = {
        '{"label": 1, "x": }': "column 19", '{"label": 1} extra': "column 14", "[1, 2]": "an object",
        '{"x": 1}': "a label or number in 'label'", '{"label": NaN}': "finite", '{"label": 1e999}': "finite",
        '{"label": [1]}': "a label or number", "[" * 100_000: "too deep",
        '{"label": 1, "x": ' + "9" * 5000 + "}": "finite",
    }  # fmt: skip
    for line, said in lines.items():
        path = written(tmp_path, '{"label": 1, "x": 2}\n' + line + "\n", "data.jsonl")
        with pytest.raises(BadFile) as refused:
            list(om.sources.jsonl.stream(path, features=None))
        assert "data.jsonl, line 2, column" in str(refused.value) and said in str(refused.value)
    path = written(tmp_path, b'{"label": 1}\n{"label": "\xff"}\n', "data.jsonl")
    with pytest.raises(BadFile, match="line 2, column 12: .*wanted UTF-8"):
        list(om.sources.jsonl.stream(path, features=None))


def test_json_texts_are_the_same_quick_and_slow(tmp_path):
    draw = np.random.default_rng(0)
    letters = list('ab "\\\n\tä日\U0001f600') + ["\u2028"]
    rows = [{"text": "".join(draw.choice(letters, 20)), "label": "abc"[k % 3]} for k in range(200)]
    data = "".join(json.dumps(row, ensure_ascii=bool(k % 2)) + "\n" for k, row in enumerate(rows))
    path = written(tmp_path, data, "data.jsonl")
    source = om.sources.jsonl.stream(path, text="text", features=None)
    for _ in range(2):  # the first chunk of the first pass is read by Python, the second pass by pyarrow
        block = only(source)
        assert list(block.rows) == [row["text"] for row in rows] and block.targets.tolist() == [
            row["label"] for row in rows
        ]
    path = written(tmp_path, data + '{"text": "\\ud800", "label": "a"}\n', "data.jsonl")
    with pytest.raises(BadFile, match="line 201, column 11: .*whole characters"):
        list(om.sources.jsonl.stream(path, text="text", features=None))
