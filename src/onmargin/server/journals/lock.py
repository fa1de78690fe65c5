"""One server for a folder: a lock that the system lets go of, however the process ends."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path

from ...errors import BadFile


class Lock:
    """Held from its making to `release`."""

    def __init__(self, folder: Path) -> None:
        path = folder / "server.lock"
        try:
            folder.mkdir(parents=True, exist_ok=True)
            self._file = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
        except OSError as error:
            raise BadFile(
                f"{folder} cannot be written ({error.strerror}); wanted a folder of our own"
            ) from None
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(self._file)
            raise BadFile(f"another server works in {folder}; stop it first, or use another folder") from None

    def release(self) -> None:
        """Another may have it."""
        os.close(self._file)
