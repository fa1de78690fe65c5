"""A file after every epoch, from which a run is gone on with, bit for bit."""

from __future__ import annotations

import os
from typing import NamedTuple, Protocol

from ..errors import BadFile, BadInput, shown
from ..features.piped import last_step, piped
from ..interface.apart import Known, kind_of
from ..interface.learner import Learner
from ..protocols.saving.container import encode
from ..protocols.saving.files import load, notes_of, save
from .library import Value
from .report import Report

NOTE = "cluster"  # under which it lies beside the model
SKIP = "on_error='skip'"

Path = str | os.PathLike[str]


class Checkpoint(NamedTuple):
    """A run after some of its epochs: the model as it learns on, what decides the rest, and what happened."""

    model: Learner
    known: Known
    facts: dict[str, Value]
    report: Report
    converged: bool = False

    @property
    def epoch(self) -> int:
        """Epochs that are over."""
        return len(self.report.epochs)

    def note(self) -> dict[str, Value]:
        """All but the model, as plain values to lie beside it."""
        return {
            "facts": self.facts, "known": tuple(self.known), "report": self.report.state(),
            "converged": self.converged,
        }  # fmt: skip


class Keeper(Protocol):
    """Where checkpoints are kept: a file (`CheckpointFile`), or whatever keeps them among other things."""

    @property
    def hint(self) -> str:
        """How to go on, for whoever reads that a run was stopped."""
        ...

    @property
    def skip_by(self) -> str:
        """How to leave a partition out, for whoever reads that it stopped a run."""
        ...

    def save(self, point: Checkpoint) -> None:
        """In one step: it is there whole, or as it was."""
        ...

    def load(self) -> tuple[Value, Value]:
        """The model that was kept, and its note."""
        ...


class CheckpointFile:
    """A file that holds the last checkpoint alone; `features` make the rows that the model takes."""

    skip_by = SKIP

    def __init__(self, path: Path, features: Value = None) -> None:
        self.path, self.features = path, features

    def __str__(self) -> str:
        return str(self.path)

    @property
    def hint(self) -> str:
        """How to go on."""
        return f"what was learned is in {self}; go on with resume=True"

    def save(self, point: Checkpoint) -> None:
        """Replace it, in one step."""
        save(behind(self.features, point.model), self.path, notes={NOTE: point.note()})

    def load(self) -> tuple[Value, Value]:
        """The model and its note."""
        return last_step(load(self.path)), (notes_of(self.path) or {}).get(NOTE)


def behind(features: Value, model: Value) -> Value:
    """A model that takes what files hold: behind its features, where there are some."""
    return model if features is None else piped(features, model)


def kept_in(given: Path | Keeper | None, features: Value = None) -> Keeper | None:
    """A path as a keeper; any other keeper as it is."""
    if given is not None and not isinstance(given, str | os.PathLike) and not hasattr(given, "hint"):
        raise BadInput(f"checkpoint={shown(given)}; wanted the path of a file")
    return CheckpointFile(given, features) if isinstance(given, str | os.PathLike) else given


def resumed(path: Keeper, facts: dict[str, Value]) -> Checkpoint:
    """What was kept, which must be of a run with the same partitions and settings."""
    model, note = path.load()
    if note is None:
        raise BadFile(f"{path} is no checkpoint of a cluster; wanted the file that checkpoint= named")
    try:
        then, report = dict(note["facts"]), Report.restored(note["report"])
        found = Checkpoint(model, _known(note["known"]), then, report, bool(note["converged"]))
    except (KeyError, TypeError, ValueError) as error:
        raise BadFile(f"{path} is a damaged checkpoint ({shown(str(error))}); begin anew") from None
    for name in sorted(then.keys() | facts.keys()):
        if _differ(then.get(name), facts.get(name)):
            what, before, now = _other(name, then.get(name), facts.get(name))
            raise BadInput(
                f"{path} was begun with other {what} ({shown(before)}) than now ({shown(now)}); resume with "
                "the same, or begin anew"
            )
    return found


def _other(name: str, then: Value, now: Value) -> tuple[str, Value, Value]:
    """What differs, by a name that whoever gave it knows: a parameter, of a list the entry."""
    if isinstance(then, dict) and isinstance(now, dict):
        for key in [*then, *now]:
            if _differ(then.get(key), now.get(key)):
                same = key in ("parameters", "class")
                return _other(name if same else str(key), then.get(key), now.get(key))
    if isinstance(then, list) and isinstance(now, list):
        if name == "partitions" and len(then) != len(now):
            return name, len(then), len(now)
        if len(then) != len(now):
            return name, then, now
        return next((name, *pair) for pair in zip(then, now, strict=True) if _differ(*pair))
    return name, then, now


def _differ(then: Value, now: Value) -> bool:
    """As files have them: arrays and random generators by what they hold."""
    return bool(encode(then) != encode(now))


def _known(values: Value) -> Known:
    """What was noted of the whole set; TypeError: it is none."""
    found = Known(*values)
    kinds = (int, float | int, int, list | tuple | None, bool, list | tuple, list | tuple, bool, int)
    for value, kind in zip(found, kinds, strict=True):
        if not isinstance(value, kind):
            raise TypeError(f"{shown(value)} in what was known of the data")
    return found


def require_of(point: Checkpoint, estimator: Learner, partitions: int, where: str) -> None:
    """Refuse a model that is none of this run, whatever the note beside it says."""
    model, known, report = point.model, point.known, point.report
    same = type(model) is type(estimator) and getattr(model, "n_features_in_", -1) >= known.width
    kind = kind_of(estimator)
    if same and kind == "labels" and not known.sets:  # (it may have grown since)
        same = list(model.known_labels())[: len(known.labels)] == list(known.labels)
    if not same or (report.kind, len(report.partitions)) != (kind, partitions):
        raise BadFile(f"{where} holds another model than the one its run had; begin anew")
