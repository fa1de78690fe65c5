"""`onmargin serve` under load on loopback, beside learners of others behind FastAPI: requests a second."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from .contest import HTTP, SERVED, Result, line
from .datasets import ROOT, number_dicts

MISSING = "" if shutil.which("wrk") else "wrk is not installed (Debian's package wrk)"
LINES = 11
MODEL = "/v1/models/bench"
BODIES = 200  # different ones, sent in turn
# Posts the lines of a file in turn; says requests, seconds, the 99th percentile and how many were refused.
SCRIPT = """
local bodies, at = {}, 0
for one in io.lines(os.getenv("BODIES")) do bodies[#bodies + 1] = one end
wrk.method, wrk.headers["Content-Type"] = "POST", "application/json"
function request() at = at % #bodies + 1; return wrk.format(nil, nil, nil, bodies[at]) end
function done(all, latency)
  local bad = all.errors.status + all.errors.read + all.errors.write + all.errors.timeout
  io.write(string.format("FOUND %d %f %f %d\\n", all.requests, all.duration / 1e6,
                         latency:percentile(99) / 1e3, bad))
end
"""


class Load(NamedTuple):
    """What a run of the load generator came to."""

    a_second: float
    p99: float  # milliseconds
    refused: int


def _free_port() -> int:
    with socket.socket() as door:
        door.bind(("127.0.0.1", 0))
        return int(door.getsockname()[1])


def post(address: str, body: object) -> Any:
    """The answer to one request."""
    asked = urllib.request.Request(
        address, json.dumps(body).encode(), {"Content-Type": "application/json"}, method="POST"
    )
    with urllib.request.urlopen(asked, timeout=60) as answer:
        return json.load(answer)


@contextmanager
def running(command: list[str], port: int, path: str) -> Iterator[str]:
    """A server process that answers at `path`; stopped as operators stop it."""
    address = f"http://127.0.0.1:{port}"
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    try:
        for _ in range(600):
            try:
                urllib.request.urlopen(address + path, timeout=5).close()
                break
            except OSError:
                if process.poll() is not None:
                    assert process.stderr is not None
                    raise SystemExit(f"{command}: {process.stderr.read().decode()[-500:]}") from None
                time.sleep(0.1)
        yield address
    finally:
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=120)


class Loads:
    """Bodies in files, and wrk over them."""

    def __init__(self, folder: Path, seconds: float) -> None:
        self._folder, self._seconds = folder, seconds
        (folder / "post.lua").write_text(SCRIPT)
        rounds = [(x, "yes" if y else "no") for x, y in number_dicts(BODIES * 100)]
        named = [({f"f{name}": value for name, value in x.items()}, y) for x, y in rounds]
        self._write("ask", [{"x": x} for x, _ in named[:BODIES]])
        self._write("learn", [{"x": x, "y": y} for x, y in named[:BODIES]])
        hundreds = [named[at : at + 100] for at in range(0, len(named), 100)]
        self._write("ask_100", [[{"x": x} for x, _ in some] for some in hundreds])
        self._write("learn_100", [[{"x": x, "y": y} for x, y in some] for some in hundreds])
        self.first = {"x": named[0][0], "y": named[0][1]}

    def _write(self, name: str, bodies: list[Any]) -> None:
        (self._folder / name).write_text("".join(json.dumps(body) + "\n" for body in bodies))

    def start(self, address: str, what: str, clients: int, seconds: float | None = None) -> Any:
        """wrk with so many connections in one thread, running."""
        lasting = f"{seconds or self._seconds:g}s"
        command = ["wrk", "-t1", f"-c{clients}", f"-d{lasting}", "-s", str(self._folder / "post.lua")]
        bodies = {**os.environ, "BODIES": str(self._folder / what)}
        return subprocess.Popen([*command, address], env=bodies, stdout=subprocess.PIPE, text=True)

    @staticmethod
    def ended(process: Any) -> Load:
        """What it found."""
        said = process.communicate()[0]
        found = re.search(r"FOUND (\d+) ([\d.]+) ([\d.]+) (\d+)", said)
        if found is None:
            raise SystemExit(f"wrk said: {said}")
        requests, seconds, p99, bad = found.groups()
        return Load(int(requests) / float(seconds), float(p99), int(bad))

    def run(self, address: str, what: str, clients: int) -> Load:
        """A whole run."""
        return self.ended(self.start(address, what, clients))


def _result(title: str, values: list[float], hold: float | None, unit: str, note: str) -> Result:
    group = SERVED if unit == "ms" else HTTP
    median = statistics.median(values)
    made = line(group, title, "", hold=hold)
    return Result(made, "serving", note, median, min(values), max(values), None, unit)


def _replayed(folder: Path) -> float:
    """Events a second: the whole journal again, from an empty model."""
    from onmargin.server.service import Service
    from onmargin.server.settings import Settings

    service = Service(folder, Settings())
    try:
        began = time.perf_counter()
        rounds = sum(found.rounds for found in service.verify())
        return rounds / (time.perf_counter() - began)
    finally:
        service.close()


def _ours(loads: Loads, folder: Path, repetitions: int) -> tuple[list[Result], dict[str, float]]:
    port = _free_port()
    command = [str(Path(sys.executable).with_name("onmargin")), "serve", "--dir", str(folder / "ours")]
    found: dict[str, list[float]] = {}
    refused = 0
    with running([*command, "--port", str(port)], port, "/healthz") as address:
        post(address + MODEL, {"algorithm": "pa1", "C": 1.0})
        post(f"{address}{MODEL}/learn", loads.first)
        for repetition in range(repetitions + 1):  # the first warms up
            for what, clients in (("ask", 16), ("ask_100", 16), ("learn", 16), ("learn_100", 16)):
                load = loads.run(
                    f"{address}{MODEL}/{'predict' if what[0] == 'a' else 'learn'}", what, clients
                )
                refused += load.refused
                found.setdefault(what, []).append(load.a_second)
            learning = loads.start(f"{address}{MODEL}/learn", "learn", 16)
            found.setdefault("p99", []).append(loads.run(f"{address}{MODEL}/predict", "ask", 4).p99)
            loads.ended(learning)
            if repetition == 0:
                found.clear()
    note = (
        "10 numbers by name a row, PA-I; wrk in one thread beside one process; every commit of SQLite synced"
    )
    if refused:
        note += f"; {refused} requests were answered 429 or worse"
    learned = [100 * number for number in found["learn_100"]]
    replayed = [_replayed(folder / "ours") for _ in range(repetitions)]
    lines = [
        _result("predictions, one a request", found["ask"], 8_000, "/s", note),
        _result("predict requests of 100", found["ask_100"], 2_500, "/s", note),
        _result("durable learns, 16 clients", found["learn"], 2_000, "/s", note),
        _result("durable examples, by 100", learned, 50_000, "/s", note),
        _result("events replayed", replayed, 200_000, "/s", "`onmargin serve --verify` of what was learned"),
        _result("p99 of predict, learning", found["p99"], 20, "ms", note),
    ]
    return lines, {what: statistics.median(found[what]) for what in ("ask", "learn")}


def _peers(loads: Loads, repetitions: int, own: dict[str, float]) -> Iterator[Result]:
    """Others' learners behind FastAPI, in memory alone: nothing they are told outlives them."""
    for name, title in (("river", "River in FastAPI"), ("vw", "Vowpal Wabbit in FastAPI")):
        port = _free_port()
        command = [sys.executable, "-m", "benchmarks.served_peers", name, str(port)]
        with running(command, port, "/healthz") as address:
            for what, word in (("ask", "predict"), ("learn", "learn")):
                values = [loads.run(f"{address}/{word}", what, 16).a_second for _ in range(repetitions)]
                times = own[what] / statistics.median(values)
                note = f"ours {times:.2f}x of {title} at {word}, which keeps nothing on disk"
                yield _result(f"{title.replace('Vowpal Wabbit', 'VW')}: {word}", values, None, "/s", note)


def measured(quick: bool) -> Iterator[Result]:
    """Every line, ours first."""
    repetitions, seconds = (1, 1.0) if quick else (3, 4.0)
    with TemporaryDirectory() as name:
        folder = Path(name)
        loads = Loads(folder, seconds)
        lines, own = _ours(loads, folder, repetitions)
        yield from lines
        yield from _peers(loads, repetitions, own)
