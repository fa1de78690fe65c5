"""Vowpal Wabbit's text: `label importance 'tag|namespace:scale feature:value ...`, one example a line."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from ..features.namespaces import Interaction, Namespaces
from ..features.texts import Texts
from .blocks import ROWS, Block, Features, Rows, Source
from .default_features import read_whole
from .parsing.heads import (
    BODY,
    BODY_END,
    FINE,
    MARKS,
    NO_BAR,
    NO_LABEL,
    NO_WEIGHT,
    TAG,
    TAG_END,
    THIRD_NUMBER,
    WHERE,
    WRONG,
    vw_heads,
)  # fmt: skip
from .reading.line_format import LineFormat, Refusals
from .reading.opening import Chunk, Chunks, Paths

WANTED = {
    NO_BAR: "a bar: label |namespace feature:value ...",
    NO_LABEL: "a number (below 1e100) as label; a tag touches the bar, or begins with '",
    NO_WEIGHT: "an importance of at least 0",
    THIRD_NUMBER: "a label and an importance; a base is not read",
}


class VWLines:
    """Reads the lines: targets (NaN where a line has none), importances, tags, and the features as texts."""

    key = "vw"
    settled = True

    def blocks(self, chunks: Iterable[Chunk], refuse: Refusals) -> Iterator[Block]:
        """A block a chunk; its rows are the texts from the first bar on."""
        for chunk in chunks:
            yield self._block(chunk, refuse)

    def _block(self, chunk: Chunk, refuse: Refusals) -> Block:
        text = chunk.text
        lines = int(np.count_nonzero(text == 10))
        marks, numbers = np.empty((lines, MARKS), np.int64), np.empty((lines, 2))
        longs = np.empty((2 * lines, 4), np.int64)
        count, long = vw_heads(text, marks, numbers, longs)
        for row, place, start, stop in longs[:long].tolist():
            numbers[row, place] = float(text[start:stop].tobytes())
            if place == 1 and numbers[row, place] < 0:
                marks[row, WRONG], marks[row, WHERE] = NO_WEIGHT, start
        marks, numbers = marks[:count], numbers[:count]
        rows = Texts(text, marks[:, BODY], marks[:, BODY_END])
        wrong = Namespaces.troubles(rows)
        bad = marks[:, WRONG] != FINE
        for row in np.flatnonzero(bad | (wrong[:, 0] != FINE)).tolist():
            at, wanted = int(marks[row, WHERE]), WANTED.get(int(marks[row, WRONG]), "")
            if not wanted:
                at, wanted = int(wrong[row, 1]), Namespaces.wanted(int(wrong[row, 0]))
            refuse(chunk, at, int(marks[row, BODY_END]) - at, wanted)
            bad[row] = True
        if bad.any():
            marks, numbers, rows = marks[~bad], numbers[~bad], rows.take(~bad)
        tags = np.full(len(marks), "", object)
        for row in np.flatnonzero(marks[:, TAG_END] > marks[:, TAG]).tolist():
            tags[row] = text[marks[row, TAG] : marks[row, TAG_END]].tobytes().decode(errors="replace")
        return Block(rows, numbers[:, 0].copy(), numbers[:, 1].copy(), None, tags)


def stream(
    paths: Paths | Chunks,
    *,
    rows: int = ROWS,
    features: Features | str | None = "auto",
    bits: int = 18,
    interactions: Sequence[Interaction] = (),
    names: bool = False,
    on_error: str = "stop",
) -> Source:
    """Blocks of Vowpal Wabbit's text; `bits`, `interactions` and `names` are those of `Namespaces`.

    features : "auto" (`Namespaces`), None (texts as they are), or anything with `transform`.
    """
    made = (
        Namespaces(bits=bits, interactions=interactions, names=names).fit([])
        if isinstance(features, str)
        else features
    )
    return Source(LineFormat(paths, VWLines(), on_error), rows=rows, features=made)


def read(
    paths: Paths | Chunks,
    *,
    features: Features | str | None = "auto",
    bits: int = 18,
    interactions: Sequence[Interaction] = (),
    on_error: str = "stop",
) -> tuple[Rows, np.ndarray]:
    """All of it: (X, y). Importances and tags are in the blocks of `stream`."""
    source = stream(paths, features=features, bits=bits, interactions=interactions, on_error=on_error)
    return read_whole(source)
