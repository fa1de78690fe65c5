"""The machines: programs drawn at random, signals at any moment, threads. Each has a process of its own.

ONMARGIN_SEED has them draw other programs, moments and orders than those of every run.
"""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from ..once import ROOT
from ..soaking import SOAKING, either, soaked
from .interrupts import KINDS
from .threads import GAMES

SEED = int(os.environ.get("ONMARGIN_SEED", "0"))


def run(module: str, *arguments: object, plain: bool = False) -> str:
    """What a machine prints; it ends with an error where something was found."""
    environment = {**os.environ, "PYTHONWARNINGS": "ignore"} | ({"NUMBA_DISABLE_JIT": "1"} if plain else {})
    command = [sys.executable, "-m", f"tests.machines.{module}", *map(str, arguments)]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=900)
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    return done.stdout


@pytest.mark.parametrize("part", range(2))
@soaked
def test_programs_drawn_at_random_break_no_promise(part):
    """As plain Python: what is tried is the Python around the loops, on all learners."""
    count = either(80, 2500)
    run("playing", "--first", SEED + part * count, "--count", count, plain=True)


@pytest.mark.parametrize(
    "kinds", [[kind] for kind in KINDS] if SOAKING else [list(KINDS)[:2], list(KINDS)[2:4]]
)
@soaked
def test_a_signal_at_any_moment_leaves_the_model_before_or_after(kinds):
    run("interrupts", *kinds, "--seconds", either(1, 5), "--seed", SEED)


@pytest.mark.parametrize("games", [[game] for game in GAMES] if SOAKING else [list(GAMES)[:3]])
@soaked
def test_threads_meet_only_models_that_existed(games):
    run("threads", *games, "--seconds", either(1, 3), "--seed", SEED)
