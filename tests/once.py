"""What a run of the tests makes once, however many workers ask: the first makes it, the others wait."""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]


def as_plain_python(module: str, path: Path, warnings: str = "error") -> Path:
    """The file that a module of the tests writes when it is run as a program without Numba.

    `path` lies in a folder of pytest's; the file is beside the folders of all workers.
    """
    workers = os.environ.get("PYTEST_XDIST_WORKER") is not None
    shared = path.parents[2 if workers else 1] / module / path.name
    shared.parent.mkdir(exist_ok=True)
    with open(f"{shared}.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        done = Path(f"{shared}.done")
        if not done.exists():
            command = [sys.executable, "-W", warnings, "-m", module, str(shared)]
            environment = {**os.environ, "NUMBA_DISABLE_JIT": "1"}
            subprocess.run(command, check=True, cwd=ROOT, env=environment, timeout=600)
            done.touch()
    return shared
