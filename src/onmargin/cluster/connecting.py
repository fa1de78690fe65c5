"""A client by the address of its scheduler, or by `local[:N]`, workers of its own on this machine."""

from __future__ import annotations

import logging
import os
import signal
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from multiprocessing import resource_tracker

from ..errors import BadInput, ClusterError, shown
from .library import Client, distributed

LOCAL = "local"
PORT = 8786  # of a scheduler, unless told
WAITS = 10  # seconds for the scheduler to answer
MOST, MOST_A_CORE = 64, 16  # workers on this machine: nothing can stop their start, which takes time for each


@contextmanager
def connected(address: str) -> Iterator[Client]:
    """A client of the cluster at `address`, closed at the end; what `local` or `local:N` started ends too.

    address : tcp://host:port, host:port or host of a running `dask scheduler`; "local:N": N processes here
        (local: one for each core).
    """
    count = local_workers(address)
    if count is None:
        with _client(address) as client:
            yield client
        return
    with ExitStack() as stack:
        with undisturbed():
            cluster = stack.enter_context(
                distributed.LocalCluster(
                    n_workers=count, threads_per_worker=1, processes=True, dashboard_address=":0",
                    host="127.0.0.1", silence_logs=logging.CRITICAL,
                )
            )  # fmt: skip
        yield stack.enter_context(distributed.Client(cluster))


@contextmanager
def undisturbed() -> Iterator[None]:
    """Ctrl-C and SIGTERM wait until this is over; threads and processes begun here never get Ctrl-C.

    A terminal sends Ctrl-C to all processes. It is for the client, which ends its workers in order; a cluster
    that is stopped half begun, and workers that each say what they were doing, would leave pages of errors.
    """
    if threading.current_thread() is not threading.main_thread() or not hasattr(signal, "pthread_sigmask"):
        yield
        return
    resource_tracker.ensure_running()  # (which lets signals through once more when it is begun)
    late: list[int] = []
    both = signal.SIGINT, signal.SIGTERM
    handlers = {number: signal.signal(number, lambda number, frame: late.append(number)) for number in both}
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})  # (what is begun here inherits it)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        for number in both:
            signal.signal(number, handlers[number])
        if late:
            signal.raise_signal(late[0])


def local_workers(address: str) -> int | None:
    """How many workers `local[:N]` means; None: it is an address."""
    name, colon, number = address.partition(":")
    if name != LOCAL:
        return None
    if not colon:
        return os.cpu_count() or 1
    most = max(MOST, MOST_A_CORE * (os.cpu_count() or 1))
    if not number.isdecimal() or not 1 <= (count := int(number[:9])) <= most:
        raise BadInput(
            f"the cluster {shown(address)}; wanted local:N with N workers, at least 1 and here at most {most}"
        )
    return count


def _client(address: str) -> Client:
    """Connected, or refused in one line."""
    if not address.strip():
        raise BadInput("the cluster has no address; wanted tcp://host:port of a scheduler, or local:N")
    host = address.rpartition("://")[2]
    whole = address if ":" in host.rpartition("]")[2] else f"{address}:{PORT}"
    try:
        # Not the default: one that cannot connect would stay it.
        return distributed.Client(whole, timeout=WAITS, set_as_default=False)
    except (OSError, TimeoutError) as error:
        raise ClusterError(
            f"cannot connect to {shown(address, 100)} within {WAITS} s ({_cause(error)}); wanted "
            "tcp://host:port; is `dask scheduler` running there?"
        ) from None
    except (ValueError, TypeError) as error:
        raise BadInput(
            f"the cluster {shown(address, 100)}: {error}; wanted tcp://host:port of a scheduler, or local:N"
        ) from None


def _cause(error: BaseException) -> str:
    """The first error beneath, which says why."""
    while error.__cause__ is not None:
        error = error.__cause__
    return " ".join(str(error).split())[:200] or "no answer"
