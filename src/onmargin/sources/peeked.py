"""A source whose first block was looked at."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, islice

from .blocks import Block, Source, cut, height


class Peeked:
    """A source whose first block was looked at; it is given again, so that a pipe can be looked at too."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self._rest: Iterator[Block] | None = source.blocks()
        self._found = list(islice(self._rest, 1))

    @property
    def first(self) -> Block | None:
        """None where there is no example."""
        return self._found[0] if self._found else None

    def blocks(self, first: int = 0) -> Iterator[Block]:
        """As the source's; what was looked at is not read twice."""
        rest, self._rest = self._rest, None
        if rest is None:
            return self.source.blocks(first)
        if first:
            if self.source.again:
                return self.source.blocks(first)
            return _without(chain(self._found, rest), first)
        return chain(self._found, rest)


def _without(blocks: Iterator[Block], first: int) -> Iterator[Block]:
    """Blocks of a pipe without its first rows."""
    for block in blocks:
        size = height(block.rows)
        if first < size:
            yield cut(block, first, size) if first else block
        first = max(0, first - size)
