"""Raw text: `label<TAB>text`, one example a line (a text in JSON lines: see `jsonl`)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from ..features.texts import Texts
from .blocks import ROWS, Block, Features, Rows, Source
from .default_features import default_features, read_whole
from .parsing.heads import BODY, BODY_END, FINE, LINE, MARKS, TAG, TAG_END, WHERE, WRONG, tab_heads
from .reading.line_format import LineFormat, Refusals
from .reading.opening import Chunk, Chunks, Paths
from .reading.target_words import TargetWords


class TabLines:
    """Reads `label<TAB>text` (`labelled`), or lines that are texts; blank lines are left out."""

    def __init__(self, labels: str = "auto", labelled: bool = True) -> None:
        self.targets, self.labelled = TargetWords(labels), labelled
        self.key = f"text {labels} {labelled}"

    @property
    def settled(self) -> bool:
        """Is it known what the targets are?"""
        return not self.labelled or self.targets.settled

    def blocks(self, chunks: Iterable[Chunk], refuse: Refusals) -> Iterator[Block]:
        """A block a chunk; its rows are texts within the chunk."""
        for chunk in chunks:
            yield self._block(chunk, refuse)

    def _block(self, chunk: Chunk, refuse: Refusals) -> Block:
        text = chunk.text
        marks = np.empty((int(np.count_nonzero(text == 10)), MARKS), np.int64)
        marks = marks[: tab_heads(text, marks)]
        flaws: dict[int, tuple[int, str]] = {}  # row -> where, what was wanted
        if self.labelled:
            for row in np.flatnonzero(marks[:, WRONG] != FINE).tolist():
                flaws[row] = int(marks[row, WHERE]), "a tab between label and text"
        if not is_utf8(text):
            for row, (start, stop) in enumerate(marks[:, [LINE, BODY_END]].tolist()):
                flaw = first_flaw(text[start:stop])
                if flaw >= 0:
                    flaws[row] = start + flaw, "UTF-8"
        targets = None
        if self.labelled:
            words = [
                "" if row in flaws else text[start:stop].tobytes().decode()
                for row, (start, stop) in enumerate(marks[:, [TAG, TAG_END]].tolist())
            ]
            self.targets.settle([word for row, word in enumerate(words) if row not in flaws])
            targets, wrong = self.targets.made(words)
            for row in np.flatnonzero(wrong).tolist():
                flaws.setdefault(row, (int(marks[row, LINE]), self.targets.wanted))
        for row, (at, wanted) in sorted(flaws.items()):
            refuse(chunk, at, int(marks[row, BODY_END]) - at, wanted)
        good = np.ones(len(marks), bool)
        good[list(flaws)] = False
        begin = BODY if self.labelled else LINE
        rows = Texts(text, marks[good, begin], marks[good, BODY_END])
        return Block(rows, None if targets is None else targets[good])


def is_utf8(text: np.ndarray) -> bool:
    """Is all of it UTF-8?"""
    return first_flaw(text) < 0


def first_flaw(text: np.ndarray) -> int:
    """The first byte that is not UTF-8, or -1."""
    try:
        text.tobytes().decode()
    except UnicodeDecodeError as flaw:
        return flaw.start
    return -1


def stream(
    paths: Paths | Chunks,
    *,
    rows: int = ROWS,
    features: Features | str | None = "auto",
    labels: str = "auto",
    labelled: bool = True,
    on_error: str = "stop",
) -> Source:
    """Blocks of `label<TAB>text` lines.

    labels : "text" (as they stand), "number", or "auto": numbers where the first block has only numbers.
    labelled : False for lines that are texts alone, to be predicted.
    features : "auto" (`Text`), None (texts as they are), or anything with `transform`.
    """
    made = LineFormat(paths, TabLines(labels, labelled), on_error)
    return Source(made, rows=rows, features=default_features(features, is_text=True))


def read(
    paths: Paths | Chunks,
    *,
    features: Features | str | None = "auto",
    labels: str = "auto",
    on_error: str = "stop",
) -> tuple[Rows, np.ndarray]:
    """All of it: (X, y); with features=None X is a sequence of strings."""
    return read_whole(stream(paths, features=features, labels=labels, on_error=on_error))
