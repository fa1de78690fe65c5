"""Text to rows beside other readers; learning from a file, from its cache, reading ahead, from the shell."""

from __future__ import annotations

import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from sklearn.datasets import load_svmlight_file

import onmargin as om

from .contest import OTHER, PLAIN, SKLEARN, VW, Contestant, Work, line

COLUMNS, PER_ROW, DISTINCT = 100_000, 60, 4_000  # rows that differ; they come again and again
VW_LEARNS = """
import sys, vowpalwabbit
engine = vowpalwabbit.Workspace(arg_list=sys.argv[1:])
print(engine.get_sum_loss() / engine.get_weighted_examples())
"""


class Texts:
    """The same examples as svmlight and as Vowpal Wabbit text, in files that go when nobody needs them."""

    def __init__(self, megabytes: int) -> None:
        self.folder = TemporaryDirectory()
        self.svmlight, self.vw = (Path(self.folder.name) / name for name in ("data.svm", "data.vw"))
        draw = np.random.default_rng(0)
        truth = draw.standard_normal(COLUMNS)
        lines = []
        for _ in range(DISTINCT):
            some = np.sort(draw.choice(COLUMNS, PER_ROW, replace=False))
            values = draw.standard_normal(PER_ROW)
            label = 1 if values @ truth[some] > 0 else -1
            words = " ".join(f"{at + 1}:{value:.6g}" for at, value in zip(some, values, strict=True))
            lines.append((label, words))
        plain = "".join(f"{label} {words}\n" for label, words in lines).encode()
        bars = "".join(f"{label} | {words}\n" for label, words in lines).encode()
        times = max(1, megabytes * 1_000_000 // len(plain))
        for path, text in ((self.svmlight, plain), (self.vw, bars)):
            with open(path, "wb") as file:
                for _ in range(times):
                    file.write(text)
        self.rows = DISTINCT * times
        self.said = f"{self.svmlight.stat().st_size // 1_000_000} MB of text, {PER_ROW} entries a row"


def _vw_reads(path: Path) -> float:
    from vowpalwabbit import Workspace

    workspace = Workspace(f"--noop --quiet --no_stdin -d {path}")
    workspace.run_parser()
    seen = workspace.get_weighted_examples()
    workspace.finish()
    return float(seen)


def reading(quick: bool) -> Work:
    """A file of text to rows: a block at a time in one thread, or all of it (in two, and memory for it)."""
    texts = Texts(10 if quick else 500)

    def whole(found: float) -> float:
        return float(found == texts.rows)

    def blocks(_: None) -> int:
        return sum(block.rows.shape[0] for block in om.sources.svmlight.stream(texts.svmlight))

    contestants = {
        "read": Contestant(lambda _: om.sources.svmlight.read(texts.svmlight)[0].shape[0], whole),
        "stream": Contestant(blocks, whole),
        "scikit-learn": Contestant(lambda _: load_svmlight_file(str(texts.svmlight))[0].shape[0], whole),
        "vw": Contestant(lambda _: _vw_reads(texts.vw), whole),
    }
    lines = [
        line(SKLEARN, "parse svmlight text", "stream", "scikit-learn", 12.0),
        line(SKLEARN, "  all of it, two threads", "read", "scikit-learn"),
        line(VW, "parse text, no learning", "stream", "vw", 1.5),
    ]
    return Work("files", texts.said, contestants, lines, repetitions=3, least=1.0)


def learning(quick: bool) -> Work:
    """PA-I on a file: one thread, reading ahead, from the cache."""
    texts = Texts(10 if quick else 200)

    def learned(source: om.sources.blocks.Source) -> float:
        model = om.PassiveAggressiveClassifier(C=0.1)
        return 1.0 - om.progressive(model, source, classes=[-1.0, 1.0], trace="sums").error_rate

    def fresh() -> om.sources.blocks.Source:
        return om.sources.svmlight.stream(texts.svmlight, columns=COLUMNS)

    def count(source: om.sources.blocks.Source) -> float:
        return sum(block.rows.shape[0] for block in source) / texts.rows

    half = Texts(5 if quick else 100)

    def bare(_: None) -> float:
        """No learning, and nothing handed over: two threads parse a file of half the size each."""
        with ThreadPoolExecutor(2) as threads:
            sources = [om.sources.svmlight.stream(half.svmlight, columns=COLUMNS) for _ in range(2)]
            return sum(threads.map(lambda source: sum(len(block.targets) for block in source), sources)) / (
                2 * half.rows
            )

    kept = fresh().cached()
    count(kept)
    contestants = {
        "one thread": Contestant(learned, float, fresh),
        "ahead": Contestant(learned, float, lambda: fresh().ahead()),
        "two bare threads": Contestant(bare, float),
        "read": Contestant(count, float, fresh),
        "read cache": Contestant(count, float, lambda: kept),
        "learn from cache": Contestant(learned, float, lambda: kept),
    }
    lines = [
        line(PLAIN, "learn a file, reading ahead", "ahead", "one thread", 1.5, limit="two bare threads"),
        line(PLAIN, "read the cache / the text", "read cache", "read", 5.0),
        line(OTHER, "learn from cache / from text", "learn from cache", "one thread"),
    ]
    return Work("passes", texts.said, contestants, lines, repetitions=3)


def shell(quick: bool) -> Work:
    """PA-I with its progressive error from the shell, start of the process and all."""
    texts = Texts(10 if quick else 500)
    program = str(Path(sys.executable).with_name("onmargin"))

    def said(*command: object) -> str:
        return subprocess.run(list(map(str, command)), check=True, capture_output=True, text=True).stdout

    def learn(_: None) -> float:
        lines = said(program, "learn", texts.svmlight, "--algorithm", "pa1", "-C", 0.1, "--json")
        return 1.0 - float(json.loads(lines.splitlines()[-1])["error"])

    def vw(_: None) -> float:
        options = ("-d", texts.vw, "--loss_function", "hinge", "--binary", "--quiet")
        return 1.0 - float(said(sys.executable, "-c", VW_LEARNS, *options))

    contestants = {"learn": Contestant(learn, float), "vw": Contestant(vw, float)}
    lines = [line(VW, "onmargin learn FILE / vw", "learn", "vw", 1.0)]
    return Work("shell", texts.said, contestants, lines, repetitions=3)
