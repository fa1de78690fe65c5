"""A grid of learners over one table, side by side in lanes: those that can."""

from __future__ import annotations

import copy
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import numpy as np

from ..compiled.rows import Rows
from ..errors import Diverged
from ..learn.series import harmonic
from ..learn.sweeps import KNOBS, Lanes
from ..learn.vocabulary import DEFAULTS, MORE, PEGASOS_LAST, PEGASOS_SPREAD, Examples
from ..models.lanes import AT_ONCE, can_sweep, fresh_lanes, sweeper
from ..results.sweep_result import DIVERGED
from .lessons import NONE, Lesson, blocks

# Parameters that a lane may have of its own: numbers of the loop, or what chooses the row of the table.
FREE = ("C", "margin", "epsilon", "rate", "lam", "step", "loss")


class Sixteen:
    """Up to sixteen configurations of one row of the table, learned in lanes by one leader."""

    def __init__(self, leader: Any, members: list[int], choices: list[dict[str, Any]], rows: Rows) -> None:
        self.leader, self.members, self.rows = leader, members, rows
        model = leader._model
        knobs = np.array(
            [[float(choice.get(name, (DEFAULTS | MORE)[name])) for choice in choices] for name in KNOBS]
        )
        self.lanes: Lanes = fresh_lanes(knobs, model.space.weights, model.start.average)
        self.play = sweeper(model.row)
        self.clock = 0

    def learn(self, X: Any, part: Any, targets: np.ndarray, weights: np.ndarray) -> None:
        """One block."""
        examples = Examples(self.rows, targets, weights, NONE, part.order)
        hyper = self.leader._model.hyper
        self.clock, reached = self.play(examples, self.lanes, hyper, self.clock, part.first, 0, part.count)
        if reached < part.count:
            raise self.leader._not_finite(X, part.first + reached)

    def line(self, lane: int) -> dict[str, Any]:
        """What one configuration came to."""
        lanes, rounds = self.lanes, float(max(self.clock, 1))
        if not np.isfinite(lanes.losses[lane]):
            return dict(DIVERGED)
        return {
            "rounds": self.clock, "mistakes": int(lanes.mistakes[lane]), "updates": int(lanes.updates[lane]),
            "error_rate": lanes.mistakes[lane] / rounds, "mean_loss": lanes.losses[lane] / rounds,
            "mae": lanes.gaps[lane] / rounds,
        }  # fmt: skip

    def model(self, lane: int, config: dict[str, Any]) -> Any:
        """The learner of one lane, as if it had learned alone."""
        if not np.isfinite(self.lanes.losses[lane]):
            raise Diverged(f"the steps of {config} feed on themselves; there is no model of it")
        twin = self.leader.clone(include_attributes=True)
        twin.set_params(**config)
        inner = twin._model
        inner.space.weights[...] = self.lanes.weights[:, lane]
        if self.lanes.drift.size:
            inner.space.drift[...] = self.lanes.drift[:, lane]
        inner.clock = self.clock
        if hasattr(inner.space, "ledger"):  # Pegasos: as if the last round had moved it
            inner.space.ledger[PEGASOS_SPREAD] = harmonic(self.clock - 1.0)
            inner.space.ledger[PEGASOS_LAST] = self.clock
        inner.choose(twin._recipe(), twin._choices())
        twin._begun = twin._lasting()
        return twin


def key_of(model: Any, params: dict[str, Any]) -> Any:
    """Equal for learners that can share lanes; None where there is no lane for them."""
    model._check_parameters()
    if not model._has_lanes:
        return None
    row = model._recipe()
    outputs, many = model._outputs()
    if not can_sweep(row) or many or outputs != 1 or model._wants() or getattr(model, "growing", False):
        return None
    choices = {name: value for name, value in model._choices().items() if name not in KNOBS}
    rest = {name: repr(value) for name, value in params.items() if name not in FREE}
    plain = choices.get("radius", np.inf) == np.inf and not choices.get("free")
    return (id(row), repr(choices), repr(rest)) if plain else None


def sweep_in_lanes(
    models: list[Any], params: list[dict[str, Any]], X: Any, y: Any, sample_weight: Any, threads: int,
    tell: Callable[[float], None],
) -> tuple[dict[int, tuple[Sixteen, int]], list[int]]:  # fmt: skip
    """Learn in lanes what can be; which lane each configuration has, and those without one."""
    first = models[0]
    table = first._table(X, reset=True, learning=True)
    y = first._read_y(y, table.shape[0])
    first._adopt(y, False)
    lesson = first._lesson(table, y, sample_weight)
    together: dict[Any, list[int]] = {}
    for number, model in enumerate(models):
        _join(first, model)
        together.setdefault(key_of(model, params[number]), []).append(number)
    alone = together.pop(None, [])
    groups: list[Sixteen] = []
    for members in together.values():
        if len(members) == 1:
            alone += members
        else:
            parts = [members[at : at + AT_ONCE] for at in range(0, len(members), AT_ONCE)]
            groups += [_begun(models, some, table, lesson) for some in parts]
    if groups:
        _play(groups, table, lesson, threads, tell)
    places = {number: (group, lane) for group in groups for lane, number in enumerate(group.members)}
    return places, sorted(alone)


def _join(first: Any, model: Any) -> None:
    """What the first learner found out about the table holds for the others."""
    for name in ("_labels", "_width", "_slots", "_by_name"):
        if name in first.__dict__:
            setattr(model, name, getattr(first, name))


def _begun(models: list[Any], some: list[int], table: Any, lesson: Lesson) -> Sixteen:
    """A group before its first round, each of its members asked whether it can start so."""
    leader = models[some[0]]
    if hasattr(leader, "_labels"):
        leader._labels = copy.deepcopy(leader._labels)  # class weights count in there
    leader._model = leader._new_model(table.shape[1])
    for number in some:
        models[number]._check_start(leader._model)
    leader._fit_in(leader._model, table)
    rows = lesson.rows._replace(bias=leader._bias)
    return Sixteen(leader, some, [models[number]._choices() for number in some], rows)


def _play(
    groups: list[Sixteen], table: Any, lesson: Lesson, threads: int, tell: Callable[[float], None]
) -> None:
    """Every group over every block; those with the same class weights share their rounds' weights."""
    sharing: dict[str, list[Sixteen]] = {}
    for group in groups:
        sharing.setdefault(repr(getattr(group.leader, "class_weight", None)), []).append(group)
    cutters = [
        (some[0].leader._cutter(some[0].leader._model, lesson, False), some) for some in sharing.values()
    ]
    with ThreadPoolExecutor(min(threads, len(groups))) as pool:  # compiled loops let go of the interpreter
        for block in blocks(lesson.count):
            for cut, some in cutters:
                for part, targets, weights in cut(block):
                    learn = partial(Sixteen.learn, X=table, part=part, targets=targets, weights=weights)
                    list(pool.map(learn, some))
            tell((block.first + block.count) / lesson.count)
    for _, some in cutters:
        for group in some[1:]:
            if hasattr(group.leader, "_labels"):
                group.leader._labels = some[0].leader._labels  # with its running counts
