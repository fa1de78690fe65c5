"""Dicts of a kernel learner: names never met count in distances.

The short way is in `models.kernel.one_row`.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ...compiled.dicts import ASKING
from ...compiled.rows import Rows, Sparse
from ...errors import BadInput
from ...features.slots import NO_NUMBER, Example
from ...models.kernel.one_row import BoundSupport, can_answer
from ...models.weights import Model
from .in_place import PlacedStream


class DistanceStream(PlacedStream):
    """Kernels: names never met get columns beyond all others, for distances count them."""

    def row_of(self, x: Example) -> Sparse:
        """One dict as a row; names never met get columns beyond all others."""
        slots, beyond, columns = self.slots, len(self.slots), self.owner._columns
        if not isinstance(x, Mapping):
            self.packer.refuse(x)
        new = [name for name in x if name not in slots]
        if new and not columns.by_name and len(new) == len(x):
            columns.refuse_names(new)
        further = {name: beyond + number for number, name in enumerate(new)}
        places = [slots[name] if name in slots else further[name] for name in x]
        values = np.array([float(value) for value in x.values()])
        return Sparse(values, np.array(places, np.uint32), np.array([0, len(places)], np.int32), 0.0)

    def row_for(self, x: Example) -> Rows:
        """One dict as a row to be answered."""
        if not isinstance(x, Mapping) or not self.packer.is_fine(x):
            self.packer.refuse(x)
        return self.owner._row_of_dict(self.row_of(x))

    def scores(self, x: Example) -> np.ndarray:
        """Scores of one dict, by the average where one is kept."""
        scores, done = self.model.scores(self.row_for(x), 1, self.model.start.average)
        if not done:
            raise BadInput("the kernel values are not finite; nothing was predicted; scale the values")
        return scores

    # ---- the short way

    support: BoundSupport | None = None
    looked: Model | None = None  # whose support it is, or would be

    def bind(self) -> None:
        """Room for a target, and which rounds are plain."""
        super().bind()
        room = self.room >= len(self.slots) and self.owner._columns.by_name
        self.packer.leave_unmet(self.room if room else -1)
        self.support = self.looked = None
        self.answer = self.answer_quickly

    def bound_support(self) -> BoundSupport | None:
        """The model bound to compiled code; None: it goes the long way only."""
        model = self.model
        if self.looked is not model:
            self.support = BoundSupport(model, self.target) if can_answer(model) else None
            self.looked = model
        return self.support

    def is_ready(self) -> bool:
        """Can its rounds be played in place?"""
        support = self.bound_support()
        return support is not None and support.learns

    def play_in_place(self, goal: float) -> bool:
        """The round that is packed; False, and nothing changed: it goes the long way."""
        assert self.support is not None
        return self.support.play(self.packer.rows, goal, len(self.slots))

    def answer_quickly(self, x: Example) -> object:
        """The answer for one dict."""
        with self.lock:
            if type(x) is dict and self.binding is not None:
                try:
                    scores = self._scores_in_place(x)
                except NO_NUMBER as error:
                    if isinstance(error, BadInput):
                        raise
                    scores = None
                if scores is not None:
                    return self.owner._targets().named_one(scores)
            return self.answer_any(x)

    def _scores_in_place(self, x: Example) -> np.ndarray | None:
        """Scores of one dict; None: it goes the long way."""
        support, packer = self.bound_support(), self.packer
        if support is None or not packer.pack(x, ASKING):
            return None
        scores = support.scores(packer.rows)
        return scores if scores is not None and np.isfinite(scores).all() else None
