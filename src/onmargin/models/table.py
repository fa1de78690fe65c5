"""Every algorithm is a row of one table: task, loss, step, space, query; its seed and its section.

To add one: a function in `learn/tasks`, `losses` or `steps`, or a file in `learn/spaces`; a row here; an
oracle in the tests, which go over this table. FTRL rows are given with their first loss and step; any loss
and any step goes with them (`recipe.py`).
"""

from __future__ import annotations

from typing import Any, NamedTuple

from ..compiled.parts import BRIEF, Part, compose, fingerprint, plain, specialise
from ..learn import losses, queries, rounds, steps
from ..learn.kernel_spaces import table as kernel_spaces
from ..learn.kernel_spaces.ridge import EVIDENCE, NUMBER_EVIDENCE
from ..learn.paired.members import WITH_VECTORS, WITH_WEIGHTS
from ..learn.paired.rounds import player
from ..learn.spaces import covariances, variances
from ..learn.spaces.adagrad import ADAGRAD, SOFT
from ..learn.spaces.arrays import Space, less_drift
from ..learn.spaces.ball import CENTER
from ..learn.spaces.coin import COIN
from ..learn.spaces.fading import FORGETFUL, PROJECTED, SHIFTING
from ..learn.spaces.linear import LINEAR
from ..learn.spaces.norms import GROUP, PNORM, SIGNED, SIMPLEX
from ..learn.spaces.pegasos import SHRUNK
from ..learn.spaces.ridge import FULL_RIDGE, NUMBER_RIDGE, RIDGE
from ..learn.tasks import Task, bandit, costs, label_sets, numbers
from ..learn.tasks import classes as tasks
from .compiling import listen
from .layout import Arrays

listen()  # whoever waits for a loop of the table is told

_loops: dict[str, Part] = {}  # loops as parts of another


class Row(NamedTuple):
    """The parts of one learner."""

    task: Task
    loss: Part
    step: Part
    space: Space
    query: Part = queries.always
    seed: str = ""  # the sources that bring it
    section: str = ""  # of the mathematics
    origin: Any = None  # how to make it again: a function and its arguments

    def _roles(self) -> dict[str, Part]:
        decide, demand, wrong = self.task
        space = self.space
        moving = (space.score, space.size, space.move, space.finish)
        parts = (decide, demand, wrong, self.loss, self.step, *moving, self.query)
        return dict(zip(rounds.ROLES, parts, strict=True))

    def learner(self) -> Part:
        """The compiled loop of this recipe."""
        return specialise(rounds.learn, **self._roles())

    def one_learner(self) -> Part:
        """The same for one row of weight 1, with nothing to look at but the row."""
        roles = self._roles()
        name = f"learn_{fingerprint(rounds.learn, *roles.values())}"
        if name not in _loops:
            _loops[name] = compose(rounds.learn, name, **roles)
        return specialise(rounds.learn_one, BRIEF, learn=_loops[name])

    def counted(self) -> Row:
        """The same, with its moves counted."""
        return self._replace(space=self.space._replace(move=queries.counting(self.space.move)))

    def asking(self, rule: float, own: Part | None = None) -> Row:
        """The same, asking for labels by this rule (its numbers say the rest), or by a user's."""
        if own is not None:
            return self._replace(query=queries.limited(own))
        if rule >= 0:
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
        return specialise(rounds.answer_one, BRIEF, score=self.space.score, decide=self.task.decide)

    def mean_single(self) -> Part | None:
        """The same by the averaged weights; None where they must be spelled out."""
        if self.space.mean is None:
            return None
        roles = {"score": self.space.score, "mean": self.space.mean, "decide": self.task.decide}
        return specialise(rounds.answer_one_mean, BRIEF, **roles)

    def judge(self) -> Part:
        """Its compiled loop that answers with the averaged weights before each round."""
        decide, _, wrong = self.task
        space = self.space
        roles: dict[str, Any] = {"score": space.score, "mean": space.mean, "decide": decide, "wrong": wrong}
        return specialise(rounds.judged, **roles, learn=self.learner())

    @property
    def adds(self) -> bool:
        """Do rounds add to weights, or to coefficients, of which a mean is kept by their dates?"""
        return self.space.average is less_drift and self.space.mean is not None

    def as_now(self, arrays: Arrays) -> Arrays:
        """The arrays of a file as they are named now, which an earlier version may have written."""
        return arrays if self.space.older is None else self.space.older(arrays)

    def words(self) -> dict[str, str]:
        """What each part is called."""
        parts = {"task": self.task.demand, "loss": self.loss, "step": self.step}
        return {role: plain(part).__name__ for role, part in parts.items()} | {"space": self.space.name}

    def __reduce__(self) -> Any:
        """Rows are pickled by where they come from, not by their compiled parts."""
        return self.origin


