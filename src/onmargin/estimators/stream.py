"""A model bound to its dict face.

A dict is packed into one reserved sparse row and played by the very same compiled loop, through
its bound entry.
"""

from __future__ import annotations

import struct
from collections.abc import Hashable, Mapping
from typing import Any

import numpy as np

from ..compiled.parts import Part, bound
from ..errors import BadInput
from ..features.slots import Packer, Slots
from ..learn.vocabulary import NO_TRACE, Examples
from ..models.weights import Model
from .lessons import NO_ORDER, NONE


class Stream:
    """A model bound to its dict face. Made anew whenever the model takes on another shape."""

    def __init__(self, owner: Any, model: Model, slots: Slots) -> None:
        self.owner, self.model, self.slots = owner, model, slots
        self.packer = Packer(slots, owner._bias)
        self.kind: Any = None
        self.bind()

    def bind(self) -> None:
        """Bind the compiled entries to the arrays as they are now."""
        model, rows, owner = self.model, self.packer.rows, self.owner
        self.target, self.weight = owner._new_target(), np.ones(1)
        self.out = np.zeros((1, model.start.outputs))
        self.plain = Examples(rows, self.target, NONE, NONE, NO_ORDER)
        self.weighted = Examples(rows, self.target, self.weight, NONE, NO_ORDER)
        self.space, self.hyper, self.desk = model.space, model.hyper, model.desk
        self.room = model.start.slots - 2  # the last two: the blank slot, the constant coordinate
        self.packer.blank = self.room if owner._has_blank else -1
        averaged = bool(self.space.drift.size)
        spelled = averaged and model.row.space.mean is None
        self.single = (rows, self.space, self.hyper, self.desk.scores)
        answer = (rows, self.space, self.hyper, 0, self.desk.scores, self.out, 0, 1)
        kind = (model.played(), model.start.many, self.target.ndim)
        if kind != self.kind:  # other types; larger arrays of the same types keep their entries
            learn = (self.plain, self.space, self.hyper, 0, self.desk, NO_TRACE, 0, 0, 1)
            self.learn_entry: Part = bound(model.played().learner(), learn)
            answerer = model.row.mean_answerer() if averaged and not spelled else None
            self.answer_entry: Part = bound(answerer or model.row.answerer(), answer)
            self.single_entry: Part = bound(model.row.single(), (*self.single, 0))
            self.kind = kind
        self.spelled = spelled
        self.rows = rows
        self.coded: dict[Any, float] | None = owner._coded()
        self.quick = self.coded is not None and owner.class_weight is None
        self.answers: dict[float, Any] | None = None if averaged else owner._answers()

    def take(self, x: Mapping[Hashable, Any]) -> None:
        """Pack an example that was checked, to learn from it; make room for its new names."""
        self.packer.take(x, tuple(x))
        self._make_room()
        self.slots.fresh.clear()

    def _make_room(self) -> None:
        """Slots for the names just taken in; they are the model's once `fresh` is cleared."""
        self._admit_names()
        if self.model.space is not self.space or self.packer.rows is not self.rows:
            self.bind()

    def _admit_names(self) -> None:
        owner, fresh = self.owner, self.slots.fresh
        if fresh and not owner._by_name:
            try:
                owner._refuse_names(fresh)
            except BadInput:
                self._give_back()
                raise
            owner._by_name = True
        self.model.live[0] = len(self.slots)
        if len(self.slots) > self.room:
            owner._widen(self.model, len(self.slots) + 1)  # the blank slot stays free

    def _give_back(self) -> None:
        self.slots.give_back()
        self.packer.names = None

    def learn(
        self, x: Mapping[Hashable, Any], weight: float, trace: np.ndarray = NO_TRACE
    ) -> tuple[Any, ...]:
        """Play one round; example and target are in place, and checked."""
        if weight == 1.0:
            examples = self.plain
        else:
            examples, self.weight[0] = self.weighted, weight
        model = self.model
        tally: tuple[Any, ...] = self.learn_entry(
            examples, self.space, self.hyper, model.clock, self.desk, trace, 0, 0, 1
        )
        if not tally[1]:
            self.packer.refuse(x)
        model.clock = tally[0]
        return tally

    def learn_fast(self, x: Mapping[Hashable, Any], y: Any) -> bool:
        """A round of weight 1 whose label is known; False, and nothing changed, where it is not so."""
        packer, fresh = self.packer, self.slots.fresh
        try:
            target = self.coded.get(y)  # type: ignore[union-attr]
            if target is None or type(x) is not dict:
                return False
            names = tuple(x)
            if names == packer.names:
                packer.rewrite(tuple(x.values()))
            else:
                packer.take(x, names)
                if fresh or packer.rows is not self.rows:
                    self._make_room()
        except BadInput:
            raise
        except (TypeError, ValueError, struct.error):
            self._give_back()
            return False
        self.target[0] = target
        model = self.model
        tally = self.learn_entry(
            self.plain, self.space, self.hyper, model.clock, self.desk, NO_TRACE, 0, 0, 1
        )
        if not tally[1]:
            self._give_back()
            return False
        if fresh:
            fresh.clear()
        model.clock = tally[0]
        return True

    def guess(self, x: Mapping[Hashable, Any]) -> float:
        """What `decide` says of one dict, by the running weights."""
        packer = self.packer
        names = tuple(x) if type(x) is dict else None
        try:
            if names is not None and names == packer.names:
                packer.names = names  # the same objects in a moment: learn_one compares by identity
                packer.rewrite(tuple(x.values()))
            else:
                self._ask(x)
            guess: float = self.single_entry(*self.single, self.model.clock)
        except BadInput:
            raise
        except (ValueError, struct.error):  # (an array among the values has no truth)
            packer.refuse(x)
            raise
        if guess != guess:
            packer.refuse(x)
        return guess

    def _ask(self, x: Mapping[Hashable, Any]) -> None:
        """Pack an example to answer it; names that are new count as 0."""
        packer = self.packer
        if not isinstance(x, Mapping):
            packer.refuse(x)
        names = tuple(x)
        try:
            known = packer.ask(x, names)
        except (TypeError, struct.error):
            packer.refuse(x)
            raise
        if not known and not self.owner._by_name:
            self.owner._refuse_names([name for name in names if name not in self.slots])
        if packer.rows is not self.rows:
            self.bind()

    def row_for(self, x: Mapping[Hashable, Any]) -> Any:
        """One dict as a row to be answered."""
        self._ask(x)
        return self.packer.rows

    def scores(self, x: Mapping[Hashable, Any]) -> np.ndarray:
        """Scores of one dict, by the average where one is kept."""
        self._ask(x)
        space, out, clock = self.space, self.out, self.model.clock
        if self.spelled:
            space = space._replace(weights=self.model.mean_weights())
        if not self.answer_entry(self.rows, space, self.hyper, clock, self.desk.scores, out, 0, 1):
            self.packer.refuse(x)
        return out
