"""Twins: what a learning call works on, and a question looks at, while the learner stays as it is."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

from ..features.slots import Slots
from .guard import NOBODY, Change, Guarded

if TYPE_CHECKING:
    from ..models.weights import Model
    from .feedback.asks import AsksForLabels
    from .learner import Learner
    from .runs.passes import TrainingSet

Some = TypeVar("Some", bound=Guarded)
One = TypeVar("One", bound="Learner")
Asker = TypeVar("Asker", bound="AsksForLabels")
Played = TypeVar("Played")


def of_any(owner: Some, change: Change | None) -> Some:
    """Another object with the same attributes, which nobody else knows of."""
    twin: Some = object.__new__(type(owner))
    twin._guard, twin._change = None, change
    twin.__dict__.update(owner.__dict__)
    return twin


def of_learner(owner: One, change: Change | None) -> One:
    """For a learning call: with a model that shares arrays and nothing else; for a question: as it is."""
    twin = of_any(owner, change)
    twin.__dict__.pop("_stream", None)
    if change is not None:
        retire(owner)
        twin._model = None if owner._model is None else owner._model.sharing()
    return twin


def of_asker(owner: Asker, change: Change | None) -> Asker:
    """Around a twin of the learner inside, with a rule of its own."""
    twin = of_any(owner, change)
    inner = owner.__dict__.get("estimator_")
    if inner is not None:
        with (inner._guard or NOBODY).lock:
            twin.estimator_ = inner._twin(change)
            twin.estimator_._model = None if inner._model is None else inner._model.sharing()
    twin._asking = None if owner._asking is None else owner._asking.copy()
    return twin


def retire(owner: Learner) -> None:
    """Whoever still holds the stream goes another way."""
    stream = owner.__dict__.pop("_stream", None)
    if stream is not None:
        stream.retire()


def own(twin: Learner) -> None:
    """Names, labels and arrays of its own: for a twin that learns one dict, or one piece, after the other."""
    slots = twin._columns.slots
    twin._columns = twin._columns._replace(slots=None if slots is None else Slots(slots))
    twin._targets().own()
    twin._model = None if twin._model is None else twin._model.copy()


def frozen(owner: Some) -> Some:
    """A twin with arrays of its own: the learner as it is at this moment, to be written down."""
    with (owner._guard or NOBODY).lock:
        twin = owner._twin(None)
        learner = twin.__dict__.get("estimator_", twin)
        if hasattr(learner, "_columns"):  # (one that asks may have nobody inside yet)
            own(learner)
    return twin


def learn_on(learner: Learner, model: Model, data: TrainingSet, play: Callable[[], Played]) -> Played:
    """Learn on a model and keep it; into arrays that others read: alone, and put back if it fails."""
    change = learner._change
    if change is None or not model.shares:
        played = play()
        learner._model = model
        return played
    with change.guard.lock:
        change.guard.wait_for_readers()
        journal = model.journal(data.rows, data.size)
        try:
            played = play()
            model.shared, learner._model = None, model
            change.publish()
        except BaseException:
            if not change.owner._has(model):  # (Ctrl-C may come right after it)
                journal.undo()
            raise
    return played
