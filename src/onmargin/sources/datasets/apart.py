"""Sets by name in parts that others read, who have the folder of the sets too."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import cast

from ..blocks import ROWS, Block, Features, Source, cut, height
from ..parts import BYTES
from .catalogue import entry_of, load


@dataclass(frozen=True)
class SetPart:
    """Rows start .. stop - 1 of a set: small, to be sent to whoever reads it. `str` names it.

    The set is read from its beginning, for its files are packed.
    """

    name: str
    test: bool
    start: int
    stop: int
    features: Features | None

    def __str__(self) -> str:
        return f"{self.name}{':test' if self.test else ''}, rows {self.start} to {self.stop - 1}"

    def source(self, rows: int = ROWS) -> Source:
        """The set, whose first rows are not of this part."""
        part = "test" if self.test else None
        made = cast("Source", load(self.name, part=part, as_source=True, rows=rows))
        made.features, made.learns = self.features, False
        return made

    def blocks(self, rows: int = ROWS) -> Iterator[Block]:
        """Its examples, in blocks of so many."""
        left = self.stop - self.start
        for block in self.source(rows).blocks(self.start):
            size = height(block.rows)
            yield cut(block, 0, min(size, left))
            left -= size
            if left <= 0:
                return


def split_set(
    name: str, test: bool, features: Features | None, parts: int | None = None, bytes_per_part: int = BYTES
) -> list[SetPart]:
    """A set as parts of about equally many rows; None: one for every so many bytes of its files."""
    entry = entry_of(name)
    count = entry.test_rows if test else entry.rows
    parts = max(1, round(entry.bytes / bytes_per_part)) if parts is None else min(parts, count)
    bounds = [count * number // parts for number in range(parts + 1)]
    return [SetPart(name, test, start, stop, features) for start, stop in pairwise(bounds)]
