"""A run of learning as it is asked for, by names and texts, made ready to go."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from sklearn.base import is_regressor

from ...errors import BadFile, BadInput, shown
from ...features.piped import last_step
from ...interface.feedback.asks import AsksForLabels
from ...interface.learner import Learner
from ...interface.parameters.fields import same
from ...results.progress import Progress
from ..saving.files import load, notes_of
from .naming import FAMILIES, NUMBERS, QUERIES, TASKS, USUAL, is_of_two, named, parameters_of
from .reading import Reading, feature_options, format_of_data, is_set, source_options
from .record import Record
from .training import Model, Moment, Training

Parameters = dict[str, object]
BANDIT = "banditron"


@dataclass
class Request:
    """What to learn from, with which algorithm, and what to keep.

    parameters : of the algorithm, of the format, of its features: each goes to the first that has the name.
    start : a model to begin with. resume : go on with `save`, if it is there, where it was stopped.
    """

    data: list[str]
    algorithm: str | None = None
    task: str | None = None
    format: str | None = None
    parameters: Parameters = field(default_factory=dict)
    passes: int = 1
    save: str | None = None
    start: str | None = None
    resume: bool = False
    every: int | None = None
    follow: bool = False
    on_error: str = "stop"
    cache: bool = False
    command: str = ""

    def training(
        self,
        *,
        traced: bool = False,
        apart: bool = False,
        seen: Callable[[Progress], None] | None = None,
        tell: Callable[[Moment], None] | None = None,
    ) -> Training:
        """Everything opened, found and checked; `run` learns (`apart`: others do, as `Reading` says)."""
        if self.passes < 1:
            raise BadInput(f"passes={self.passes}; wanted at least 1")
        if self.resume and self.save is None:
            raise BadInput("to resume is to go on with a file; give --save FILE.onm")
        folder = os.path.dirname(os.path.realpath(self.save)) if self.save is not None else "."
        if not os.path.isdir(folder) or os.path.isdir(self.save or ""):
            raise BadInput(
                f"{self.save} cannot be saved: its folder does not exist, or it is one; give another --save"
            )
        going_on = self.resume and os.path.exists(self.save or "")
        if self.start is not None and going_on:
            raise BadInput(f"{self.save} is there and is resumed; leave --start out")
        kept = self.save if going_on else self.start
        before = None if kept is None else notes_of(kept)
        record = Record.from_facts(before, kept) if going_on else None
        algorithm = self.algorithm or (None if record is None else record.algorithm)
        own, others = self.shared_out(algorithm)
        whole = None if kept is None else load(kept)
        task = self.task or (None if record is None else record.task) or _task_learned(whole, before)
        reading = self.reading(task, others, apart)
        new = Record(
            self.data,
            reading.format,
            reading.options,
            reading.task,
            algorithm or "",
            self.passes,
            self.command,
        )
        two = False
        if kept is None:
            if reading.labels is not None:
                own = {"classes": tuple(reading.labels), **own}
            if (algorithm or "").startswith(BANDIT) and own.get("classes") is None:
                own = {"classes": self._actions(task, others), **own}
            made = named(algorithm, reading.task, own)
            model, new.algorithm, two = made.model, made.name, made.two
        else:
            model = learner_in(whole, kept)
            self._check_begun(kept, model, record or _record_in(before), own)
            new.algorithm = str((before or {}).get("algorithm", type(model).__name__))
            two = is_of_two(new.algorithm)
        if record is not None:
            record.check_same(new, self.save)
            record.passes, record.command = self.passes, self.command or record.command
        return Training(
            model, reading, record or new, path=self.save, every=self.every, whole=whole, two=two,
            traced=traced, seen=seen, tell=tell,
        )  # fmt: skip

    def shared_out(self, algorithm: str | None) -> tuple[Parameters, Parameters]:
        """Parameters of the learner, and those of the data."""
        family = (algorithm or "").partition(".")[0]
        likely = [family] if family in FAMILIES else {name for some in USUAL.values() for name in some}
        fields = {name for one in likely for name in parameters_of(one)}
        format = self._format()
        text = "text" in self.parameters
        data = [] if format is None else [*source_options(format), *feature_options(format, text)]
        own = {name: value for name, value in self.parameters.items() if name in fields or name not in data}
        return own, {name: value for name, value in self.parameters.items() if name not in own}

    def _format(self) -> str | None:
        if self.format is not None:
            return self.format
        if len(self.data) == 1 and is_set(self.data[0]):
            return None
        return format_of_data(self.data[0]) if self.data else None

    def reading(self, task: str | None, options: Parameters, apart: bool = False) -> Reading:
        def opened(options: Mapping[str, object]) -> Reading:
            return Reading(
                self.data, format=self.format, task=task, options=options, follow=self.follow,
                on_error=self.on_error, cache=self.cache, apart=apart,
            )  # fmt: skip

        reading = opened(options)
        if reading.task == QUERIES and reading.format == "svmlight" and "columns" not in options:
            if reading.source.again:  # rankers want to know their columns
                for _ in reading.peeked.blocks():
                    pass
                return opened({**options, "columns": reading.source.columns})
        return reading

    def _actions(self, task: str | None, options: Parameters) -> tuple[object, ...]:
        """What a bandit may play: it must know before the first row."""
        source = self.reading(task, options).source
        labels = source.glance()[0] if source.again else None
        if labels is None:
            raise BadInput("banditron must know its actions before the first row; give --classes 1,2,3")
        return tuple(labels.tolist())

    def _check_begun(self, path: str, model: Model, record: Record | None, own: Parameters) -> None:
        """What is asked for must be what the file has."""
        before = None if record is None else record.algorithm
        if self.algorithm is not None and before is not None and self.algorithm != before:
            raise BadInput(f"{path} was learned with {before}, not {self.algorithm}; leave --algorithm out")
        has: Parameters = model.get_params(deep=False)
        for name, value in own.items():
            if name not in has or not same(has[name], value):
                found = f"{name}={shown(has[name])}" if name in has else f"no parameter {name!r}"
                raise BadInput(
                    f"{path} has {found}, and {shown(value)} is asked for; leave it out, or learn anew"
                )


def learner_in(whole: object, path: object) -> Model:
    """The learner itself, of a Pipeline the last step."""
    inside = last_step(whole)
    if not isinstance(inside, Learner | AsksForLabels):
        raise BadFile(f"{path} holds a {type(inside).__name__}, which does not learn row by row")
    return inside


def _task_learned(whole: object, notes: Mapping[str, object] | None) -> str | None:
    """What a model to begin with was learned for: as its file says, or as it is; None: the labels say it."""
    if whole is None:
        return None
    said = (notes or {}).get("task")
    return str(said) if said in TASKS else NUMBERS if is_regressor(last_step(whole)) else None


def _record_in(notes: Mapping[str, object] | None) -> Record | None:
    return None if notes is None or "finished" not in notes else Record.from_facts(notes, "the file")
