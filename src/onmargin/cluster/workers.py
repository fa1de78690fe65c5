"""The client and its workers: do all have this version, and is the scheduler still there?"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import CancelledError
from contextlib import contextmanager

from .. import __version__
from ..errors import BadInput, ClusterError
from .library import Client, Value, distributed

VERSION = "__import__('onmargin').__version__"
WAITS = 30  # seconds for the first worker


def client_of(given: Value) -> Client:
    """The client given, or the one that was made last."""
    if given is not None and not isinstance(given, distributed.Client):
        raise BadInput(f"client={type(given).__name__}; wanted a distributed.Client")
    if given is not None and given.asynchronous:
        raise BadInput("this Dask client is asynchronous; give one without asynchronous=True")
    if given is not None and given.status in ("closing", "closed"):
        raise BadInput("this Dask client is closed; make another: distributed.Client(ADDRESS)")
    try:
        return distributed.default_client() if given is None else given
    except ValueError:
        raise BadInput(
            "there is no Dask client; make one: distributed.Client(ADDRESS), or Client() for this machine"
        ) from None


class Workers:
    """Those that were asked for their version already."""

    def __init__(self, client: Client) -> None:
        self.client = client
        self.known: set[str] = set()
        self.there: list[str] = []

    def near(self, number: int, count: int) -> dict[str, Value]:
        """Where the task of one of so many partitions had best be: together with those it is mixed with.

        Another worker may have it, too: one that is idle, or in the place of one that is gone.
        """
        place = min(number * len(self.there) // max(count, 1), len(self.there) - 1)
        return {"workers": [self.there[place]], "allow_other_workers": True} if self.there else {}

    def check(self) -> None:
        """Refuse workers that lack onmargin or have another version; who joined since is asked too."""
        if not self.known:
            try:
                self.client.wait_for_workers(1, timeout=WAITS)
            except TimeoutError:
                raise ClusterError(
                    f"the cluster has no worker (for {WAITS} s); start some: dask worker ADDRESS"
                ) from None
        self.there = sorted(self.client.nthreads())
        new = sorted(set(self.there) - self.known)
        if not new:
            return
        # By a name of Python's own: a function of ours could not even be read where onmargin is missing.
        answers: dict[str, Value] = self.client.run(eval, VERSION, workers=new, on_error="return")
        for address, answer in sorted(answers.items()):
            if isinstance(answer, ImportError):
                raise ClusterError(
                    f"the worker {address} has no onmargin ({answer}); install onmargin {__version__} there"
                )
            if isinstance(answer, OSError):
                continue  # (it went away meanwhile)
            if answer != __version__:
                raise ClusterError(
                    f"the worker {address} has onmargin {answer}; wanted {__version__}, as here; install that"
                )
        self.known.update(new)

    def cancelled(self, hint: str) -> ClusterError:
        """The line for tasks that are no more: their scheduler is gone, or they were taken away."""
        if self.client.status != "running":
            return lost(hint)
        return ClusterError(
            "the tasks of this run were cancelled: the cluster was restarted, or the data are of another "
            f"client, or were cancelled; {hint}"
        )


GONE = CancelledError, distributed.comm.CommClosedError, TimeoutError, ConnectionError


@contextmanager
def scheduler_lost(hint: str) -> Iterator[None]:
    """What a scheduler that is gone comes to, in one line."""
    try:
        yield
    except GONE as error:
        raise lost(hint) from error
    except OSError as error:
        if type(error) is not OSError or error.errno is not None:  # (a file, a disk)
            raise
        raise lost(hint) from error  # (Dask's word for one that does not answer)


def lost(hint: str) -> ClusterError:
    """The line for a scheduler that is gone."""
    return ClusterError(f"the connection to the scheduler was lost; {hint}")
