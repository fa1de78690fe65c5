"""Sources by what they are called: endings, packings, folders, options that a format has not."""

from __future__ import annotations

import pytest

import onmargin as om
from onmargin.errors import BadInput, BadType, NoFile
from onmargin.sources.by_name import format_of


@pytest.mark.parametrize(
    "name, format",
    [
        ("a.svm", "svmlight"), ("a.svmlight.gz", "svmlight"), ("b/a.libsvm.xz", "svmlight"), ("a.VW", "vw"),
        ("a.csv.bz2", "csv"), ("a.tsv", "csv"), ("a.jsonl.zst", "jsonl"), ("a.ndjson", "jsonl"),
        ("a.parquet", "parquet"), ("a.txt", "text"),
    ],
)  # fmt: skip
def test_formats_are_known_by_endings(name, format):
    assert format_of(name) == format


def test_a_folder_is_known_by_its_first_file(tmp_path):
    for name in ("b.vw.gz", "a.txt", ".hidden.csv"):
        (tmp_path / name).write_bytes(b"")
    assert format_of(tmp_path) == "text"


def test_what_is_not_known_is_told(tmp_path):
    (tmp_path / "data.dat").write_bytes(b"")
    for data, options, kind, said in (
        (tmp_path / "data.dat", {}, BadInput, "not known by its ending; known are .svm"),
        ("data.dat", {}, NoFile, "there is no file 'data.dat'"),
        ("*.dat", {}, NoFile, r"there is no file '\*.dat'"),
        ("data.dat", {"format": "arff"}, BadInput, "format='arff'; wanted one of csv"),
        ("-", {}, BadInput, "give format="), (3, {}, BadInput, "give format="),
        ("none.vw", {}, NoFile, "there is no file 'none.vw'"),
        ("none.vw", {"target": 1}, BadInput, "vw has no option 'target'; it has rows, features"),
        (["a.vw", "b.vw"], {"follow": True}, BadType, "cannot follow"),
    ):  # fmt: skip
        with pytest.raises(kind, match=said):
            om.sources.open_source(data, **options)


def test_every_format_is_public_and_loaded_on_first_use():
    assert dir(om.sources) == sorted(om.sources.__all__)
    for name in om.sources.FORMATS:
        module = getattr(om.sources, name)
        assert callable(module.read) and callable(module.stream)
    with pytest.raises(AttributeError, match="onmargin.sources has no 'arff'; known are csv"):
        om.sources.arff  # noqa: B018
