"""The svmlight reader: scikit-learn's matrix on every real set, exact numbers, and places in refusals."""

from __future__ import annotations

import gzip
import io
import lzma
import random
import struct

import numpy as np
import pytest
from sklearn.datasets import load_svmlight_file

import onmargin as om
from onmargin.errors import BadFile, BadInput
from onmargin.sources import svmlight
from onmargin.sources.reading.opening import Lines
from onmargin.sources.real import folder

GIVEN = sorted(
    path
    for pattern in (
        "a9a/*.gz", "lightgbm_rank/*.gz", "mq2008/*.xz", "multilabel/*/*.gz", "news20/*.xz",
        "rcv1_small/*.gz", "reuters21578/*.svm.gz", "small/*.gz",
    )
    for path in folder().glob(pattern)
)  # fmt: skip


def given(text: bytes | str) -> io.BytesIO:
    return io.BytesIO(text.encode() if isinstance(text, str) else text)


def same(found, wanted) -> None:
    assert found.shape == wanted.shape
    np.testing.assert_array_equal(found.indptr, wanted.indptr)
    np.testing.assert_array_equal(found.indices, wanted.indices)
    np.testing.assert_array_equal(found.data.view(np.int64), wanted.data.view(np.int64))


@pytest.mark.skipif(not GIVEN, reason="no real sets here")
@pytest.mark.parametrize("path", GIVEN, ids=lambda path: path.name)
def test_the_same_matrix_as_scikit_learns(path):
    several, asks = "multilabel" in path.parts or "reuters21578" in path.parts, "mq2008" in path.parts
    read = svmlight.read(path, multilabel=several)
    with (lzma if path.suffix == ".xz" else gzip).open(path) as stream:
        text = b"".join(stream.readlines()[:4000])  # (scikit-learn takes 15 times as long)
    wanted = load_svmlight_file(given(text), multilabel=several, query_id=asks, n_features=read[0].shape[1])
    count = wanted[0].shape[0]
    assert len(read) == 2 + asks
    same(read[0][:count], wanted[0])
    assert list(read[1][:count]) == list(wanted[1])
    assert not asks or list(read[2][:count]) == list(wanted[2])


def test_null_is_refused_unless_told():
    path = folder() / "mq2007_agg" / "A1.txt.xz"
    if not path.exists():
        pytest.skip("no real sets here")
    with pytest.raises(BadFile, match=r"A1.txt.xz, line 1, column 10: '1:NULL'; wanted index:value"):
        svmlight.read(path)
    X, y, groups = svmlight.read(path, null=-1.0)
    assert X.shape[0] == len(y) == len(groups) and X[0].toarray().tolist() == [[-1.0] * 21]
    assert np.isnan(svmlight.read(given("1 2:NULL 3:1\n"), null=np.nan)[0].toarray()[0]).tolist() == [0, 1, 0]
    for text in ("1 2:NULLS\n", "1 2:NUL\n", "NULL 1:1\n"):
        with pytest.raises(BadFile):
            svmlight.read(given(text), null=0.0)


def texts(count: int) -> list[str]:
    """Numbers as texts of every length and size."""
    draw = random.Random(7)
    made = [
        "0",
        "-0",
        "+0.0",
        ".5",
        "5.",
        "1e5",
        "9007199254740993",
        "5e-324",
        "2.4703282292062327e-324",
        "1e-400",
    ]
    made += [
        "2.4703282292062328e-324",
        "1.7976931348623157e308",
        "2.2250738585072011e-308",
        "0e999",
        "1" * 40,
    ]
    made += [
        "0." + "0" * 30 + "1",
        "123456789012345678901234567890e-20",
        "0" * 25 + "7",
        "1.00000000000000000000001",
    ]
    while len(made) < count:
        value = struct.unpack("<d", draw.randbytes(8))[0] if draw.random() < 0.5 else draw.gauss(0, 10)
        if value - value != 0:
            continue
        digits = draw.randrange(1, 20)
        made.append(draw.choice([repr(value), f"{value:.{digits}g}", f"{value:.{digits}e}", f"{value:.3f}"]))
        whole, power = draw.randrange(10 ** draw.randrange(1, 20)), draw.randrange(-345, 289)
        made.append(f"{whole}e{power}")
        half = draw.randrange(2**52, 2**53) * 2 + 1  # right between two floats
        made.append(str(half * 2 ** draw.randrange(0, 9)))
    return [text for text in made if abs(float(text)) != float("inf")]


@pytest.mark.parametrize("end", [" \n", "\n", "\r\n", "#\n"])
def test_every_number_is_pythons(end):
    numbers = texts(20_000)
    text = "".join(f"{number} 1:{number}{end}" for number in numbers)
    X, y = svmlight.read(given(text))
    wanted = np.array([float(number) for number in numbers])
    np.testing.assert_array_equal(y.view(np.int64), wanted.view(np.int64))
    np.testing.assert_array_equal(X.data.view(np.int64), wanted.view(np.int64))


