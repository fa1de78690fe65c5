"""onmargin label: a person answers, through a pipe and at a terminal."""

from __future__ import annotations

import io
import json
import re
import signal
import termios
from pathlib import Path

import numpy as np
import pytest

import onmargin as om
from onmargin.cli.app import main
from onmargin.protocols.pools.labelling import Labelling
from onmargin.protocols.pools.showing import raw_rows

from .sessions import Terminal, run, write_svmlight

CHEAP = ("cheap pills", "cheap offer today", "win a cheap prize", "offer: win pills")
NOON = ("lunch at noon", "see you at noon", "lunch with you today", "at noon then")
TEXTS = [
    f"{text} {number}" for number in range(10) for pair in zip(CHEAP, NOON, strict=True) for text in pair
]


@pytest.fixture
def texts(tmp_path: Path) -> Path:
    path = tmp_path / "mails.txt"
    path.write_text("".join(f"{text}\n" for text in TEXTS))
    return path


def truth(row: int) -> str:
    return "spam" if re.search("cheap|offer|win|pills", TEXTS[row]) else "ham"


def answered(out: str) -> list[tuple[int, str]]:
    found = (json.loads(line) for line in out.splitlines())
    return [(one["row"], one["label"]) for one in found if one.get("what") == "answered"]


def test_a_piped_session_asks_undoes_skips_and_is_gone_on_with(texts: Path, tmp_path: Path) -> None:
    state, model, table = (tmp_path / name for name in ("mails.pool", "mails.onm", "labels.tsv"))
    words = ("label", texts, "--save", state, "--classes", "ham,spam")
    first = run(*words, input="1\nspam\ns\nu\nu\n2\nnonsense\nq\n")
    assert first.returncode == 0 and not first.stderr, first.stderr
    said = first.stdout
    assert "[1] ham  [2] spam  [u]ndo [s]kip [q]uit" in said
    assert re.findall(r"^  (\w+)", said, re.M) == [
        "answered",
        "answered",
        "skipped",
        "undone",
        "undone",
        "answered",
    ]
    assert "  'nonsense' is no answer; wanted 1 ham, 2 spam; u undo, s skip, q quit" in said
    rows = [int(row) for row in re.findall(r"^--- row (\d+),", said, re.M)]
    assert all(TEXTS[row] in said for row in rows) and "guess: " in said
    assert f"2 answered, 0 skipped, {len(TEXTS) - 2} left; state: {state}" in said

    second = run(*words, "--json", "--model", model, "--labels", table, input="2\n1\nskip\n")
    assert second.returncode == 0, second.stderr
    end = json.loads(second.stdout.splitlines()[-1])
    assert (end["answered"], end["skipped"], end["ended"]) == (4, 1, "end of input")
    assert table.read_text().splitlines()[:2] == [f"{rows[0]}\tham", f"{rows[1]}\tspam"]
    assert [row for row, _ in answered(second.stdout)][0] == rows[-1]  # what was asked last is asked first
    loaded = om.load(model)
    assert set(loaded.predict(TEXTS)) <= {"ham", "spam"} and loaded[-1].t_ > 0


def test_a_stopped_session_asks_what_an_uninterrupted_one_asks(tmp_path: Path, texts: Path) -> None:
    rows = raw_rows(str(texts))

    def played(stops: int) -> list[int]:
        pool = om.Pool("auto", rows.X, classes=["ham", "spam"], random_state=0)
        asked, order = Labelling(pool, rows.X), []
        for turn in range(30):
            if stops and turn % stops == stops - 1:
                pool.save(tmp_path / "p")
                pool = om.Pool.load(tmp_path / "p", rows.X)
                asked = Labelling(pool, rows.X)
            assert asked.row is not None
            order.append(asked.row)
            asked.take("s" if turn == 4 else truth(asked.row))
        return order

    assert played(0) == played(1) == played(7)


def test_sigterm_gives_the_terminal_back(texts: Path, tmp_path: Path) -> None:
    """Lines are edited and shown again; what was answered is in the state."""
    state = tmp_path / "mails.pool"
    with Terminal("label", texts, "--save", state, "--classes", "ham,spam") as terminal:
        terminal.until("[q]uit")
        assert not termios.tcgetattr(terminal.leader)[3] & termios.ICANON
        terminal.type("1")
        terminal.until("[q]uit")
        terminal.process.terminate()
        code, _ = terminal.ended()
        after = termios.tcgetattr(terminal.leader)[3]
    assert code == 128 + signal.SIGTERM
    assert after & termios.ICANON and after & termios.ECHO
    assert len(om.Pool.load(state, raw_rows(str(texts)).X).labels) == 1


