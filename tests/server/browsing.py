"""A real server process for people, and a real Chromium that looks at it."""

from __future__ import annotations

import gzip
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

CHROMIUM = shutil.which("chromium")
FLAGS = [
    "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
]  # fmt: skip
needs_chromium = pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium: apt-get install chromium")
SIGNS = {
    "spam": "win prize free cash claim now txt call urgent".split(),
    "ham": "ok lunch home see you later meet love".split(),
}


def messages(count: int) -> dict[str, str]:
    """Messages and their labels: the SMS Spam Collection where it is, else made up."""
    real = Path(os.environ.get("ONMARGIN_DATA", ""), "sms_spam", "SMSSpamCollection.gz")
    if real.is_file():
        lines = gzip.decompress(real.read_bytes()).decode().splitlines()
        pairs = [line.split("\t", 1) for line in lines[:count]]
        return {" ".join(text.split()): label for label, text in pairs}
    draw = np.random.default_rng(0)
    found: dict[str, str] = {}
    while len(found) < count:
        label = "spam" if draw.random() < 0.2 else "ham"
        words = draw.choice(SIGNS[label], 5).tolist() + draw.choice(SIGNS["spam"] + SIGNS["ham"], 3).tolist()
        found[" ".join(map(str, draw.permutation(words)))] = label
    return found


class Server:
    """`onmargin label DATA --web` in a process of its own; killed and started again on the same port."""

    def __init__(self, data: Path, folder: Path, *more: str) -> None:
        self._command = [
            sys.executable,
            "-m",
            "onmargin.cli.app",
            "label",
            str(data),
            "--web",
            "--save",
            str(folder),
            *more,
        ]
        self._port = 0
        self.start()

    def start(self) -> None:
        """Until it says where it is."""
        command = [*self._command, "--port", str(self._port)]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        line = self.process.stdout.readline()
        found = re.search(r"(http://127\.0\.0\.1:(\d+))(\S+)", line)
        if found is None:
            self.process.kill()
            raise AssertionError(f"the server said {line!r} and {self.process.communicate()[1]!r}")
        self.address, self.path, self._port = found[1], found[3], int(found[2])

    def kill(self) -> None:
        """As a power cut would."""
        self.process.kill()
        self.process.communicate()

    def stop(self) -> str:
        """As Ctrl-C does; what it said at the end."""
        self.process.send_signal(2)
        out, errors = self.process.communicate(timeout=30)
        assert "Traceback" not in errors, errors
        return out


@contextmanager
def chromium() -> Iterator[object]:
    """A browser."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield browser
        browser.close()


class Visitor:
    """Somebody with a browser of their own. `requests`: every address it asked for."""

    def __init__(self, browser: object, server: Server, scheme: str = "light", width: int = 1280) -> None:
        self.context = browser.new_context(color_scheme=scheme, viewport={"width": width, "height": 844})
        self.page, self.server = self.context.new_page(), server
        self.requests: list[str] = []
        self.errors: list[str] = []
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.on("websocket", lambda socket: self.requests.append(socket.url))
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.set_default_timeout(20_000)

    def visit(self, path: str) -> Visitor:
        self.page.goto(self.server.address + path)
        return self

    def label(self) -> Visitor:
        """At the desk, with a question on the screen."""
        self.visit(self.server.path)
        self.page.wait_for_selector("[data-item]")
        return self

    @property
    def item(self) -> int:
        """The number of the item on the screen."""
        return int(self.page.get_attribute("[data-item]", "data-item"))

    @property
    def text(self) -> str:
        return " ".join(self.page.inner_text("[data-item] .text").split())

    def press(self, key: str) -> None:
        """A key, and wait until another item is there."""
        before = self.item
        self.page.keyboard.press(key)
        self.page.wait_for_function(
            "n => ![null, n].includes(document.querySelector('[data-item]')?.dataset.item ?? null)",
            arg=str(before),
        )

    def answered(self) -> int:
        """As the page says."""
        return int(self.page.inner_text(".desk aside .numbers b").replace(",", ""))

    def wait_answered(self, count: int) -> None:
        self.page.wait_for_function(
            "n => document.querySelector('.desk aside .numbers b')?.textContent === String(n)", arg=count
        )

    def outside(self) -> list[str]:
        """Requests that left the machine."""
        ours = (self.server.address, self.server.address.replace("http", "ws"), "data:", "blob:")
        return [address for address in self.requests if not address.startswith(ours)]
