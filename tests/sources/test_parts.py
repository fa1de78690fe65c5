"""Files in parts: for every cut the parts one after the other are the file, bit for bit, errors included."""

import gzip
import pickle
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

import onmargin as om
from onmargin.errors import BadFile, BadInput, NoFile, OnmarginError
from onmargin.sources.by_name import open_source
from onmargin.sources.reading.opening import line_starts
from tests.soaking import either, soaked

SVMLIGHT = [
    b"1 1:2 3:0.25", b"-1 2:1e-3", b"1", b"# all of it", b"", b"   ", b"-1 5:7  # end", b"2.5 9:3 4:1",
]  # fmt: skip
LINES = {
    "svmlight": SVMLIGHT,
    "svmlight from 0": [*SVMLIGHT, b"1 0:4"],
    "svmlight with groups": [b"1 qid:1 1:2", b"2 qid:1 2:2", b"3 qid:2 1:1", b"# none"],
    "svmlight with bad lines": [*SVMLIGHT, b"1 1:x", b"-1 3:1 3:2", b"1 qid:3 1:1", b"1 0:4"],
    "csv": [b"1.5,red,ham", b"2,blue,spam", b"", b',"a, b",ham', b'3,"say ""x""",spam', b"NA,,ham"],
    "csv with bad lines": [b"1.5,red,ham", b"2,blue", b'3,"open,ham', b"4,green,", b"x,red,spam", b"1,a,ham"],
    "csv of numbers": [b"1,2,0", b"3,4,1", b"5,,0"],
    "tsv": [b"1.5\tred\tham", b"2\tblue\tspam", b"7\t\tham"],
    "jsonl": [
        b'{"a": 1, "label": "ham"}',
        b'{"a": 2.5, "b": "red", "label": "spam"}',
        b"",
        b'{"label": "x"}',
    ],
    "jsonl with bad lines": [b'{"a": 1, "label": "ham"}', b'{"a": 2', b'{"a": "x", "label": "ham"}', b"[1]"],
    "vw": [b"1 |a x:2 y", b"-1 2.0 'tag|b z", b"|a x", b"", b"1 | w:3"],
    "text": [b"ham\tsee you at noon", "spam\tcheap pills é".encode(), b"", b"ham\tx"],
    "text with bad lines": [b"ham\tsee you", b"no tab", b"spam\t\xff", b"ham\tx"],
}
HEADS = {"csv": b"a,colour,label", "tsv": b"a\tcolour\tlabel"}


def written(path, kind, lines, ends, last):
    """A file of these lines, each with its end; `last`: with an end after the last one."""
    head = HEADS.get(kind.partition(" ")[0])
    lines, ends = ([head, *lines], [ends[0], *ends]) if head else (lines, ends)
    text = b"".join(line + end for line, end in zip(lines, ends, strict=True))
    path.write_bytes(text if last else text.removesuffix(b"\n").removesuffix(b"\r"))
    return path


def plain(blocks):
    """Everything in blocks as plain values, exactly; columns of blocks apart (they grow)."""
    rows, others = [], []
    for block in blocks:
        if sp.issparse(block.rows):
            at = block.rows.indptr
            cells = [*zip(block.rows.indices.tolist(), map(float.hex, block.rows.data.tolist()), strict=True)]
            rows += [tuple(cells[a:b]) for a, b in zip(at[:-1], at[1:], strict=True)]
        else:
            rows += block.rows.to_pylist() if hasattr(block.rows, "to_pylist") else list(block.rows)
        kept = [None if part is None else [repr(one) for one in part] for part in block[1:]]
        others += zip(*([None] * len(block.targets) if part is None else part for part in kept), strict=True)
    return rows, others


def outcome(read):
    """What was read, or the line that refused it, and how much was skipped."""
    try:
        return read()
    except OnmarginError as error:
        return type(error).__name__, str(error)


def whole(path, format, options):
    source = open_source(str(path), format, **options)
    return plain(source), source.skipped


def in_parts(parts):
    sources = [part.source() for part in parts]
    return plain(block for source in sources for block in source), sum(source.skipped for source in sources)


