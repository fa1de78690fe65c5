"""The short way of one dict, which millions of rounds go: functions closed over all they read.

Names are looked up once, when a stream is bound to its arrays, and not at every round: of two microseconds
that is a fifth. The lock is taken within `try` and not by `with`, which takes twice as long; a release of
what was not taken tells that Ctrl-C came while it was waited for.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ..errors import BadInput
from ..features.slots import NO_NUMBER
from ..learn.vocabulary import KNOWN

if TYPE_CHECKING:
    from ..models.bound import BoundEntries
    from .dicts import BoundStream, Stream


Learn = Callable[[Any, Any], bool]
Answer = Callable[[Any], Any]


def quick_learner(stream: BoundStream, entries: BoundEntries) -> Learn:
    """A round of weight 1 whose target is plain; False, and nothing changed, where it is not so."""
    packer, model, slots, rows, code = stream.packer, stream.model, stream.slots, stream.rows, stream.code
    acquire, release, readers = stream.lock.acquire, stream.lock.release, stream.guard.readers
    entry, (_, _, space, hyper, _, desk, target, trace) = entries.one_entry, entries.one(0.0, 0)
    binding, numbers, room = stream.binding, hyper.numbers, stream.room
    grows = packer.unmet >= 0 and stream.owner._columns.by_name  # new names: there may be room for them
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
                names = [*x]
                known = 0
                if names == packer.names and packer.rows is rows:
                    packer.write(*x.values())
                else:
                    packer.take_in(names, x.values()) if grows else packer.take(x, names)
                    known = len(slots)
                    if packer.rows is not rows or known > (room if grows else stream.known):
                        return stream.learn_grown(goal)
                    if known > stream.known:
                        numbers[KNOWN] = known
                after = entry(rows, goal, space, hyper, clock, desk, target, trace)
                if after >= 0:
                    model.clock = after
                    if known:
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
    """The label of one dict: what `decide` says, by the running weights."""
    packer, model = stream.packer, stream.model
    acquire, release = stream.lock.acquire, stream.lock.release
    guess, (rows, space, hyper, scores) = entries.guess_entry, entries.single
    binding, columns = stream.binding, stream.owner._columns
    finds = packer.blank >= 0 and packer.unmet >= 0 and columns.by_name and model.is_flat  # else: `ask`

    def answer(x: Any) -> Any:
        try:
            acquire()
            if type(x) is dict and stream.binding is binding:
                names = [*x]
                found = names == packer.names
                if found:
                    packer.names = names  # the same objects in a moment: learn_one compares by identity
                    packer.write(*x.values())
                elif finds:
                    packer.find(names, x.values())
                    found = packer.rows is rows
                if found:
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
