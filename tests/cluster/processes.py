"""A scheduler and workers as processes of their own over TCP, which a test may kill."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, Self

from distributed import Client

import onmargin as om

ROOT = Path(__file__).resolve().parents[2]
WAITS = 180.0  # seconds; a machine may be busy, and compile first


class Processes:
    """`with Processes(folder, workers=2) as found: found.client ...`; `found.workers` by name.

    failures : workers that may end with a task before Dask gives it up; None: as many as Dask says.
    scheduler : the environment of the scheduler, which is then `bare`.
    """

    client: Any = None

    def __init__(
        self,
        folder: Path,
        workers: int = 2,
        failures: int | None = None,
        scheduler: dict[str, str] | None = None,
    ) -> None:
        self.file, self.count, self.given = folder / "scheduler.json", workers, scheduler
        self.workers: dict[str, subprocess.Popen[bytes]] = {}
        ours = Path(om.__file__).parents[1]  # (the one under test, wherever it was taken from)
        self.environment = os.environ | {"PYTHONPATH": f"{ours}{os.pathsep}{ROOT}"}
        if failures is not None:
            self.environment["DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES"] = str(failures)
        self.log = (folder / "log").open("wb")

    def start(self, module: str, *arguments: str, bare: bool = False, **more: str) -> subprocess.Popen[bytes]:
        """One process of Dask's; `bare`: without what .pth files put on the path (such as ours)."""
        command = [sys.executable, *(["-S"] if bare else []), "-m", f"distributed.cli.{module}", *arguments]
        return subprocess.Popen(
            command, env=self.environment | more, stdout=self.log, stderr=self.log, cwd=ROOT
        )

    def worker(self, name: str, bare: bool = False, **environment: str) -> subprocess.Popen[bytes]:
        """One more worker, without a nanny: killed is killed."""
        options = ("--no-nanny", "--nthreads", "1", "--no-dashboard", "--name", name, "--host", "127.0.0.1")
        made = self.start(
            "dask_worker", "--scheduler-file", str(self.file), *options, bare=bare, **environment
        )
        self.workers[name] = made
        return made

    def kill(self, name: str) -> None:
        """-9"""
        process = self.workers.pop(name)
        process.kill()
        process.wait()

    def __enter__(self) -> Self:
        self.scheduler = self.start(
            "dask_scheduler", "--scheduler-file", str(self.file), "--port", "0", "--host", "127.0.0.1",
            "--no-dashboard", "--no-jupyter", bare=self.given is not None, **(self.given or {}),
        )  # fmt: skip
        try:
            for number in range(self.count):
                self.worker(str(number))
            self.client = Client(self.address, set_as_default=False, timeout=WAITS)
            if self.count:
                self.client.wait_for_workers(self.count, timeout=WAITS)
        except BaseException:
            self.__exit__()
            raise
        return self

    @property
    def address(self) -> str:
        """Of the scheduler, once it is there."""
        end = time.monotonic() + WAITS
        while time.monotonic() < end:
            try:
                return str(json.loads(self.file.read_text())["address"])
            except (OSError, ValueError, KeyError):
                time.sleep(0.05)
        raise AssertionError("the scheduler did not start")

    def __exit__(self, *_: Any) -> None:
        if self.client is not None:
            self.client.close(timeout=1)
        for process in (*self.workers.values(), self.scheduler):
            process.kill()
            process.wait()
        self.log.close()
