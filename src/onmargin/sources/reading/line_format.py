"""Files of lines, or lines that arrive, at work behind any parser of lines."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from copy import deepcopy
from typing import Protocol, cast

from ...errors import BadFile
from ..blocks import Block, height, require_on_error
from .opening import Chunk, Chunks, Lines, Paths


class Parser(Protocol):
    """Chunks of lines to blocks; what is wrong with a line is told to `refuse`, which raises or counts."""

    @property
    def key(self) -> str:
        """Its name and options."""
        ...

    @property
    def settled(self) -> bool:
        """Is all known that the first lines tell of the others?"""
        ...

    def blocks(self, chunks: Iterable[Chunk], refuse: Refusals) -> Iterator[Block]:
        """A block for every chunk or so."""
        ...


class Refusals:
    """Bad lines: the first stops (`on_error="stop"`), or they are left out and counted ("skip").

    first : what was wrong with the first that was left out.
    """

    def __init__(self, on_error: str) -> None:
        require_on_error(on_error)
        self.skips, self.count, self.first = on_error == "skip", 0, ""

    def begun(self) -> None:
        """From the beginning again."""
        self.count, self.first = 0, ""

    def __call__(self, chunk: Chunk, offset: int, length: int, wanted: str) -> None:
        """A bad place within a chunk: it is told (for which all lines before are looked at), or counted."""
        if not self.skips or not self.count:
            self.told(chunk.refusal(offset, length, wanted))
        else:
            self.count += 1

    def told(self, error: BadFile) -> None:
        """Raise it, or count."""
        if not self.skips:
            raise error
        self.count += 1
        self.first = self.first or str(error)


class LineFormat:
    """A parser at work on paths, or on chunks that arrive (`live`)."""

    def __init__(self, paths: Paths | Chunks, parser: Parser, on_error: str = "stop") -> None:
        self.chunks = chunks_of(paths)
        self.parser, self.refusals = parser, Refusals(on_error)

    @property
    def again(self) -> bool:
        """Can it be read more than once?"""
        return self.chunks.again

    @property
    def live(self) -> bool:
        """Does more come later?"""
        return self.chunks.live

    @property
    def skipped(self) -> int:
        """Bad lines left out since the beginning."""
        return self.refusals.count

    @property
    def bytes_read(self) -> int:
        """Of the files as they lie on the disk."""
        return self.chunks.bytes_read

    @property
    def bytes_total(self) -> int | None:
        """None where nobody knows."""
        return self.chunks.bytes_total

    @property
    def files(self) -> Sequence[object]:
        """What it reads."""
        return self.chunks.files

    def key(self) -> str | None:
        """What decides the rows, for a cache; None: something that is no file."""
        files = self.chunks.key()
        return None if files is None else f"{self.parser.key} {self.refusals.skips} {files}"

    @property
    def settled(self) -> bool:
        """Is all known that the first rows tell of the others?"""
        return self.parser.settled

    def at(self, chunks: Chunks) -> LineFormat:
        """The same at work on other chunks, read as what was read so far has shown."""
        return LineFormat(chunks, deepcopy(self.parser), "skip" if self.refusals.skips else "stop")

    def pieces(self) -> Iterator[Block]:
        """Blocks of any size, in order."""
        self.refusals.begun()
        for block in self.parser.blocks(self.chunks, self.refusals):
            if height(block.rows):
                yield block


def chunks_of(paths: Paths | Chunks) -> Chunks:
    """Chunks of files, or those that were given."""
    if hasattr(paths, "live") and hasattr(paths, "__iter__"):
        return cast("Chunks", paths)
    return Lines(paths)
