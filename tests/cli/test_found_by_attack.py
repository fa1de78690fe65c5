"""What an attack on the command line had found: each as it was done."""

from __future__ import annotations

import json
import os
import resource
import stat
import subprocess
from contextlib import contextmanager
from pathlib import Path

import pytest

import onmargin as om
from onmargin.protocols.saving import container

from .processes import BIN, run, within, write_svmlight


def refused(done) -> str:
    assert done.returncode == 2 and done.stderr.startswith("onmargin: "), done
    assert done.stderr.count("\n") == 1, done.stderr
    return done.stderr


@contextmanager
def room_for(size: int):
    """Files cannot get longer: a disk that is full."""
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, limits[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)


# ---- what is written


def test_a_full_disk_is_told_with_the_name_of_the_file(tmp_path, capsys):
    data, model = write_svmlight(tmp_path / "a.svm"), tmp_path / "m.onm"
    assert within(capsys, "learn", data, "--save", model).returncode == 0
    before = model.read_bytes()
    answers, page = tmp_path / "answers", tmp_path / "page.html"
    with room_for(500):
        for words, name in (
            (("learn", data, "--save", model), model),
            (("learn", data, "--save", model, "--checkpoint-every", 1), model),
            (("learn", data, "--report", page), page),
            (("predict", model, data, "--out", answers), answers),
        ):
            assert f"{name}: File too large" in refused(within(capsys, *words))
    assert model.read_bytes() == before
    assert sorted(os.listdir(tmp_path)) == ["a.svm", "m.onm"]


def test_a_named_pipe_is_written_to_and_not_replaced(tmp_path, capsys):
    data, model = write_svmlight(tmp_path / "a.svm", 100), tmp_path / "m.onm"
    assert within(capsys, "learn", data, "--save", model).returncode == 0
    for words in (("predict", model, data, "--out"), ("learn", data, "--report")):
        pipe = tmp_path / f"pipe of {words[0]}"
        os.mkfifo(pipe)
        with subprocess.Popen(["cat", pipe], stdout=subprocess.PIPE) as reader:
            assert within(capsys, *words, pipe).returncode == 0
            assert reader.stdout.read().count(b"\n") >= 10
        assert stat.S_ISFIFO(pipe.stat().st_mode)


def test_answers_go_through_a_link(tmp_path, capsys):
    data, model = write_svmlight(tmp_path / "a.svm", 100), tmp_path / "m.onm"
    assert within(capsys, "learn", data, "--save", model).returncode == 0
    (tmp_path / "link").symlink_to(tmp_path / "answers")
    assert within(capsys, "predict", model, data, "--out", tmp_path / "link").returncode == 0
    assert (tmp_path / "link").is_symlink() and (tmp_path / "answers").read_text().count("\n") == 100


def test_a_reader_that_has_enough_does_not_cost_the_model(tmp_path):
    data, model = write_svmlight(tmp_path / "a.svm", 20_000), tmp_path / "m.onm"
    words = [BIN, "learn", data, "--table", "--save", model]
    reading, writing = os.pipe()
    os.close(reading)  # (nobody reads at all)
    with os.fdopen(writing, "wb") as out:
        done = subprocess.run(list(map(str, words)), stdout=out, stderr=subprocess.PIPE, timeout=300)
    assert (done.returncode, done.stderr) == (0, b"")
    assert om.load(model).predict([[1.0] * 8]).shape == (1,)


def test_an_output_that_is_closed_is_no_flaw():
    done = subprocess.run(
        ["sh", "-c", f"exec '{BIN}' algorithms --json >&-"], capture_output=True, timeout=300
    )
    assert (done.returncode, done.stderr) == (0, b"")


# ---- names and numbers


def test_names_that_are_no_text_are_shown(tmp_path):
    odd = Path(os.fsdecode(os.fsencode(tmp_path) + b"/\xff.svm"))
    model = Path(os.fsdecode(os.fsencode(tmp_path) + b"/\xfe.onm"))
    write_svmlight(odd, 100)
    for words in (("learn", odd, "--save", model), ("show", model), ("show", model, "--json")):
        done = run(*words)
        assert (done.returncode, done.stderr) == (0, ""), done.stderr
        assert "\\udcff.svm" in done.stdout


