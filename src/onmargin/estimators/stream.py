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
from ..features.slots import Packer, Slots, add_names
from ..learn.model import NO_TRACE, Model
from ..learn.vocabulary import Examples
from .lessons import NO_ORDER, NONE


class Stream:
    """A model bound to its dict face. Made anew whenever the model takes on another shape."""

    def __init__(self, owner: Any, model: Model, slots: Slots) -> None:
        self.owner, self.model, self.slots = owner, model, slots
        self.packer = Packer(slots, owner._bias)
        self.kind: Any = None
        self.bind()

    def bind(self) -> None:
        """Compile (or fetch) the entries for the arrays as they are now."""
        model, rows = self.model, self.packer.rows
        self.target = self.owner._new_target()
        self.weight = np.ones(1)
        self.out = np.zeros((1, model.start.outputs))
        self.plain = Examples(rows, self.target, NONE, NONE, NO_ORDER)
        self.weighted = Examples(rows, self.target, self.weight, NONE, NO_ORDER)
        self.space, self.hyper, self.desk = model.space, model.hyper, model.desk
        learn = (self.plain, self.space, self.hyper, 0, self.desk, NO_TRACE, 0, 0, 1)
        answer = (rows, self.space, self.hyper, self.desk.scores, self.out, 0, 1)
        self.single = answer[:4]
        kind = (model.recipe, model.start.many, self.target.ndim)
        if kind != self.kind:  # other types; larger arrays of the same types keep their entries
            self.learn_entry: Part = bound(model.recipe.learner(), learn)
            self.answer_entry: Part = bound(model.recipe.answerer(), answer)
            self.single_entry: Part = bound(model.recipe.single(), self.single)
            self.kind = kind
        linear = hasattr(self.space, "drift") and not hasattr(self.space, "point")
        averaged = bool(self.space.drift.size)
        self.shadow = self.space._replace(weights=self.space.drift) if averaged and linear else None
        self.mean = averaged and not linear
        self.averaged = averaged
        self.rows = rows
        self.coded: dict[Any, float] | None = self.owner._coded()

    def learn(
        self, x: Mapping[Hashable, Any], weight: float, trace: np.ndarray = NO_TRACE
    ) -> tuple[Any, ...]:
        """Play one round; the target is already in place."""
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
        """A round of weight 1 whose label is known; False where it is anything else."""
        packer = self.packer
        if type(x) is not dict and not isinstance(x, Mapping):
            return False
        try:
            names = tuple(x)
            target = self.coded.get(y)  # type: ignore[union-attr]
            if target is None:
                return False
            if names == packer.names:
                packer.write(packer.values, 0, *x.values())
            else:
                new = packer.rename(x, names)
                if new:
                    self.grow(x, new)
                elif packer.rows is not self.rows:
                    self.bind()
        except (AttributeError, TypeError, struct.error):
            return False
        self.target[0] = target
        model = self.model
        tally = self.learn_entry(
            self.plain, self.space, self.hyper, model.clock, self.desk, NO_TRACE, 0, 0, 1
        )
        if not tally[1]:
            packer.refuse(x)
        model.clock = tally[0]
        return True

    def guess(self, x: Mapping[Hashable, Any]) -> float:
        """What `decide` says of one dict, by the running weights."""
        packer = self.packer
        if type(x) is not dict and not isinstance(x, Mapping):
            packer.refuse(x)
        names = tuple(x)
        try:
            if names == packer.names:
                packer.write(packer.values, 0, *x.values())
            else:
                new = packer.rename(x, names)
                if new:
                    packer.leave_out(x, names)
                    if not self.owner._by_name:
                        self.owner._refuse_names(new)
                if packer.rows is not self.rows:
                    self.bind()
        except (AttributeError, TypeError, struct.error):
            packer.refuse(x)
            raise
        guess: float = self.single_entry(*self.single)
        if guess != guess:
            packer.refuse(x)
        return guess

    def pack(self, x: Mapping[Hashable, Any]) -> list[Hashable] | None:
        """Fill the reserved row; the names that have no slot."""
        try:
            new = self.packer.pack(x)
        except (TypeError, AttributeError):
            self.packer.refuse(x)
            raise
        if self.packer.rows is not self.rows:
            self.bind()
        return new

    def scores(self, x: Mapping[Hashable, Any]) -> np.ndarray:
        """Scores of one dict, by the average where one is kept; unknown names count as 0."""
        new = self.pack(x)
        if new and not self.owner._by_name:
            self.owner._refuse_names(new)
        space, out = self.space, self.out
        if self.mean:
            space = space._replace(weights=self.model.mean_weights())
        if not self.answer_entry(self.rows, space, self.hyper, self.desk.scores, out, 0, 1):
            self.packer.refuse(x)
        if self.shadow is not None:
            running = out[0].copy()
            self.answer_entry(self.rows, self.shadow, self.hyper, self.desk.scores, out, 0, 1)
            out[0] = running - out[0] / max(self.model.clock, 1)
        return out

    def grow(self, x: Mapping[Hashable, Any], names: list[Hashable]) -> None:
        """New features: check the example first, then make room and pack it again."""
        if not self.packer.is_fine(x):
            self.packer.refuse(x)
        owner = self.owner
        if not owner._by_name:
            owner._refuse_names(names)
        add_names(self.slots, names)
        owner._by_name = True
        owner._widen(self.model, len(self.slots))
        if self.model.space is not self.space:
            self.bind()
        self.pack(x)
