"""Every algorithm is a row: task, loss, step, space, query.

To add one: a function in `tasks`, `losses`, `steps` or a file in `spaces`, a row here, a test.
The generic tests find the row by itself. FTRL rows are given with their first loss and step; any
loss and any step goes with them (`recipe.py`).
"""

from __future__ import annotations

from typing import Any, NamedTuple

from ..compiled.parts import Part, plain, specialise
from ..learn import losses, queries, rounds, steps
from ..learn.kernel_spaces.evidence import EVIDENCE
from ..learn.spaces import covariances as covariance
from ..learn.spaces import variances as confidence
from ..learn.spaces.adagrad import ADAGRAD, SOFT
from ..learn.spaces.arrays import Space
from ..learn.spaces.ball import CENTER
from ..learn.spaces.coin import COIN
from ..learn.spaces.fading import FORGETFUL, PROJECTED, SHIFTING
from ..learn.spaces.linear import LINEAR
from ..learn.spaces.norms import GROUP, PNORM, SIGNED, SIMPLEX
from ..learn.spaces.pegasos import SHRUNK
from ..learn.spaces.ridge import FULL_RIDGE, RIDGE
from ..learn.tasks import Task, costs, label_sets, numbers
from ..learn.tasks import bandit as gambles
from ..learn.tasks import classes as tasks
from .kernel_rows import kernel_rows


class Row(NamedTuple):
    """The parts of one learner."""

    task: Task
    loss: Part
    step: Part
    space: Space
    query: Part = queries.always
    origin: Any = None  # how to make it again: a function and its arguments

    def learner(self) -> Part:
        """The compiled loop of this recipe."""
        decide, demand, wrong = self.task
        score, size, move = self.space.score, self.space.size, self.space.move
        parts = (decide, demand, wrong, self.loss, self.step, score, size, move, self.query)
        return specialise(rounds.learn, **dict(zip(rounds.ROLES, parts, strict=True)))

    def counted(self) -> Row:
        """The same, with its moves counted."""
        return self._replace(space=self.space._replace(move=queries.counting(self.space.move)))

    def asking(self, rule: float) -> Row:
        """The same, asking for labels by this rule (its numbers say the rest)."""
        if rule < queries.HOEFFDING:
            return self._replace(query=queries.selective)
        return self._replace(query=queries.bbq_kept if self.space.name == "evidence" else queries.bbq)

    def answerer(self) -> Part:
        """Its compiled scores without learning."""
        return specialise(rounds.answer, score=self.space.score)

    def mean_answerer(self) -> Part | None:
        """The same by the averaged weights; None where they must be spelled out."""
        if self.space.mean is None:
            return None
        return specialise(rounds.answer_mean, score=self.space.score, mean=self.space.mean)

    def single(self) -> Part:
        """Its compiled guess for one row."""
        return specialise(rounds.answer_one, score=self.space.score, decide=self.task.decide)

    def judge(self) -> Part:
        """Its compiled loop that answers with the averaged weights before each round."""
        decide, _, wrong = self.task
        space = self.space
        roles: dict[str, Any] = {"score": space.score, "mean": space.mean, "decide": decide, "wrong": wrong}
        return specialise(rounds.judged, **roles, learn=self.learner())

    def words(self) -> dict[str, str]:
        """What each part is called."""
        parts = {"task": self.task.demand, "loss": self.loss, "step": self.step, "query": self.query}
        return {role: plain(part).__name__ for role, part in parts.items()} | {"space": self.space.name}

    def __reduce__(self) -> Any:
        """Rows are pickled by where they come from, not by their compiled parts."""
        if self.origin is not None:
            return self.origin
        return row_named, (next(name for name, row in ALGORITHMS.items() if row is self),)


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
OVA = Task(tasks.highest, tasks.one_vs_all, tasks.differs)
OVA_SET = Task(label_sets.running_bar, label_sets.one_vs_all_set, label_sets.set_differs)
REGRESSION = Task(numbers.value, numbers.regression, numbers.never)
ENCLOSE = Task(numbers.value, numbers.enclose, numbers.never)

# What a step rule is called where all rivals, or two constraints at once, are met.
ALL_RIVALS = {"pa": steps.share_pa, "pa1": steps.share_pa1, "pa2": steps.share_pa2}
BOTH = {"pa": steps.both_pa, "pa1": steps.both_pa1, "pa2": steps.both_pa2}

