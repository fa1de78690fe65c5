"""A Redis stream as lines: each entry has one in a field; in any format of lines."""

from __future__ import annotations

from collections.abc import Iterator
from typing import cast

from ..errors import BadFile, BadInput, extra, shown
from .blocks import Source
from .by_name import arriving
from .live import Arrivals
from .reading.opening import Chunk

MANY = 1000  # entries asked for at a time
WAIT = 200  # milliseconds

Entry = tuple[bytes, dict[bytes, bytes]]  # its id, its fields


class RedisStream(Arrivals):
    """Entries of a stream in order, from `start` on.

    start : "0" from the first, "$" only new ones, or the id of an entry: those after it.
    last : the id of the last entry that was handed on: the `start` to go on from.
    """

    def __init__(
        self, url: str, stream: str, *, field: str = "line", start: str = "0", idle: float | None = None
    ) -> None:
        try:
            import redis
        except ImportError:
            raise extra("redis", "redis") from None
        self.stream, self.field, self.start, self.last = stream, field, start, start
        super().__init__(f"redis stream {stream}", idle)
        self.again = start != "$" and idle is not None
        self._broken = redis.RedisError
        try:
            self._server = redis.Redis.from_url(url)
            if start == "$":  # new from now on, not from the first look on
                newest = cast("list[Entry]", self._server.xrevrange(stream, count=1))
                self.last = self.start = newest[0][0].decode() if newest else "0-0"
        except (redis.RedisError, ValueError) as error:
            raise BadInput(f"cannot ask Redis at {shown(url)}: {error}; is a server there?") from None

    def __iter__(self) -> Iterator[Chunk]:
        self.begun()
        self.bytes_read, self.last = 0, self.start
        while not self.ended():
            try:
                answer = self._server.xread({self.stream: self.last}, count=MANY, block=WAIT)
            except self._broken as error:
                raise BadInput(f"cannot read {self.name}: {error}") from None
            for _, entries in cast("list[tuple[bytes, list[Entry]]]", answer or []):
                lines = [self._line(number, entry) for number, entry in entries]
                yield from self.lines(b"".join(lines))
                self.last = entries[-1][0].decode()

    def _line(self, number: bytes, entry: dict[bytes, bytes]) -> bytes:
        line = entry.get(self.field.encode())
        if line is None:
            names = [name.decode(errors="replace") for name in entry]
            raise BadFile(
                f"{self.name}, entry {number.decode()}: its fields are {shown(names)}; wanted "
                f"{shown(self.field)} (field=...)"
            )
        return line.rstrip(b"\n") + b"\n"


def stream(
    url: str,
    stream: str,
    format: str,
    *,
    field: str = "line",
    start: str = "0",
    idle: float | None = None,
    **options: object,
) -> Source:
    """Blocks of the entries of a Redis stream; needs `pip install onmargin[redis]`.

    url : like redis://localhost:6379/0. field : the field with the line.
    start : "0" from the first entry, "$" only new ones, or an entry's id: those after it.
    idle : seconds without anything new after which it ends; None: never.
    options : those of the format's `stream`.
    """
    return arriving(RedisStream(url, stream, field=field, start=start, idle=idle), format, options)
