"""The pictures of `labelling` and `server`: the pages as a browser shows them, over made-up messages."""

from __future__ import annotations

import json
import random
import re
import shutil
import subprocess
import sys
import tempfile
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

DOCS = Path(__file__).parent.parent
FLAGS = ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking",
         "--disable-component-update", "--disable-sync", "--hide-scrollbars"]  # fmt: skip
KEYS = {"ham": "1", "spam": "2"}
PARTS: dict[str, list[list[str]]] = {
    "spam": [
        ["You have won", "Claim now:", "Last chance for", "Text WIN to get", "Your number was drawn for"],
        ["a free prize", "a cash voucher", "a new phone", "two tickets", "a week in the sun"],
        ["call today.", "reply STOP to end.", "only this week!", "no cost to you.", "offer ends soon."],
    ],
    "ham": [
        ["Are you free", "Shall we meet", "I have two tickets,", "Can you call me", "See you"],
        ["for lunch", "after work", "at the station", "this week", "tomorrow at noon"],
        ["as always?", "or a bit later?", "I am on my way.", "love from mum.", "no hurry."],
    ],
}


def messages(count: int = 240) -> dict[str, str]:
    """Texts and their labels, the same every time."""
    draw, found = random.Random(0), dict[str, str]()
    while len(found) < count:
        label = "spam" if draw.random() < 0.4 else "ham"
        found[" ".join(draw.choice(part) for part in PARTS[label])] = label
    return found


@contextmanager
def served(folder: Path, truths: dict[str, str]) -> Iterator[str]:
    """The address of `onmargin label messages.txt --web`, in a process of its own."""
    data = folder / "messages.txt"
    data.write_text("".join(f"{text}\n" for text in truths), encoding="utf-8")
    command = [sys.executable, "-m", "onmargin.cli.app", "label", str(data), "--web", "--port", "0", "--save",
               str(folder / "messages.d"), "--classes", "ham,spam"]  # fmt: skip
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        try:
            assert process.stdout is not None
            found = re.search(r"http://[^/\s]+", process.stdout.readline())
            assert found is not None, "the server did not start"
            yield found[0]
        finally:
            process.terminate()


def teach(address: str, truths: dict[str, str]) -> None:
    """A second and a third model, each with a stream of labels."""
    from sklearn.datasets import load_digits

    X, y = load_digits(return_X_y=True)
    images = [{"x": row, "y": label} for row, label in zip((X / 16).tolist(), y.tolist(), strict=True)]
    texts = [{"text": text, "y": label} for text, label in truths.items()]
    recipe = {"algorithm": "pa1", "C": 0.1, "random_state": 0}
    for name, more, rows in (("digits", {}, images), ("mail", {"text": True}, texts)):
        at = f"{address}/v1/models/{name}"
        for to, body in ((at, recipe | more), (f"{at}/learn", rows)):
            urllib.request.urlopen(to, json.dumps(body).encode()).close()


def main(folder: Path = DOCS) -> None:
    """Ninety answers by keyboard, a picture; three models, a picture of the first two."""
    from playwright.sync_api import sync_playwright

    truths = messages()
    with (
        tempfile.TemporaryDirectory() as work,
        served(Path(work), truths) as address,
        sync_playwright() as play,
    ):
        browser = play.chromium.launch(executable_path=shutil.which("chromium"), args=FLAGS)
        page = browser.new_page(viewport={"width": 1180, "height": 830})
        page.goto(f"{address}/models/messages/label")
        label(page, truths, 90)
        page.screenshot(path=folder / "labelling.png")
        teach(address, truths)
        page.goto(address)
        page.wait_for_function("document.querySelectorAll('.confusion').length === 3")
        page.wait_for_function("!document.body.innerText.includes('worked out')")
        tops = "[...document.querySelectorAll('article.card')].map(card => card.getBoundingClientRect().top)"
        second = page.evaluate(f"Math.max(...{tops})")  # (the row of cards below the first)
        page.set_viewport_size({"width": 1180, "height": int(second)})
        page.screenshot(path=folder / "dashboard.png")
        browser.close()


def label(page: Any, truths: dict[str, str], times: int) -> None:
    """As a person would, by keys."""
    page.fill("input[type=number]", "100")
    page.keyboard.press("Tab")
    page.evaluate("document.activeElement.blur()")
    for done in range(1, times + 1):
        page.wait_for_selector("[data-item] .text")
        text = " ".join(page.inner_text("[data-item] .text").split())
        page.keyboard.press(KEYS[truths[text]])
        page.wait_for_function(
            "n => document.querySelector('.desk aside .numbers b')?.textContent === String(n)", arg=done
        )
    page.wait_for_timeout(2000)  # (the advice comes a little later)


if __name__ == "__main__":
    if shutil.which("chromium") is None:
        print("left as they are: labelling.png, dashboard.png (needs Chromium: apt-get install chromium)")
    else:
        main(*map(Path, sys.argv[1:]))
