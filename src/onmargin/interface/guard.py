"""One learns, any number ask, and whatever fails nothing has happened: the one place that sees to it.

A learning call on arrays works on a *twin*: another object with the same state, which the learner becomes at
the very end, by one assignment. Whatever stops the call before (a refusal, Ctrl-C, no memory) leaves the
learner as it was, and whoever asks meanwhile is answered by it. Where the data is smaller than the model, the
twin shares the model's arrays and learns into them: then it is alone, and puts back what it wrote if it fails
(`models.journal`). An array question works on a twin too, and is known by its lease while it reads. One dict
is learned in place, alone, and goes back to what was before if its round was not played (`before`).

Locks are taken by `with` (and in `quick`, by hand): Python delivers Ctrl-C at no moment that leaves one held.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import wraps
from threading import RLock, get_ident
from typing import Any, Protocol, Self, TypeVar, cast
from weakref import ref

Method = TypeVar("Method", bound=Callable[..., Any])


class Lock(Protocol):
    """What is used of a lock."""

    def acquire(self) -> bool:
        """Wait for it."""

    def release(self) -> None:
        """Let it go."""

    def __enter__(self) -> bool: ...

    def __exit__(self, *error: Any) -> None: ...


class Lease:
    """Somebody reads. It ends when its holder lets go of it, however that comes about."""

    __slots__ = ("__weakref__", "thread")

    def __init__(self) -> None:
        self.thread = get_ident()


class Guard:
    """Of one learner. Never copied: another learner has its own."""

    def __init__(self) -> None:
        self.learning: Lock = RLock()  # one learning call at a time
        self.lock: Lock = RLock()  # held while the learner is looked at, swapped, or changed in place
        self.readers: set[ref[Lease]] = set()

    def let(self, lease: Lease) -> None:
        """Whoever holds it reads, from now on; with the lock held. (Only its holder must know the lease.)"""
        self.readers.add(ref(lease, self.readers.discard))

    def wait_for_readers(self) -> None:
        """With the lock held, so that no more come. Whoever waits does not wait for itself."""
        me = get_ident()
        while any(
            lease is not None and lease.thread != me for lease in (held() for held in tuple(self.readers))
        ):
            time.sleep(1e-5)

    def __reduce__(self) -> tuple[type[Self], tuple[()]]:
        return type(self), ()

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return type(self)()


class Open:
    """A lock that is no lock."""

    def acquire(self) -> bool:
        """At once."""
        return True

    def release(self) -> None:
        """At once."""

    def __enter__(self) -> bool:
        return True

    def __exit__(self, *error: object) -> None:
        pass


class Nobody(Guard):
    """The guard of a twin, which nobody else knows of."""

    def __init__(self) -> None:
        super().__init__()
        self.learning = self.lock = Open()


NOBODY = Nobody()


class Restoring(Protocol):
    """What an object was before."""

    def restore(self) -> None:
        """Go back to it, unless the round was played."""


SLOTS = ("_change", "_guard")  # (scikit-learn wants nothing but parameters in `__dict__`)


class Guarded(Protocol):
    """What has a guard; a twin has none, and knows the learning call that it is made for."""

    _guard: Guard | None
    _change: Change | None

    def _twin(self, change: Change | None) -> Self:
        """Another with the same state: nothing that a call changes in place is shared, but arrays."""

    def _become(self, other: Self) -> None:
        """The other's state from now on."""

    def _has(self, model: object) -> bool:
        """Is this its model?"""

    def _before(self) -> Restoring:
        """What a round of one dict goes back to if it fails."""


class Change:
    """A learning call at work: whose it is, and when others see it."""

    def __init__(self, owner: Guarded, guard: Guard) -> None:
        self.owner, self.guard = owner, guard
        self.twin = owner._twin(self)

    def publish(self) -> None:
        """The learner is what its twin has become."""
        with self.guard.lock:
            self.owner._become(self.twin)


def changes(method: Method) -> Method:
    """A learning call on arrays: one at a time, all or nothing, seen whole."""

    @wraps(method)
    def call(self: Guarded, *args: Any, **kwargs: Any) -> Any:
        guard = self._guard
        if guard is None:  # a part of a learning call
            return method(self, *args, **kwargs)
        with guard.learning:
            with guard.lock:
                change = Change(self, guard)
            try:
                answer = method(change.twin, *args, **kwargs)
                change.publish()
                return self if answer is change.twin else answer
            finally:
                del change.twin  # which knows the change: what was learned on would wait for the collector

    return cast(Method, call)


def in_place(method: Method) -> Method:
    """A round of one dict: one at a time, alone, all or nothing."""

    @wraps(method)
    def call(self: Guarded, *args: Any, **kwargs: Any) -> Any:
        guard = self._guard
        if guard is None:
            return method(self, *args, **kwargs)
        with guard.learning, guard.lock:
            guard.wait_for_readers()
            before = self._before()
            try:
                return method(self, *args, **kwargs)
            except BaseException:
                before.restore()
                raise

    return cast(Method, call)


def answers(method: Method) -> Method:
    """A question about arrays, or about the whole: answered by the learner as it is at this moment."""

    @wraps(method)
    def call(self: Guarded, *args: Any, **kwargs: Any) -> Any:
        guard = self._guard
        if guard is None:  # a part of another call
            return method(self, *args, **kwargs)
        lease = Lease()
        try:
            with guard.lock:
                view = self._twin(None)
                guard.let(lease)
            return method(view, *args, **kwargs)
        finally:
            del lease  # at once: whoever keeps a refusal keeps this frame

    return cast(Method, call)


def alone(method: Method) -> Method:
    """A question about one dict, or about a number or two: nobody learns meanwhile."""

    @wraps(method)
    def call(self: Guarded, *args: Any, **kwargs: Any) -> Any:
        with (self._guard or NOBODY).lock:
            return method(self, *args, **kwargs)

    return cast(Method, call)
