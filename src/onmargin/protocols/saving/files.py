"""om.save and om.load: a learner in mid-stream as one file, and back, bit for bit."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import clone

from ... import __version__
from ...errors import BadFile, BadInput, shown
from ...estimators import every
from ...estimators.sampler import SelectiveSampler
from ...features.piped import is_pipeline
from ...interface.classifier import Classifier
from ...interface.feedback.asks import AsksForLabels
from ...interface.learner import Learner
from ...interface.regressor import Regressor
from ...interface.state import State, restore_state, state_of
from ...interface.twins import frozen
from . import container
from .portable import MissingParts, packed, unpacked

if TYPE_CHECKING:
    from sklearn.pipeline import Pipeline

PIPELINE = "Pipeline"  # in the place of a learner's class
NOTES = "notes"  # beside it

Path = str | os.PathLike[str]
Facts = dict[str, Any]
Arrays = dict[str, np.ndarray]
Parts = Facts | None
"""A user's own functions by name."""


def save(model: Any, path: Path, notes: Facts | None = None) -> None:
    """Write a learner to one `.onm` file, at any moment of its stream: all of it, or the old file stays.

    A file that is there is replaced in one step and keeps its permissions; where `path` is a link, what it
    points at is replaced and the link stays. Several may save to one path at once: one whole file is left.
    Two saves of one model are equal, byte for byte. `notes` (plain values by name: when and on what it was
    trained, say) lie beside the model and have no part in it; `notes_of(path)` reads them.

    A scikit-learn Pipeline of the steps in om.features, CountVectorizer, TfidfVectorizer, TfidfTransformer,
    HashingVectorizer, StandardScaler, MaxAbsScaler, MinMaxScaler or Normalizer that ends in a learner is
    written whole; other steps, and functions given to these, are refused by name.

    >>> import onmargin as om, os, tempfile
    >>> model = om.Perceptron()
    >>> model.learn_one({"a": 1.0}, "yes")
    >>> path = os.path.join(tempfile.mkdtemp(), "model.onm")
    >>> om.save(model, path)
    >>> om.load(path).predict_one({"a": 1.0})
    'yes'
    """
    facts, arrays = (
        _facts_of_pipeline(model)
        if is_pipeline(model) and type(model).__name__ == PIPELINE
        else _facts_of(model)
    )
    container.write(path, facts if notes is None else facts | {NOTES: notes}, arrays)


def notes_of(path: Path) -> Facts | None:
    """What was noted beside the model in a file (by `onmargin learn`: see `Record`); None: nothing was."""
    notes = container.read(path)[0].get(NOTES)
    if notes is not None and not isinstance(notes, dict):
        raise BadFile(f"{path} has notes that are none; use another copy")
    return notes


def _facts_of(model: object) -> tuple[Facts, Arrays]:
    """A learner as facts and arrays."""
    if not isinstance(model, Learner | AsksForLabels) or type(model).__name__ not in every():
        raise BadInput(
            f"got {type(model).__name__} of {type(model).__module__.partition('.')[0]}; om.save takes the "
            "learners of this library, and scikit-learn's Pipelines that end in one; else save the learner"
        )
    asks, learner = None, frozen(model)
    if isinstance(learner, AsksForLabels):
        asks = learner.asking_state() | described(learner, without="estimator")
        learner = learner.inside()
    state = state_of(learner)
    begun = {name: packed(value) for name, value in state.facts["begun"].items()}
    facts = state.facts | {"begun": begun, "version": __version__, "asks": asks}
    return facts | described(learner), state.arrays


def _facts_of_pipeline(model: Pipeline) -> tuple[Facts, Arrays]:
    """Its steps, and the learner at its end."""
    from .pipelines import pack  # (with scikit-learn's steps, which take long to load)

    learner, arrays = _facts_of(model.steps[-1][1])
    around, further = pack(model)
    facts = {"class": PIPELINE, "version": __version__, "around": around, "learner": learner}
    return facts, arrays | further


def described(model: Learner | AsksForLabels, without: str = "") -> Facts:
    """For a file: the class and its parameters as they were given; a dtype by its name."""
    given: Facts = model.get_params(deep=False)
    given.pop(without, None)
    if given.get("dtype") is not None:
        given["dtype"] = np.dtype(given["dtype"]).name
    return {
        "class": type(model).__name__,
        "parameters": {name: packed(value) for name, value in given.items()},
    }


def load(path: Path, parts: Parts = None) -> object:
    """Read a learner; it goes on exactly where it was. Runs no code from the file.

    `parts` brings back a user's own functions, {name: function}; they must be those it was saved with.
    """
    facts, arrays = container.read(path)
    if "pool" in facts:
        raise BadFile(f"{path} holds a pool; read it with om.Pool.load(path, X)")
    try:
        if facts.get("class") != PIPELINE:
            return _learner(facts, arrays, parts, path)
        from .pipelines import PREFIX, unpack

        further = {name: arrays.pop(name) for name in list(arrays) if name.startswith(PREFIX)}
        return unpack(facts["around"], further, _learner(facts["learner"], arrays, parts, path))
    except (MissingParts, BadFile, MemoryError):
        raise
    except Exception as error:  # whatever a damaged file makes of it
        reason, writer = " ".join(str(error).split())[:200], str(facts.get("version"))[:20]
        raise BadFile(f"{path} does not fit this version ({reason}); written by {writer}") from None


def _learner(facts: Facts, arrays: Arrays, parts: Parts, path: Path) -> Learner | AsksForLabels:
    """The learner that facts and arrays make."""
    inner, asks = _named_in(facts), None if facts.get("asks") is None else _named_in(facts["asks"])
    for name, around in ((inner["class"], False), *([(asks["class"], True)] if asks else [])):
        if name not in every() or around != issubclass(every()[name], AsksForLabels):
            raise BadFile(f"{path} holds a {shown(name)}, which this version does not know")
    learner: Learner = built(inner, parts)
    begun = {name: unpacked(value, parts) for name, value in facts["begun"].items()}
    restore_state(learner, State(facts | {"begun": begun}, arrays))
    return learner if asks is None else _around(learner, asks, parts)


def _named_in(facts: Any) -> Facts:
    """Facts of a file that name a class and its parameters."""
    if not isinstance(facts, dict) or not isinstance(facts["parameters"], dict):
        raise BadInput("it names no parameters")
    return facts | {"class": str(facts["class"])}


def built(facts: Facts, parts: Parts, **more: Any) -> Any:
    """A learner with the parameters of a file."""
    parameters = {name: unpacked(value, parts) for name, value in facts["parameters"].items()}
    return every()[facts["class"]](**parameters, **more)


def _around(inner: Learner, facts: Facts, parts: Parts) -> AsksForLabels:
    """The learner that asks, around the learner inside."""
    takes = facts["class"] == SelectiveSampler.__name__
    model: AsksForLabels = built(facts, parts, **({"estimator": clone(inner)} if takes else {}))
    if not isinstance(inner, Classifier | Regressor):
        raise BadInput(f"a {type(inner).__name__} cannot ask for labels")
    model.restore_asking(inner, facts)
    return model
