"""A task of a user's own: decide, demand and wrong, by name or as functions, tried before round one."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, cast

import numpy as np

from ..compiled.parts import Part, compose, digits, specialise
from ..errors import BadInput, shown
from ..learn import user_functions as checked
from ..learn.tasks import Task
from ..learn.tasks import classes as tasks
from ..learn.tasks.numbers import never, regression, value
from ..learn.user_functions import Nonsense as Nonsense
from ..learn.vocabulary import Hyper, Round
from .user_parts import bare, called, is_number, line, own_part, run, some_hyper, stays_inside
from .weights import Model

ROLES = ("decide", "demand", "wrong")
VALUE = "value"  # decides for the score itself: the task is of numbers
OURS: dict[str, dict[str, Part]] = {
    "decide": {"highest": tasks.highest, VALUE: value},
    "demand": {
        "top": tasks.top, "uniform": tasks.uniform, "one_vs_all": tasks.one_vs_all, "regression": regression,
    },
    "wrong": {"differs": tasks.differs, "never": never},
}  # fmt: skip
OF_NUMBERS = ("regression", "never")
NEAR = 1e-6  # how far a trial goes along the pull

Given = tuple[object, ...]


class OwnTask(NamedTuple):
    """A user's task as parts of the loop."""

    given: Given  # as many as there are roles
    numbers: bool  # its targets are numbers, and not classes
    task: Task


def own_task(given: object, own: np.ndarray) -> OwnTask:
    """Two or three of decide, demand and wrong, each ours by name or a function; tried and compiled."""
    if not isinstance(given, tuple) or not 2 <= len(given) <= 3:
        raise BadInput(f"task={shown(given)}; wanted a name, or (decide, demand) or (decide, demand, wrong)")
    numbers = isinstance(given[0], str) and given[0] == VALUE
    whole = (*given, "never" if numbers else "differs")[:3]
    for role, one in zip(ROLES, whole, strict=True):
        names = [name for name in OURS[role] if (name in OF_NUMBERS) == numbers or role == "decide"]
        if role == "wrong":
            names = list(OURS[role])
        if isinstance(one, str) and one not in names:
            raise BadInput(f"{role}={one!r}; wanted a function, or one of {', '.join(map(repr, names))}")
    parts = [_part(role, one, numbers) for role, one in zip(ROLES, whole, strict=True)]
    made = OwnTask(whole, numbers, Task(*parts))
    _try(made, own)
    return made


def _part(role: str, given: object, numbers: bool) -> Part:
    """One of ours; or a user's function, and what looks at its answers."""
    if isinstance(given, str):
        return OURS[role][given]
    if not callable(given):
        raise BadInput(f"{role}={shown(given)}; wanted a name or a Python function")
    function = own_part(role, given)
    around: dict[str, Part] = {
        "decide": checked.decides_class,
        "demand": checked.demands_of_number if numbers else checked.demands_of_class,
        "wrong": checked.wrong_class,
    }
    if role == "wrong" and numbers:
        return function
    kind = "number" if numbers else "class"
    return compose(around[role], f"{role}_{kind}_{called(given)}_{digits(given)[:16]}", **{role: function})


# ---- is it what it claims to be?


