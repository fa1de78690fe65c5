"""Files, pipes and packed files as chunks of whole lines, each with its place for messages."""

from __future__ import annotations

import bz2
import glob
import gzip
import io
import lzma
import os
import sys
import zlib
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import BinaryIO, NamedTuple, Protocol, TypeAlias, cast

import numpy as np

from ..errors import BadFile, BadInput, BadType, NoFile, extra, shown

Paths: TypeAlias = "str | os.PathLike[str] | BinaryIO | Sequence[str | os.PathLike[str] | BinaryIO]"
One: TypeAlias = "str | BinaryIO"
Stream: TypeAlias = io.BufferedIOBase

CHUNK = 4 << 20  # bytes
LONGEST_LINE = 1 << 28  # bytes in a line: beyond that it is no text
NEWLINE = 10
STDIN = "-"
BOM = b"\xef\xbb\xbf"


class Chunk(NamedTuple):
    """Whole lines, the last with its newline too; `line` is the number of the first, from 1 on.

    The bytes are the reader's: they are overwritten when it reads on, unless it was told to keep them.
    """

    text: np.ndarray
    file: str
    line: int

    def refusal(self, offset: int, length: int, wanted: str) -> BadFile:
        """The line for bad text at this place."""
        before = self.text[:offset].tobytes()
        begin = before.rfind(b"\n") + 1
        column = len(before[begin:].decode(errors="replace")) + 1
        found = self.text[offset : offset + min(length, 60)].tobytes().decode(errors="replace")
        line = self.line + before.count(b"\n")
        return BadFile(f"{self.file}, line {line}, column {column}: {shown(found, 40)}; wanted {wanted}")


class Chunks(Protocol):
    """What gives chunks: files (`Lines`), or something alive. See `Format` for the words."""

    @property
    def again(self) -> bool: ...

    @property
    def live(self) -> bool: ...

    @property
    def bytes_read(self) -> int: ...

    @property
    def bytes_total(self) -> int | None: ...

    @property
    def files(self) -> Sequence[object]:
        """Names of files, or what is open."""
        ...

    def key(self) -> str | None:
        """Which files, and when they were written; None: something that is no file."""
        ...

    def __iter__(self) -> Iterator[Chunk]: ...


class Lines:
    """The lines of files, one file after the other: a path, a glob, a folder, "-", an open file, or several.

    gz, xz, bz2 and zst are unpacked, known by how they begin. `keep`: every chunk has bytes of its own.
    """

    live = False

    def __init__(self, paths: Paths, *, size: int = CHUNK, keep: bool = True) -> None:
        self.files: Sequence[One] = every_file(paths)
        self.size, self.keep = size, keep
        plain = [file for file in self.files if isinstance(file, str) and os.path.isfile(file)]
        self.again = len(plain) == len(self.files)
        self.bytes_read = 0
        self.bytes_total = sum(map(os.path.getsize, plain)) if self.again else None
        self._begun = False

    def key(self) -> str | None:
        """Which files, how long, and when they were written; None: not all of them are files."""
        if not self.again:
            return None
        found = [(os.path.abspath(file), os.stat(file)) for file in self.files if isinstance(file, str)]
        return repr([(path, stat.st_size, stat.st_mtime_ns) for path, stat in found])

    def __iter__(self) -> Iterator[Chunk]:
        if self._begun and not self.again:
            raise BadInput("this was read already, and can be read only once; give a file, or keep a cache")
        self._begun, self.bytes_read = True, 0
        before = 0
        for file in self.files:
            for chunk, here in self._lines(file):
                self.bytes_read = before + here
                yield chunk
            before = self.bytes_read

    def _lines(self, file: One) -> Iterator[tuple[Chunk, int]]:
        """Chunks of one file, and how far it was read."""
        name = name_of(file)
        with ExitStack() as stack:
            raw = _opened(file, stack)
            stream = _unpacked(raw, stack)
            buffer, filled, line, begins = bytearray(self.size), 0, 1, True
            while True:
                got = _filled(stream, memoryview(buffer)[filled:], name)
                filled += got
                last = buffer.rfind(b"\n", 0, filled) + 1
                at_end = filled < len(buffer)
                if at_end and last < filled:  # the last line has no newline
                    buffer[filled] = NEWLINE
                    filled = last = filled + 1
                if last:
                    skip = len(BOM) if begins and buffer.startswith(BOM) else 0
                    text = np.frombuffer(buffer, np.uint8)[skip:last]
                    yield Chunk(text, name, line), _told(raw)
                    line += int(np.count_nonzero(text == NEWLINE))
                    begins = False
                    rest = buffer[last:filled]
                    if self.keep:
                        buffer = bytearray(self.size if len(rest) < self.size else 2 * len(rest))
                    filled = len(rest)
                    buffer[:filled] = rest
                elif not at_end:
                    if filled >= LONGEST_LINE:
                        raise BadFile(
                            f"{name}, line {line}: longer than {LONGEST_LINE >> 20} MiB; is it text?"
                        )
                    buffer = buffer + bytearray(len(buffer))
                if at_end:
                    return