@pytest.mark.parametrize("kind", sorted(LINES))
@pytest.mark.parametrize("on_error", ["stop", "skip"])
@soaked
def test_parts_of_every_cut_are_the_file(tmp_path, kind, on_error):
    format = kind.partition(" ")[0]
    path = tmp_path / f"rows.{format}"
    format = "csv" if format == "tsv" else format
    options = {"on_error": on_error} | ({} if format == "svmlight" else {"features": None})

    @settings(max_examples=either(3, 100), deadline=None)
    @given(st.data())
    def check(data):
        lines = data.draw(st.lists(st.sampled_from(LINES[kind]), min_size=1, max_size=7))
        ends = data.draw(
            st.lists(st.sampled_from([b"\n", b"\r\n"]), min_size=len(lines), max_size=len(lines))
        )
        written(path, kind, lines, ends, data.draw(st.booleans()))
        text = path.read_bytes()
        expected = outcome(lambda: whole(path, format, options))
        places = line_starts(str(path), range(len(text) + 1))
        ends_of_lines = [at for at in range(1, len(text)) if text[at - 1 : at] == b"\n"]
        assert places == [min([at for at in [0, *ends_of_lines] if at >= place] or [len(text)])
                          for place in range(len(text) + 1)]  # fmt: skip

        def split(**more):
            return om.sources.split(path, format=format, **options, **more)

        if not text:
            assert split() == []
            return
        for count in (1, 2, 3, len(text)):
            assert outcome(lambda count=count: in_parts(split(parts=count))) == expected
        only = outcome(lambda: split(parts=1))
        if isinstance(only, tuple):
            assert only == expected
            return
        for place in sorted(set(places) - {0, len(text)}):
            cut = [replace(only[0], stop=place), replace(only[0], start=place)]
            assert outcome(lambda cut=cut: in_parts(pickle.loads(pickle.dumps(cut)))) == expected

    check()


def test_what_the_first_lines_tell_holds_in_parts_that_would_tell_otherwise(tmp_path):
    """Indices from 0 or 1, labels that are numbers, columns of texts: the same in all parts."""
    path = tmp_path / "rows.svm"
    path.write_text("1 0:1 2:1\n" + "1 1:1\n" * 20)
    last = om.sources.split(path, parts=4)[-1]
    assert {int(block.rows.indices.min()) for block in last.blocks()} == {1}
    path.write_text("1 1:1\n" * 20 + "1 1:1 9:1\n")
    parts = om.sources.split(path, parts=3)
    assert [part.glance()[1] for part in parts] == [1, 1, 9]
    assert {block.rows.shape[1] for part in parts for block in part.as_wide(9).blocks()} == {9}
    with pytest.raises(BadFile, match=r"line 21, column 7: '9:1'; wanted an index within the 5"):
        list(parts[-1].as_wide(5).blocks())
    path = tmp_path / "rows.csv"
    path.write_text("zip,label\n" + "a,x\n" * 20 + "1,7\n" * 20)
    for part in om.sources.split(path, parts=5, features=None):
        for block in part.blocks(rows=3):
            assert block.rows.schema.field("zip").type == "string"
            assert all(isinstance(label, str) for label in block.targets)


@pytest.mark.parametrize("format", ["svm", "csv"])
def test_what_comes_after_the_first_chunk_is_told_by_its_line(tmp_path, format):
    """A file of several chunks: the refusal of a part is the refusal of the file."""
    path = tmp_path / f"rows.{format}"
    head, row, bad = {
        "svm": ("", "1 1:0.123456789012 2:3\n", "1 0:1\n"),
        "csv": ("a,b,label\n", "0.12345678901234567,2,1\n", "x,2,1\n"),
    }[format]  # fmt: skip
    path.write_text(head + row * 200_000 + bad + row)
    options = {} if format == "svm" else {"features": None}
    expected = outcome(lambda: whole(path, None, options))
    assert expected[1].startswith(f"{path}, line {200_001 + bool(head)}, column")
    parts = om.sources.split(path, bytes_per_part=1 << 20, **options)
    assert len(parts) >= 4
    good = [sum(len(block.targets) for block in part.blocks()) for part in parts[:-1]]
    assert min(good) > 10_000
    assert outcome(lambda: plain(parts[-1].blocks())) == expected


