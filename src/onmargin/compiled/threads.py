"""Work shared among threads, as many as BLAS may use (`threadpoolctl` sets them)."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache
from itertools import pairwise

from threadpoolctl import ThreadpoolController

PAYS = 1_000_000  # multiplications for each thread: half a millisecond, beside which waking it is little


@cache
def blas() -> ThreadpoolController:
    """What knows and limits BLAS's threads."""
    return ThreadpoolController().select(user_api="blas")


@cache
def pool(threads: int) -> ThreadPoolExecutor:
    """So many threads that wait for work."""
    return ThreadPoolExecutor(threads, thread_name_prefix="onmargin")


_turn = threading.Lock()


def _forked() -> None:
    """Threads do not live on in a forked process, nor does whoever held the lock."""
    global _turn
    pool.cache_clear()
    _turn = threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forked)


def threads_allowed() -> int:
    """As many as BLAS may use."""
    return max((library["num_threads"] for library in blas().info()), default=1)


@contextmanager
def one_each() -> Iterator[bool]:
    """BLAS has one thread meanwhile, while others share; False: somebody else shares already."""
    if not _turn.acquire(blocking=False):
        yield False
        return
    try:
        with blas().limit(limits=1):
            yield True
    finally:
        _turn.release()


def in_threads(share: Callable[[int, int], int], count: int, work: int) -> int:
    """How many of `count` rows were done from the first on: `share(first, stop)` does some of them."""
    threads = min(threads_allowed(), work // PAYS, count) if work >= 2 * PAYS else 1
    if threads < 2:
        return share(0, count)
    ends = [count * number // threads for number in range(threads + 1)]
    for (first, stop), done in zip(pairwise(ends), pool(threads).map(share, ends, ends[1:]), strict=True):
        if done < stop - first:
            return first + done
    return count
