"""Files replaced in one step: a draft is written beside the file, and then takes its name.

A draft is `.NAME.HOST.PID.RANDOM.part`. If its process was killed, the next save of that file
removes it.
"""

from __future__ import annotations

import os
import secrets
import stat
import time
import zlib
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from platform import node

from ...errors import BadInput, NoFile

END = ".part"
OLD = 86_400.0  # seconds after which nobody writes a draft any more
MOST_NAME = 150  # bytes of the file's name in the draft's


def replace_file(path: str | os.PathLike[str], data: bytes) -> None:
    """Put `data` in the place of a file: all of it, or the file stays as it was.

    Permissions (and the owner, where we may) stay; of a link, what it points at is replaced. A draft is
    made anew under a name nobody knows, never through a link.
    """
    target = Path(os.path.realpath(path))
    before = _found(target)
    _sweep(target)
    draft = target.with_name(f"{_stem(target)}.{_host()}.{os.getpid()}.{secrets.token_hex(8)}{END}")
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
    try:
        mode = 0o666 if before is None else stat.S_IMODE(before.st_mode) & 0o666
        with os.fdopen(os.open(draft, flags, mode), "wb") as file:
            file.write(data)
            file.flush()
            if before is not None:
                _keep_permissions(file.fileno(), draft, before)
            os.fsync(file.fileno())
        os.replace(draft, target)
    except OSError as error:
        raise OSError(error.errno, error.strerror, os.fspath(path)) from None  # not the draft's name, or two
    finally:
        draft.unlink(missing_ok=True)
    _settle(target.parent)


def _found(target: Path) -> os.stat_result | None:
    """What is at the place already (None: nothing)."""
    if not target.parent.is_dir():
        raise NoFile(f"the folder {target.parent} does not exist; make it first")
    try:
        found = target.stat()
    except FileNotFoundError:
        return None
    if not stat.S_ISREG(found.st_mode):
        raise BadInput(f"{target} is a folder or a device; wanted the path of a file")
    return found


def _keep_permissions(file: int, draft: Path, before: os.stat_result) -> None:
    bits = stat.S_IMODE(before.st_mode) & 0o777
    if os.name != "posix":
        os.chmod(draft, bits)
        return
    now = os.fstat(file)
    if (now.st_uid, now.st_gid) != (before.st_uid, before.st_gid):
        with suppress(OSError):  # another user's file: it is ours from now on
            os.fchown(file, before.st_uid, before.st_gid)
    os.fchmod(file, bits)


def _settle(folder: Path) -> None:
    """The new name outlives a power cut, where folders can be flushed."""
    if os.name == "posix":
        with suppress(OSError):
            place = os.open(folder, os.O_RDONLY)
            try:
                os.fsync(place)
            finally:
                os.close(place)


# ---- drafts that were left behind


def _stem(target: Path) -> str:
    return f".{target.name.encode(errors='surrogateescape')[:MOST_NAME].decode(errors='ignore')}"


def _host() -> str:
    """A mark of this machine: on another one, process numbers mean other processes."""
    return f"{zlib.crc32(node().encode()):08x}"


def _sweep(target: Path) -> None:
    """Remove the drafts of processes that are gone."""
    for draft in _drafts(target):
        try:
            host, process = draft.name.split(".")[-4:-2]
            old = time.time() - draft.lstat().st_mtime > OLD
            if old or (host == _host() and process.isdigit() and _is_gone(int(process))):
                draft.unlink()
        except (OSError, ValueError):  # somebody else was quicker, or it is no draft
            continue


def _drafts(target: Path) -> Iterator[Path]:
    stem = f"{_stem(target)}."
    for entry in os.scandir(target.parent):
        if entry.name.startswith(stem) and entry.name.endswith(END):
            yield Path(entry.path)


def _is_gone(process: int) -> bool:
    if os.name != "posix":  # (there, asking would end it)
        return False
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return True
    except (OSError, OverflowError):
        return False
    return False
