"""The client, its scheduler and workers: do all have this version, and are they still there?"""

from __future__ import annotations

import time
from collections.abc import Iterator
from concurrent.futures import CancelledError
from contextlib import contextmanager

from .. import __version__
from ..errors import BadInput, ClusterError, warn
from .library import Client, Value, distributed

VERSION = "__import__('onmargin').__version__"
WAITS = 30  # seconds for the first worker; and without any, until that is said


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
        """Refuse a scheduler and workers (who joined since, too) without onmargin or of another version."""
        # By a name of Python's own: a function of ours could not even be read where onmargin is missing.
        if not self.known:
            try:
                require_version("scheduler", self.client.scheduler.address, self._of_scheduler())
                self.client.wait_for_workers(1, timeout=WAITS)
            except TimeoutError:
                raise ClusterError(
                    f"the cluster has no worker (for {WAITS} s); start some: dask worker ADDRESS"
                ) from None
        self.there = sorted(self.client.nthreads())
        new = sorted(set(self.there) - self.known)
        if not new:
            return
        answers: dict[str, Value] = self.client.run(eval, VERSION, workers=new, on_error="return")
        for address, answer in sorted(answers.items()):
            if not isinstance(answer, OSError):  # (it went away meanwhile)
                require_version("worker", address, answer)
        self.known.update(new)

    def _of_scheduler(self) -> Value:
        try:
            return self.client.run_on_scheduler(eval, VERSION)
        except ImportError as error:
            return error


class OtherVersion(ClusterError):
    """A scheduler or a worker without onmargin, or with another one: that is no partition's fault."""


def require_version(what: str, address: str, found: Value, wanted: str = __version__) -> None:
    """Refuse whoever has another one (found), or none (an ImportError)."""
    if isinstance(found, ImportError):
        raise OtherVersion(f"the {what} {address} has no onmargin ({found}); install onmargin {wanted} there")
    if found != wanted:
        raise OtherVersion(
            f"the {what} {address} has onmargin {found}; wanted {wanted}, as here; install that"
        )


class Absence:
    """Of all workers, while a run waits for them: it is said once, and the run goes on when one joins."""

    def __init__(self, client: Client) -> None:
        self.client, self.told = client, False
        self.asked = self.seen = time.monotonic()

    def look(self) -> None:
        """Whenever there is time; the scheduler is asked now and then."""
        now = time.monotonic()
        if now - self.asked < WAITS / 6:
            return
        self.asked = now
        try:
            there = self.client.nthreads()
        except (*GONE, OSError):  # (what is waited for says so)
            return
        if there:
            self.seen, self.told = now, False
        elif now - self.seen >= WAITS and not self.told:
            self.told = True
            warn(
                f"the cluster has had no worker for {WAITS:.0f} s; the run goes on when one is there: dask "
                f"worker {self.client.scheduler.address}",
                RuntimeWarning,
            )


GONE = (
    CancelledError, distributed.comm.CommClosedError, distributed.client.ClosedClientError, TimeoutError,
    ConnectionError,
)  # fmt: skip


class Theirs(Exception):
    """Around what a function of the user's raised, on its way through `scheduler_lost`."""

    def __init__(self, error: Exception) -> None:
        super().__init__(str(error))
        self.error = error


@contextmanager
def theirs() -> Iterator[None]:
    """Around such a function: whatever it raises is told as it is, and taken for no lost scheduler."""
    try:
        yield
    except Exception as error:
        raise Theirs(error) from error


@contextmanager
def scheduler_lost(hint: str, client: Client = None) -> Iterator[None]:
    """What a scheduler that is gone comes to, in one line; one that is there has lost the tasks alone."""
    try:
        yield
        return
    except Theirs as around:
        error = around.error
    except CancelledError as cancelled:
        if client is None or client.status != "running":
            raise lost(hint) from cancelled
        raise ClusterError(
            "the tasks of this run were cancelled: the cluster was restarted, or the data are of another "
            f"client, or were cancelled; {hint}"
        ) from cancelled
    except GONE as gone:
        raise lost(hint) from gone
    except OSError as failed:
        if type(failed) is not OSError or failed.errno is not None:  # (a file, a disk)
            raise
        raise lost(hint) from failed  # (Dask's word for one that does not answer)
    raise error from error.__cause__


def lost(hint: str) -> ClusterError:
    """The line for a scheduler that is gone."""
    return ClusterError(f"the connection to the scheduler was lost; {hint}")
