"""A grid of learners over one table: side by side in lanes where they can, else one thread each."""

from __future__ import annotations

import copy
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from ..compiled.rows import Rows
from ..errors import Diverged
from ..learn.series import harmonic
from ..learn.spaces.shrinking import LAST, SPREAD
from ..learn.sweeps import AT_ONCE, KNOBS, Lanes, can_sweep, fresh_lanes, sweeper
from ..learn.vocabulary import DEFAULTS, MORE, Examples
from ..results.sweep_result import DIVERGED
from .lessons import NONE, Cutter, blocks

# Parameters that a lane may have of its own: numbers of the loop, or what chooses the row of the table.
FREE = ("C", "margin", "epsilon", "rate", "lam", "step", "loss", "coin_epsilon", "adagrad_delta")


class Sixteen:
    """Up to sixteen configurations of one row of the table, learned in lanes by one leader."""

    def __init__(self, leader: Any, members: list[int], choices: list[dict[str, Any]], rows: Rows) -> None:
        self.leader, self.members, self.rows = leader, members, rows
        model = leader._model
        knobs = np.array(
            [[float(choice.get(name, (DEFAULTS | MORE)[name])) for choice in choices] for name in KNOBS]
        )
        self.lanes: Lanes = fresh_lanes(knobs, model.space.weights, model.start.average)
        self.play = sweeper(model.recipe)
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
            inner.space.ledger[SPREAD] = harmonic(self.clock - 1.0)
            inner.space.ledger[LAST] = self.clock
        inner.choose(twin._recipe(), twin._choices())
        twin._begun = twin._lasting()
        return twin


def key_of(model: Any, params: dict[str, Any]) -> Any:
    """Equal for learners that can share lanes; None where there is no lane for them."""
    model._check_parameters()
    row = model._recipe()
    outputs, many = model._outputs()
    if not can_sweep(row) or many or outputs != 1 or model._wants() or getattr(model, "growing", False):
        return None
    choices = {name: value for name, value in model._choices().items() if name not in KNOBS}
    rest = {name: repr(value) for name, value in params.items() if name not in FREE}
    plain = choices.get("radius", np.inf) == np.inf and not choices.get("free")
    return (id(row), repr(choices), repr(rest)) if plain else None


def sweep_in_lanes(
    models: list[Any],
    params: list[dict[str, Any]],
    X: Any,
    y: Any,
    sample_weight: Any,
    threads: int,
    tell: Any,
) -> tuple[dict[int, tuple[Sixteen, int]], list[int]]:
    """Learn in lanes what can be; which lane each configuration has, and those without one."""
    first = models[0]
    table = first._table(X, reset=True, learning=True)
    y = first._read_y(y, table.shape[0])
    first._adopt(y, False)
    lesson = first._lesson(table, y, sample_weight)
    together: dict[Any, list[int]] = {}
    for number, model in enumerate(models):
        if model is not first:
            _join(first, model)
        together.setdefault(key_of(model, params[number]), []).append(number)
    alone = together.pop(None, [])
    groups: list[Sixteen] = []
    cutters: dict[str, tuple[Cutter, list[Sixteen]]] = {}  # by class weights, which make the rounds' weights
    for members in together.values():
        if len(members) == 1:
            alone += members
            continue
        for start in range(0, len(members), AT_ONCE):
            some = members[start : start + AT_ONCE]
            leader = models[some[0]]
            leader._labels = copy.deepcopy(first._labels) if hasattr(first, "_labels") else None
            leader._model = leader._new_model(table.shape[1])
            for number in some:
                models[number]._check_start(leader._model)
            leader._fit_in(leader._model, table)
            rows = lesson.rows._replace(bias=leader._bias)
            groups.append(Sixteen(leader, some, [models[number]._choices() for number in some], rows))
            weighting = repr(getattr(leader, "class_weight", None))
            if weighting not in cutters:
                cutters[weighting] = (leader._cutter(leader._model, lesson, False), [])
            cutters[weighting][1].append(groups[-1])
    workers = min(threads, max(len(groups), 1))
    with ThreadPoolExecutor(workers) as pool:  # compiled loops let go of the interpreter
        for block in blocks(lesson.count) if groups else ():
            for cut, sharing in cutters.values():
                for part, targets, weights in cut(block):
                    for _ in pool.map(lambda g: g.learn(table, part, targets, weights), sharing):  # noqa: B023
                        pass
            tell((block.first + block.count) / lesson.count)
    for _, sharing in cutters.values():
        for group in sharing:
            group.leader._labels = sharing[0].leader._labels  # with its running counts
    places = {number: (group, lane) for group in groups for lane, number in enumerate(group.members)}
    return places, sorted(alone)


def _join(first: Any, model: Any) -> None:
    """What the first learner found out about the table holds for the others."""
    for name in ("_labels", "_width", "_slots", "_by_name"):
        if name in first.__dict__:
            setattr(model, name, getattr(first, name))
