"""The command line in real processes."""

import itertools
import json
import os
import pty
import subprocess
import sys
from pathlib import Path

from onmargin.demo import learners

BIN = Path(sys.executable).parent / "onmargin"


def run(*arguments, **options):
    return subprocess.run([str(BIN), *arguments], capture_output=True, text=True, **options)


def test_demo_prints_a_table_and_draws_a_figure(tmp_path):
    done = run("demo", "--figure", str(tmp_path / "deep" / "curves.png"))
    assert done.returncode == 0, done.stderr
    for word in (
        "Perceptron",
        "PA-I, averaged",
        "PA-II",
        "MIRA",
        "online error",
        "test error",
        "updates",
        "µs/example",
    ):
        assert word in done.stdout
    assert str(tmp_path / "deep" / "curves.png") in done.stdout
    assert (tmp_path / "deep" / "curves.png").read_bytes().startswith(b"\x89PNG")


def test_demo_as_json_tells_what_the_papers_say(tmp_path):
    done = run("demo", "--json", "--figure", str(tmp_path / "c.png"))
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    assert rows[-1] == {"figure": str(tmp_path / "c.png")}
    noisy = {row["learner"]: row for row in rows[:-1] if row["data"] == "noisy stream"}
    digits = {row["learner"]: row for row in rows[:-1] if row["data"] == "digits"}
    assert noisy["PA-I"]["online_error"] < noisy["PA"]["online_error"] - 0.05  # labels are noisy
    assert noisy["Perceptron, averaged"]["test_error"] < noisy["Perceptron"]["test_error"]
    assert digits["MIRA"]["online_error"] < digits["Perceptron"]["online_error"]
    assert all(row["test_error"] < 0.2 for row in [*noisy.values(), *digits.values()])


def test_demo_shows_a_live_line_in_a_terminal(tmp_path):
    leader, follower = pty.openpty()
    environment = {**os.environ, "TERM": "xterm-256color", "COLUMNS": "80"}
    with subprocess.Popen(
        [str(BIN), "demo", "--figure", str(tmp_path / "c.png")],
        stdout=subprocess.DEVNULL,
        stderr=follower,
        env=environment,
    ) as process:
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
    assert process.returncode == 0
    for name, stream in itertools.product(learners(1.0), ("digits", "noisy stream")):
        assert f"{name} on the {stream}".encode() in seen  # each, however soon it is done


def test_wrong_usage_is_one_line_and_exit_code_2(tmp_path):
    for arguments in (["nonsense"], [], ["demo", "--nonsense"]):
        done = run(*arguments)
        assert done.returncode == 2
        assert done.stderr.count("\n") == 1 and done.stderr.startswith("onmargin: ")
    done = run("demo", "--figure", "/proc/none/c.png")
    assert done.returncode == 2 and done.stderr.strip().startswith("onmargin: /proc/none")


def test_warm_compiles_and_clears():
    done = run("warm", "--json")
    assert done.returncode == 0
    assert json.loads(done.stdout)["learners"] >= 5
    assert json.loads(run("warm", "--json").stdout)["stale_files_removed"] == 0


def test_version():
    import onmargin

    assert run("--version").stdout.strip() == f"onmargin {onmargin.__version__}"