REFUSED = {
    "1 1:1\n2 3:x 4:1\n": r"line 2, column 3: '3:x'; wanted index:value, with a finite number",
    "1 1:\n": r"line 1, column 3: '1:'; wanted index:value",
    "1 1:1\n\n# c\nx 1:1\n": "line 4, column 1: 'x'; wanted a number as label",
    "1,2 1:1\n": "line 1, column 2: ',2'; wanted one number as label .for several: multilabel=True.",
    "1 1:nan\n": "'1:nan'; wanted index:value, with a finite",
    "1 1:inf\n": "'1:inf'; wanted index:value, with a finite",
    "1 1:1e999\n": "'1:1e999'; wanted a number within float64",
    f"1 1:{'9' * 400}\n": "wanted a number within float64",
    "1e999 1:1\n": "'1e999'; wanted a number within float64",
    "nan 1:1\n": "'nan'; wanted a number as label",
    "1 1:0x10\n": "'1:0x10'; wanted",
    "1 1:1_0\n": "'1:1_0'; wanted",
    "1 1:1:1\n": "'1:1:1'; wanted",
    "1 1 :1\n": "'1'; wanted index:value, with a whole number as index",
    "1 -1:1\n": "'-1:1'; wanted index:value, with a whole number as index",
    "1 1.0:1\n": "'1.0:1'; wanted index:value, with a whole",
    "1 2147483647:1\n": "wanted an index below 2147483647",
    "1 99999999999999999999:1\n": "wanted an index below 2147483647",
    "1 2:1 2:1\n": "line 1, column 1: '1 2:1 2:1'; wanted every index of a line only once",
    "1 qid:x 1:1\n": "'qid:x'; wanted qid: and a whole number",
    "1 qid:1 1:1\n1 1:1\n": "line 2, column 3: '1:1'; wanted qid: after the label, as on the lines before",
    "1 1:1\n1 qid:1 1:1\n": "line 2, column 3: 'qid:1'; wanted no qid:, as on the lines before",
    "1 1:1 qid:1\n": "'qid:1'; wanted index:value",
    "1\xa01:1\n": "wanted a number as label",
}  # fmt: skip


@pytest.mark.parametrize("text", REFUSED, ids=lambda text: text[:20].encode().decode("ascii", "replace"))
def test_what_is_wrong_is_refused_with_its_place(text):
    with pytest.raises(BadFile, match=REFUSED[text]) as refused:
        svmlight.read(given(text))
    assert str(refused.value).startswith("the stream, line ") and "\n" not in str(refused.value)
    assert len(str(refused.value)) < 200
    wrong = [
        number for number, line in enumerate(text.split("\n")) if f"line {number + 1}," in str(refused.value)
    ]
    source = svmlight.stream(
        given(text + "7 qid:3 1:1\n" if "qid:1 1:1\n1 1" in text else text + "7 1:1\n"), on_error="skip"
    )
    assert len(wrong) == 1 and list(source)[-1].targets[-1] == 7 and source.skipped == 1


def test_indices_in_any_order():
    X, _ = svmlight.read(given("1 3:3 1:1 2:2\n1 2:2\n1 5:5 4:4\n"))
    X.check_format(full_check=True)
    assert X.indices.tolist() == [0, 1, 2, 1, 3, 4] and X.data.tolist() == [1, 2, 3, 2, 4, 5]


def test_where_indices_begin(tmp_path):
    assert svmlight.read(given("1 0:1 2:3\n"))[0].toarray().tolist() == [[1, 0, 3]]
    assert svmlight.read(given("1 1:1 2:3\n"))[0].toarray().tolist() == [[1, 3]]
    assert svmlight.read(given("1 1:1 2:3\n"), zero_based=True)[0].toarray().tolist() == [[0, 1, 3]]
    with pytest.raises(BadFile, match="indices from 1 on .from 0 on: zero_based=True.$"):
        svmlight.read(given("1 0:1\n"), zero_based=False)
    late = b"1 1:1\n" * 750_000 + b"1 0:2\n"
    path = tmp_path / "late.svm"
    path.write_bytes(late)
    assert svmlight.read(path)[0].shape == (750_001, 2)  # as scikit-learn
    for on_error in ("stop", "skip"):
        with pytest.raises(BadFile, match="line 750001, column 3: '0:2'.*as on the lines before"):
            list(svmlight.stream(path, on_error=on_error))
    assert sum(block.rows.shape[0] for block in svmlight.stream(path, zero_based=True)) == 750_001


def test_columns_are_kept():
    assert svmlight.read(given("1 1:1\n"), columns=7)[0].shape == (1, 7)
    with pytest.raises(BadFile, match="'8:1'; wanted an index within the 7 columns"):
        svmlight.read(given("1 8:1\n"), columns=7)
    with pytest.raises(BadFile, match="'7:1'; wanted an index within the 7 columns"):
        svmlight.read(given("1 0:1 7:1\n"), columns=7)


