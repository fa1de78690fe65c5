"""The short way of one dict, which millions of rounds go: functions closed over all they read.

Names are looked up once, when a stream is bound to its arrays, and not at every round: of two microseconds
that is a fifth. The lock is taken within `try` and not by `with`, which takes twice as long; a release of
what was not taken tells that Ctrl-C came while it was waited for.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ...compiled.dicts import ASKING, packing
from ...errors import BadInput
from ...features.slots import NO_NUMBER
from ...learn.vocabulary import KNOWN

if TYPE_CHECKING:
    from ...models.bound import BoundEntries
    from .streams import BoundStream, Stream


Learn = Callable[[Any, Any], bool]
Answer = Callable[[Any], Any]


def quick_learner(stream: BoundStream, entries: BoundEntries) -> Learn:
    """A round of weight 1 whose target is plain; False, and nothing changed, where it is not so."""
    packer, model, slots, rows, code = stream.packer, stream.model, stream.slots, stream.rows, stream.code
    acquire, release, readers = stream.lock.acquire, stream.lock.release, stream.guard.readers
    entry, (_, _, space, hyper, _, desk, target, trace) = entries.one_entry, entries.one(0.0, 0)
    pack, (names, held, values, places, state) = packing(), packer.given
    binding, numbers = stream.binding, hyper.numbers
    grows = stream.room >= len(slots) and stream.owner._columns.by_name  # new names: there may be room
    room = stream.room if grows else 0
    assert entry is not None

    def learn(x: Any, y: Any) -> bool:
        clock = -1
        try:
            acquire()
            if stream.binding is not binding or type(x) is not dict:
                return False  # (bound anew, these are no longer the model's arrays; or retired)
            if readers:
                stream.guard.wait_for_readers()
            clock = model.clock
            try:
                goal = code(y)
                if goal is None:
                    return False
                if pack(x, names, held, values, places, state, room) >= 0:
                    known = len(slots)
                else:
                    packer.take(x, [*x])
                    known = len(slots)
                    if packer.rows is not rows or known > (room if grows else stream.known):
                        return stream.learn_grown(goal)
                if known > stream.known:
                    numbers[KNOWN] = known
                after = entry(rows, goal, space, hyper, clock, desk, target, trace)
                if after >= 0:
                    model.clock = after
                    stream.known = known
                    return True
            except NO_NUMBER as error:
                if isinstance(error, BadInput):
                    raise
            stream.give_back()
            return False
        except BaseException:
            stream.settle(clock)
            raise
        finally:
            try:
                release()
            except RuntimeError:
                pass

    return learn


def quick_answerer(stream: Stream, entries: BoundEntries, answers: dict[float, Any]) -> Answer:
    """The label of one dict: what `decide` says, by the average where one is kept."""
    packer, model = stream.packer, stream.model
    acquire, release = stream.lock.acquire, stream.lock.release
    guess, (rows, space, hyper, scores) = entries.guess_entry, entries.single
    pack, (names, held, values, places, state) = packing(), packer.given
    binding = stream.binding

    def answer(x: Any) -> Any:
        try:
            acquire()
            if type(x) is dict and stream.binding is binding:
                if pack(x, names, held, values, places, state, ASKING) >= 0:
                    found = guess(rows, space, hyper, scores, model.clock)
                    if found == found:
                        return answers[found]
                    packer.refuse(x)
            return stream.answer_any(x)
        except NO_NUMBER as error:  # (an array among the values has no truth)
            if not isinstance(error, BadInput):
                packer.refuse(x)
            raise
        finally:
            try:
                release()
            except RuntimeError:
                pass

    return answer