def test_keys_in_a_terminal(texts: Path, tmp_path: Path) -> None:
    state = tmp_path / "mails.pool"
    words = ("label", texts, "--save", state, "--model", tmp_path / "mails.onm")
    with Terminal(*words) as terminal:
        terminal.until("[+] new  [u]ndo [s]kip [q]uit")
        terminal.type("+")
        terminal.until("new label: ")
        terminal.type("ham\n")
        terminal.until("[1] ham  [+] new")
        terminal.type("+")
        terminal.until("new label: ")
        terminal.type("spam\n")
        for _ in range(10):  # single keys, no Enter
            shown = terminal.until("[1] ham  [2] spam  [+] new")
            row = int(re.findall(r"row (\d+),", shown)[-1])
            terminal.type("1" if truth(row) == "ham" else "2")
        terminal.until("[q]uit")
        terminal.type("\x7f")  # backspace
        terminal.until("undone")
        terminal.until("[q]uit")
        terminal.type("\x1b[A")  # an arrow is no answer
        terminal.until("'?' is no answer")
        terminal.until("[q]uit")
        terminal.type("q")
        code, last = terminal.ended()
    assert code == 0 and "answered, 0 skipped" in last and "model: " in last
    pool = om.Pool.load(state, raw_rows(str(texts)).X)
    assert len(pool.labels) == 11 and set(pool.labels) == {"ham", "spam"}


def test_ctrl_c_loses_nothing(texts: Path, tmp_path: Path) -> None:
    state = tmp_path / "mails.pool"
    words = ("label", texts, "--save", state, "--classes", "ham,spam")
    with Terminal(*words) as terminal:
        for key in "12":
            terminal.until("[q]uit")
            terminal.type(key)
        terminal.until("2 answered")
        terminal.until("[q]uit")
        terminal.process.send_signal(signal.SIGINT)
        code, _ = terminal.ended()
    assert code == 130
    assert len(om.Pool.load(state, raw_rows(str(texts)).X).labels) == 2


def test_rows_of_numbers_and_of_records_are_shown(tmp_path: Path, capsys, monkeypatch) -> None:
    X, y, _ = om.datasets.ellipses(30, seed=0)
    path = write_svmlight(tmp_path / "n.svm", X, y)
    shown = raw_rows(str(path)).shower.text(3)
    assert f"{int(np.argmax(np.abs(X[3])))}:{X[3][np.argmax(np.abs(X[3]))]:.4g}" == shown.split()[0]
    monkeypatch.setattr("sys.stdin", io.StringIO("1\n-1\nq\n"))
    words = ["label", path, "--save", tmp_path / "n.pool", "--classes", "1,-1", "--model", tmp_path / "n.onm"]
    assert main(list(map(str, words))) == 0 and shown.split()[0][0] in capsys.readouterr().out
    assert om.load(tmp_path / "n.onm").classes_.tolist() == [-1, 1]
    text = tmp_path / "t.txt"
    text.write_text("\x1b[2J\x1b]0;title\x07 a message that is far longer than thirty signs\n")
    lines = raw_rows(str(text)).shower.text(0, 30)  # (nothing that a terminal would obey)
    assert lines.isascii() and "\x1b" not in lines and "\x07" not in lines
    assert max(map(len, lines.split("\n"))) <= 30 and "far longer" in lines.replace("\n", " ")
    table = tmp_path / "t.csv"
    table.write_text("colour,size,kind\n" + "".join(f"red,{n},a\nblue,{n},b\n" for n in range(10)))
    rows = raw_rows(str(table), options={"target": "kind"})
    assert rows.shower.text(1) == "colour: blue\nsize: 0" and rows.X.shape[0] == 20
    assert raw_rows(str(table)).shower.text(1).endswith("kind: b")


def test_what_cannot_be_labelled_is_refused_in_one_line(
    texts: Path, tmp_path: Path, capsys, monkeypatch
) -> None:
    state = tmp_path / "mails.pool"
    om.Pool("auto", raw_rows(str(texts)).X, classes=["ham", "spam"]).save(state)
    other = tmp_path / "other.txt"
    other.write_text("".join(f"{text} now\n" for text in TEXTS))
    for words, told in (
        ([texts, "--save", state, "--classes", "a,b"], "was begun with ham,spam"),
        ([other, "--save", state], "the pool was saved with"),
        (["-", "--save", state], "wanted one path"),
        ([texts, "--save", texts], "mails.txt"),
        ([tmp_path / "none.txt", "--save", tmp_path / "s"], "no file"),
        ([texts, "--save", tmp_path / "s", "--classes", "one"], "at least two classes"),
        ([texts, "--save", tmp_path / "s", "--rule", "best"], "wanted 'margin' or 'random'"),
        ([texts, "--save", tmp_path / "s", "--web", "--json"], "--json is not for --web"),
        ([texts], "--save"),
    ):
        assert main(["label", *map(str, words)]) == 2
        out, said = capsys.readouterr()
        assert not out and said.startswith("onmargin: ") and said.count("\n") == 1 and told in said, said
    assert not (tmp_path / "s").exists()