def test_names_of_features_that_look_like_markup_are_shown_as_they_are(tmp_path, capsys):
    data, model = tmp_path / "a.vw", tmp_path / "m.onm"
    data.write_text("1 |a [/b] [red]\n-1 |a [bold\n")
    assert within(capsys, "learn", data, "--save", model).returncode == 0
    shown = within(capsys, "show", model)
    assert shown.returncode == 0
    assert all(f"a^{name}" in shown.stdout for name in ("[/b]", "[red]", "[bold")), shown.stdout


def test_lines_without_a_label_are_points_and_json_has_no_nan(tmp_path, capsys):
    data = tmp_path / "a.vw"
    data.write_text("|a x:1\n|a x:2 y:1\n" * 20)
    done = within(capsys, "learn", data, "--json")
    found = json.loads(done.stdout, parse_constant=lambda word: pytest.fail(word))
    assert found["task"] == "points" and found["unlabelled"] == 0 and found["updates"] > 0


def test_rows_without_a_feature_are_rows_and_a_table_without_columns_is_refused(tmp_path, capsys):
    data, model = tmp_path / "a.svm", tmp_path / "m.onm"
    data.write_text("1\n-1\n1\n")
    assert within(capsys, "learn", data, "--save", model).returncode == 0
    assert within(capsys, "predict", model, data).stdout.count("\n") == 3
    assert within(capsys, "sweep", data, "-C", "0.1,1").returncode == 0
    (tmp_path / "a.csv").write_text("label\nx\ny\n")
    assert "no column beside the target" in refused(within(capsys, "learn", tmp_path / "a.csv"))


# ---- going on


def test_a_row_for_two_classes_stays_one_when_it_is_resumed(tmp_path, capsys):
    data, model = tmp_path / "a.svm", tmp_path / "m.onm"
    data.write_text("1 1:1\n-1 2:1\n" * 4096 + "3 1:2\n")
    words = ("learn", data, "--algorithm", "pa1.binary", "--save", model, "--checkpoint-every", 1)
    assert "is for two classes" in refused(within(capsys, *words))
    assert "is for two classes" in refused(within(capsys, "learn", data, "--save", model, "--resume"))
    assert "is for two classes" in refused(within(capsys, "learn", data, "--start", model))


@pytest.mark.parametrize("name", ["b*.svm", "."])
def test_a_folder_that_has_changed_is_not_gone_on_with(tmp_path, capsys, name):
    folder, model = tmp_path / "data", tmp_path / "m.onm"
    folder.mkdir()
    write_svmlight(folder / "b.svm", 100)
    words = ("learn", folder / name, "--save", model, "--resume")
    assert within(capsys, *words).returncode == 0
    assert within(capsys, *words).returncode == 0
    write_svmlight(folder / "b2.svm", 50)
    assert "bytes when learning began" in refused(within(capsys, *words, "--passes", 2))


def test_a_record_whose_options_are_none_is_refused(tmp_path, capsys):
    data, model = write_svmlight(tmp_path / "a.svm", 100), tmp_path / "m.onm"
    assert within(capsys, "learn", data, "--save", model).returncode == 0
    facts, arrays = container.read(model)
    container.write(model, facts | {"notes": facts["notes"] | {"options": [1]}}, arrays)
    assert "options [1]" in refused(within(capsys, "predict", model, data))


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("a = " + "[" * 5000 + "]" * 5000, "too deep"),
        ("[learn]\nsave = {a = 1}", "save = {'a': 1}; wanted a text"),
        ("[learn]\nsave = ['m.onm']", "save = ['m.onm']; wanted a text"),
    ],
)
def test_settings_that_are_hostile(tmp_path, capsys, monkeypatch, text, told):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "onmargin.toml").write_text(text)
    write_svmlight(tmp_path / "a.svm", 100)
    assert told in refused(within(capsys, "learn", "a.svm"))
    assert sorted(os.listdir(tmp_path)) == ["a.svm", "onmargin.toml"]