ALGORITHMS: dict[str, Row] = {
    "perceptron.binary": Row(BINARY, losses.mistake, steps.unit, LINEAR),
    "perceptron.top": Row(TOP, losses.mistake, steps.unit, LINEAR),
    "perceptron.uniform": Row(UNIFORM, losses.mistake, steps.unit, LINEAR),
    "perceptron.labels": Row(LABELS, losses.mistake, steps.unit, LINEAR),
}
for _name, _step in (("pa", steps.pa), ("pa1", steps.pa1), ("pa2", steps.pa2)):
    ALGORITHMS |= {
        f"{_name}.binary": Row(BINARY, losses.hinge, _step, LINEAR),
        f"{_name}.top": Row(TOP, losses.hinge, _step, LINEAR),
        f"{_name}.all": Row(EVERY, losses.hinge, ALL_RIVALS[_name], LINEAR),
        f"{_name}.labels": Row(LABELS, losses.hinge, _step, LINEAR),
        f"{_name}.calibrated": Row(CALIBRATED, losses.hinge, BOTH[_name], LINEAR),
        f"{_name}.max_loss": Row(COST, losses.hinge, _step, LINEAR),
        f"{_name}.prediction": Row(COST_GUESS, losses.hinge, _step, LINEAR),
        f"{_name}.binary_max_loss": Row(BINARY_COST, losses.hinge, _step, LINEAR),
        f"{_name}.binary_prediction": Row(BINARY_COST_GUESS, losses.hinge, _step, LINEAR),
        f"{_name}.regression": Row(REGRESSION, losses.hinge, _step, LINEAR),
        f"{_name}.uniclass": Row(ENCLOSE, losses.hinge, _step, CENTER),
    }
for _shape, _room, _ridge in (("diag", confidence, RIDGE), ("full", covariance, FULL_RIDGE)):
    for _problem, _task in (("binary", BINARY), ("top", TOP), ("labels", LABELS)):
        ALGORITHMS |= {
            f"arow_{_shape}.{_problem}": Row(_task, losses.hinge, steps.pa2, _room.AROW),
            f"cw_{_shape}.{_problem}": Row(_task, losses.watchful, steps.cw, _room.SCW),
            f"scw1_{_shape}.{_problem}": Row(_task, losses.watchful, steps.scw1, _room.SCW),
            f"scw2_{_shape}.{_problem}": Row(_task, losses.watchful, steps.scw2, _room.SCW),
        }
    for _problem, _task in (("binary", BINARY), ("top", APART), ("labels", APART_SET)):
        ALGORITHMS[f"sop_{_shape}.{_problem}"] = Row(_task, losses.mistake, steps.unit, _ridge)
for _problem, _task in (
    ("binary", BINARY), ("top", TOP), ("labels", LABELS), ("apart", OVA), ("apart_labels", OVA_SET)
):  # fmt: skip
    ALGORITHMS[f"pegasos.{_problem}"] = Row(_task, losses.hinge, steps.unit, SHRUNK)
ALGORITHMS["pnorm_aggressive.binary"] = Row(BINARY, losses.hinge, steps.aggressive, PNORM)
ALGORITHMS["ridge.binary"] = Row(BINARY, losses.always, steps.unit, FULL_RIDGE)

# A scheduled step does not ask how long z is in the dual norm: the cheap length will do.
REGULARIZERS = {
    "l2": LINEAR, "adagrad": ADAGRAD, "coin": COIN, "soft": SOFT,
    **{room.name: room._replace(size=LINEAR.size) for room in (PNORM, GROUP, SIGNED, SIMPLEX)},
}  # fmt: skip
PROBLEMS = {"binary": BINARY, "top": TOP, "labels": LABELS, "regression": REGRESSION}
for _name, _regular in REGULARIZERS.items():
    for _problem, _task in PROBLEMS.items():
        ALGORITHMS[f"ftrl_{_name}.{_problem}"] = Row(_task, losses.hinge, steps.unit, _regular)

LOSSES = {
    "perceptron": losses.perceptron, "hinge": losses.hinge, "squared_hinge": losses.squared_hinge,
    "logistic": losses.logistic, "exponential": losses.exponential, "squared": losses.squared,
    "epsilon_insensitive": losses.hinge,
}  # fmt: skip
STEPS = {
    "constant": steps.unit, "unit": steps.unit, "sqrt": steps.sqrt,
    "pa": steps.pa, "pa1": steps.pa1, "pa2": steps.pa2,
}  # fmt: skip
_assembled: dict[str, Row] = {}
FORGETS = "~"  # at the end of a name: the same, forgetting


def row_named(name: str) -> Row:
    """A row of the table, an FTRL row with another loss and step ("ftrl_l2.binary:logistic:sqrt"), or a row
    with weights that forgets ("pa1.binary~").
    """
    for table in (ALGORITHMS, KERNEL_ROWS, MORE_ROWS):
        if name in table:
            return table[name]
    if name not in _assembled and name.endswith(FORGETS):
        row = row_named(name.removesuffix(FORGETS))
        _assembled[name] = row._replace(space=FORGETFUL, origin=(row_named, (name,)))
    if name not in _assembled:
        base, loss, step = name.split(":")
        row = ALGORITHMS[base]
        origin = (row_named, (name,))
        _assembled[name] = row._replace(loss=LOSSES[loss], step=STEPS[step], origin=origin)
    return _assembled[name]


