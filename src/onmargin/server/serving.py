"""A server from its start to its end: JSON logs, a line that says where it is, an orderly stop."""

from __future__ import annotations

import gc
import json
import logging
import os
import signal
import socket
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import uvicorn

from ..errors import BadInput
from .access import Access
from .app import application
from .labelling.desk import Desk
from .plain import Plain
from .service import Service
from .settings import Settings

SWITCH = 0.001  # seconds after which the thread that learns lets the one that answers go on
PATIENCE = 10  # seconds that requests under way have when the server stops
SILENCE = 30.0  # seconds that a connection may be open without a whole request
TIME = "%Y-%m-%dT%H:%M:%S"
log = logging.getLogger("onmargin.server")


class Lines(logging.Formatter):
    """A line of JSON for each."""

    def format(self, record: logging.LogRecord) -> str:
        """When, how bad, where, what."""
        found = {
            "at": f"{time.strftime(TIME, time.gmtime(record.created))}.{int(record.msecs):03d}Z",
            "level": record.levelname.lower(), "logger": record.name, "message": record.getMessage(),
        }  # fmt: skip
        if record.exc_info:
            found["trace"] = self.formatException(record.exc_info)
        return json.dumps(found)


class Server(uvicorn.Server):
    """uvicorn's, which says when it is ready, and leaves signals to us."""

    ready: Callable[[str], None] = staticmethod(lambda url: None)

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.since: dict[
            Plain, tuple[float, Plain]
        ] = {}  # connections in the midst of no request, and which was last

    async def startup(self, sockets: Plain = None) -> None:
        """Listening, and told so."""
        await super().startup(sockets)
        if self.started:
            host, port = self.servers[0].sockets[0].getsockname()[:2]
            shown = f"[{host}]" if ":" in host else host
            self.ready(f"http://{shown}:{port}")

    async def on_tick(self, counter: int) -> bool:
        """Now and then: whoever began a request and does not say what they want makes room for others."""
        if counter % 10 == 0:
            now = time.monotonic()
            silent = {
                one: one.cycle
                for one in self.server_state.connections
                if hasattr(one, "cycle") and (one.cycle is None or one.cycle.response_complete)
            }
            self.since = {
                one: self.since[one] if one in self.since and self.since[one][1] is cycle else (now, cycle)
                for one, cycle in silent.items()
            }
            for one, (since, _) in self.since.items():
                if now - since > SILENCE:
                    one.transport.close()
        return await super().on_tick(counter)

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """TERM and INT: finish what is under way, then stop."""

        def stop(number: int, frame: object) -> None:
            self.force_exit, self.should_exit = self.should_exit, True

        before = {number: signal.signal(number, stop) for number in (signal.SIGTERM, signal.SIGINT)}
        try:
            yield
        finally:
            for number, old in before.items():
                signal.signal(number, old)


def serve(
    folder: Path, settings: Settings, host: str, port: int, ready: Callable[[str], None], *,
    pages: bool = True, begin: Callable[[Desk], None] | None = None,
) -> None:  # fmt: skip
    """Until a signal says stop; every model is saved then. `begin` is called before anybody comes."""
    access = Access.of(host, os.environ)
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(Lines())
    logging.basicConfig(level=logging.INFO, handlers=[handler], force=True)
    for name in ("uvicorn", "uvicorn.error", "httpx", "numba"):
        logging.getLogger(name).setLevel(logging.WARNING)
    began = time.monotonic()
    service = Service(folder, settings)
    desk = Desk(service)
    try:
        if begin is not None:
            begin(desk)
        for line in service.warnings:
            log.warning("a snapshot was left out: %s", line)
        rounds = sum(service.state(name)["rounds"] for name in service.names())
        log.info(
            "%d models, %d rounds, ready in %.2f s", len(service.names()), rounds, time.monotonic() - began
        )
        sys.setswitchinterval(SWITCH)
        config = uvicorn.Config(
            application(service, access, pages=pages, desk=desk), host=host, port=port, log_config=None,
            access_log=False, lifespan="on", timeout_graceful_shutdown=PATIENCE, server_header=False,
            backlog=2048,
        )  # fmt: skip
        server = Server(config)
        server.ready = ready
        gc.collect()
        gc.freeze()
        with closing(bound_to(host, port)) as place:
            server.run([place])
    finally:
        desk.close()
        service.close()
        log.info("stopped")


def bound_to(host: str, port: int) -> socket.socket:
    """The address is ours, or one line says why not."""
    place = None
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        place = socket.socket(family, kind, protocol)
        place.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        place.bind(address)
    except OSError as error:
        if place is not None:
            place.close()
        why = str(error.strerror or error).lower()
        raise BadInput(f"{host}:{port}: {why}; use another --host or --port (0: any that is free)") from None
    return place
