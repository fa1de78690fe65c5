"""onmargin learn --cluster in real processes: reports, one part as without, a killed scheduler, resume."""

import json
import os
import signal
import subprocess
import sys
import time

import psutil
import pytest
import scipy.sparse as sp

import onmargin as om
from onmargin.cluster.training import ToldPart
from onmargin.errors import BadInput
from onmargin.protocols.saving.files import notes_of
from tests.cluster.processes import Processes

from .processes import BIN, run, within, write_csv, write_svmlight


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
    assert "a.csv" in (tmp_path / "r.html").read_text()


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
        refused = run("learn", bad, "--parts", 5, "--cluster", found.address)
        assert refused.returncode == 2 and refused.stderr.count("\n") == 1
        assert "bad.svm, line 40001, column 3: '1:x'" in refused.stderr
        skips = run("learn", bad, "--parts", 5, "--cluster", found.address, "--on-error", "skip", "--json")
        assert skips.returncode == 0 and json.loads(skips.stdout.splitlines()[0])["rows"] == 40_000
        kept = tmp_path / "kept.onm"
        running = subprocess.Popen(
            [str(BIN), *map(str, command), "1000000", "--cluster", found.address, "--save", str(kept)],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        end = time.monotonic() + 60
        while not kept.exists() or notes_of(kept)["finished"] < 2:
            assert time.monotonic() < end and running.poll() is None
            time.sleep(0.02)
        found.scheduler.send_signal(signal.SIGKILL)
        _, said = running.communicate(timeout=60)
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
    end = time.monotonic() + 60
    while not kept.exists() or notes_of(kept)["finished"] < 2:
        assert time.monotonic() < end and running.poll() is None
        time.sleep(0.02)
    below = psutil.Process(running.pid).children(recursive=True)
    assert len(below) >= 2
    os.killpg(running.pid, number) if to_all else os.kill(running.pid, number)
    out, said = running.communicate(timeout=60)
    assert running.returncode == 128 + number and out == ""
    finished = notes_of(kept)["finished"]
    assert said == f"onmargin: stopped after {finished} epochs, saved to {kept}; --resume goes on\n"
    assert not psutil.wait_procs(below, timeout=20)[1]
    again = run(*command, finished + 1, "--resume")
    assert again.returncode == 0
    assert again.stderr == (
        f"onmargin: {kept} was learned on a cluster; it goes on in sequence (there: --cluster ADDRESS)\n"
    )


REFUSED = [
    (["--cluster", "local:0"], "the cluster 'local:0'; wanted local:N with N workers, at least 1"),
    (["--cluster", "local:two"], "the cluster 'local:two'; wanted local:N"),
    (["--cluster", ""], "the cluster has no address"),
    (["--cluster", "smoke://there:1"], "the cluster 'smoke://there:1'"),
    (["--cluster", "local:2", "--table"], "--table: its lines are of one stream"),
    (["--cluster", "local:2", "--certify"], "--certify: theorems are of one stream"),
    (["--parts", "3"], "--parts is for a cluster; give --cluster ADDRESS or --cluster local:2"),
    (["--mixing", "updates"], "--mixing is for a cluster"),
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
    import pickle

    from onmargin.protocols.requested.reading import Reading

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
