"""The pages about the command line say what it says and does."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
from pathlib import Path

import pytest
from docs import command_line, side_by_side

from onmargin.cli.app import main
from onmargin.sources.real import folder as folder_of_real_sets

from .sessions import BIN, run

HINT = "; run `make docs`"


def test_the_page_of_commands_is_their_help() -> None:
    assert command_line.PAGE.read_text() == command_line.page(), f"docs/command_line.md is old{HINT}"
    done = run("sweep", "--help", env={**os.environ, "COLUMNS": "80"})
    text = "\n".join(line.rstrip() for line in done.stdout.splitlines())
    assert f"## onmargin sweep\n\n```console\n{text}\n```\n" in command_line.page()


def test_the_shell_of_the_readme(tmp_path: Path, monkeypatch, capsys) -> None:
    real = folder_of_real_sets()
    if not (real / "a9a").is_dir():
        pytest.skip(f"{real / 'a9a'} is not there; set ONMARGIN_DATA to the folder of real sets")
    readme = (command_line.PAGE.parents[1] / "README.md").read_text()
    [(command, printed)] = re.findall(r"^\$ onmargin (learn .*)\n((?:[^$`].*\n)+)", readme, re.M)
    monkeypatch.setenv("ONMARGIN_DATA", str(real.resolve()))
    monkeypatch.chdir(tmp_path)
    assert main(shlex.split(command)) == 0
    assert capsys.readouterr().out == printed


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("wabbit")
    side_by_side.write_files(made)
    return made


def test_both_learn_the_same_files_and_the_page_says_how_well(folder: Path) -> None:
    if side_by_side.absent():
        pytest.skip(side_by_side.absent())
    table = side_by_side.PAGE.read_text().partition(side_by_side.BEGIN)[2].partition(side_by_side.END)[0]
    lines = table.splitlines()[2:]
    assert len(lines) == len(side_by_side.PAIRS)
    for pair, line in zip(side_by_side.PAIRS, lines, strict=True):
        their, our = side_by_side.theirs(pair, folder), side_by_side.ours(pair, folder)
        wanted = side_by_side.row(pair, their, our).replace("| `` |", "| |")
        *words, told_theirs, _, told_ours, _ = line.split("|")
        assert wanted.split("|")[1:4] == words[1:] and wanted.split("|")[-2] == line.split("|")[-2], HINT
        told = float(told_theirs.strip().rstrip("%")) / (100 if "%" in told_theirs else 1)
        assert abs(told - their) < 0.02, f"{line}: vw now has {their:.4f}{HINT}"
        assert our < 1.3 * their  # near, as the page says


def test_the_commands_of_the_page_run(folder: Path, monkeypatch, capsys) -> None:
    page = side_by_side.PAGE.read_text()
    [script] = re.findall(r"^```bash\n(.*?)^```$", page, re.M | re.S)
    monkeypatch.chdir(folder)
    for line in script.splitlines():
        words = shlex.split(line, comments=True)
        if words[0] == "onmargin":
            assert main(words[1:]) == 0, line
        else:  # a pipe
            path = f"{BIN.parent}{os.pathsep}{os.environ['PATH']}"
            done = subprocess.run(
                ["bash", "-c", line], env={**os.environ, "PATH": path}, capture_output=True, text=True
            )
            assert done.returncode == 0 and "5,574 rows, 1 pass" in done.stdout, done.stderr
    said, remarks = capsys.readouterr()
    assert not remarks and "average   since" in said and "saved sms.onm" in said and "best of 5: C=" in said
    answers = (folder / "answers.txt").read_text().split()
    truths = [line.split()[0] for line in (folder / "sms.vw").read_text().splitlines()]
    wrong = sum(float(a) != float(t) for a, t in zip(answers, truths, strict=True))
    assert wrong < 0.02 * len(truths)
    assert re.search(r"w\^(txt|free|claim|call|www|uk|service|150p)\b", said)  # names, by `show`
