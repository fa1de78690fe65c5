"""Real servers for tests: `onmargin serve` in a process of its own, spoken to over HTTP."""

from __future__ import annotations

import http.client
import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

LATE = 60  # seconds that a server may take to start on a busy machine


# For every line: forks a server, which says who and where it is; then how it ended.
MOTHER = """
import json, os, sys
from onmargin.cli.app import main
import onmargin.server.service, onmargin.server.serving
for line in sys.stdin:
    log, command = json.loads(line)
    child = os.fork()
    if not child:
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.dup2(os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT), 2)
        print(os.getpid(), flush=True)
        os._exit(main(command))
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""


class Served:
    """A process on a port of its own choice; `kill` is kill -9, `stop` is asking it to."""

    def __init__(self, folder: Path, *options: str, prefix: tuple[str, ...] = (), **environment: str) -> None:
        self.folder, self.options, self.prefix = folder, options, prefix
        self.clients: list[Client] = []
        self.environment = {**os.environ, **environment}
        self.start()

    def start(self) -> None:
        command = [
            *self.prefix, sys.executable, "-m", "onmargin.cli.app", "serve", "--dir", str(self.folder),
            "--port", "0", "--no-pages", *self.options,
        ]  # fmt: skip
        self.log = self.folder.parent / f"{self.folder.name}.log"
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(
                command, stdout=subprocess.PIPE, stderr=log, text=True, env=self.environment
            )
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if "http://" not in line:
            self.process.wait(LATE)
            raise AssertionError(self.log.read_text()[-2000:])
        self.port = int(line.rpartition(":")[2])

    def kill(self) -> None:
        self.process.kill()
        self.process.communicate()

    def stop(self) -> int:
        self.process.send_signal(signal.SIGTERM)
        self.process.communicate(timeout=LATE)
        return self.process.returncode

    def __enter__(self) -> Served:
        return self

    def __exit__(self, *error: object) -> None:
        for client in self.clients:
            client.connection.close()
        if self.process.poll() is None:
            self.kill()

    def client(self) -> Client:
        self.clients.append(Client(self.port))
        return self.clients[-1]


class Forked(Served):
    """The same with cheap starts: every server is a fork of one process that has imported everything."""

    def __init__(self, folder: Path, *options: str) -> None:
        self.mother = subprocess.Popen(
            [sys.executable, "-c", MOTHER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        super().__init__(folder, *options)

    def _line(self) -> str:
        assert self.mother.stdout is not None
        return self.mother.stdout.readline()

    def start(self) -> None:
        self.log = self.folder.parent / f"{self.folder.name}.log"
        command = ["serve", "--dir", str(self.folder), "--port", "0", "--no-pages", *self.options]
        assert self.mother.stdin is not None
        self.mother.stdin.write(json.dumps([str(self.log), command]) + "\n")
        self.mother.stdin.flush()
        self.child = int(self._line())
        line = self._line()
        assert "http://" in line, (line, self.log.read_text()[-2000:])
        self.port = int(line.rpartition(":")[2])

    def _signal(self, number: int) -> int:
        os.kill(self.child, number)
        self.child = 0
        return int(self._line())

    def kill(self) -> None:
        assert self._signal(signal.SIGKILL) == -signal.SIGKILL

    def stop(self) -> int:
        return self._signal(signal.SIGTERM)

    def __exit__(self, *error: object) -> None:
        for client in self.clients:
            client.connection.close()
        if self.child:
            os.kill(self.child, signal.SIGKILL)
        self.mother.communicate(timeout=LATE)


class Client:
    """One connection that is kept."""

    def __init__(self, port: int) -> None:
        self.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)

    def ask(self, method: str, path: str, body: Any = None, **headers: str) -> tuple[int, Any]:
        """The status, and what JSON says."""
        data = body if body is None or isinstance(body, bytes) else json.dumps(body).encode()
        status, found, _ = self.raw(method, path, data, **headers)
        return status, json.loads(found)

    def raw(
        self, method: str, path: str, body: bytes | None = None, **headers: str
    ) -> tuple[int, bytes, Any]:
        self.connection.request(method, path, body, {k.replace("_", "-"): v for k, v in headers.items()})
        answer = self.connection.getresponse()
        return answer.status, answer.read(), answer.headers

    def post(self, path: str, body: Any) -> Any:
        """What is answered to a request that is good."""
        status, found = self.ask("POST", f"/v1/models/{path}", body)
        assert status < 300, found
        return found

    def get(self, path: str) -> Any:
        status, found = self.ask("GET", path)
        assert status == 200, found
        return found
