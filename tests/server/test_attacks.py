"""People who are slow, leave, or come in crowds; a stop while they are there: others never notice."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import threading
import time
from contextlib import ExitStack, closing, suppress

from .processes import LATE, Client, Served
from .test_crashes import Person

HURRIED = """
import sys
from pathlib import Path
from onmargin.server import front, serving
from onmargin.server.settings import Settings
front.PATIENCE, serving.SILENCE = 0.5, 1.5
serving.serve(Path(sys.argv[1]), Settings(), "127.0.0.1", 0, lambda url: print(url, flush=True), pages=False)
"""
BODY = b'{"x": {"a": 1}, "y": "spam"}'
HEAD = b"POST /v1/models/m/learn HTTP/1.1\r\nHost: localhost\r\nContent-Length: 28\r\n"
RESET = b"\1\0\0\0\0\0\0\0"  # SO_LINGER: close at once


def test_slow_clients_are_let_go_and_nobody_waits_for_them(tmp_path):
    command = [sys.executable, "-c", HURRIED, str(tmp_path / "s")]
    with ExitStack() as opened, open(tmp_path / "log", "wb") as log:
        server = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log, text=True)
        opened.callback(server.communicate)
        opened.callback(server.kill)
        port = int(server.stdout.readline().rpartition(":")[2])
        client = Client(port)
        opened.enter_context(closing(client.connection))
        client.post("m", {"algorithm": "pa1"})
        client.post("m/learn", json.loads(BODY))
        begun = {
            "nothing": b"", "a line": b"POST /v1", "a head": HEAD, "a body": HEAD + b"\r\n" + BODY[:9],
            "no body": HEAD + b"\r\n", "drops": HEAD.replace(b"28", b"2800") + b"\r\n",
        }  # fmt: skip
        slow = {}
        for what, sent in begun.items():
            slow[what] = opened.enter_context(socket.create_connection(("127.0.0.1", port), timeout=LATE))
            slow[what].sendall(sent)
        client.connection.close()  # (silent for so long it would be closed too; it comes back by itself)
        for part in (b"", b"\r\n", b"\r\n" + BODY[:9]):  # those who leave in the midst of it
            with socket.create_connection(("127.0.0.1", port)) as gone:
                gone.sendall(HEAD + part)
                gone.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
        assert client.post("m/learn", json.loads(BODY))["rounds"] == 2
        deadline = time.monotonic() + LATE
        slow["drops"].settimeout(0.1)
        answer = b""
        while not answer and time.monotonic() < deadline:
            slow["drops"].sendall(b" ")
            with suppress(TimeoutError):
                answer = slow["drops"].recv(1000)
        assert answer.startswith(b"HTTP/1.1 408")
        for what in ("a body", "no body"):
            assert slow[what].recv(1000).startswith(b"HTTP/1.1 408"), what
        for what in ("nothing", "a line", "a head"):
            assert slow[what].recv(1000) == b"", what
        client.connection.close()
        assert client.get("/v1/models/m")["rounds"] == 2
    assert b"flaw" not in (tmp_path / "log").read_bytes()


def test_a_stop_under_load_keeps_what_was_acknowledged(tmp_path):
    with Served(tmp_path / "s") as server:
        server.client().post("m", {"algorithm": "pa1", "C": 0.5})
        people = [Person(number) for number in range(1, 5)]
        for person in people:
            person.port = server.port
            person.start()
        deadline = time.monotonic() + LATE
        while sum(len(person.acknowledged) for person in people) < 100 and time.monotonic() < deadline:
            time.sleep(0.01)
        stopped = threading.Thread(target=server.stop)
        stopped.start()
        stopped.join()
        for person in people:
            person.over = True
            person.join()
            assert not person.wrong or "stopping" in person.wrong
        assert server.process.returncode == 0
        acknowledged = {key: event for person in people for key, event in person.acknowledged.items()}
        assert len(acknowledged) > 20 and "flaw" not in server.log.read_text()
        server.start()
        lines = server.client().raw("GET", "/v1/models/m/journal")[1].splitlines()
        events = {line["key"]: line["event"] for line in map(json.loads, lines)}
        assert acknowledged.items() <= events.items() and len(events) == len(lines)
        assert server.stop() == 0


def test_crowds_that_make_undo_save_and_learn_at_once(tmp_path):
    """Every answer is one of those promised, and a replay comes to the same."""
    with Served(tmp_path / "s", "--snapshot-every", "50") as server:
        server.client().post("m", {"algorithm": "pa1"})
        found: list[tuple[str, int]] = []

        def come(number: int) -> None:
            client = Client(server.port)
            with closing(client.connection):
                for turn in range(15):
                    learned = client.post(
                        "m/learn", [{"x": {f"f{k}": k - turn}, "y": "ab"[k % 2]} for k in range(9)]
                    )
                    asks = [
                        ("POST", f"/v1/models/other{turn}", b'{"algorithm": "pa1"}', (201, 409)),
                        ("POST", "/v1/models/m/undo", b'{"event": %d}' % learned["events"][number], (200,)),
                        ("GET", "/v1/models/m/snapshot", None, (200,)),
                        ("GET", f"/v1/models/m/snapshot?round={turn}", None, (200,)),
                        ("GET", "/v1/models/m/journal", None, (200,)),
                    ]
                    method, path, body, wanted = asks[(turn + number) % len(asks)]
                    status = client.raw(method, path, body)[0]
                    if status not in wanted:
                        found.append((path, status))

        crowd = [threading.Thread(target=come, args=(number,)) for number in range(6)]
        for one in crowd:
            one.start()
        for one in crowd:
            one.join()
        assert found == []
        rounds = server.client().get("/v1/models/m")["rounds"]
        assert rounds == 6 * 15 * 9 - 6 * 3 and server.stop() == 0
    command = [
        sys.executable,
        "-m",
        "onmargin.cli.app",
        "serve",
        "--dir",
        str(tmp_path / "s"),
        "--verify",
        "--json",
    ]
    done = subprocess.run(command, capture_output=True, text=True, timeout=LATE)
    told = [json.loads(line) for line in done.stdout.splitlines()]
    assert done.returncode == 0 and next(one for one in told if one["model"] == "m")["rounds"] == rounds
