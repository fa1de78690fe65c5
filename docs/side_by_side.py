"""Vowpal Wabbit and onmargin on the same files of text: the table of moving_from_vowpal_wabbit.md."""

from __future__ import annotations

import contextlib
import csv
import io
import json
import re
from collections.abc import Iterable
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

import numpy as np

PAGE = Path(__file__).parent / "moving_from_vowpal_wabbit.md"
BEGIN, END = "<!-- side by side -->\n", "<!-- end -->"
MEASURES = ("length", "diameter", "height", "whole", "shucked", "viscera", "shell")


class Pair(NamedTuple):
    """One file, what is typed on either side, and what is compared."""

    file: str
    theirs: str
    ours: str
    measure: str = "error"


PAIRS = (
    Pair("sms.vw", "--binary --loss_function hinge", ""),
    Pair("sms.vw", "--binary --loss_function logistic", "--loss logistic"),
    Pair("rcv1.vw", "--binary --loss_function hinge", ""),
    Pair("rcv1.vw", "--binary --loss_function logistic", "--loss logistic"),
    Pair("splice.vw", "--oaa 3", ""),
    Pair("abalone.vw", "", "--task numbers", "mean absolute error"),
)


def absent() -> str:
    """Why the table cannot be made; empty where it can."""
    return (
        "" if find_spec("vowpalwabbit") else "vowpalwabbit is not installed (pip install 'onmargin[bench]')"
    )


# ---- the files


def write_files(folder: Path) -> None:
    """Real sets as Vowpal Wabbit's text."""
    from onmargin.sources.real import opened

    def lines(name: str) -> Iterable[str]:
        with opened(name) as stream:
            return stream.read().decode().splitlines()

    texts = (line.split("\t", 1) for line in lines("sms_spam/SMSSpamCollection.gz"))
    _write(folder / "sms.vw", (f"{1 if label == 'spam' else -1} |w {_words(text)}" for label, text in texts))
    _write(folder / "rcv1.vw", map(_barred, lines("rcv1_small/rcv1_ccat_1000.gz")))
    _write(folder / "splice.vw", map(_barred, _shuffled(lines("small/dna_splice.gz"))))
    shells = csv.reader(lines("abalone/abalone.data.gz"))
    _write(folder / "abalone.vw", (f"{shell[-1]} |s {shell[0]} |m {_measured(shell)}" for shell in shells))


def _words(text: str) -> str:
    return " ".join(re.findall(r"[a-z0-9]+", text.lower()))


def _measured(shell: list[str]) -> str:
    return " ".join(f"{name}:{value}" for name, value in zip(MEASURES, shell[1:-1], strict=True))


def _barred(line: str) -> str:
    label, _, rest = line.partition(" ")
    return f"{float(label):g} |f {rest}"


def _shuffled(lines: Iterable[str]) -> list[str]:
    """Sets in the order of their classes are no stream."""
    known = list(lines)
    return [known[at] for at in np.random.default_rng(0).permutation(len(known))]


def _write(path: Path, lines: Iterable[str]) -> None:
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


# ---- the two


def theirs(pair: Pair, folder: Path) -> float:
    """Progressive error of vw: its answer to each example before it was learned."""
    import vowpalwabbit

    said = folder / "said"
    words = [*pair.theirs.split(), "-d", str(folder / pair.file), "-p", str(said), "--quiet"]
    vowpalwabbit.Workspace(arg_list=words).finish()
    answers = np.array([float(line.split()[0]) for line in said.read_text().splitlines()])
    truths = np.array([float(line.split()[0]) for line in (folder / pair.file).read_text().splitlines()])
    if pair.measure != "error":
        return float(np.abs(answers - truths).mean())
    return float((answers != truths).mean())


def ours(pair: Pair, folder: Path) -> float:
    """Progressive error of `onmargin learn`."""
    from onmargin.cli.app import main

    told = io.StringIO()
    with contextlib.redirect_stdout(told):
        code = main(["learn", str(folder / pair.file), *pair.ours.split(), "--json"])
    assert code == 0
    found = json.loads(told.getvalue().splitlines()[-1])
    return float(found["error" if pair.measure == "error" else "mae"])


def row(pair: Pair, their: float, our: float) -> str:
    """A line of the table."""
    numbers = [f"{value:.1%}" if pair.measure == "error" else f"{value:.2f}" for value in (their, our)]
    return (
        f"| `{pair.file}` | {pair.measure} | `{pair.theirs}` | {numbers[0]} | `{pair.ours}` | {numbers[1]} |"
    )


def table(folder: Path) -> str:
    """Both learn, line by line."""
    write_files(folder)
    head = "| file | online | `vw -d FILE` | | `onmargin learn FILE` | |\n|---|---|---|---:|---|---:|"
    rows = [row(pair, theirs(pair, folder), ours(pair, folder)) for pair in PAIRS]
    return "\n".join([head, *(line.replace("| `` |", "| |") for line in rows)]) + "\n"


def write_table(folder: Path) -> None:
    """Put a new table into the page."""
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
    PAGE.write_text(before + BEGIN + table(folder) + END + rest.partition(END)[2], encoding="utf-8")


if __name__ == "__main__":
    import tempfile

    with tempfile.TemporaryDirectory() as made:
        write_table(Path(made))
