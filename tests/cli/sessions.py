"""The command line in real processes: through pipes, and in a pseudo-terminal."""

from __future__ import annotations

import json
import os
import pty
import select
import subprocess
import sys
import time
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import numpy as np

BIN = Path(sys.executable).parent / "onmargin"
PATIENCE = 120.0  # seconds; a machine may be busy


def run(*arguments: object, **options: Any) -> subprocess.CompletedProcess[str]:
    """A command, to its end."""
    words = [str(BIN), *map(str, arguments)]
    return subprocess.run(words, capture_output=True, text=True, timeout=PATIENCE, **options)


def lines(*arguments: object, **options: Any) -> list[dict[str, Any]]:
    """What a command says with --json."""
    done = run(*arguments, "--json", **options)
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def refused(done: subprocess.CompletedProcess[str]) -> str:
    """The one line of a command that was refused."""
    assert done.returncode == 2 and not done.stdout, (done.returncode, done.stdout)
    assert done.stderr.startswith("onmargin: ") and done.stderr.count("\n") == 1, done.stderr
    return done.stderr.strip()


def write_svmlight(path: Path, X: np.ndarray, y: np.ndarray) -> Path:
    """Rows of numbers as text, exactly."""
    rows = (" ".join(f"{j + 1}:{value!r}" for j, value in enumerate(row)) for row in X.tolist())
    path.write_text("".join(f"{label:g} {row}\n" for label, row in zip(y, rows, strict=True)))
    return path


class Terminal:
    """A command in a pseudo-terminal of 80 columns: what it shows is waited for, keys are typed."""

    def __init__(self, *arguments: object, **environment: str) -> None:
        self.leader, follower = pty.openpty()
        words = [str(BIN), *map(str, arguments)]
        known = {**os.environ, "TERM": "xterm-256color", "COLUMNS": "80", **environment}
        self.process = subprocess.Popen(
            words, stdin=follower, stdout=follower, stderr=follower, env=known, start_new_session=True,
            preexec_fn=_own_terminal,
        )  # fmt: skip
        os.close(follower)
        self.seen = ""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, where: TracebackType | None
    ) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        os.close(self.leader)

    def type(self, keys: str) -> None:
        """Press keys."""
        os.write(self.leader, keys.encode())

    def until(self, text: str) -> str:
        """Wait for a text; all that was shown before it, and it; what comes after is looked at next time."""
        end = time.monotonic() + PATIENCE
        while text not in self.seen:
            assert time.monotonic() < end, f"{text!r} was not shown: {self.seen[-2000:]!r}"
            if select.select([self.leader], [], [], 1.0)[0]:
                self.seen += self._read()
        before, _, self.seen = self.seen.partition(text)
        return before + text

    def ended(self) -> tuple[int, str]:
        """The exit code, and what was shown last."""
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            over = self.process.poll() is not None  # (asked before, so that what it showed last is read)
            more = self._read() if select.select([self.leader], [], [], 0.2)[0] else ""
            self.seen += more
            if not more and over:
                break
        return self.process.wait(PATIENCE), self.seen

    def _read(self) -> str:
        try:
            return os.read(self.leader, 65536).decode("utf-8", "replace")
        except OSError:  # the other side is closed
            return ""


def _own_terminal() -> None:
    import fcntl
    import signal
    import termios

    signal.signal(signal.SIGINT, signal.SIG_DFL)  # ignored where the tests themselves run in the background
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)
