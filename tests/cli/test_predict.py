"""onmargin predict and show in real processes."""

import json

import numpy as np

import onmargin as om

from .processes import run, within, write_csv, write_svmlight, write_text


def test_answers_of_every_kind_are_those_of_python(tmp_path, capsys):
    data, kept = write_svmlight(tmp_path / "a.svm", 40), tmp_path / "m.onm"
    X, y = om.sources.svmlight.read(data)
    model = om.FTRLClassifier(loss="logistic", max_iter=2, tol=None, random_state=0).fit(X, y)
    om.save(model, kept)
    assert within(capsys, "predict", kept, data).stdout.split() == [
        f"{label:.0f}" for label in model.predict(X)
    ]
    scores = within(capsys, "predict", kept, data, "--scores").stdout.split()
    assert np.array_equal(np.array(scores, float), model.decision_function(X))
    lines = within(capsys, "predict", kept, data, "--probabilities", "--json", "--out", tmp_path / "p.jsonl")
    assert lines.stdout == "" and lines.returncode == 0
    found = [json.loads(line) for line in (tmp_path / "p.jsonl").read_text().splitlines()]
    assert np.array_equal([one["probabilities"]["1"] for one in found], model.predict_proba(X)[:, 1])
    assert found[0]["label"] == int(model.predict(X)[0])


def test_several_classes_ranked_and_rows_of_another_width(tmp_path, capsys):
    kept, data = tmp_path / "m.onm", tmp_path / "b.svm"
    X = np.eye(3).repeat(5, axis=0)
    om.save(om.Perceptron(random_state=0).fit(X, np.array(["a", "b", "c"]).repeat(5)), kept)
    data.write_text("0 2:1\n0 1:1 9:4\n")  # wider than it has learned: what it never met adds nothing
    done = within(capsys, "predict", kept, data, "--ranking")
    assert [line.split("\t")[0].partition(":")[0] for line in done.stdout.splitlines()] == ["b", "a"]
    assert all(line.count("\t") == 2 for line in done.stdout.splitlines())
    data.write_text("0 1:1\n")
    assert within(capsys, "predict", kept, data).stdout == "a\n"
    assert json.loads(within(capsys, "predict", kept, data, "--scores", "--json").stdout)[
        "scores"
    ].keys() == {"a", "b", "c"}


def test_where_indices_begin_is_remembered(tmp_path, capsys):
    data, other, kept = tmp_path / "a.svm", tmp_path / "b.svm", tmp_path / "m.onm"
    lines = ["1 0:1\n", "-1 1:1\n"] * 20
    data.write_text("".join(lines))
    other.write_text("1 1:1\n")  # no index 0 here, but 1 is the second column all the same
    for given in ([data], ["-", "--format", "svmlight"]):
        if given[0] == "-":
            assert run("learn", *given, "--save", kept, input=data.read_text()).returncode == 0
        else:
            assert within(capsys, "learn", *given, "--save", kept).returncode == 0
        assert within(capsys, "predict", kept, other).stdout == "-1\n"


def test_tables_are_read_by_the_names_of_their_columns(tmp_path, capsys):
    data, kept = write_csv(tmp_path / "a.csv"), tmp_path / "m.onm"
    assert within(capsys, "learn", data, "--save", kept).returncode == 0
    labelled = within(capsys, "predict", kept, data)
    rows = [line.split(",") for line in data.read_text().splitlines()]
    turned = "\n".join(f"{c},{b},{a}" for a, b, c, _ in rows) + "\n"  # no label, other order
    again = run("predict", kept, "-", "--format", "csv", input=turned)
    assert labelled.stderr == again.stderr == "" and labelled.stdout == again.stdout
    truth = [row[3] for row in rows[1:]]
    assert np.mean(np.array(truth) == np.array(labelled.stdout.split())) > 0.85


