"""The word while compiling: on a terminal only, on a line of its own, from no worker."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("fcntl")
import fcntl
import struct
import termios

SAID = "onmargin: compiling ... (once; kept for later runs)"
WIDE = 60

# A loop of ours as far as Numba can tell; it takes well over a twentieth of a second to compile.
SLOW = """
import sys, types
import numba
import onmargin.models.compiling as compiling
import onmargin.models.table
compiling.AFTER = 0.05
def loop(x):
    total = 0.0
    for i in range(x.shape[0]):
        total += x[i] ** 2 + x[i:].sum()
    return total
def compile_one(module="onmargin.learn.rounds"):
    fresh = types.FunctionType(loop.__code__, {}, "loop")
    fresh.__module__ = module
    numba.njit(fresh).compile((numba.float64[::1],))
"""


def on_a_terminal(script: str, wide: int = WIDE, **environment: str) -> str:
    """What a script shows on a terminal (its input and output too)."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, wide, 0, 0))
    with subprocess.Popen(
        [sys.executable, "-c", script], stdin=theirs, stdout=theirs, stderr=theirs,
        env={**os.environ, "NUMBA_DISABLE_JIT": "0", **environment},
    ) as process:  # fmt: skip
        os.close(theirs)
        shown = b""
        try:
            while part := os.read(ours, 4096):
                shown += part
        except OSError:  # the other side has gone
            pass
        os.close(ours)
    assert process.wait(60) == 0, shown.decode()
    return shown.decode()


def screen(shown: str, wide: int = WIDE) -> list[str]:
    """The lines a terminal makes of it: it wraps when a character comes beyond the last column."""
    lines, row, at = [""], 0, 0
    for sign in shown:
        if sign == "\r":
            at = 0
        elif sign == "\n":
            row += 1
        else:
            if at == wide:
                row, at = row + 1, 0
            while len(lines) <= row:
                lines.append("")
            lines[row] = lines[row][:at].ljust(at) + sign + lines[row][at + 1 :]
            at += 1
        while len(lines) <= row:
            lines.append("")
    return [line.rstrip() for line in lines]


LINES = """
compiling.APART = 0.0
for before in ("", "begun\\n", "half a line ", "and more\\n" + 60 * "x"):
    sys.stderr.write(before)
    sys.stderr.flush()
    compile_one()
"""


def test_it_stands_on_a_line_of_its_own_wherever_the_cursor_was():
    wanted = [SAID, "begun", SAID, "half a line", SAID, "and more", 60 * "x", SAID, ""]
    assert screen(on_a_terminal(SLOW + LINES)) == wanted


def test_it_is_said_once_for_what_follows_one_another_and_counts_all_of_it():
    script = SLOW + "compile_one(); compile_one()"
    assert screen(on_a_terminal(script)) == [SAID, ""]
    script = (
        SLOW.replace("0.05", "1e6")
        + """
compile_one()
compiling.AFTER = 1e-9  # what went before has used it up
compile_one()
"""
    )
    assert screen(on_a_terminal(script)) == [SAID, ""]


def test_without_a_width_it_begins_a_new_line():
    assert on_a_terminal(SLOW + "compile_one()", wide=0).replace("\r", "") == f"\n{SAID}\n"


SILENT = """
import io, os, multiprocessing
compile_one("of.another")
compiling.AFTER = 60.0  # it is quicker than that
compile_one()
compiling.AFTER = 0.05
if os.fork() == 0:
    compile_one()
    os._exit(0)
os.wait()
multiprocessing.current_process().name = "LokyProcess-1"
compile_one()
multiprocessing.current_process().name = "MainProcess"
real = sys.stderr
sys.stderr = io.TextIOWrapper(real.buffer)  # taken over, by a live bar for instance
compile_one()
sys.stderr.detach()
sys.stderr = None
compile_one()
sys.stderr = real
real.write("nothing yet\\n")
real.flush()
compile_one()
"""


def test_it_is_not_said_to_others_nor_by_them():
    assert screen(on_a_terminal(SLOW + SILENT)) == ["nothing yet", SAID, ""]


WORKER = """
import multiprocessing as mp
from joblib import Parallel, delayed
import {name} as slow
if __name__ == "__main__":
    other = mp.get_context("spawn").Process(target=slow.compile_one)
    other.start()
    Parallel(n_jobs=2)(delayed(slow.compile_one)() for _ in range(2))
    other.join()
    assert other.exitcode == 0
"""


def test_workers_are_silent(tmp_path):
    (tmp_path / "slow.py").write_text(SLOW)
    main = tmp_path / "main.py"
    main.write_text(WORKER.format(name="slow"))
    path = os.pathsep.join([str(tmp_path), *sys.path])
    script = f"import runpy; runpy.run_path({str(main)!r}, run_name='__main__')"
    assert on_a_terminal(script, PYTHONPATH=path) == ""


REAL = """
import numpy as np
import onmargin.models.compiling as compiling
import onmargin.models.table
from onmargin.compiled.checks import first_not_finite
from onmargin.features.tables import to_rows
compiling.AFTER = 0.05
assert first_not_finite(to_rows(np.ones((3, 2)), 1.0), 3) == 3
"""


def test_what_lies_on_disk_is_taken_in_silence_and_so_is_a_pipe(tmp_path):
    assert screen(on_a_terminal(REAL, NUMBA_CACHE_DIR=str(tmp_path))) == [SAID, ""]
    assert on_a_terminal(REAL, NUMBA_CACHE_DIR=str(tmp_path)) == ""
    piped = subprocess.run(
        [sys.executable, "-c", SLOW + "compile_one()"], capture_output=True, text=True, check=True,
        env={**os.environ, "NUMBA_DISABLE_JIT": "0"},
    )  # fmt: skip
    assert piped.stderr == piped.stdout == ""
    assert any(Path(tmp_path).rglob("*.nbi"))
