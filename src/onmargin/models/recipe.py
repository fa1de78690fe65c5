"""Build a learner: task x loss x step x space x query, ours by name or the user's as functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..compiled.parts import Part, plain
from ..errors import BadInput, shown
from ..learn import losses, queries, steps
from ..learn.spaces import covariances as covariance
from ..learn.spaces import variances as confidence
from ..learn.spaces.arrays import Space
from ..learn.spaces.norms import GROUP, PNORM, SIGNED, SIMPLEX
from ..learn.spaces.pegasos import SHRUNK
from ..learn.spaces.ridge import FULL_RIDGE, RIDGE
from ..learn.spaces.user_map import own_space
from ..learn.tasks import Task
from . import table as algorithms
from .table import BINARY, LABELS, OVA, OVA_SET, REGRESSION, TOP, UNIFORM, Row
from .user_parts import bare, called, check_link, check_loss, check_query, check_step, own_part
from .user_tasks import OwnTask, own_task

TASKS: dict[str, dict[str, Task]] = {
    "classification": {"binary": BINARY, "top": TOP, "labels": LABELS},
    "uniform": {"binary": BINARY, "top": UNIFORM, "labels": LABELS},
    "one_vs_all": {"binary": BINARY, "top": OVA, "labels": OVA_SET},
    "regression": {"regression": REGRESSION},
}
LOSSES = algorithms.LOSSES | {
    "mistake": losses.mistake, "always": losses.always,
    "log_loss": losses.logistic, "squared_error": losses.squared,
}  # fmt: skip
STEPS = algorithms.STEPS | {"aggressive": steps.aggressive}
SPACES: dict[str, Space] = algorithms.REGULARIZERS | {
    "shrunk": SHRUNK, "confidence": confidence.AROW, "covariance": covariance.AROW,
    "ridge": RIDGE, "ridge_full": FULL_RIDGE, "pnorm": PNORM, "group": GROUP, "entropic": SIGNED,
    "simplex": SIMPLEX,
}  # fmt: skip
QUERIES = {  # rules by their names; what they read of a learner's numbers is in `asking_numbers`
    "always": queries.always, "margin": queries.selective, "bernoulli": queries.selective,
    "bbq": queries.bbq,
}  # fmt: skip
KINDS: dict[str, dict[str, Any]] = {
    "task": TASKS, "loss": LOSSES, "step": STEPS, "space": SPACES, "query": QUERIES,
}  # fmt: skip
EUCLIDEAN = ("l2", "confidence", "covariance")
SCHEDULED = ("constant", "unit", "sqrt")


class Recipe:
    """A learner out of five parts; give it to `OnlineClassifier` or `OnlineRegressor`.

    task : "classification" (two classes: y s; several: the margin over the best rival; label sets:
        lowest relevant over highest irrelevant), "one_vs_all", "uniform" (Perceptron) or "regression"; or
        your functions (decide, demand) or (decide, demand, wrong). Every class has an output:
        `decide(scores)` gives the number of a class ("highest": the best-scored);
        `demand(scores, target, guess, hyper, pull)` writes into `pull` which outputs to raise and lower, and
        returns (margin, required); `wrong(scores, target, guess)`: was it a mistake? ("differs"). With
        "value" as decide the targets are numbers, with one output. Each names the arguments it wants.
    loss : "perceptron", "hinge", "squared_hinge", "logistic", "exponential", "squared",
        "epsilon_insensitive", "mistake", "always"; or your function of (margin, required) that returns
        (loss, slope), the slope being minus its derivative by the margin. For numbers the margin is
        -|y - s| and -epsilon is required.
    step : "constant" (rate), "sqrt", "unit", "pa", "pa1", "pa2", "aggressive" (p-norm); or your function
        of any of margin, loss, slope, size, pull, now, hyper, which returns how far to go.
    space : "l2", "pnorm", "group", "entropic", "simplex", "adagrad", "coin", "soft", "shrunk"
        (Pegasos), "confidence" and "covariance" (AROW), "ridge" and "ridge_full"; or your function of
        (theta, weights, hyper) that writes w = grad g*(theta) into `weights`; or (that, g) with your
        regulariser g(w), which it is then checked against.
    query : "always"; "margin" (ask where |p| <= ask_delta, p the score, or of several classes the gap between
        the two best), "bernoulli" (with probability ask_delta / (ask_delta + |p|)), "bbq" (where the estimate
        of space="ridge_full" may be further than ask_epsilon off, with probability 1 - ask_delta); or your
        function of any of space, scores, now, hyper: ask for the label? Limits (budgets, rates) are
        `SelectiveSampler`'s.
    own : numbers for your functions, `hyper.own[0]`, ...

    Your functions are compiled by Numba: numbers, `math`, loops; no new arrays. They are checked here.

    >>> import onmargin as om, numpy as np
    >>> def smooth(margin, required):
    ...     gap = max(required - margin, 0.0)
    ...     return gap * gap, 2.0 * gap
    >>> recipe = om.Recipe("classification", loss=smooth, step="sqrt", space="pnorm")
    >>> X = np.random.default_rng(0).standard_normal((500, 20))
    >>> model = om.OnlineClassifier(recipe, rate=0.5, tol=None, random_state=0).fit(X, X[:, 0] > 0)
    >>> bool(model.score(X, X[:, 0] > 0) > 0.9)
    True
    """

    def __init__(
        self, task: object = "classification", loss: Any = "hinge", step: Any = "constant", space: Any = "l2",
        query: Any = "always", *, own: Any = (),
    ) -> None:  # fmt: skip
        self.own = _numbers(own)
        self.given = {"task": task, "loss": loss, "step": step, "space": space, "query": query}
        for role, value in self.given.items():
            if isinstance(value, str) and value not in KINDS[role]:
                raise BadInput(f"{role}={shown(value)}; wanted one of {', '.join(map(repr, KINDS[role]))}")
        self.own_task: OwnTask | None = None if isinstance(task, str) else own_task(task, self.own)
        self._refuse_misfits()
        self._loss: Part = self._part("loss", check_loss)
        self._step: Part = self._part("step", check_step, self.own)
        self._query: Part = self._part("query", check_query, self.own)
        self._space = self._made_space()
        self._rows: dict[str, Row] = {}

    def __repr__(self) -> str:
        shown = {role: value for role, value in self.given.items() if (role, value) != ("query", "always")}
        words = [f"{role}={_word(value)!r}" for role, value in shown.items()]
        if self.own_task is not None:
            words[0] = f"task={tuple(map(_word, self.given['task']))!r}"
        if len(self.own):
            words.append(f"own={tuple(map(float, self.own))}")
        return f"Recipe({', '.join(words)})"

    def __reduce__(self) -> Any:
        return _again, (self.given, self.own)

    def __deepcopy__(self, memo: object) -> Recipe:
        return self  # nothing in it changes

    def __eq__(self, other: object) -> bool:
        same = isinstance(other, Recipe) and self.given == other.given
        return same and bool(np.array_equal(self.own, other.own))  # type: ignore[attr-defined]

    def __hash__(self) -> int:
        return hash(repr(self))

    def own_functions(self) -> dict[str, Any]:
        """The user's functions, by name."""
        found: dict[str, Any] = {}
        for value in self.given.values():
            for function in value if isinstance(value, tuple) else (value,):
                if callable(function):
                    found[plain(function).__name__] = function
        return found

    @property
    def regression(self) -> bool:
        """Does it learn numbers?"""
        return self.given["task"] == "regression" if self.own_task is None else self.own_task.numbers

    @property
    def draws(self) -> bool:
        """Does a round need a uniform?"""
        return bool(self.given["query"] == "bernoulli")

    def asking_numbers(self, delta: float | None, epsilon: float) -> dict[str, float]:
        """What its query reads: the rule, delta (None: 1, of "bbq" 0.1); for "bbq" epsilon too."""
        query = self.given["query"]
        if query == "bbq":
            return {
                "ask_rule": float(queries.HOEFFDING), "ask_delta": 0.1 if delta is None else delta,
                "epsilon": epsilon,
            }  # fmt: skip
        if query in queries.RULES:
            return {
                "ask_rule": float(queries.RULES.index(query)),
                "ask_delta": 1.0 if delta is None else delta,
            }
        return {}

    @property
    def loss_part(self) -> Part:
        """The loss, compiled."""
        return self._loss

    def row(self, problem: str) -> Row:
        """The parts for "binary", "top", "labels" or "regression"."""
        if problem not in self._rows:
            if self.own_task is not None and problem == "labels":
                raise BadInput(
                    "a task of your own is asked for one label a row; sets of labels are not for it"
                )
            task = TASKS[self.given["task"]][problem] if self.own_task is None else self.own_task.task
            origin = (_row_again, (self, problem))
            self._rows[problem] = Row(task, self._loss, self._step, self._space, self._query, origin=origin)
        return self._rows[problem]

    def _part(self, role: str, check: Callable[..., None], *more: np.ndarray) -> Part:
        given = self.given[role]
        if isinstance(given, str):
            built_in: Part = KINDS[role][given]
            return built_in
        made = own_part(role, given)
        check(called(given), made, bare(role, given), *more)
        return made

    def _made_space(self) -> Space:
        given = self.given["space"]
        if isinstance(given, str):
            scheduled = self.given["step"] in SCHEDULED
            return algorithms.REGULARIZERS.get(given, SPACES[given]) if scheduled else SPACES[given]
        if isinstance(given, Space):
            return given
        mapped, regularizer = given if isinstance(given, tuple) and len(given) == 2 else (given, None)
        made = own_part("space", mapped)
        check_link(called(mapped), made, bare("space", mapped), regularizer, self.own)
        return own_space(plain(made).__name__, made)

    def _refuse_misfits(self) -> None:
        """Refuse parts of ours that do not go together, with the reason."""
        task, loss, step, space = (self.given[role] for role in ("task", "loss", "step", "space"))
        numbers = self.regression
        fits_both = self.own_task is not None or loss in ("squared", "squared_error")
        if isinstance(loss, str) and numbers != (loss == "epsilon_insensitive") and not fits_both:
            kind = "numbers, whose margin is -|y - s|" if numbers else "classes"
            fits = "'epsilon_insensitive' or 'squared'" if numbers else "'hinge', 'logistic', ..."
            raise BadInput(f"loss={loss!r} says nothing about {kind}; use {fits}")
        if task == "one_vs_all" and loss not in ("hinge", "mistake", "perceptron"):
            raise BadInput(
                "task='one_vs_all' pulls all outputs alike, a bent loss does not; use loss='hinge'"
            )
        if task == "uniform" and loss not in ("mistake", "perceptron"):
            raise BadInput("task='uniform' shares a mistake among its rivals; use loss='mistake'")
        if step == "aggressive" and loss != "hinge":
            raise BadInput("step='aggressive' is made for loss='hinge'")
        if self.given["query"] == "bbq" and space != "ridge_full":
            raise BadInput(
                "query='bbq' reads the P of space='ridge_full'; use it, with step='unit', loss='always'"
            )
        if self.given["query"] in ("margin", "bernoulli") and numbers:
            raise BadInput(
                f"query={self.given['query']!r} asks where classes are close; numbers have none; give yours"
            )
        if not isinstance(space, str):
            if isinstance(step, str) and step == "aggressive":
                raise BadInput("step='aggressive' is made for the dual norm of space='pnorm' or 'group'")
            return
        if step in ("pa", "pa1", "pa2"):
            if space not in EUCLIDEAN:
                raise BadInput(f"step={step!r} solves its problem in the length that {EUCLIDEAN} measure; "
                               f"space={space!r} has another; use step='constant' or 'sqrt'")  # fmt: skip
            if loss == "perceptron":
                raise BadInput(f"loss='perceptron' with step={step!r} never leaves 0, where its loss is 0")
        if space in ("confidence", "covariance") and (step != "pa2" or loss != "hinge"):
            raise BadInput(
                f"space={space!r} follows PA-II's step on the hinge (AROW); use step='pa2', loss='hinge'"
            )
        if step == "aggressive" and space not in ("pnorm", "group"):
            raise BadInput(
                f"step='aggressive' is made for the dual norm of 'pnorm' or 'group', not {space!r}"
            )
        if space in ("shrunk", "coin") and step not in ("constant", "unit"):
            raise BadInput(f"space={space!r} has a schedule of its own; use step='unit'")
        if space in ("ridge", "ridge_full") and (
            step not in ("constant", "unit") or loss not in ("mistake", "always")
        ):
            raise BadInput(
                f"space={space!r} adds whole examples; use step='unit' with loss='mistake' or 'always'"
            )
        if space == "soft" and step not in SCHEDULED:
            raise BadInput(
                "space='soft' thresholds by the sum of the rates; use step='constant', 'sqrt' or 'unit'"
            )


def _numbers(own: Any) -> np.ndarray:
    """Finite numbers, as an array."""
    try:
        numbers = np.asarray(own, float).ravel()
    except (TypeError, ValueError):
        numbers = np.full(1, np.nan)
    if own is None or not np.isfinite(numbers).all():
        raise BadInput(f"own={shown(own)}; wanted finite numbers for your functions")
    return numbers


def _word(value: Any) -> Any:
    first = value[0] if isinstance(value, tuple) and not isinstance(value, Space) else value
    if isinstance(first, str):
        return first
    return first.name if isinstance(first, Space) else plain(first).__name__


def _again(given: dict[str, Any], own: np.ndarray) -> Recipe:
    return Recipe(**given, own=own)


def _row_again(recipe: Recipe, problem: str) -> Row:
    return recipe.row(problem)
