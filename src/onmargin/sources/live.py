"""Lines that arrive: a file that grows, a socket; in any format of lines."""

from __future__ import annotations

import os
import socket
import threading
import time
from collections.abc import Iterator, Sequence
from typing import BinaryIO

import numpy as np

from ..errors import BadFile, BadInput, NoFile, shown
from .blocks import Source
from .by_name import arriving
from .reading.opening import BOM, CHUNK, LONGEST_LINE, Chunk

POLL = 0.1  # seconds between two looks


class Arrivals:
    """Bytes as they arrive, handed on as chunks of whole lines; an end is told by `idle` or `stop`.

    idle : seconds without anything new after which it ends; None: never.
    stop : set it (from another thread) to end.
    """

    live = True
    again = False
    bytes_total: int | None = None

    def __init__(self, name: str, idle: float | None = None) -> None:
        if idle is not None and not idle >= 0:
            raise BadInput(f"idle={shown(idle)}; wanted seconds, or None for no end")
        self.name, self.idle, self.stop = name, idle, threading.Event()
        self.bytes_read = 0
        self.line = 1
        self._rest = b""
        self._last = time.monotonic()

    @property
    def files(self) -> Sequence[object]:
        """Its name: it is no file for a cache."""
        return [self.name]

    def key(self) -> str | None:
        """None: what arrives is not kept."""
        return None

    def ended(self) -> bool:
        """Is it told to end, or was nothing new for too long?"""
        return self.stop.is_set() or (self.idle is not None and time.monotonic() - self._last >= self.idle)

    def begun(self) -> None:
        """From line 1 on."""
        self.line, self._rest, self._last = 1, b"", time.monotonic()

    def lines(self, more: bytes, last: bool = False) -> Iterator[Chunk]:
        """The whole lines that there are with these bytes; with `last` what has no newline is a line too."""
        if more:
            self._last = time.monotonic()
            self.bytes_read += len(more)
        whole = self._rest + more
        if self.line == 1 and whole.startswith(BOM):
            whole = whole[len(BOM) :]
        end = whole.rfind(b"\n") + 1
        whole, self._rest = whole[:end], whole[end:]
        if last and self._rest:
            whole, self._rest = whole + self._rest + b"\n", b""
        if len(self._rest) > LONGEST_LINE:
            raise BadFile(f"{self.name}, line {self.line}: longer than {LONGEST_LINE >> 20} MiB; is it text?")
        if whole:
            text = np.frombuffer(whole, np.uint8)
            yield Chunk(text, self.name, self.line)
            self._last = time.monotonic()  # (what whoever reads took for it was no idleness)
            self.line += whole.count(b"\n")

    def rest(self) -> Iterator[Chunk]:
        """A last line without a newline: whole where nothing more came, half of one where it was stopped."""
        if not self.stop.is_set():
            yield from self.lines(b"", last=True)

    def forget(self) -> None:
        """The beginning of a line whose end will not come."""
        self._rest = b""


class GrowingFile(Arrivals):
    """The lines of a file, and those that are written to it later.

    A file that takes its name (rotation) is read from its beginning when the old one is read to its end; one
    that became shorter (truncation) from its beginning too. A name without a file is waited for.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        poll: float = POLL,
        idle: float | None = None,
        new: bool = False,
    ) -> None:
        self.path, self.poll, self.new = os.fspath(path), poll, new
        if not poll > 0:
            raise BadInput(f"poll={shown(poll)}; wanted seconds above 0")
        if not os.path.exists(self.path) and not os.path.isdir(os.path.dirname(self.path) or "."):
            raise NoFile(f"there is no folder for {shown(self.path, 200)}")
        super().__init__(self.path, idle)
        self._old = self._there() if new else None

    def _there(self) -> os.stat_result | None:
        """The file that has the name now."""
        try:
            return os.stat(self.path)
        except OSError:
            return None

    def _first_new(self, file: BinaryIO) -> int:
        """Where that begins which was written since it was asked for."""
        there, old = os.fstat(file.fileno()), self._old
        same = old is not None and os.path.samestat(there, old) and there.st_size >= old.st_size
        return old.st_size if old is not None and same else 0

    def __iter__(self) -> Iterator[Chunk]:
        skips = self.new
        self.begun()
        while not self.ended():
            try:
                file = open(self.path, "rb")  # noqa: SIM115
            except FileNotFoundError:
                skips = False  # what comes is new
                self.stop.wait(self.poll)
                continue
            except OSError as error:
                raise BadFile(f"cannot read {shown(self.path, 200)}: {error.strerror}") from None
            with file:
                if skips:
                    file.seek(self._first_new(file))
                skips = False
                yield from self._grown(file)
            self.line = 1
        yield from self.rest()

    def _grown(self, file: BinaryIO) -> Iterator[Chunk]:
        """One file until another has its name, or the end."""
        last_look = False
        while True:
            more = file.read(CHUNK)
            yield from self.lines(more)
            if more:
                continue
            if last_look:  # nothing was added after the name had gone
                yield from self.lines(b"", last=True)
                return
            if self.ended():
                return
            if os.fstat(file.fileno()).st_size < file.tell():
                self.forget()
                self.line = 1
                file.seek(0)
            elif self._is_replaced(file):
                last_look = True
            else:
                self.stop.wait(self.poll)

    def _is_replaced(self, file: BinaryIO) -> bool:
        try:
            now = os.stat(self.path)
        except OSError:
            return False  # it is being replaced: wait for the new one
        return not os.path.samestat(now, os.fstat(file.fileno()))


class SocketLines(Arrivals):
    """The lines that a server at host:port sends, until it closes."""

    def __init__(self, address: str, *, idle: float | None = None, timeout: float = 10.0) -> None:
        host, _, port = address.rpartition(":")
        if not host or not port.isdigit() or not 0 < int(port) < 65536:
            raise BadInput(f"the address {shown(address)}; wanted host:port")
        super().__init__(address, idle)
        try:
            self._socket = socket.create_connection((host.strip("[]"), int(port)), timeout)
        except OSError as error:
            raise BadInput(
                f"cannot connect to {address}: {error.strerror or error}; is a server there?"
            ) from None

    def __iter__(self) -> Iterator[Chunk]:
        if self._socket.fileno() < 0:
            raise BadInput("this was read already, and can be read only once; connect again")
        self.begun()
        with self._socket as connection:
            connection.settimeout(POLL)
            while not self.ended():
                try:
                    more = connection.recv(CHUNK)
                except TimeoutError:
                    continue
                except OSError as error:
                    raise BadInput(f"the connection to {self.name} broke: {error.strerror}") from None
                if not more:
                    break
                yield from self.lines(more)
            yield from self.rest()


def follow(
    path: str | os.PathLike[str],
    format: str,
    *,
    poll: float = POLL,
    idle: float | None = None,
    new: bool = False,
    **options: object,
) -> Source:
    """Blocks of what is in a file and of what is written to it later; each goes out as soon as it is there.

    poll : seconds between two looks. idle : seconds without anything new after which it ends; None: never.
    new : only what is written from now on.
    options : those of the format's `stream`.
    """
    return arriving(GrowingFile(path, poll=poll, idle=idle, new=new), format, options)


def connect(address: str, format: str, *, idle: float | None = None, **options: object) -> Source:
    """Blocks of the lines that a server at "host:port" sends, until it closes or is idle so many seconds."""
    return arriving(SocketLines(address, idle=idle), format, options)
