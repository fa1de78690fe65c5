"""Reading a long stream takes no more memory than its first block."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = """
import os, sys, threading
import numpy as np
from onmargin.sources import svmlight

def peak():  # (in KiB; what getrusage says begins with the peak of the program that started this one)
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("VmHWM"))

read, write = os.pipe()
draw = np.random.default_rng(0)
lines = []
for number in range(2000):
    some = np.sort(draw.choice(50_000, 60, replace=False)) + 1
    words = " ".join(f"{at}:{value:.6g}" for at, value in zip(some, draw.random(60), strict=True))
    lines.append(f"{number % 2} {words}")
text = ("\\n".join(lines) + "\\n").encode()
times = int(sys.argv[1]) // len(text)

def fill():
    with os.fdopen(write, "wb") as pipe:
        for _ in range(times):
            pipe.write(text)

threading.Thread(target=fill, daemon=True).start()
rows, first = 0, None
for block in svmlight.stream(os.fdopen(read, "rb")):
    rows += block.rows.shape[0]
    first = first or peak()
more = peak() - first
assert rows == 2000 * times, rows
print(more // 1024)
"""


@pytest.mark.soak
@pytest.mark.skipif(
    not Path("/proc/self/status").exists(), reason="needs Linux: peaks of memory are in /proc"
)
def test_memory_stays_with_the_first_block_over_two_gigabytes():
    command = [sys.executable, "-c", PROGRAM, "2000000000"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert int(done.stdout) <= 150  # MiB
