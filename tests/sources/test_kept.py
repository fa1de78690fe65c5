"""Parsers are compiled once, and again when a file of their folder has changed."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from numba import config

import onmargin
from onmargin import warm
from onmargin.sources.parsing import svmlight

pytestmark = pytest.mark.skipif(bool(config.DISABLE_JIT), reason="plain Python has no cache")

PROGRAM = """
from onmargin.sources.parsing import digests
import numpy as np
digests.digest(np.zeros(3, np.uint8), np.uint64(1))
print(digests.digest.__name__, sum(digests.digest.stats.cache_misses.values()))
"""


def test_machine_code_is_kept_until_the_folder_changes(tmp_path):
    package = tmp_path / "onmargin"
    source = Path(onmargin.__file__).parent
    shutil.copytree(source, package, ignore=shutil.ignore_patterns("__pycache__"))

    def run() -> list[str]:
        done = subprocess.run(
            [sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True, cwd=tmp_path,
            env={"PYTHONPATH": str(tmp_path), "NUMBA_CACHE_DIR": str(tmp_path / "cache")},
        )  # fmt: skip
        return done.stdout.split()

    first, second = run(), run()
    assert first[1] == "1" and second == [first[0], "0"]
    words = package / "sources" / "parsing" / "words.py"
    words.write_text(words.read_text() + "\n# edited\n")
    third = run()
    assert third[0] != first[0] and third[1] == "1"


def test_stale_code_is_cleared():
    name, folder = svmlight.parse_lines.__name__, Path(svmlight.parse_lines.stats.cache_path)
    folder.mkdir(parents=True, exist_ok=True)
    stale = folder / "svmlight.parse_00000000-1.py311.nbi"
    fresh = folder / f"svmlight.fresh_{name[-8:]}-1.py311.nbi"
    stale.touch()
    fresh.touch()
    try:
        assert warm.clear_stale() >= 1 and not stale.exists() and fresh.exists()
    finally:
        fresh.unlink()
