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
    shared = path.parents[2 if workers else 1] / f"{module}.{path.name}"
    with open(f"{shared}.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not shared.exists():
            draft = shared.with_name(f"draft.{shared.name}")
            command = [sys.executable, "-W", warnings, "-m", module, str(draft)]
            environment = {**os.environ, "NUMBA_DISABLE_JIT": "1"}
            subprocess.run(command, check=True, cwd=ROOT, env=environment, timeout=600)
            draft.rename(shared)
    return shared
