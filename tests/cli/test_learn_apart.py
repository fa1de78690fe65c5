"""onmargin learn --cluster in real processes: reports, one part as without, a killed scheduler, resume."""

import gzip
import json
import os
import pickle
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
import psutil
import pytest
import scipy.sparse as sp
from distributed import Client

import onmargin as om
from onmargin.cluster.training import ToldPart
from onmargin.errors import BadFile, BadInput
from onmargin.protocols.requested.reading import Reading
from onmargin.protocols.saving.files import notes_of
from onmargin.sources.blocks import height
from tests.cluster.processes import Processes

from .processes import BIN, PATIENCE, run, within, write_csv, write_svmlight


def test_local_workers_learn_and_report(tmp_path):
    """Two processes, features that are raw, a model that `predict` reads, JSON for programs."""
    write_csv(tmp_path / "a.csv")
    done = run(
        "learn", "--cluster", "local:2", "a.csv", "--parts", 3, "--passes", 2, "--save", "m.onm",
        "--test", "a.csv", "--report", "r.html", "--algorithm", "pa1", "--json", cwd=tmp_path,
    )  # fmt: skip
    assert done.returncode == 0 and done.stderr == ""
    learned, cluster, tested = map(json.loads, done.stdout.splitlines())
    assert (learned["rows"], learned["passes"], learned["whole"]) == (6000, 2, True)
    assert cluster["parts"] == 3 and [epoch["rounds"] for epoch in cluster["epochs"]] == [3000, 3000]
    assert learned["mistakes"] == cluster["epochs"][1]["mistakes"] < cluster["epochs"][0]["mistakes"]
    assert sum(one["rounds"] for one in cluster["workers"].values()) == 3000
    assert cluster["sample"]["rows"] == 3000 and len(cluster["sample"]["errors"]) == 2
    model = om.load(tmp_path / "m.onm")
    X = om.sources.csv.stream(tmp_path / "a.csv", features=None).whole()
    wrong = (model.predict(X.rows.to_pandas()) != X.targets).mean()
    assert tested["error"] == pytest.approx(wrong, abs=1e-12)
    answered = run("predict", "m.onm", "a.csv", cwd=tmp_path)
    assert answered.returncode == 0 and len(answered.stdout.splitlines()) == 3000
    page = (tmp_path / "r.html").read_text()
    assert "a.csv" in page and "<h2>Epochs</h2>" in page and "Learning curve" not in page
    assert 'aria-label="errors by epoch"' in page and "one learner on a sample of 3,000 examples" in page