class Trial(NamedTuple):
    """One round: (scores, now, hyper) and the rest are handed to the three as the loop does."""

    made: OwnTask
    scores: np.ndarray
    target: float
    hyper: Hyper

    def say(self, role: str, fits: Callable[[object], bool], wanted: str, *arguments: object) -> object:
        """What a function gives, first in plain Python, whose faults are the plainer, then compiled."""
        place, before = ROLES.index(role), self.scores.copy()
        given, trial = self.made.given[place], getattr(checked, f"try_{role}")
        compiled = specialise(trial, **{role: self.made.task[place]})
        if isinstance(given, str) or not callable(given):
            return compiled(*arguments)
        name = called(given)
        try:
            seen = [self._as_seen(one) for one in arguments]
            stays_inside(role, name, bare(role, given), *seen)
            said = bare(role, given)(*seen)
        except BadInput:
            raise
        except ArithmeticError as error:  # (compiled, a division by 0 gives a number)
            raise BadInput(f"the {role} {name!r} fails ({type(error).__name__}: {error}); mend it") from None
        except Exception:  # the compiled one will tell
            pass
        else:
            if not fits(said):
                raise BadInput(f"the {role} {name!r} gave {line(said)}; wanted {wanted}")
        if not np.array_equal(self.scores, before):
            raise BadInput(f"the {role} {name!r} writes to the scores; wanted it to read them only")
        try:
            return run(role, name, compiled, *arguments)
        except Nonsense as error:
            raise BadInput(f"the {role} {name!r} {error}; wanted {wanted}") from None

    def _as_seen(self, argument: object) -> object:
        """As a user's function has it: arrays without padding, classes as whole numbers."""
        if isinstance(argument, np.ndarray):
            return argument[: self.hyper.outputs]
        return int(argument) if isinstance(argument, float) and not self.made.numbers else argument

    def play(self) -> None:
        """Decide, see the demand, judge; raise for an answer that is none."""
        scores, target, hyper, now = self.scores, self.target, self.hyper, Round(0, 3, 1.0, 0.5, 0)
        classes = f"one of the classes 0 to {hyper.outputs - 1}"
        kind = is_number if self.made.numbers else self._is_class
        wanted = "one finite number" if self.made.numbers else classes
        guess = float(cast(float, self.say("decide", kind, wanted, scores, now, hyper)))
        pull, (_, name, judge) = np.zeros(8), map(_name, self.made.given)
        wanted = "two numbers, (margin, required)"
        said = self.say("demand", _is_demand, wanted, scores, target, guess, hyper, pull)
        margin, required = cast(tuple[float, float], said)
        if scores.any() and margin < required and pull.any():
            further = scores + NEAR * pull
            after = self.say("demand", _is_demand, wanted, further, target, guess, hyper, np.zeros(8))
            if cast(tuple[float, float], after)[0] < margin - 1e-3 * NEAR:
                raise BadInput(f"the demand {name} pulls its margin down; wanted a pull that raises it")
        judged = self.say("wrong", _is_truth, "True or False", scores, target, guess, hyper)
        if not _is_truth(judged):
            raise BadInput(f"the wrong {judge} gave {line(judged)}; wanted True or False")

    def _is_class(self, said: object) -> bool:
        return is_number(said) and cast(float, said) in range(self.hyper.outputs)


def _name(given: object) -> str:
    return repr(called(given) if callable(given) else given)


def _is_truth(said: object) -> bool:
    return isinstance(said, bool | np.bool_)


def _is_demand(said: object) -> bool:
    """(margin, required), the margin finite or infinity."""
    if not isinstance(said, tuple) or len(said) != 2:
        return False
    return (is_number(said[0]) or said[0] == np.inf) and is_number(said[1])


def _try(made: OwnTask, own: np.ndarray) -> None:
    """Some rounds of two, three and five classes, or of numbers."""
    draw = np.random.default_rng(0)
    for outputs in (1,) if made.numbers else (2, 3, 5):
        targets = [-1.3, 0.0, 2.5] if made.numbers else [float(k) for k in range(outputs)]
        for number in range(6):
            scores = np.zeros(8)
            scores[:outputs] = draw.standard_normal(outputs) if number else 0.0
            for target in targets:
                Trial(made, scores, target, some_hyper(own, outputs)).play()


# ---- at work


def guesses(model: Model, scores: np.ndarray) -> np.ndarray:
    """What the task decides on every line of scores."""
    found, lines = np.zeros(len(scores)), np.ascontiguousarray(scores, np.float64)
    specialise(checked.decide_rows, decide=model.row.task.decide)(lines, model.clock, model.hyper, found)
    return found


def losses(model: Model, scores: np.ndarray, targets: np.ndarray) -> np.ndarray:
    """What every line of scores would have suffered, were it the target's."""
    found, lines = np.zeros(len(scores)), np.ascontiguousarray(scores, np.float64)
    decide, demand, _ = model.row.task
    play = specialise(checked.suffer_rows, decide=decide, demand=demand, loss=model.row.loss)
    play(lines, targets, model.clock, model.hyper, np.zeros_like(model.desk.pull), found)
    return found


def is_wrong(model: Model, scores: np.ndarray, guess: float, target: float) -> bool:
    """What the task says of one answer."""
    judge = specialise(checked.try_wrong, wrong=model.row.task.wrong)
    return bool(judge(np.ascontiguousarray(scores, np.float64), target, guess, model.hyper))
