"""What a model was before a run, as far as bounds ask; with what the run has shown, a `Begun`."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, cast

import numpy as np

from ...models.kernel.model import KernelModel
from ...models.paired.model import Paired
from ...models.weights import Model
from ...results.begun import Begun

if TYPE_CHECKING:
    from ..learner import Learner


class Beginning(NamedTuple):
    """Of a run whose lines are kept, the weights too."""

    weights: np.ndarray | None
    empty: bool
    clock: int
    outputs: int
    slots: int
    late: bool
    judged: bool

    @classmethod
    def of(cls, model: Model, full: bool, late: bool, judged: bool) -> Beginning:
        """Weights of 0 are not kept, and where nobody will ask for them none are."""
        if model.pairs:
            cast(Paired, model).pairing.played = [] if full else None
        zero, start = full and model.is_at_zero(), model.start
        kept = running_table(model) if full and model.kind == "weights" else None
        kept = None if kept is None or not kept.any() else kept  # (a prior, or a simplex, is not 0 at rest)
        return cls(kept, zero and not model.clock, model.clock, start.outputs, start.slots, late, judged)

    def begun(self, learner: Learner, model: Model, weights: np.ndarray) -> Begun:
        """The same with what the run has shown: numbers that its first rows fixed, classes that joined."""
        numbers, members, starts = dict(model.numbers), None, None
        if model.pairs:
            paired = cast(Paired, model)
            members, starts = paired.pairing.taken()
            numbers |= {"C": paired.longest_step, "rivals": paired.pairing.rivals(model.numbers)}
        classes = getattr(learner, "class_weight", None)
        weighted = not np.isin(weights, (0.0, 1.0)).all() or classes is not None
        grew = (self.outputs, self.slots) != (model.start.outputs, model.start.slots)
        dtype = cast(KernelModel, model).form.dtype if model.kind == "kernel" else model.start.dtype
        return Begun(
            model.row.words(), model.kind, numbers, learner._bias, self.outputs, self.clock, self.weights,
            self.empty, weighted, self.late, self.judged, grew, np.dtype(dtype) == np.float64, None, members,
            starts,
        )  # fmt: skip


def running_table(model: Model) -> np.ndarray:
    """(outputs, slots) weights that predict the next round, the constant coordinate last; a copy."""
    weights = np.array(model.weights(), float)
    return weights[None, :] if weights.ndim == 1 else weights[:, : model.start.outputs].T
