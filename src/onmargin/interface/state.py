"""What a file must hold of a learner in mid-stream, and the learner from it."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..features.slots import Slots
from ..learn.spaces.arrays import Start
from ..learn.vocabulary import REMEMBERED
from ..models.layout import (
    MOST_PLACES,
    MOST_ROUNDS,
    Arrays,
    Facts,
    Misfit,
    Wanted,
    check_arrays,
    check_remembered,
    count,
    lines,
    real,
    truth,
)
from ..models.weights import Model, Numbers
from .parameters.fields import declared, lasting, same
from .tables import Columns

if TYPE_CHECKING:
    from .learner import Learner

FOUND = ("n_iter_", "objective_", "dual_gap_", "n_kernels_", "n_skipped_")  # by a fit, beside the model
# Numbers of the loop that shape the state, and the least of others.
SHAPING = ("batch", "free", "suffix", "reservoir", "sampler", "sets", "thresholds", "own")
LEAST = {"room": 1.0, "anchor": 1.0}
WHOLE = ("room",)


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
        "fixed": dict(learner._fixed),
        "targets": learner._targets().state(),
        "extras": learner._extras(),
        "model": None,
    }  # fmt: skip
    if model is None:
        return State(facts, {})
    learner._check_parameters()  # what could not be read back is not written
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
    """Take on a state that was written, the parameters being in place; raise where it does not fit them.

    Everything is compared before anything is built of it; see `models.layout`.
    """
    facts, arrays = state.facts, state.arrays
    learner._entropy = seed_in("entropy", facts["entropy"])
    for name, value in facts["found"].items():
        setattr(learner, name, _found(name, value, arrays))
    learner._fixed = _fixed(learner, facts.get("fixed", {}))  # (files of version 1 have none)
    learner._columns = _columns(facts["columns"], facts["model"] is not None)
    learner._targets().restore(facts["targets"])
    if facts["model"] is not None:
        with _as_it_began(learner, facts["begun"]):
            learner._model = _model(learner, facts["model"], arrays)
        learner._begun = facts["begun"]
        learner._check_parameters()  # those that were changed since
    elif arrays:
        raise Misfit("it has arrays without a model")
    learner._take_extras(facts["extras"])


def seed_in(name: str, value: object) -> int | None:
    """What a file says of a drawn seed."""
    return None if value is None else count(name, value, 0, 2**128)


def _found(name: str, value: object, arrays: Arrays) -> object:
    """What a fit has found."""
    if name not in FOUND:
        raise Misfit(f"it has found {name!r}, which is nothing a fit finds")
    if name in ("objective_", "dual_gap_"):
        if not isinstance(value, float):
            raise Misfit(f"its {name} is no number")
        return value
    most = lines(arrays, "norms") if name == "n_kernels_" and arrays else MOST_ROUNDS
    return count(name, value, 0, most)


def _fixed(learner: Learner, given: object) -> dict[str, float]:
    """What the first rows have fixed: all that is left to them, or nothing."""
    if not isinstance(given, dict) or (given and given.keys() != learner._by_length.keys()):
        raise Misfit("what its first rows have fixed is not what is left to them")
    values = {name: real(name, value, math.ulp(0.0)) for name, value in given.items()}
    if math.inf in values.values():
        raise Misfit("its first rows have fixed a number that is infinite")
    return values


def _columns(facts: Facts, begun: bool) -> Columns:
    """Names, each once, or a number of columns, or both."""
    names, width = facts["names"], count("width", facts["width"], 0, MOST_PLACES)
    by_name, slots = truth("by_name", facts["by_name"]), Slots(names or ())
    if names is None:
        if by_name and begun:
            raise Misfit("it knows its features by names, and has none")
        return Columns(None, by_name, width)
    if not isinstance(names, list) or len(names) != len(slots) or not by_name and len(names) != width:
        raise Misfit("its names are not one for each feature")
    return Columns(slots, by_name, width)


@contextmanager
def _as_it_began(learner: Learner, begun: Facts) -> Iterator[None]:
    """The parameters that shape the state as they were when learning began, checked as `fit` does."""
    now = lasting(learner)
    if not begun.keys() <= now.keys():
        raise Misfit("the parameters it began with are not those of its class")
    learner.__dict__.update(begun)
    try:
        learner._check_parameters()
        yield
    finally:
        learner.__dict__.update(now)


def _model(learner: Learner, facts: Facts, arrays: Arrays) -> Model:
    form, columns = learner._form(), learner._columns
    arrays = learner._table_row().as_now(arrays)
    start, clock = _start(learner, facts["start"]), count("clock", facts["clock"])
    known = max(columns.known, len(columns.slots or ()))
    if known >= start.slots:
        raise Misfit(f"it knows {known} features and has room for {start.slots - 1}")
    wanted = learner._all_numbers()
    numbers = _numbers(learner, wanted, facts["numbers"])
    more = {**facts, "known": columns.known}
    layout = form.layout(start, wanted, more, arrays) | {"memory": Wanted((REMEMBERED,))}
    check_arrays(layout, arrays)
    check_remembered(arrays["memory"], known)
    model = form.model(start, wanted)
    model.choose(model.row, numbers)
    form.restore(model, facts)
    model.restore(facts, arrays)
    model.memory[...] = arrays["memory"]
    model.clock = clock
    return model


def _start(learner: Learner, given: object) -> Start:
    """The start that parameters and targets make; its slots are for the arrays to show."""
    if not isinstance(given, tuple) or len(given) != len(Start._fields):
        raise Misfit("its start is no such")
    start, kept = (
        learner._form().start(count("room", given[0], 1, MOST_PLACES)),
        Start(*given),
    )
    if learner._averages_fits and isinstance(kept.average, bool):  # it may keep a mean, until it goes on
        start = start._replace(average=kept.average)
    if _without_prior(kept) != _without_prior(start):
        raise Misfit(f"it started as {tuple(kept)}; its parameters and labels make {tuple(start)}")
    return start._replace(wants=tuple(kept.wants))


def _without_prior(start: Start) -> Start:
    """A prior may have been let go of since (`prior=` is no lasting parameter)."""
    return start._replace(wants=tuple(name for name in start.wants if name != "prior"))


def _numbers(learner: Learner, wanted: Numbers, given: Numbers) -> Numbers:
    """The numbers of the loop: those of the parameters, some of which may have been changed since."""
    if not isinstance(given, dict) or given.keys() - {"bytes", "cost"} != wanted.keys() - {"cost"}:
        raise Misfit("its numbers are not those of its class")
    limits = {name: known.limit for name, known, _ in declared(learner)}
    for name, value in given.items():
        like = wanted.get(name, 0.0)
        if name == "cost":
            continue
        if isinstance(like, str) and (limit := limits.get(name)) is not None:
            limit(name, value)
        elif isinstance(like, str) or name in SHAPING:
            if not same(value, like):
                raise Misfit(f"its {name} is not what its parameters say")
        elif real(name, value, LEAST.get(name, 0.0)) % 1 > 0 and name in WHOLE:
            raise Misfit(f"its {name} is no whole number")
    costs = {name: wanted[name] for name in ("cost",) if name in wanted}  # the row is that of the parameters
    return {name: value for name, value in given.items() if name != "cost"} | costs
