"""A NATS subject as lines: each message is one; in any format of lines."""

from __future__ import annotations

import asyncio
import queue
import threading
from collections.abc import Iterator

from ..errors import BadInput, extra, shown
from .blocks import Source
from .by_name import arriving
from .live import POLL, Arrivals
from .reading.opening import CHUNK, Chunk

MOST_WAITING = 1 << 16  # messages; then the server is made to wait


class NatsSubject(Arrivals):
    """Messages of a subject from the moment this is made; what the server had to drop is an error."""

    def __init__(self, url: str, subject: str, *, idle: float | None = None, timeout: int = 10) -> None:
        try:
            import nats
        except ImportError:
            raise extra("nats-py", "nats") from None
        super().__init__(f"nats subject {subject}", idle)
        self._waiting: queue.Queue[bytes] = queue.Queue(MOST_WAITING)
        self._trouble: BaseException | None = None
        self._read = False
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="onmargin-nats", daemon=True)
        self._thread.start()

        async def subscribe() -> object:
            client = await nats.connect(
                url, connect_timeout=timeout, error_cb=self._note, closed_cb=self._closed,
                allow_reconnect=False, max_reconnect_attempts=1, reconnect_time_wait=0.05,
            )  # fmt: skip
            await client.subscribe(subject, cb=self._arrived)
            await client.flush(timeout)
            return client

        async def in_time() -> object:
            return await asyncio.wait_for(subscribe(), timeout)

        try:
            self._client = asyncio.run_coroutine_threadsafe(in_time(), self._loop).result()
        except Exception as error:
            self._end_thread()
            said = str(error) or type(error).__name__
            raise BadInput(f"cannot ask NATS at {shown(url)}: {said}; is a server there?") from None
        self._trouble = None

    # ---- in the thread of the client

    async def _arrived(self, message: object) -> None:
        data = bytes(getattr(message, "data", b"")).rstrip(b"\n") + b"\n"
        while not self.stop.is_set():
            try:
                self._waiting.put_nowait(data)
                return
            except queue.Full:
                await asyncio.sleep(0.01)

    async def _note(self, error: BaseException) -> None:
        self._trouble = error

    async def _closed(self) -> None:
        if self._trouble is None and not self.stop.is_set():
            self._trouble = ConnectionError("the server closed the connection")

    # ---- in the caller's

    def __iter__(self) -> Iterator[Chunk]:
        if self._read:
            raise BadInput("this was read already, and can be read only once; subscribe again")
        self._read = True
        self.begun()
        try:
            while not self.ended():
                more = self._taken()
                yield from self.lines(more)
                if not more and self._trouble is not None:
                    said = str(self._trouble) or type(self._trouble).__name__
                    raise BadInput(f"{self.name}: {said}; messages may be lost")
        finally:
            self.close()

    def _taken(self) -> bytes:
        """What has arrived, after waiting a moment for the first."""
        try:
            found = [self._waiting.get(timeout=POLL)]
        except queue.Empty:
            return b""
        size = len(found[0])
        while size < CHUNK:
            try:
                found.append(self._waiting.get_nowait())
            except queue.Empty:
                break
            size += len(found[-1])
        return b"".join(found)

    def close(self) -> None:
        """Leave the server."""
        self.stop.set()
        leave = getattr(self._client, "close", None)
        if leave is not None and self._loop.is_running():
            try:
                asyncio.run_coroutine_threadsafe(leave(), self._loop).result(5.0)
            except Exception:  # it is gone already
                pass
        self._end_thread()

    def _end_thread(self) -> None:
        if self._loop.is_running():
            self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(5.0)
        if not self._loop.is_running() and not self._loop.is_closed():
            self._loop.close()


def stream(url: str, subject: str, format: str, *, idle: float | None = None, **options: object) -> Source:
    """Blocks of the messages of a NATS subject from now on; needs `pip install onmargin[nats]`.

    url : like nats://localhost:4222. idle : seconds without anything new after which it ends; None: never.
    options : those of the format's `stream`.
    """
    return arriving(NatsSubject(url, subject, idle=idle), format, options)