def test_wrong_usage_of_predict_and_show_is_one_line(tmp_path, capsys):
    data, kept = write_svmlight(tmp_path / "a.svm", 20), tmp_path / "m.onm"
    assert within(capsys, "learn", data, "--save", kept).returncode == 0
    whole = kept.read_bytes()
    (tmp_path / "cut.onm").write_bytes(whole[: len(whole) // 2])
    flipped = bytearray(whole)
    flipped[-9] ^= 1
    (tmp_path / "flipped.onm").write_bytes(bytes(flipped))
    texts, table = write_text(tmp_path / "a.txt"), tmp_path / "a.csv"
    table.write_text("body,label\ncheap pills now,spam\nsee you w1,ham\n")
    of_texts = tmp_path / "texts.onm"
    assert within(capsys, "learn", texts, "--save", of_texts, "--bits", "12").returncode == 0
    assert within(capsys, "predict", of_texts, table, "--text", "body").stdout.split() == ["spam", "ham"]
    for arguments, said in (
        (["predict", of_texts, table], "say which is the text, as --text body"),
        (["predict", kept, data, "--scores", "--ranking"], "wanted one of them"),
        (["predict", kept, data, "--probabilities"], "has no probabilities"),
        (["predict", kept, tmp_path / "none.svm"], "there is no file"),
        (["predict", kept, data, "--out", tmp_path / "no" / "x"], "No such file"),
        (["predict", kept, data, "--delimiter", ";"], "svmlight has no option 'delimiter'"),
        (["predict", "-", "-"], "cannot both come from standard input"),
        (["predict", data, data], "not a whole safetensors file"),
        (["predict", tmp_path / "cut.onm", data], "not a whole safetensors file"),
        (["show", tmp_path / "flipped.onm"], "damaged"),
        (["show", tmp_path / "none.onm"], "does not exist"),
    ):
        done = within(capsys, *arguments)
        assert done.returncode == 2 and done.stdout == "", (arguments, done.stdout)
        assert said in done.stderr and done.stderr.count("\n") == 1, (arguments, done.stderr)


SHOWN = """\
PassiveAggressiveClassifier C=0.5
  after Table(text=Text(names=True))
  rounds           3,000
  features         262,146
  classes          no, yes
"""


def test_show_says_what_was_learned_and_on_what(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.argv", ["onmargin", "learn", "a.csv", "-C", "0.5", "--save", "m.onm"])
    write_csv(tmp_path / "a.csv")
    assert within(capsys, "learn", "a.csv", "-C", "0.5", "--save", "m.onm").returncode == 0
    done = within(capsys, "show", "m.onm", "--top", "2")
    assert done.returncode == 0 and done.stdout.startswith(SHOWN)
    for line in (
        "  data             a.csv", "  task             classes", "  algorithm        pa1",
        "  command          onmargin learn a.csv -C 0.5 --save m.onm", "  names            3",
    ):  # fmt: skip
        assert line in done.stdout.splitlines()
    assert "  online error     0." in done.stdout and "earlier" not in done.stdout
    assert "│ yes │ width " in done.stdout and "│ yes │ height " in done.stdout
    facts, *top = map(json.loads, within(capsys, "show", "m.onm", "--json").stdout.splitlines())
    model = om.load(tmp_path / "m.onm")
    assert facts["norm"] == float(np.linalg.norm(model[-1].coef_)) and facts["trained"]["rows"] == 3000
    assert {one["feature"] for one in top} == {"width", "height", "colour=red", "colour=green", "colour=blue"}


def test_show_of_models_of_python(tmp_path, capsys):
    kept, X = tmp_path / "m.onm", np.eye(3).repeat(5, axis=0)
    om.save(om.Perceptron(), kept)
    facts = json.loads(within(capsys, "show", kept, "--json").stdout)
    assert facts["model"] == "Perceptron" and facts["rounds"] == 0 and facts["trained"] is None
    om.save(om.Perceptron(kernel="rbf", random_state=0).fit(X, np.arange(3).repeat(5)), kept)
    facts = json.loads(within(capsys, "show", kept, "--json").stdout)
    assert (
        facts["support_vectors"] > 0
        and facts["classes"] == [0, 1, 2]
        and facts["parameters"] == {"kernel": "rbf"}
    )
