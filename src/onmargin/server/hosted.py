"""One model at work: its learner, the features that it has of its own, and what its rounds came to."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from pathlib import Path
from threading import Lock
from typing import cast

import msgspec
from msgspec import Struct

from ..errors import BadFile, BadInput
from ..features.piped import is_pipeline, piped
from ..features.text import Text
from ..interface.feedback.asks import AsksForLabels
from ..interface.learner import Learner
from ..protocols.requested.naming import CLASSES, NUMBERS, POINTS, SETS
from ..protocols.requested.training import Model
from ..protocols.saving.files import load, notes_of, save
from .examples import Row
from .plain import Json, Plain
from .specs import Spec, widen
from .tallies import Round, Tallies

NOBODY = (None, None)
NOTE = "server"  # what a file's notes have of us
Scores = dict[str, float]
Decide = Callable[[Plain], tuple[Plain, dict[Plain, float]]]
DecideEach = Callable[[Sequence[Plain]], list[tuple[Plain, dict[Plain, float]]]]


class Event(Struct, array_like=True, gc=False):
    """An example with its label, as the journal has it."""

    row: Plain
    y: Plain = None
    key: str | None = None
    w: float = 1.0


class Prediction(Struct, gc=False):
    """An answer, the scores behind it, and whether its label is wanted; `id` is for a late one."""

    id: str
    label: Plain
    scores: Scores
    wanted: bool


class Hosted:
    """`event` is the number of the last event that was applied; `learner` grows in place, seen whole.

    `turned_away` has events that it refused and whose keys are not free again yet, with these keys.
    """

    def __init__(self, name: str, spec: Spec, recent: int) -> None:
        self.name, self.spec, self.event = name, spec, 0
        self.turned_away: list[tuple[str, int]] = []
        self.tallies = Tallies(recent, spec.task in (CLASSES, SETS))
        self._take(spec.learner(), spec.features())

    def _take(self, learner: Model, features: Text | None) -> None:
        self.learner, self.features, self.wide = learner, features, hasattr(learner, "n_features_in_")
        # (Where texts are weighed by those met before, counts and weights of one moment belong together.)
        self.counts_texts = features is not None and features.idf
        self._moment: Lock | nullcontext[None] = Lock() if self.counts_texts else nullcontext()
        self.decide_one: Decide = getattr(learner, "decide_one", None) or self._answered
        self.decide_each: DecideEach = getattr(learner, "decide_each", None) or self._answered_each
        self.required = float(getattr(learner, "margin", None) or 1.0)
        self.tolerated = float(getattr(learner, "epsilon", 0.0) or 0.0)
        self.named = self.spec.task == CLASSES and all(isinstance(name, str) for name in self.classes())

    def _answered(self, x: Plain) -> tuple[Plain, dict[Plain, float]]:
        answer = self.learner.predict_one(x)
        return answer, {}

    def _answered_each(self, examples: Sequence[Plain]) -> list[tuple[Plain, dict[Plain, float]]]:
        return [self._answered(x) for x in examples]

    # ---- answers

    def decide(self, rows: Sequence[Row], id: str, luck: int) -> list[Prediction]:
        """Answers for rows that were checked, all of one moment; `luck` is for rules with coins."""
        found = []
        rule, delta, named = self.spec.rule, self.spec.delta, self.named
        with self._moment:
            answers = self.decide_each(self.dicts(rows))
        for place, (label, scores) in enumerate(answers):
            if rule == "always" or len(scores) < 2:
                wanted = True
            elif rule == "bernoulli":
                wanted = _coin(luck, place) * (delta + _sureness(scores)) < delta
            else:
                wanted = _sureness(scores) <= delta if rule == "margin" else _coin(luck, place) < delta
            if not named:
                label = _said(label)
                scores = {str(name): score for name, score in scores.items()}
            found.append(Prediction(f"{id}{place}", label, scores, wanted))
        return found

    def dicts(self, rows: Sequence[Row]) -> list[Plain]:
        """Rows as the learner takes them: dense lists by their columns, texts by theirs."""
        if self.features is None:
            return [
                row if row.__class__ is dict else dict(enumerate(cast("list[float]", row))) for row in rows
            ]
        return _columns(self.features.transform(list(cast("Sequence[str]", rows))))

    # ---- learning (one thread)

    def apply(self, events: Sequence[Event], ats: Sequence[float], strict: bool = False) -> dict[int, str]:
        """Learn, in order; which could not be, and why (the same ones whenever it is done again).

        strict : what is no verdict on an example, as no memory for it, is raised: it may pass.
        """
        if self.counts_texts and len(events) > 1:  # (groups are made by chance, and would be counted first)
            return self._one_by_one(events, ats, strict)
        with self._moment:
            return self._apply(events, ats, strict)

    def _one_by_one(self, events: Sequence[Event], ats: Sequence[float], strict: bool) -> dict[int, str]:
        each = (self.apply([event], [at], strict) for event, at in zip(events, ats, strict=True))
        return {place: one[0] for place, one in enumerate(each) if one}

    def _apply(self, events: Sequence[Event], ats: Sequence[float], strict: bool) -> dict[int, str]:
        passing = (MemoryError, OSError) if strict else ()
        rounds: list[Round] = []
        refused: dict[int, str] = {}
        task, decide, judge = self.spec.task, self.decide_one, self._round
        learn: Callable[..., None] = self.learner.learn_one
        try:
            taken = self._taken(events)
        except passing:
            raise
        except Exception as error:  # one of them cannot be read: the others are learned
            if len(events) == 1:
                return {0: _line(error)}
            return self._one_by_one(events, ats, strict)
        for place, (x, event, at) in enumerate(zip(taken, events, ats, strict=True)):
            y = event.y
            try:
                if task == SETS:
                    y = {**dict.fromkeys(self.learner.known_labels(), False), **dict.fromkeys(y, True)}
                label, scores = decide(x)
                if event.w == 1.0 and task != POINTS:
                    learn(x, y)
                elif task == POINTS:
                    learn(x, event.w)
                else:
                    learn(x, y, event.w)
                rounds.append(judge(y, label, scores, at))
            except passing:
                raise
            except Exception as error:  # whatever the learner says no to, it will say no to again
                refused[place] = _line(error)
        self.tallies.add(rounds)
        self.named = task == CLASSES and all(isinstance(name, str) for name in self.classes())
        return refused

    def _taken(self, events: Sequence[Event]) -> list[Plain]:
        """Their dicts; features that learn do so, and the first text gives the learner its columns."""
        if self.features is None:
            return self.dicts([event.row for event in events])
        table = self.features.partial_fit_transform([event.row for event in events])
        if not self.wide:
            widen(self.learner, table.shape[1], self.spec.task, events[0].y)
            self.wide = True
        return _columns(table)

    def _round(self, y: Plain, label: Plain, scores: dict[Plain, float], at: float) -> Round:
        """What an answer came to: of labels the hinge loss, of numbers what is beyond epsilon."""
        task = self.spec.task
        if task == CLASSES:
            own, required = scores.get(y), self.required
            margin = 0.0 if own is None else own
            if own is not None and len(scores) == 2:
                low, high = scores.values()
                if low != -high:  # two classes with a row each
                    margin = own - (low + high - own)
            elif own is not None:
                margin = own - _other(scores, y)
            wrong = 0.0 if label == y else 1.0
            return (y, label), wrong, required - margin if margin < required else 0.0, at
        if task == NUMBERS:
            gap = abs(label - y)
            return NOBODY, gap, max(0.0, gap - self.tolerated), at
        if task == SETS:
            missed = [name for name, there in y.items() if there != (label or {}).get(name, False)]
            return NOBODY, float(bool(missed)), float(len(missed)), at
        return NOBODY, float(label == -1), float(label == -1), at

    # ---- what it is

    def classes(self) -> list[Plain]:
        """Labels met, or announced."""
        return self.learner.known_labels() if self.spec.task in (CLASSES, SETS) else []

    def state(self) -> Json:
        """For people and programs."""
        tallies, learner = self.tallies, self.learner
        return {
            "name": self.name, "algorithm": self.spec.algorithm, "task": self.spec.task,
            "parameters": self.spec.parameters, "input": "text" if self.features is not None else "numbers",
            "ask": {"rule": self.spec.rule, "delta": self.spec.delta},
            "rounds": tallies.rounds, "mistakes": tallies.mistakes, "loss": tallies.loss,
            "error": tallies.mistakes / tallies.rounds if tallies.rounds else None,
            "recent": tallies.recent_error(), "classes": [_said(name) for name in self.classes()],
            "features": int(getattr(learner, "n_features_in_", 0)), "drifts": list(tallies.drifts),
            "event": self.event,
        }  # fmt: skip

    # ---- files

    @property
    def whole(self) -> object:
        """What a file holds: the learner, behind its features where it has some."""
        return self.learner if self.features is None else piped(self.features, self.learner)

    def save(self, path: Path, **more: object) -> None:
        """Everything, in one step, flushed: a file that `om.load` reads."""
        facts = {"name": self.name, "event": self.event, "spec": msgspec.to_builtins(self.spec)}
        save(self.whole, path, {NOTE: facts | {"tallies": self.tallies.facts()} | more})

    def as_bytes(self) -> bytes:
        """The same file, in memory."""
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "model.onm")
            self.save(path)
            return path.read_bytes()

    @classmethod
    def from_file(cls, path: str | os.PathLike[str]) -> Hosted:
        """As it was saved; refused in one line where the file is not whole, or not ours."""
        notes = (notes_of(path) or {}).get(NOTE)
        if not isinstance(notes, dict):
            raise BadFile(f"{path} is no snapshot of a server")
        try:
            self = cls.__new__(cls)
            self.name, self.event, self.turned_away = notes["name"], notes["event"], []
            self.spec = msgspec.convert(notes["spec"], Spec)
            self.tallies = Tallies.from_facts(notes["tallies"])
            whole = load(path)
            features = whole.steps[0][1] if is_pipeline(whole) else None
            learner = whole.steps[-1][1] if is_pipeline(whole) else whole
            if not isinstance(learner, Learner | AsksForLabels):
                raise BadInput(f"it holds a {type(learner).__name__}")
            self._take(learner, features)
        except (KeyError, TypeError, ValueError, msgspec.ValidationError) as error:
            raise BadFile(
                f"{path} does not fit this version ({' '.join(str(error).split())[:200]})"
            ) from None
        return self


def _line(error: Exception) -> str:
    return " ".join(str(error).split())[:300] or type(error).__name__


def _columns(table: Plain) -> list[dict[int, float]]:
    """Rows of a CSR matrix as dicts."""
    indices, values, bounds = table.indices.tolist(), table.data.tolist(), table.indptr.tolist()
    return [
        dict(zip(indices[a:b], values[a:b], strict=True)) for a, b in zip(bounds, bounds[1:], strict=False)
    ]


def _coin(luck: int, place: int) -> float:
    """In [0, 1), of a request and a place in it: whoever asks again may be asked for the label."""
    mixed = (luck * 0x9E3779B97F4A7C15 + place * 0xD1B54A32D192ED03) & 0xFFFFFFFFFFFFFFFF
    return ((mixed ^ mixed >> 29) * 0xBF58476D1CE4E5B9 & 0xFFFFFFFFFFFFFFFF) / 2.0**64


def _sureness(scores: dict[Plain, float]) -> float:
    """|p|; of several classes, the gap between the two best scores."""
    if len(scores) == 2:
        return abs(next(iter(scores.values())))
    best, second = sorted(scores.values())[-1:-3:-1]
    return best - second


def _other(scores: dict[Plain, float], own: Plain) -> float:
    """The best score of the other labels (of none: 0)."""
    return max((score for name, score in scores.items() if name != own), default=0.0)


def _said(label: Plain) -> Plain:
    """An answer as JSON can say it: a set by its labels."""
    if label.__class__ is dict:
        return [_said(name) for name, there in label.items() if there]
    return label if isinstance(label, str | int | float | bool | None) else str(label)
