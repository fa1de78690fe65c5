"""Files, pipes and packed files as chunks of whole lines, each with its place for messages."""

from __future__ import annotations

import bz2
import glob
import gzip
import io
import lzma
import os
import re
import sys
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, BinaryIO, NamedTuple, Protocol, TypeAlias, cast

import numpy as np

from ...errors import BadFile, BadInput, BadType, NoFile, extra, shown
from .memory import Buffers

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

Paths: TypeAlias = "str | os.PathLike[str] | BinaryIO | Sequence[str | os.PathLike[str] | BinaryIO]"
One: TypeAlias = "str | BinaryIO"
Stream: TypeAlias = io.BufferedIOBase

CHUNK = 4 << 20  # bytes
LONGEST_LINE = 1 << 28  # bytes in a line: beyond that it is no text
NEWLINE = 10
STDIN = "-"
BOM = b"\xef\xbb\xbf"
MARKED = 16  # bytes that tell what a file is packed with
BZIP2 = (b"1AY&SY", b"\x17rE8P\x90")  # a block, or the end at once: nothing is packed
ZSTD_NOTE = re.compile(rb"[\x50-\x5f]\x2a\x4d\x18")  # a frame to be passed over


class Chunk(NamedTuple):
    """Whole lines, the last with its newline too; `line` is the number of the first, from 1 on.

    origin : the byte of the file with which lines were begun to be counted (0, or where a range begins).
    The memory of the bytes serves the reader again when nobody holds them any more.
    """

    text: np.ndarray
    file: str
    line: int
    origin: int = 0

    @property
    def first_line(self) -> int:
        """The number of the first line in the file; those before a range are counted now, for a message."""
        return self.line + (_count_lines(self.file, self.origin) if self.origin else 0)

    def refusal(self, offset: int, length: int, wanted: str) -> BadFile:
        """The line for bad text at this place."""
        before = self.text[:offset].tobytes()
        begin = before.rfind(b"\n") + 1
        column = len(before[begin:].decode(errors="replace")) + 1
        found = self.text[offset : offset + min(length, 60)].tobytes().decode(errors="replace")
        line = self.first_line + before.count(b"\n")
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

    gz, xz, bz2 and zst are unpacked, known by how they begin.
    """

    live = False

    def __init__(self, paths: Paths, *, size: int = CHUNK) -> None:
        self.files: Sequence[One] = every_file(paths)
        self.size = size
        plain = [file for file in self.files if isinstance(file, str) and os.path.isfile(file)]
        self.again = len(plain) == len(self.files)
        self.bytes_read = 0
        self.bytes_total = sum(map(os.path.getsize, plain)) if self.again else None
        self._begun = False

    def key(self) -> str | None:
        """Which files, how long, and when they were written or changed in any way (which cannot be set back);
        None: not all of them are files."""
        if not self.again:
            return None
        found = [(os.path.abspath(file), os.stat(file)) for file in self.files if isinstance(file, str)]
        return repr([(path, stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns) for path, stat in found])

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
            yield from self._chunks(_unpacked(raw, stack, name), raw, name)

    def _chunks(self, stream: Stream, raw: Stream, name: str, origin: int = 0) -> Iterator[tuple[Chunk, int]]:
        """Chunks of a stream, and how far the file behind it was read."""
        buffers = Buffers(self.size)
        buffer, filled, line, begins = buffers.free(), 0, 1, origin == 0
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
                yield Chunk(text, name, line, origin), _told(raw) - origin
                line += int(np.count_nonzero(text == NEWLINE))
                begins = False
                rest = bytes(memoryview(buffer)[last:filled])
                filled = len(rest)
                del text, buffer
                buffer = buffers.free(filled + 1)
                buffer[:filled] = rest
            elif not at_end:
                if filled >= LONGEST_LINE:
                    begun = Chunk(np.empty(0, np.uint8), name, line, origin).first_line
                    raise BadFile(f"{name}, line {begun}: longer than {LONGEST_LINE >> 20} MiB; is it text?")
                buffer = buffer + bytearray(len(buffer))
            if at_end:
                return


class LineRange(Lines):
    """The lines of one plain file between two bytes; both begin a line, or end the file (`line_starts`)."""

    def __init__(self, path: str, start: int, stop: int, *, size: int = CHUNK) -> None:
        super().__init__([path], size=min(size, stop - start + 1))
        self.start, self.stop = start, stop
        self.bytes_total = stop - start

    def key(self) -> str | None:
        """With its bytes."""
        files = super().key()
        return None if files is None else f"{files} {self.start} {self.stop}"

    def _lines(self, file: One) -> Iterator[tuple[Chunk, int]]:
        name = name_of(file)
        with ExitStack() as stack:
            raw = _opened(file, stack)
            raw.seek(self.start)
            stream = io.BufferedReader(_Limited(raw, self.stop - self.start))
            yield from self._chunks(stream, raw, name, self.start)


def line_starts(path: str, places: Sequence[int]) -> list[int]:
    """For each byte of a plain file where the first line at or after it begins; the file's end is one too."""
    found = []
    with ExitStack() as stack:
        raw = _opened(path, stack)
        for place in places:
            if place > 0:
                raw.seek(place - 1)
                while (line := raw.readline(CHUNK)) and not line.endswith(b"\n"):
                    pass
            found.append(raw.tell() if place > 0 else 0)
    return found


