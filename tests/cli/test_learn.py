"""onmargin learn in real processes: what it prints, what it keeps, what it does when it is stopped."""

import json
import os
import pty
import signal
import subprocess
import sys
import time

import numpy as np
import pandas as pd
import pytest
from sklearn.pipeline import make_pipeline

import onmargin as om
from onmargin.protocols.requested.requests import Request
from onmargin.protocols.saving.files import notes_of

from .processes import BIN, assert_same, run, within, write_csv, write_svmlight, write_text

TABLE = """\
average   since          example        current        current  current
error     last           counter          label        predict features
1.000000  1.000000             1              1              -        7
1.000000  1.000000             2             -1              1        7
1.000000  1.000000             4              1             -1        8
0.625000  0.250000             8             -1              1        8
"""


def wait_for(said, seconds=120):
    """Until it is so."""
    end = time.monotonic() + seconds
    while not said():
        assert time.monotonic() < end, "waited too long"
        time.sleep(0.02)


def test_text_json_table_test_and_settings(tmp_path, monkeypatch, capsys):
    data = write_svmlight(tmp_path / "a.svm")
    (tmp_path / "onmargin.toml").write_text("[learn]\nC = 0.01\n")
    done = run("learn", "a.svm", "--table", "--test", "a.svm", "--save", "m.onm", cwd=tmp_path)
    assert done.returncode == 0 and done.stderr == ""
    model = om.load(tmp_path / "m.onm")
    assert model.C == 0.01  # of onmargin.toml
    X, y = om.sources.svmlight.read(data)
    progress = om.progressive(om.PassiveAggressiveClassifier(C=0.01, growing=True), X, y)
    assert done.stdout.startswith(TABLE)
    assert done.stdout.splitlines()[2 + 12 :] == [
        "a.svm: classes, pa1 (PassiveAggressiveClassifier)",
        f"3,000 rows, 1 pass: progressive error {progress.error_rate:.4f}, {progress.updates:,} updates",
        "saved m.onm",
        f"test a.svm: 3,000 rows, error {1 - progress.model.score(X, y):.4f}",
    ]
    monkeypatch.chdir(tmp_path)
    done = within(
        capsys, "learn", "a.svm", "-C", "0.1", "--json", "--algorithm", "pa2.binary", "--average=true"
    )
    (line,) = done.stdout.splitlines()
    facts = json.loads(line)
    assert facts["algorithm"] == "pa2.binary" and facts["rows"] == facts["examples"] == 3000
    assert facts["task"] == "classes" and facts["error"] < 0.3 and facts["saved"] is None


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_a_process_that_was_stopped_is_gone_on_with_bit_for_bit(tmp_path, number):
    data = str(write_svmlight(tmp_path / "a.svm", 20_000))
    kept, straight = str(tmp_path / "kept.onm"), str(tmp_path / "straight.onm")
    command = [str(BIN), "learn", data, "--passes", "1000000", "--save", kept, "--checkpoint-every", "1"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        wait_for(lambda: os.path.exists(kept) and notes_of(kept)["finished"] > 0)
        process.send_signal(number)
        said = process.communicate(timeout=120)[1]
    if number == signal.SIGKILL:
        assert process.returncode == -number
    else:
        assert process.returncode == 128 + number
        rows = notes_of(kept)["rows"]
        assert said == f"onmargin: stopped after {rows:,} rows, saved to {kept}; --resume goes on\n"
    passes = notes_of(kept)["finished"] + 1
    if number == signal.SIGINT:
        done = run("learn", data, "--passes", passes, "--save", kept, "--resume")
        assert done.returncode == 0 and f"{passes * 20_000:,} rows, {passes} passes" in done.stdout
    else:
        Request([data], passes=passes, save=kept, resume=True).training().run()
    Request([data], passes=passes, save=straight).training().run()
    assert_same(straight, kept)


def test_a_growing_file_is_followed_until_it_is_stopped(tmp_path):
    data, kept = write_svmlight(tmp_path / "a.svm", 30), str(tmp_path / "m.onm")
    command = [str(BIN), "learn", str(data), "--follow", "--save", kept, "--checkpoint-every", "1"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        wait_for(lambda: os.path.exists(kept))
        with data.open("a") as more:
            more.write("1 1:3\n" * 5)
        wait_for(lambda: notes_of(kept)["rows"] == 35)
        process.send_signal(signal.SIGTERM)
        out, said = process.communicate(timeout=120)
    assert process.returncode == 143 and "stopped after 35 rows, saved to" in said
    assert "35 rows, stopped in pass 1 of 1" in out


def test_a_terminal_sees_the_task_and_a_bar(tmp_path):
    data = write_svmlight(tmp_path / "a.svm", 20_000)
    leader, follower = pty.openpty()
    environment = {**os.environ, "TERM": "xterm-256color", "COLUMNS": "80"}
    command = [str(BIN), "learn", str(data), "--passes", "30"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=follower, env=environment) as process:
        os.close(follower)
        seen = b""
        while True:
            try:
                more = os.read(leader, 4096)
            except OSError:
                break
            if not more:
                break
            seen += more
        out = process.stdout.read().decode()
    assert process.returncode == 0
    assert b"classes, found from the labels; arow: AROW(growing=True, random_state=0)" in seen
    assert (
        b"pass " in seen and b"/30" in seen and b" rows " in seen and b"/s error 0." in seen and b"%" in seen
    )
    assert "600,000 rows, 30 passes: progressive error" in out and "\x1b" not in out


def test_learn_and_predict_in_pipes(tmp_path, capsys):
    data, texts = write_svmlight(tmp_path / "a.svm"), write_text(tmp_path / "a.txt")
    with data.open() as file:
        model = run("learn", "-", "--format", "svmlight", "--save", "-", stdin=file, text=False)
    assert model.returncode == 0 and b"3,000 rows, 1 pass" in model.stderr
    answers = run("predict", "-", data, input=model.stdout, text=False).stdout.decode().split()
    kept = tmp_path / "m.onm"
    kept.write_bytes(model.stdout)
    X, _ = om.sources.svmlight.read(data)
    assert answers == [f"{label:.0f}" for label in om.load(kept).predict(X)]
    done = within(capsys, "learn", texts, "--save", kept, "--bits", "12", "--ngram-range", "1,2")
    assert done.returncode == 0, done.stderr
    asked = run("predict", kept, "-", input="cheap pills now\nham\tsee you w1\n\nwin money\n")
    assert asked.stdout.split() == ["spam", "ham", "spam"]


def test_a_report_and_a_cache(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    write_svmlight(tmp_path / "a.svm")
    for _ in range(2):
        words = ("--cache", "--passes", "2", "--report", "r.html", "--test", "a.svm", "--save", "m.onm")
        done = within(capsys, "learn", "a.svm", *words)
        assert done.returncode == 0 and "6,000 rows, 2 passes" in done.stdout, done.stderr
        assert " updates in the last\n" in done.stdout
    page = (tmp_path / "r.html").read_text()
    X, y = om.sources.svmlight.read("a.svm")
    model = om.load("m.onm")
    wrong = 1 - model.score(X, y)
    assert f"<td>test a.svm</td><td>rows 3,000, error {wrong:.6g}</td>" in page
    heaviest = 1 + int(np.argmax(np.abs(model.coef_)))  # in the file the first column is 1
    assert f"<h3>for 1</h3><table><tr><td>{heaviest}</td>" in page and "<th>-1</th><th>1</th>" in page
    first = json.loads(within(capsys, "show", "m.onm", "--json").stdout.splitlines()[1])
    assert first["feature"] == heaviest
    assert "<svg" in page and "Confusion" in page and "a.svm" in page
    assert [each.name for each in tmp_path.glob("*cache*")] == ["a.svm.onmargin-cache"]


def test_bad_lines_stop_or_are_counted(tmp_path, capsys):
    data = tmp_path / "a.svm"
    data.write_text("1 1:1\n-1 2:x\n1 1:2\n-1 2:1\nnonsense\n")
    done = within(capsys, "learn", data)
    assert done.returncode == 2 and done.stdout == ""
    assert (
        done.stderr.startswith(f"onmargin: {data}, line 2, column 4: '2:x'") and done.stderr.count("\n") == 1
    )
    done = within(capsys, "learn", data, "--on-error", "skip")
    assert done.returncode == 0 and "3 rows" in done.stdout and "2 bad lines were skipped" in done.stdout


def test_wrong_usage_is_one_line_and_nothing_is_written(tmp_path, capsys):
    data, table = write_svmlight(tmp_path / "a.svm", 20), write_csv(tmp_path / "a.csv", 20)
    (tmp_path / "empty.svm").write_text("")
    (tmp_path / "binary.svm").write_bytes(bytes(range(256)) * 9)
    (tmp_path / "what.is").write_text("1 1:1\n")
    before = sorted(tmp_path.iterdir())
    for arguments, said in (
        ([data, "--nonsense", "1"], "no parameter 'nonsense'"),
        ([data, "-C"], "-C has no value"),
        ([data, "--algoritm", "arow"], "there is no option --algoritm; did you mean --algorithm?"),
        ([data, "-C", "-1"], "C=-1; wanted a number above 0"),
        ([data, "--algorithm", "pa9"], "algorithm 'pa9' is not known"),
        ([data, "--task", "numbers", "--algorithm", "arow"], "arow learns classes or sets"),
        ([data, "--task", "things"], "task='things'"),
        ([data, "--save", tmp_path / "no" / "m.onm"], "cannot be saved"),
        ([data, "--checkpoint-every", "5"], "checkpoints need a file"),
        ([data, "--resume"], "give --save"),
        ([data, "--on-error", "shrug"], "on_error='shrug'"),
        ([data, "--task", "queries"], "the data have no queries"),
        ([tmp_path / "none.svm"], "there is no file"),
        ([tmp_path / "none"], "there is no file"),
        (["a9b"], "there is no file 'a9b', and no set of that name"),
        ([tmp_path / "what.is"], "is not known by its ending"),
        ([tmp_path / "what.is"], "give format= (--format) one of"),
        ([tmp_path / "empty.svm"], "no example in it"),
        ([tmp_path / "binary.svm"], "binary.svm, line 1"),
        ([table, "--target", "price"], "there is no column 'price'"),
        ([data, "--passes", "0"], "--passes"),
    ):
        done = within(capsys, "learn", *arguments)
        assert done.returncode == 2 and done.stdout == "", (arguments, done.stdout, done.stderr)
        assert said in done.stderr and done.stderr.count("\n") == 1, (arguments, done.stderr)
    done = run("learn", "-", "--format", "svmlight", "--passes", "2", input=data.read_text())
    assert done.returncode == 2 and "can be read only once" in done.stderr
    assert sorted(tmp_path.iterdir()) == before


@pytest.mark.parametrize("more", [(), ("--cluster", "local:1")])
def test_what_comes_after_learning_is_refused_before_it(tmp_path, capsys, monkeypatch, more):
    """A page that cannot be written, a test set that is not there: without --save the model would be lost."""
    monkeypatch.chdir(tmp_path)
    data = write_svmlight(tmp_path / "a.svm", 20)
    (tmp_path / "folder").mkdir()
    (tmp_path / "empty.svm").write_text("")
    before = sorted(tmp_path.rglob("*"))
    for arguments, said in (
        (["--report", "folder"], "the report folder is a folder; wanted the path of a file"),
        (["--report", "a.svm/r.html"], "the report a.svm/r.html cannot be written (Not a directory)"),
        (["--report", "a.svm/b/r.html"], "the report a.svm/b/r.html cannot be written (Not a directory)"),
        (["--test", "none.svm"], "there is no file 'none.svm'"),
        (["--test", "empty.svm"], "empty.svm: no example in it"),
    ):
        done = within(capsys, "learn", data, *more, *arguments)
        assert done.returncode == 2 and done.stdout == "", (arguments, done.stdout, done.stderr)
        assert said in done.stderr and done.stderr.count("\n") == 1, (arguments, done.stderr)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    done = within(capsys, "learn", data, *more, "--report", "r.html")
    assert done.returncode == 2 and done.stdout == "" and "this needs matplotlib" in done.stderr
    assert sorted(tmp_path.rglob("*")) == before


def test_a_report_goes_to_a_new_folder_and_to_a_device(tmp_path, capsys):
    data = write_svmlight(tmp_path / "a.svm", 20)
    for page in (tmp_path / "new" / "folder" / "r.html", "/dev/null"):
        done = within(capsys, "learn", data, "--report", page, "--test", data)
        assert done.returncode == 0 and "test" in done.stdout, done.stderr
    assert (tmp_path / "new" / "folder" / "r.html").is_file()


def test_numbers_that_are_not_learned_are_said_to_be(tmp_path, capsys):
    """Prices in dollars, and steps of about one: it says so, and what helps."""
    data, kept = tmp_path / "a.csv", tmp_path / "m.onm"
    draw = np.random.default_rng(0).normal(size=(1500, 2))
    prices = 2e5 + draw @ [3e4, -1e4]
    rows = "".join(f"{a},{b},{y}\n" for (a, b), y in zip(draw, prices, strict=True))
    data.write_text("a,b,price\n" + rows)
    done = within(capsys, "learn", data)
    idle = np.abs(prices - np.r_[0.0, np.cumsum(prices)[:-1] / np.arange(1, 1500)]).mean()
    assert f"always answering the mean so far has mae {idle:.4f}" in done.stderr
    assert "--rate 2e+05" in done.stderr and done.stderr.count("\n") == 1
    done = within(capsys, "learn", data, "--rate", "2e5", "--save", kept, "--json")
    assert done.stderr == "" and json.loads(done.stdout)["mae"] < 0.6 * idle
    done = within(capsys, "learn", data, "--start", kept, "--test", data, "--json")
    assert [json.loads(line)["event"] for line in done.stdout.splitlines()] == ["learned", "tested"]


def test_many_whole_numbers_are_said_to_be_taken_for_classes(tmp_path, capsys):
    data = tmp_path / "a.csv"
    data.write_text("size,rings\n" + "".join(f"{k % 24},{k % 24}\n" for k in range(480)))
    done = within(capsys, "learn", data, "--bits", "4")
    assert done.stderr == (
        "onmargin: warning: 24 different numbers were taken for classes; if they measure something, give "
        "--task numbers\n"
    )
    assert within(capsys, "learn", data, "--bits", "4", "--task", "numbers").stderr == ""


def test_a_model_of_python_says_the_task_and_tests_are_read_by_their_ending(tmp_path, capsys):
    data, same, kept = tmp_path / "a.csv", tmp_path / "b.jsonl", tmp_path / "m.onm"
    data.write_text("size,label\n" + "".join(f"{k % 5},{k % 5}\n" for k in range(100)))
    same.write_text("".join(f'{{"size": {k % 5}, "label": {k % 5}}}\n' for k in range(100)))
    sizes = np.arange(100.0)[:, None] % 5
    model = make_pipeline(om.features.Table(), om.FTRLRegressor())
    om.save(model.fit(pd.DataFrame(sizes, columns=["size"]), sizes[:, 0]), kept)
    done = within(capsys, "learn", data, "--start", kept, "--test", same, "--json")
    learned, tested = map(json.loads, done.stdout.splitlines())
    assert learned["task"] == "numbers" and 0 < learned["mae"] < 0.5 and tested["mae"] < 0.5
    done = within(capsys, "learn", "ionosphere", "--test", "ionosphere")
    assert done.returncode == 0 and "test ionosphere: 351 rows, error " in done.stdout, done.stderr


def test_points_bandits_and_warnings_of_one_line(tmp_path, capsys):
    data, kept = write_svmlight(tmp_path / "a.svm", 300), tmp_path / "m.onm"
    done = within(capsys, "learn", data, "--task", "points", "--save", kept, "--test", data)
    assert done.returncode == 0 and "points, pa1 (PassiveAggressiveUniclass)" in done.stdout
    assert "300 rows, outside 0." in done.stdout or "300 rows, outside 1." in done.stdout
    away = [float(line) for line in within(capsys, "predict", kept, data, "--scores").stdout.split()]
    X, _ = om.sources.svmlight.read(data)
    assert away == om.load(kept).score_samples(X).tolist()
    done = within(capsys, "learn", data, "--algorithm", "banditron", "--save", kept, "--random-state", "0")
    assert done.returncode == 0 and om.load(kept).classes_.tolist() == [-1, 1]
    done = run("learn", data, "--algorithm", "bbq")
    assert done.stderr == "onmargin: warning: 300 rows have a norm above 1 and were scaled to 1\n"


def test_a_file_sorted_by_its_labels_is_told(tmp_path, capsys):
    """Not where it is shuffled, and not where labels come in runs several times."""
    data = write_svmlight(tmp_path / "a.svm", 1200)
    lines = data.read_text().splitlines(keepends=True)
    assert "sorted" not in within(capsys, "learn", data).stderr
    data.write_text("".join(sorted(lines, key=lambda line: line.startswith("-"))))
    said = within(capsys, "learn", data).stderr
    assert said.startswith("onmargin: warning: the rows are sorted by their labels, in 2 runs")
    assert said.count("\n") == 1
    data.write_text("".join(sorted(lines[:600], key=lambda line: line.startswith("-")) + lines[600:]))
    assert "sorted" not in within(capsys, "learn", data).stderr


def test_one_index_far_out_is_refused_by_its_row(tmp_path, capsys):
    data = write_svmlight(tmp_path / "a.svm", 60)
    data.write_text(data.read_text() + "1 2:1 2147483000:1\n")
    done = within(capsys, "learn", data)
    assert done.returncode == 2 and done.stderr.count("\n") == 1
    assert "row 61 has index 2147483000: a model of so many columns takes 15 GiB" in done.stderr
    skipped = within(capsys, "learn", data, "--columns", 8, "--on-error", "skip", "--json")
    assert skipped.returncode == 0 and json.loads(skipped.stdout)["skipped"] == 1


def test_a_file_with_other_content_of_the_same_size_is_not_gone_on_with(tmp_path, capsys):
    data, model = write_svmlight(tmp_path / "a.svm", 300), tmp_path / "m.onm"
    words = ("learn", data, "--save", model, "--resume")
    assert within(capsys, *words).returncode == 0
    assert within(capsys, *words, "--passes", 2).returncode == 0
    data.write_text(data.read_text().replace(":1 ", ":2 "))
    done = within(capsys, *words, "--passes", 3)
    assert done.returncode == 2 and "does not begin and end as it did when learning began" in done.stderr
