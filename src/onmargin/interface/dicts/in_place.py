"""Plain rounds of dicts in place, all others through a copy of the model; those of pairs are here."""

from __future__ import annotations

from collections.abc import Hashable
from contextlib import suppress
from typing import cast

import numpy as np

from ...errors import BadInput
from ...features.slots import NO_NUMBER, Example
from ...learn.vocabulary import NO_TRACE, NONE
from ...models.bound import BoundEntries
from ...models.paired.alone import BoundPairs, can_play
from ...models.paired.model import PairedModel
from ..parameters.fixed import is_unfixed
from .quick import quick_answerer
from .streams import ModelStream


class PlacedStream(ModelStream):
    """A plain round is played in place, where a subclass can; not played, it leaves nothing behind."""

    def bind(self) -> None:
        """Room for a target, and which rounds are plain."""
        super().bind()
        self.code = self.owner._targets().coder(self.coded)
        plain = self.code is not None and getattr(self.owner, "class_weight", None) is None
        if plain and self.learns and not is_unfixed(self.owner):
            self.learn_fast = self.learn_in_place

    def is_ready(self) -> bool:
        """Can the model's rounds be played in place?"""
        raise NotImplementedError

    def play_in_place(self, goal: float) -> bool:
        """The round that is packed; False, and nothing changed: it goes the long way."""
        raise NotImplementedError

    def learn_in_place(self, x: Example, y: Hashable) -> bool:
        """A round of weight 1 whose target is plain; False, and nothing changed, where it is not so."""
        with self.lock:
            if self.binding is None or type(x) is not dict or self.model is not self.owner._model:
                return False
            if self.guard.readers:
                self.guard.wait_for_readers()
            goal = None if self.code is None else self.code(y)
            if goal is None or not self.is_ready():
                return False
            model, known = self.model, len(self.slots)
            clock = model.clock
            try:
                try:
                    if self._packed(x) and self.play_in_place(goal):
                        self.keep()
                        return True
                except NO_NUMBER as error:
                    if isinstance(error, BadInput):
                        raise
                self._give_back(known)
                return False
            except BaseException:  # (Ctrl-C may come while names are given back, or after the round)
                if model.clock != clock:
                    self.keep()
                else:
                    self._give_back(known)
                raise

    def _give_back(self, known: int) -> None:
        """The names of a round that was not played."""
        self.slots.give_back(known)
        self.packer.forget()

    def _packed(self, x: Example) -> bool:
        """The dict in the reserved row, new names with slots of their own; False: there is no room."""
        room = self.room if self.owner._columns.by_name and self.room >= len(self.slots) else 0
        if self.packer.pack(x, room):
            return True
        known = len(self.slots)
        self.packer.take(x, [*x])
        return len(self.slots) == known or len(self.slots) <= room


class PairedStream(PlacedStream):
    """Paired rounds with weights."""

    entries: BoundEntries | None = None
    pairs: BoundPairs | None = None
    looked: object = None  # the model whose pairs they are, or would be

    def bind(self) -> None:
        """Room for a target, and the arrays as they are now."""
        super().bind()
        self._bind_model()

    def _bind_model(self) -> None:
        """Bind the compiled entries to the model's arrays; the target stays where it is."""
        self.pairs = self.looked = self.entries = None
        self.answer = self.answer_slowly
        entries, model, self.binding = BoundEntries(), cast(PairedModel, self.model), object()
        entries.bind(model, self.packer.rows, self.target, learns=False)
        self.entries = entries
        self.answers = None if entries.spelled or model.rule == "auc" else self.owner._targets().answers()
        if self.answers:
            self.answer = quick_answerer(self, entries, self.answers)

    def begin(self) -> None:
        """A copy, to which nothing is bound yet."""
        super().begin()
        self.binding = object()

    def learn(self, x: Example, weight: float, trace: np.ndarray = NO_TRACE) -> tuple[object, ...]:
        """Play one round through a copy; what is compiled is bound to the model that learned it."""
        tally = super().learn(x, weight, trace)
        with suppress(MemoryError):  # the round is over: who asks first binds
            self._bind_model()
        return tally

    def is_ready(self) -> bool:
        """Can its rounds be played in place?"""
        if self.looked is not self.model:
            self.looked, self.pairs = self.model, None
            if can_play(self.model):
                self.pairs = BoundPairs(cast(PairedModel, self.model))
        return self.pairs is not None

    def play_in_place(self, goal: float) -> bool:
        """The round that is packed; False, and nothing changed: it goes the long way."""
        rows = self.packer.rows
        assert self.pairs is not None
        return self.pairs.play(rows, goal, self._coin(self.model, NONE), len(self.slots))

    def scores(self, x: Example) -> np.ndarray:
        """Scores of one dict, by the average where one is kept, less the thresholds."""
        self.ask(x)
        if self.entries is None or self.entries.model is not self.model:
            self._bind_model()  # (within a round; or Ctrl-C came before it was bound)
        assert self.entries is not None
        if not self.entries.answer():
            self.packer.refuse(x)
        return np.asarray(self.entries.out - self.model.thresholds)