def test_several_labels():
    text = "3,1 1:1\n 2:2\n2 1:3\n"
    X, y = svmlight.read(given(text), multilabel=True)
    assert y == [(1.0, 3.0), (), (2.0,)] and X.shape == (3, 2)
    _, y = svmlight.read(given(text), multilabel=True, labels=[1, 2, 3])
    assert y.tolist() == [[1, 0, 1], [0, 0, 0], [0, 1, 0]]
    with pytest.raises(BadFile, match="and 3 is none"):
        svmlight.read(given(text), multilabel=True, labels=[1, 2])
    assert svmlight.read(given(text), multilabel=True, labels=[1, 2], on_error="skip")[1].tolist() == [
        [0, 0],
        [0, 1],
    ]


def test_single_precision():
    X, _ = svmlight.read(given("1 1:0.1\n"), dtype="float32")
    assert X.dtype == np.float32 and X.data[0] == np.float32(0.1)
    with pytest.raises(BadFile, match="within float32"):
        svmlight.read(given("1 1:1e39\n"), dtype="float32")


@pytest.mark.parametrize("rows", [1, 3, 10_000])
@pytest.mark.parametrize("size", [1, 50, 1 << 20])
def test_blocks_are_the_whole_however_it_is_cut(rows, size):
    draw = np.random.default_rng(3)
    text = ""
    for number in range(200):
        some = sorted(draw.choice(20 + number, 5, replace=False) + 1)
        text += (
            f"{number} qid:{number // 9} " + " ".join(f"{index}:{draw.random()!r}" for index in some) + "\n"
        )
    X, y, groups = svmlight.read(given(text))
    source = svmlight.stream(Lines(given(text), size=size), rows=rows)
    parts = list(source)
    assert source.seen == 200 and source.columns == X.shape[1] == parts[-1].rows.shape[1]
    assert all(part.rows.shape[0] == rows for part in parts[:-1])
    np.testing.assert_array_equal(np.concatenate([part.targets for part in parts]), y)
    np.testing.assert_array_equal(np.concatenate([part.groups for part in parts]), groups)
    np.testing.assert_array_equal(np.concatenate([part.rows.data for part in parts]), X.data)
    np.testing.assert_array_equal(np.concatenate([part.rows.indices for part in parts]), X.indices)


def test_a_long_line():
    words = " ".join(f"{index}:{index / 7!r}" for index in range(1, 300_000))  # several MiB
    X, _ = svmlight.read(given(f"1 1:1\n2 {words}\n3 4:4\n"))
    assert X.shape == (3, 299_999) and X[1].nnz == 299_999 and X[1, 299_998] == 299_999 / 7


def test_options_are_checked():
    for options in (
        {"zero_based": "no"},
        {"dtype": "int8"},
        {"labels": [1]},
        {"on_error": "ignore"},
        {"columns": 0},
    ):
        with pytest.raises(BadInput):
            svmlight.stream(given("1 1:1\n"), **options)
    with pytest.raises(BadInput, match="no example"):
        svmlight.read(given("# nothing\n\n"))
    assert om.sources.svmlight is svmlight


def test_two_threads_read_what_one_reads(tmp_path):
    """Halves of a chunk: the same blocks, the same places of what is wrong, as many skipped."""
    draw, path = random.Random(0), tmp_path / "a.svm"
    lines = [
        f"{draw.choice((-1, 1))} qid:{at // 50} "
        + " ".join(f"{index}:{draw.random():.4g}" for index in sorted(draw.sample(range(1, 300), 20)))
        for at in range(3000)
    ]

    def write(*bad: int) -> None:
        path.write_text("\n".join("nonsense" if at in bad else line for at, line in enumerate(lines)) + "\n")

    def chunked(**options: object) -> om.sources.blocks.Source:
        chunks = Lines(path, size=200_000)
        return svmlight.stream(chunks, rows=700, **options)

    write()
    for one, two in zip(chunked(), chunked().ahead(), strict=True):
        same(two.rows, one.rows)
        assert np.array_equal(two.targets, one.targets) and np.array_equal(two.groups, one.groups)
    for bad in (100, 1400, 1500, 2999):
        write(bad)
        said = []
        for source in (chunked(), chunked().ahead()):
            with pytest.raises(BadFile, match=f"line {bad + 1}, column 1") as refused:
                list(source)
            said.append(str(refused.value))
        assert said[0] == said[1]
    write(3, 900, 901, 1499, 2500)
    one, two = chunked(on_error="skip"), chunked(on_error="skip").ahead()
    count = [sum(block.rows.shape[0] for block in source) for source in (one, two)]
    assert count == [2995, 2995] and one.skipped == two.skipped == 5


def test_what_is_read_whole_is_what_blocks_are_joined():
    from onmargin.sources.blocks import joined

    text = "\n".join(f"{at % 2} {at % 7 + 1}:{at} {at % 5 + 9}:-1" for at in range(5000)) + "\n"
    whole = svmlight.read(given(text))
    pieces = joined(list(svmlight.stream(given(text), rows=64, columns=whole[0].shape[1])))
    same(whole[0], pieces.rows)
    assert np.array_equal(whole[1], pieces.targets)
    assert whole[0].indptr.dtype == whole[0].indices.dtype == np.int32