def test_one_part_is_the_run_without_a_cluster_and_a_lost_scheduler_is_gone_on_from(tmp_path):
    data = write_svmlight(tmp_path / "a.svm", rows=40_000)
    bad = tmp_path / "bad.svm"
    bad.write_text(data.read_text() + "1 1:x\n")
    command = ("learn", data, "--algorithm", "pa1", "--parts", 5, "--passes")
    with Processes(tmp_path) as found:
        plain = ("learn", data, "--algorithm", "pa1", "--fit-intercept", "false", "--save")
        assert run(*plain, tmp_path / "1.onm", "--cluster", found.address).returncode == 0
        assert run(*plain, tmp_path / "0.onm").returncode == 0
        mixed, alone = om.load(tmp_path / "1.onm"), om.load(tmp_path / "0.onm")
        assert mixed.coef_.tobytes() == alone.coef_.tobytes()
        mixed = ("--parts", 2, "--mix-every", 1, "--cluster", found.address)
        assert run(*plain, tmp_path / "2.onm", *mixed).returncode == 0
        learner = om.PassiveAggressiveClassifier(fit_intercept=False, average=False)
        with Client(found.address) as client:
            expected, once = (
                om.cluster.fit(
                    learner, str(data), client, 1, parts=2, mix_every=every, shuffle=False, columns=8
                )
                for every in (1, None)
            )
        assert om.load(tmp_path / "2.onm").coef_.tobytes() == expected.coef_.tobytes()
        assert expected.coef_.tobytes() != once.coef_.tobytes()
        refused = run("learn", bad, "--parts", 5, "--cluster", found.address)
        assert refused.returncode == 2 and refused.stderr.count("\n") == 1
        assert "bad.svm, line 40001, column 3: '1:x'" in refused.stderr
        skips = run("learn", bad, "--parts", 5, "--cluster", found.address, "--on-error", "skip", "--json")
        assert skips.returncode == 0 and json.loads(skips.stdout.splitlines()[0])["rows"] == 40_000
        (tmp_path / "cut").mkdir()
        write_cut(tmp_path / "cut", "parquet", 0)
        skips = run("learn", tmp_path / "cut", "--cluster", found.address, "--on-error", "skip")
        assert skips.returncode == 0 and "40 rows, 1 pass" in skips.stdout
        assert "skipped partition 0 (" in skips.stdout and "0.parquet' as Parquet" in skips.stdout
        refused = run("learn", tmp_path / "cut", "--on-error", "skip")  # (one machine passes over no file)
        assert refused.returncode == 2 and "0.parquet' as Parquet" in refused.stderr
        kept = tmp_path / "kept.onm"
        running = subprocess.Popen(
            [str(BIN), *map(str, command), "1000000", "--cluster", found.address, "--save", str(kept)],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        end = time.monotonic() + PATIENCE
        while not kept.exists() or notes_of(kept)["finished"] < 2:
            assert time.monotonic() < end and running.poll() is None
            time.sleep(0.02)
        found.scheduler.send_signal(signal.SIGKILL)
        _, said = running.communicate(timeout=PATIENCE)
        assert running.returncode == 2 and said.count("\n") == 1
        assert "the connection to the scheduler was lost" in said and "--resume goes on" in said
    passes = notes_of(kept)["finished"] + 3
    (tmp_path / "later").mkdir()
    with Processes(tmp_path / "later") as found:
        again = run(*command, passes, "--cluster", found.address, "--save", kept, "--resume")
        assert again.returncode == 0 and f"{passes} passes" in again.stdout
        whole = tmp_path / "whole.onm"
        assert run(*command, passes, "--cluster", found.address, "--save", whole).returncode == 0
        assert om.load(kept).coef_.tobytes() == om.load(whole).coef_.tobytes()
        other = run(
            *command,
            passes + 1,
            "--cluster",
            found.address,
            "--save",
            kept,
            "--resume",
            "--mixing",
            "updates",
        )
        assert other.returncode == 2 and "was begun with other mixing ('uniform')" in other.stderr


@pytest.mark.parametrize(
    ("number", "to_all"), [(signal.SIGINT, True), pytest.param(signal.SIGTERM, False, marks=pytest.mark.soak)]
)
def test_ctrl_c_is_one_line_keeps_the_last_epoch_and_leaves_no_process(tmp_path, number, to_all):
    """As a terminal sends it, to all processes. The file is gone on with, in sequence unless told."""
    data, kept = write_svmlight(tmp_path / "a.svm", rows=2000), tmp_path / "kept.onm"
    command = ("learn", data, "--algorithm", "pa1", "--save", kept, "--passes")
    running = subprocess.Popen(
        [str(BIN), *map(str, command), "1000000", "--parts", "3", "--cluster", "local:2"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True,
    )  # fmt: skip
    end = time.monotonic() + PATIENCE
    while not kept.exists() or notes_of(kept)["finished"] < 2:
        assert time.monotonic() < end and running.poll() is None
        time.sleep(0.02)
    below = psutil.Process(running.pid).children(recursive=True)
    assert len(below) >= 2
    os.killpg(running.pid, number) if to_all else os.kill(running.pid, number)
    out, said = running.communicate(timeout=PATIENCE)
    assert running.returncode == 128 + number and out == ""
    finished = notes_of(kept)["finished"]
    assert said == f"onmargin: stopped after {finished} epochs, saved to {kept}; --resume goes on\n"
    assert not psutil.wait_procs(below, timeout=60)[1]
    again = run(*command, finished + 1, "--resume")
    assert again.returncode == 0
    assert again.stderr == (
        f"onmargin: {kept} was learned on a cluster; it goes on in sequence (there: --cluster ADDRESS)\n"
    )


REFUSED = [
    (["--cluster", "local:0"], "the cluster 'local:0'; wanted local:N with N workers, at least 1"),
    (
        ["--cluster", "local:1000000"],
        "the cluster 'local:1000000'; wanted local:N with N workers, at least 1 and",
    ),
    (["--cluster", "local:two"], "the cluster 'local:two'; wanted local:N"),
    (["--cluster", ""], "the cluster has no address"),
    (["--cluster", "smoke://there:1"], "the cluster 'smoke://there:1'"),
    (["--cluster", "local:2", "--table"], "--table: its lines are of one stream"),
    (["--cluster", "local:2", "--certify"], "--certify: theorems are of one stream"),
    (["--parts", "3"], "--parts is for a cluster; give --cluster ADDRESS or --cluster local:2"),
    (["--mixing", "updates"], "--mixing is for a cluster"),
    (["--mix-every", "2"], "--mix-every is for a cluster"),
]


@pytest.mark.parametrize(("options", "told"), REFUSED)
def test_what_cannot_be_is_one_line(tmp_path, capsys, options, told):
    data = write_svmlight(tmp_path / "a.svm", rows=10)
    done = within(capsys, "learn", data, *options)
    assert done.returncode == 2 and done.stdout == ""
    assert done.stderr.startswith(f"onmargin: {told}") and done.stderr.count("\n") == 1


def test_an_index_that_nobody_means_makes_no_model_of_many_gigabytes(tmp_path):
    """As without a cluster: it is told before any such array is made, by who reads that part."""
    path = tmp_path / "far.svm"
    path.write_text("1 1:1\n-1 2000000000:1\n")
    (part,) = om.sources.split(path)
    with pytest.raises(BadInput, match=r"index 2000000000, and .* 14 GiB \(--columns 2000000000 says"):
        next(ToldPart(part, "classes", 1).blocks())
    assert next(ToldPart(part, "classes").blocks()).rows.shape == (2, 2_000_000_000)


def write_cut(folder, kind, bad, end=0.5):
    """Three files of 20 rows, one of which ends in the middle."""
    for number in range(3):
        rows = [(f"{at / 7 + number}", f"{at % 5}", "ham" if at % 2 else "spam") for at in range(20)]
        path = folder / f"{number}.{kind}"
        if kind == "parquet":
            frame = pd.DataFrame(rows, columns=["a", "b", "label"])
            frame.astype({"a": float, "b": float}).to_parquet(path)
        else:
            numbers = [f"1:{a} 2:{b}" for a, b, _ in rows]
            lines = {
                "csv.gz": ["a,b,label", *map(",".join, rows)],
                "svm.gz": [
                    f"{label == 'ham':d} {both}" for both, (*_, label) in zip(numbers, rows, strict=True)
                ],
                "sets.gz": [f"{number},{at % 4} {both}" for at, both in enumerate(numbers)],
            }[kind]
            path.write_bytes(gzip.compress("".join(f"{line}\n" for line in lines).encode()))
        if number == bad:
            path.write_bytes(path.read_bytes()[: int(path.stat().st_size * end)])
    return [str(folder / f"{number}.{kind}") for number in range(3)]


@pytest.mark.parametrize("bad", [0, 1])
@pytest.mark.parametrize("kind", ["parquet", "csv.gz", "svm.gz", "sets.gz"])
def test_a_small_file_that_is_cut_off_is_a_part_like_any_other(tmp_path, kind, bad):
    """Though the first block goes over all of the files: others leave it out, one machine stops there."""
    files = write_cut(tmp_path, kind, bad)
    more = {"format": "svmlight"} if kind == "sets.gz" else {}
    for given in ({"on_error": "skip"}, {"apart": True}, {}):
        with pytest.raises(BadFile, match=f"{bad}.{kind}"):
            list(Reading(files, **more, **given).peeked.blocks())
    reading = Reading(files, on_error="skip", apart=True, **more)
    good = [file for file in files if file != files[bad]]
    whole = Reading(good, **more)
    assert (reading.task, reading.labels) == (whole.task, whole.labels)
    if reading.features is not None:
        reading.features.partial_fit(whole.source.whole().rows)
    parts = reading.split(reading.features, parts=3)
    assert [part.file for part in parts] == files
    for part in parts:
        if part.file == files[bad]:
            with pytest.raises(BadFile, match=f"{bad}.{kind}"):
                list(part.blocks())
        else:
            assert sum(height(block.rows) for block in part.blocks()) == 20
    if bad == 0:  # (nothing can be read: what is wrong with the first)
        for file in good:
            Path(file).write_bytes(Path(file).read_bytes()[:20])
        with pytest.raises(BadFile, match=f"0.{kind}"):
            Reading(files, on_error="skip", apart=True, **more)


@pytest.mark.parametrize("place", [0, 1, 3])
@pytest.mark.parametrize("kind", ["csv.gz", "parquet"])
def test_what_is_left_out_changes_nothing(tmp_path, kind, place):
    """The first block, from which features learn, is that of the files that are good."""
    files = write_cut(tmp_path, kind, None)
    bad = tmp_path / f"bad.{kind}"
    bad.write_bytes(Path(files[0]).read_bytes()[:50])
    whole = Reading(files).peeked.first
    files.insert(place, str(bad))
    found = Reading(files, on_error="skip", apart=True).peeked.first
    assert found.rows.equals(whole.rows) and found.targets.tolist() == whole.targets.tolist()


def test_rubbish_before_sets_of_labels_is_no_label(tmp_path):
    """No line of it begins with a number: it does not even tell that rows have one label."""
    rubbish, good = tmp_path / "0.svm", tmp_path / "1.svm"
    rubbish.write_bytes(b"\x00\xff,\x01 \n,, a,b\nfoo bar\n")
    good.write_text("1,2 1:1\n2 1:3\n\n3 2:1\n")
    for more in ({}, {"apart": True}):
        reading = Reading([str(rubbish), str(good)], on_error="skip", **more)
        assert (reading.task, reading.labels) == ("sets", [1.0, 2.0, 3.0])
        assert height(reading.peeked.first.rows) == 3


def test_what_a_file_that_is_cut_off_told_is_forgotten(tmp_path):
    """Its first megabytes could be read, and have an index 0; the file that is left begins with 1."""
    cut, good = tmp_path / "0.svm.gz", tmp_path / "1.svm"
    row = " ".join(f"{place}:0.{place}" for place in range(600))
    cut.write_bytes(gzip.compress(f"1 {row}\n-1 {row}\n".encode() * 600)[:-20])
    good.write_text("1 1:1 2:2\n-1 1:2\n")
    reading = Reading([str(cut), str(good)], on_error="skip", apart=True)
    assert reading.options == {"zero_based": False} and reading.peeked.first.rows.shape == (2, 2)


def test_a_wrong_option_is_told_of_a_file_that_can_be_read(tmp_path):
    files = write_cut(tmp_path, "csv.gz", 0)
    with pytest.raises(BadInput, match="there is no column 'cost'"):
        Reading(files, on_error="skip", apart=True, options={"target": "cost"})


def test_parquet_files_of_other_types(tmp_path):
    """Whole numbers in one file and fractions in another are numbers; texts are refused in one line."""
    columns = {"a": [1, 2, 3, 4], "label": ["x", "y", "x", "y"]}
    frames = [pd.DataFrame(columns), pd.DataFrame({**columns, "a": [0.5, 1.5, 2.5, 3.5]})]
    frames.append(pd.DataFrame({**columns, "a": list("pqrs")}))
    files = [str(tmp_path / f"{number}.parquet") for number in range(3)]
    for frame, file in zip(frames, files, strict=True):
        frame.to_parquet(file)
    both = Reading(files[:2]).peeked.first.rows
    assert both["a"].to_pylist() == [1.0, 2.0, 3.0, 4.0, 0.5, 1.5, 2.5, 3.5]
    with pytest.raises(
        BadInput, match=r"several types in the files: .*'a': \['double', 'int64', .*string"
    ) as no:
        Reading(files)
    assert "\n" not in str(no.value)
    assert height(Reading(files, on_error="skip", apart=True).peeked.first.rows) == 4


@pytest.mark.parametrize("kind", ["parquet", "csv"])
@pytest.mark.parametrize("bad", [0, 1])
def test_a_file_of_other_columns_is_a_part_like_any_other(tmp_path, kind, bad):
    for number in range(3):
        names = ["A", "b", "other"] if number == bad else ["a", "b", "label"]
        frame = pd.DataFrame([(at * 0.5, 1.0, at % 2) for at in range(20)], columns=names)
        path = tmp_path / f"{number}.{kind}"
        frame.to_parquet(path) if kind == "parquet" else frame.to_csv(path, index=False)
    reading = Reading([str(tmp_path)], on_error="skip", apart=True, options={"target": "label"})
    reading.features.partial_fit(reading.peeked.first.rows)
    for number, part in enumerate(reading.split(reading.features)):
        if number == bad:
            with pytest.raises((BadFile, BadInput), match=f"{bad}.{kind}"):
                list(part.blocks())
        else:
            assert sum(height(block.rows) for block in part.blocks()) == 20


def needs(name):
    if not om.datasets.names()[name.removesuffix(":test")].is_here:
        pytest.skip(f"{name} is not in the folder that ONMARGIN_DATA names")
    return name


@pytest.mark.parametrize("name", ["a1a", "a9a:test", "sms_spam", "elec2", "sonar", "yeast"])
def test_a_set_by_its_name_is_split_by_rows(name):
    """Matrices, texts, columns, arrays, sets of labels: the parts together are the set."""
    reading = Reading([needs(name)])
    if reading.features is not None:
        reading.features.partial_fit(reading.peeked.first.rows)
    whole = reading.source.whole()
    parts = reading.split(reading.features, parts=3)
    assert [str(part) for part in parts[:1]] == [f"{name}, rows 0 to {height(whole.rows) // 3 - 1}"]
    blocks = [block for part in pickle.loads(pickle.dumps(parts)) for block in part.blocks(rows=40)]
    assert max(height(block.rows) for block in blocks) == 40
    expected = whole.rows if reading.features is None else reading.features.transform(whole.rows)
    found = sp.vstack([sp.csr_matrix(block.rows) for block in blocks])
    assert (found != sp.csr_matrix(expected)).nnz == 0
    assert np.array_equal(np.concatenate([block.targets for block in blocks]), whole.targets)


def test_the_shell_learns_a_set_on_a_cluster():
    done = run("learn", needs("a1a"), "--cluster", "local:1", "--parts", 2, "--on-error", "skip", "--json")
    learned, cluster = map(json.loads, done.stdout.splitlines())
    assert done.returncode == 0 and (learned["rows"], cluster["parts"]) == (1605, 2)


@pytest.mark.parametrize("name", ["a.svm", "a1a"])
def test_other_parts_are_told_by_their_number(tmp_path, name):
    data = write_svmlight(tmp_path / name, rows=300) if name == "a.svm" else needs(name)
    more = ("--cluster", "local:1", "--save", tmp_path / "m.onm")
    assert run("learn", data, *more, "--parts", 2).returncode == 0
    done = run("learn", data, *more, "--parts", 3, "--passes", 2, "--resume")
    assert done.returncode == 2 and done.stderr.count("\n") == 1
    assert "m.onm was begun with other partitions (2) than now (3); resume with the same" in done.stderr


def test_a_bad_line_with_a_comma_makes_no_label_sets(tmp_path):
    path = tmp_path / "a.svm"
    path.write_text("Dear Sir, 1:2\nfoo,bar 1:1\n" + "1 1:2\n-1 2:1\n" * 10)
    assert Reading([str(path)], on_error="skip").task == "classes"
    path.write_text("1,3 1:2\n2 1:1\n")
    assert Reading([str(path)]).task == "sets"


def test_nobody_there_and_no_dask(tmp_path, capsys, monkeypatch):
    from onmargin.cluster import connecting

    data = write_svmlight(tmp_path / "a.svm", rows=10)
    monkeypatch.setattr(connecting, "WAITS", 0.5)
    done = within(capsys, "learn", data, "--cluster", "127.0.0.1:1")
    assert done.returncode == 2 and done.stderr.count("\n") == 1
    assert "cannot connect to '127.0.0.1:1'" in done.stderr and "is `dask scheduler` running" in done.stderr
    code = (
        "import sys; sys.modules['distributed'] = None\nfrom onmargin.cli.app import main\nsys.exit(main())"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, "learn", str(data), "--cluster", "local:2"],
        capture_output=True, text=True, env=dict(os.environ),
    )  # fmt: skip
    assert done.returncode == 2
    assert done.stderr == (
        "onmargin: this needs dask and distributed, which is not installed; pip install onmargin[dask]\n"
    )


def test_parts_go_out_without_the_names_of_features(tmp_path):
    """A part is small, and its rows are those of the features with all their names."""
    write_csv(tmp_path / "a.csv")
    lines = "".join(f"{'ham spam'.split()[at % 2]}\tword{at} and {at * 7}\n" for at in range(3000))
    (tmp_path / "a.txt").write_text(lines)
    for name in ("a.csv", "a.txt"):
        reading = Reading([str(tmp_path / name)])
        whole = reading.source.whole().rows
        reading.features.partial_fit(whole)
        parts = reading.split(reading.features, parts=3)
        assert len(parts) == 3 and max(len(pickle.dumps(part)) for part in parts) < 20_000
        found = [block.rows for part in parts for block in part.blocks()]
        expected = reading.features.transform(whole)
        assert (sp.vstack(found) != expected).nnz == 0 and reading.features.names_