def is_packed(path: str) -> bool:
    """Does it begin as gz, xz, bz2 or zst do?"""
    with ExitStack() as stack:
        raw = _opened(path, stack)
        return _unpacking(_begin(raw, path)[0]) is not None


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


class _Limited(io.RawIOBase):
    """The next so many bytes of a stream, and then its end."""

    def __init__(self, stream: Stream, left: int) -> None:
        self.stream, self.left = stream, left

    def readable(self) -> bool:
        return True

    def readinto(self, room: WriteableBuffer) -> int:
        view = memoryview(room).cast("B")
        got = int(self.stream.readinto(view[: self.left]))
        self.left -= got
        return got


def _count_lines(path: str, stop: int) -> int:
    """Newlines before a byte of a plain file."""
    count = 0
    with ExitStack() as stack:
        raw = _opened(path, stack)
        while stop > 0 and (found := raw.read(min(stop, CHUNK))):
            count, stop = count + found.count(b"\n"), stop - len(found)
    return count


class _Begun(io.RawIOBase):
    """A pipe whose first bytes were read: they are given again."""

    def __init__(self, begin: bytes, rest: Stream) -> None:
        self.begin, self.rest = begin, rest

    def readable(self) -> bool:
        return True

    def readinto(self, room: WriteableBuffer) -> int:
        view = memoryview(room).cast("B")
        if not self.begin:
            return int(self.rest.readinto(view))
        size = min(len(view), len(self.begin))
        view[:size], self.begin = self.begin[:size], self.begin[size:]
        return size


def _begin(raw: Stream, name: str) -> tuple[bytes, Stream]:
    """The first bytes, and the stream with them: a pipe may bring them one by one."""
    try:
        found = raw.peek(MARKED)[:MARKED] if isinstance(raw, io.BufferedReader) else b""
        if len(found) == MARKED:
            return found, raw
        found = raw.read(MARKED)
        if raw.seekable():
            raw.seek(-len(found), io.SEEK_CUR)
            return found, raw
    except OSError as error:
        raise BadFile(f"cannot read {name}: {error.strerror or error}") from None
    return found, io.BufferedReader(_Begun(found, raw))


def _unpacked(raw: Stream, stack: ExitStack, name: str) -> Stream:
    """The file itself, or what is packed in it."""
    begin, raw = _begin(raw, name)
    unpacking = _unpacking(begin)
    return raw if unpacking is None else stack.enter_context(unpacking(raw))


def _unpacking(begin: bytes) -> Callable[[Stream], Stream] | None:
    """What unpacks a file that begins so; None: it is not packed."""
    if begin.startswith(b"\x1f\x8b"):
        return lambda raw: cast("Stream", gzip.GzipFile(fileobj=raw))
    if begin.startswith(b"\xfd7zXZ\x00"):
        return lambda raw: cast("Stream", lzma.LZMAFile(cast("BinaryIO", raw)))
    if begin.startswith(b"BZh") and begin[4:10] in BZIP2:
        return lambda raw: cast("Stream", bz2.BZ2File(raw))
    if begin.startswith(b"\x28\xb5\x2f\xfd") or ZSTD_NOTE.match(begin):
        return lambda raw: cast("Stream", _zstd().ZstdFile(raw))
    return None


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
