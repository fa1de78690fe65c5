"""onmargin in real processes, and small files for it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

from onmargin.cli.app import main
from onmargin.protocols.saving import container

BIN = Path(sys.executable).parent / "onmargin"
PATIENCE = 300.0  # seconds; a machine may be busy, and compile first


def run(*arguments: object, **options: object) -> subprocess.CompletedProcess:
    """A command to its end, as text unless told."""
    return subprocess.run(
        [str(BIN), *map(str, arguments)],
        **{"capture_output": True, "text": True, "timeout": PATIENCE} | options,
    )


class Done(NamedTuple):
    """What a command came to."""

    returncode: int
    stdout: str
    stderr: str


def within(capsys: pytest.CaptureFixture[str], *arguments: object) -> Done:
    """The same within this process: quicker, where no pipe and no signal is looked at."""
    capsys.readouterr()
    code = main([str(one) for one in arguments])
    return Done(code, *capsys.readouterr())


def write_svmlight(path: Path, rows: int = 3000, seed: int = 0) -> Path:
    """Two classes by the sign of three columns out of eight, with noise."""
    draw = np.random.default_rng(seed)
    X = draw.integers(-9, 10, (rows, 8))
    y = np.where(X[:, 0] + X[:, 1] - X[:, 2] + draw.normal(0, 3, rows) > 0, 1, -1)
    path.write_text(
        "".join(
            f"{label} {' '.join(f'{k + 1}:{value}' for k, value in enumerate(row) if value)}\n"
            for label, row in zip(y.tolist(), X.tolist(), strict=True)
        )
    )
    return path


def write_csv(path: Path, rows: int = 3000, seed: int = 0) -> Path:
    """Numbers, a word, and a label that is a word."""
    draw = np.random.default_rng(seed)
    X = draw.normal(50, 20, (rows, 2)).round(2)
    lines = [
        f"{a},{b},{'red green blue'.split()[k % 3]},{'yes' if a - b + (k % 3) * 5 > 3 else 'no'}"
        for k, (a, b) in enumerate(X.tolist())
    ]
    path.write_text("\n".join(["width,height,colour,label", *lines]) + "\n")
    return path


def write_text(path: Path, rows: int = 2000) -> Path:
    """label<TAB>text."""
    draw = np.random.default_rng(0)
    lines = []
    for k in range(rows):
        spam = bool(draw.integers(2))
        words = ["cheap pills", "win money"] if spam else ["see you", "at lunch"]
        lines.append(f"{'spam' if spam else 'ham'}\t{words[int(draw.integers(2))]} w{k % 50}")
    path.write_text("\n".join(lines) + "\n")
    return path


def assert_same(first: str, second: str) -> None:
    """Two files hold the same model, and records of the same run."""
    (facts, arrays), (other_facts, others) = container.read(first), container.read(second)
    notes, other_notes = facts.pop("notes"), other_facts.pop("notes")
    assert repr(facts) == repr(other_facts) and arrays.keys() == others.keys()
    for name, array in arrays.items():
        assert array.tobytes() == others[name].tobytes(), name
    for name in ("tally", "rows", "earlier", "unlabelled", "finished"):
        assert notes[name] == other_notes[name], name
