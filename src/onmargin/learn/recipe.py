"""Every algorithm is a row: task, loss, step, space, query.

To add one: a function in `tasks`, `losses`, `steps` or a file in `spaces`, a row here, a test.
The generic tests find the row by itself.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from ..compiled.parts import Part, specialise
from . import answers, costs, label_sets, losses, queries, rounds, steps, tasks
from .spaces import confidence, covariance
from .spaces.center import CENTER
from .spaces.linear import LINEAR
from .spaces.ridge import FULL_RIDGE, RIDGE
from .spaces.storage import Space
from .tasks import Task


class Recipe(NamedTuple):
    """The parts of one learner."""

    task: Task
    loss: Part
    step: Part
    space: Space
    query: Part = queries.always

    def learner(self) -> Part:
        """The compiled loop of this recipe."""
        decide, demand, wrong = self.task
        score, size, move = self.space.score, self.space.size, self.space.move
        parts = (decide, demand, wrong, self.loss, self.step, score, size, move, self.query)
        return specialise(rounds.learn, **dict(zip(rounds.ROLES, parts, strict=True)))

    def answerer(self) -> Part:
        """Its compiled scores without learning."""
        return specialise(answers.answer, score=self.space.score)

    def single(self) -> Part:
        """Its compiled guess for one row."""
        return specialise(answers.answer_one, score=self.space.score, decide=self.task.decide)

    def judge(self) -> Part:
        """Its compiled loop that answers with the averaged weights before each round."""
        decide, _, wrong = self.task
        return specialise(
            answers.judged, score=self.space.score, decide=decide, wrong=wrong, learn=self.learner()
        )

    def __reduce__(self) -> Any:
        """Rows of the table are pickled by name, not by their compiled parts."""
        for name, row in ALGORITHMS.items():
            if row is self:
                return _named, (name,)
        return Recipe, tuple(self)


def _named(name: str) -> Recipe:
    return ALGORITHMS[name]


BINARY = Task(tasks.sign, tasks.binary, tasks.differs)
TOP = Task(tasks.highest, tasks.top, tasks.differs)
UNIFORM = Task(tasks.highest, tasks.uniform, tasks.differs)
EVERY = Task(tasks.highest, tasks.every, tasks.differs)
LABELS = Task(label_sets.running_bar, label_sets.labelset, label_sets.set_differs)
CALIBRATED = Task(label_sets.dummy_bar, label_sets.calibrated, label_sets.set_differs)
COST = Task(tasks.highest, costs.costly, tasks.differs)
COST_GUESS = Task(tasks.highest, costs.costly_guess, tasks.differs)
BINARY_COST = Task(tasks.sign, costs.costly_binary, tasks.differs)
BINARY_COST_GUESS = Task(tasks.sign, costs.costly_guess_binary, tasks.differs)
APART = Task(tasks.highest, tasks.apart, tasks.differs)
APART_SET = Task(label_sets.running_bar, label_sets.apart_set, label_sets.set_differs)
REGRESSION = Task(tasks.value, tasks.regression, tasks.never)
ENCLOSE = Task(tasks.value, tasks.enclose, tasks.never)

# What a step rule is called where all rivals, or two constraints at once, are met.
SHARED = {"pa": steps.share_pa, "pa1": steps.share_pa1, "pa2": steps.share_pa2}
BOTH = {"pa": steps.both_pa, "pa1": steps.both_pa1, "pa2": steps.both_pa2}

ALGORITHMS: dict[str, Recipe] = {
    "perceptron.binary": Recipe(BINARY, losses.mistake, steps.unit, LINEAR),
    "perceptron.top": Recipe(TOP, losses.mistake, steps.unit, LINEAR),
    "perceptron.uniform": Recipe(UNIFORM, losses.mistake, steps.unit, LINEAR),
    "perceptron.labels": Recipe(LABELS, losses.mistake, steps.unit, LINEAR),
}
for _name, _step in (("pa", steps.pa), ("pa1", steps.pa1), ("pa2", steps.pa2)):
    ALGORITHMS |= {
        f"{_name}.binary": Recipe(BINARY, losses.hinge, _step, LINEAR),
        f"{_name}.top": Recipe(TOP, losses.hinge, _step, LINEAR),
        f"{_name}.all": Recipe(EVERY, losses.hinge, SHARED[_name], LINEAR),
        f"{_name}.labels": Recipe(LABELS, losses.hinge, _step, LINEAR),
        f"{_name}.calibrated": Recipe(CALIBRATED, losses.hinge, BOTH[_name], LINEAR),
        f"{_name}.max_loss": Recipe(COST, losses.hinge, _step, LINEAR),
        f"{_name}.prediction": Recipe(COST_GUESS, losses.hinge, _step, LINEAR),
        f"{_name}.binary_max_loss": Recipe(BINARY_COST, losses.hinge, _step, LINEAR),
        f"{_name}.binary_prediction": Recipe(BINARY_COST_GUESS, losses.hinge, _step, LINEAR),
        f"{_name}.regression": Recipe(REGRESSION, losses.hinge, _step, LINEAR),
        f"{_name}.uniclass": Recipe(ENCLOSE, losses.hinge, _step, CENTER),
    }
for _shape, _room, _ridge in (("diag", confidence, RIDGE), ("full", covariance, FULL_RIDGE)):
    for _problem, _task in (("binary", BINARY), ("top", TOP), ("labels", LABELS)):
        ALGORITHMS |= {
            f"arow_{_shape}.{_problem}": Recipe(_task, losses.hinge, steps.pa2, _room.AROW),
            f"cw_{_shape}.{_problem}": Recipe(_task, losses.watchful, steps.cw, _room.SCW),
            f"scw1_{_shape}.{_problem}": Recipe(_task, losses.watchful, steps.scw1, _room.SCW),
            f"scw2_{_shape}.{_problem}": Recipe(_task, losses.watchful, steps.scw2, _room.SCW),
        }
    for _problem, _task in (("binary", BINARY), ("top", APART), ("labels", APART_SET)):
        ALGORITHMS[f"sop_{_shape}.{_problem}"] = Recipe(_task, losses.mistake, steps.unit, _ridge)