# The kernel learners, each one of these rows in a Space that is spelled in vectors.
KERNEL_ROWS: dict[str, Row] = {
    name: row._replace(origin=(row_named, (name,))) for name, row in kernel_rows(ALGORITHMS).items()
}

# Rows behind learners with a protocol of their own.
MORE_ROWS: dict[str, Row] = {
    "evidence.binary": ALGORITHMS["ridge.binary"]._replace(space=EVIDENCE),
    "banditron.top": Row(
        Task(gambles.play, gambles.reward, tasks.differs), losses.always, steps.unit, LINEAR
    ),
}
for _problem, _task in (("binary", BINARY), ("top", TOP), ("labels", LABELS)):
    MORE_ROWS[f"shifting.{_problem}"] = Row(_task, losses.mistake, steps.unit, SHIFTING)
    MORE_ROWS[f"projected.{_problem}"] = Row(_task, losses.mistake, steps.unit, PROJECTED)
MORE_ROWS = {name: row._replace(origin=(row_named, (name,))) for name, row in MORE_ROWS.items()}

# Where each family comes from: the seed that brings it, and its section of the mathematics.
SOURCES = {
    "perceptron": ("S0 S2", "1.1"), "pa": ("S0 S4", "1.2"), "pa1": ("S0 S4", "1.2"),
    "pa2": ("S0 S4", "1.2"), "arow": ("", "1.3"), "cw": ("", "1.3"), "scw1": ("", "1.3"),
    "scw2": ("", "1.3"), "sop": ("", "1.3"), "pegasos": ("S3", "5"), "pnorm": ("S2", "3"),
    "ridge": ("S2", "7.2"), "ftrl": ("S2", "3"), "kernel": ("S0 S2 S4", "4.1"), "budget": ("S2", "4.3"),
    "projectron": ("S2", "4.3"), "rbp": ("S2", "4.5"), "forgetron": ("S2", "4.5"), "stoptron": ("S2", "4.5"),
    "om2": ("S2", "4.6"), "evidence": ("S2", "7.2"), "banditron": ("S2", "8.1"), "shifting": ("S2", "8.2"),
    "projected": ("S2", "8.2"),
}  # fmt: skip
PLACES = {"regression": "2.1", "uniclass": "2.2", "binary": "", "binary_max_loss": "2.3"}


def source(name: str) -> tuple[str, str]:
    """Seed and section of a row of the table."""
    family, problem = name.split(".")
    seed, section = SOURCES[family.split("_")[0]]
    if section == "1.2" or section == "1.1":
        section = PLACES.get(problem, "2.3") or section
    return seed, section


def algorithms() -> list[dict[str, str]]:
    """Every row of the table: name, task, loss, step, space, seed and section.

    The FTRL rows are written with their first loss and step; any other goes with them.

    >>> [row["name"] for row in algorithms() if row["loss"] == "mistake"][:2]
    ['perceptron.binary', 'perceptron.top']
    """
    table = []
    for name, row in (ALGORITHMS | KERNEL_ROWS | MORE_ROWS).items():
        words, (seed, section) = row.words(), source(name)
        parts = {role: words[role] for role in ("task", "loss", "step", "space")}
        table.append({"name": name, **parts, "seed": seed, "section": section})
    return table + _paired_lines()


def _paired_lines() -> list[dict[str, str]]:
    """The learners of `paired_rounds`, whose rounds have several examples."""
    found = []
    tasks = {"binary": "pair", "top": "round_of_classes", "labels": "round_of_labels"}
    for rule in ("dca", "sequential", "auc", "max_violators", "correct_mistakes"):
        for problem, task in tasks.items():
            section = "6.3" if problem == "binary" else "6.5"
            for prefix, space in (("", "linear"), ("kernel_", "expansion")):
                found.append((f"{prefix}paired_{rule}.{problem}", task, "hinge", rule, space, section))
    for rule in ("auc", "max_violators"):
        found.append((f"ranking_{rule}.queries", "query", "hinge", rule, "linear", "6.7"))
    for step in ("pa", "pa1", "pa2", "perceptron"):
        loss = "mistake" if step == "perceptron" else "hinge"
        found.append((f"candidates_{step}.groups", "rival", loss, step, "linear", "2.3"))
    seeds = {"2.3": "S0"}
    return [
        {"name": name, "task": task, "loss": loss, "step": step, "space": space,
         "seed": seeds.get(section, "S1"), "section": section}
        for name, task, loss, step, space, section in found
    ]  # fmt: skip