class PairedRow(NamedTuple):
    """A learner whose rounds have several examples: its rule brings task, loss and step at once."""

    rule: str  # of `learn.paired.rules`
    task: str  # what a round is
    loss: str
    step: str
    space: Space
    seed: str
    section: str

    def learner(self) -> Part:
        """The compiled loop of this rule."""
        return player(self.rule, WITH_WEIGHTS if self.space is LINEAR else WITH_VECTORS)

    def as_now(self, arrays: Arrays) -> Arrays:
        """The arrays of a file as they are named now, which an earlier version may have written."""
        return arrays if self.space.older is None else self.space.older(arrays)

    def words(self) -> dict[str, str]:
        """What each part is called."""
        return {"task": self.task, "loss": self.loss, "step": self.step, "space": self.space.name}


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
ESTIMATE = Task(numbers.value, numbers.estimate, numbers.never)
ENCLOSE = Task(numbers.value, numbers.enclose, numbers.never)

BANDIT = Task(bandit.play, bandit.reward, tasks.differs)

LOSSES = {
    "perceptron": losses.perceptron, "hinge": losses.hinge, "squared_hinge": losses.squared_hinge,
    "logistic": losses.logistic, "exponential": losses.exponential, "squared": losses.squared,
    "epsilon_insensitive": losses.hinge,
}  # fmt: skip
STEPS = {
    "constant": steps.unit, "unit": steps.unit, "sqrt": steps.sqrt,
    "pa": steps.pa, "pa1": steps.pa1, "pa2": steps.pa2,
}  # fmt: skip
# A scheduled step does not ask how long z is in the dual norm: the cheap length will do.
REGULARIZERS = {
    "l2": LINEAR, "adagrad": ADAGRAD, "coin": COIN, "soft": SOFT,
    **{room.name: room._replace(size=LINEAR.size) for room in (PNORM, GROUP, SIGNED, SIMPLEX)},
}  # fmt: skip
PROBLEMS = {"binary": BINARY, "top": TOP, "labels": LABELS}


def _first_order() -> dict[str, Row]:
    """Perceptrons and Passive-Aggressive learners."""

    def perceptron(task: Task, section: str = "2.3") -> Row:
        return Row(task, losses.mistake, steps.unit, LINEAR, seed="S0 S2", section=section)

    found = {
        "perceptron.binary": perceptron(BINARY, "1.1"), "perceptron.top": perceptron(TOP),
        "perceptron.uniform": perceptron(UNIFORM), "perceptron.labels": perceptron(LABELS),
    }  # fmt: skip
    for name, step, shared, both in (
        ("pa", steps.pa, steps.share_pa, steps.both_pa),
        ("pa1", steps.pa1, steps.share_pa1, steps.both_pa1),
        ("pa2", steps.pa2, steps.share_pa2, steps.both_pa2),
    ):
        plain_row = Row(BINARY, losses.hinge, step, LINEAR, seed="S0 S4", section="2.3")
        found |= {
            f"{name}.binary": plain_row._replace(section="1.2"),
            f"{name}.top": plain_row._replace(task=TOP),
            f"{name}.all": plain_row._replace(task=EVERY, step=shared),
            f"{name}.labels": plain_row._replace(task=LABELS),
            f"{name}.calibrated": plain_row._replace(task=CALIBRATED, step=both),
            f"{name}.max_loss": plain_row._replace(task=COST),
            f"{name}.prediction": plain_row._replace(task=COST_GUESS),
            f"{name}.binary_max_loss": plain_row._replace(task=BINARY_COST),
            f"{name}.binary_prediction": plain_row._replace(task=BINARY_COST_GUESS),
            f"{name}.regression": plain_row._replace(task=REGRESSION, section="2.1"),
            f"{name}.uniclass": plain_row._replace(task=ENCLOSE, space=CENTER, section="2.2"),
        }
    return found


