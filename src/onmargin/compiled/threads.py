"""Work shared among threads, as many as BLAS may use (`threadpoolctl` sets them)."""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache, partial
from itertools import pairwise
from queue import SimpleQueue
from typing import Generic, TypeVar, cast

import numpy as np
from threadpoolctl import LibController, ThreadpoolController

Found = TypeVar("Found")

PAYS = 1_000_000  # multiplications for each thread: half a millisecond, beside which waking it is little


@cache
def blas() -> ThreadpoolController:
    """What knows and limits BLAS's threads."""
    return ThreadpoolController().select(user_api="blas")


@cache
def crew(threads: int) -> SimpleQueue[Callable[[], None]]:
    """So many threads that do what is put here, and never end.

    An executor waits at locks that Ctrl-C may leave taken, for good; a step of this queue is never half done.
    """
    given: SimpleQueue[Callable[[], None]] = SimpleQueue()
    for _ in range(threads):
        threading.Thread(target=_serve, args=(given,), name="onmargin", daemon=True).start()
    return given


def _serve(given: SimpleQueue[Callable[[], None]]) -> None:
    while True:
        given.get()()


class Works(Generic[Found]):
    """Works that threads take one after the other, whoever waits for what they come to among them."""

    def __init__(self, works: Sequence[Callable[[], Found]], threads: int) -> None:
        self._left, self._count = deque(enumerate(works)), len(works)
        self._done: SimpleQueue[tuple[int, Found | None, BaseException | None]] = SimpleQueue()
        for _ in range(min(threads, len(works)) - 1):
            crew(threads - 1).put(partial(self._help, np.errstate(**np.geterr())))

    def _next(self) -> tuple[int, Callable[[], Found]] | None:
        try:
            return self._left.popleft()
        except IndexError:  # (another may have taken the last)
            return None

    def _help(self, told: np.errstate) -> None:
        """In another thread; of numbers that overflow it says what the caller's says."""
        with told:
            for number, work in iter(self._next, None):
                try:
                    self._done.put((number, work(), None))
                except BaseException as error:
                    self._left.clear()
                    self._done.put((number, None, error))

    def results(self) -> list[Found]:
        """What they came to, in their order. Where one fails, or Ctrl-C comes, no other is begun."""
        found: dict[int, Found | None] = {}
        try:
            for number, work in iter(self._next, None):
                found[number] = work()
            while len(found) < self._count:
                number, result, error = self._done.get()
                if error is not None:
                    raise error
                found[number] = result
        finally:
            self._left.clear()
        return [cast(Found, found[number]) for number in range(self._count)]


_turn: dict[str, object] = {}  # who shares


def _forked() -> None:
    """Threads do not live on in a forked process, nor does whoever shared."""
    crew.cache_clear()
    _turn.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forked)


def threads_allowed() -> int:
    """As many as BLAS may use."""
    return max((library["num_threads"] for library in blas().info()), default=1)


@contextmanager
def one_each() -> Iterator[bool]:
    """BLAS has one thread meanwhile, while others share; False: somebody else shares already.

    (A lock could stay taken, and what `limit` leaves half done is not undone, where Ctrl-C comes between.)
    """
    me, allowed = object(), list[tuple[LibController, int]]()
    try:
        if _turn.setdefault("taken", me) is not me:
            yield False
            return
        allowed = [(library, library.num_threads) for library in blas().lib_controllers]
        _limit((library, 1) for library, _ in allowed)
        yield True
    finally:
        if _turn.get("taken") is me:
            try:
                _limit(allowed)
            except BaseException:
                _limit(allowed)
                raise
            finally:
                del _turn["taken"]


def _limit(wanted: Iterable[tuple[LibController, int]]) -> None:
    for library, threads in wanted:
        library.set_num_threads(threads)


def in_threads(share: Callable[[int, int], int], count: int, work: int) -> int:
    """How many of `count` rows were done from the first on: `share(first, stop)` does some of them."""
    threads = min(threads_allowed(), work // PAYS, count) if work >= 2 * PAYS else 1
    if threads < 2:
        return share(0, count)
    ends = [count * number // threads for number in range(threads + 1)]
    parts = list(pairwise(ends))
    for (first, stop), done in zip(
        parts, Works([partial(share, *part) for part in parts], threads).results(), strict=True
    ):
        if done < stop - first:
            return first + done
    return count
