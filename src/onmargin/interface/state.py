"""What a file must hold of a learner in mid-stream, and the learner from it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..features.slots import Slots
from ..learn.spaces.arrays import Start
from ..models.weights import Model
from .tables import Columns

if TYPE_CHECKING:
    from .learner import Learner

FOUND = ("n_iter_", "objective_", "dual_gap_", "n_kernels_", "n_skipped_")  # by a fit, beside the model


class State(NamedTuple):
    """Facts, and arrays by name."""

    facts: dict[str, Any]
    arrays: dict[str, np.ndarray]


def state_of(learner: Learner) -> State:
    """Everything but the parameters."""
    columns, model = learner._columns, learner._model
    facts: dict[str, Any] = {
        "entropy": learner._entropy,
        "begun": _begun(learner),
        "columns": {
            "names": columns.names if columns.by_name or not columns.numbered else None,
            "by_name": columns.by_name, "width": columns.width,
        },
        "found": {name: learner.__dict__[name] for name in FOUND if name in learner.__dict__},
        "targets": learner._targets().state(),
        "extras": learner._extras(),
        "model": None,
    }  # fmt: skip
    if model is None:
        return State(facts, {})
    more, arrays = model.state()
    facts["model"] = {"start": tuple(model.start), "clock": model.clock, "numbers": model.numbers, **more}
    return State(facts, arrays | {"memory": model.memory})


def _begun(learner: Learner) -> dict[str, Any]:
    """Lasting parameters as they were; a dtype by its name."""
    return {
        name: str(np.dtype(value)) if name == "dtype" and value is not None else value  # type: ignore[call-overload]
        for name, value in learner._begun.items()
    }


def restore_state(learner: Learner, state: State) -> None:
    """Take on a state that was written, the parameters being in place."""
    facts = state.facts
    learner._entropy = facts["entropy"]
    for name in facts["found"]:
        if name not in FOUND:
            raise ValueError(f"it has found {name!r}, which is nothing a fit finds")
        setattr(learner, name, facts["found"][name])
    names, columns = facts["columns"]["names"], facts["columns"]
    slots = None if names is None else Slots(names)
    learner._columns = Columns(slots, columns["by_name"], columns["width"])
    learner._targets().restore(facts["targets"])
    if facts["model"] is not None:
        learner._model = _model(learner, facts["model"], state.arrays)
        learner._begun = facts["begun"]
    learner._take_extras(facts["extras"])


def _model(learner: Learner, facts: dict[str, Any], arrays: dict[str, np.ndarray]) -> Model:
    form = learner._form()
    model = form.model(Start(*facts["start"]), learner._all_numbers())
    model.choose(model.row, facts["numbers"])
    form.restore(model, facts)
    model.restore(facts, arrays)
    model.memory[...] = arrays["memory"]
    model.clock = facts["clock"]
    return model
