"""The door: who may come in, how large a body may be, and the routes that must be quick.

predict, learn and feedback are answered here, without a framework around them; all else by FastAPI, where
they are documented like the others.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, MutableMapping

import msgspec

from ..errors import BadInput, OnmarginError
from .access import COOKIE, Access
from .examples import Examples, LabelledOnes, Late, told
from .measures import Measures
from .plain import Json, Plain
from .refusals import Refusal, TooLarge, status_of
from .service import Service

Scope = MutableMapping[str, Plain]
Receive = Callable[[], Awaitable[MutableMapping[str, Plain]]]
Send = Callable[[MutableMapping[str, Plain]], Awaitable[None]]
Answer = tuple[int, bytes]

log = logging.getLogger("onmargin.server")
encode = msgspec.json.Encoder().encode
read_examples = msgspec.json.Decoder(Examples).decode
read_labelled = msgspec.json.Decoder(LabelledOnes).decode
PATIENCE = 30.0  # seconds that a whole body may take after its head
read_late = msgspec.json.Decoder(Late).decode


class BadBody(Refusal):
    """A body that is no JSON at all."""

    status = 400


class TooSlow(Refusal):
    """A body whose rest does not come."""

    status = 408


class Hot:
    """The three routes that programs call all the time: a name and a body in, a status and a body out."""

    def __init__(self, service: Service) -> None:
        self.service = service
        self.routes = {"predict": self.predict, "learn": self.learn, "feedback": self.feedback}

    async def predict(self, name: str, body: bytes) -> Answer:
        """Answers at once."""
        given = decoded(read_examples, body)
        if isinstance(given, list):
            return 200, encode(self.service.answer(name, given, lambda: body))
        return 200, encode(self.service.answer(name, [given], lambda: body)[0])

    async def learn(self, name: str, body: bytes) -> Answer:
        """Acknowledged when it is durable and applied."""
        given = decoded(read_labelled, body)
        events = self.service.events(name, given if isinstance(given, list) else [given])
        return await self._learned(name, events, not isinstance(given, list), len(body))

    async def feedback(self, name: str, body: bytes) -> Answer:
        """A late label."""
        given = decoded(read_late, body)
        return await self._learned(name, [self.service.late(name, given.id, given.y)], True, len(body))

    async def _learned(self, name: str, events: list[Plain], single: bool, size: int) -> Answer:
        if not events:
            return 200, encode({"events": [], "rounds": self.service.hosted(name).tallies.rounds,
                                "counted": 0, "refused": {}})  # fmt: skip
        loop = asyncio.get_running_loop()
        future: asyncio.Future[Json] = loop.create_future()
        self.service.submit(name, events, future, loop, size)
        answer = await future
        if single and answer["refused"]:
            raise BadInput(answer["refused"]["0"])
        return 200, encode(answer)


class Front:
    """An ASGI application around another one."""

    def __init__(self, service: Service, inner: Plain, access: Access, measures: Measures) -> None:
        self.service, self.inner, self.access, self.measures = service, inner, access, measures
        self.hot, self.most = Hot(service), service.settings.most_bytes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """A request, a socket, or the life of the server."""
        if scope["type"] not in ("http", "websocket"):
            await self.inner(scope, receive, send)
            return
        began, path = time.perf_counter(), scope["path"]
        method = scope.get("method", "GET")
        headers = dict(scope["headers"])
        try:
            token = self.access.check(method, path, scope["query_string"], headers)
        except Refusal as error:
            await self._refuse(scope, receive, send, error)
            self.measures.answered("refused", error.status, time.perf_counter() - began)
            return
        if method == "POST" and path.startswith("/v1/models/") and scope["type"] == "http":
            name, slash, last = path[11:].rpartition("/")
            if slash and last in self.hot.routes:
                status = await self._hot(name, last, headers, receive, send)
                self.measures.answered(last, status, time.perf_counter() - began)
                return
        await self._other(scope, receive, send, headers, token, began)

    async def _hot(
        self, name: str, last: str, headers: dict[bytes, bytes], receive: Receive, send: Send
    ) -> int:
        extra: list[tuple[bytes, bytes]] = []
        try:
            body = await read_body(receive, headers, self.most)
            status, answer = await self.hot.routes[last](name, body)
        except Exception as error:
            status, answer, extra = problem(error)
        await respond(send, status, answer, extra)
        return status

    async def _other(
        self, scope: Scope, receive: Receive, send: Send, headers: dict[bytes, bytes], token: str | None,
        began: float,
    ) -> None:  # fmt: skip
        """Through FastAPI, with a limit on what may come, and a cookie for a token in the address."""
        taken, status, whole = 0, 0, False
        until = asyncio.get_running_loop().time() + PATIENCE

        async def receive_some() -> MutableMapping[str, Plain]:
            nonlocal taken, whole
            message = await (receive() if whole else in_time(receive, until))
            whole = not message.get("more_body")
            taken += len(message.get("body", b""))
            if taken > self.most:
                raise TooLarge(f"the body is larger than {self.most} bytes")
            return message

        async def send_on(message: MutableMapping[str, Plain]) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                if token is not None:
                    cookie = f"{COOKIE}={token}; Path=/; HttpOnly; SameSite=Strict"
                    message["headers"] = [*message["headers"], (b"set-cookie", cookie.encode("latin-1"))]
            await send(message)

        is_http = scope["type"] == "http"
        try:
            if is_http and declared(headers) > self.most:
                raise TooLarge(f"the body has {declared(headers)} bytes; wanted at most {self.most}")
            await self.inner(scope, receive_some if is_http else receive, send_on)
        except Exception as error:
            if not is_http or status:
                raise
            status, answer, extra = problem(error)
            await respond(send, status, answer, extra)
        finally:
            if is_http:
                route = getattr(scope.get("route"), "path", "other")
                self.measures.answered(f"{scope['method']} {route}", status, time.perf_counter() - began)

    async def _refuse(self, scope: Scope, receive: Receive, send: Send, error: Refusal) -> None:
        if scope["type"] == "websocket":
            await receive()
            await send({"type": "websocket.close", "code": 1008})
            return
        await respond(send, *problem(error))


def decoded(decode: Callable[[bytes], Plain], body: bytes) -> Plain:
    """A body as JSON of the kind that is wanted."""
    try:
        return decode(body)
    except msgspec.ValidationError as error:
        raise BadInput(told(error)) from None
    except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
        raise BadBody(f"the body is no JSON ({told(error)})") from None


def declared(headers: dict[bytes, bytes]) -> int:
    """The length that a body says it has."""
    given = headers.get(b"content-length", b"0")
    return int(given) if given.isdigit() else 0


async def read_body(receive: Receive, headers: dict[bytes, bytes], most: int) -> bytes:
    """All of it, unless it is too large."""
    if declared(headers) > most:
        raise TooLarge(f"the body has {declared(headers)} bytes; wanted at most {most}")
    until = asyncio.get_running_loop().time() + PATIENCE
    message = await in_time(receive, until)
    if not message.get("more_body"):
        body: bytes = message.get("body", b"")
        return body
    parts, size = [message["body"]], len(message["body"])
    while message.get("more_body"):
        message = await in_time(receive, until)
        if message["type"] == "http.disconnect":
            raise BadBody("the connection ended within the body")
        parts.append(message.get("body", b""))
        size += len(parts[-1])
        if size > most:
            raise TooLarge(f"the body is larger than {most} bytes")
    return b"".join(parts)


async def in_time(receive: Receive, until: float) -> MutableMapping[str, Plain]:
    """The next part of a body, which nobody may hold back for ever, nor send drop by drop."""
    try:
        async with asyncio.timeout_at(until):
            return await receive()
    except TimeoutError:
        raise TooSlow(f"the rest of the body did not come within {PATIENCE:g} seconds") from None


def problem(error: Exception) -> tuple[int, bytes, list[tuple[bytes, bytes]]]:
    """What is answered to a refusal; a flaw of ours is logged, and told in one line."""
    status, extra = status_of(error), list[tuple[bytes, bytes]]()
    line = " ".join(str(error).encode("utf-8", "replace").decode().split())
    if not isinstance(error, OnmarginError):
        log.error("a flaw of ours", exc_info=error)
        line = f"a flaw of ours ({type(error).__name__}); it is in the log"
    if status == 429:
        extra.append((b"retry-after", b"1"))
    if status == 401:
        extra.append((b"www-authenticate", b"Bearer"))
    if status == 503:
        extra.append((b"retry-after", b"5"))
    return status, encode({"detail": line}), extra


async def respond(send: Send, status: int, body: bytes, extra: list[tuple[bytes, bytes]]) -> None:
    """JSON."""
    headers = [(b"content-type", b"application/json"), (b"content-length", b"%d" % len(body)), *extra]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
