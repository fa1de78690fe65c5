"""Kernel values and sums of a block of rows over the vectors kept, tile by tile, in threads.

A tile fits the cache and is one matrix product. With two or more threads (as many as BLAS may use:
`threadpoolctl` sets them; the caller's is one of them) whoever is done with a tile takes the next, BLAS
itself running in one.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import TypeAlias, TypeVar

import numpy as np

from ...compiled.pairs import add_sums
from ...compiled.threads import Works, one_each, threads_allowed
from ...kernels.base import Kernel, Pair
from ...kernels.sides import Side
from .vectors import Vectors

TILE = 1024  # vectors at a time
LATE = TILE // 4  # at a time at the end, so that no thread waits for another for long
ENOUGH = 2 * TILE  # vectors kept from which on threads pay
BLOCK = 256  # rows at a time; a few more, a few less where many or few vectors are kept
Found = TypeVar("Found")
Tiles: TypeAlias = list[tuple[int, int]]  # the first and last-plus-one vector of each


def block_size(kept: int) -> int:
    """Rows to prepare at once: the block's own Gram matrix should stay small beside the rest."""
    return BLOCK // 2 if kept < TILE // 2 else BLOCK if kept < 4 * TILE else 2 * BLOCK


_own = threading.local()


def _room(right: Side) -> np.ndarray:
    """A place for one tile, the same for every block of a thread: fresh memory costs a page fault a line."""
    size = TILE * max(len(right), BLOCK)
    held: np.ndarray | None = getattr(_own, right.dtype.name, None)
    if held is None or held.size < size:
        held = np.empty(size, right.dtype)
        setattr(_own, right.dtype.name, held)
    return held[: TILE * len(right)].reshape(TILE, len(right))


@contextmanager
def sharing(kept: int) -> Iterator[int]:
    """How many threads share the tiles of so many vectors; BLAS has one each meanwhile.

    Whoever asks while others share goes alone: limits that overlap would not be undone.
    """
    threads = min(threads_allowed(), kept // TILE) if kept >= ENOUGH else 1
    if threads == 1:
        yield 1
        return
    with one_each() as alone:
        yield threads if alone else 1


class Evaluator:
    """Kernels (each plus a constant: the bias) at work on kept vectors, in so many threads."""

    def __init__(self, kernels: tuple[Kernel, ...], constant: float, threads: int = 1) -> None:
        self.kernels, self.constant = kernels, constant
        self.threads = threads if all(kernel.threads for kernel in kernels) else 1

    def tables(self, left: Side, right: Side, room: np.ndarray | None = None) -> Iterator[np.ndarray]:
        """k of all pairs without the constant; `room`: a place for the table, good until the next call."""
        pair = Pair(left, right, room if len(self.kernels) == 1 else None)
        for kernel in self.kernels:
            yield kernel.table(pair)

    def diagonals(self, side: Side) -> np.ndarray:
        """(kernels, rows) k(x, x)"""
        return np.array([kernel.diagonal(side) for kernel in self.kernels], float) + self.constant

    def grams(self, side: Side, own: np.ndarray) -> np.ndarray:
        """(kernels, rows, rows): the block against itself, in float64, with these diagonals."""
        if len(side) == 1:
            return np.array(own, np.float64).reshape(len(self.kernels), 1, 1)
        values = np.array(list(self.tables(side, side)), np.float64)
        if self.constant:
            values += self.constant
        rows = np.arange(len(side))
        values[:, rows, rows] = own
        return values

    def sums(self, kept: Vectors, right: Side, coefficients: np.ndarray) -> np.ndarray:
        """(kernels, outputs, rows): sum_i coefficients[i, k] k(x_i, .), added up in float64."""
        shares = self._shared(len(kept), right, self._share(kept, right, coefficients))
        return self._added_up(shares, right, coefficients)

    def sums_and_grams(
        self, kept: Vectors, side: Side, coefficients: np.ndarray, own: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Of a block, `sums` over the vectors kept and its own `grams`: at once where threads share."""
        if self.threads == 1:
            return self.sums(kept, side, coefficients), self.grams(side, own)
        share = self._share(kept, side, coefficients)
        grams, *shares = self._shared(len(kept), side, share, partial(self.grams, side, own))
        return self._added_up(shares, side, coefficients), grams

    def _share(self, kept: Vectors, right: Side, coefficients: np.ndarray) -> Callable[[Tiles], np.ndarray]:
        """Sums over some tiles, without the constant."""
        shape = (len(self.kernels), coefficients.shape[1], len(right))

        def share(tiles: Tiles) -> np.ndarray:
            totals, room = np.zeros(shape), _room(right)
            for first, stop in tiles:
                tables = self.tables(kept.tile(first, stop, right.dtype), right, room)
                for total, table in zip(totals, tables, strict=True):
                    add_sums(table, coefficients[first:stop], total)
            return totals

        return share

    def _added_up(self, shares: list[np.ndarray], right: Side, coefficients: np.ndarray) -> np.ndarray:
        """Sums over all tiles, and what the constant in every kernel value adds."""
        total = np.zeros((len(self.kernels), coefficients.shape[1], len(right)))
        if self.constant:
            total += self.constant * coefficients.sum(axis=0)[:, None]
        return np.asarray(sum(shares, total))

    def by_blocks(self, count: int, answer: Callable[[Evaluator, slice], None]) -> None:
        """`answer` for all rows, a block at a time.

        Threads take whole blocks where there are enough, so that none waits for another and sums are those of
        one thread; else they share the tiles of each.
        """
        blocks = [slice(first, min(first + BLOCK, count)) for first in range(0, count, BLOCK)]
        if self.threads == 1 or len(blocks) < 2 * self.threads:
            for some in blocks:
                answer(self, some)
            return
        alone = Evaluator(self.kernels, self.constant)
        Works([partial(answer, alone, some) for some in blocks], self.threads).results()

    def values(self, kept: Vectors, right: Side, out: np.ndarray) -> None:
        """out[j, i] = k(x_i, row j), for i among the kept; one kernel."""

        def share(tiles: Tiles) -> None:
            room = _room(right)
            for first, stop in tiles:
                out[:, first:stop] = next(self.tables(kept.tile(first, stop, right.dtype), right, room)).T

        self._shared(len(kept), right, share)
        out[:, : len(kept)] += self.constant

    def _shared(
        self, kept: int, right: Side, share: Callable[[Tiles], Found], *others: Callable[[], Found]
    ) -> list[Found]:
        """Other works and all tiles in turn; where threads share, whoever is done with one takes the next."""
        if self.threads == 1:
            return [work() for work in others] + ([share(_tiles(0, kept, TILE))] if kept else [])
        right.prime()
        late = max(0, kept - self.threads * TILE) // TILE * TILE
        tiles = [*_tiles(0, late, TILE), *_tiles(late, kept, LATE)]
        works: list[Callable[[], Found]] = [*others, *(partial(share, [tile]) for tile in tiles)]
        return Works(works, self.threads).results()


def _tiles(first: int, stop: int, size: int) -> Tiles:
    """Vectors first .. stop - 1, so many at a time."""
    return [(start, min(start + size, stop)) for start in range(first, stop, size)]
