"""A grid of learners over one table, side by side in lanes: those that can."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from ...errors import Diverged
from ...learn.sweeps import KNOBS
from ...learn.vocabulary import NONE, Examples
from ...models.lanes import LaneModels, can_sweep, group_size
from ...models.weights import Numbers
from ...results.sweep_result import DIVERGED, Line
from ..learner import Learner
from ..parameters.fields import lasting
from ..parameters.fixed import fixed_by
from ..tables import Table
from .passes import Part, TrainingSet, blocks

# Parameters that a lane may have of its own: numbers of the loop, or what chooses the row of the table.
FREE = ("C", "margin", "epsilon", "rate", "lam", "step", "loss")


class Group:
    """Configurations of one row of the table, learned in lanes by one leader."""

    def __init__(
        self, leader: Learner, members: list[int], numbers: list[Numbers], data: TrainingSet
    ) -> None:
        self.leader, self.members, self.data = leader, members, data
        self.lanes = LaneModels(leader._fitted(), numbers)

    def learn(self, X: Table, part: Part) -> None:
        """One block."""
        block, targets, weights = part
        examples = Examples(self.data.rows_of(block), targets, weights, NONE, block.order)
        reached = self.lanes.learn(examples, block.first, block.size)
        if reached < block.size:
            raise self.leader._bad_row(X, block.first + reached)

    def line(self, lane: int) -> Line:
        """What one configuration came to."""
        found = self.lanes.line(lane)
        return dict(DIVERGED) if found is None else found

    def model(self, lane: int, config: dict[str, Any]) -> Learner:
        """The learner of one lane, as if it had learned alone."""
        if self.lanes.line(lane) is None:
            raise Diverged(f"the steps of {config} feed on themselves; there is no model of it")
        twin = self.leader.clone(include_attributes=True)
        twin.set_params(**config)
        inner = twin._fitted()
        self.lanes.write(lane, inner)
        inner.choose(twin._table_row(), twin.numbers())
        twin._begun = lasting(twin)
        return twin


class Place(NamedTuple):
    """Where a configuration was learned."""

    group: Group
    lane: int


def _key(learner: Learner, params: dict[str, Any]) -> object:
    """Equal for learners that can share lanes; None where there is no lane for them."""
    learner._check_parameters()
    if not learner._has_lanes or learner._form().averages_after:
        return None
    row = learner._table_row()
    outputs, many = learner._targets().outputs()
    if not can_sweep(row) or many or outputs != 1 or learner._wants() or learner.growing:
        return None
    numbers = {name: value for name, value in learner.numbers().items() if name not in KNOBS}
    rest = {name: repr(value) for name, value in params.items() if name not in FREE}
    plain = numbers.get("radius", np.inf) == np.inf and not numbers.get("free")
    return (id(row), repr(numbers), repr(rest)) if plain else None


def sweep_in_lanes(
    learners: list[Learner], params: list[dict[str, Any]], X: object, y: object, sample_weight: object,
    threads: int, tell: Callable[[float], None],
) -> tuple[dict[int, Place], list[int]]:  # fmt: skip
    """Learn in lanes what can be; which lane each configuration has, and those without one."""
    first = learners[0]
    targets = first._targets()
    table = first._table(X, reset=True, learning=True)
    y = targets.read(y, table.shape[0])
    targets.adopt(y, False)
    data = first._training_set(table, y, sample_weight)
    together: dict[object, list[int]] = {}
    for number, learner in enumerate(learners):
        learner._columns = first._columns
        learner._targets().share(first)
        together.setdefault(_key(learner, params[number]), []).append(number)
    alone = together.pop(None, [])
    groups: list[Group] = []
    for members in together.values():
        if len(members) == 1:
            alone += members
        else:
            most = group_size(len(members), threads)
            parts = [members[at : at + most] for at in range(0, len(members), most)]
            groups += [_begun(learners, some, table, data) for some in parts]
    if groups:
        _play(groups, table, data, threads, tell)
    places = {number: Place(group, lane) for group in groups for lane, number in enumerate(group.members)}
    return places, sorted(alone)


def _begun(learners: list[Learner], some: list[int], table: Table, data: TrainingSet) -> Group:
    """A group before its first round, each of its members asked whether it can start so."""
    leader = learners[some[0]]
    leader._targets().own()  # class weights count in there
    model = leader._model = leader._new_model(table.shape[1])
    for number in some:
        learners[number]._form().check_start(model)
    leader._fit_in(model, table)
    data = data._replace(rows=data.rows._replace(bias=leader._bias))
    data = fixed_by(leader, model, table, data)
    for number in some:
        learners[number]._fixed = leader._fixed  # by the same rows
    return Group(leader, some, [learners[number].numbers() for number in some], data)


def _play(
    groups: list[Group], table: Table, data: TrainingSet, threads: int, tell: Callable[[float], None]
) -> None:
    """Every group over every block; those with the same class weights share their rounds' weights."""
    sharing: dict[str, list[Group]] = {}
    for group in groups:
        sharing.setdefault(repr(getattr(group.leader, "class_weight", None)), []).append(group)
    cutters = []
    for some in sharing.values():
        leader = some[0].leader
        cutters.append((leader._targets().cutter(leader._fitted(), data, False), some))
    with ThreadPoolExecutor(min(threads, len(groups))) as pool:  # compiled loops let go of the interpreter
        for block in blocks(data.size, cut=max(group.data.begins for group in groups)):
            for cut, some in cutters:
                for part in cut(block):
                    list(pool.map(partial(_learn, table, part), some))
            tell((block.first + block.size) / data.size)
    for _, some in cutters:
        for group in some[1:]:
            group.leader._targets().share(some[0].leader)  # with its running counts


def _learn(table: Table, part: Part, group: Group) -> None:
    group.learn(table, part)