def _second_order() -> dict[str, Row]:
    """AROW, CW, SCW and the second-order Perceptron, with a diagonal or a full covariance."""
    found: dict[str, Row] = {}
    for shape, arow, scw, ridge in (
        ("diag", variances.AROW, variances.SCW, RIDGE),
        ("full", covariances.AROW, covariances.SCW, FULL_RIDGE),
    ):
        for problem, task in PROBLEMS.items():
            found |= {
                f"arow_{shape}.{problem}": Row(task, losses.hinge, steps.pa2, arow, section="1.3"),
                f"cw_{shape}.{problem}": Row(task, losses.watchful, steps.cw, scw, section="1.3"),
                f"scw1_{shape}.{problem}": Row(task, losses.watchful, steps.scw1, scw, section="1.3"),
                f"scw2_{shape}.{problem}": Row(task, losses.watchful, steps.scw2, scw, section="1.3"),
            }
        for problem, task in (("binary", BINARY), ("top", APART), ("labels", APART_SET)):
            found[f"sop_{shape}.{problem}"] = Row(task, losses.mistake, steps.unit, ridge, section="1.3")
    return found


def _regularized() -> dict[str, Row]:
    """Pegasos, the aggressive p-norm learner, ridge regression, follow the regularised leader."""
    found = {}
    for problem, task in (PROBLEMS | {"apart": OVA, "apart_labels": OVA_SET}).items():
        found[f"pegasos.{problem}"] = Row(task, losses.hinge, steps.unit, SHRUNK, seed="S3", section="5")
    found |= {
        "pnorm_aggressive.binary": Row(BINARY, losses.hinge, steps.aggressive, PNORM, seed="S2", section="3"),
        "ridge.binary": Row(BINARY, losses.always, steps.unit, FULL_RIDGE, seed="S2", section="7.2"),
        "ridge.regression": Row(ESTIMATE, losses.heeded, steps.unit, NUMBER_RIDGE, seed="S2", section="7.2"),
    }
    for name, space in REGULARIZERS.items():
        for problem, task in (PROBLEMS | {"regression": REGRESSION}).items():
            row = Row(task, losses.hinge, steps.unit, space, seed="S2", section="3")
            found[f"ftrl_{name}.{problem}"] = row
    return found


def _with_kernels(rows: dict[str, Row]) -> dict[str, Row]:
    """`kernel_pa1.top` keeps every vector, `budget_pa1.top` few; then those with a name of their own."""
    found = {}
    for name, row in rows.items():
        family, problem = name.split(".")
        if family in ("perceptron", "pa", "pa1", "pa2", "pegasos"):
            use = "center" if problem == "uniclass" else "shrunk" if family == "pegasos" else "plain"
            all_kept, few_kept = kernel_spaces.EXPANSIONS[use], kernel_spaces.PROJECTIONS[use]
            found[f"kernel_{name}"] = row._replace(space=all_kept, seed="S0 S2 S4", section="4.1")
            found[f"budget_{name}"] = row._replace(space=few_kept, seed="S2", section="4.3")
    for problem in PROBLEMS:
        mistakes = rows[f"perceptron.{problem}"]._replace(seed="S2", section="4.5")
        hinge = rows[f"pa1.{problem}"]._replace(seed="S2", section="4.3")
        found |= {
            f"projectron.{problem}": mistakes._replace(space=kernel_spaces.PROJECTION, section="4.3"),
            f"projectron_plus.{problem}": hinge._replace(step=steps.whole, space=kernel_spaces.PLUS),
            f"rbp.{problem}": mistakes._replace(space=kernel_spaces.DROP),
            f"forgetron.{problem}": mistakes._replace(space=kernel_spaces.FADE),
            f"stoptron.{problem}": mistakes._replace(space=kernel_spaces.STOP),
            f"kernel_shifting.{problem}": mistakes._replace(space=kernel_spaces.SHIFTING, section="8.2"),
            f"om2.{problem}": hinge._replace(
                step=steps.aggressive, space=kernel_spaces.MULTIKERNEL, section="4.6"
            ),
        }
    return found


