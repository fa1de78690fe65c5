"""What all commands share: settings, completion, colours, quiet, JSON, light help."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import onmargin as om
from onmargin.cli.app import main

from .sessions import BIN, PATIENCE, Terminal, lines, refused, run

ESCAPE = re.compile(r"\x1b\[[0-9;]*m")


def test_help_imports_nothing_heavy() -> None:
    code = (
        "import sys; from onmargin.cli.app import main; main(['--help']); main(['learn', '--help']);"
        "print([name for name in ('numpy', 'numba', 'scipy', 'sklearn', 'pyarrow') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=PATIENCE)
    assert done.stdout.splitlines()[-1] == "[]", done.stdout[-300:] + done.stderr


def test_completion_knows_commands_and_options() -> None:
    def completed(words: str) -> list[str]:
        known = {
            "_ONMARGIN_COMPLETE": "complete_bash",
            "COMP_WORDS": words,
            "COMP_CWORD": str(words.count(" ")),
        }
        done = subprocess.run([str(BIN)], env={**os.environ, **known}, capture_output=True, text=True)
        return done.stdout.split()

    assert {"show", "sweep"} <= set(completed("onmargin s")) and "learn" not in completed("onmargin s")
    assert completed("onmargin data g") == ["get"]
    assert "--figure" in completed("onmargin sweep --f") and "--format" in completed("onmargin sweep --f")
    shown = run("--show-completion", "bash")
    assert shown.returncode == 0 and "complete" in shown.stdout and not shown.stderr


def test_settings_stand_for_options_and_what_is_typed_goes_before(
    tmp_path: Path, monkeypatch, capsys
) -> None:
    (tmp_path / "a.svm").write_text("1 1:1 2:0.5\n-1 1:-1 2:0.25\n" * 20)
    (tmp_path / "onmargin.toml").write_text(
        '[sweep]\nalgorithm = "pa2"\nC = "0.1..10:3"\nmargin = 0.5\n\n'
        "[algorithms]\njson = true\n[data.list]\njson = true\n"
    )
    *rows, best = lines("sweep", "a.svm", cwd=tmp_path)
    assert [row["C"] for row in rows] == [0.1, 1.0, 10.0] and best["algorithm"] == "pa2"
    monkeypatch.chdir(tmp_path)
    assert main(["sweep", "a.svm", "-C", "1,2", "--algorithm", "pa1", "--json"]) == 0
    *rows, best = (json.loads(line) for line in capsys.readouterr().out.splitlines())
    assert [row["C"] for row in rows] == [1, 2] and best["algorithm"] == "pa1"
    assert main(["algorithms", "kernel_pa1.binary_max"]) == 0 and main(["data", "list", "a9a"]) == 0
    told = [json.loads(line)["name"] for line in capsys.readouterr().out.splitlines()]
    assert told == ["kernel_pa1.binary_max_loss", "a9a"]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("[fly]\nhigh = 1\n", "[fly] is no command"),
        ("algorithm = 'pa1'\n", "[algorithm] is no command"),
        ("[sweep\n", "onmargin.toml: "),
        ("[algorithms]\nfast = 1\n", "[algorithms] has no option 'fast'; wanted one of containing, json"),
        ("[data]\nname = 'a9a'\n", "[data.name] is no command; wanted one of list, get, path"),
    ],
)
def test_settings_that_are_wrong_are_one_line(
    tmp_path: Path, text: str, told: str, monkeypatch, capsys
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("onmargin.toml").write_text(text)
    assert main(["algorithms", "pa1.binary"]) == 2
    out, said = capsys.readouterr()
    assert not out and told in said and said.count("\n") == 1 and said.startswith("onmargin: ")


def test_algorithms_as_json_are_the_table(capsys) -> None:
    assert lines("algorithms") == om.algorithms()
    assert main(["algorithms", "pa1.", "--json"]) == 0
    some = [json.loads(line)["name"] for line in capsys.readouterr().out.splitlines()]
    assert some == [row["name"] for row in om.algorithms() if "pa1." in row["name"]]


def test_colours_only_in_a_terminal_and_not_with_no_color() -> None:
    with Terminal("algorithms", "pa1.") as terminal:
        code, coloured = terminal.ended()
    assert code == 0 and ESCAPE.search(coloured) and "\n" in coloured
    with Terminal("algorithms", "pa1.", NO_COLOR="1") as terminal:
        code, plain = terminal.ended()
    assert code == 0 and not re.search(r"\x1b\[[0-9;]*3[0-7]", plain) and "pa1.binary" in plain
    piped = run("algorithms", "pa1.")
    assert not ESCAPE.search(piped.stdout) and not piped.stderr
    for row in om.algorithms():  # a name is what one types: never cut
        assert "pa1." not in row["name"] or f" {row['name']} " in piped.stdout


def test_warm_shows_a_bar_in_a_terminal() -> None:
    with Terminal("warm", "--json") as terminal:
        code, shown = terminal.ended()
    assert code == 0
    told = re.findall(r"\{.*?\}", shown)
    assert json.loads(told[-1])["learners"] >= 5
    assert re.search(r"\d:\d\d:\d\d", shown)  # the bar's clock


def test_a_reader_that_has_enough_ends_it_quietly() -> None:
    command = f"{BIN} algorithms --json | head -n 1"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, timeout=PATIENCE)
    assert json.loads(done.stdout)["name"] and not done.stderr


def test_what_is_typed_wrong_names_the_way_out() -> None:
    assert "No such command 'lern'" in refused(run("lern"))
    assert "Missing" in refused(run("data"))
    assert "onmargin --help" in refused(run("warm", "--fast"))