def every_file(paths: Paths) -> list[One]:
    """The files that these words mean, in order; refused where there is none."""
    if isinstance(paths, str | os.PathLike) or hasattr(paths, "readinto"):
        return _files(cast("str | os.PathLike[str] | BinaryIO", paths))
    if not isinstance(paths, Sequence):
        raise BadType(f"got {shown(paths)}; wanted a path, a glob, '-' or a list of them")
    found = [file for path in paths for file in _files(path)]
    if not found:
        raise BadInput("got no file at all; wanted at least one path")
    return found


def _files(path: str | os.PathLike[str] | BinaryIO) -> list[One]:
    if not isinstance(path, str | os.PathLike):
        return [path]
    text = os.fspath(path)
    if text == STDIN:
        return [STDIN]
    text = os.path.expanduser(text)
    if os.path.isdir(text):
        inside = sorted(each for each in Path(text).rglob("*") if each.is_file() and each.name[0] != ".")
        if not inside:
            raise NoFile(f"the folder {shown(text)} holds no file")
        return [str(each) for each in inside]
    if os.path.exists(text):
        return [text]
    matches = sorted(glob.glob(text, recursive=True)) if glob.has_magic(text) else []
    files: list[One] = [match for match in matches if os.path.isfile(match)]
    if not files:
        raise NoFile(f"there is no file {shown(text, 200)}; wanted a path, a glob or '-' for standard input")
    return files


def name_of(file: One) -> str:
    """What a message calls it."""
    if isinstance(file, str):
        return "standard input" if file == STDIN else file
    name = getattr(file, "name", None)
    return name if isinstance(name, str) else "the stream"


# ---- one file


def _opened(file: One, stack: ExitStack) -> Stream:
    if not isinstance(file, str):
        return cast("Stream", file)
    if file == STDIN:
        return cast("Stream", sys.stdin.buffer)
    try:
        return stack.enter_context(open(file, "rb"))
    except OSError as error:
        raise BadFile(f"cannot read {shown(file, 200)}: {error.strerror}") from None


def _begin(raw: Stream) -> bytes:
    """The first bytes; they are read again."""
    if isinstance(raw, io.BufferedReader):
        return raw.peek(16)[:16]
    if not raw.seekable():
        return b""
    found = raw.read(16)
    raw.seek(-len(found), io.SEEK_CUR)
    return found


def _unpacked(raw: Stream, stack: ExitStack) -> Stream:
    """The file itself, or what is packed in it."""
    begin = _begin(raw)
    packed: object = None
    if begin.startswith(b"\x1f\x8b"):
        packed = stack.enter_context(gzip.GzipFile(fileobj=raw))
    elif begin.startswith(b"\xfd7zXZ\x00"):
        packed = stack.enter_context(lzma.LZMAFile(cast("BinaryIO", raw)))
    elif begin.startswith(b"BZh") and begin[4:10] == b"1AY&SY":
        packed = stack.enter_context(bz2.BZ2File(raw))
    elif begin.startswith(b"\x28\xb5\x2f\xfd"):
        packed = stack.enter_context(_zstd().ZstdFile(raw))
    return raw if packed is None else cast("Stream", packed)


def _zstd() -> ModuleType:
    """Python's own, or for older ones the same as a package."""
    for name in ("compression.zstd", "backports.zstd"):
        try:
            return import_module(name)
        except ImportError:
            continue
    raise extra("backports.zstd", "files")


def _filled(stream: Stream, room: memoryview, name: str) -> int:
    """Read until the room is full or the file ends; how many bytes."""
    filled = 0
    try:
        while filled < len(room) and (got := stream.readinto(room[filled:])):
            filled += got
    except EOFError:
        raise BadFile(f"{name} ends in the middle of what is packed in it; fetch it again") from None
    except (OSError, zlib.error, lzma.LZMAError, ValueError) as error:
        raise BadFile(f"cannot read {name}: {error}") from None
    except Exception as error:  # zstd has an error of its own, and may not be here
        if type(error).__name__ != "ZstdError":
            raise
        raise BadFile(f"cannot read {name}: {error}") from None
    return filled


def _told(raw: Stream) -> int:
    try:
        return raw.tell()
    except (OSError, io.UnsupportedOperation):
        return 0
