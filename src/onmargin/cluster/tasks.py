"""Tasks on workers, from the client: sent, waited for, and what one that has no result comes to."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import CancelledError
from itertools import islice
from typing import TypeVar

from ..errors import BadInput, ClusterError, OnmarginError
from .library import Client, Future, Value, distributed
from .mixing import one_line
from .partitions import Partition
from .workers import Absence, OtherVersion

Some = TypeVar("Some")


class Unreadable(ClusterError):
    """A partition without a result; None: none of them, but the mixing."""

    def __init__(self, partition: Partition | None, why: str) -> None:
        super().__init__(why)
        self.partition, self.why = partition, why


class Ended(Unreadable):
    """As many workers ended while they had it as Dask allows (4, unless told), perhaps not by its fault.

    So it is tried once more: a row of kills in one epoch costs time; what ends every worker is told.
    """

    def __init__(self, partition: Partition | None, what: str, workers: int) -> None:
        super().__init__(
            partition, f"{what}: it has ended {workers} workers, one after the other (out of memory?)"
        )
        self.what, self.workers = what, workers

    def after(self, workers: int) -> Ended:
        """And so many in the try before this one."""
        return Ended(self.partition, self.what, workers + self.workers)


def sent(client: Client, calls: Sequence[Value]) -> list[Future]:
    """Futures of tasks; what no other process can be given is refused in one line."""
    try:
        return list(client.compute(list(calls)))
    except TypeError as error:
        why: BaseException | None = error
        while why is not None and "pickle" not in str(why):  # (Dask raises others around it)
            why = why.__cause__ or why.__context__
        raise BadInput(
            f"the data cannot be sent to workers ({one_line(why or error)}); wanted what can be pickled: "
            "make it in the task that needs it"
        ) from None


def computed_of(client: Client, partitions: Iterable[Partition]) -> dict[Partition, list[Future]]:
    """What partitions wait for, computed once and kept by Dask, which may spill it, until it is let go of."""
    some = [part for part in partitions if part.waits]
    found = iter(sent(client, [wait for part in some for wait in part.waits]) if some else ())
    return {part: list(islice(found, len(part.waits))) for part in some}


def let_go(computed: dict[Partition, list[Future]], partitions: Iterable[Partition]) -> None:
    """Of what was computed for some partitions; a future that the user gave stays.

    (In so many words: errors hold frames, and frames futures, and what is held is not computed once more.)
    """
    for part in list(partitions):
        for future, wait in zip(computed.pop(part, []), part.waits or [], strict=False):
            if future is not wait:
                future.release()


def as_done(client: Client, futures: Sequence[Future]) -> Iterator[Future]:
    """Futures as they are done, or failed; where no worker is there for long, that is said."""
    waiting = distributed.as_completed(futures, loop=client.loop, raise_errors=False)
    absence = Absence(client)
    while not waiting.is_empty():
        if waiting.has_ready():
            yield next(waiting)
            continue
        with waiting.thread_condition:
            waiting.thread_condition.wait(timeout=0.1)
        absence.look()


def result_of(future: Future, what: str) -> Value:
    """What a task came to; an error of ours is as it was, any other is one line that says of what it is."""
    try:
        (done,) = as_done(future.client, [future])
        return done.result()
    except (OnmarginError, CancelledError):
        raise
    except distributed.KilledWorker as error:
        raise Ended(None, f"{what} failed", error.allowed_failures + 1) from None
    except Exception as error:
        raise ClusterError(f"{what} failed: {type(error).__name__}: {one_line(error)}") from None


def refuse(future: Future, part: Partition) -> None:
    """A future that has no result: it was cancelled, or its partition cannot be read, or ends workers."""
    if future.status == "cancelled":  # ("lost" is what went with a worker: it is made again)
        raise CancelledError
    if future.status != "error":
        return
    error = future.exception()
    if isinstance(error, OtherVersion):
        raise error
    if isinstance(error, distributed.KilledWorker):
        raise Ended(part, str(part), error.allowed_failures + 1)
    said = str(error) if isinstance(error, ClusterError) else f"{part}: {type(error).__name__}: {error}"
    raise Unreadable(part, one_line(said))


def tried(call: Callable[[], Some]) -> Some:
    """What a call comes to; once more where Dask gave one of its tasks up."""
    try:
        return call()
    except Ended as error:
        before = error.workers
    try:
        return call()
    except Ended as error:
        raise error.after(before) from None