def test_features_learn_from_the_first_block_alone(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("a,colour,label\n" + "".join(f"{at},{'rgb'[at % 3]},{at % 2}\n" for at in range(60)))
    table = om.features.Table(bits=4)
    parts = om.sources.split(path, parts=4, features=table)
    assert len(parts) == 4
    raw = om.sources.csv.stream(path, features=None).whole()
    expected = om.features.Table(bits=4).fit(raw.rows).transform(raw.rows)
    found = sp.vstack([block.rows for part in parts for block in part.blocks(rows=7)])
    assert (found != expected).nnz == 0
    before = table.moments_.state()
    list(parts[2].blocks())
    assert str(table.moments_.state()) == str(before)


def test_parquet_by_row_groups(tmp_path):
    import pyarrow as pa
    import pyarrow.parquet as pq

    rng = np.random.default_rng(1)
    table = pa.table({"a": rng.normal(size=1000), "b": rng.integers(0, 9, 1000), "label": ["x", "y"] * 500})
    path = tmp_path / "rows.parquet"
    pq.write_table(table, path, row_group_size=70)
    expected = whole(path, None, {"features": None})
    for count in (1, 2, 3, 7, 15, 40):
        parts = om.sources.split(path, parts=count, features=None)
        assert len(parts) == min(count, 15)
        assert in_parts(pickle.loads(pickle.dumps(parts))) == expected
    assert str(parts[3]) == f"{path}, row group 3"
    assert str(om.sources.split(path, parts=5)[1]) == f"{path}, row groups 3 to 5"
    labels = ["x"] * 150 + [None] + ["y"] * 20
    pq.write_table(pa.table({"a": np.arange(171.0), "label": labels}), path, row_group_size=20)
    with pytest.raises(BadFile, match=r"rows.parquet, row 151, column 'label': None; wanted a label"):
        list(om.sources.split(path, parts=9)[-2].blocks())


def test_packed_files_and_values_over_lines_are_one_part_each(tmp_path):
    text = b"".join(b"%d 1:1\n" % (at % 2) for at in range(100))
    (tmp_path / "a.svm").write_bytes(text)
    (tmp_path / "b.svm.gz").write_bytes(gzip.compress(text))
    parts = om.sources.split(tmp_path, bytes_per_part=200)
    assert [str(part).removeprefix(str(tmp_path)) for part in parts] == [
        "/a.svm, bytes 0 to 203", "/a.svm, bytes 204 to 401", "/a.svm, bytes 402 to 599", "/b.svm.gz",
    ]  # fmt: skip
    assert in_parts(parts) == whole(tmp_path, None, {})
    over = tmp_path / "over.csv"
    over.write_text("text,label\n" + '"one\ntwo",ham\n"three",spam\n' * 50)
    (part,) = om.sources.split(over, parts=9, newlines=True, text="text", features=None)
    assert in_parts([part])[0][0][:2] == ["one\ntwo", "three"]
    with pytest.raises(BadFile, match=r"over.csv, line 2, column 1: .*every quote closed in its line"):
        om.sources.split(over, parts=9, text="text")
    with pytest.raises(BadFile, match=r"over.csv, line 2, column 1: .*every quote closed in its line"):
        in_parts(om.sources.split(over, parts=9, text="text", strict=False))


def test_a_file_that_changed_or_went_is_told(tmp_path):
    path = tmp_path / "rows.svm"
    path.write_text("1 1:1\n" * 10)
    parts = om.sources.split(path, parts=2)
    path.write_text("1 1:1\n" * 11)
    with pytest.raises(BadFile, match="had 60 bytes when it was split and has 66 now; split it again"):
        list(parts[1].blocks())
    path.unlink()
    with pytest.raises(BadFile, match=r"cannot read .*rows.svm, bytes 30 to 59: No such file"):
        list(parts[1].blocks())


def test_what_cannot_be_split_is_refused(tmp_path):
    import io

    with pytest.raises(BadInput, match="cannot be split: it is no file that can be read again"):
        om.sources.split("-", format="svmlight")
    with pytest.raises(BadInput, match="cannot be split"):
        om.sources.split(io.BytesIO(b"1 1:1\n"), format="svmlight")
    with pytest.raises(NoFile, match="there is no file"):
        om.sources.split(tmp_path / "none.svm")
    path = tmp_path / "rows.svm"
    path.write_text("1 1:1\n")
    for given_ in ({"parts": 0}, {"parts": 1.5}, {"bytes_per_part": 0}, {"rows": 3}, {"colour": 3}):
        with pytest.raises(BadInput, match=f"{next(iter(given_))}"):
            om.sources.split(path, **given_)
    assert om.sources.split(path, parts=10**9)[0].glance()[1] == 1
