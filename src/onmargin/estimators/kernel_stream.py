"""The dict face of a kernel learner: dicts become sparse vectors, which may grow."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any

import numpy as np

from ..compiled.rows import Sparse
from ..errors import BadInput
from ..learn.vocabulary import NO_TRACE, Examples
from ..models.kernel import KernelModel
from .lessons import NO_ORDER, NONE
from .stream import Stream

LARGE = 1e15  # values whose kernels may overflow in float32


class KernelStream(Stream):
    """One row at a time through the model's blocks."""

    model: KernelModel

    def bind(self) -> None:
        """Room for a target, and what labels mean."""
        owner = self.owner
        self.target, self.weight = owner._new_target(), np.ones(1)
        self.rows, self.space = self.packer.rows, None
        self.room = self.model.start.slots - 2
        self.coded: dict[Any, float] | None = owner._coded()
        self.quick, self.answers = False, None
        self.taken: list[Hashable] = []

    def take(self, x: Mapping[Hashable, Any]) -> None:
        """Pack an example that was checked, to learn from it; its new names get columns."""
        self.packer.take(x, tuple(x))
        self._admit_names()
        self.rows, self.taken = self.packer.rows, list(self.slots.fresh)
        self.slots.fresh.clear()

    def learn(
        self, x: Mapping[Hashable, Any], weight: float, trace: np.ndarray = NO_TRACE
    ) -> tuple[Any, ...]:
        """Play one round; example and target are in place, and checked."""
        model = self.model
        weights = NONE if weight == 1.0 else np.full(1, weight)
        luck = self.owner._luck(model, 1, weights)
        examples = Examples(self.packer.rows, self.target, weights, luck, NO_ORDER)
        try:
            model.open(1)
            tally = model.learn(examples, 0, 1, trace)
        except BadInput:  # a kernel of the user's: nothing was learned, its names go
            for name in self.taken:
                del self.slots[name]
            model.live[0], self.packer.names = len(self.slots), None
            raise
        if not tally.stopped:
            self.packer.refuse(x)
        return tuple(tally)

    def row_of(self, x: Mapping[Hashable, Any]) -> Sparse:
        """One dict as a row; names never met get columns beyond all others."""
        slots, beyond = self.slots, len(self.slots)
        if not isinstance(x, Mapping):
            self.packer.refuse(x)
        new = [name for name in x if name not in slots]
        if new and not self.owner._by_name and len(new) == len(x):
            self.owner._refuse_names(new)
        further = {name: beyond + number for number, name in enumerate(new)}
        places = [slots[name] if name in slots else further[name] for name in x]
        values = np.array(list(x.values()), np.float64)
        return Sparse(values, np.array(places, np.uint32), np.array([0, len(places)], np.int32), 0.0)

    def row_for(self, x: Mapping[Hashable, Any]) -> Sparse:
        """One dict as a row to be answered."""
        if not isinstance(x, Mapping) or not self.packer.is_fine(x):
            self.packer.refuse(x)
        return self.row_of(x)

    def check_kernel(self, x: Mapping[Hashable, Any]) -> None:
        """Refuse an example that the kernel cannot take."""
        largest = max(map(abs, x.values()), default=0.0)
        if largest > LARGE or not all(kernel.safe for kernel in self.model.form.kernels):
            self.model.check_rows(self.row_of(x))

    def scores(self, x: Mapping[Hashable, Any]) -> np.ndarray:
        """Scores of one dict, by the average where one is kept."""
        return self.model.scores(self.row_for(x), 1, self.model.start.average)[0]