def _with_protocols() -> dict[str, Row]:
    """Rows behind learners that ask, play or track."""
    found = {
        "evidence.binary": Row(BINARY, losses.always, steps.unit, EVIDENCE, seed="S2", section="7.2"),
        "evidence.regression": Row(
            ESTIMATE, losses.heeded, steps.unit, NUMBER_EVIDENCE, seed="S2", section="7.2"
        ),
        "banditron.top": Row(BANDIT, losses.always, steps.unit, LINEAR, seed="S2", section="8.1"),
    }
    for problem, task in PROBLEMS.items():
        for name, space in (("shifting", SHIFTING), ("projected", PROJECTED)):
            row = Row(task, losses.mistake, steps.unit, space, seed="S2", section="8.2")
            found[f"{name}.{problem}"] = row
    return found


def _paired() -> dict[str, PairedRow]:
    """Rounds of several examples: of classes, of the documents of a query, of candidates."""
    found = {}
    rounds_of = {"binary": "pair", "top": "round_of_classes", "labels": "round_of_labels"}
    for rule in ("dca", "sequential", "auc", "max_violators", "correct_mistakes"):
        for problem, task in rounds_of.items():
            section = "6.3" if problem == "binary" else "6.5"
            for prefix, space in (("", LINEAR), ("kernel_", kernel_spaces.EXPANSION)):
                row = PairedRow(rule, task, "hinge", rule, space, "S1", section)
                found[f"{prefix}paired_{rule}.{problem}"] = row
    for rule in ("auc", "max_violators"):
        found[f"ranking_{rule}.queries"] = PairedRow(rule, "query", "hinge", rule, LINEAR, "S1", "6.7")
    for step in ("pa", "pa1", "pa2", "perceptron"):
        loss = "mistake" if step == "perceptron" else "hinge"
        row = PairedRow(f"rival_{step}", "rival", loss, step, LINEAR, "S0", "2.3")
        found[f"candidates_{step}.groups"] = row
    return found


def _all_rows() -> dict[str, Row | PairedRow]:
    """The table, every row of it made again by its name."""
    linear = _first_order() | _second_order() | _regularized()
    single = linear | _with_kernels(linear) | _with_protocols()
    named = {name: row._replace(origin=(row_named, (name,))) for name, row in single.items()}
    return named | _paired()


_assembled: dict[str, Row] = {}
FORGETS = "~"  # at the end of a name: the same, forgetting


def row_named(name: str) -> Row:
    """A row of the table, an FTRL row with another loss and step ("ftrl_l2.binary:logistic:sqrt"), or a row
    that forgets ("pa1.binary~", "kernel_pa1.binary~").
    """
    found = ROWS.get(name) or _assembled.get(name)
    if not isinstance(found, Row):
        if name.endswith(FORGETS):
            in_kernel = name.startswith(("kernel_", "budget_"))
            space = kernel_spaces.FORGETFUL if in_kernel else FORGETFUL
            found = row_named(name.removesuffix(FORGETS))._replace(space=space)
        else:
            base, loss, step = name.split(":")
            found = row_named(base)._replace(loss=LOSSES[loss], step=STEPS[step])
        found = _assembled[name] = found._replace(origin=(row_named, (name,)))
    return found


ROWS = _all_rows()


def algorithms() -> list[dict[str, str]]:
    """Every row of the table: name, task, loss, step, space, seed and section.

    The FTRL rows are written with their first loss and step; any other goes with them.

    >>> [row["name"] for row in algorithms() if row["loss"] == "mistake"][:2]
    ['perceptron.binary', 'perceptron.top']
    """
    return [
        {"name": name, **row.words(), "seed": row.seed, "section": row.section} for name, row in ROWS.items()
    ]
