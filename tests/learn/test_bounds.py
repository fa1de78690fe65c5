"""Compiled loops stay within their arrays: the oracle tests once more, with Numba's bounds checks."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
ORACLES = ("test_oracles.py", "test_kernel_oracles.py", "test_paired_oracles.py")

# A wrong index in a part that is inlined, in one that is not, in a sum over a row, and in the loop itself.
WRONG = """
import numpy as np
from onmargin.compiled.parts import part, routine, specialise
from onmargin.compiled.rows import Sparse, dot

@part
def inlined(rows, weights):
    return weights[900]

@routine
def called(rows, weights):
    return weights[900]

def first(rows, weights):
    return inlined(rows, weights)

def second(rows, weights):
    return called(rows, weights)

def third(rows, weights):
    return dot(rows, 0, weights)[0]

def fourth(rows, weights):
    return weights[900]

rows = Sparse(np.ones(1), np.array([900], np.uint32), np.array([0, 1], np.int32), 0.0)
for loop in (first, second, third, fourth):
    try:
        specialise(loop)(rows, np.zeros(3))
        print("went_on")
    except IndexError:
        print("raised")
"""


def checked(tmp_path: Path, *command: str, **more: str) -> subprocess.CompletedProcess[str]:
    """Another process with bounds checks, and with machine code of its own: Numba's cache does not ask."""
    environment = {**os.environ, **more, "NUMBA_BOUNDSCHECK": "1", "NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    environment = {name: value for name, value in environment.items() if not name.startswith("PYTEST_")}
    command = (sys.executable, *command)
    return subprocess.run(command, capture_output=True, text=True, env=environment, cwd=ROOT, timeout=1000)


def test_the_checks_are_in_force_in_every_part(tmp_path: Path):
    script = tmp_path / "wrong.py"  # (Numba caches what lies in a file)
    script.write_text(WRONG)
    done = checked(tmp_path, str(script))
    assert done.stdout.split() == ["raised"] * 4, done.stderr


@pytest.mark.soak
def test_oracles_within_bounds(tmp_path: Path):
    files = [f"tests/learn/{name}" for name in ORACLES]
    options = ("-n", "0", "-p", "no:cacheprovider", "-x", "-m", "not soak", f"--basetemp={tmp_path / 'base'}")
    done = checked(tmp_path, "-m", "pytest", *files, *options, ONMARGIN_SOAK="0")
    assert done.returncode == 0, done.stdout[-4000:]
